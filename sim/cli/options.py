"""Options that mean the same in every command, and how they become a question."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from sim.errors import InputError, Problem
from sim.whole_file import is_device

if TYPE_CHECKING:
    from sim.load import Question
    from sim.model.contract import PriceChoice

__all__ = [
    "OUTPUTS",
    "CatalogOption",
    "FormatOption",
    "JobsOption",
    "OutputFormat",
    "PriceLevel",
    "PriceOption",
    "ScenarioFile",
    "SeedOption",
    "SetOption",
    "StrategyOption",
    "check_file",
    "check_folder",
    "check_known",
    "first_given",
    "option_name",
    "price_choice",
    "read_question",
    "refuse_catalog",
    "strategy_number",
    "workers",
]


OUTPUTS = Path("outputs")
"""Folder of results where none is asked for."""


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
CatalogOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--catalog", metavar="FILE", help="Your own price list over the shipped catalogue."),
]
StrategyOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of a strategy of the scenario; default: the first.")
]


def read_question(
    file: Path, changes: list[str] | None, price: PriceLevel | None = None, seed: int | None = None
) -> Question:
    """Load a scenario as the options ask for it; InputError with every problem found."""
    from sim.load import load  # here: commands that read no scenario have options too

    question = load(file, changes or ())
    if seed is not None:
        experiment = question.scenario.experiment.model_copy(update={"seed": seed})
        scenario = question.scenario.model_copy(update={"experiment": experiment})
        question = dataclasses.replace(question, scenario=scenario)
    return question if price is None else dataclasses.replace(question, price=price_choice(price))


def price_choice(level: PriceLevel | None) -> PriceChoice | None:
    """What `--price` asks for, as billing names it."""
    return None if level is None else level.value


def first_given(context: typer.Context, names: Iterable[str]) -> str | None:
    """The first of these parameters whose option stands on the command line; None: none does."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            return name
    return None


def option_name(name: str) -> str:
    """How a parameter is called on the command line: `--seq-len`."""
    return f"--{name.replace('_', '-')}"


def refuse_catalog(own: Path | None, scenario: Path | None) -> None:
    """InputError where a price list is given beside a scenario, which names its own."""
    if own is not None and scenario is not None:
        rule = f"a scenario names its price list itself: catalog: {own.name}"
        raise InputError(Problem(rule, key="--catalog", value=str(own)))


def check_known(
    option: str, name: str, known: Iterable[str], rule: str = "must be one of the known names"
) -> None:
    """InputError with this rule and the known names, where the name that an option gives is none of them."""
    names = tuple(known)
    if name not in names:
        raise InputError(Problem(rule, key=option, value=name, known=names))


def check_folder(out: Path, option: str = "--out") -> None:
    """InputError if results cannot be written below an option's folder: asked before any run, leaving
    nothing."""
    _check_place(out, option, str(out))


def check_file(path: Path, option: str, endings: Sequence[str] = (), inputs: Sequence[Path] = ()) -> None:
    """InputError if an option's file has none of the endings (none given: any will do), is a folder, is one
    of the files that are read, or cannot be written: asked before any run, leaving nothing."""
    try:
        _check_file(path, option, endings, inputs)
    except OSError as error:  # such as a name that is too long
        raise InputError(
            Problem(f"this file cannot be written: {error.strerror}", key=option, value=str(path))
        ) from None


def _check_file(path: Path, option: str, endings: Sequence[str], inputs: Sequence[Path]) -> None:
    shown = str(path)
    if endings and path.suffix.lower() not in endings:
        rule = "the ending of the file's name says how it is written"
        raise InputError(Problem(rule, key=option, value=shown, known=tuple(endings)))
    if path.is_dir():
        raise InputError(Problem("this is a folder; a file is needed", key=option, value=shown))
    if any(path.exists() and source.exists() and path.samefile(source) for source in inputs):
        raise InputError(
            Problem("this is a file that the command or the scenario reads", key=option, value=shown)
        )
    if not is_device(path):  # to which bytes go, and no file in its folder
        _check_place(path.parent, option, shown)


def _check_place(folder: Path, option: str, shown: str) -> None:
    """InputError if nothing can be written to a folder, or below the nearest one that is there."""
    place = folder.absolute()
    while not os.path.lexists(place):
        place = place.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".fleetsim-", dir=place):
            pass
    except OSError as error:
        rule = f"results cannot be written below this folder: {error.strerror}"
        raise InputError(Problem(rule, key=option, value=shown)) from None


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
