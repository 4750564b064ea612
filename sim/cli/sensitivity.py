"""`fleetsim sensitivity`: what the decision hangs on, and the value of each input at which it flips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import (
    FormatOption,
    JobsOption,
    OutputFormat,
    PriceOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    check_folder,
    read_question,
    workers,
)
from sim.cli.options_runs import ClusterOption, FreshOption, OutOption, say_set_aside
from sim.cli.progress import ProgressForm, shown_progress
from sim.errors import InputError, Problem
from sim.experiments.wording import DASH, limits, plain, quoted, share, value
from sim.model.experiment import MOST_REPLICATIONS

if TYPE_CHECKING:
    from sim.experiments.sensitivity import Bar, Tornado
    from sim.experiments.sensitivity_doubt import Doubt
    from sim.experiments.sensitivity_sobol import Sobol
    from sim.experiments.sensitivity_store import Study

__all__ = ["sensitivity"]

_RANGE = re.compile(r"\s*(\w+)\s*=\s*([+-]?\d+(?:\.\d+)?)\s*\.\.\s*([+-]?\d+(?:\.\d+)?)\s*")


def sensitivity(
    file: ScenarioFile,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Metric that is looked at; default: the cost that ranks strategies."
        ),
    ] = None,
    range_: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="INPUT=LOW..HIGH",
            help="Range of an input, such as demand=0.5..2; may be repeated.",
        ),
    ] = None,
    sobol: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Sobol indices from N base samples, a power of two such as 64; (inputs + 2) x N points are "
            "simulated. Default: none.",
        ),
    ] = 0,
    draws: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Draw all inputs at once in each of N replications, and tell doubt about inputs from luck. "
            "Default: none.",
        ),
    ] = 0,
    set_: SetOption = None,
    replications: Annotated[
        int, typer.Option(min=1, max=MOST_REPLICATIONS, help="Runs a strategy and point.")
    ] = 5,
    seed: SeedOption = None,
    price: PriceOption = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
    out: OutOption = Path("outputs"),
    fresh: FreshOption = False,
    format_: FormatOption = OutputFormat.TEXT,
    progress: Annotated[ProgressForm, typer.Option(hidden=True)] = ProgressForm.AUTO,
) -> None:
    """Turn each input through its range, and find the value at which the decision flips."""
    from sim.experiments.knobs_table import knobs_of, with_ranges
    from sim.experiments.runs import Places
    from sim.experiments.sensitivity import known_metric, tornado
    from sim.experiments.sensitivity_doubt import doubt
    from sim.experiments.sensitivity_sobol import check_samples
    from sim.experiments.sensitivity_sobol import sobol as sobol_indices
    from sim.experiments.sensitivity_store import Study, save_study
    from sim.experiments.vault import Vault
    from sim.report.plots_sensitivity import render

    question = read_question(file, set_, price, seed)
    knobs = with_ranges(knobs_of(question), _ranges(range_ or []))
    if metric is not None:
        known_metric(metric)
    if sobol:
        check_samples(sobol)
    if draws < 0 or draws == 1:
        raise InputError(Problem("inputs are drawn in 2 or more replications", key="--draws", value=draws))
    check_folder(out)
    vault = None if fresh else Vault(out)
    with shown_progress(progress, "simulating") as report:
        places = Places(workers(jobs), cluster, vault, report)
        found = tornado(question, knobs, metric, replications, places)
        study = Study(
            found,
            sobol_indices(found, knobs, sobol, places) if sobol else None,
            doubt(found, knobs, draws, places) if draws else None,
        )
    say_set_aside(vault)
    folder = save_study(study, out, render(study))
    if format_ is OutputFormat.JSON:
        print_json({**study.to_json(), "folder": str(folder)})
        return
    _print(study, folder)


def _ranges(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        match = _RANGE.fullmatch(text)
        if match is None:
            rule = "a range is written INPUT=LOW..HIGH, such as demand=0.5..2"
            raise InputError(Problem(rule, key="--range", value=text))
        if match[1] in found:
            raise InputError(Problem("this input is given twice", key="--range", value=match[1]))
        found[match[1]] = (float(match[2]), float(match[3]))
    return found


def _print(study: Study, folder: Path) -> None:
    from sim.experiments.knobs_table import titled

    found = study.tornado
    scenario = found.question.scenario
    say(scenario.name, style="bold")
    say(
        f"{scenario.experiment.replications:,} replications a strategy and point, seed "
        f"{scenario.experiment.seed}, on the same jobs and failures"
    )
    heading("Decision")
    say(_decision(found), style="bold")
    heading(f"One input at a time: {found.metric} ({found.unit})")
    columns = ("Input", "Unit", "Low", "Base", "High", "At low", "At high", "Less rival at low", "at high")
    print_table(columns, [_row(bar, found) for bar in found.bars], text=(0, 1))
    heading("Where the decision flips")
    for sentence in _flips(found):
        say(f"- {sentence}")
    if study.sobol is not None:
        _print_sobol(study.sobol, found.unit)
    if study.doubt is not None:
        _print_doubt(study.doubt, found)
    heading("Ranges")
    for bar in found.bars:
        mark = " (assumed)" if bar.knob.assumed else ""
        say(f"- {titled(bar.knob)}: {bar.knob.why}{mark}.")
    for title, lines in (("Notes", found.notes), ("Assumptions", found.assumptions)):
        if lines:
            heading(title)
            for line in lines:
                say(f"- {plain(line)}")
    heading("Files")
    more = "" if study.sobol is None else ", sobol.csv"
    more += "" if study.doubt is None else ", drawn_inputs.csv"
    say(f"{folder}/ holds tornado.csv, flips.csv{more}, sensitivity.json and charts.")


def _decision(found: Tornado) -> str:
    against = f"; next comes {quoted(found.rival)}" if found.rival is not None else ""
    at = value(found.base.mean, found.unit)
    if found.decision is None:
        return f"None meets the target; {quoted(found.strategy)} comes nearest, at {at}{against}."
    return f"Rent {quoted(found.strategy)}, at {at}{against}."


def _row(bar: Bar, found: Tornado) -> tuple[object, ...]:
    knob = bar.knob
    apart = [
        DASH if one is None else value(one.mean, found.unit)
        for one in (bar.difference_low, bar.difference_high)
    ]
    return (
        knob.name,
        knob.unit,
        *(f"{number:.4g}" for number in (knob.low, knob.base, knob.high)),
        value(bar.low.mean, found.unit),
        value(bar.high.mean, found.unit),
        *apart,
    )


def _flips(found: Tornado) -> list[str]:
    from sim.experiments.sensitivity_store import never

    lines = [
        f"{flip.knob.name}: at {flip.value:.4g} {flip.knob.unit} (base {flip.knob.base:.4g}, between "
        f"{min(flip.before, flip.after):.4g} and {max(flip.before, flip.after):.4g}), to "
        + (f"{quoted(flip.decision)}" if flip.decision is not None else "none, for none meets the target")
        for flip in found.flips
    ]
    steady = [f"{knob.name} ({knob.low:.4g} to {knob.high:.4g})" for _, knob in never(found)]
    if steady:
        lines.append(f"At no end of its range for: {', '.join(steady)}.")
    return lines


def _print_sobol(found: Sobol, unit: str) -> None:
    for one in found.results:
        heading(f"Sobol indices: {plain(one.of)}")
        spread = f"mean {value(one.mean, unit)}, standard deviation {value(one.deviation, unit)}"
        say(f"{spread} over {found.points:,} points; inputs independent, uniform over their ranges (assumed)")
        if not one.inputs:
            say("No input moves it, so there is nothing to share out.")
            continue
        rows = [
            (index.knob.name, f"{index.first:.2f} +- {index.first_half:.2f}",
             f"{index.total:.2f} +- {index.total_half:.2f}")
            for index in one.inputs
        ]  # fmt: skip
        print_table(("Input", "First order", "Total"), rows, text=(0,))


def _print_doubt(found: Doubt, tornado: Tornado) -> None:
    heading(f"Luck and doubt about inputs: {tornado.metric}, {found.draws:,} replications")
    say(
        "At base: the mean and its interval, which more replications narrow. Drawn: the mean, and the range "
        "in which nine of ten replications lie, which they do not. Inputs independent, uniform over their "
        "ranges (assumed)."
    )
    unit = tornado.unit
    rows = [
        (
            plain(one.strategy),
            f"{value(one.luck.mean, unit)} {limits(one.luck, unit)}".strip(),
            value(one.mean, unit),
            f"{value(one.low, unit)} to {value(one.high, unit)}",
            value(one.luck_deviation, unit),
            value(one.input_deviation, unit),
            DASH if one.cheapest is None else share(one.cheapest),
        )
        for one in found.spreads
    ]
    columns = ("Strategy", "At base", "Drawn", "5 % to 95 %", "Spread by luck", "by inputs", "Cheapest in")
    print_table(columns, rows, text=(0, 1, 3))
