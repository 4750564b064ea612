"""The same jobs in Ciw, an independent simulator of queues, and in the engine: the same times, job by job."""

from __future__ import annotations

import ciw
import numpy as np
import pytest

from sim.engine import run
from sim.model.job import JobSet
from sim.streams import Streams
from sim.units import HOUR
from tests.build import job_set, plan, pool, rates


def random_jobs(n: int, cards: int, seed: int) -> JobSet:
    """Log-normal run times at load 0.9; no two times are equal."""
    random = np.random.default_rng(seed)
    submits = np.cumsum(random.exponential(1 / (0.9 * cards), n))
    works = random.lognormal(-0.5, 1.0, n)
    return job_set(list(zip(submits.tolist(), works.tolist(), strict=True)))


def by_ciw(jobs: JobSet, cards: int) -> list[tuple[int, int]]:
    """Start and end of each job, microseconds, first come first served.

    Ciw takes gaps and service times in the order of arrival; it calculates in floating point, so
    its times are rounded. Its end is at the last departure.
    """
    submits = [job.submit_us for job in jobs.jobs]
    gaps = np.diff([0, *submits]).tolist()
    works = [round(job.work) for job in jobs.jobs]
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([*gaps, float("inf")])],
        service_distributions=[ciw.dists.Sequential(works)],
        number_of_servers=[cards],
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(submits[-1] + sum(works) + 1)
    records = sorted(simulation.get_all_records(), key=lambda record: record.arrival_date)
    return [(round(record.service_start_date), round(record.service_end_date)) for record in records]


@pytest.mark.parametrize(("cards", "seed"), [(1, 1), (3, 2), (16, 3)])
def test_the_same_times_job_by_job(cards: int, seed: int) -> None:
    jobs = random_jobs(400, cards, seed)
    log = run(plan(pool(cards), hours=1e6), jobs, rates(), Streams(0))
    assert len({job.end_us for job in log.jobs}) == 400
    assert [(job.start_us, job.end_us) for job in log.jobs] == by_ciw(jobs, cards)


@pytest.mark.long
@pytest.mark.parametrize("cards", [1, 8, 64])
def test_the_same_times_of_many_jobs(cards: int) -> None:
    jobs = random_jobs(20_000, cards, cards)
    log = run(plan(pool(cards), hours=1e6), jobs, rates(), Streams(0))
    assert [(job.start_us, job.end_us) for job in log.jobs] == by_ciw(jobs, cards)


def test_the_mean_number_in_the_queue_is_the_same() -> None:
    jobs = random_jobs(400, 2, 9)
    log = run(plan(pool(2), hours=1e6), jobs, rates(), Streams(0))
    starts = [start for start, _ in by_ciw(jobs, 2)]
    waits = [start - job.submit_us for start, job in zip(starts, jobs.jobs, strict=True)]
    assert sum(waits) == sum(job.wait_us for job in log.jobs)
    assert max(waits) > HOUR
