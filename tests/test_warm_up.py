"""MSER-5 on series whose start-up phase is known."""

from __future__ import annotations

import numpy as np
import pytest

from sim.engine import run
from sim.experiments.warm_up import mser5, start_up_us, too_short
from sim.streams import Streams
from sim.units import DAY, HOUR
from tests.build import job_set, plan, pool, rates
from tests.event_checks import result_of, scenario


def test_a_start_up_of_known_length_is_cut_whole() -> None:
    # 100 zeros, then 300 values that go up and down around 10: in means of five, 20 of 0 and 60 that
    # alternate between 9.8 and 10.2. To cut all zeros leaves the spread 0.2 squared over 60 means.
    series = [0.0] * 100 + [11.0, 9.0] * 150
    assert mser5(series) == 100


def test_the_error_of_each_cut_by_pencil() -> None:
    # 20 means 4, 2, 0, 0 ...: nothing cut (20 - 36/20)/400 = 0.0455; one cut (4 - 4/19)/361 = 0.0105;
    # two cut 0.
    series = np.repeat([4.0, 2.0, *[0.0] * 18], 5)
    assert mser5(series) == 10
    # With noise that outweighs the 2, one cut is best: means 4, then 1 and -1 in turn: one cut gives
    # (19 - 1/19)/361 = 0.0525, two (18 - 0)/324 = 0.0556, none (35 - 25/20)/400 = 0.0844.
    series = np.repeat([4.0, *[1.0, -1.0] * 9, 1.0], 5)
    assert mser5(series) == 5


def test_a_level_series_needs_no_cut() -> None:
    assert mser5([3.0] * 200) == 0
    # Up and down by 1 from the first on: n / n squared falls with every mean that is kept.
    assert mser5(np.repeat([1.0, -1.0] * 20, 5)) == 0


@pytest.mark.parametrize("series", [[1.0] * 99, []])
def test_too_few_observations_say_nothing(series: list[float]) -> None:
    assert mser5(series) is None


def test_a_series_that_never_settles_says_nothing() -> None:
    # The squares of a straight line over n means go with the cube of n: the shorter the better.
    assert mser5([float(n) for n in range(500)]) is None


def test_the_scale_and_the_level_change_nothing() -> None:
    random = np.random.default_rng(5)
    series = np.concatenate([np.linspace(0, 5, 60), 5 + random.normal(size=540)])
    cut = mser5(series)
    assert cut is not None
    assert 20 <= cut <= 80
    assert mser5(series * 3.6e9 + 1e15) == cut


def test_the_start_up_of_a_run_ends_with_the_first_job_that_is_kept() -> None:
    # One card, a job an hour. The first 50 take 30 min and never wait; from the 51st on each takes 90
    # min, so that waits grow by half an hour from job to job: nothing settles.
    grows = job_set([(n, 0.5 if n < 50 else 1.5) for n in range(400)])
    horizon = 1000
    log = run(plan(pool(1), hours=horizon), grows, rates(), Streams(0))
    assert start_up_us(result_of(log, grows, scenario(horizon * HOUR))) is None
    # Two jobs an hour and 100 that are there at 0 h on two cards of an hour each: job 2n waits n hours
    # until those of the beginning are gone, and then none does.
    rows = [(0, 1)] * 40 + [(20 + n / 2, 0.5) for n in range(600)]
    falls = job_set(rows)
    log = run(plan(pool(2), hours=horizon), falls, rates(), Streams(0))
    waits = [record.wait_us / HOUR for record in log.jobs]
    assert waits[:6] == [0, 0, 1, 1, 2, 2]
    assert set(waits[40:]) == {0}
    assert start_up_us(result_of(log, falls, scenario(horizon * HOUR))) == 20 * HOUR


def test_a_warm_up_that_is_too_short_is_said() -> None:
    said = too_short([9 * DAY, 3 * DAY, None, 3 * DAY + DAY // 2, 0], 1 * DAY)
    # Known: 0, 3, 3.5 and 9 days; the lower middle one is 3.
    assert said == (
        "the start-up phase seems to last about 3.0 days (MSER-5 on the waits, median of 5 runs); "
        "experiment.warm_up is 1d"
    )
    assert too_short([9 * DAY, 3 * DAY, 3 * DAY], 3 * DAY) is None
    assert too_short([9 * DAY, None], 0) is None
    assert too_short([], 0) is None
