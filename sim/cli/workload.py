"""`fleetsim workload`: import recorded jobs, and look at them. To add a command: a row of `WORKLOAD`."""

from __future__ import annotations

import typer

from sim.cli.later import Later, Table, table_group

__all__ = ["WORKLOAD", "workload"]


def workload() -> typer.Typer:
    """The group with every command of the table."""
    group = typer.Typer(
        name="workload",
        cls=table_group(WORKLOAD),
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
        help=_group.__doc__,
    )
    group.callback()(_group)
    return group


def _group() -> None:
    """Recorded jobs: import what a scheduler or a spreadsheet has, and look at it."""


WORKLOAD: Table = {
    "import": Later(
        "sim.cli.workload_import:import_file",
        "Import recorded jobs: sacct -p/-P, SWF, CSV, TSV, Excel, Parquet or JSON lines, "
        "to one Parquet file.",
    ),
    "show": Later(
        "sim.cli.workload_show:show",
        "Show recorded jobs: arrivals by hour and weekday, run times, widths and load over time.",
    ),
    "fit": Later(
        "sim.cli.workload_fit:fit_file",
        "Learn a workload from recorded jobs: arrivals, batches, cards, run times and how jobs end.",
    ),
    "check": Later(
        "sim.cli.workload_check:check_file",
        "Hold a workload against recorded jobs: counts, run times, cards, load, and waits on one fleet.",
    ),
    "replay": Later(
        "sim.cli.workload_replay:replay_file",
        "Play recorded jobs on a fleet and show recorded waits beside the simulated ones.",
    ),
}
