"""In any world, the trace of events tiles the time of every job and card, and gives the metrics."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.model.failures import FORCED_KINDS, SILENT
from sim.model.fleet import FleetPlan, ForcedFailure, LeaseSpan
from sim.model.job import JobSet, UserEnd
from sim.model.rates import RateTable
from sim.units import HOUR, MINUTE
from tests.build import OFFER
from tests.event_checks import agrees, made, tiles
from tests.properties.test_engine_invariants import HOURS, minutes, worlds

World = tuple[FleetPlan, JobSet, RateTable, int]


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_usual_worlds(world: World) -> None:
    check(world)


@st.composite
def stranger(draw: st.DrawFn) -> World:
    """Worlds with windows, reserved cards, preemption, all failures, and jobs that end by themselves."""
    fleet, jobs, table, seed = draw(worlds())
    pool = fleet.pools[0]
    leases = tuple(_with_windows(draw, span, pool.gpus_per_machine) for span in pool.leases)
    kinds = draw(st.lists(st.sampled_from(FORCED_KINDS), max_size=8))
    forced = tuple(
        ForcedFailure(
            draw(minutes) * MINUTE, kind, OFFER, draw(st.integers(0, 2)),
            draw(st.integers(0, pool.gpus_per_machine - 1)), draw(st.integers(0, 600)) * MINUTE,
        )
        for kind in kinds
    )  # fmt: skip
    model = pool.failures
    if model is not None:
        mtbf = {**model.mtbf_us, SILENT: 5 * HOUR, "ecc_uncorrectable": 20 * HOUR}
        model = dataclasses.replace(model, mtbf_us=mtbf, contained=0.5)
    after_us = draw(st.sampled_from([None, MINUTE, HOUR]))
    fleet = dataclasses.replace(
        fleet,
        forced=forced,
        pools=(dataclasses.replace(pool, leases=leases, failures=model),),
        parameters=dataclasses.replace(fleet.parameters, preempt_after_us=after_us),
    )
    ended = tuple(job._replace(ends=_ends(draw)) for job in jobs.jobs)
    return fleet, JobSet(jobs.shapes, ended), table, seed


def _with_windows(draw: st.DrawFn, span: LeaseSpan, size: int) -> LeaseSpan:
    until = min(HOURS * HOUR, span.end_us or HOURS * HOUR)
    within = st.integers(span.start_us // MINUTE, max(span.start_us, until) // MINUTE)
    edges = sorted(draw(st.sets(within, max_size=6)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    windows = tuple((begin * MINUTE, end * MINUTE) for begin, end in pairs)
    reserve = draw(st.integers(0, span.count * size - 1))
    return dataclasses.replace(span, windows=draw(st.sampled_from([None, windows])), reserve=reserve)


def _ends(draw: st.DrawFn) -> tuple[UserEnd, ...]:
    end = st.builds(
        UserEnd,
        kind=st.sampled_from(["cancelled", "failed"]),
        share=st.floats(0.0, 1.0),
        retry_after_us=st.sampled_from([None, 0, 7 * MINUTE, 20 * HOUR]),
    )
    return tuple(draw(st.lists(end, max_size=2)))


@settings(max_examples=120, deadline=None)
@given(stranger())
def test_strange_worlds(world: World) -> None:
    check(world)


def check(world: World) -> None:
    fleet, jobs, table, seed = world
    result, rows = made(fleet, jobs, table, seed)
    tiles(rows, fleet.horizon_us)
    agrees(result, rows)
