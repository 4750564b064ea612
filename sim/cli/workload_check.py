"""`fleetsim workload check`: recorded jobs against the workload learned from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import FormatOption, OutputFormat
from sim.cli.workload_record import (
    JobsFile,
    SinceOption,
    StartOption,
    TimezoneOption,
    UntilOption,
    check_policy,
    check_width,
    read_jobs,
)
from sim.errors import InputError, Problem
from sim.experiments.model_waits import FACTOR, ModelWaits, Spread, compare_waits
from sim.load import load
from sim.model.timed import TimedClass
from sim.workload.goodness import Line, goodness
from sim.workload.record import Record
from sim.workload.wording import counted

__all__ = ["check_file"]

_TITLES = {
    "jobs": "Jobs by hour of the day",
    "run time": "Run times",
    "cards": "Cards a job",
    "dispersion": "Variance to mean of counts",
    "load": "Cards busy, were there always one free",
}


def check_file(
    file: JobsFile,
    model: Annotated[
        Path, typer.Option(metavar="WORKLOAD.yaml", help="A scenario with timed classes, as `fit` writes it.")
    ],
    cards: Annotated[
        int | None, typer.Option(min=1, help="Cards of the fleet for the waits; default: by --load.")
    ] = None,
    load_: Annotated[
        float, typer.Option("--load", min=0.05, max=0.99, help="Mean load of the fleet for the waits.")
    ] = 0.65,
    policy: Annotated[str, typer.Option(metavar="NAME", help="Queue policy for the waits.")] = "fifo",
    draws: Annotated[
        int, typer.Option(min=0, max=1000, help="Draws of the model whose waits are simulated; 0: none.")
    ] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 42,
    start: StartOption = None,
    timezone: TimezoneOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Hold a workload against recorded jobs: counts, run times, cards, load, and waits on one fleet."""
    check_policy(policy)
    classes = _classes_of(model)
    record = read_jobs(file, start, timezone, since, until)
    if cards is not None:
        check_width(cards, max(int(record.gpus.max()), *(k.gpus for one in classes for k in one.kinds)))
    lines = goodness(record, classes, seed=seed)
    waits = None
    if draws:
        waits = compare_waits(
            record, classes, cards=cards, share=load_, policy=policy, draws=draws, seed=seed
        )
    if format_ is OutputFormat.JSON:
        print_json(_document(file, model, record, lines, waits))
        return
    _print(file, model, record, lines, waits)


def _classes_of(model: Path) -> Sequence[TimedClass]:
    """The timed classes of a scenario; InputError where there are none, and for one with a loop."""
    classes = load(model).scenario.workload.timed
    if not classes:
        rule = "the scenario has no timed classes to hold against the record"
        raise InputError(Problem(rule, str(model), key="workload.timed"))
    for place, one in enumerate(classes):
        if one.loop is not None:
            rule = "a loop cannot be held against a record: when its runs are submitted depends on the fleet"
            raise InputError(Problem(rule, str(model), key=f"workload.timed.{place}.loop", value=one.name))
    return classes


def _print(file: Path, model: Path, record: Record, lines: Sequence[Line], waits: ModelWaits | None) -> None:
    say(f"{file}: {counted(len(record))}, against {model}", style="bold")
    for topic, title in _TITLES.items():
        heading(f"{title} ({next(line.unit for line in lines if line.topic == topic)})")
        rows = [_row(line) for line in lines if line.topic == topic]
        print_table(("", "record", "model", "off", "9 of 10 draws"), rows)
    if waits is not None:
        _print_waits(waits)


def _row(line: Line) -> tuple[str, ...]:
    off = "" if line.off is None else f"{100 * line.off:+.1f} %"
    return line.at, _short(line.record), _short(line.model), off, f"{_short(line.low)} - {_short(line.high)}"


def _short(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _print_waits(waits: ModelWaits) -> None:
    heading(f"Waits on {waits.cards:,} cards, {waits.policy}, mean load {waits.load:.2f} (hours)")
    rows = [
        ("record", 1, f"{waits.record.mean_h:.3g}", "", f"{waits.record.p95_h:.3g}", ""),
        ("record, run times dealt anew", 1, f"{waits.record_dealt.mean_h:.3g}", "",
         f"{waits.record_dealt.p95_h:.3g}", ""),
        _spread("model, all draws", waits.every),
    ]  # fmt: skip
    if waits.like is not None:
        rows.append(_spread("model, draws with the record's work", waits.like))
    if waits.model_dealt is not None:
        rows.append(_spread("the same, run times dealt anew", waits.model_dealt))
    print_table(("", "runs", "mean", "9 of 10", "95 %", "9 of 10"), rows)
    mean, top = (None if one is None else f"{one:.2f}" for one in waits.factors)
    say(f"Model over record: mean {mean or 'not defined'}, 95th percentile {top or 'not defined'}.")
    if waits.repeated:
        say(f"Both are within a factor of {FACTOR:g}.")
        return
    say(f"Not both are within a factor of {FACTOR:g}. {_why(waits)}")


def _why(waits: ModelWaits) -> str:
    """What the runs themselves say about a difference."""
    if all(waits.within_range):
        text = (
            "The record lies where nine of ten draws lie: waits of a workload in bursts differ so much from "
            "one stretch of time to the next that one record cannot tell them better."
        )
    else:
        text = (
            "The record lies outside of nine of ten draws: the model misses something that waits depend on."
        )
    if max(waits.quarters) > waits.cards:
        cards = ", ".join(f"{cards:,.0f}" for cards in waits.quarters)
        text += (
            f" The record is not steady: its quarters ask for {cards} of the {waits.cards:,} cards, so that "
            "its waits are those of one overload; hold a steady stretch of it against its own model "
            "(--since, --until, for fit and check)."
        )
    before, after = waits.record.mean_h, waits.record_dealt.mean_h
    if before > FACTOR * after:
        text += " In the record long jobs come together: with run times dealt anew its waits are far shorter."
    elif after > FACTOR * before:
        text += " In the record long jobs come when the queue is short: dealt anew, it waits longer."
    return text


def _spread(name: str, of: Spread) -> tuple[object, ...]:
    return (
        name,
        of.draws,
        f"{of.mean_h:.3g}",
        f"{of.mean_low_h:.3g} - {of.mean_high_h:.3g}",
        f"{of.p95_h:.3g}",
        f"{of.p95_low_h:.3g} - {of.p95_high_h:.3g}",
    )


def _document(
    file: Path, model: Path, record: Record, lines: Sequence[Line], waits: ModelWaits | None
) -> dict[str, Any]:
    return {
        "file": str(file),
        "model": str(model),
        "jobs": len(record),
        "figures": [
            {
                "topic": line.topic,
                "at": line.at,
                "unit": line.unit,
                **{
                    name: _number(getattr(line, name)) for name in ("record", "model", "low", "high", "error")
                },
                "off": line.off,
            }
            for line in lines
        ],
        "waits": None if waits is None else _waits_document(waits),
    }


def _waits_document(waits: ModelWaits) -> dict[str, Any]:
    parts = {
        name: None
        if (part := getattr(waits, name)) is None
        else {key: getattr(part, key) for key in part.__slots__}
        for name in ("record", "record_dealt", "every", "like", "model_dealt")
    }
    mean, top = waits.factors
    return {
        "cards": waits.cards,
        "policy": waits.policy,
        "load": waits.load,
        "cards_busy_by_quarter": list(waits.quarters),
        **parts,
        "factor_mean": mean,
        "factor_p95": top,
        "within_factor": waits.repeated,
        "note": "" if waits.repeated else _why(waits),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
