"""Leases that are simply there from start to end, as records that billing reads."""

from __future__ import annotations

from collections.abc import Iterator

from sim.model.fleet import FleetPlan, LeaseSpan
from sim.model.records import LeaseRecord
from sim.units import Micros

__all__ = ["standing_records"]


def standing_records(plan: FleetPlan) -> tuple[LeaseRecord, ...]:
    """The records that the engine would leave of all leases: each machine there from start to end.

    No job and no failure is in them, which billing does not read.
    """
    records: list[LeaseRecord] = []
    for pool in plan.pools:
        machine = 0
        for span in pool.leases:
            for _ in range(span.count):
                if span.start_us < plan.horizon_us:
                    records.append(
                        LeaseRecord(
                            offer=pool.offer,
                            lease=span.lease,
                            machine=machine,
                            gpus=pool.gpus_per_machine,
                            start_us=span.start_us,
                            end_us=None if _past(span.end_us, plan.horizon_us) else span.end_us,
                            busy_card_us=0,
                            down_card_us=0,
                            absences=tuple(_absences(span, plan.horizon_us)),
                        )
                    )
                machine += 1
    return tuple(sorted(records, key=lambda one: (one.start_us, one.lease, one.offer, one.machine)))


def _past(moment: Micros | None, horizon: Micros) -> bool:
    return moment is None or moment >= horizon


def _absences(span: LeaseSpan, horizon: Micros) -> Iterator[tuple[Micros, Micros]]:
    """Times between the windows of a lease, up to the horizon."""
    since = span.start_us
    until = horizon if span.end_us is None else min(span.end_us, horizon)
    for opens, closes in span.windows if span.windows is not None else ((since, until),):
        if opens >= until:
            break
        if opens > since:
            yield since, opens
        since = closes
    if since < until:
        yield since, until
