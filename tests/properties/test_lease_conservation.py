"""Leased = busy + idle + down + away + reserved, whatever the windows, the reserve and the misfortune."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import run
from sim.model.fleet import FleetPlan, LeaseSpan
from sim.model.job import JobSet
from sim.model.rates import RateTable
from sim.model.records import Attempt, LeaseRecord, RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE, Micros
from tests.properties.test_engine_invariants import HOURS, worlds

Span = tuple[Micros, Micros]


@st.composite
def narrowed(draw: st.DrawFn, span: LeaseSpan, size: int) -> LeaseSpan:
    """The lease with windows, a reserve, both or neither."""
    reserve = draw(st.integers(0, span.count * size)) if draw(st.booleans()) else 0
    windows: tuple[Span, ...] | None = None
    if draw(st.booleans()):
        until = (HOURS + 200) * HOUR if span.end_us is None else span.end_us
        minutes = st.integers(span.start_us // MINUTE, (until - 1) // MINUTE)
        edges = sorted(draw(st.sets(minutes, max_size=12)))
        windows = tuple((a * MINUTE, b * MINUTE) for a, b in zip(edges[::2], edges[1::2], strict=False))
    return replace(span, reserve=reserve, windows=windows)


@st.composite
def narrow_worlds(draw: st.DrawFn) -> tuple[FleetPlan, JobSet, RateTable, int]:
    plan, jobs, rates, seed = draw(worlds())
    (pool,) = plan.pools
    leases = tuple(draw(narrowed(span, pool.gpus_per_machine)) for span in pool.leases)
    return replace(plan, pools=(replace(pool, leases=leases),)), jobs, rates, seed


@settings(max_examples=150, deadline=None)
@given(narrow_worlds())
def test_card_time_is_one_thing_at_a_time(world: tuple[FleetPlan, JobSet, RateTable, int]) -> None:
    plan, jobs, rates, seed = world
    log = run(plan, jobs, rates, Streams(seed))
    (pool,) = plan.pools
    stays = [stay for stay in log.attempts if not stay.burst]
    busy: dict[int, Micros] = {}
    for stay in stays:
        for card in stay.cards:
            machine = card // pool.gpus_per_machine
            busy[machine] = busy.get(machine, 0) + stay.end_us - stay.start_us
    spans = [(span, k) for span in pool.leases for k in range(span.count)]
    leases = {lease.machine: lease for lease in log.leases if lease.lease >= 0}
    for machine, lease in leases.items():
        span, place = spans[machine]
        usable = span.usable_cards(pool.gpus_per_machine)[place]
        assert lease.busy_card_us == busy.get(machine, 0)
        adds_up(lease, span, usable, log)
        stays_inside([stay for stay in stays if any(c in cards(machine, lease) for c in stay.cards)], span)
        for stay in stays:
            assert not set(stay.cards) & set(cards(machine, lease)[usable:])


def cards(machine: int, lease: LeaseRecord) -> range:
    return range(machine * lease.gpus, (machine + 1) * lease.gpus)


def adds_up(lease: LeaseRecord, span: LeaseSpan, usable: int, log: RunLog) -> None:
    end = log.horizon_us if lease.end_us is None else lease.end_us
    opened = sum(max(0, min(end if b is None else b, end) - max(a, lease.start_us)) for a, b in span.usable)
    whole = end - lease.start_us
    assert lease.away_card_us == (whole - opened) * usable
    assert lease.reserved_card_us == whole * (lease.gpus - usable)
    idle = opened * usable - lease.busy_card_us - lease.down_card_us
    assert idle >= 0
    assert lease.down_card_us >= 0
    parts = (lease.busy_card_us, idle, lease.down_card_us, lease.away_card_us, lease.reserved_card_us)
    assert sum(parts) == whole * lease.gpus


def stays_inside(stays: list[Attempt], span: LeaseSpan) -> None:
    """Every stay lies in one open time."""
    for stay in stays:
        assert any(a <= stay.start_us and (b is None or stay.end_us <= b) for a, b in span.usable)
