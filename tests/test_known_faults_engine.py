"""Faults that users reported of other simulators and schedulers: each as a case with a pencil answer.

Numbers are those of the project's list of known faults; the cases stand here in full.
"""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from itertools import pairwise

import pytest

from sim.decisions.policies import POLICIES
from sim.engine import run
from sim.model.fleet import BurstSpec, CheckpointSpec, ForcedFailure, LeaseSpan, LogNormal, PolicyParameters
from sim.model.job import Job, JobSet, JobShape
from sim.model.ledger import Ledger
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE, SECOND
from tests.billing_cases import lease, ledger, offer, scenario
from tests.build import OFFER, failures, job_set, option, plan, pool, rates

STREAMS = Streams(1)
ONE_CNY = {"h100-mig": offer("h100-mig", 1, unit="hour", plans={"hourly": 1})}
"""An hour of one card costs 1.00."""
HOURLY = "h100-mig"


def hours(log: RunLog) -> list[tuple[str, float | None, float | None]]:
    """State, first start and end of each job."""
    return [
        (
            j.state,
            None if j.start_us is None else j.start_us / HOUR,
            None if j.end_us is None else j.end_us / HOUR,
        )
        for j in log.jobs
    ]


def wide(*rows: tuple[int, float, int]) -> tuple[JobSet, RateTable]:
    """Jobs (submit us, run us, cards), one shape a number of cards, on one machine or several."""
    counts = sorted({cards for _, _, cards in rows})
    shapes = tuple(JobShape(f"{n} cards", None, (n,)) for n in counts)
    jobs = tuple(Job(i, f"job-{i}", counts.index(n), at, work) for i, (at, work, n) in enumerate(rows))
    ways = {(i, OFFER): (option(n), option(n, spans=True)) for i, n in enumerate(counts)}
    return JobSet(shapes, jobs), RateTable(options=ways)


def billed(log: RunLog, horizon: str, count: int) -> Ledger:
    """The cards of the run as one lease by the hour at 1.00."""
    asked = scenario([lease(count, "hourly", HOURLY)], horizon=horizon)
    records = [dataclasses.replace(r, offer=HOURLY) for r in log.leases]
    return ledger(asked, records, ONE_CNY)


# 38: 22159.6 + 1340.6 is less than 23500.2 in floating point


@pytest.mark.parametrize("policy", ["fifo", "priority", "edf", "fair", "easy", "conservative"])
def test_38_times_that_add_up_leave_no_gap_for_a_tiny_job(policy: str) -> None:
    second = float(SECOND)
    jobs, table = wide(
        (round(22159.6 * second), 1340.6 * second, 8),
        (round(22159.6 * second), 600 * second, 8),
        (round(22159.6 * second), 3e-12 * second, 8),
    )
    log = run(plan(pool(1, per_machine=8), policy=policy), jobs, table, STREAMS)
    ends = 23_500_200_000
    assert (log.jobs[0].end_us, log.jobs[1].start_us) == (ends, ends)
    assert log.jobs[1].wait_us == 1_340_600_000
    busy = sorted((a.start_us, a.end_us) for a in log.attempts)
    assert all(first[1] == second[0] for first, second in pairwise(busy))


def test_38_ten_steps_of_a_tenth_of_an_hour_are_one_block_of_an_hour() -> None:
    log = run(plan(pool(1), hours=1), job_set([(n / 10, 0.1) for n in range(10)]), rates(), STREAMS)
    assert [job.wait_us for job in log.jobs] == [0] * 10
    assert log.leases[0].busy_card_us == HOUR
    tenths = sum(round(0.1 * HOUR) for _ in range(10))
    rental = dataclasses.replace(log.leases[0], offer=HOURLY, lease=-1, end_us=tenths)
    asked = scenario(burst={"offer": HOURLY, "max": 1, "rent_when_wait_over": "0s"}, horizon="2h")
    (charge,) = ledger(asked, [rental], ONE_CNY).charges
    assert (charge.quantity, charge.billed_cost) == (1, Decimal("1.00"))


# 40: only the first event at the stop time is processed


@pytest.mark.parametrize(("horizon", "cost"), [(1000, "3000.00"), (999, "2997.00")])
def test_40_all_events_at_the_horizon_share_one_rule(horizon: int, cost: str) -> None:
    # Half-open: jobs that would end at the horizon, and those after it, are running, all three.
    log = run(plan(pool(3), hours=horizon), job_set([(0, 1000)] * 3), rates(), STREAMS)
    assert hours(log) == [("running", 0, None)] * 3
    assert [job.progress for job in log.jobs] == [horizon / 1000] * 3
    assert billed(log, f"{horizon}h", 3).accrued == Decimal(cost)


