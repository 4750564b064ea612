"""Intervals cover the truth as often as they say, on queues whose mean wait is known."""

import numpy as np
import pytest

from sim.experiments.bounds import erlang_wait
from sim.experiments.statistics import mean_interval

EXPERIMENTS, REPLICATIONS, WARM_UP, JOBS = 1000, 20, 100, 400


def mean_waits(load: float, cards: int, seed: int) -> np.ndarray:
    """Mean wait of each replication of each experiment: M/M/c, all at once, after a warm-up.

    A warm-up of a hundred jobs brings the queue near its steady state; times are in mean run times.
    """
    random = np.random.default_rng(seed)
    runs = EXPERIMENTS * REPLICATIONS
    free = np.zeros((runs, cards))
    total = np.zeros(runs)
    for job in range(WARM_UP + JOBS):
        free = np.maximum(free - random.exponential(1 / (load * cards), (runs, 1)), 0.0)
        first = free.argmin(axis=1)
        wait = free[np.arange(runs), first]
        if job >= WARM_UP:
            total += wait
        free[np.arange(runs), first] += random.exponential(size=runs)
    return (total / JOBS).reshape(EXPERIMENTS, REPLICATIONS)


@pytest.mark.parametrize(("load", "cards"), [(0.3, 1), (0.5, 2), (0.6, 4)])
def test_intervals_cover_the_known_mean(load, cards):
    truth = erlang_wait(load * cards, cards, 1.0)[1]
    covered = 0
    for values in mean_waits(load, cards, seed=2026):
        found = mean_interval(values.tolist(), 0.95)
        covered += found.low <= truth <= found.high
    assert 0.93 <= covered / EXPERIMENTS <= 0.97
