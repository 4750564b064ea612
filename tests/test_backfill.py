"""Backfilling against a pencil, and what it promises to the jobs it passes."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.decisions.policies import POLICIES
from sim.engine import run
from sim.engine.backfill import EasyQueue
from sim.engine.conservative import ConservativeQueue
from sim.engine.shortest import NEVER, ShapeQueue
from sim.engine.stay import Run
from sim.model.fleet import CheckpointSpec, FleetPlan, ForcedFailure, LeaseSpan, PolicyParameters
from sim.model.job import Job, JobSet
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, changed, gangs, option, plan, pool, starts
from tests.test_engine import burst

STREAMS = Streams(7)


def easy(world: tuple[JobSet, RateTable], *pools: Any, **changes: Any) -> list[float | None]:
    return starts(run(plan(*(pools or (pool(2),)), policy="easy", **changes), *world, STREAMS))


def test_a_backfilled_job_may_end_exactly_at_the_reservation() -> None:
    # Two cards. Job 0 holds one to 4 h, job 1 needs both at 4 h: job 2 (1-4 h) just passes it. If it
    # were a minute longer, it would wait.
    assert easy(gangs((0, 4, 1), (0.5, 1, 2), (1, 3, 1))) == [0, 4, 1]
    assert easy(gangs((0, 4, 1), (0.5, 1, 2), (1, 3 + 1 / 60, 1))) == [0, 4, 5]


def test_cards_that_the_first_does_not_need_are_free_for_long_jobs() -> None:
    # Four cards: 3 busy to 4 h, 1 free. The first needs 3 of the 4 that are free then: one long job fits.
    assert easy(gangs((0, 4, 3), (1, 1, 3), (2, 50, 1), (3, 50, 1)), pool(4)) == [0, 4, 2, 5]


def test_a_reservation_is_made_from_limits_and_anew_at_each_decision() -> None:
    # Job 0 may run 10 h and ends after 2: job 2, 3 h long, passes at once as it ends by 10 h, and then
    # the gang must wait for it. That is the price of wrong limits, not a broken promise.
    jobs, table = gangs((0, 2, 1), (0.5, 1, 2), (1, 3, 1))
    jobs = changed(jobs, 0, limit_us=10 * HOUR)
    assert easy((jobs, table)) == [0, 4, 1]


def test_a_job_past_its_expected_end_may_end_at_any_moment() -> None:
    # Noise makes job 0 run longer than expected (luck +1, sigma 0.5 of the logarithm): expected to
    # end at 2 h, it ends at 2.91 h. At 2.5 h nobody may count on more time.
    jobs, _ = gangs((0, 2, 1), (0.5, 1, 2), (2.5, 0.1, 1))
    jobs = changed(jobs, 0, luck=1.0)
    noisy = {(0, OFFER): (option(1, speed_noise=0.5),), (1, OFFER): (option(2, spans=True),)}
    got = easy((jobs, RateTable(options=noisy)))
    end = 2 * 2.718281828**0.375
    assert got == pytest.approx([0, end, end + 1])


def test_a_gang_on_one_machine_keeps_that_machine_and_no_other() -> None:
    # Two machines of two cards. Machine 0 has one card busy to 2 h, machine 1 one to 9 h. The gang of
    # two on one machine is to start on machine 0 at 2 h: a long job may take the other card of
    # machine 1, not the one of machine 0, which best fit would take.
    rows = ((0, 2, 1), (0, 9, 1), (1, 1, 2), (1.5, 50, 1), (1.6, 50, 1))
    jobs, table = gangs(*rows, spans=False)
    assert easy((jobs, table), pool(2, per_machine=2), placement="spread") == [0, 0, 2, 1.5, 3]


def test_spanning_gangs_and_single_machines_in_the_order_of_their_options() -> None:
    # The same, but the gang may span: both free cards are enough at once.
    rows = ((0, 2, 1), (0, 9, 1), (1, 1, 2), (1.5, 50, 1))
    assert easy(gangs(*rows), pool(2, per_machine=2), placement="spread") == [0, 0, 1, 2]


def test_cards_that_are_down_are_not_reckoned_with() -> None:
    # Card 1 fails at 1 h for 9 h. The gang of two has no reservation, so a long job passes; once the
    # card is mended at 10 h the gang is first in turn for what job 2 leaves at 22 h.
    forced = (ForcedFailure(HOUR, "gpu_reset", OFFER, 1, 0, 9 * HOUR),)
    world = gangs((0, 2, 1), (1.5, 1, 2), (1.6, 20, 1), (11, 11, 1), (11.5, 10, 1))
    assert easy(world, forced=forced) == [0, 22, 2, 11, 23]


def test_nothing_is_planned_past_the_end_of_a_lease() -> None:
    leases = [LeaseSpan(0, 1, 0, None), LeaseSpan(1, 1, 0, 3 * HOUR), LeaseSpan(2, 1, 6 * HOUR, None)]
    # Card 0 is free at 1 h, card 1 at 2.5 h: the gang has both until card 1's lease ends at 3 h. Then
    # it waits for the card that comes at 6 h, and the job of 3 h passes.
    world = gangs((0, 1, 1), (0, 2.5, 1), (0.5, 1, 2), (1, 5, 1), (1, 3, 1))
    assert easy(world, pool(3, leases=leases)) == [0, 0, 2.5, 6.5, 3]
    # Job 1 would leave card 1 at 3.5 h, after its lease: the gang's reservation is at 6 h from the
    # start, and a job of 5 h passes at 1 h. Job 1 comes back at 3 h, is first, and has half an hour to
    # go from 6 h on.
    world = gangs((0, 1, 1), (0, 3.5, 1), (0.5, 1, 2), (1, 5, 1), (1, 5.1, 1))
    assert easy(world, pool(3, leases=leases)) == [0, 0, 6.5, 1, 7.5]


def test_hourly_cards_count_once_they_are_there_and_leased_ones_come_first() -> None:
    # One leased card busy to 6 h; job 1 gets an hourly card at 2 h. Job 2 waits from 2.5 h: its
    # reservation is at 3 h on the hourly card, where job 1 is to end.
    jobs, table = gangs((0, 6, 1), (1, 1, 1), (2.5, 1, 1))
    options = {**table.options, (0, "hourly"): (option(1),)}
    assert easy((jobs, RateTable(options=options)), pool(1), burst=burst()) == [0, 2, 3]


def test_the_first_keeps_its_place_when_it_comes_back_from_a_failure() -> None:
    # Job 0 fails at 1 h and is first again; job 1, which could start on its card, does not pass.
    forced = (ForcedFailure(HOUR, "gpu_reset", OFFER, 0, 0, HOUR),)
    log = run(
        plan(pool(1), policy="easy", forced=forced, checkpoint=CheckpointSpec(HOUR, 0)),
        *gangs((0, 4, 1), (0.5, 1, 1)), STREAMS,
    )  # fmt: skip
    assert [(j.start_us, j.end_us) for j in log.jobs] == [(0, 5 * HOUR), (5 * HOUR, 6 * HOUR)]


@st.composite
def worlds(draw: st.DrawFn, exact: bool = False) -> tuple[FleetPlan, JobSet, RateTable]:
    """A fleet without failures; estimates are upper bounds, or exact."""
    size = draw(st.sampled_from([1, 2, 4]))
    machines = draw(st.integers(1, 4))
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 600), st.integers(1, 300), st.sampled_from([1, 1, 2, 3, 4]), st.integers(0, 3)
            ),
            min_size=5,
            max_size=40,
        )
    )
    rows.sort()
    spans = draw(st.booleans())
    jobs, table = gangs(*[(a / 60, b / 60, n) for a, b, n, _ in rows], spans=spans)
    for i, (_, length, _, over) in enumerate(rows):
        if not exact and over:
            jobs = changed(jobs, i, limit_us=length * over * MINUTE)
    placement = draw(st.sampled_from(["best-fit", "pack", "spread", "whole"]))
    return plan(pool(machines, per_machine=size), policy="easy", placement=placement), jobs, table


class Watch:
    """Notes every reservation that EASY makes: (job, instant of the decision, reservation)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[int, int, int]] = []
        usual = EasyQueue._let_others_pass

        def noting(queue: EasyQueue, head: Run, now: int) -> None:
            if queue._kept is not None:
                self.made.append((head.job.id, now, queue._kept.at_us))
            usual(queue, head, now)

        monkeypatch.setattr(EasyQueue, "_let_others_pass", noting)


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_the_first_is_never_delayed_beyond_its_reservation(
    world: tuple[FleetPlan, JobSet, RateTable],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        watch = Watch(patch)
        log = run(*world, STREAMS)
    for job, decided, reserved in watch.made:
        start = log.jobs[job].start_us
        assert start is not None
        assert decided <= start <= reserved


def careful(world: tuple[JobSet, RateTable], *pools: Any, **changes: Any) -> list[float | None]:
    return starts(run(plan(*(pools or (pool(2),)), policy="conservative", **changes), *world, STREAMS))


def test_conservative_backfilling_delays_no_reservation_where_easy_delays_the_second() -> None:
    # Three cards, two busy to 4 h. Job 1 needs two (4-6 h), job 2 all three (6-8 h by its reservation).
    # Job 3 takes the third card for 10 h: beside job 1 it is no harm, but job 2 would wait until 11 h.
    world = gangs((0, 4, 2), (0.5, 2, 2), (0.6, 2, 3), (1, 10, 1))
    assert easy(world, pool(3)) == [0, 4, 11, 1]
    assert careful(world, pool(3)) == [0, 4, 6, 8]
    # a job of 5 h ends exactly when job 2 is to start
    assert careful(gangs((0, 4, 2), (0.5, 2, 2), (0.6, 2, 3), (1, 5, 1)), pool(3)) == [0, 4, 6, 1]


def test_reservations_are_brought_forward_when_a_job_ends_early() -> None:
    # Job 0 may run 10 h and ends at 2 h: everything planned behind it moves forward, in order.
    jobs, table = gangs((0, 2, 2), (0.5, 1, 2), (1, 1, 1), (1, 3, 2))
    assert careful((changed(jobs, 0, limit_us=10 * HOUR), table)) == [0, 2, 3, 4]


def test_room_that_a_later_job_leaves_goes_to_an_earlier_one() -> None:
    # Two cards. Job 1 may run 4 h and ends at 2 h. Planned: job 3 at 2 h and job 4 at 3 h on card 0, the
    # gang (job 2) at 4 h. At 2 h job 4 moves to card 1, and the gang may then have both cards at 3 h.
    jobs, table = gangs((0, 2, 1), (0, 2, 1), (0, 2, 2), (1, 1, 1), (1, 1, 1))
    assert careful((changed(jobs, 1, limit_us=4 * HOUR), table)) == [0, 0, 3, 2, 2]


def test_only_the_first_so_many_have_reservations() -> None:
    # One card is free. With one reservation (job 1's) nobody else may start; with two, job 2 does.
    world = gangs((0, 4, 1), (0.5, 1, 2), (1, 1, 1))
    for look_ahead, third in ((1, 5), (2, 1)):
        parameters = PolicyParameters(look_ahead=look_ahead)
        assert careful(world, parameters=parameters) == [0, 4, third]


def test_conservative_plans_with_leases_to_come_and_none_with_cards_that_are_down() -> None:
    leases = [LeaseSpan(0, 1, 0, None), LeaseSpan(1, 1, 6 * HOUR, None)]
    assert careful(gangs((0, 1, 1), (0.5, 1, 2), (1, 5, 1), (1, 5.1, 1)), pool(2, leases=leases)) == [
        0, 6, 1, 7,
    ]  # fmt: skip
    forced = (ForcedFailure(HOUR, "gpu_reset", OFFER, 1, 0, 9 * HOUR),)
    world = gangs((0, 2, 1), (1.5, 1, 2), (1.6, 20, 1))
    assert careful(world, forced=forced) == [0, 22, 2]


@settings(max_examples=120, deadline=None)
@given(worlds(), st.sampled_from([3, 100]))
def test_no_job_starts_after_its_first_reservation(
    world: tuple[FleetPlan, JobSet, RateTable], look_ahead: int
) -> None:
    first: dict[int, int] = {}
    usual = ConservativeQueue._set

    def noting(queue: ConservativeQueue, job: int, plan: Any) -> None:
        first.setdefault(queue._runs[job].id, plan.start_us)
        usual(queue, job, plan)

    fleet, jobs, table = world
    parameters = PolicyParameters(look_ahead=look_ahead)
    fleet = dataclasses.replace(fleet, policy="conservative", parameters=parameters)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConservativeQueue, "_set", noting)
        log = run(fleet, jobs, table, STREAMS)
    for job in log.jobs:
        if job.state != "refused":
            assert job.start_us is not None
            assert job.start_us <= first[job.job]


