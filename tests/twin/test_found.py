"""Differences that the twin has found, each as the smallest case, with the answer by the rules."""

from __future__ import annotations

import dataclasses

from sim.engine import run
from sim.model.fleet import BurstSpec, CheckpointSpec, ForcedFailure, LogNormal, PolicyParameters
from sim.model.rates import RateTable
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, changed, failures, gangs, job_set, option, plan, pool, rates

STREAMS = Streams(1)


def test_a_machine_fails_though_one_of_its_cards_is_away() -> None:
    # Card 0 is reset from 1 to 6 h; at 2 h the machine fails, and another with new cards comes at 3 h.
    forced = (
        ForcedFailure(1 * HOUR, "gpu_reset", OFFER, 0, 0, 5 * HOUR),
        ForcedFailure(2 * HOUR, "node", OFFER, 0, 0, 1 * HOUR),
    )
    log = run(plan(pool(1, per_machine=2), forced=forced), job_set([(0, 10), (0, 10)]), rates(), STREAMS)
    assert [failure.kind for failure in log.failures] == ["gpu_reset", "node"]
    assert [job.end_us for job in log.jobs] == [13 * HOUR, 13 * HOUR]


def test_a_repair_that_a_new_machine_has_overtaken_changes_nothing() -> None:
    # An hourly unit that nobody uses goes back at the end of the hour in which it has been idle for
    # 20 min. A card is reset and comes back after 5 h, but the machine is replaced at once before:
    # the unit is idle from then on, whatever happened to the old card.
    model = failures(
        None, "node", mtbf_us={"gpu_reset": 4 * HOUR, "node": 4 * HOUR}, reset=LogNormal(5 * HOUR, 0.0),
        migration_us=(0, 0),
    )  # fmt: skip
    hourly = BurstSpec(
        pool=pool(0, offer="hourly", leases=[], spans=False, model=model),
        max_units=1, rent_when_wait_over_us=0, release_after_idle_us=20 * MINUTE, increment_us=HOUR,
        minimum_us=0, delay=LogNormal(0, 0.0), stock_out=0.0, retry_mean_us=HOUR,
    )  # fmt: skip
    table = RateTable(options={(0, "hourly"): (option(),)})
    overtaken = 0
    for seed in range(200):
        log = run(plan(burst=hourly, hours=100), job_set([(0, 0.5)]), table, Streams(seed))
        (rental, *_) = log.leases
        back = [f.back_us for f in log.failures if f.card is None]
        resets = [f for f in log.failures if f.card is not None]
        stays = [a.end_us for a in log.attempts]
        if rental.end_us is None or len(log.leases) != 1:
            continue
        idle = max(
            [*stays, *back, *(f.back_us for f in resets if not any(f.at_us < b < f.back_us for b in back))]
        )
        if idle < rental.end_us:
            hours = -(-(idle + 20 * MINUTE - rental.start_us) // HOUR)
            assert rental.end_us == rental.start_us + hours * HOUR
            overtaken += any(f.at_us < b < f.back_us for f in resets for b in back)
    assert overtaken > 5


def test_a_card_that_failed_unnoticed_is_not_taken_off_twice_under_conservative() -> None:
    # Card 0 fails at 1:00 and nobody knows until 1:06. Card 1 is free for the job of 1:03.
    model = failures(None, detect_us=(6 * MINUTE, 6 * MINUTE))
    forced = (ForcedFailure(HOUR, "gpu_reset", OFFER, 0, 0, None),)
    spec = plan(pool(1, per_machine=2, model=model), policy="conservative", forced=forced)
    log = run(spec, job_set([(0, 10), (1.05, 1)]), rates(), STREAMS)
    assert (log.jobs[1].start_us, log.jobs[1].wait_us) == (63 * MINUTE, 0)


def test_bad_luck_that_adds_a_checkpoint_voids_the_plans_behind_it() -> None:
    # Ten minutes of work, drawn out to 10.46 by the neighbours, need a checkpoint that ten would not:
    # the card is free at 12.46, not at 10, when the third job comes.
    jobs = job_set([(0, 1 / 6), (0, 1 / 6), (1 / 6, 1 / 6)])
    unlucky = jobs.jobs[0]._replace(luck=0.5)
    jobs = dataclasses.replace(jobs, jobs=(unlucky, *jobs.jobs[1:]))
    log = run(
        plan(pool(1), policy="conservative", checkpoint=CheckpointSpec(10 * MINUTE, 2 * MINUTE)),
        jobs,
        rates(option(speed_noise=0.1)),
        STREAMS,
    )
    assert log.jobs[0].end_us == 747_616_716  # 600 s x exp(0.05 - 0.005), and 2 min
    assert log.jobs[1].start_us == log.jobs[0].end_us


def test_of_jobs_that_wait_since_one_instant_the_first_by_number_orders_first() -> None:
    # At 5 h jobs 1 and 2 come; 2 is urgent and takes the cards of job 0, which waits from then on as
    # job 1 does. Both are overdue at 6 h: job 0 orders its two units first, and none is left for job 1.
    jobs, table = gangs((0, 10, 2), (5, 2, 1), (5, 3, 2))
    jobs = changed(jobs, 2, priority=1)
    shapes = {job.id: job.shape for job in jobs.jobs}
    options = {
        **table.options,
        (shapes[0], "hourly"): (option(2, spans=True),),
        (shapes[1], "hourly"): (option(1),),
    }
    hourly = BurstSpec(
        pool=pool(0, offer="hourly", leases=[]),
        max_units=2, rent_when_wait_over_us=HOUR, release_after_idle_us=0, increment_us=HOUR,
        minimum_us=0, delay=LogNormal(0, 0.0), stock_out=0.0, retry_mean_us=HOUR,
    )  # fmt: skip
    spec = plan(
        pool(1, per_machine=2), policy="priority", burst=hourly,
        parameters=PolicyParameters(preempt_after_us=0),
    )  # fmt: skip
    log = run(spec, jobs, RateTable(options=options), STREAMS)
    assert [(a.job, a.start_us / HOUR, a.burst) for a in log.attempts] == [
        (0, 0, False), (2, 5, False), (0, 6, True), (1, 8, False),
    ]  # fmt: skip
    assert [(r.ordered_us / HOUR, r.start_us / HOUR) for r in log.leases if r.lease < 0] == [(6, 6), (6, 6)]
