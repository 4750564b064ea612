"""Disks that move or stay behind, and snapshots of them: what is left of a job's work, with a pencil.

A snapshot each 8 h (0, 8, 16, ... h of the run), a checkpoint after each hour of work that costs
nothing, one card in a machine of its own whose data disk does not move along.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from sim.engine import run
from sim.model.failures import CheckpointSpec, Snapshots
from sim.model.fleet import FleetPlan, ForcedFailure, LeaseSpan
from sim.model.job import JobSet
from sim.model.records import RunLog
from sim.model.sharing import SpeedCurve
from sim.streams import Streams
from sim.units import HOUR, MINUTE, SECOND
from tests.build import OFFER, failures, job_set, option, plan, pool, rates
from tests.sharing_cases import EQUAL_PARTS, HARMLESS, needing, played, shared, sharing

STREAMS = Streams(7)
ROLLBACK = 30 * SECOND


def at(hour: float, kind: str = "node", machine: int = 0, down: float = 1) -> ForcedFailure:
    return ForcedFailure(round(hour * HOUR), kind, OFFER, machine, 0, round(down * HOUR))


def world(*forced: ForcedFailure, machines: int = 1, data: bool = True, rollback: int = 0) -> FleetPlan:
    model = failures(snapshots=Snapshots(8 * HOUR, rollback, data))
    leases = [LeaseSpan(0, machines, 0, None, disk_kept=False)]
    return plan(pool(machines, leases=leases, model=model), checkpoint=CheckpointSpec(HOUR, 0), forced=forced)


def go(spec: FleetPlan, jobs: JobSet | None = None) -> RunLog:
    return run(spec, jobs or job_set([(0, 20)]), rates(), STREAMS)


def rows(log: RunLog) -> list[tuple[str, float, float, float]]:
    """(how a stay ended, work kept, lost, of earlier stays destroyed), hours."""
    return [(a.ended, a.work_us / HOUR, a.lost_us / HOUR, a.voided_card_us / HOUR) for a in log.attempts]


def end(log: RunLog) -> float:
    return (log.jobs[0].end_us or 0) / HOUR


def test_a_lost_disk_goes_back_to_the_newest_checkpoint_of_the_last_snapshot() -> None:
    # at 11.5 h eleven hours are saved; the snapshot of 8 h knows of eight; 12 h are left from 12.5 h on
    log = go(world(at(11.5)))
    assert rows(log) == [("node", 8, 3.5, 0), ("done", 12, 0, 0)]
    assert end(log) == 24.5


def test_a_snapshot_of_the_system_disk_brings_no_checkpoint_back() -> None:
    log = go(world(at(11.5), data=False))
    assert rows(log) == [("node", 0, 11.5, 0), ("done", 20, 0, 0)]
    assert end(log) == 32.5


def test_the_rollback_takes_its_time_where_a_disk_stays_behind() -> None:
    # no time is given, so the move is drawn: 10 min, and 30 s for the rollback
    drawn = ForcedFailure(round(11.5 * HOUR), "node", OFFER, 0)
    for data in (True, False):
        log = go(world(drawn, data=data, rollback=ROLLBACK))
        assert log.failures[0].back_us == round(11.5 * HOUR) + 10 * MINUTE + ROLLBACK
    spec = pool(1, model=failures(snapshots=Snapshots(8 * HOUR, ROLLBACK, True)))
    log = run(plan(spec, forced=(drawn,)), job_set([(0, 20)]), rates(), STREAMS)
    assert log.failures[0].back_us == round(11.5 * HOUR) + 10 * MINUTE  # the disk moved along


def test_a_snapshot_in_the_instant_of_a_checkpoint_and_of_the_failure_has_it() -> None:
    # the eighth checkpoint is complete at 8 h, as the snapshot is made; the machine fails then
    log = go(world(at(8)))
    assert rows(log)[0] == ("node", 8, 0, 0)


def test_a_snapshot_before_the_job_or_the_lease_holds_nothing() -> None:
    log = go(world(at(7.5)))  # the snapshot of 0 h: nothing was saved then
    assert rows(log)[0] == ("node", 0, 7.5, 0)
    late = [LeaseSpan(0, 1, 9 * HOUR, None, disk_kept=False)]
    spec = pool(1, leases=late, model=failures(snapshots=Snapshots(8 * HOUR, 0, True)))
    log = go(plan(spec, checkpoint=CheckpointSpec(HOUR, 0), forced=(at(11.5),)))
    assert rows(log)[0] == ("node", 0, 2.5, 0)


def test_earlier_stays_count_as_they_were_when_the_snapshot_was_made() -> None:
    # Reset at 5.5 h (5 h saved, 0.5 lost), on again at 6.5 h with 15 h left; at 8 h the snapshot knows of
    # 5 + 1 h; a second reset at 8.6 h (7 h saved), on at 9.6 h; the machine fails at 11 h with 8 h saved.
    log = go(world(at(5.5, "gpu_reset"), at(8.6, "gpu_reset"), at(11)))
    # back to 6 h: of the second stay's 2 h one is destroyed, of the third's nothing is left
    expected = [("gpu_reset", 5, 0.5, 0), ("gpu_reset", 2, 0.1, 0), ("node", 0, 1.4, 1), ("done", 14, 0, 0)]
    assert [row[0] for row in rows(log)] == [row[0] for row in expected]
    assert [row[1:] for row in rows(log)] == [pytest.approx(row[1:]) for row in expected]
    assert end(log) == 12 + 14


def test_work_that_waits_on_a_lost_disk_comes_back_from_the_snapshot() -> None:
    # One card of a machine of two is reset at 9.5 h: job 0 waits with 9 h saved; the machine fails at 10 h.
    # At 8 h the snapshot knew of 8 h: one hour is destroyed, which the next stay's record says.
    model = failures(snapshots=Snapshots(8 * HOUR, 0, True))
    leases = [LeaseSpan(0, 1, 0, None, disk_kept=False)]
    spec = pool(1, per_machine=2, leases=leases, model=model)
    log = run(
        plan(spec, checkpoint=CheckpointSpec(HOUR, 0), forced=(at(9.5, "gpu_reset", down=9), at(10))),
        job_set([(0, 20), (0, 20)]),
        rates(),
        STREAMS,
    )
    mine = [row for row, stay in zip(rows(log), log.attempts, strict=True) if stay.job == 0]
    assert mine == [("gpu_reset", 9, 0.5, 0), ("done", 12, 0, 1)]
    assert end(log) == 11 + 12


def test_a_job_that_came_from_another_machine_is_not_in_the_snapshot() -> None:
    # Machine 0 is reset at 9.5 h; the job moves to machine 1 with 9 h saved and goes on; machine 1 fails
    # at 11.7 h. Its snapshot of 8 h was made before the job's files came: all is lost.
    log = go(world(at(9.5, "gpu_reset", down=100), at(11.7, machine=1), machines=2))
    assert rows(log)[:2] == [("gpu_reset", 9, 0.5, 0), ("node", 0, pytest.approx(2.2), 9)]


def test_two_losses_before_the_job_resumes_keep_the_older_image() -> None:
    # Fails at 9 h (8 h in the snapshot of 8 h), away until 15 h; nobody runs; fails again at 15.5 h as the
    # job has done half an hour; then the snapshot of 8 h is still what is known.
    log = go(world(at(9, down=6), at(15.5)))
    assert rows(log) == [("node", 8, 1, 0), ("node", 0, 0.5, 0), ("done", 12, 0, 0)]
    assert end(log) == 16.5 + 12


def test_base_models_come_back_with_the_data_disk() -> None:
    # 30 min to fetch the model once; back from the snapshot of 8 h it is there, else it is fetched again
    way = option(stage_us=30 * MINUTE, stage_key="m")
    for data, again in ((True, 0), (False, 30 * MINUTE)):
        log = run(world(at(11.5), data=data), job_set([(0, 20)]), rates(way), STREAMS)
        assert [a.startup_us for a in log.attempts] == [30 * MINUTE, again]


def test_a_disk_that_moves_along_needs_no_snapshot() -> None:
    model = failures(snapshots=Snapshots(8 * HOUR, 0, True))
    log = go(plan(pool(1, model=model), checkpoint=CheckpointSpec(HOUR, 0), forced=(at(11.5),)))
    assert rows(log)[0] == ("node", 11, 0.5, 0)


def test_corruption_that_the_snapshot_does_not_know_is_undone() -> None:
    for hour, bad in ((8.5, False), (7.5, True)):
        model = failures(snapshots=Snapshots(8 * HOUR, 0, True), found=0.0)
        spec = pool(1, leases=[LeaseSpan(0, 1, 0, None, disk_kept=False)], model=model)
        forced = (at(hour, "silent_corruption"), at(11.5))
        log = go(plan(spec, checkpoint=CheckpointSpec(HOUR, 0), forced=forced))
        assert log.jobs[0].bad is bad


@pytest.mark.parametrize("cost", [0, 6 * MINUTE])
def test_useful_and_lost_work_add_up_to_all_that_ran(cost: int) -> None:
    """Known faults 42 and 45, with disks: busy time is what ran; kept work is the job's work, once."""
    forced = (at(5.5, "gpu_reset"), at(8.6, "gpu_reset"), at(11), at(19.2), at(30))
    spec = world(*forced)
    log = run(
        plan(*spec.pools, checkpoint=CheckpointSpec(HOUR, cost), forced=forced),
        job_set([(0, 20)]),
        rates(option(restart_us=3 * MINUTE)),
        STREAMS,
    )
    (job,) = log.jobs
    kept = sum(a.work_us - a.voided_card_us for a in log.attempts)
    assert kept == 20 * HOUR
    parts = sum(a.work_us + a.lost_us + a.startup_us + a.checkpoint_us for a in log.attempts)
    assert parts == job.run_us == log.leases[0].busy_card_us
    assert job.run_us + job.wait_us == job.end_us