def test_40_events_just_before_the_horizon_all_happen() -> None:
    jobs = job_set([(0, 1000)] * 3)
    log = run(plan(pool(3), horizon_us=1000 * HOUR + 1), jobs, rates(), STREAMS)
    assert hours(log) == [("done", 0, 1000)] * 3


# 42: after preemption the busy time exceeds the elapsed time


def urgent_pair() -> JobSet:
    jobs = job_set([(0, 10), (4, 2)])
    return dataclasses.replace(jobs, jobs=(jobs.jobs[0], jobs.jobs[1]._replace(priority=1)))


def turnaround_adds_up(log: RunLog, jobs: JobSet) -> None:
    for record, job in zip(log.jobs, jobs.jobs, strict=True):
        assert record.run_us + record.wait_us == (record.end_us or 0) - job.submit_us


def test_42_a_preempted_job_resumes_where_it_stopped() -> None:
    spec = plan(pool(1), hours=100, policy="priority", parameters=PolicyParameters(preempt_after_us=0))
    log = run(spec, urgent_pair(), rates(), STREAMS)
    assert hours(log) == [("done", 0, 12), ("done", 4, 6)]
    assert (log.jobs[0].run_us, log.jobs[0].wait_us) == (10 * HOUR, 2 * HOUR)
    assert log.leases[0].busy_card_us == 12 * HOUR
    assert sum(a.lost_us for a in log.attempts) == 0
    turnaround_adds_up(log, urgent_pair())


def test_42_a_job_that_starts_again_from_zero_has_lost_its_work() -> None:
    # A reset at 4 h throws the first job off; the urgent one takes the card from 4 to 6.
    spec = plan(
        pool(1), hours=16, policy="priority", forced=(ForcedFailure(4 * HOUR, "gpu_reset", OFFER, 0, 0, 0),)
    )
    log = run(dataclasses.replace(spec, horizon_us=16 * HOUR + 1), urgent_pair(), rates(), STREAMS)
    assert hours(log) == [("done", 0, 16), ("done", 4, 6)]
    assert (log.jobs[0].run_us, log.jobs[0].wait_us) == (14 * HOUR, 2 * HOUR)
    assert sum(a.lost_us for a in log.attempts) == 4 * HOUR
    assert log.leases[0].busy_card_us == 16 * HOUR
    turnaround_adds_up(log, urgent_pair())


# 44: a job and an allocation of different size crash or pass unnoticed


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_44_a_job_that_never_fits_is_refused_and_holds_nobody(policy: str) -> None:
    h = float(HOUR)
    jobs, table = wide((0, h, 16), (HOUR, 5 * h, 1), (HOUR, 5 * h, 1), (HOUR, 5 * h, 1))
    log = run(plan(pool(1, per_machine=8), policy=policy), jobs, table, STREAMS)
    assert hours(log) == [("refused", None, 0), *[("done", 1, 6)] * 3]
    assert log.jobs[0].reason == "needs 16 cards at a time; the strategy can give one job at most 8"
    assert [job.wait_us for job in log.jobs] == [0] * 4


# 45: a job on many nodes is not recovered when one worker node is lost


@pytest.mark.parametrize(("every", "ends", "lost"), [(2 * HOUR, 11.5, 16), (None, 15.5, 80)])
def test_45_a_gang_stops_whole_and_resumes_whole(every: int | None, ends: float, lost: int) -> None:
    jobs, table = wide((0, 10.0 * HOUR, 16))
    spec = plan(
        pool(2, per_machine=8),
        checkpoint=CheckpointSpec(every, 0),
        forced=(ForcedFailure(5 * HOUR, "node", OFFER, 1, 0, 30 * MINUTE),),
    )
    log = run(spec, jobs, table, STREAMS)
    assert hours(log) == [("done", 0, ends)]
    card_hours = {
        "useful": sum(a.work_us * len(a.cards) for a in log.attempts) / HOUR,
        "lost": sum(a.lost_us * len(a.cards) for a in log.attempts) / HOUR,
        "running": sum((a.end_us - a.start_us) * len(a.cards) for a in log.attempts) / HOUR,
    }
    assert card_hours == {"useful": 160, "lost": lost, "running": 160 + lost}
    # The first node stands idle for half an hour, the second is away for it: 4 card-hours each.
    assert [r.down_card_us / HOUR for r in log.leases] == [0, 4]


# 22 (in the engine): use beyond the cards there are


