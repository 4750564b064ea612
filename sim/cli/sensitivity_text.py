"""What `fleetsim sensitivity` says to people."""

from __future__ import annotations

from pathlib import Path

from sim.cli.console import bullets, heading, print_table, say
from sim.experiments.knobs_table import titled
from sim.experiments.sensitivity import Bar, Tornado
from sim.experiments.sensitivity_doubt import Doubt
from sim.experiments.sensitivity_sobol import Sobol
from sim.experiments.sensitivity_store import Study, never
from sim.experiments.wording import DASH, limits, plain, quoted, share, value

__all__ = ["print_study"]


def print_study(study: Study, folder: Path) -> None:
    """The decision, each input at its ends, where the decision flips, and the studies beside it."""
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
    bullets("Where the decision flips", _flips(found))
    if study.sobol is not None:
        _print_sobol(study.sobol, found.unit)
    if study.doubt is not None:
        _print_doubt(study.doubt, found)
    heading("Ranges")
    for bar in found.bars:
        mark = " (assumed)" if bar.knob.assumed else ""
        say(f"- {titled(bar.knob)}: {bar.knob.why}{mark}.")
    for title, lines in (("Notes", found.notes), ("Assumptions", found.assumptions)):
        bullets(title, map(plain, lines))
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
