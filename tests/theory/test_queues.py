"""Simulated waits against closed forms, each within a 99 % interval that is itself narrow."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from sim.engine import run
from sim.model.job import JobSet
from sim.streams import Streams
from sim.units import HOUR
from tests.build import job_set, option, plan, pool, rates
from tests.theory.laws import check_laws, waiting_times
from tests.theory.means import (
    Service,
    assert_mean,
    constant,
    erlang_c,
    exponential,
    gamma_2,
    jobs_of,
    mean_waits,
    one_server,
    uniform,
)


def test_the_formulas_give_the_published_values() -> None:
    assert erlang_c(7.2, 1, 8) == pytest.approx((0.701533, 0.876916), abs=5e-7)
    assert erlang_c(6, 1, 8) == pytest.approx((0.356981, 0.178491), abs=5e-7)
    assert erlang_c(0.75, 1, 1) == pytest.approx((0.75, 3))
    assert [one_server(rate, constant) for rate in (0.5, 0.9)] == pytest.approx([0.5, 4.5])
    assert one_server(0.75, exponential) == pytest.approx(3)


@pytest.mark.parametrize(("cards", "replications", "n"), [(2, 20, 1_500), (4, 20, 2_500), (8, 25, 4_000)])
def test_m_m_c_at_load_075(cards: int, replications: int, n: int) -> None:
    rate = 0.75 * cards
    assert_mean(mean_waits(rate, exponential, cards, replications, n), erlang_c(rate, 1, cards)[1])


ONE_SERVER = [(exponential, gamma_2), (constant, uniform), (gamma_2, exponential), (uniform, constant)]


@pytest.mark.parametrize(
    ("service", "beside"), ONE_SERVER, ids=["M/M/1", "M/D/1", "M/G/1 gamma", "M/G/1 uniform"]
)
def test_one_server_at_load_075(service: Service, beside: Service) -> None:
    assert_mean(mean_waits(0.75, service, 1, 20, 2_500, beside), one_server(0.75, service))


@pytest.mark.long
@pytest.mark.parametrize(
    ("cards", "load", "replications", "n"),
    [
        (2, 0.75, 40, 10_000),
        (4, 0.75, 40, 10_000),
        (8, 0.75, 60, 15_000),
        (8, 0.9, 60, 30_000),
        (32, 0.9, 60, 40_000),
    ],
)
def test_m_m_c_within_two_per_cent(cards: int, load: float, replications: int, n: int) -> None:
    rate = load * cards
    assert_mean(mean_waits(rate, exponential, cards, replications, n), erlang_c(rate, 1, cards)[1], 0.02)


@pytest.mark.long
@pytest.mark.parametrize("load", [0.5, 0.75, 0.9])
@pytest.mark.parametrize(
    ("service", "beside"), ONE_SERVER, ids=["M/M/1", "M/D/1", "M/G/1 gamma", "M/G/1 uniform"]
)
def test_one_server_within_two_per_cent(load: float, service: Service, beside: Service) -> None:
    assert_mean(mean_waits(load, service, 1, 60, 12_000, beside), one_server(load, service), 0.02)


def test_the_share_of_jobs_that_wait_is_erlangs() -> None:
    rows = []
    for seed in range(16):
        jobs = jobs_of(3, exponential, 1_500, seed)
        log = run(plan(pool(4), hours=1e6), jobs, rates(), Streams(0))
        gap = jobs.jobs[-1].submit_us / HOUR / 1_500 - 1 / 3
        work = np.mean([job.work for job in jobs.jobs]) / HOUR - 1
        rows.append((np.mean([job.wait_us > 0 for job in log.jobs[150:]]), gap, work))
    assert_mean(np.array(rows), erlang_c(3, 1, 4)[0])


def test_littles_law_holds_in_a_run() -> None:
    # mean number in the queue = arrival rate x mean wait, over the same window
    n = 5_000
    jobs = jobs_of(6, exponential, n, 3)
    log = run(plan(pool(8), hours=1e6), jobs, rates(), Streams(0))
    check_laws_of_whole_queue(log.horizon_us, waiting_times(log, jobs), [job.wait_us for job in log.jobs])
    littles = run(plan(pool(6), hours=500), jobs, rates(), Streams(0))  # cut while the queue is long
    assert sum(job.state == "waiting" for job in littles.jobs) > 10
    check_laws(littles, jobs)


def check_laws_of_whole_queue(horizon: int, spans: list[tuple[int, int]], waits: list[int]) -> None:
    """By sampling: the number of open spans at many times has the mean that Little's law says."""
    end = max(stop for _, stop in spans)
    times = np.linspace(0, end, 20_001)[1:]
    begun = np.searchsorted(np.sort([start for start, _ in spans]), times)
    over = np.searchsorted(np.sort([stop for _, stop in spans]), times)
    assert end < horizon
    assert (begun - over).mean() == pytest.approx(len(waits) / end * np.mean(waits), rel=0.02)


