"""The figures as a table for the terminal, as JSON and as docs/performance.md."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.engine.rows import ROWS, Line, Skipped
from benchmarks.engine.timing import FLOOR
from benchmarks.engine.worlds import FLEET

__all__ = ["as_json", "as_page", "as_table", "line_as_json"]

Cells = tuple[str, ...]
HEAD: Cells = ("row", "case", "target", "measured", "rounds", "met", "us a job")


def line_as_json(line: Line | Skipped, *, verdict: bool) -> dict[str, Any]:
    """One line as data; `met` is null where there is no target or the sizes are not those of the target."""
    if isinstance(line, Skipped):
        return {"row": line.row, "case": line.case, "skipped": line.why}
    median = statistics.median(line.values)
    return {
        "row": line.row,
        "case": line.case,
        "unit": line.unit,
        "target": line.target,
        "at_least": line.at_least,
        "median": median,
        "rounds": list(line.values),
        "met": _met(line, median) if verdict else None,
        "us_per_job": dict(line.us_per_job),
        "note": line.note,
    }


def _met(line: Line, median: float) -> bool | None:
    if line.target is None:
        return None
    return median >= line.target if line.at_least else median <= line.target


def as_json(lines: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> dict[str, Any]:
    """The whole run as data."""
    return {"about": dict(about), "rows": {row.name: row.what for row in ROWS.values()}, "lines": list(lines)}


def _cells(line: Mapping[str, Any]) -> Cells:
    if "skipped" in line:
        return (line["row"], line["case"], "", "", "", "skipped", line["skipped"])
    unit, rounds = line["unit"], line["rounds"]
    target = line["target"]
    bound = "" if target is None else f"{'>=' if line['at_least'] else '<='} {target:g}"
    met = {True: "yes", False: "no", None: "-"}[line["met"]]
    times = ", ".join(f"{name} {us:.1f}" for name, us in line["us_per_job"].items() if name != FLOOR)
    if FLOOR in line["us_per_job"]:
        times += f" ({FLOOR} {line['us_per_job'][FLOOR]:.2f})"
    return (
        line["row"],
        line["case"],
        bound,
        f"{_number(line['median'])} {unit}",
        f"{_number(min(rounds))} to {_number(max(rounds))}",
        met,
        "; ".join(text for text in (times.strip(), line["note"]) if text),
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def as_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """Columns for a terminal."""
    cells = [HEAD, *(_cells(line) for line in lines)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(HEAD) - 1)]
    padded = ("  ".join([*map(str.ljust, row[:-1], widths), row[-1]]).rstrip() for row in cells)
    return "\n".join(padded)


PAGE = """\
# How fast the engine is

Written by `python -m benchmarks --docs`. Nothing here is typed but the explanations.

Absolute times swing by a factor of two or three on shared machines, so everything is a ratio to something
that took turns with it in the same run: to one bare SimPy timeout (1,000 processes pending, each in a loop of
timeouts), to another policy, or to another program. CPU time, not wall time; the median of {rounds} rounds,
with the lowest and the highest. Each run is the whole engine: `sim.engine.run` on jobs made before the clock
starts, with every record of the run log kept, from which all metrics are computed. The cyclic garbage
collector is off inside the engine, which is part of it, and on for all others; objects made before do not
count against anyone.

Measured on {date} on {machine}, Python {python}, SimPy {simpy}. {verdicts}{remark}

| what | target | measured | rounds | met |
|---|--:|--:|--:|:-:|
{table}

{skipped}*Fleet* means: {fleet}.

What each row runs:

{rows}

## Microseconds, a side note

CPU microseconds a job on that machine that day, and of the timeout beside them. Do not compare them with
another day.

| what | microseconds a job | timeout |
|---|---|--:|
{times}

## Repeat it

```
python -m benchmarks                              # all rows; about a quarter of an hour
python -m benchmarks --quick                      # small sizes, no verdicts; under a minute
python -m benchmarks --rows mm8 overload          # some rows; --list names them
python -m benchmarks --json figures.json          # every round, as data
python -m benchmarks --accasim ENV/bin/python     # with AccaSim; ENV: an environment with `accasim`
```
"""


def as_page(document: Mapping[str, Any]) -> str:
    """docs/performance.md."""
    about, lines = document["about"], document["lines"]
    measured = [line for line in lines if "skipped" not in line]
    skipped = [line for line in lines if "skipped" in line]
    judged = [line["met"] for line in measured if line["met"] is not None]
    notes = "".join(f"Not measured here: {line['case']} ({line['skipped']}).\n\n" for line in skipped)
    remark = about.get("remark", "")
    return PAGE.format(
        **{**about, "remark": f"\n\n{remark}" if remark else ""},
        verdicts=f"{sum(judged)} of {len(judged)} targets are met."
        if judged
        else "Small sizes: no verdicts.",
        table="\n".join(_page_row(line) for line in measured),
        skipped=notes,
        fleet=FLEET,
        rows="\n".join(f"- **{name}**: {what}." for name, what in document["rows"].items()),
        times="\n".join(_page_times(line) for line in measured if line["us_per_job"]),
    )


def _page_row(line: Mapping[str, Any]) -> str:
    row, case, target, measured, rounds, met, _ = _cells(line)
    note = f" ({line['note']})" if line["note"] else ""
    target = target.replace("<=", "≤").replace(">=", "≥")
    return f"| {row}: {case}{note} | {target} | {measured} | {rounds} | {met} |"


def _page_times(line: Mapping[str, Any]) -> str:
    times = line["us_per_job"]
    own = ", ".join(f"{name} {us:.1f}" for name, us in times.items() if name != FLOOR)
    return f"| {line['row']}: {line['case']} | {own} | {times.get(FLOOR, float('nan')):.2f} |"
