"""Hours, days and months of the scenario's local calendar, as edges of elapsed time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from sim.billing.periods import add_months
from sim.model.scenario import Scenario
from sim.units import HOUR, Micros

__all__ = ["GRAINS", "Grain", "calendar_edges", "elapsed", "label"]

Grain = Literal["hour", "day", "month"]

GRAINS: tuple[Grain, ...] = ("hour", "day", "month")

_LABELS = {"hour": "%Y-%m-%d %H:%M", "day": "%Y-%m-%d", "month": "%Y-%m"}


def calendar_edges(scenario: Scenario, grain: Grain, until_us: Micros | None = None) -> list[Micros]:
    """Edges from 0 to the horizon (or `until_us`): the start, every change of period, the end.

    Days and months change at local midnight; a day of 23 or 25 hours has so many. Hours are elapsed
    hours from local midnight.
    """
    end_us = scenario.horizon_us if until_us is None else until_us
    edges = [0]
    for edge in _changes(scenario, grain, end_us):
        if edges[-1] < edge < end_us:
            edges.append(edge)
    return [*edges, end_us]


def _changes(scenario: Scenario, grain: Grain, end_us: Micros) -> Iterator[Micros]:
    midnight = scenario.start.replace(hour=0, minute=0, second=0, microsecond=0)
    first = midnight.replace(day=1) if grain == "month" else midnight
    number, at_us = 0, scenario.elapsed_us(first)
    while at_us < end_us:
        yield at_us
        number += 1
        following = add_months(first, number) if grain == "month" else first + timedelta(days=number)
        next_us = scenario.elapsed_us(following)
        if grain == "hour":
            yield from range(at_us + HOUR, next_us, HOUR)
        at_us = next_us


def elapsed(scenario: Scenario, moment: datetime) -> Micros:
    """Elapsed time of a local time with its zone, negative before the start."""
    return (moment - scenario.start_instant) // timedelta(microseconds=1)


def label(scenario: Scenario, edge_us: Micros, grain: Grain) -> str:
    """Name of the period that begins at an edge: `2026-03`, `2026-03-08`, `2026-03-08 14:00`."""
    local = scenario.local_time(edge_us)
    if grain == "hour":
        return local.replace(minute=0).strftime(_LABELS[grain])
    return local.strftime(_LABELS[grain])
