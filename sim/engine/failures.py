"""When cards and machines fail: drawn before the run, keyed by what fails.

The draws of event number k of a kind come from one stream for all cards of a kind, so that the
n-th card has the same misfortune in every strategy, however many cards there are. Times count
from the scenario's start; events while the card is not leased or is already down do not happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import gamma
from typing import Any, TypeAlias

import numpy as np

from sim.engine.outages import Outage, Outages, draw_one_outage
from sim.model.failures import KINDS, PLANNED, SILENT, FailureKind, ForcedFailure, Lemons
from sim.model.fleet import FailureModel, PoolSpec
from sim.streams import Streams
from sim.units import Micros

__all__ = [
    "CARD_KINDS",
    "FailureEvent",
    "Outage",
    "draw_events",
    "draw_one_outage",
    "forced_events",
    "in_order",
]

CARD_KINDS = tuple(name for name, kind in KINDS.items() if kind.unit == "card")
"""Kinds whose rate is of a card; the others are of a machine, or of what machines share."""

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class FailureEvent:
    """One failure of the calendar, whether or not somebody rents the machine then."""

    at_us: Micros
    machine: int
    card: int
    """Card within the machine."""
    kind: FailureKind
    outage: Outage
    infant: bool = False
    """Happens only while the machine is new in its place."""

    @property
    def alone(self) -> bool:
        """Whether one card is away, not the whole machine."""
        return KINDS[self.kind].hits == "card" and not self.outage.replaced

    @property
    def moves(self) -> bool:
        """Whether another machine takes its place."""
        return KINDS[self.kind].moves or self.outage.replaced


def draw_events(pool: PoolSpec, machines: int, horizon_us: Micros, streams: Streams) -> list[FailureEvent]:
    """All failures of `machines` machines of a pool before the horizon, in order of time."""
    events: list[FailureEvent] = []
    for model, chosen in pool.failures_by_machine(machines):
        for kind in sorted(model.mtbf_us):
            events += _of_units(pool, model, kind, chosen, horizon_us, streams, infant=False)
            if model.infancy is not None and model.infancy.factor > 1:
                events += _of_units(pool, model, kind, chosen, horizon_us, streams, infant=True)
        for kind in sorted(model.shared or {}):
            events += _shared(pool, model, kind, chosen, horizon_us, streams)
        events += _maintenance(model, chosen, horizon_us)
    return in_order(events)


def forced_events(
    forced: Iterable[tuple[int, ForcedFailure]], pool: PoolSpec, machines: int, streams: Streams
) -> Iterator[FailureEvent]:
    """The failures at known times that concern a pool, each with its number in the scenario."""
    for number, event in forced:
        if event.offer != pool.offer or event.machine >= machines or event.card >= pool.gpus_per_machine:
            continue
        outage = (
            draw_one_outage(pool, event.kind, number, streams)
            if event.down_us is None
            else Outage(0, event.down_us, None, exact=True)
        )
        hit: Iterable[int] = (event.machine,)
        if KINDS[event.kind].unit == "shared":
            hit = _sharing(pool, event.kind, event.machine, machines)
        for machine in hit:
            yield FailureEvent(event.at_us, machine, event.card, event.kind, outage)


def in_order(events: Iterable[FailureEvent]) -> list[FailureEvent]:
    """Failures in the order in which they happen; ties by machine, card and kind."""
    return sorted(events, key=lambda event: (event.at_us, event.machine, event.card, event.kind))


# --- cards and machines -----------------------------------------------------------------------


def _of_units(
    pool: PoolSpec,
    model: FailureModel,
    kind: FailureKind,
    chosen: range,
    horizon_us: Micros,
    streams: Streams,
    *,
    infant: bool,
) -> Iterator[FailureEvent]:
    """Failures of one kind; `infant`: those that come on top while a machine is new in its place."""
    per_machine = pool.gpus_per_machine if kind in CARD_KINDS else 1
    offset = pool.first_card if kind in CARD_KINDS else pool.first_machine
    first, units = offset + chosen.start * per_machine, offset + chosen.stop * per_machine
    means = _means(pool, model, kind, chosen.stop, per_machine, offset, streams)
    shape = model.weibull_shape
    if infant and model.infancy is not None:
        means, shape = means / (model.infancy.factor - 1), 1.0
    prefix = "infant " if infant else ""
    times_of = _failure_times((f"{prefix}failure", pool.card_kind, kind), means, shape, horizon_us, streams)
    for number, times in enumerate(times_of):
        key = (f"{prefix}outage", pool.card_kind, kind)
        outages = Outages.draw(model, kind, units, streams, *key, number=number)
        for unit in first + np.flatnonzero(times[first:] < horizon_us):
            machine, card = divmod(int(unit) - offset, per_machine)
            outage = Outage(0, 0, None) if kind == SILENT else outages(int(unit))
            yield FailureEvent(round(float(times[unit])), machine, card, kind, outage, infant)


def _means(
    pool: PoolSpec,
    model: FailureModel,
    kind: FailureKind,
    machines: int,
    per_machine: int,
    offset: int,
    streams: Streams,
) -> Floats:
    """Mean time between failures of each unit: of the lemons shorter, of the others longer."""
    mean_us = model.mtbf_us[kind]
    means = np.full(offset + machines * per_machine, float(mean_us))
    lemons = model.lemons
    if lemons is not None:
        bad = streams.generator("lemons", pool.card_kind).random(pool.first_machine + machines)
        is_bad = np.repeat(bad[pool.first_machine :] < lemons.share, per_machine)
        means[offset:] = mean_us * np.where(is_bad, *_lemon_factors(lemons))
    return means


def _lemon_factors(lemons: Lemons) -> tuple[float, float]:
    """Factors on the mean time between failures of lemons and of the others; the mean rate stays."""
    others = 1 - lemons.share + lemons.share * lemons.factor
    return others / lemons.factor, others


def _failure_times(
    key: tuple[str, ...], means: Floats, shape: float, horizon_us: Micros, streams: Streams
) -> Iterator[Floats]:
    """For event number 0, 1, ...: the time of that event of each unit, until all are past the horizon."""
    clock = np.zeros(len(means))
    number = 0
    while True:
        gaps = streams.generator(*key, number).exponential(size=len(means))
        if shape != 1.0:
            gaps = gaps ** (1 / shape) / gamma(1 + 1 / shape)
        clock = clock + gaps * means
        if clock.min() >= horizon_us:
            return
        yield clock
        number += 1


# --- what machines share ----------------------------------------------------------------------


def _shared(
    pool: PoolSpec,
    model: FailureModel,
    kind: FailureKind,
    chosen: range,
    horizon_us: Micros,
    streams: Streams,
) -> Iterator[FailureEvent]:
    """Events of switches, by the ordinal of their machines, or of the site, the same for all its pools."""
    shared = (model.shared or {})[kind]
    size = shared.machines
    owner = pool.card_kind if size is not None else f"site {pool.site}"
    last = pool.first_machine + chosen.stop
    groups = 1 if size is None else -(-last // size)
    means = np.full(groups, float(shared.mean_us))
    for number, times in enumerate(_failure_times(("failure", owner, kind), means, 1.0, horizon_us, streams)):
        outages = Outages.draw(model, kind, groups, streams, "outage", owner, kind, number=number)
        for machine in chosen:
            group = 0 if size is None else (pool.first_machine + machine) // size
            if times[group] < horizon_us:
                yield FailureEvent(round(float(times[group])), machine, 0, kind, outages(group))


def _sharing(pool: PoolSpec, kind: FailureKind, machine: int, machines: int) -> range:
    """The machines of a pool that share a switch or the site with one of them."""
    shared = None if pool.failures is None else (pool.failures.shared or {}).get(kind)
    if shared is None or shared.machines is None:
        return range(machines)
    ordinal = pool.first_machine + machine
    first = ordinal - ordinal % shared.machines - pool.first_machine
    return range(max(0, first), min(machines, first + shared.machines))


def _maintenance(model: FailureModel, chosen: range, horizon_us: Micros) -> Iterator[FailureEvent]:
    """Planned work on the machines in turn, in every round in the same order."""
    plan = model.maintenance
    if plan is None:
        return
    for machine in chosen:
        turn = plan.first_us + machine // plan.together * plan.lasts_us
        for at_us in range(turn, horizon_us, plan.every_us):
            yield FailureEvent(at_us, machine, 0, PLANNED, Outage(0, plan.lasts_us, None))
