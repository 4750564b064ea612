"""Differences that the twin has found, each as the smallest case, with the answer by the rules."""

from __future__ import annotations

import dataclasses

import pytest

from sim.engine import run
from sim.engine.fleet import Pool
from sim.engine.saves import disk_lost, kept_share
from sim.engine.stay import Run, Stay
from sim.model.failures import Hangs, Snapshots, Spares
from sim.model.fleet import BurstSpec, CheckpointSpec, ForcedFailure, LeaseSpan, LogNormal, PolicyParameters
from sim.model.job import UserEnd
from sim.model.rates import RateTable
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, changed, failures, gangs, job_set, option, plan, pool, rates

STREAMS = Streams(1)


def at(hour: float, kind: str, machine: int = 0, down: float | None = 1, offer: str = OFFER) -> ForcedFailure:
    return ForcedFailure(
        round(hour * HOUR), kind, offer, machine, 0, None if down is None else round(down * HOUR)
    )


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


@pytest.mark.parametrize("policy", ["fifo", "fair", "easy", "conservative"])
def test_a_new_submission_has_a_new_place_under_every_policy(policy: str) -> None:
    # Job 0 fails at 1 min and is back at 31 min; job 1 runs from 1 min to 4:01; job 2 came before it.
    end = UserEnd("failed", after_us=MINUTE, retry_after_us=30 * MINUTE)
    jobs = job_set([(0, 4)] * 3)
    jobs = dataclasses.replace(jobs, jobs=(jobs.jobs[0]._replace(ends=(end,)), *jobs.jobs[1:]))
    log = run(plan(pool(1), policy=policy), jobs, rates(), STREAMS)
    assert [job.end_us for job in log.jobs] == [12 * HOUR + MINUTE, 4 * HOUR + MINUTE, 8 * HOUR + MINUTE]


