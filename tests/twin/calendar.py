"""The twin's calendar of failures: unit by unit and event by event, from the words of `docs/failures.md`.

It reads the same random numbers as the engine; what follows a failure (`Outages`) is shared as well.
"""

from __future__ import annotations

from math import gamma

from sim.engine.failures import FailureEvent
from sim.engine.outages import Outage, Outages, draw_one_outage
from sim.model.failures import KINDS, PLANNED, SILENT, FailureModel, ForcedFailure
from sim.model.fleet import PoolSpec
from sim.streams import Streams
from sim.units import Micros
from tests.twin.cards import Pool

__all__ = ["calendar"]


def calendar(pool: Pool, forced: tuple[ForcedFailure, ...], horizon: Micros, streams: Streams):
    """All failures of the machines of a pool before the horizon, in order of time."""
    drawing = Drawing(pool.spec, horizon, streams)
    events: list[FailureEvent] = []
    for machine in pool.machines:
        model = model_of(pool.spec, machine.lease)
        if model is not None:
            events += drawing.of_machine(machine.ordinal, model)
    for number, one in enumerate(forced):
        if one.offer == pool.spec.offer and not pool.burst:
            events += drawing.forced(one, number, len(pool.machines))
    events = [event for event in events if event.at_us < horizon]
    return sorted(events, key=lambda e: (e.at_us, e.machine, e.card, e.kind))


def model_of(spec: PoolSpec, lease: int) -> FailureModel | None:
    """A lease may fail in its own way."""
    own = [span.failures for span in spec.leases if span.lease == lease and span.failures != "pool"]
    return own[0] if own else spec.failures


class Drawing:
    def __init__(self, spec: PoolSpec, horizon: Micros, streams: Streams) -> None:
        self.spec, self.horizon, self.streams = spec, horizon, streams

    def of_machine(self, machine: int, model: FailureModel) -> list[FailureEvent]:
        spec = self.spec
        events = []
        for kind in model.mtbf_us:
            mean = model.mtbf_us[kind] * self.lemon_factor(machine, model)
            cards = range(spec.gpus_per_machine) if KINDS[kind].unit == "card" else range(1)
            for card in cards:
                unit = spec.first_machine + machine
                if KINDS[kind].unit == "card":
                    unit = spec.first_card + machine * spec.gpus_per_machine + card
                events += self.of_unit(kind, model, "", unit, mean, machine, card)
                if model.infancy is not None and model.infancy.factor > 1:
                    more = mean / (model.infancy.factor - 1)
                    events += self.of_unit(kind, model, "infant ", unit, more, machine, card)
        for kind, shared in (model.shared or {}).items():
            group, owner = 0, f"site {spec.site}"
            if shared.machines is not None:
                group, owner = (spec.first_machine + machine) // shared.machines, spec.card_kind
            for number, time in self.times(("failure", owner, kind), group, shared.mean_us, 1.0):
                key = ("outage", owner, kind)
                outage = Outages.draw(model, kind, group + 1, self.streams, *key, number=number)(group)
                events.append(FailureEvent(time, machine, 0, kind, outage))
        if model.maintenance is not None:
            plan = model.maintenance
            time = plan.first_us + (machine // plan.together) * plan.lasts_us
            while time < self.horizon:
                events.append(FailureEvent(time, machine, 0, PLANNED, Outage(0, plan.lasts_us, None)))
                time += plan.every_us
        return events

    def of_unit(
        self, kind: str, model: FailureModel, prefix: str, unit: int, mean: float, machine: int, card: int
    ) -> list[FailureEvent]:
        """The failures of one kind of one card or machine."""
        shape = 1.0 if prefix else model.weibull_shape
        events = []
        for number, time in self.times((f"{prefix}failure", self.spec.card_kind, kind), unit, mean, shape):
            outage = Outage(0, 0, None)
            if kind != SILENT:
                key = (f"{prefix}outage", self.spec.card_kind, kind)
                outage = Outages.draw(model, kind, unit + 1, self.streams, *key, number=number)(unit)
            events.append(FailureEvent(time, machine, card, kind, outage, bool(prefix)))
        return events

    def times(self, key: tuple[str, ...], unit: int, mean: float, shape: float):
        """(number, time) of the events of one unit, from the scenario's start on."""
        time, number = 0.0, 0
        while True:
            gaps = self.streams.generator(*key, number).exponential(size=unit + 1)
            if shape != 1.0:
                gaps = gaps ** (1 / shape) / gamma(1 + 1 / shape)
            time += float(gaps[unit]) * mean
            if time >= self.horizon:
                return
            yield number, round(time)
            number += 1

    def lemon_factor(self, machine: int, model: FailureModel) -> float:
        """On the mean time between failures: all together fail as often as without lemons."""
        lemons = model.lemons
        if lemons is None:
            return 1
        ordinal = self.spec.first_machine + machine
        drawn = self.streams.generator("lemons", self.spec.card_kind).random(ordinal + 1)[ordinal]
        usual = 1 - lemons.share + lemons.share * lemons.factor
        return usual / lemons.factor if drawn < lemons.share else usual

    def forced(self, one: ForcedFailure, number: int, machines: int) -> list[FailureEvent]:
        if one.machine >= machines or one.card >= self.spec.gpus_per_machine:
            return []
        if one.down_us is None:
            outage = draw_one_outage(self.spec, one.kind, number, self.streams)
        else:
            outage = Outage(0, one.down_us, None, exact=True)
        hit = [one.machine]
        if KINDS[one.kind].unit == "shared":
            hit = [machine for machine in range(machines) if self.together(one, machine)]
        return [FailureEvent(one.at_us, machine, one.card, one.kind, outage) for machine in hit]

    def together(self, one: ForcedFailure, machine: int) -> bool:
        """Whether a machine shares the switch or the site with the one that is named."""
        model = self.spec.failures
        shared = None if model is None else (model.shared or {}).get(one.kind)
        if shared is None or shared.machines is None:
            return True
        first = self.spec.first_machine
        return (first + machine) // shared.machines == (first + one.machine) // shared.machines
