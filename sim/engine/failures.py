"""When cards and machines fail, and for how long: drawn before the run, keyed by what fails.

The draws of event number k of a kind come from one stream for all cards of a kind, so that the
n-th card has the same misfortune in every strategy, however many cards there are. Times count
from the scenario's start; events while the card is not leased or is already down do not happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sim.model.fleet import FailureModel, LogNormal, PoolSpec
from sim.streams import Streams
from sim.units import Micros

__all__ = ["CARD_KINDS", "FailureEvent", "Outage", "draw_events", "draw_one_outage", "in_order"]

CARD_KINDS = ("gpu_fatal", "gpu_reset")
"""Kinds whose rate is of a card; the others are of a machine."""


@dataclass(frozen=True, slots=True)
class Outage:
    """What follows a failure."""

    detect_us: Micros
    """Until somebody notices; jobs hold their cards so long."""
    repair_us: Micros
    """From then until the card or machine is usable."""
    promise_kept: bool | None
    """None where no promise applies (reset)."""


@dataclass(frozen=True, slots=True)
class FailureEvent:
    """One failure of the calendar, whether or not somebody rents the machine then."""

    at_us: Micros
    machine: int
    card: int
    """Card within the machine."""
    kind: str
    outage: Outage


def draw_events(pool: PoolSpec, machines: int, horizon_us: Micros, streams: Streams) -> list[FailureEvent]:
    """All failures of `machines` machines of a pool before the horizon, in order of time."""
    model = pool.failures
    if model is None or machines == 0:
        return []
    events: list[FailureEvent] = []
    for kind, mtbf_us in sorted(model.mtbf_us.items()):
        per_machine = pool.gpus_per_machine if kind in CARD_KINDS else 1
        first = pool.first_card if kind in CARD_KINDS else pool.first_machine
        units = first + machines * per_machine
        for number, times in enumerate(_failure_times(pool, kind, mtbf_us, units, horizon_us, streams)):
            outages = _draw_outages(pool, model, kind, number, units, streams)
            for unit in first + np.flatnonzero(times[first:] < horizon_us):
                machine, card = divmod(int(unit) - first, per_machine)
                at_us = round(float(times[unit]))
                events.append(FailureEvent(at_us, machine, card, kind, outages(int(unit))))
    return in_order(events)


def in_order(events: Iterable[FailureEvent]) -> list[FailureEvent]:
    """Failures in the order in which they happen; ties by machine, card and kind."""
    return sorted(events, key=lambda event: (event.at_us, event.machine, event.card, event.kind))


def _failure_times(
    pool: PoolSpec, kind: str, mtbf_us: Micros, units: int, horizon_us: Micros, streams: Streams
) -> Iterator[np.ndarray]:
    """For event number 0, 1, ...: the time of that event of each unit, until all are past the horizon."""
    clock = np.zeros(units)
    number = 0
    while True:
        gaps = streams.generator("failure", pool.card_kind, kind, number).exponential(size=units)
        clock = clock + gaps * mtbf_us
        if clock.min() >= horizon_us:
            return
        yield clock
        number += 1


class _Outages:
    """The outages of event number k of a kind, unit by unit."""

    def __init__(self, model: FailureModel, kind: str, uniforms: np.ndarray) -> None:
        self._model, self._kind, self._uniforms = model, kind, uniforms

    def __call__(self, unit: int) -> Outage:
        model = self._model
        for_detection, for_promise, for_time = (float(u) for u in self._uniforms[unit])
        detect_us = _uniform(model.detect_us, for_detection)
        if self._kind == "gpu_reset":
            return Outage(detect_us, _lognormal(model.reset, for_time), None)
        kept = for_promise < model.migration_kept
        repair_us = (
            _uniform(model.migration_us, for_time) if kept else _lognormal(model.migration_late, for_time)
        )
        return Outage(detect_us, repair_us, kept)


def _draw_outages(
    pool: PoolSpec, model: FailureModel, kind: str, number: int, units: int, streams: Streams
) -> _Outages:
    generator = streams.generator("outage", pool.card_kind, kind, number)
    return _Outages(model, kind, generator.random((units, 3)))


def draw_one_outage(pool: PoolSpec, kind: str, number: int, streams: Streams) -> Outage:
    """The outage of a failure that the scenario forces, by its number there."""
    if pool.failures is None:
        return Outage(0, 0, None)
    uniforms = streams.generator("forced", pool.card_kind, kind, number).random((1, 3))
    return _Outages(pool.failures, kind, uniforms)(0)


def _uniform(bounds: tuple[Micros, Micros], u: float) -> Micros:
    low, high = bounds
    return round(low + (high - low) * u)


def _lognormal(shape: LogNormal, u: float) -> Micros:
    # u may be 0, never 1; the cap also bounds the tail of the inverse there.
    tiny = 1e-12
    value = shape.median_us * float(np.exp(shape.sigma * ndtri(max(u, tiny))))
    return round(value if shape.cap_us is None else min(value, shape.cap_us))