def test_22_two_jobs_on_one_node_never_use_more_than_the_node() -> None:
    # A runs 6 of 10 h on 8 cards, away for 4 h while B has the node: 48 + 32 = 80 of 80 card-hours.
    jobs, table = wide((0, 6.0 * HOUR, 8), (3 * HOUR, 4.0 * HOUR, 8))
    urgent = dataclasses.replace(jobs, jobs=(jobs.jobs[0], jobs.jobs[1]._replace(priority=1)))
    spec = plan(
        pool(1, per_machine=8), hours=10, policy="priority", parameters=PolicyParameters(preempt_after_us=0)
    )
    log = run(spec, urgent, table, STREAMS)
    used = {
        job: sum((a.end_us - a.start_us) * len(a.cards) for a in log.attempts if a.job == job) / HOUR
        for job in (0, 1)
    }
    assert used == {0: 48, 1: 32}
    assert log.leases[0].busy_card_us == 80 * HOUR == 8 * log.horizon_us
    assert log.leases[0].down_card_us == 0


# 14 (in the engine): orders that never got capacity cost nothing


def test_14_an_order_that_finds_nothing_costs_nothing_and_waiting_is_not_billed() -> None:
    hourly = BurstSpec(
        pool=pool(0, offer=HOURLY, leases=[], spans=False),
        max_units=1, rent_when_wait_over_us=0, release_after_idle_us=0, increment_us=HOUR, minimum_us=HOUR,
        delay=LogNormal(34 * SECOND, 0.0), stock_out=1 - 1e-12, retry_mean_us=300 * SECOND,
    )  # fmt: skip
    table = RateTable(options={(0, HOURLY): (option(),)})
    asked = scenario(burst={"offer": HOURLY, "max": 1, "rent_when_wait_over": "0s"}, horizon="2h")
    never = run(plan(hours=2, burst=hourly), job_set([(0, 1)]), table, STREAMS)
    assert (never.jobs[0].state, never.burst_stock_outs > 1, never.leases) == ("waiting", True, ())
    assert ledger(asked, never.leases, ONE_CNY).accrued == 0
    soon = run(
        plan(hours=2, burst=dataclasses.replace(hourly, stock_out=0.0)), job_set([(0, 1)]), table, STREAMS
    )
    (rental,) = soon.leases
    assert (rental.ordered_us, rental.start_us, rental.end_us) == (0, 34 * SECOND, HOUR + 34 * SECOND)
    assert ledger(asked, soon.leases, ONE_CNY).accrued == Decimal("1.00")


# 50: all replications use the same random numbers


def test_50_replications_differ_and_do_not_depend_on_how_many_there_are_or_in_which_order() -> None:
    spec = plan(pool(2, model=failures(20)), hours=200)
    jobs = job_set([(n, 2) for n in range(60)])
    eight = [run(spec, jobs, rates(), Streams(42, k)) for k in range(8)]
    sixteen = {k: run(spec, jobs, rates(), Streams(42, k)) for k in reversed(range(16))}
    assert [sixteen[k] for k in range(8)] == eight
    assert len({log.failures for log in sixteen.values()}) == 16
    assert len({sum(job.wait_us for job in log.jobs) for log in eight}) == 8


# kinds of the same sort that peers of this program have shown


def test_a_completion_is_noticed_at_its_own_time_and_not_at_the_next_arrival() -> None:
    log = run(plan(pool(1)), job_set([(0, 2), (1, 3), (50, 1)]), rates(), STREAMS)
    assert hours(log) == [("done", 0, 2), ("done", 2, 5), ("done", 50, 51)]


def test_ten_thousand_rows_are_not_cut() -> None:
    log = run(plan(pool(4), hours=1e6), job_set([(n, 0.5) for n in range(10_000)]), rates(), STREAMS)
    assert sum(job.state == "done" for job in log.jobs) == 10_000


def test_seed_0_is_a_seed_of_its_own() -> None:
    draws = [Streams(seed).generator("failure", "A", "node", 0).random() for seed in (0, 42, 1)]
    assert len(set(draws)) == 3


def test_an_outage_that_outlives_its_lease_costs_no_card_time_after_it() -> None:
    spans = [LeaseSpan(0, 1, 0, 3 * HOUR)]
    forced = (ForcedFailure(2 * HOUR, "node", OFFER, 0, 0, 10 * HOUR),)
    log = run(plan(pool(1, leases=spans), forced=forced, hours=20), job_set([(0, 1)]), rates(), STREAMS)
    assert [(r.busy_card_us / HOUR, r.down_card_us / HOUR) for r in log.leases] == [(1, 1)]
