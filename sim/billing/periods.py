"""Billing periods in months of a contract, and the edges of calendar months, in local time.

What a month is, is a term of the contract:

- `calendar`: from an anniversary of the beginning to the next, in the wall time of the scenario's zone.
  A contract that begins on the 31st has its anniversary on the last day of a shorter month and on the
  31st again afterwards, because every anniversary is counted from the beginning itself.
- `30-days`: thirty days of wall time.
- `mean-month`: 365 / 12 days of wall time, that is 30 days and 10 hours.

Periods are half-open, so neighbours have no gap and no overlap.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sim.model.scenario import Scenario
from sim.model.terms import MonthBasis
from sim.units import Micros

__all__ = ["MONTH_DAYS", "Period", "add_months", "month_edges", "period_edge", "periods"]

MONTH_DAYS: dict[MonthBasis, timedelta] = {
    "30-days": timedelta(days=30),
    "mean-month": timedelta(days=365) / 12,
}
"""Length of a month where all months are alike."""


@dataclass(frozen=True, slots=True)
class Period:
    """One paid period: local times without zone, and the same as elapsed microseconds."""

    start: datetime
    end: datetime
    start_us: Micros
    end_us: Micros


def add_months(local: datetime, months: int) -> datetime:
    """The anniversary that many months later; the last day of the month where the day is missing."""
    year, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    day = min(local.day, monthrange(year, month + 1)[1])
    return local.replace(year=year, month=month + 1, day=day)


def period_edge(anchor: datetime, months: int, basis: MonthBasis = "calendar") -> datetime:
    """The local time that lies so many months of the contract after its beginning."""
    return add_months(anchor, months) if basis == "calendar" else anchor + months * MONTH_DAYS[basis]


def periods(
    scenario: Scenario, anchor: datetime, months: int, until_us: Micros, basis: MonthBasis = "calendar"
) -> Iterator[Period]:
    """All periods of `months` months, counted from `anchor`, that begin before `until_us`."""
    begin, begin_us, number = anchor, scenario.elapsed_us(anchor), 0
    while begin_us < until_us:
        number += 1
        end = period_edge(anchor, number * months, basis)
        end_us = scenario.elapsed_us(end)
        yield Period(begin, end, begin_us, end_us)
        begin, begin_us = end, end_us


def month_edges(scenario: Scenario) -> list[Micros]:
    """Local midnights of the first days of months, strictly inside the horizon, elapsed time."""
    first = scenario.start.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    edges: list[Micros] = []
    number = 1
    while (edge := scenario.elapsed_us(add_months(first, number))) < scenario.horizon_us:
        edges.append(edge)
        number += 1
    return edges
