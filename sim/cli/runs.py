"""`fleetsim runs`: the stored runs. To add a command: a row of `RUNS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from sim.cli.console import print_json, say
from sim.cli.options import OUTPUTS, FormatOption, OutputFormat
from sim.cli.options_detail import OutFolder, RunName
from sim.errors import InputError, Problem

__all__ = ["RUNS", "runs"]

YesOption: TypeAlias = Annotated[
    bool, typer.Option("--yes", help="Do it; without this the command only says what it would delete.")
]


def runs() -> typer.Typer:
    """The group with every command of the table."""
    group = typer.Typer(
        name="runs", no_args_is_help=True, rich_markup_mode=None, add_completion=False, help=_group.__doc__
    )
    group.callback()(_group)
    for name, command in RUNS.items():
        group.command(name)(command)
    return group


def _group() -> None:
    """Stored runs: list them, look at one, find what changed between two, delete what is not needed."""


def list_runs(out: OutFolder = OUTPUTS, format_: FormatOption = OutputFormat.TEXT) -> None:
    """List every stored run, the newest first; damaged ones are named with what is wrong."""
    from sim.cli.runs_text import print_list
    from sim.experiments.run_list import runs_below

    found = runs_below(out)
    if format_ is OutputFormat.JSON:
        print_json({"out": out.as_posix(), "runs": [run.to_json() for run in found]})
        return
    print_list(found, out)


def show_run(run: RunName, out: OutFolder = OUTPUTS, format_: FormatOption = OutputFormat.TEXT) -> None:
    """Show the decision and the tables of a run as they were, from its folder; nothing is simulated."""
    from sim.cli.runs_text import print_study
    from sim.experiments.run_list import COMPARISONS, listed, sound_run

    folder = sound_run(run, out)
    entry = listed(folder)
    if entry.kind in (*COMPARISONS, "unknown"):
        _show_comparison(folder, format_)
        return
    if entry.state == "damaged":
        raise InputError(Problem(f"the run is damaged: {entry.problem}", str(folder)))
    from sim.experiments.run_study import study_of

    study = study_of(folder, entry.kind)
    if format_ is OutputFormat.JSON:
        print_json({"run": entry.to_json(), **study})
        return
    print_study(entry, study)


def _show_comparison(folder: Path, format_: OutputFormat) -> None:
    from sim.cli.runs_text import print_run
    from sim.experiments.run_list import listed
    from sim.experiments.run_read import comparison_of
    from sim.experiments.stored import open_run

    stored = open_run(folder)
    comparison, entry = comparison_of(stored), listed(folder)
    if format_ is OutputFormat.JSON:
        print_json({"run": entry.to_json(), **stored.document})
        return
    print_run(entry, comparison, stored.manifest)


def delete_run(
    run: RunName,
    out: OutFolder = OUTPUTS,
    yes: YesOption = False,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Delete one run: a folder below --out that holds a run and nothing else."""
    from sim.experiments.run_list import LATEST, find_run
    from sim.experiments.run_removal import delete, removable

    if run == LATEST:
        rule = "a run is deleted by its folder or its id"
        raise InputError(Problem(rule, key="RUN", value=run))
    if ".." in Path(run).parts:
        raise InputError(Problem("a run is named without ..", key="RUN", value=run))
    held = removable(find_run(run, out), out)
    if yes:
        delete(held)
    if format_ is OutputFormat.JSON:
        print_json({**held.to_json(), "deleted": yes})
        return
    what = f"{held.folder}/ with {held.files:,} files, {_size(held.size)}"
    say(f"Deleted: {what}." if yes else f"--yes would delete {what}.")


def prune_runs(
    out: OutFolder = OUTPUTS, yes: YesOption = False, format_: FormatOption = OutputFormat.TEXT
) -> None:
    """Say how much the finished replications kept below --out take, and delete them with --yes.

    They save time when a comparison is made again, and no result rests on them.
    """
    from sim.experiments.run_removal import delete, kept_runs

    held = kept_runs(out)
    if yes and held.files:
        delete(held)
    if format_ is OutputFormat.JSON:
        print_json({**held.to_json(), "deleted": yes and bool(held.files)})
        return
    what = f"{held.files:,} finished replications, {_size(held.size)}"
    if not held.files:
        say(f"{held.folder}/ holds nothing.")
    elif yes:
        say(f"Deleted: {what}. Runs of commands to come are simulated anew; results stay as they are.")
    else:
        say(f"{held.folder}/ holds {what}; --yes deletes them. They only save time.")


def diff_runs(
    first: RunName,
    second: RunName,
    out: OutFolder = OUTPUTS,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Say what changed from one run to another: inputs key by key, and the results."""
    from sim.cli.runs_text import print_diff
    from sim.experiments.run_diff import diff
    from sim.experiments.run_list import COMPARISONS, sound_run
    from sim.experiments.stored import open_run

    found = diff(*(open_run(sound_run(run, out, COMPARISONS)) for run in (first, second)))
    if format_ is OutputFormat.JSON:
        print_json(found.to_json())
        return
    print_diff(found)


def _size(size: int) -> str:
    """Bytes as people read them; kB is 1,000 bytes."""
    for unit, least in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= least:
            return f"{size / least:,.1f} {unit}"
    return f"{size:,} bytes"


RUNS: Mapping[str, Callable[..., Any]] = {
    "list": list_runs,
    "show": show_run,
    "diff": diff_runs,
    "delete": delete_run,
    "prune": prune_runs,
}
"""Name of a command under `fleetsim runs` -> its function."""
