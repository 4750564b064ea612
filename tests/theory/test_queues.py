"""Simulated means against closed forms, each within a 99 % interval that is itself narrow."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from sim.engine import run
from sim.model.fleet import CheckpointSpec, LogNormal
from sim.model.job import JobSet
from sim.streams import Streams
from sim.units import HOUR
from tests.build import failures, job_set, option, plan, pool, rates

Draw = Callable[[np.random.Generator, int], np.ndarray]


def erlang_c(arrivals: float, service: float, servers: int) -> tuple[float, float]:
    """Probability of waiting, and mean wait, of M/M/c (Erlang 1917)."""
    load = arrivals / service
    blocked = 1.0
    for k in range(1, servers + 1):
        blocked = load * blocked / (k + load * blocked)
    usage = load / servers
    waits = blocked / (1 - usage * (1 - blocked))
    return waits, waits / (servers * service - arrivals)


def test_the_formula_gives_the_published_values() -> None:
    assert erlang_c(7.2, 1, 8) == pytest.approx((0.701533, 0.876916), abs=5e-7)
    assert erlang_c(6, 1, 8) == pytest.approx((0.356981, 0.178491), abs=5e-7)


def jobs_of(rate: float, draw: Draw, n: int, seed: int) -> JobSet:
    random = np.random.default_rng(seed)
    submits = np.cumsum(random.exponential(1 / rate, n))
    return job_set(list(zip(submits.tolist(), draw(random, n).tolist(), strict=True)))


def mean_waits(rate: float, draw: Draw, cards: int, replications: int, n: int) -> np.ndarray:
    """One row a replication: mean wait after a warm-up of a tenth, and two controls of mean 0.

    The controls are how far mean gap and mean run time of the sample are from their known means
    (run times here have mean 1): they explain most of the noise, so fewer jobs give the same interval.
    """
    rows = []
    for seed in range(replications):
        jobs = jobs_of(rate, draw, n, seed)
        log = run(plan(pool(cards), hours=10 * n), jobs, rates(), Streams(0))
        wait = np.mean([job.wait_us / HOUR for job in log.jobs[n // 10 :]])
        work = np.mean([job.work / HOUR for job in jobs.jobs])
        rows.append((wait, jobs.jobs[-1].submit_us / HOUR / n - 1 / rate, work - 1))
    return np.array(rows)


def assert_mean(rows: np.ndarray, truth: float, half_width: float = 0.05) -> None:
    """The 99 % interval holds the truth and is no wider than this share of it.

    `rows`: values, or values with controls (regression-adjusted mean, Lavenberg and Welch 1981).
    """
    values, controls = (rows, rows[:, None][:, 1:]) if rows.ndim == 1 else (rows[:, 0], rows[:, 1:])
    used = controls[:, np.ptp(controls, axis=0) > 1e-9]
    design = np.column_stack([np.ones(len(values)), used])
    fit, *_ = np.linalg.lstsq(design, values, rcond=None)
    freedom = len(values) - design.shape[1]
    variance = ((values - design @ fit) ** 2).sum() / freedom * np.linalg.inv(design.T @ design)[0, 0]
    half = stats.t.ppf(0.995, freedom) * math.sqrt(variance)
    assert half <= half_width * truth, f"half-width {half:.4f} of {truth:.4f}: too few jobs"
    assert abs(fit[0] - truth) <= half, f"{fit[0]:.4f} +- {half:.4f} misses {truth:.4f}"


@pytest.mark.parametrize(("rate", "n", "replications"), [(6.0, 10_000, 40)])
def test_m_m_8(rate: float, n: int, replications: int) -> None:
    waits = mean_waits(rate, lambda r, k: r.exponential(1, k), 8, replications, n)
    assert_mean(waits, erlang_c(rate, 1, 8)[1])


@pytest.mark.long
def test_m_m_8_at_load_0_9() -> None:
    waits = mean_waits(7.2, lambda r, k: r.exponential(1, k), 8, 110, 60_000)
    assert_mean(waits, erlang_c(7.2, 1, 8)[1], 0.02)


def test_m_d_1() -> None:
    waits = mean_waits(0.5, lambda _, k: np.ones(k), 1, 20, 6_000)
    assert_mean(waits, 0.5)


def test_m_g_1_by_pollaczek_and_khinchine() -> None:
    # gamma with shape 2 and mean 1: E[S^2] = 1.5
    waits = mean_waits(0.6, lambda r, k: r.gamma(2, 0.5, k), 1, 16, 7_000)
    assert_mean(waits, 0.6 * 1.5 / (2 * 0.4))


def test_littles_law_holds_in_a_run() -> None:
    n = 5_000
    jobs = jobs_of(6, lambda r, k: r.exponential(1, k), n, 3)
    log = run(plan(pool(8), hours=1e6), jobs, rates(), Streams(0))
    end = max(job.end_us or 0 for job in log.jobs)
    changes = sorted(
        [(job.job, jobs.jobs[job.job].submit_us, 1) for job in log.jobs]
        + [(job.job, job.start_us or 0, -1) for job in log.jobs],
        key=lambda change: change[1],
    )
    area, length, last = 0, 0, 0
    for _, at, step in changes:
        area += length * (at - last)
        length, last = length + step, at
    in_queue = area / end
    assert in_queue == pytest.approx(n / end * np.mean([job.wait_us for job in log.jobs]))


def first_come_first_served(jobs: JobSet, cards: int) -> list[tuple[int, int]]:
    """A plain second implementation: (start, end) of each job."""
    free = [0] * cards
    times = []
    for job in jobs.jobs:
        start = max(job.submit_us, heapq.heappop(free))
        heapq.heappush(free, start + round(job.work))
        times.append((start, start + round(job.work)))
    return times


def test_job_by_job_like_a_plain_heap_loop() -> None:
    jobs = jobs_of(6.5, lambda r, k: r.lognormal(-1, 1.2, k), 3_000, 11)
    log = run(plan(pool(8), hours=1e6), jobs, rates(), Streams(0))
    assert [(job.start_us, job.end_us) for job in log.jobs] == first_come_first_served(jobs, 8)


def test_availability_of_cards_with_as_many_repairs_as_needed() -> None:
    # MTBF 2000 h, repair 4 h: 2000 / 2004 = 0.998004 of the time up
    model = failures(2000, "gpu_reset", reset=LogNormal(4 * HOUR, 0.0))
    log = run(plan(pool(400, model=model), hours=8760 * 3), job_set([(0, 1)]), rates(), Streams(5))
    up = np.array([1 - lease.down_card_us / log.horizon_us for lease in log.leases])
    half = stats.t.ppf(0.995, len(up) - 1) * up.std(ddof=1) / math.sqrt(len(up))
    assert half < 0.0002
    assert abs(up.mean() - 2000 / 2004) <= half


def expected_hours(work: float, every: float, cost: float, rate: float, move: float) -> float:
    """Mean time to finish with checkpoints (Young 1974, Daly 2006; no checkpoint after the last piece)."""
    pieces = math.ceil(work / every)
    last = work - (pieces - 1) * every
    sum_of_pieces = (pieces - 1) * math.expm1(rate * (every + cost)) + math.expm1(rate * last)
    return (1 / rate + move) * sum_of_pieces


def test_the_formula_of_the_time_to_finish_gives_the_published_values() -> None:
    assert expected_hours(24, 1, 20 / 3600, 1 / 50, 1 / 6) == pytest.approx(24.453214, abs=5e-7)
    assert expected_hours(100, 0.5, 20 / 3600, 1 / 50, 1 / 6) == pytest.approx(101.957127, abs=5e-7)


def test_time_to_finish_with_checkpoints_and_migrations() -> None:
    # 200 machines, each with one job of 24 h; MTBF 50 h, moved in 10 min, checkpoint each hour, 20 s
    hours = []
    for seed in range(15):
        log = run(
            plan(
                pool(200, model=failures(50, "node")),
                checkpoint=CheckpointSpec(HOUR, HOUR // 180),
                hours=500,
            ),
            job_set([(0, 24)] * 200),
            rates(),
            Streams(seed),
        )
        hours += [(job.end_us or 0) / HOUR for job in log.jobs]
    values = np.array(hours)
    assert_mean(values, expected_hours(24, 1, 20 / 3600, 1 / 50, 1 / 6), 0.01)


def test_a_gang_of_k_fails_at_k_times_the_rate() -> None:
    # 4 cards, each failing each 200 h on average: the gang is hit each 50 h of running
    hits, running = 0, 0.0
    for seed in range(30):
        log = run(
            plan(pool(4, model=failures(200, "node")), hours=3000),
            job_set([(0, 1e6)], gpus=4),
            rates(option(4, spans=True)),
            Streams(seed),
        )
        hits += len(log.failures)
        running += sum(a.end_us - a.start_us for a in log.attempts) / HOUR
    low, high = stats.chi2.ppf([0.005, 0.995], [2 * hits, 2 * hits + 2]) / 2 / running
    assert low <= 4 / 200 <= high
    assert (high - low) / 2 <= 0.08 * 4 / 200
