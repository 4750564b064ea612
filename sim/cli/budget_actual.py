"""The table of actual costs that `fleetsim budget` reads: columns line, card_hours, cost."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from sim.billing.finance.budget import BudgetLine
from sim.cli.csv_file import csv_lines
from sim.cli.finance_options import read_number
from sim.errors import InputError, Problem

__all__ = ["read_actual"]

_COLUMNS = ("line", "card_hours", "cost")
_LARGEST = 5_000_000
"""Bytes; a line a day for a thousand years has room."""


def read_actual(path: Path) -> list[BudgetLine]:
    """Lines with their card-hours and mean price of one; InputError with every row that is wrong.

    A line may stand in several rows, such as one a month: they are added up.
    """
    name = str(path)
    rows = _rows(path)
    problems: list[Problem] = []
    sums: dict[str, tuple[Decimal, Decimal]] = {}
    for line, row in rows:
        try:
            hours, cost = (_number(row, column, name, line) for column in _COLUMNS[1:])
        except InputError as error:
            problems += error.problems
            continue
        if hours <= 0:
            rule = "must be above 0: a cost without card-hours has no price"
            problems.append(Problem(rule, name, line, "card_hours", row["card_hours"]))
        before = sums.get(row["line"].strip(), (Decimal(0), Decimal(0)))
        sums[row["line"].strip()] = before[0] + hours, before[1] + cost
    if problems:
        raise InputError(problems)
    return [BudgetLine(line, hours, Fraction(cost) / Fraction(hours)) for line, (hours, cost) in sums.items()]


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    name = str(path)
    lines = [(line, row) for line, row in csv_lines(path, _LARGEST) if any(cell.strip() for cell in row)]
    head = [cell.strip() for cell in lines[0][1]] if lines else []
    missing = [column for column in _COLUMNS if column not in head]
    if missing:
        rule = f"a column is missing: {missing[0]!r}"
        raise InputError(Problem(rule, name, 1, missing[0], None, _COLUMNS))
    if len(lines) < 2:
        raise InputError(Problem("the table has no row", name, 1))
    long = next((number for number, row in lines[1:] if len(row) != len(head)), None)
    if long is not None:
        raise InputError(Problem(f"a row has as many cells as the head: {len(head)}", name, long))
    return [(number, dict(zip(head, row, strict=True))) for number, row in lines[1:]]


def _number(row: dict[str, str], column: str, name: str, line: int) -> Decimal:
    try:
        return read_number(row[column], column, "must be a plain number, such as 1234.56")
    except InputError as error:
        problem = error.problems[0]
        raise InputError(Problem(problem.rule, name, line, column, row[column])) from None
