"""The first use of a base model on a machine fetches it there, once, by pencil."""

from __future__ import annotations

import pytest

from sim.engine import run
from sim.model.fleet import ForcedFailure, LeaseSpan
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, job_set, option, plan, pool, rates

STREAMS = Streams(7)
DAYTIME = ((8 * HOUR, 20 * HOUR), (32 * HOUR, 44 * HOUR))
STAGED = option(startup_us=2 * MINUTE, restart_us=2 * MINUTE, stage_us=20 * MINUTE, stage_key="m")


def startups(log: RunLog) -> list[float]:
    return [a.startup_us / MINUTE for a in log.attempts]


def test_one_transfer_serves_the_jobs_of_one_machine() -> None:
    # the second comes ten minutes into the transfer and waits for its rest, the third finds the model
    jobs = job_set([(0, 1), (10 / 60, 1), (0.5, 1)])
    log = run(plan(pool(1, per_machine=3)), jobs, rates(STAGED), STREAMS)
    assert startups(log) == [22, 12, 2]


def test_every_machine_has_a_disk_of_its_own() -> None:
    log = run(plan(pool(2)), job_set([(0, 1), (10 / 60, 1)]), rates(STAGED), STREAMS)
    assert startups(log) == [22, 22]


def test_a_gang_waits_for_the_last_of_its_machines() -> None:
    # three cards on two machines, of which one has half the model by then and the other none of it
    wide = option(3, startup_us=2 * MINUTE, stage_us=20 * MINUTE, stage_key="m", spans=True)
    jobs = JobSet(
        (JobShape("one", None, (1,)), JobShape("three", None, (3,))),
        (Job(0, "a", 0, 0, HOUR), Job(1, "b", 1, 10 * MINUTE, HOUR), Job(2, "c", 0, 11 * MINUTE, HOUR)),
    )
    ways = RateTable(options={(0, OFFER): (STAGED,), (1, OFFER): (wide,)})
    log = run(plan(pool(3, per_machine=2)), jobs, ways, STREAMS)
    # best fit gives the last job the card beside the first: the model is there in nine minutes
    assert [{card // 2 for card in a.cards} for a in log.attempts] == [{0}, {1, 2}, {0}]
    assert startups(log) == [22, 22, 11]


@pytest.mark.parametrize(("kept", "again"), [(True, 22), (False, 22)])
def test_a_transfer_is_broken_off_with_its_machine_and_what_is_there_stays_with_the_disk(
    kept: bool, again: float
) -> None:
    leases = [LeaseSpan(0, 1, 0, None, disk_kept=kept)]
    forced = (ForcedFailure(10 * MINUTE, "node", OFFER, 0, 0, 0), ForcedFailure(HOUR, "node", OFFER, 0, 0, 0))
    log = run(plan(pool(1, leases=leases), forced=forced), job_set([(0, 2)]), rates(STAGED), STREAMS)
    assert startups(log) == [10, again, 2 if kept else 22]


def test_a_new_lease_has_nothing_on_its_disk() -> None:
    leases = [LeaseSpan(0, 1, 0, HOUR), LeaseSpan(1, 1, 2 * HOUR, None)]
    log = run(plan(pool(2, leases=leases)), job_set([(0, 1)]), rates(STAGED), STREAMS)
    assert startups(log) == [22, 22]


def test_the_model_stays_on_the_disk_outside_of_the_windows() -> None:
    log = run(
        plan(pool(1, leases=[LeaseSpan(0, 1, 0, None, windows=DAYTIME)]), hours=48),
        job_set([(0, 15)]),
        rates(STAGED),
        STREAMS,
    )
    assert startups(log) == [22, 2]
