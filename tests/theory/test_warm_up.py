"""Where a run that starts with an empty fleet has warmed up, by the rule MSER-5 (White 1997).

The program leaves the warm-up to the user (`experiment.warm_up`); the rule lives here as a check
that the runs of the theory tests cut enough.
"""

from __future__ import annotations

import numpy as np
import pytest

from sim.engine import run
from sim.streams import Streams
from tests.build import plan, pool, rates
from tests.theory.means import exponential, jobs_of


def mser(values: np.ndarray, batch: int = 5) -> int:
    """Values to cut from the front, so that the error of the mean of the rest is estimated least.

    The first half alone is looked at: a minimum near its end says that the run is too short.
    """
    means = values[: values.size // batch * batch].reshape(-1, batch).mean(axis=1)
    errors = [means[cut:].var() / (means.size - cut) for cut in range(means.size // 2)]
    return int(np.argmin(errors)) * batch


@pytest.mark.parametrize("early", [60, 200])
def test_an_early_stretch_of_another_level_is_cut(early: int) -> None:
    noise = np.random.default_rng(2).standard_normal(2_000)
    noise[:early] += 6
    assert early <= mser(noise) <= early + 25
    assert mser(np.random.default_rng(3).standard_normal(2_000)) < 1_000


def test_a_tenth_of_a_run_is_warm_up_enough() -> None:
    # M/M/8 at load 0.75 from an empty fleet, mean of 12 runs job by job: as the theory tests cut it
    waits = np.zeros(3_000)
    for seed in range(12):
        log = run(plan(pool(8), hours=1e6), jobs_of(6, exponential, 3_000, seed), rates(), Streams(0))
        waits += [job.wait_us for job in log.jobs]
    assert waits[:5].sum() == 0  # nobody waits while the fleet fills
    assert 0 < mser(waits) <= 300
