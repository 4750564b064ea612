"""The engine against a pencil: every expected time below was worked out by hand."""

from __future__ import annotations

import dataclasses

import pytest

from sim.engine import run
from sim.model.fleet import BurstSpec, CheckpointSpec, ForcedFailure, LeaseSpan, LogNormal
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import Misfit, RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, failures, job_set, option, plan, pool, rates

STREAMS = Streams(7)


def table(log: RunLog) -> list[tuple[str, float | None, float | None, float]]:
    """(state, first start, end, wait), hours, in order of submission."""
    return [
        (
            job.state,
            None if job.start_us is None else job.start_us / HOUR,
            None if job.end_us is None else job.end_us / HOUR,
            job.wait_us / HOUR,
        )
        for job in log.jobs
    ]


def test_four_jobs_on_two_cards_first_come_first_served() -> None:
    log = run(plan(pool(2)), job_set([(0, 4), (1, 2), (2, 3), (2.5, 1)]), rates(), STREAMS)
    assert table(log) == [
        ("done", 0, 4, 0),
        ("done", 1, 3, 0),
        ("done", 3, 6, 1),
        ("done", 4, 5, 1.5),
    ]
    assert [lease.busy_card_us / HOUR for lease in log.leases] == [5.0, 5.0]


def test_shortest_first_lets_the_short_job_pass() -> None:
    jobs = job_set([(0, 4), (1, 3), (2, 1)])
    log = run(plan(pool(1), policy="sjf"), jobs, rates(), STREAMS)
    assert table(log) == [("done", 0, 4, 0), ("done", 5, 8, 4), ("done", 4, 5, 2)]


def test_a_large_priority_goes_first_but_does_not_preempt() -> None:
    jobs = job_set([(0, 4), (1, 3), (2, 1)])
    urgent = jobs.jobs[2]._replace(priority=5)
    jobs = dataclasses.replace(jobs, jobs=(*jobs.jobs[:2], urgent))
    log = run(plan(pool(1), policy="priority"), jobs, rates(), STREAMS)
    assert table(log) == [("done", 0, 4, 0), ("done", 5, 8, 4), ("done", 4, 5, 2)]


def test_earliest_deadline_goes_first_and_jobs_without_one_last() -> None:
    jobs = job_set([(0, 4), (1, 3), (2, 1)])
    due = jobs.jobs[2]._replace(deadline_us=10 * HOUR)
    jobs = dataclasses.replace(jobs, jobs=(*jobs.jobs[:2], due))
    log = run(plan(pool(1), policy="edf"), jobs, rates(), STREAMS)
    assert table(log) == [("done", 0, 4, 0), ("done", 5, 8, 4), ("done", 4, 5, 2)]


def two_shapes(*rows: tuple[float, float, int]) -> tuple[JobSet, RateTable]:
    """Jobs (submit, hours, cards), one shape a number of cards, cards anywhere."""
    counts = sorted({cards for _, _, cards in rows})
    shapes = tuple(JobShape(f"{n} cards", None, (n,)) for n in counts)
    jobs = tuple(
        Job(i, f"job-{i}", counts.index(cards), round(submit * HOUR), round(hours * HOUR))
        for i, (submit, hours, cards) in enumerate(rows)
    )
    options = {(i, OFFER): (option(n), option(n, spans=True)) for i, n in enumerate(counts)}
    return JobSet(shapes, jobs), RateTable(options=options)


def test_strict_fifo_holds_all_behind_a_gang_that_waits() -> None:
    jobs, table_of_rates = two_shapes((0, 2, 1), (1, 2, 2), (1.5, 1, 1))
    log = run(plan(pool(2)), jobs, table_of_rates, STREAMS)
    assert table(log) == [("done", 0, 2, 0), ("done", 2, 4, 1), ("done", 4, 5, 2.5)]


def test_a_job_wider_than_the_fleet_is_refused_and_holds_nobody() -> None:
    # known fault 44: 16 cards asked of 8; the others must start at once
    jobs, table_of_rates = two_shapes((0, 1, 16), (1, 5, 1), (1, 5, 1), (1, 5, 1))
    log = run(plan(pool(1, per_machine=8)), jobs, table_of_rates, STREAMS)
    assert table(log) == [("refused", None, 0, 0), *[("done", 1, 6, 0)] * 3]
    assert "16 cards" in log.jobs[0].reason