def test_a_loss_while_the_job_waited_is_not_undone_by_a_later_snapshot() -> None:
    # Two cards in one machine. Card 0 is reset at 7.5 h for 20 h: job 0 waits with 7 h saved (snapshot
    # of 0 h: none). The machine fails at 7.8 h: all is lost. The snapshot of 8 h has nothing either; job 0 is
    # on again at 8.8 h on the card of job 1; the machine fails once more at 9 h: nothing comes back.
    model = failures(snapshots=Snapshots(8 * HOUR, 0, True))
    leases = [LeaseSpan(0, 1, 0, None, disk_kept=False)]
    spec = pool(1, per_machine=2, leases=leases, model=model)
    forced = (at(7.5, "gpu_reset", down=20), at(7.8), at(9))
    log = run(
        plan(spec, checkpoint=CheckpointSpec(HOUR, 0), forced=forced),
        job_set([(0, 20), (0, 20)]),
        rates(),
        STREAMS,
    )
    mine = [row for row, stay in zip(rows(log), log.attempts, strict=True) if stay.job == 0]
    expected = [("gpu_reset", 7, 0.5, 0), ("node", 0, 0.2, 7), ("done", 20, 0, 0)]
    assert [row[0] for row in mine] == [row[0] for row in expected]
    assert [row[1:] for row in mine] == [pytest.approx(row[1:]) for row in expected]


