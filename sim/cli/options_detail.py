"""What commands take that look at one run in full: a folder of results, or a scenario."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from sim.cli.options import OUTPUTS, PriceLevel, read_question, strategy_number
from sim.errors import InputError, Problem

if TYPE_CHECKING:
    from sim.experiments.again import Detail

__all__ = [
    "OutFolder",
    "ReplicationOption",
    "RunArgument",
    "RunName",
    "StoredRun",
    "detail_of",
    "run_folder",
]

RunArgument: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Results (the folder outputs/SCENARIO/RUN, an id or latest), or a scenario: a YAML file.",
        metavar="RUN",
    ),
]
StoredRun: TypeAlias = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of a run: outputs/SCENARIO/RUN.")
]
OutFolder: TypeAlias = Annotated[Path, typer.Option("--out", help="Folder with the results.")]
RunName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A run's folder, its id or the beginning of it below --out, or latest."
    ),
]
ReplicationOption: TypeAlias = Annotated[int, typer.Option(min=0, help="Which replication, from 0.")]


def run_folder(run: Path, out: Path = OUTPUTS) -> Path:
    """The folder of a stored run: as given, or by its id, the beginning of it or `latest` below `out`."""
    if run.exists() or len(run.parts) > 1 or run.suffix:
        return run
    from sim.experiments.run_list import COMPARISONS, find_run

    if not out.is_dir():
        rule = f"there is no such folder or file here, and no folder {out} with runs"
        raise InputError(Problem(rule, value=str(run)))
    return find_run(str(run), out, COMPARISONS)


def detail_of(
    run: Path,
    strategy: str | None,
    price: PriceLevel | None = None,
    changes: list[str] | None = None,
    replication: int = 0,
    seed: int | None = None,
) -> Detail:
    """The run that the options ask for; InputError for options that a folder of results cannot follow."""
    from sim.experiments.again import again, detail  # here: a page of help makes no run

    run = run_folder(run)
    if not run.is_dir():
        question = read_question(run, changes, price)
        return detail(question, strategy_number(question, strategy), replication, seed)
    rule = "the results in a folder are as they are; give a scenario, or use rebill"
    given = {
        "--set": changes or None,
        "--price": price,
        "--seed": seed,
    }
    problems = [Problem(rule, key=key, value=str(value)) for key, value in given.items() if value is not None]
    if problems:
        raise InputError(problems)
    from sim.experiments.stored import open_run

    stored = open_run(run)
    question = dataclasses.replace(stored.question, path=run)
    return again(stored, strategy_number(question, strategy), replication)