def test_a_job_that_fits_no_card_is_refused_with_the_reason_of_physics() -> None:
    misfits = {(0, OFFER): Misfit("needs 61.0 GiB a card, the card has 39.4 GiB", 61.0, 39.4)}
    log = run(plan(pool(2)), job_set([(3, 1)]), RateTable(misfits=misfits), STREAMS)
    assert table(log) == [("refused", None, 3, 0)]
    assert log.jobs[0].reason == "needs 61.0 GiB a card, the card has 39.4 GiB"


def test_the_horizon_is_half_open_and_cuts() -> None:
    # known fault 40: three jobs that would end exactly at the horizon are all still running
    jobs = job_set([(0, 1000)] * 3)
    log = run(plan(pool(3), hours=1000), jobs, rates(), STREAMS)
    assert [job.state for job in log.jobs] == ["running"] * 3
    assert [job.progress for job in log.jobs] == [1.0] * 3
    log = run(plan(pool(3), hours=999), jobs, rates(), STREAMS)
    assert [job.progress for job in log.jobs] == [0.999] * 3
    log = run(plan(pool(3), hours=1000.5), jobs, rates(), STREAMS)
    assert [job.state for job in log.jobs] == ["done"] * 3


def test_a_job_submitted_at_the_horizon_was_never_submitted() -> None:
    log = run(plan(pool(1), hours=5), job_set([(0, 1), (4, 3), (4.5, 1), (5, 1)]), rates(), STREAMS)
    assert table(log) == [("done", 0, 1, 0), ("running", 4, None, 0), ("waiting", None, None, 0.5)]


def test_a_time_limit_kills() -> None:
    jobs = job_set([(0, 4), (0, 4)], limit_us=4 * HOUR)
    jobs = dataclasses.replace(jobs, jobs=(jobs.jobs[0]._replace(limit_us=3 * HOUR), jobs.jobs[1]))
    log = run(plan(pool(1)), jobs, rates(), STREAMS)
    assert table(log) == [("killed", 0, 3, 0), ("done", 3, 7, 3)]


def test_one_failure_at_a_known_time() -> None:
    # 10 h of work, a checkpoint each 2 h that costs 6 min, the node is away from 5:00 to 5:30.
    # At 5:00 two checkpoints are written (2:00-2:06, 4:06-4:12): 4 h are saved, 0.8 h are lost.
    # Resumes at 5:30 with 6 h left and two checkpoints on the way: ends at 5.5 + 6 + 0.2 = 11.7 h.
    log = run(
        plan(
            pool(1),
            checkpoint=CheckpointSpec(2 * HOUR, 6 * MINUTE),
            forced=(ForcedFailure(5 * HOUR, "node", OFFER, 0, 0, 30 * MINUTE),),
        ),
        job_set([(0, 10)]),
        rates(),
        STREAMS,
    )
    assert table(log) == [("done", 0, 11.7, 0.5)]
    first, second = log.attempts
    assert (first.ended, first.end_us) == ("node", 5 * HOUR)
    assert (first.work_us, first.lost_us, first.checkpoint_us) == (4 * HOUR, 48 * MINUTE, 12 * MINUTE)
    assert (second.work_us, second.lost_us, second.checkpoint_us) == (6 * HOUR, 0, 12 * MINUTE)
    assert log.leases[0].down_card_us == 30 * MINUTE
    assert log.leases[0].busy_card_us == 5 * HOUR + round(6.2 * HOUR)
    assert log.failures[0].back_us == round(5.5 * HOUR)


