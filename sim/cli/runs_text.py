"""What `fleetsim runs` prints for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim.cli.console import bullets, heading, print_parts, print_table, say
from sim.experiments.wording import DASH, limits, plain, quoted, sureness, value

if TYPE_CHECKING:
    from sim.experiments.comparison import Comparison, Recommendation
    from sim.experiments.run_diff import MetricChange, RunDiff
    from sim.experiments.run_list import Listed
    from sim.experiments.statistics import Interval

__all__ = ["print_diff", "print_list", "print_run", "print_study"]

SHOWN = 40
"""Cells or metrics written out; all are in the JSON document."""

LONGEST = 60
"""Signs of a value that are shown; the JSON document has all."""


def print_list(found: Sequence[Listed], out: Path) -> None:
    """A row a run, and below what is wrong with the damaged ones."""
    if not found:
        say(f"No runs below {out}.")
        return
    rows = [
        (
            run.id,
            _short(plain(run.scenario)),
            run.kind if run.state == "whole" else f"{run.kind}, {run.state}",
            _finished(run) or DASH,
            DASH if run.replications is None else f"{run.replications:,}",
            _recommended(run),
        )
        for run in found
    ]
    columns = ("Run", "Scenario", "Kind", "Finished, UTC", "Replications", "Recommended")
    print_table(columns, rows, text=(1, 2, 5))
    bullets("Damaged", (f"{run.folder}: {run.problem}" for run in found if run.state == "damaged"))


def _finished(run: Listed) -> str:
    """`2026-01-31 09:05`, UTC; empty where it is not known."""
    return run.finished[:16].replace("T", " ")


def _recommended(run: Listed) -> str:
    if run.recommended is not None:
        return plain(run.recommended)
    comparison = run.kind in ("comparison", "recommendation", "step-up", "rebilled")
    return "none meets the target" if comparison and run.state != "damaged" else DASH


def print_run(run: Listed, comparison: Comparison, manifest: Mapping[str, Any]) -> None:
    """The decision and the tables."""
    from sim.report.tables import render

    say(plain(comparison.question.scenario.name), style="bold")
    say(
        f"{run.kind} {run.id}, finished {_finished(run)} UTC; {comparison.counted} a strategy, "
        f"seed {comparison.seed}; fleetsim {run.version}"
    )
    for change in manifest.get("changes", ()):
        say(f"- billed again with {plain(str(change))}")
    heading("Decision")
    print_parts(render(comparison))
    heading("Files")
    say(f"{run.folder}/")


def print_study(run: Listed, study: Mapping[str, Any]) -> None:
    """A study: what it is, and its cells where it has some."""
    say(plain(run.scenario), style="bold")
    say(f"{run.kind} {run.id}, finished {_finished(run)} UTC; fleetsim {run.version}")
    cells = study.get("cells")
    if isinstance(cells, list) and cells and all(isinstance(cell, dict) for cell in cells):
        heading("Recommended in each cell")
        rows = [
            (
                ", ".join(f"{key}={text}" for key, text in cell.get("settings", {}).items()),
                plain(str(cell.get("recommendation") or "none meets the target")),
                DASH if cell.get("confidence") is None else sureness(float(cell["confidence"])),
            )
            for cell in cells[:SHOWN]
        ]
        print_table(("Settings", "Recommended", "Confidence"), rows, text=(0, 1))
        if len(cells) > SHOWN:
            say(f"... and {len(cells) - SHOWN:,} more with --format json.")
    heading("Files")
    say(f"{run.folder}/")


def print_diff(found: RunDiff) -> None:
    """Inputs, the decision, and the results that changed."""
    say(f"From {found.ids[0]} to {found.ids[1]}", style="bold")
    heading("Inputs that changed")
    if found.inputs:
        rows = [(plain(one.key), _value(one.before), _value(one.after)) for one in found.inputs]
        print_table(("Key", found.ids[0], found.ids[1]), rows, text=(0, 1, 2))
    else:
        say("None.")
    heading("Decision")
    before, after = found.before.recommendation, found.after.recommendation
    say(f"Before: {_decision(before)}")
    say(f"Now: {_decision(after)}")
    heading("Results that changed")
    for name in found.only_before:
        say(f"- {quoted(name)} is in {found.ids[0]} only.")
    for name in found.only_after:
        say(f"- {quoted(name)} is in {found.ids[1]} only.")
    _results(found)


def _results(found: RunDiff) -> None:
    strategies = list(dict.fromkeys(one.strategy for one in found.results))
    for name in strategies:
        own = [one for one in found.results if one.strategy == name]
        rows = [
            (one.metric, _interval(one.before, one.unit), _interval(one.after, one.unit), *_change(one))
            for one in own[:SHOWN]
        ]
        say()
        say(plain(name), style="bold")
        print_table(("Metric", found.ids[0], found.ids[1], "Change", "Intervals"), rows, text=(0, 4))
        if len(own) > SHOWN:
            say(f"... and {len(own) - SHOWN:,} more with --format json.")
    say(f"{found.same_metrics:,} metrics of strategies in both runs are the same to the last digit.")


def _change(one: MetricChange) -> tuple[str, str]:
    words = {True: "apart", False: "overlap", None: DASH}
    change = one.change
    return (DASH if change is None else f"{'+' if change > 0 else ''}{value(change, one.unit)}"), words[
        one.apart
    ]


def _interval(interval: Interval, unit: str) -> str:
    return f"{value(interval.mean, unit)} {limits(interval, unit)}".strip()


def _decision(found: Recommendation) -> str:
    sure = "" if found.confidence is None else f" (confidence {sureness(found.confidence)})"
    if found.strategy is None:
        return f"none meets the target; nearest is {quoted(found.nearest or DASH)}{sure}"
    return f"{quoted(found.strategy)}{sure}"


def _value(found: Any) -> str:
    return "absent" if found is None else _short(plain(str(found)))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
