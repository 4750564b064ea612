"""Options that mean the same in every command, and how they become a question."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from sim.errors import InputError, Problem
from sim.load import Question, load

__all__ = [
    "FormatOption",
    "JobsOption",
    "OutputFormat",
    "PriceLevel",
    "PriceOption",
    "ScenarioFile",
    "SeedOption",
    "SetOption",
    "StrategyOption",
    "check_folder",
    "read_question",
    "strategy_number",
    "workers",
]


class OutputFormat(StrEnum):
    """How results are printed."""

    TEXT = "text"
    JSON = "json"


class PriceLevel(StrEnum):
    """Which end of a published price range is paid."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


ScenarioFile: TypeAlias = Annotated[Path, typer.Argument(help="The scenario: a YAML file.", metavar="FILE")]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change one key of the scenario, such as horizon=90d or experiment.seed=7; may be repeated.",
    ),
]
SeedOption: TypeAlias = Annotated[
    int | None, typer.Option(min=0, help="Seed of the random numbers; default: the scenario's.")
]
JobsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="Worker processes; default: one a processor. Results do not depend on it."),
]
FormatOption: TypeAlias = Annotated[
    OutputFormat,
    typer.Option("--format", help="text for people; json: one JSON document on stdout and nothing else."),
]
PriceOption: TypeAlias = Annotated[
    PriceLevel | None,
    typer.Option(help="End of published price ranges to pay; default: the scenario's, else mid."),
]
StrategyOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of a strategy of the scenario; default: the first.")
]


def read_question(file: Path, changes: list[str] | None, price: PriceLevel | None = None) -> Question:
    """Load a scenario as the options ask for it; InputError with every problem found."""
    question = load(file, changes or ())
    return question if price is None else dataclasses.replace(question, price=price.value)


def check_folder(out: Path) -> None:
    """InputError if results cannot be written below `--out`: asked before any run, leaving nothing."""
    place = out.absolute()
    while not os.path.lexists(place):
        place = place.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".fleetsim-", dir=place):
            pass
    except OSError as error:
        rule = f"results cannot be written below this folder: {error.strerror}"
        raise InputError(Problem(rule, key="--out", value=str(out))) from None


def strategy_number(question: Question, name: str | None) -> int:
    """Position of a strategy by name (None: the first); InputError with the known names."""
    names = tuple(strategy.name for strategy in question.scenario.strategies)
    if name is None:
        return 0
    if name not in names:
        raise InputError(
            Problem(
                rule="the scenario has no strategy of this name",
                file=str(question.path) if question.path else None,
                key="--strategy",
                value=name,
                known=names,
            )
        )
    return names.index(name)


def workers(jobs: int | None) -> int:
    """Number of worker processes: as asked for, else the processors that this process may use."""
    if jobs is not None:
        return jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