@pytest.mark.parametrize(
    ("until", "lost", "kept", "begun"),
    [
        (7, 7.5, 0, 0),  # the image of 0 h has nothing of the job, and so has that of 8 h, made of it
        (3, 4, 0, 2),  # there is no image since the lease began
        (15, 15.5, 8, 0),  # that of 8 h knows of 8 h, and that of 16 h, made of it, knows the same
        (15, 16.5, 15, 0),  # that of 16 h was made before the loss: it knows of all 15 h
    ],
)
def test_a_loss_behind_a_closed_window_takes_what_a_later_snapshot_could_hold(
    until: int, lost: float, kept: int, begun: int
) -> None:
    """A window's end takes the job's files along; what stays on the machine is lost with its disk."""
    # On again at 20 h with all that was saved, 1.5 h before the machine fails again: what comes back is
    # what the last snapshot found on the machine, which had been lost and had come back before it was made.
    windows = ((begun * HOUR, until * HOUR), (20 * HOUR, 2000 * HOUR))
    leases = [LeaseSpan(0, 1, begun * HOUR, None, disk_kept=False, windows=windows)]
    spec = pool(1, leases=leases, model=failures(snapshots=Snapshots(8 * HOUR, 0, True)))
    log = go(plan(spec, checkpoint=CheckpointSpec(HOUR, 0), forced=(at(lost), at(21.5))), job_set([(0, 30)]))
    saved = until - begun
    assert rows(log) == [
        ("window_end", saved, 0, 0), ("node", 0, 1.5, saved - kept), ("done", 30 - kept, 0, 0),
    ]  # fmt: skip
    assert end(log) == 22.5 + 30 - kept


