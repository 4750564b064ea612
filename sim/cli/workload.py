"""`fleetsim workload`: import recorded jobs, and look at them. To add a command: a row of `WORKLOAD`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer

from sim.cli.workload_check import check_file
from sim.cli.workload_fit import fit_file
from sim.cli.workload_import import import_file
from sim.cli.workload_replay import replay_file
from sim.cli.workload_show import show

__all__ = ["WORKLOAD", "workload"]


def workload() -> typer.Typer:
    """The group with every command of the table."""
    group = typer.Typer(
        name="workload",
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Recorded jobs: import what a scheduler or a spreadsheet has, and look at it.",
    )
    group.callback()(_group)
    for name, command in WORKLOAD.items():
        group.command(name)(command)
    return group


def _group() -> None:
    """Recorded jobs: import what a scheduler or a spreadsheet has, and look at it."""


WORKLOAD: Mapping[str, Callable[..., Any]] = {
    "import": import_file,
    "show": show,
    "fit": fit_file,
    "check": check_file,
    "replay": replay_file,
}
"""Name of a command under `fleetsim workload` -> its function."""
