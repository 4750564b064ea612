"""Intervals and quantiles against values worked by hand or known from tables."""

from __future__ import annotations

import math

import pytest

from sim.experiments.statistics import (
    NEEDS_TWO,
    mean_interval,
    paired_difference,
    quantiles,
    wilson_interval,
)


def test_interval_is_of_the_mean_not_of_the_samples():
    # s = sqrt(40 / 4) = 3.1623, t(4) = 2.7764, half-width 2.7764 * 3.1623 / sqrt(5) = 3.9265
    interval = mean_interval([10, 12, 14, 16, 18], 0.95)
    assert interval.mean == 14
    assert interval.n == 5
    assert interval.low == pytest.approx(10.0735, abs=5e-5)
    assert interval.high == pytest.approx(17.9265, abs=5e-5)


@pytest.mark.parametrize(("confidence", "t"), [(0.90, 6.3138), (0.95, 12.7062), (0.99, 63.6567)])
def test_two_values_use_student_with_one_degree_of_freedom(confidence, t):
    # values 0 and 2: mean 1, s = sqrt(2), half-width t * sqrt(2) / sqrt(2) = t
    interval = mean_interval([0, 2], confidence)
    assert interval.high - 1 == pytest.approx(t, rel=1e-5)


def test_one_value_has_a_mean_and_no_limits():
    interval = mean_interval([5.0])
    assert (interval.mean, interval.low, interval.high, interval.n) == (5.0, None, None, 1)
    assert interval.reason == NEEDS_TWO


@pytest.mark.parametrize("values", [[], [None], [None, math.nan, math.inf]])
def test_nothing_defined_has_no_mean(values):
    interval = mean_interval(values)
    assert (interval.mean, interval.low, interval.high, interval.n) == (None, None, None, 0)
    assert interval.reason == NEEDS_TWO


def test_undefined_values_are_left_out_and_counted():
    assert mean_interval([1.0, None, 3.0, math.nan]) == mean_interval([1.0, 3.0])
    assert mean_interval([1.0, None, 3.0]).n == 2


def test_equal_values_have_exactly_their_own_mean():
    interval = mean_interval([0.1, 0.1, 0.1])
    assert (interval.mean, interval.low, interval.high) == (0.1, 0.1, 0.1)


def test_paired_difference_uses_the_pairs():
    # differences 1, 2, 3: mean 2, s = 1, t(2) = 4.3027, half-width 4.3027 / sqrt(3) = 2.4841
    interval = paired_difference([11, 102, 1003], [10, 100, 1000])
    assert interval.mean == 2
    assert interval.low == pytest.approx(2 - 2.4841, abs=5e-5)
    assert interval.high == pytest.approx(2 + 2.4841, abs=5e-5)


def test_a_pair_with_an_undefined_side_is_left_out():
    interval = paired_difference([1.0, None, 5.0], [0.0, 1.0, None])
    assert (interval.mean, interval.n, interval.reason) == (1.0, 1, NEEDS_TWO)


def test_wilson_interval_of_known_shares():
    # 8 of 10 at 95 %: (0.8 + 3.8415/20 -+ 1.95996 sqrt(0.016 + 3.8415/400)) / 1.38415 = 0.4902, 0.9433
    interval = wilson_interval([1] * 8 + [0] * 2)
    assert interval.mean == 0.8
    assert interval.low == pytest.approx(0.4902, abs=5e-5)
    assert interval.high == pytest.approx(0.9433, abs=5e-5)


def test_wilson_interval_at_the_edges_stays_inside_and_has_a_width():
    # all of n: low = n / (n + z^2)
    sure = wilson_interval([1.0] * 20)
    assert sure.high == 1.0
    assert sure.low == pytest.approx(20 / (20 + 3.841459), abs=1e-6)
    never = wilson_interval([0.0] * 20)
    assert never.low == 0.0
    assert never.high == pytest.approx(3.841459 / (20 + 3.841459), abs=1e-6)
    assert wilson_interval([1.0]).low is None


def test_quantiles_by_linear_interpolation():
    assert quantiles(list(range(1, 101)), [0.5, 0.95, 0.99]) == pytest.approx([50.5, 95.05, 99.01])
    assert quantiles([10, 20, 30], [0.99]) == pytest.approx([29.8])
    assert quantiles([], [0.5, 0.9]) == [None, None]


def test_straddles_means_strictly_inside():
    interval = mean_interval([0, 2], 0.95)
    assert interval.straddles(1.5)
    assert not interval.straddles(100)
    assert not mean_interval([1.0, 1.0]).straddles(1.0)
