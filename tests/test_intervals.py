"""Intervals beyond Student's, against published values, closed forms and coverage."""

import numpy as np
import pytest
from scipy.stats import t

from sim.experiments.intervals import (
    batch_means,
    bonferroni,
    bootstrap_interval,
    comparisons_with_the_best,
    holm,
    quantile_interval,
    variance_ratio,
)


def test_median_of_ten_lies_between_the_second_and_the_ninth():
    # Binomial(10, 1/2): P(at most 1) = 11/1024 = 0.0107 and P(at most 2) = 0.0547, so ranks 2 and 9
    # enclose the median with 97.9 %, ranks 3 and 8 with 89.1 % only.
    found = quantile_interval([10.0 * rank for rank in range(1, 11)], 0.5)
    assert (found.mean, found.low, found.high) == (55.0, 20.0, 90.0)


def test_a_high_quantile_of_few_values_has_no_limits():
    found = quantile_interval([1.0, 2.0, 3.0], 0.95)
    assert found.mean == pytest.approx(2.9)
    assert (found.low, found.high) == (None, None)
    # 0.95^n is at most 0.025 from n = 72 on.
    assert found.reason == "needs more replications, about 72"


def test_quantile_intervals_cover_the_truth():
    generator = np.random.default_rng(3)
    truth = -np.log(0.2)
    hits = 0
    for _ in range(1000):
        found = quantile_interval(generator.exponential(size=40).tolist(), 0.8)
        hits += found.low <= truth <= found.high
    assert 0.94 <= hits / 1000 <= 0.985  # at least what is asked for, as ranks are whole


def test_no_values_no_interval():
    found = quantile_interval([None, float("nan")], 0.5)
    assert (found.mean, found.low, found.high, found.n) == (None, None, None, 0)


def test_bootstrap_covers_a_skewed_mean_and_repeats_itself():
    generator = np.random.default_rng(5)
    hits = 0
    for number in range(300):
        values = generator.exponential(size=30).tolist()
        found = bootstrap_interval(values, np.random.default_rng(number), resamples=500)
        hits += found.low <= 1.0 <= found.high
    assert 0.89 <= hits / 300 <= 0.97
    again = bootstrap_interval(values, np.random.default_rng(number), resamples=500)
    assert again == found


def test_bootstrap_of_equal_values_is_their_value():
    found = bootstrap_interval([3.0] * 5, np.random.default_rng(0))
    assert (found.low, found.high) == (3.0, 3.0)


def test_bonferroni_shares_the_error_out():
    assert bonferroni(0.95, 5) == pytest.approx(0.99)
    assert bonferroni(0.95, 0) == 0.95


def test_holm_of_four():
    # 0.005 x 4, then max(0.02, 0.01 x 3), max(0.03, 0.03 x 2), max(0.06, 0.04 x 1).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_best_of_three_by_pencil():
    # Differences 0-1: -9, -11; 0-2: -21, -19; 1-2: -12, -8. Each pair at 1 - 0.05 / 3.
    systems = [[10.0, 12.0], [19.0, 23.0], [31.0, 31.0]]
    critical = t.ppf(1 - 0.05 / 6, 1)
    first, second, third = comparisons_with_the_best(systems)
    assert first.mean == pytest.approx(-10.0)
    assert first.high == pytest.approx(-10.0 + critical * 1.0)  # sd 1.414 / sqrt(2)
    assert second.mean == pytest.approx(10.0)
    assert second.low == pytest.approx(10.0 - critical * 1.0)
    assert third.mean == pytest.approx(20.0)


def test_the_best_where_high_is_good():
    best, other = comparisons_with_the_best([[5.0, 6.0, 7.0], [1.0, 2.0, 3.5]], low_is_good=False)
    assert best.low > 0
    assert other.high < 0


def test_comparisons_with_the_best_hold_all_at_once():
    generator = np.random.default_rng(11)
    means = np.array([1.0, 1.2, 1.3, 2.0])
    truth = [means[i] - np.delete(means, i).min() for i in range(4)]
    hits = 0
    for _ in range(1000):
        shared = generator.standard_normal((15, 1))
        values = means + shared + 0.5 * generator.standard_normal((15, 4))
        found = comparisons_with_the_best(values.T.tolist())
        hits += all(one.low <= true <= one.high for one, true in zip(found, truth, strict=True))
    assert hits / 1000 >= 0.95


def test_one_strategy_has_nothing_to_be_compared_with():
    assert comparisons_with_the_best([[1.0, 2.0]])[0].reason == "needs 2 or more strategies"


def test_batch_means_cover_an_autoregressive_mean():
    generator = np.random.default_rng(13)
    hits = 0
    for _ in range(200):
        noise = generator.standard_normal(4000)
        series, state = [], 0.0
        for shock in noise:
            state = 0.8 * state + shock
            series.append(state)
        found, alike = batch_means(series)
        hits += found.low <= 0 <= found.high
        assert abs(alike) < 0.7
    # Student's interval of the 4,000 values taken as independent would cover in about half.
    assert 0.9 <= hits / 200 <= 0.99


def test_batch_means_of_a_short_run_have_no_limits():
    found, alike = batch_means([1.0, 2.0, 3.0])
    assert (found.mean, found.low, alike) == (2.0, None, None)
    assert found.reason == "needs 200 or more values"


def test_variance_ratio_by_pencil():
    # Variances 1 and 1; differences 0, 0, 3 have variance 3: (1 + 1) / 3.
    assert variance_ratio([1.0, 2.0, 3.0], [1.0, 2.0, 0.0]) == pytest.approx((1 + 1) / 3)
    assert variance_ratio([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]) is None
    assert variance_ratio([1.0, None, 3.0], [0.0, 1.0, 2.0]) is None
