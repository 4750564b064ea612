"""Card-time by lease and period: what was rented, and what became of it, to the microsecond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sim.billing.cardtime import BUSY, State, cells
from sim.billing.grains import Grain, calendar_edges, label
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.units import Micros

__all__ = ["Bucket", "lease_label", "usage"]


@dataclass(frozen=True, slots=True)
class Bucket:
    """Card-time of one lease in one period, microseconds times cards.

    Used and unused make up the leased time: leased = busy + idle + down + away + reserved, and busy =
    useful + checkpoint + startup + reload + lost.
    """

    lease: str
    """`lease 0`, or `burst`: all rentals of the burst rule together."""
    period: str
    """`2026-03`, `2026-03-08` or `2026-03-08 14:00`, local time."""
    start: datetime
    """Local, with zone; the period as far as it lies within the horizon."""
    end: datetime
    leased: Micros
    states: Mapping[State, Micros]
    """Every state with its card-time; states without any are left out."""

    @property
    def busy(self) -> Micros:
        """Card-time with a job."""
        return sum(self.states.get(state, 0) for state in BUSY)

    @property
    def unused(self) -> Micros:
        """Card-time without a job, whatever the reason."""
        return self.leased - self.busy


def usage(log: RunLog, scenario: Scenario, grain: Grain = "month") -> tuple[Bucket, ...]:
    """Card-time within the horizon, by lease in its order (burst last), then period.

    Periods in which a lease has no card are left out.
    """
    edges = calendar_edges(scenario, grain)
    leased: Counter[tuple[int, int]] = Counter()
    states: dict[tuple[int, int], Counter[State]] = {}
    for cell in cells(log, lambda _lease, _machine: edges):
        place = cell.lease, cell.period
        leased[place] += cell.leased
        found = states.setdefault(place, Counter())
        for (_, state), card_us in cell.parts.items():
            found[state] += card_us
    return tuple(
        Bucket(
            lease=lease_label(lease),
            period=label(scenario, edges[period], grain),
            start=scenario.local_time(edges[period]),
            end=scenario.local_time(edges[period + 1]),
            leased=leased[lease, period],
            states=dict(states[lease, period]),
        )
        for lease, period in sorted(leased, key=lambda place: (place[0] < 0, *place))
    )


def lease_label(lease: int) -> str:
    """What the ledger calls a lease by its position; -1 is burst."""
    return "burst" if lease < 0 else f"lease {lease}"
