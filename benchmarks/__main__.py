"""Times the engine against the bare SimPy timeout and against others: python -m benchmarks --help."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.engine.report import as_json, as_page, as_table, line_as_json
from benchmarks.engine.rows import ROWS, Options
from benchmarks.engine.timing import Effort

FULL = Effort(divide=1, rounds=5, verdict=True)
QUICK = Effort(divide=50, rounds=3, verdict=False, timeouts=50_000)

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
NUMBERS = {1: "one core", 2: "two cores", 4: "four cores", 8: "eight cores"}


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS), metavar="ROW",
                        help=f"which rows: {', '.join(ROWS)} (all)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sizes, three rounds, no verdicts")
    parser.add_argument("--rounds", type=int, help="rounds of each row (5; 3 with --quick)")
    parser.add_argument("--divide", type=int, help="so many times fewer jobs (1; 50 with --quick)")
    parser.add_argument("--accasim", default="", metavar="PYTHON",
                        help="interpreter of an environment in which AccaSim is installed")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round as data")
    parser.add_argument("--docs", action="store_true", help=f"write {PAGE.parent.name}/{PAGE.name}")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE",
                        help="measure nothing: take the figures of an earlier --json")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="name the rows and what they run")
    return parser.parse_args(words)


def effort_of(chosen: argparse.Namespace) -> Effort:
    """Sizes and rounds; verdicts only at full size with five rounds or more."""
    base = QUICK if chosen.quick else FULL
    divide, rounds = chosen.divide or base.divide, chosen.rounds or base.rounds
    verdict = divide == 1 and rounds >= FULL.rounds
    return Effort(divide, rounds, verdict, base.timeouts)


def measure(chosen: argparse.Namespace) -> dict[str, Any]:
    """Run the rows; progress goes to stderr, and the file of figures grows line by line."""
    effort = effort_of(chosen)
    options = Options(effort, chosen.accasim)
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": NUMBERS.get(os.cpu_count() or 0, f"{os.cpu_count()} cores"),
        "python": platform.python_version(),
        "simpy": version("simpy"),
        "rounds": effort.rounds,
        "divide": effort.divide,
    }
    lines: list[dict[str, Any]] = []
    document = as_json(lines, about)
    began = time.monotonic()
    for name in chosen.rows:
        for line in ROWS[name].measure(options):
            lines.append(line_as_json(line, verdict=effort.verdict))
            document = as_json(lines, about)
            print(f"{time.monotonic() - began:5.0f} s  {line.row}: {line.case}", file=sys.stderr, flush=True)
            if chosen.json is not None:
                save(document, chosen.json)
    return document


def save(document: dict[str, Any], file: Path) -> None:
    """All figures as JSON."""
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main(words: list[str] | None = None) -> None:
    """Measure, print, write."""
    chosen = arguments(words)
    if chosen.list:
        for row in ROWS.values():
            print(f"{row.name}: {row.what}")
        return
    document = json.loads(chosen.source.read_text()) if chosen.source else measure(chosen)
    print(as_table(document["lines"]))
    if chosen.json is not None:
        save(document, chosen.json)
    if chosen.docs:
        PAGE.write_text(as_page(document), encoding="utf-8")


if __name__ == "__main__":
    main()
