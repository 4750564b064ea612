"""`fleetsim calibrate`: constants of the physics from a user's own measured runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.cli.console import print_table, say
from sim.cli.rows import check_answer, read_rows, row_constants, write_answer
from sim.errors import InputError, Problem
from sim.physics.calibration import Calibration, Errors
from sim.physics.calibration import calibrate as fit_to
from sim.workload.wording import counted

__all__ = ["calibrate"]

_SKIPPED_SHOWN = 10


def calibrate(
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS.csv", help="Measured runs, as `fleetsim measure` writes them.")
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE.yaml", help="Where to write the constants.")
    ],
    performance: Annotated[
        str, typer.Option(help="What to start from: measured, or the path of a calibration file.")
    ] = "measured",
) -> None:
    """Fit the free constants of memory and speed to your own measured runs, and say what it gains.

    The columns are those of `fleetsim predict`, with peak_mem_gib (GiB a card) and tokens_per_s_total
    (over all cards) as measured; a row needs one of the two.

    Few rows move the constants little: each is held to its shipped value. A scenario uses the result by
    `performance: FILE.yaml`, and so does `fleetsim fit --performance FILE.yaml`.
    """
    constants = row_constants(performance)
    check_answer(out, rows)
    table = read_rows(rows)
    found = fit_to(table.rows, constants)
    if not found.memory[0].rows and not found.speed[0].rows:
        rule = "no row has both the facts of a run and a measured peak_mem_gib or tokens_per_s_total"
        reasons = tuple(f"row {position + 1}: {reason}" for position, reason in found.skipped[:5])
        raise InputError(Problem("; ".join((rule, *reasons)), str(rows)))
    write_answer(out, _yaml(found))
    lines = [_line("Memory", found.memory), _line("Speed", found.speed)]
    columns = (
        "",
        "Rows",
        "Median error\nbefore",
        "Median error\nafter",
        "90th pct\nbefore",
        "90th pct\nafter",
    )
    print_table(columns, lines)
    for position, reason in found.skipped[:_SKIPPED_SHOWN]:
        say(f"- row {position + 1} was not used: {reason}")
    if len(found.skipped) > _SKIPPED_SHOWN:
        say(f"- and {len(found.skipped) - _SKIPPED_SHOWN} more rows were not used")
    say(f"Written to {out}. A scenario uses it by: performance: {out.name}")


def _line(name: str, errors: tuple[Errors, Errors]) -> tuple[object, ...]:
    before, after = errors
    return name, before.rows, *(_share(e) for e in (before.median, after.median, before.p90, after.p90))


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def _yaml(found: Calibration) -> str:
    """The moved constants as a calibration file, with the errors before and after as comments."""
    lines = ["# Constants fitted to measured runs; a scenario uses them by `performance: PATH`."]
    for name, (before, after) in (("memory", found.memory), ("speed", found.speed)):
        if before.rows:
            shares = f"{_share(before.median)} before, {_share(after.median)} after"
            lines.append(f"# {name}: {counted(before.rows, 'row')}, median error {shares}.")
    for section, keys in found.changed.items():
        lines.append(f"{section}:")
        lines += _nested(keys, 1)
    if not found.changed:
        lines += ["# Nothing is better than the shipped constants.", "speed: {}"]
    return "\n".join(lines) + "\n"


def _nested(keys: Any, depth: int) -> list[str]:
    lines: list[str] = []
    for key, value in keys.items():
        name = key if depth == 1 else json.dumps(key, ensure_ascii=False)  # names of others are quoted
        if isinstance(value, dict):
            lines.append(f"{'  ' * depth}{name}:")
            lines += _nested(value, depth + 1)
        else:
            lines.append(f"{'  ' * depth}{name}: {value:.6g}")
    return lines