def test_a_snapshot_brings_back_what_all_jobs_of_a_shared_card_had_saved() -> None:
    # Two at half speed, a checkpoint for each hour of work: one in two hours. The machine fails at 11.5 h
    # without its disk; the snapshot of 8 h knows of 4 h of work of each, which took 8 h. From 12.5 h on
    # 16 h of work are left of each. At 30.5 h it fails again: the snapshot of 24 h knows of the five that
    # were saved since, at 22.5 h; 11 h of work are left from 31.5 h on.
    log = beside((11.5, "node", 1), (30.5, "node", 1))
    times = [(a.ended, a.work_us / HOUR, a.lost_us / HOUR, a.voided_card_us, a.card_us) for a in log.attempts]
    assert times[:2] == [("node", 8, 3.5, 0, 11.5 * HOUR / 2)] * 2
    assert times[2:4] == [("node", 10, 8, 0, 9 * HOUR)] * 2
    assert times[4:] == [("done", 22, 0, 0, 11 * HOUR)] * 2
    assert [job.end_us for job in log.jobs] == [round(53.5 * HOUR)] * 2


def test_a_snapshot_of_an_earlier_stay_brings_back_its_part_of_a_shared_card() -> None:
    # Two that do not slow each other have half of the card's time each. A reset at 11.5 h ends a stay with
    # 11 h saved, 5.5 h of card-time; they go on at once. The machine fails at 12 h: the snapshot of 8 h knows
    # of 8 h, 4 h of card-time. So 1.5 h of it are destroyed, and 12 h of work are left from 13 h on.
    log = beside((11.5, "gpu_reset", 0), (12, "node", 1), curve=HARMLESS)
    assert (
        rows(log) == [("gpu_reset", 11, 0.5, 0)] * 2 + [("node", 0, 0.5, 1.5)] * 2 + [("done", 12, 0, 0)] * 2
    )
    assert [job.end_us for job in log.jobs] == [25 * HOUR] * 2


def beside(*blows: tuple[float, str, float], curve: SpeedCurve = EQUAL_PARTS) -> RunLog:
    """Two jobs of 20 h on a machine of one card, at half speed by default; a checkpoint an hour of work, a
    snapshot each 8 h. Failures (hour, kind, hours down); the disk stays behind."""
    forced = tuple(at(hour, kind, down=down) for hour, kind, down in blows)
    model = failures(snapshots=Snapshots(8 * HOUR, 0, True))
    leases = [LeaseSpan(0, 1, 0, None, disk_kept=False)]
    cards = shared(1, sharing(curve=curve, recorded=Fraction(1)), leases=leases, model=model)
    spec = plan(cards, checkpoint=CheckpointSpec(HOUR, 0), forced=forced)
    return played(spec, job_set([(0, 20), (0, 20)]), needing())