def first_come_first_served(jobs: JobSet, cards: int) -> list[tuple[int, int]]:
    """A plain second implementation: (start, end) of each job."""
    free = [0] * cards
    times = []
    for job in jobs.jobs:
        start = max(job.submit_us, heapq.heappop(free))
        heapq.heappush(free, start + round(job.work))
        times.append((start, start + round(job.work)))
    return times


@pytest.mark.parametrize("cards", [1, 8, 64])
def test_job_by_job_like_a_plain_heap_loop(cards: int) -> None:
    random = np.random.default_rng(11)
    submits = np.cumsum(random.exponential(1 / (0.9 * cards), 3_000))
    jobs = job_set(list(zip(submits.tolist(), random.lognormal(-0.7, 1.2, 3_000).tolist(), strict=True)))
    log = run(plan(pool(cards), hours=1e6), jobs, rates(), Streams(0))
    assert [(job.start_us, job.end_us) for job in log.jobs] == first_come_first_served(jobs, cards)


def machine_calls(machines: int, crews: int, mtbf: float, mttr: float, hours: float, seed: int) -> JobSet:
    """Repairs that a finite number of machines call for: the next call follows the end of the last repair.

    Made by a plain loop, as jobs are made before a run; the engine must then give the same ends.
    """
    random = np.random.default_rng(seed)
    calls = [(round(random.exponential(mtbf) * HOUR), machine) for machine in range(machines)]
    heapq.heapify(calls)
    free, rows = [0] * crews, []
    while calls[0][0] < hours * HOUR:
        at, machine = heapq.heappop(calls)
        work = max(1, round(random.exponential(mttr) * HOUR))
        end = max(at, heapq.heappop(free)) + work
        heapq.heappush(free, end)
        heapq.heappush(calls, (end + round(random.exponential(mtbf) * HOUR), machine))
        rows.append((at / HOUR, work / HOUR))
    return job_set(rows)


def machine_repair(machines: int, crews: int, mtbf: float, mttr: float) -> float:
    """Share of time that a machine is up: birth and death with a finite source."""
    weights = [1.0]
    for n in range(1, machines + 1):
        weights.append(weights[-1] * (machines - n + 1) / mtbf / (min(n, crews) / mttr))
    down = sum(n * weight for n, weight in enumerate(weights)) / sum(weights)
    return 1 - down / machines


@pytest.mark.parametrize(
    ("replications", "width"), [(14, 0.05), pytest.param(120, 0.02, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("crews", "published"), [(1, 0.955470), (2, None)])
def test_machine_repair_with_a_finite_source(
    crews: int, published: float | None, replications: int, width: float
) -> None:
    truth = machine_repair(32, crews, 200, 4)
    if published:
        assert truth == pytest.approx(published, abs=5e-7)
    hours, down = 12_000.0, []
    for seed in range(replications):
        jobs = machine_calls(32, crews, 200, 4, hours, seed)
        log = run(plan(pool(crews), hours=hours), jobs, rates(option()), Streams(0))
        away = sum(job.wait_us + job.run_us for job in log.jobs) / HOUR / (32 * hours)
        work = np.mean([job.work for job in jobs.jobs]) / HOUR - 4

        down.append((away, work))
    rows = np.array(down)
    assert_mean(rows, 1 - truth, width)
