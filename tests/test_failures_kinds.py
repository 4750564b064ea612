"""Kinds of failures with a pencil: what each hits, for how long, and what becomes of the jobs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sim.engine import run
from sim.engine.failures import draw_events
from sim.model.failures import (
    CheckpointSpec,
    Hangs,
    Infancy,
    Maintenance,
    NoSpare,
    SharedEvents,
    Spares,
)
from sim.model.fleet import ForcedFailure, LeaseSpan, LogNormal, PoolSpec
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, failures, job_set, option, plan, pool, rates

STREAMS = Streams(7)
HOURLY = CheckpointSpec(HOUR, 0)


def at(
    hour: float, kind: str = "node", down: float | None = 1, machine: int = 0, card: int = 0
) -> ForcedFailure:
    """A failure at an hour, the machine or card away for `down` hours."""
    down_us = None if down is None else round(down * HOUR)
    return ForcedFailure(round(hour * HOUR), kind, OFFER, machine, card, down_us)


def ends(log: RunLog) -> list[float | None]:
    """When each job ended, hours."""
    return [None if job.end_us is None else job.end_us / HOUR for job in log.jobs]


@pytest.mark.parametrize(
    ("kind", "hit"),
    [
        ("gpu_reset", {1}),
        ("ecc_uncorrectable", {1}),
        ("gpu_fatal", {0, 1}),
        ("node", {0, 1}),
        ("network", {0, 1}),
        ("switch", {0, 1, 2, 3}),
        ("site", {0, 1, 2, 3}),
    ],
)
def test_whom_a_failure_hits(kind: str, hit: set[int]) -> None:
    # two machines of two cards, a job of 4 h on each card; card 1 of machine 0 fails at 1 h for 1 h
    log = run(
        plan(pool(2, per_machine=2), forced=(at(1, kind, card=1),)),
        job_set([(0, 4)] * 4),
        rates(),
        STREAMS,
    )
    assert {job for failure in log.failures for job in failure.jobs} == hit
    assert ends(log) == [6 if job in hit else 4 for job in range(4)]
    assert {failure.kind for failure in log.failures} == {kind}
    whole = kind not in ("gpu_reset", "ecc_uncorrectable")
    assert [failure.card for failure in log.failures] == [None if whole else 1] * len(log.failures)


def test_a_switch_has_so_many_machines_and_no_more() -> None:
    # six machines, three a switch; machine 4 names the second switch: jobs 3, 4 and 5 are hit
    shared = {"switch": SharedEvents(10**9 * HOUR, LogNormal(2 * HOUR, 0), 3)}
    spec = pool(6, model=failures(shared=shared))
    log = run(plan(spec, forced=(at(1, "switch", None, machine=4),)), job_set([(0, 4)] * 6), rates(), STREAMS)
    assert [(f.machine, f.back_us / HOUR, f.promise_kept) for f in log.failures] == [
        (3, 3, None), (4, 3, None), (5, 3, None)
    ]  # fmt: skip
    assert ends(log) == [4, 4, 4, 7, 7, 7]


def test_a_shared_event_moves_no_machine_and_keeps_the_disk() -> None:
    lost = [LeaseSpan(0, 1, 0, None, disk_kept=False)]
    for kind, end in (("switch", 5.5), ("site", 5.5), ("node", 7)):
        log = run(
            plan(pool(1, leases=lost), checkpoint=HOURLY, forced=(at(2.5, kind),)),
            job_set([(0, 4)]),
            rates(),
            STREAMS,
        )
        # 2 h are saved: 3.5 + 2 h where the disk is still there, 3.5 + 4 h where it is not
        assert ends(log) == [7.5 if kind == "node" else end]


def test_site_events_are_the_same_in_all_pools_and_strategies_of_the_site() -> None:
    shared = {"site": SharedEvents(100 * HOUR, LogNormal(HOUR, 0.7))}
    model = failures(shared=shared)
    here = PoolSpec("a", 8, 40.0, "A100-40G", True, (LeaseSpan(0, 2, 0, None),), model, site="x")
    there = PoolSpec("b", 1, 24.0, "RTX3090", True, (LeaseSpan(0, 3, 0, None),), model, site="x")
    elsewhere = PoolSpec("c", 1, 24.0, "RTX3090", True, (LeaseSpan(0, 3, 0, None),), model, site="y")
    times = [
        {(e.at_us, e.outage.repair_us) for e in draw_events(spec, n, 1000 * HOUR, STREAMS)}
        for spec, n in ((here, 2), (there, 3), (elsewhere, 3))
    ]
    assert times[0] == times[1] != times[2]
    assert len(times[0]) > 3


# --- silent corruption ------------------------------------------------------------------------


@pytest.mark.parametrize(("found", "end", "bad", "redone"), [(0.0, 4, True, 0), (1.0, 8, False, 1)])
def test_silent_corruption_spoils_the_result(found: float, end: float, bad: bool, redone: int) -> None:
    spec = pool(1, model=failures(found=found))
    log = run(
        plan(spec, checkpoint=HOURLY, forced=(at(1.5, "silent_corruption"),)),
        job_set([(0, 4)]),
        rates(),
        STREAMS,
    )
    (job,) = log.jobs
    assert (job.end_us, job.state, job.bad, job.redone, job.interruptions) == (
        end * HOUR,
        "done",
        bad,
        redone,
        0,
    )
    assert log.failures == ()
    if redone:
        assert [(a.ended, a.work_us, a.lost_us) for a in log.attempts] == [
            ("bad_result", 0, 4 * HOUR), ("done", 4 * HOUR, 0)
        ]  # fmt: skip


def test_a_checkpoint_from_before_the_corruption_makes_the_job_sound() -> None:
    # corrupt at 1.5 h; a reset at 1.8 h goes back to 1 h: sound. A reset at 2.5 h goes back to 2 h: bad.
    for reset, bad in ((1.8, False), (2.5, True)):
        forced = (at(1.5, "silent_corruption"), at(reset, "gpu_reset", 0))
        spec = pool(1, model=failures(found=0.0))
        log = run(plan(spec, checkpoint=HOURLY, forced=forced), job_set([(0, 4)]), rates(), STREAMS)
        assert log.jobs[0].bad is bad


def test_corruption_between_two_jobs_and_after_a_failure_hits_nobody() -> None:
    model = failures(found=0.0, detect_us=(HOUR, HOUR))
    forced = (at(1, "gpu_reset", None), at(1.5, "silent_corruption", machine=0), at(9, "silent_corruption"))
    log = run(plan(pool(1, model=model), forced=forced), job_set([(0, 2)]), rates(), STREAMS)
    assert [job.bad for job in log.jobs] == [False]
    assert log.jobs[0].end_us == 4 * HOUR + 10 * MINUTE


def test_a_job_of_two_stays_loses_what_it_had_saved_too() -> None:
    # saved 1 h, reset at 1.5 h, corrupt at 2 h, ends at 4.5 h: found, and all 4 h are done again
    forced = (at(1.5, "gpu_reset", 0), at(2, "silent_corruption"))
    spec = pool(1, model=failures(found=1.0))
    log = run(plan(spec, checkpoint=HOURLY, forced=forced), job_set([(0, 4)]), rates(), STREAMS)
    assert ends(log) == [8.5]
    rows = [(a.ended, a.work_us / HOUR, a.lost_us / HOUR, a.voided_card_us / HOUR) for a in log.attempts]
    assert rows == [("gpu_reset", 1, 0.5, 0), ("bad_result", 0, 3, 1), ("done", 4, 0, 0)]


# --- how long it lasts ------------------------------------------------------------------------


def test_a_hang_is_noticed_late() -> None:
    # one failure of two kinds: resets hang, nodes do not; 10 min to notice, 10 min to reset
    model = failures(hangs=Hangs(1.0, LogNormal(10 * MINUTE, 0), ("gpu_reset",)))
    for kind, away in (("gpu_reset", 20 * MINUTE), ("node", 10 * MINUTE)):
        log = run(
            plan(pool(1, model=model), forced=(at(1, kind, None),)), job_set([(0, 2)]), rates(), STREAMS
        )
        assert log.failures[0].back_us == HOUR + away
        assert log.jobs[0].end_us == 3 * HOUR + away


def test_no_spare_means_a_long_wait_and_a_broken_promise() -> None:
    model = failures(no_spare=NoSpare(1.0, LogNormal(24 * HOUR, 0)))
    log = run(plan(pool(1, model=model), forced=(at(1, "node", None),)), job_set([(0, 2)]), rates(), STREAMS)
    assert (log.failures[0].back_us, log.failures[0].promise_kept) == (25 * HOUR + 10 * MINUTE, False)
    log = run(
        plan(pool(1, model=model), forced=(at(1, "gpu_reset", None),)), job_set([(0, 2)]), rates(), STREAMS
    )
    assert log.failures[0].back_us == HOUR + 10 * MINUTE  # a reset needs no other machine


@pytest.mark.parametrize(("count", "back"), [(2, (1, 2, 101)), (1, (1, 101, 102)), (0, (101, 102, 103))])
def test_a_few_spares_and_their_repair(count: int, back: tuple[float, ...]) -> None:
    # Three machines fail at 1, 2 and 3 h; a repair takes 100 h, a move 10 min. With two spares the third
    # failure waits for the first repair, done at 101 h; with one, so does the second, and the third waits
    # for the second repair; with none, each machine waits for its own.
    model = failures(spares=Spares(count, LogNormal(100 * HOUR, 0)))
    forced = tuple(at(hour, "node", None, machine=i) for i, hour in enumerate((1, 2, 3)))
    log = run(plan(pool(3, model=model), forced=forced), job_set([(0, 1)]), rates(), STREAMS)
    assert [(f.back_us - 10 * MINUTE) / HOUR for f in log.failures] == list(back)


# --- maintenance ------------------------------------------------------------------------------


def upkeep(announced: bool = True, together: int = 1) -> Maintenance:
    """Every 100 h from 10 h on, 2 h a machine."""
    return Maintenance(10 * HOUR, 100 * HOUR, 2 * HOUR, announced, together)


def test_maintenance_takes_the_machines_in_turn() -> None:
    events = draw_events(pool(3, model=failures(maintenance=upkeep())), 3, 200 * HOUR, STREAMS)
    assert [(e.at_us // HOUR, e.machine) for e in events] == [
        (10, 0), (12, 1), (14, 2), (110, 0), (112, 1), (114, 2)
    ]  # fmt: skip
    events = draw_events(pool(3, model=failures(maintenance=upkeep(together=2))), 3, 100 * HOUR, STREAMS)
    assert [(e.at_us // HOUR, e.machine) for e in events] == [(10, 0), (10, 1), (12, 2)]


def test_an_announced_maintenance_loses_no_work() -> None:
    # 15 h of work; away from 10 to 12 h; the work goes on: ends at 17 h. The lease is down for 2 h.
    spec = pool(1, leases=[LeaseSpan(0, 1, 0, None, disk_kept=False)], model=failures(maintenance=upkeep()))
    log = run(plan(spec, hours=50), job_set([(0, 15)]), rates(), STREAMS)
    assert ends(log) == [17]
    assert [(a.ended, a.work_us / HOUR, a.lost_us) for a in log.attempts] == [
        ("maintenance", 10, 0),
        ("done", 5, 0),
    ]
    assert log.leases[0].down_card_us == 2 * HOUR
    assert (log.jobs[0].interruptions, log.jobs[0].wait_us) == (1, 2 * HOUR)


def test_an_unannounced_maintenance_loses_what_was_not_saved() -> None:
    spec = pool(1, model=failures(maintenance=upkeep(announced=False)))
    log = run(
        plan(spec, checkpoint=CheckpointSpec(4 * HOUR, 0), hours=50), job_set([(0, 15)]), rates(), STREAMS
    )
    assert ends(log) == [12 + 7]
    assert log.attempts[0].lost_us == 2 * HOUR


def test_a_job_finds_another_machine_during_maintenance() -> None:
    # two machines, one job: at 10 h it leaves machine 0 for machine 1, at 12 h it goes back; done at 15 h
    spec = pool(2, model=failures(maintenance=upkeep()))
    log = run(plan(spec, hours=50), job_set([(0, 15)]), rates(), STREAMS)
    assert ends(log) == [15]
    assert [a.cards for a in log.attempts] == [(0,), (1,), (0,)]


# --- new machines -----------------------------------------------------------------------------


def test_infant_failures_happen_only_while_the_machine_is_new() -> None:
    # 40 failures an hour on top of none worth speaking of, in the first hour after lease and replacement
    model = failures(1e6, "node", infancy=Infancy(4e7 + 1, HOUR), migration_us=(0, 0))
    leases = [LeaseSpan(0, 1, 5 * HOUR, None)]
    log = run(plan(pool(1, leases=leases, model=model), hours=40), job_set([]), rates(), STREAMS)
    times = [failure.at_us / HOUR for failure in log.failures]
    assert times[0] == pytest.approx(5, abs=0.3)
    # each replacement begins a new hour, and 40 an hour never leave one free: it goes on to the horizon
    assert max(b - a for a, b in pairwise(times)) < 1
    # a reset replaces nothing: after the first hour all is quiet
    model = failures(1e6, "gpu_reset", infancy=Infancy(4e7 + 1, HOUR), reset=LogNormal(0, 0.0))
    log = run(plan(pool(1, leases=leases, model=model), hours=40), job_set([]), rates(), STREAMS)
    assert len(log.failures) > 10
    assert all(5 <= failure.at_us / HOUR < 6 for failure in log.failures)


# --- at the edges -----------------------------------------------------------------------------


def test_a_failure_in_the_instant_of_completion_comes_too_late() -> None:
    log = run(plan(pool(1), forced=(at(4),)), job_set([(0, 4)]), rates(), STREAMS)
    assert (ends(log), log.failures[0].jobs, log.jobs[0].interruptions) == ([4], (), 0)


def test_a_failure_as_a_checkpoint_is_complete_keeps_it_and_one_moment_earlier_spoils_it() -> None:
    # an hour of work, six minutes of writing: complete at 1:06
    for hour, kept in ((1.1, HOUR), (1.05, 0), (1.0, 0)):
        log = run(
            plan(pool(1), checkpoint=CheckpointSpec(HOUR, 6 * MINUTE), forced=(at(hour),)),
            job_set([(0, 4)]),
            rates(),
            STREAMS,
        )
        assert log.attempts[0].work_us == kept
        assert log.attempts[0].lost_us == HOUR - kept


def test_a_failure_at_the_end_of_the_lease_happens_before_it() -> None:
    leases = [LeaseSpan(0, 1, 0, 3 * HOUR), LeaseSpan(1, 1, 3 * HOUR, None)]
    log = run(plan(pool(2, leases=leases), forced=(at(3),)), job_set([(0, 4)]), rates(), STREAMS)
    assert log.attempts[0].ended == "node"
    assert ends(log) == [7]


def test_a_failure_during_start_up_costs_the_start_up() -> None:
    log = run(plan(pool(1), forced=(at(0.5),)), job_set([(0, 4)]), rates(option(startup_us=HOUR)), STREAMS)
    assert ends(log) == [5.5]  # a restart takes no time here
    assert (log.attempts[0].startup_us, log.attempts[0].lost_us) == (30 * MINUTE, 0)


def test_no_second_failure_during_a_migration_and_the_next_one_after_it() -> None:
    forced = (at(1, "node", 2), at(2, "gpu_fatal", 9), at(2.5, "network", 9), at(3.5, "node", 1))
    log = run(plan(pool(1), forced=forced), job_set([(0, 2)]), rates(), STREAMS)
    assert [failure.kind for failure in log.failures] == ["node", "node"]
    assert ends(log) == [6.5]


def test_a_failure_at_the_horizon_is_not_of_the_run() -> None:
    log = run(plan(pool(1), forced=(at(5),), hours=5), job_set([(0, 9)]), rates(), STREAMS)
    assert (log.failures, log.jobs[0].state, log.jobs[0].progress) == ((), "running", 5 / 9)


def test_a_shared_event_hits_a_machine_whose_first_card_is_away() -> None:
    # card 0 is reset from 1 to 4 h, the switch is away from 2 to 3 h: card 0 is still away at 3 h
    forced = (at(1, "gpu_reset", 3), at(2, "switch", 1))
    log = run(plan(pool(1, per_machine=2), forced=forced), job_set([(0, 5), (0, 5)]), rates(), STREAMS)
    # job 0, the older one, takes card 1 at 3 h; job 1 has to wait for card 0 until 4 h
    assert ends(log) == [8, 9]
    assert log.leases[0].down_card_us == 3 * HOUR + HOUR
