"""Write the theory part of docs/validation.md from what the long theory tests print.

    pytest -m long -v -s tests/theory/test_queues.py > queues.log
    python -m benchmarks.theory queues.log reliability.log ciw.log

A value stands there as the test printed it; a test that did not pass stands as `missed`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "validation.md"
BEGIN, END = "<!-- theory: begin -->", "<!-- theory: end -->"

_TEST = re.compile(r"tests/theory/\w+\.py::test_(\S+?)(?:\[(\S.*?)\])? ")
_MEAN = re.compile(r"([\d.]+) \+- ([\d.]+)% against ([\d.]+): off by ([-+][\d.]+)%")
_RATE = re.compile(r"([\d.]+) in \[([\d.]+), ([\d.]+)\] against ([\d.]+)")

HEAD = """
## The engine against theory

The long theory profile: `pytest -m long -v -s tests/theory`, one file at a time, its output read by
`python -m benchmarks.theory`. Each interval is one of 99 %; a test fails where its half-width is above 2 % of
the value or theory lies outside. Waits are in mean service times, times to finish in hours, rates in failures
an hour, the rest in shares of time. M/M/c: cards, load, replications, jobs in each. The default suite holds
the same laws at 5 %.

| test | case | simulated | theory | half-width | off |
|---|---|--:|--:|--:|--:|
"""


def rows(log: str) -> Iterator[str]:
    """One row of the table for each value that a log shows."""
    name = case = ""
    for line in log.splitlines():
        if line.startswith("PASSED tests/"):
            return  # the summary tells the same again
        test = _TEST.match(line)
        if test:
            name, case = test.group(1).replace("_", " "), test.group(2) or ""
        if mean := _MEAN.search(line):
            value, half, truth, off = mean.groups()
            yield f"| {name} | {case} | {value} | {truth} | {half}% | {off}% |"
        elif rate := _RATE.search(line):
            value, low, high, truth = (float(part) for part in rate.groups())
            half, off_by = (high - low) / 2 / truth, value / truth - 1
            yield f"| {name} | {case} | {value:.5f} | {truth:.5f} | {half:.2%} | {off_by:+.2%} |"
        elif test and line.rstrip().endswith("PASSED"):
            yield f"| {name} | {case} | the same, job by job | | | |"
        elif line.startswith("FAILED"):
            yield f"| {name} | {case} | missed | | | |"


def part_of(page: str) -> str:
    """The theory part of the page as it stands, with its marks; empty if there is none."""
    return page[page.index(BEGIN) : page.index(END) + len(END)] if BEGIN in page else ""


def main() -> None:
    """Read the logs, write the part."""
    table = [row for file in sys.argv[1:] for row in rows(Path(file).read_text(encoding="utf-8"))]
    day = datetime.now(UTC).date().isoformat()
    text = f"{BEGIN}\n{HEAD.strip()}\n" + "\n".join(table) + f"\n\nRun on {day}.\n{END}"
    page = PAGE.read_text(encoding="utf-8")
    old = part_of(page)
    page = page.replace(old, text) if old else f"{page.rstrip()}\n\n{text}\n"
    PAGE.write_text(page, encoding="utf-8", newline="\n")
    print(f"written: docs/{PAGE.name}, {len(table)} rows")


if __name__ == "__main__":
    main()