@pytest.mark.parametrize(("every", "ends", "lost"), [(2 * HOUR, 11.5, 1), (None, 15.5, 5)])
def test_a_gang_on_two_nodes_stops_whole_when_one_node_fails(
    every: int | None, ends: float, lost: float
) -> None:
    # known fault 45: 2 nodes x 8 cards, 10 h, free checkpoints each 2 h, node 2 away 5.0 to 5.5 h
    jobs, table_of_rates = two_shapes((0, 10, 16))
    log = run(
        plan(
            pool(2, per_machine=8),
            checkpoint=CheckpointSpec(every, 0),
            forced=(ForcedFailure(5 * HOUR, "node", OFFER, 1, 0, 30 * MINUTE),),
        ),
        jobs,
        table_of_rates,
        STREAMS,
    )
    assert table(log) == [("done", 0, ends, 0.5)]
    useful = sum(a.work_us * len(a.cards) for a in log.attempts) / HOUR
    assert useful == 160
    assert sum(a.lost_us * len(a.cards) for a in log.attempts) / HOUR == lost * 16
    assert [lease.down_card_us / HOUR for lease in log.leases] == [0, 4]


def test_a_lost_disk_takes_the_checkpoints_with_it() -> None:
    # as above, but the data disk does not move: all 5 h are lost, of which 4 had been saved
    spec = pool(1, leases=[LeaseSpan(0, 1, 0, None, disk_kept=False)])
    log = run(
        plan(
            spec,
            checkpoint=CheckpointSpec(2 * HOUR, 0),
            forced=(
                ForcedFailure(5 * HOUR, "gpu_reset", OFFER, 0, 0, HOUR),
                ForcedFailure(9 * HOUR, "node", OFFER, 0, 0, HOUR),
            ),
        ),
        job_set([(0, 10)]),
        rates(),
        STREAMS,
    )
    # reset at 5: resumes at 6 from 4 h; at 9 it has 4 + 3 h, all gone; starts anew at 10, ends at 20
    assert table(log) == [("done", 0, 20, 2)]
    assert [a.work_us / HOUR for a in log.attempts] == [4, 0, 10]
    assert [a.lost_us / HOUR for a in log.attempts] == [1, 3, 0]
    assert [a.voided_card_us / HOUR for a in log.attempts] == [0, 4, 0]


def test_a_reset_hits_one_card_and_a_fatal_failure_the_whole_machine() -> None:
    for kind, hit in (("gpu_reset", (1,)), ("gpu_fatal", (0, 1))):
        log = run(
            plan(pool(1, per_machine=2), forced=(ForcedFailure(HOUR, kind, OFFER, 0, 1, HOUR),)),
            job_set([(0, 4), (0, 4)]),
            rates(),
            STREAMS,
        )
        assert log.failures[0].jobs == hit
        assert [job.end_us for job in log.jobs] == [(6 if job in hit else 4) * HOUR for job in (0, 1)]


def test_a_failure_of_what_is_already_down_does_not_happen() -> None:
    forced = (
        ForcedFailure(HOUR, "node", OFFER, 0, 0, 2 * HOUR),
        ForcedFailure(2 * HOUR, "gpu_reset", OFFER, 0, 0, 5 * HOUR),
    )
    log = run(plan(pool(1), forced=forced), job_set([(0, 2)]), rates(), STREAMS)
    assert len(log.failures) == 1
    assert table(log) == [("done", 0, 5, 2)]


def test_undetected_failures_hold_the_cards() -> None:
    # the node fails at 1 h, is noticed 6 min later, and works again 10 min after that
    model = failures(detect_us=(6 * MINUTE, 6 * MINUTE))
    forced = (ForcedFailure(HOUR, "node", OFFER, 0, 0, None),)
    log = run(plan(pool(1, model=model), forced=forced), job_set([(0, 2)]), rates(), STREAMS)
    assert log.attempts[0].end_us == HOUR + 6 * MINUTE
    assert log.attempts[0].lost_us == HOUR + 6 * MINUTE
    assert log.jobs[0].end_us == HOUR + 16 * MINUTE + 2 * HOUR
    assert log.jobs[0].wait_us == 10 * MINUTE


