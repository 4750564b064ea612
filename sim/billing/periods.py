"""Billing periods on calendar anniversaries, and the edges of calendar months, in local time.

A period runs from an anniversary of the lease's start to the next, in months of the calendar and
in the wall time of the scenario's zone; it is half-open, so neighbours have no gap and no overlap.
A lease that starts on the 31st has its anniversary on the last day of a shorter month and on the
31st again afterwards, because every anniversary is counted from the start itself.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sim.model.scenario import Scenario
from sim.units import Micros

__all__ = ["Period", "add_months", "month_edges", "periods"]


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


def periods(scenario: Scenario, anchor: datetime, months: int, until_us: Micros) -> Iterator[Period]:
    """All periods of `months` months, counted from `anchor`, that begin before `until_us`."""
    begin, begin_us, number = anchor, scenario.elapsed_us(anchor), 0
    while begin_us < until_us:
        number += 1
        end = add_months(anchor, number * months)
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
