"""Means of simulated queues, and intervals around them that are narrow after few jobs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from sim.engine import run
from sim.model.job import JobSet
from sim.streams import Streams
from sim.units import HOUR
from tests.build import job_set, plan, pool, rates

__all__ = [
    "Service",
    "assert_mean",
    "constant",
    "erlang_c",
    "exponential",
    "gamma_2",
    "jobs_of",
    "mean_waits",
    "one_server",
    "uniform",
]


class Service:
    """Run times of mean 1 from uniform numbers (`draw`), with their mean square."""

    def __init__(self, draw: Callable[[np.ndarray], np.ndarray], mean_square: float) -> None:
        self.draw = draw
        self.mean_square = mean_square


exponential = Service(lambda u: -np.log1p(-u), 2.0)
constant = Service(np.ones_like, 1.0)
uniform = Service(lambda u: 0.5 + u, 13 / 12)
gamma_2 = Service(lambda u: stats.gamma.ppf(u, 2, scale=0.5), 1.5)
"""Gamma with shape 2."""


def erlang_c(arrivals: float, service: float, servers: int) -> tuple[float, float]:
    """Probability of waiting, and mean wait, of M/M/c (Erlang 1917)."""
    load = arrivals / service
    blocked = 1.0
    for k in range(1, servers + 1):
        blocked = load * blocked / (k + load * blocked)
    usage = load / servers
    waits = blocked / (1 - usage * (1 - blocked))
    return waits, waits / (servers * service - arrivals)


def one_server(rate: float, service: Service, speed: float = 1.0) -> float:
    """Mean wait of M/G/1, the server `speed` times as fast (Pollaczek 1930, Khinchine 1932)."""
    return rate * service.mean_square / speed**2 / (2 * (1 - rate / speed))


def jobs_of(rate: float, service: Service, n: int, seed: int) -> JobSet:
    """Jobs at exponential gaps, hours."""
    gaps, luck = _draws(rate, n, seed)
    return job_set(list(zip(np.cumsum(gaps).tolist(), service.draw(luck).tolist(), strict=True)))


def _draws(rate: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.exponential(1 / rate, n), random.random(n)


def _lindley(gaps: np.ndarray, services: np.ndarray) -> np.ndarray:
    """Waits before one server (Lindley 1952), without a simulation."""
    path = np.concatenate([[0.0], np.cumsum(services[:-1] - gaps[1:])])
    return path - np.minimum.accumulate(path)


def mean_waits(
    rate: float, service: Service, cards: int, replications: int, n: int, beside: Service = exponential
) -> np.ndarray:
    """One row a replication: mean wait after a warm-up of a tenth, and three controls of mean 0.

    The controls are how far other means of the same random numbers are from their known values:
    of the gaps, of the run times, and of the waits before one server `cards` times as fast whose
    run times are `beside`. They explain most of the noise, so that few jobs give a narrow interval.
    """
    rows = []
    for seed in range(replications):
        log = run(plan(pool(cards), hours=10 * n), jobs_of(rate, service, n, seed), rates(), Streams(0))
        gaps, luck = _draws(rate, n, seed)
        simple = _lindley(gaps, beside.draw(luck) / cards)[n // 10 :].mean()
        rows.append(
            (
                np.mean([job.wait_us / HOUR for job in log.jobs[n // 10 :]]),
                gaps.mean() - 1 / rate,
                service.draw(luck).mean() - 1,
                simple - one_server(rate, beside, cards),
            )
        )
    return np.array(rows)


def assert_mean(rows: np.ndarray, truth: float, half_width: float = 0.05) -> None:
    """The 99 % interval holds the truth and is no wider than this share of it to either side.

    `rows`: values, or values with controls (regression-adjusted mean, Lavenberg and Welch 1981).
    """
    values, controls = (rows, rows[:, None][:, 1:]) if rows.ndim == 1 else (rows[:, 0], rows[:, 1:])
    used = controls[:, np.ptp(controls, axis=0) > 1e-9]
    design = np.column_stack([np.ones(len(values)), used])
    fit, *_ = np.linalg.lstsq(design, values, rcond=None)
    freedom = len(values) - design.shape[1]
    variance = ((values - design @ fit) ** 2).sum() / freedom * np.linalg.inv(design.T @ design)[0, 0]
    half = stats.t.ppf(0.995, freedom) * math.sqrt(variance)
    print(f"{fit[0]:.5f} +- {half / truth:.2%} against {truth:.5f}: off by {fit[0] / truth - 1:+.2%}")
    assert half <= half_width * truth, f"half-width {half:.4f} of {truth:.4f}: too few jobs"
    assert abs(fit[0] - truth) <= half, f"{fit[0]:.4f} +- {half:.4f} misses {truth:.4f}"
