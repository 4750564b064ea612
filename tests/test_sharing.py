"""Jobs that share a card in time: ends by pencil, at speeds of the preset, whatever happens to them."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest

from sim.model.fleet import CheckpointSpec, ForcedFailure, LeaseSpan, PolicyParameters
from sim.model.job import Job, JobSet, UserEnd
from sim.model.records import RunLog
from sim.units import HOUR, MINUTE
from tests.build import OFFER, changed, job_set, plan, starts
from tests.sharing_cases import (
    EQUAL_PARTS,
    HARMLESS,
    MPS,
    PAIR,
    THREE,
    after,
    kinds,
    near,
    needing,
    played,
    shared,
    sharing,
)

TWO = job_set([(0, 10), (0, 10)])


def ends(log: RunLog) -> list[int | None]:
    return [job.end_us for job in log.jobs]


def test_two_jobs_of_demand_09_take_19_h_34_min_for_ten_hours() -> None:
    # 10 h x 1.8 / 0.92 = 19.5652... h each; one after the other they would take 10 and 20 h.
    log = played(plan(shared(1, sharing())), TWO, needing())
    assert ends(log) == [after(10 / PAIR)] * 2 == [70_434_782_609] * 2
    assert [job.wait_us for job in log.jobs] == [0, 0]


def test_a_job_alone_runs_at_full_speed() -> None:
    log = played(plan(shared(1, sharing())), job_set([(0, 10), (10, 1)]), needing())
    assert ends(log) == [10 * HOUR, 11 * HOUR]


def test_a_third_job_slows_the_two_and_leaves_them_faster() -> None:
    # At 4 h the first two have done 4 x 0.5111 = 2.0444 h. The third does its 5 h at 0.3339.
    log = played(plan(shared(1, sharing())), job_set([(0, 10), (0, 10), (4, 5)]), needing())
    third = 4 + 5 / THREE
    assert ends(log)[2] == after(third)
    done = 4 * PAIR + 5
    assert ends(log)[0] == near(after(third + (10 - done) / PAIR), 5)
    assert ends(log)[0] == ends(log)[1]
    assert ends(log)[0] / HOUR == pytest.approx(24.756, abs=1e-3)


def test_when_one_leaves_the_other_has_the_card_for_itself() -> None:
    # 2 h at 0.5111 end at 3.913 h; the other has done 2 h by then and has 8 h left at full speed.
    log = played(plan(shared(1, sharing())), job_set([(0, 10), (0, 2)]), needing())
    assert ends(log) == [near(after(2 / PAIR + 8), 1), after(2 / PAIR)]


def test_mps_loses_less() -> None:
    log = played(plan(shared(1, sharing(kind="mps", curve=MPS))), TWO, needing())
    assert ends(log) == [after(10 * Fraction(18, 10) / Fraction(97, 100))] * 2


def test_light_jobs_hardly_slow_each_other() -> None:
    # 0.3 + 0.3 = 0.6: a third of the way from 0.99 at 0.5 to 0.94 at 0.8.
    spec = sharing(recorded=Fraction(3, 10))
    log = played(plan(shared(1, spec)), TWO, needing())
    assert ends(log) == [after(10 / (Fraction(99, 100) - Fraction(5, 100) / 3))] * 2


def test_the_card_time_is_shared_out_and_never_counted_twice() -> None:
    log = played(plan(shared(1, sharing())), job_set([(0, 10), (0, 2)]), needing())
    one, other = log.attempts
    assert other.card_us == near(after(2 / PAIR) / 2, 1)
    assert one.card_us + other.card_us == log.leases[0].busy_card_us == one.end_us
    assert (one.work_us, other.work_us) == (one.end_us, other.end_us), "time in which they worked"


def test_a_quarter_of_a_card_is_not_a_whole_one() -> None:
    # Known fault 11: four jobs of one hour on one card hold a quarter of it each, one job all of it.
    spec = sharing(4, curve=HARMLESS)
    log = played(plan(shared(1, spec)), job_set([(0, 1)] * 4), needing(9.0))
    assert [stay.card_us for stay in log.attempts] == [HOUR // 4] * 4
    assert log.leases[0].busy_card_us == HOUR
    log = played(plan(shared(1, spec)), job_set([(0, 1)]), needing(9.0))
    assert [stay.card_us for stay in log.attempts] == [HOUR]


# --- who shares with whom -------------------------------------------------------------------


def test_memory_keeps_a_third_job_out() -> None:
    # 18 + 18 of 39 GiB: the third waits until one of the two leaves.
    log = played(plan(shared(1, sharing(3))), job_set([(0, 10), (0, 10), (0, 10)]), needing(18.0))
    assert [job.start_us for job in log.jobs] == [0, 0, after(10 / PAIR)]


def test_needs_that_fill_the_card_exactly_share_it() -> None:
    log = played(plan(shared(1, sharing(2, 39.0))), TWO, needing(19.5))
    assert starts(log) == [0, 0]
    log = played(plan(shared(1, sharing(2, 39.0))), TWO, needing(19.500001))
    assert starts(log) == [0, ends(log)[0] / HOUR]


def test_no_more_jobs_than_asked_for() -> None:
    log = played(plan(shared(1, sharing(2))), job_set([(0, 10), (0, 10), (0, 10)]), needing(1.0))
    assert starts(log)[2] == after(10 / PAIR) / HOUR


@pytest.mark.parametrize("gib", [None, 39.5], ids=["not known", "more than usable"])
def test_a_job_whose_memory_may_be_any_has_the_card_for_itself(gib: float | None) -> None:
    log = played(plan(shared(1, sharing())), TWO, needing(gib))
    assert ends(log) == [10 * HOUR, 20 * HOUR]
    assert [stay.card_us for stay in log.attempts] == [None, None]


def test_nobody_joins_a_job_whose_memory_is_not_known() -> None:
    shapes, table = kinds(None, 4.0)
    jobs = JobSet(shapes, (Job(0, "a", 0, 0, 10.0 * HOUR), Job(1, "b", 1, 0, 1.0 * HOUR)))
    assert starts(played(plan(shared(1, sharing())), jobs, table)) == [0, 10]


def test_free_cards_first_then_the_card_that_is_asked_for_least() -> None:
    jobs = job_set([(0, 10), (0, 10), (0, 10), (0, 10), (0, 10)])
    log = played(plan(shared(2, sharing())), jobs, needing())
    assert [stay.cards for stay in log.attempts] == [(0,), (1,), (0,), (1,), (0,)]


def test_gangs_have_whole_cards_and_wait_for_them() -> None:
    # A one-card job on each of two cards; the gang of two waits for the longer, and nobody joins a gang.
    shapes, table = kinds(4.0, 4.0, gpus=(1, 2))
    rows = [(0, 0, 3), (0, 0, 5), (1, 1, 2), (0, 6, 1)]
    jobs = JobSet(shapes, tuple(Job(i, f"{i}", s, at * HOUR, h * HOUR) for i, (s, at, h) in enumerate(rows)))
    log = played(plan(shared(1, sharing(), per_machine=2), policy="sjf"), jobs, table)
    assert starts(log) == [0, 0, 5, 7]


def test_a_strategy_may_share_some_cards_and_not_others() -> None:
    shapes, table = kinds(4.0)
    other = dataclasses.replace(table.options[0, OFFER][0])
    table = dataclasses.replace(table, options={(0, OFFER): (other,), (0, "plain"): (other,)})
    pools = (shared(1, sharing(2)), shared(1, None, offer="plain", memory_gib=80))
    jobs = JobSet(shapes, tuple(Job(i, f"{i}", 0, 0, 10.0 * HOUR) for i in range(4)))
    log = played(plan(*pools), jobs, table)
    assert [(stay.offer, stay.card_us is None) for stay in log.attempts] == [
        (OFFER, False), ("plain", True), (OFFER, False), ("plain", True),
    ]  # fmt: skip
    assert starts(log)[3] == 10


# --- start-up, checkpoints, limits, ends ----------------------------------------------------


def test_a_job_that_starts_up_slows_nobody_and_is_not_slowed() -> None:
    # The second starts up from 1 to 3 h: the first has done 3 h by then, both run on at 0.5111.
    table = needing(startup_us=2 * HOUR)
    log = played(plan(shared(1, sharing())), job_set([(0, 3), (1, 10)]), table)
    # First: its own start-up until 2 h, alone until 3 h, then 2 h of work at 0.5111.
    assert ends(log)[0] == after(3 + 2 / PAIR)
    assert ends(log)[1] == near(after(3 + 2 / PAIR + 8), 1)
    assert [stay.startup_us for stay in log.attempts] == [2 * HOUR] * 2


def test_checkpoints_take_their_time_as_always() -> None:
    # 3 h of work in pieces of 1 h, 6 min for each of the two checkpoints.
    spec = plan(shared(1, sharing()), checkpoint=CheckpointSpec(HOUR, 6 * MINUTE))
    log = played(spec, job_set([(0, 3), (0, 3)]), needing())
    assert ends(log) == [after(3 / PAIR + Fraction(2, 10))] * 2
    assert [stay.checkpoint_us for stay in log.attempts] == [12 * MINUTE] * 2


def test_a_failure_hits_all_jobs_of_the_card() -> None:
    # At 5 h both have done 2.556 h, of which 2 h are saved; they took 2 / 0.5111 = 3.913 h.
    forced = (ForcedFailure(5 * HOUR, "gpu_reset", OFFER, 0, 0, HOUR),)
    spec = plan(shared(1, sharing()), checkpoint=CheckpointSpec(HOUR, 0), forced=forced)
    log = played(spec, TWO, needing())
    assert log.failures[0].jobs == (0, 1)
    for stay in log.attempts[:2]:
        assert (stay.ended, stay.end_us) == ("gpu_reset", 5 * HOUR)
        assert stay.work_us == after(2 / PAIR)
        assert stay.work_us + stay.lost_us == 5 * HOUR
    assert ends(log) == [after(6 + 8 / PAIR)] * 2
    assert log.leases[0].down_card_us == HOUR


def test_a_failure_of_one_card_leaves_jobs_on_the_others_alone() -> None:
    forced = (ForcedFailure(5 * HOUR, "gpu_reset", OFFER, 0, 1, HOUR),)
    spec = plan(shared(1, sharing(2), per_machine=2), forced=forced)
    log = played(spec, job_set([(0, 10)] * 4), needing())
    assert log.failures[0].jobs == (1, 3)
    assert [ends(log)[0], ends(log)[2]] == [after(10 / PAIR)] * 2


def test_a_limit_counts_the_time_of_all() -> None:
    # Alone it would be done after 10 h; together neither is after 12 h.
    log = played(plan(shared(1, sharing())), job_set([(0, 10), (0, 10)], limit_us=12 * HOUR), needing())
    assert [(job.state, job.end_us) for job in log.jobs] == [("killed", 12 * HOUR)] * 2


def test_a_limit_within_the_start_up() -> None:
    jobs = changed(job_set([(0, 10), (0, 10)]), 1, limit_us=HOUR)
    log = played(plan(shared(1, sharing())), jobs, needing(startup_us=2 * HOUR))
    assert [(job.state, job.end_us) for job in log.jobs] == [("done", 12 * HOUR), ("killed", HOUR)]


def test_a_user_stops_a_job_at_a_part_of_its_work() -> None:
    jobs = changed(TWO, 1, ends=(UserEnd("cancelled", 0.2),))
    log = played(plan(shared(1, sharing())), jobs, needing())
    assert log.jobs[1].state == "cancelled"
    assert ends(log) == [near(after(2 / PAIR + 8), 1), after(2 / PAIR)]


def test_the_horizon_cuts_with_the_progress_made() -> None:
    log = played(plan(shared(1, sharing()), hours=9), TWO, needing())
    assert [job.state for job in log.jobs] == ["running"] * 2
    assert [job.progress for job in log.jobs] == pytest.approx([float(9 * PAIR / 10)] * 2)
    assert sum(stay.card_us for stay in log.attempts) == log.leases[0].busy_card_us == 9 * HOUR


def test_the_end_of_a_lease_saves_all_jobs_of_the_card() -> None:
    # Until 5 h together; then one card for good, and again together.
    spans = [LeaseSpan(0, 1, 0, 5 * HOUR), LeaseSpan(1, 1, 5 * HOUR, None)]
    log = played(plan(shared(2, sharing(2), leases=spans)), TWO, needing())
    assert [stay.ended for stay in log.attempts] == ["lease_end", "lease_end", "done", "done"]
    assert ends(log) == [near(after(10 / PAIR), 2)] * 2


def test_windows_send_all_jobs_of_a_card_away() -> None:
    windows = ((0, 4 * HOUR), (10 * HOUR, 100 * HOUR))
    spans = [LeaseSpan(0, 1, 0, None, windows=windows)]
    log = played(plan(shared(1, sharing(), leases=spans)), TWO, needing())
    assert [stay.ended for stay in log.attempts] == ["window_end"] * 2 + ["done"] * 2
    assert ends(log) == [near(after(6 + 10 / PAIR), 2)] * 2


def test_reserved_cards_are_not_shared() -> None:
    spans = [LeaseSpan(0, 1, 0, None, reserve=1)]
    log = played(plan(shared(1, sharing(2), per_machine=2, leases=spans)), job_set([(0, 1)] * 3), needing())
    assert {stay.cards for stay in log.attempts} == {(0,)}


# --- what sharing does not go with ----------------------------------------------------------


@pytest.mark.parametrize("policy", ["easy", "conservative", "fair"])
def test_policies_that_count_whole_cards_refuse(policy: str) -> None:
    with pytest.raises(ValueError, match=f"sharing does not go with policy {policy}"):
        played(plan(shared(1, sharing()), policy=policy), TWO, needing())


def test_preemption_refuses() -> None:
    preempt = PolicyParameters(preempt_after_us=HOUR)
    with pytest.raises(ValueError, match="sharing does not go with preempt"):
        played(plan(shared(1, sharing()), policy="priority", parameters=preempt), TWO, needing())


@pytest.mark.parametrize("policy", ["fifo", "sjf", "priority", "edf"])
def test_one_job_at_a_time_is_as_without_sharing(policy: str) -> None:
    jobs = job_set([(0, 3), (4, 2), (7, 1)])
    plain = played(plan(shared(1, None), policy=policy), jobs, needing())
    alone = played(plan(shared(1, sharing(curve=EQUAL_PARTS)), policy=policy), jobs, needing())
    assert list(plain.jobs) == list(alone.jobs)
    assert plain.leases == alone.leases