def no_card_runs_two_jobs(log: RunLog) -> None:
    times = sorted((card, a.start_us, a.end_us) for a in log.attempts for card in a.cards)
    for (card, _, end), (other, start, _) in pairwise(times):
        assert card != other or end <= start


@settings(max_examples=60, deadline=None)
@given(worlds(), st.sampled_from(sorted(POLICIES)))
def test_no_card_runs_two_jobs_and_the_same_seed_gives_the_same_log(
    world: tuple[FleetPlan, JobSet, RateTable], policy: str
) -> None:
    fleet, jobs, table = world
    fleet = dataclasses.replace(fleet, policy=policy)
    log = run(fleet, jobs, table, STREAMS)
    no_card_runs_two_jobs(log)
    assert log == run(fleet, jobs, table, STREAMS)
    assert all(job.state in ("done", "refused", "killed") for job in log.jobs)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 60), st.integers(0, 50)), max_size=120), st.data())
def test_the_shortest_enough_is_found_as_by_a_scan(
    steps: list[tuple[bool, int, int]], data: st.DataObject
) -> None:
    queue = ShapeQueue()
    waiting: dict[int, tuple[Run, int]] = {}
    born: list[Run] = []
    for put, which, length in steps:
        if put:
            run_ = Run(Job(len(born) * 2, "j", 0, 0, 1.0))
            born.append(run_)
            queue.add(run_, length)
            waiting[run_.job.id] = (run_, length)
        elif born:
            run_ = born[which % len(born)]
            if waiting.pop(run_.job.id, None) is None:
                queue.add(run_, length)
                waiting[run_.job.id] = (run_, length)
            else:
                queue.drop(run_)
        limit, after = data.draw(st.integers(0, 50)), data.draw(st.integers(-1, 130))
        found = [job for job in sorted(waiting) if waiting[job][1] <= limit and job > after]
        got = queue.first(limit, after)
        assert (None if got is None else got.job.id) == (found[0] if found else None)
        assert queue.waiting == len(waiting)
        assert [r.job.id for r in queue.all()] == sorted(waiting)
    assert queue.first(-1) is None
    assert queue.first(NEVER - 1) is (waiting[min(waiting)][0] if waiting else None)