def test_two_new_submissions_of_one_instant_go_by_number_under_easy() -> None:
    # Jobs 0 and 1 fail in the first minute and are back at 1 h, while job 2 has both cards until 4 h;
    # the later failure is job 0's, so job 1 is put in the queue first. One card each: 0, then 1.
    jobs = [(0, 1), (0, 1), (0.02, 3.98), (0.5, 9)]
    jobs, table = gangs(
        *((start, hours, cards) for (start, hours), cards in zip(jobs, (1, 1, 2, 2), strict=True))
    )
    ends = {
        0: UserEnd("failed", after_us=MINUTE, retry_after_us=59 * MINUTE),
        1: UserEnd("failed", after_us=MINUTE // 2, retry_after_us=59 * MINUTE + MINUTE // 2),
    }
    for number, end in ends.items():
        jobs = changed(jobs, number, ends=(end,))
    log = run(plan(pool(1, per_machine=2), policy="easy"), jobs, table, STREAMS)
    again = [(a.job, a.cards, a.start_us / HOUR) for a in log.attempts if a.job in ends and a.start_us > 0]
    assert again == [(0, (0,), 13), (1, (1,), 13)]


def test_a_spare_that_is_not_mended_yet_helps_nobody() -> None:
    # One spare; mending takes 5 h, a move nothing. Machine 0 fails at 1 h and takes it: what failed is a
    # spare at 6 h. Machine 1 fails at 2 h and waits until then, machine 2 at 3 h until 7 h.
    model = failures(spares=Spares(1, LogNormal(5 * HOUR, 0.0)), migration_us=(0, 0))
    forced = tuple(at(hour, "node", machine, None) for machine, hour in enumerate((1, 2, 3)))
    log = run(plan(pool(3, model=model), forced=forced), job_set([]), rates(), STREAMS)
    assert [f.back_us / HOUR for f in log.failures] == [1, 6, 7]


def test_a_late_notice_lends_nobody_a_spare_before_it_is_mended() -> None:
    # Two spares, both taken by 1 h: there again at 4.5 h and 5 h. Machine 2 fails at 1.5 h, seen at 9.5 h,
    # and takes the one of 4.5 h. Machine 3 fails at 2 h, seen at once: it has that of 5 h, not one now.
    model = failures(
        spares=Spares(2, LogNormal(4 * HOUR, 0.0)), migration_us=(0, 0),
        hangs=Hangs(1.0, LogNormal(8 * HOUR, 0.0), ("node",)),
    )  # fmt: skip
    seen = [(0.5, "network"), (1, "network"), (1.5, "node"), (2, "network")]
    forced = tuple(at(hour, kind, machine, None) for machine, (hour, kind) in enumerate(seen))
    log = run(plan(pool(4, model=model), forced=forced), job_set([]), rates(), STREAMS)
    assert [f.back_us / HOUR for f in log.failures] == [0.5, 1, 9.5, 5]


def test_a_failure_whose_length_is_said_lasts_just_so_long() -> None:
    model = failures(snapshots=Snapshots(8 * HOUR, 30 * MINUTE, True), spares=Spares(0, LogNormal(HOUR, 0.0)))
    spec = pool(1, leases=[LeaseSpan(0, 1, 0, None, disk_kept=False)], model=model)
    log = run(plan(spec, forced=(at(1, "node", down=2),)), job_set([]), rates(), STREAMS)
    assert log.failures[0].back_us == 3 * HOUR


def test_a_snapshot_of_a_job_that_had_gone_to_a_pool_without_snapshots_holds_nothing() -> None:
    # Snapshots each 8 h in the first pool, none in the second. Reset at 7 h: 7 h saved; the job goes on in
    # the second pool until its machine fails at 9 h (9 h saved, its disk moves along) and comes back to
    # the first. That fails at 11 h: its snapshot of 8 h was made while the job was elsewhere.
    model = failures(snapshots=Snapshots(8 * HOUR, 0, True))
    first = pool(1, leases=[LeaseSpan(0, 1, 0, None, disk_kept=False)], model=model)
    forced = (at(7, "gpu_reset"), at(9, "node", offer="other"), at(11, "node"))
    log = run(
        plan(
            first, pool(1, offer="other", model=failures()), forced=forced, checkpoint=CheckpointSpec(HOUR, 0)
        ),
        job_set([(0, 20)]),
        RateTable(options={(0, OFFER): (option(),), (0, "other"): (option(),)}),
        STREAMS,
    )
    mine = [(a.offer, a.ended, a.work_us / HOUR, a.voided_card_us / HOUR) for a in log.attempts]
    assert mine[:3] == [(OFFER, "gpu_reset", 7, 0), ("other", "node", 2, 0), (OFFER, "node", 0, 9)]
    assert log.jobs[0].end_us == (11 + 20) * HOUR  # at once on the second pool's card, which is back


def test_work_on_a_lost_disk_is_no_progress_of_a_job_that_waits() -> None:
    # One card of a machine of two is reset at 5.5 h for 20 h; job 0 waits with 5 h saved. At 6 h the
    # machine fails and its disk stays behind. At the horizon, 6.5 h, nothing of the 10 h is there.
    spec = pool(1, per_machine=2, leases=[LeaseSpan(0, 1, 0, None, disk_kept=False)], model=failures())
    forced = (at(5.5, "gpu_reset", down=20), at(6, "node", down=5))
    jobs = job_set([(0, 10), (0, 10)])
    for hours, progress, gone in ((5.75, 0.5, 0), (6.5, 0, 5)):
        asked = plan(spec, hours=hours, forced=forced, checkpoint=CheckpointSpec(HOUR, 0))
        log = run(asked, jobs, rates(), STREAMS)
        assert (log.jobs[0].state, log.jobs[0].progress) == ("waiting", progress)
        # The 5 h are told as lost with the stay that saved them, though it had ended well before.
        (stay,) = (attempt for attempt in log.attempts if attempt.job == 0)
        assert (stay.work_us, stay.lost_us, stay.voided_card_us) == (5 * HOUR, HOUR // 2, gone * HOUR)


def test_a_unit_that_comes_again_does_not_lose_what_was_on_its_old_disk() -> None:
    # A job waits whose hour of work was saved on an hourly unit. The unit goes back at 2 h; at 4 h it is
    # rented again and fails at 5 h with another disk. The hour is safe; who ran there then loses his.
    unit = Pool(pool(0, offer="hourly", leases=[]), 1, burst=True)
    (machine,) = unit.machines
    machine.disk_kept = False
    unit.bring(machine, 0)
    first, second = (Run(job) for job in job_set([(0, 4), (4, 4)]).jobs)
    first.saved_where, first.saved_epoch = machine.cards[0], machine.disk_epoch
    unit.take_away(machine, 2 * HOUR, 2 * HOUR)
    unit.bring(machine, 4 * HOUR)
    second.saved_where, second.saved_epoch = machine.cards[0], machine.disk_epoch
    unit.break_machine(machine, 5 * HOUR, 1)
    assert (disk_lost(first), disk_lost(second)) == (False, True)


def test_what_a_snapshot_brought_back_is_saved_from_a_unit_that_goes_back() -> None:
    # A job of 20 h runs on an hourly unit from 0 h, a checkpoint an hour; the unit fails at 9.5 h without its
    # disk: the snapshot of 8 h brings 8 h back. The job waits, and the unit goes back at 12 h, what it holds
    # saved. It is rented again at 14 h. Its new disk is nothing to the job, until it runs there: from 17 h
    # to 18 h, when that is lost. The snapshot of 16 h has nothing of the job: the disk was another's.
    unit = Pool(pool(0, offer="hourly", leases=[], model=IMAGES), 1, burst=True)
    (machine,) = unit.machines
    machine.disk_kept = False
    unit.bring(machine, 0)
    job = Run(job_set([(0, 20)]).jobs[0])
    first = begun(job, unit, 0, before=0)
    unit.break_machine(machine, round(9.5 * HOUR), 1)
    first.ended_us, first.gain_us, first.left_epoch = round(9.5 * HOUR), 8 * HOUR, machine.disk_epoch
    job.saved_us = job.kept_card_us = 8 * HOUR
    assert kept_share(job) == 0.4
    unit.take_away(machine, 12 * HOUR, 12 * HOUR)
    unit.bring(machine, 14 * HOUR)
    assert kept_share(job) == 0.4
    begun(job, unit, 17 * HOUR, before=8 * HOUR)
    unit.break_machine(machine, 18 * HOUR, 2)
    assert kept_share(job) == 0


IMAGES = failures(snapshots=Snapshots(8 * HOUR, 0, True))


def begun(job: Run, unit: Pool, start: int, *, before: int) -> Stay:
    """A stay of a job of 20 h on the unit's card, which nothing slows, a checkpoint each hour."""
    card = unit.machines[0].cards[0]
    stay = job.stay = Stay(job, unit, option(), [card], start)
    stay.startup_us, stay.before_us, stay.before_card_us, stay.ended_us = 0, before, before, None
    stay.total_us = job.total_us = 20 * HOUR
    stay.remaining_us, stay.every_us, stay.pieces = stay.total_us - before, HOUR, 20 - before // HOUR
    job.history = [*(job.history or ()), stay]
    job.saved_where, job.saved_epoch = card, card.machine.disk_epoch
    return stay
