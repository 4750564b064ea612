"""Every microsecond of rented card-time is one thing, in every hour, and adds up to the engine's counts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sim.billing.cardtime import BUSY, NOBODY, Cell, cells
from sim.billing.downtime import down_times
from sim.engine import run
from sim.model.fleet import FleetPlan
from sim.model.job import JobSet
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import MINUTE
from tests.properties.test_engine_invariants import worlds
from tests.properties.test_failure_conservation import worlds as failing_worlds
from tests.properties.test_lease_conservation import narrow_worlds
from tests.twin.sharing_worlds import shared_cases
from tests.twin.worlds import Case

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Cases of shared cards are large: to make a failing one small takes minutes."""

World = tuple[FleetPlan, JobSet, RateTable, int]


def any_world() -> st.SearchStrategy[World]:
    return st.one_of(worlds(), narrow_worlds(), failing_worlds())


@settings(max_examples=100, deadline=None)
@given(any_world(), st.sampled_from([37 * MINUTE, 600 * MINUTE, 10**15]))
def test_the_parts_of_every_cell_are_its_card_time(world: World, step: int) -> None:
    plan, jobs, rates, seed = world
    log = run(plan, jobs, rates, Streams(seed))
    edges = [*range(0, log.horizon_us, step), log.horizon_us]
    found = cells(log, lambda _lease, _machine: edges)
    for cell in found:
        assert cell.leased == log.leases[cell.record].gpus * (cell.end_us - cell.start_us)
        assert sum(cell.parts.values()) == cell.leased
        assert min(cell.parts.values()) > 0
        assert edges[cell.period] <= cell.start_us < cell.end_us <= edges[cell.period + 1]
    whole_records(log, found)
    whole_jobs(log, found)


def whole_records(log: RunLog, found: list[Cell]) -> None:
    """By machine: what the engine counted, event by event."""
    for position, record in enumerate(log.leases):
        states: Counter[str] = Counter()
        mine = [cell for cell in found if cell.record == position]
        for cell in mine:
            for (_, state), card_us in cell.parts.items():
                states[state] += card_us
        assert sum(states[state] for state in BUSY) == record.busy_card_us
        assert states["down"] == record.down_card_us
        assert states["away"] == record.away_card_us
        assert states["reserved"] == record.reserved_card_us
        assert all(a.end_us == b.start_us for a, b in pairwise(mine))


def whole_jobs(log: RunLog, found: list[Cell]) -> None:
    """By job: the sums over its stays, as the records have them."""
    states: Counter[tuple[int, str]] = Counter()
    for cell in found:
        for (job, state), card_us in cell.parts.items():
            if job != NOBODY:
                states[job, "startup" if state == "reload" else state] += card_us
    expected: Counter[tuple[int, str]] = Counter()
    for stay in log.attempts:
        cards = len(stay.cards)
        expected[stay.job, "startup"] += cards * stay.startup_us
        expected[stay.job, "checkpoint"] += cards * stay.checkpoint_us
        expected[stay.job, "useful"] += cards * stay.work_us - stay.voided_card_us
        expected[stay.job, "lost"] += cards * stay.lost_us + stay.voided_card_us
    assert {key: value for key, value in states.items() if value} == {
        key: value for key, value in expected.items() if value
    }


@settings(max_examples=100, deadline=None)
@given(failing_worlds())
def test_down_times_lie_within_their_machine_and_never_under_a_job(world: World) -> None:
    plan, jobs, rates, seed = world
    log = run(plan, jobs, rates, Streams(seed))
    for position, spans in down_times(log).items():
        record = log.leases[position]
        end = log.horizon_us if record.end_us is None else record.end_us
        assert all(record.start_us <= start < until <= end for start, until in spans)
        assert sum(until - start for start, until in spans) == record.down_card_us


@settings(max_examples=100, deadline=None, phases=PHASES)
@given(shared_cases(("fifo", "priority"), ("best-fit",)), st.sampled_from([37 * MINUTE, 10**15]))
def test_jobs_that_share_a_card_have_their_parts_of_it_and_no_more(case: Case, step: int) -> None:
    log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
    edges = [*range(0, log.horizon_us, step), log.horizon_us]
    found = cells(log, lambda _lease, _machine: edges)
    held: Counter[int] = Counter()
    for cell in found:
        assert sum(cell.parts.values()) == cell.leased
        assert min(cell.parts.values()) > 0
        for (job, _), card_us in cell.parts.items():
            held[job] += card_us
    for record in log.jobs:
        stays = [stay for stay in log.attempts if stay.job == record.job]
        whole = [
            len(stay.cards) * (stay.end_us - stay.start_us) if stay.card_us is None else stay.card_us
            for stay in stays
        ]
        # Parts are rounded to microseconds in each cell.
        assert abs(held[record.job] - sum(whole)) <= len(found)
