"""`fleetsim sweep`: the comparison over a grid or list of settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import bullets, heading, print_json, print_parts, say
from sim.cli.numbers import numbers
from sim.cli.options import (
    OUTPUTS,
    FormatOption,
    JobsOption,
    OutputFormat,
    PriceOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    read_question,
)
from sim.cli.options_runs import ClusterOption, FreshOption, OutOption, run_places
from sim.cli.progress import ProgressForm, ProgressOption
from sim.errors import InputError, Problem
from sim.model.experiment import MOST_REPLICATIONS

if TYPE_CHECKING:
    from sim.experiments.sweep import Sweep
    from sim.experiments.sweep_axes import Axis

__all__ = ["sweep", "values_of"]

SHOWN = 60
"""Cells written out; all are in cells.csv and the JSON document."""

_RANGE = re.compile(r"(-?\d+(?:\.\d+)?\.\.-?\d+(?:\.\d+)?(?::\d+(?:\.\d+)?)?)(.*)")
_CLOSING = {"[": "]", "{": "}"}


def sweep(
    file: ScenarioFile,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help="Key of the scenario and its values: a range 1..8 or 0..1:0.25, with a unit "
            "2..10:2/day, or a list 0%/month,5%/month; may be repeated.",
        ),
    ] = None,
    list_: Annotated[
        bool,
        typer.Option("--list", help="Pair the values, first with first; default: all combinations."),
    ] = False,
    set_: SetOption = None,
    replications: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_REPLICATIONS,
            help="Runs a strategy and cell, each with its own luck; default: the scenario's.",
        ),
    ] = None,
    seed: SeedOption = None,
    price: PriceOption = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
    out: OutOption = OUTPUTS,
    fresh: FreshOption = False,
    format_: FormatOption = OutputFormat.TEXT,
    progress: ProgressOption = ProgressForm.AUTO,
) -> None:
    """Compare the strategies over a grid or list of settings, all on the same jobs and failures."""
    from sim.experiments.sweep import sweep as sweep_cells
    from sim.experiments.sweep_axes import cells
    from sim.report.sweep import save

    base = read_question(file, set_, price, seed)
    axes = _axes(vary or [])
    spanned = cells(axes, list_, lambda more: read_question(file, [*(set_ or ()), *more], price, seed))
    with run_places("simulating", progress, jobs, cluster, out, fresh) as places:
        found = sweep_cells(base, axes, spanned, places, paired=list_, replications=replications)
    folder = save(found, out)
    if format_ is OutputFormat.JSON:
        print_json({**found.to_json(), "folder": str(folder)})
        return
    _print(found, folder)


def values_of(text: str, option: str) -> tuple[str, ...]:
    """The values of a list with ranges: `1..3` is 1, 2, 3; `2..6:2/day` is 2/day, 4/day, 6/day.

    Commas within brackets, braces and quotation marks belong to a value. Raises InputError for an empty
    value and for what `numbers` refuses.
    """
    found: list[str] = []
    for piece in _split(text):
        if not piece:
            rule = "values are separated by one comma each, and none is empty"
            raise InputError(Problem(rule, key=option, value=text))
        match = _RANGE.fullmatch(piece)
        if match is None:
            found.append(piece)
        else:
            found += [f"{number:f}{match[2]}" for number in numbers(match[1], option)]
    return tuple(found)


def _axes(vary: Sequence[str]) -> list[Axis]:
    from sim.experiments.sweep_axes import Axis

    axes = []
    for text in vary:
        key, sign, values = text.partition("=")
        if not sign or not key.strip() or not values.strip():
            rule = "a varied key is written KEY=VALUES, such as strategies.0.leases.0.count=1..8"
            raise InputError(Problem(rule, key="--vary", value=text))
        axes.append(Axis(key.strip(), values_of(values, f"--vary: {key.strip()}")))
    return axes


def _split(text: str) -> list[str]:
    """Pieces between the commas that stand outside of brackets, braces and quotation marks."""
    pieces, open_, quote = [""], "", ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in _CLOSING:
            open_ += _CLOSING[sign]
        elif open_.endswith(sign):
            open_ = open_[:-1]
        elif sign == "," and not open_:
            pieces.append("")
            continue
        pieces[-1] += sign
    return [piece.strip() for piece in pieces]


def _print(found: Sweep, folder: Path) -> None:
    from sim.report.sweep import cells_table

    scenario = found.question.scenario
    say(scenario.name, style="bold")
    kind = "pairs" if found.paired else "cells"
    say(
        f"{len(found.cells):,} {kind} of {', '.join(axis.key for axis in found.axes)}; "
        f"{len(found.strategies):,} strategies, {found.counted} each, seed {scenario.experiment.seed}, "
        "on the same jobs and failures"
    )
    filled = found.filled
    shared = filled.asked - filled.simulated - filled.kept
    say(
        f"{filled.simulated:,} of {filled.asked:,} runs simulated; {filled.kept:,} were kept from before, "
        f"{shared:,} are shared between cells."
    )
    print_parts(cells_table(found, SHOWN))
    rest = len(found.cells) - SHOWN
    if rest > 0:
        say(f"... and {rest:,} more in cells.csv and with --format json.")
    for title, lines in (
        ("Warnings (in full, cell by cell, in sweep.json)", found.warnings),
        ("Notes", found.notes),
        ("Assumptions", found.assumptions),
    ):
        bullets(title, lines)
    heading("Files")
    drawn = "charts" if len(found.axes) < 3 or found.paired else "no charts, for more than two keys vary"
    say(f"{folder}/ holds sweep.csv (a row a cell, strategy and metric), cells.csv, sweep.json and {drawn}.")