def test_startup_restart_and_fetching_a_model_once_a_machine() -> None:
    way = option(startup_us=2 * MINUTE, restart_us=5 * MINUTE, stage_us=20 * MINUTE, stage_key="m")
    forced = (ForcedFailure(2 * HOUR, "gpu_reset", OFFER, 0, 0, 0),)
    log = run(
        plan(pool(1), checkpoint=CheckpointSpec(HOUR, 0), forced=forced),
        job_set([(0, 1), (0, 2)]),
        rates(way),
        STREAMS,
    )
    # job 0: 20 + 2 min, then 1 h -> 1:22. job 1: 2 min, runs from 1:24, stopped at 2:00 with 36 min
    # done and none saved, restarts at once: 5 min and 2 h -> 4:05.
    assert [job.end_us for job in log.jobs] == [82 * MINUTE, 245 * MINUTE]
    assert [a.startup_us // MINUTE for a in log.attempts] == [22, 2, 5]


def test_a_lease_that_ends_interrupts_with_a_checkpoint_and_moves_the_job() -> None:
    leases = [LeaseSpan(0, 1, 0, 3 * HOUR), LeaseSpan(1, 1, 5 * HOUR, None)]
    log = run(plan(pool(2, leases=leases)), job_set([(0, 4)]), rates(), STREAMS)
    assert table(log) == [("done", 0, 6, 2)]
    assert [a.ended for a in log.attempts] == ["lease_end", "done"]
    assert sum(a.lost_us for a in log.attempts) == 0
    ends = [(lease.start_us, lease.end_us) for lease in log.leases]
    assert ends == [(0, 3 * HOUR), (5 * HOUR, None)]


def test_nothing_starts_at_the_instant_a_lease_ends_and_the_last_lease_refuses() -> None:
    leases = [LeaseSpan(0, 1, 0, 3 * HOUR)]
    jobs = job_set([(0, 4), (1, 1), (3, 1), (4, 1)])
    log = run(plan(pool(1, leases=leases)), jobs, rates(), STREAMS)
    assert [(job.state, job.end_us) for job in log.jobs] == [
        ("refused", 3 * HOUR),
        ("refused", 3 * HOUR),
        ("refused", 3 * HOUR),
        ("refused", 4 * HOUR),
    ]
    assert log.jobs[1].wait_us == 2 * HOUR
    assert log.jobs[0].progress == 0.75


def burst(**changes: object) -> BurstSpec:
    """One hourly card after one hour of waiting, there at once, handed back after 15 min idle."""
    fields: dict[str, object] = {
        "pool": pool(0, offer="hourly", leases=[], spans=False, memory_gib=80),
        "max_units": 1,
        "rent_when_wait_over_us": HOUR,
        "release_after_idle_us": 15 * MINUTE,
        "increment_us": HOUR,
        "minimum_us": HOUR,
        "delay": LogNormal(0, 0.0),
        "stock_out": 0.0,
        "retry_mean_us": 30 * MINUTE,
    }
    return BurstSpec(**{**fields, **changes})  # type: ignore[arg-type]


BOTH = RateTable(options={(0, OFFER): (option(),), (0, "hourly"): (option(us_per_work=0.5),)})


def test_one_burst_hour() -> None:
    # The card is busy 0-6 h. Job 1 comes at 1 h, has waited an hour at 2 h: a card twice as fast is
    # rented, runs it 2:00-2:30, is idle, and goes back at the end of its paid hour, 3:00.
    log = run(plan(pool(1), burst=burst()), job_set([(0, 6), (1, 1)]), BOTH, STREAMS)
    assert table(log) == [("done", 0, 6, 0), ("done", 2, 2.5, 1)]
    hourly = [lease for lease in log.leases if lease.lease == -1]
    assert [(lease.start_us, lease.end_us) for lease in hourly] == [(2 * HOUR, 3 * HOUR)]
    assert hourly[0].busy_card_us == 30 * MINUTE


def test_a_burst_card_is_kept_while_it_is_used_and_paid_capacity_comes_first() -> None:
    # Job 1 runs on the hourly card 2:00-2:48 (1.6 h at double speed); 12 min are left of the hour,
    # less than the idle time, so it is kept until 4:00 - and job 2, waiting from 2:50 with both
    # cards free from 3:00 on, takes the leased card at 3:00 only if the hourly one is not idle:
    # it is idle, but paid capacity is not there before 3:00, so job 2 starts at 2:50 on the hourly card.
    jobs = job_set([(0, 3), (1, 1.6), (170 / 60, 1), (4, 1)])
    log = run(plan(pool(1), burst=burst()), jobs, BOTH, STREAMS)
    assert [a.burst for a in log.attempts] == [False, True, True, False]
    hourly = [lease for lease in log.leases if lease.lease == -1]
    # idle again at 3:20, 15 minutes later is 3:35: it goes back at 4:00
    assert [(lease.start_us, lease.end_us) for lease in hourly] == [(2 * HOUR, 4 * HOUR)]


def test_an_order_that_finds_nothing_is_tried_again_and_rents_nothing_if_no_longer_needed() -> None:
    # stock-out is certain at first glance (0.999...), the job starts on the leased card meanwhile
    spec = burst(stock_out=1 - 1e-12)
    log = run(plan(pool(1), burst=spec, hours=100), job_set([(0, 6), (1, 1)]), BOTH, STREAMS)
    assert table(log)[1] == ("done", 6, 7, 5)
    assert log.burst_orders == 1
    assert log.burst_stock_outs >= 1
    assert not [lease for lease in log.leases if lease.lease == -1]


def test_no_more_units_than_allowed_and_the_next_waiter_gets_the_unit_that_comes_back() -> None:
    jobs = job_set([(0, 20), (1, 4), (1, 4)])
    log = run(plan(pool(1), burst=burst()), jobs, BOTH, STREAMS)
    # both wait over an hour at 2:00; one unit: job 1 runs 2-4, job 2 follows on the same unit 4-6
    assert table(log)[1:] == [("done", 2, 4, 1), ("done", 4, 6, 3)]
    hourly = [lease for lease in log.leases if lease.lease == -1]
    assert [(lease.start_us, lease.end_us) for lease in hourly] == [(2 * HOUR, 7 * HOUR)]


def test_burst_alone_serves_a_strategy_without_leases() -> None:
    table_of_rates = RateTable(options={(0, "hourly"): (option(),)})
    log = run(plan(burst=burst()), job_set([(0, 1)]), table_of_rates, STREAMS)
    assert table(log) == [("done", 1, 2, 1)]


def test_decimal_times_leave_no_gap_and_no_overlap() -> None:
    # known fault 38: 22159.6 s + 1340.6 s = 23500.2 s exactly
    a, b = 22159.6 / 3600, 1340.6 / 3600
    jobs = job_set([(a, b), (23500.2 / 3600, 1)])
    log = run(plan(pool(1)), jobs, rates(), STREAMS)
    assert log.jobs[0].end_us == 23_500_200_000 == log.jobs[1].start_us
    assert log.jobs[1].wait_us == 0


def test_same_streams_same_log() -> None:
    model = failures(50, "gpu_reset")
    jobs = job_set([(i * 0.7, 3) for i in range(200)])
    checkpoint = CheckpointSpec(HOUR, MINUTE)
    spec = plan(pool(4, model=model), checkpoint=checkpoint, burst=burst(stock_out=0.3))
    assert run(spec, jobs, BOTH, STREAMS) == run(spec, jobs, BOTH, STREAMS)
    assert run(spec, jobs, BOTH, STREAMS) != run(spec, jobs, BOTH, Streams(8))


def test_more_cards_share_the_misfortune_of_the_first() -> None:
    model = failures(100, "gpu_reset")
    jobs = job_set([(0, 1)])
    few = run(plan(pool(2, model=model)), jobs, rates(), STREAMS).failures
    many = run(plan(pool(5, model=model)), jobs, rates(), STREAMS).failures
    assert [f for f in many if f.machine < 2] == list(few)
    assert len(few) > 5


def test_noisy_neighbours_spread_the_running_time_and_leave_the_mean() -> None:
    import math

    import numpy as np

    luck = np.random.default_rng(5).standard_normal(4000)
    jobs = job_set([(i * 2, 1) for i in range(4000)])
    lucky = [job._replace(luck=float(z)) for job, z in zip(jobs.jobs, luck, strict=True)]
    jobs = dataclasses.replace(jobs, jobs=tuple(lucky))
    log = run(plan(pool(1), hours=1e5), jobs, rates(option(speed_noise=0.1)), STREAMS)
    logs = np.log([job.run_us / HOUR for job in log.jobs])
    assert logs.std() == pytest.approx(0.1, rel=0.05)
    assert np.exp(logs).mean() == pytest.approx(1, abs=3 * 0.1 / math.sqrt(4000))
