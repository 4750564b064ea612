"""Censored times: known answers of rates, Weibull and product-limit curves, and of fitted run times."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sim.workload.fit_runtimes import fit_runtimes
from sim.workload.survival import exponential_rate, kaplan_meier, weibull_fit

FAILED = np.array([1.0, 2, 3, 4, 5])
TIMES = np.concatenate([FAILED, np.full(100, 6.0)])
COMPLETE = TIMES < 6


def test_few_failures_and_many_survivors() -> None:
    """Known fault 49 (slightlynybbled/weibull 23): exponential by hand, Weibull by lifelines 0.30.3."""
    rate = exponential_rate(TIMES, COMPLETE)
    assert rate.estimate == pytest.approx(5 / 615)
    assert 1 / (rate.estimate or 1) == pytest.approx(123.0)
    assert rate.low < 5 / 615 < rate.high
    found = weibull_fit(TIMES, COMPLETE)
    assert found is not None
    assert found.shape == pytest.approx(1.2155, abs=5e-5)
    assert found.scale == pytest.approx(71.832, abs=5e-4)


def test_no_failure_gives_a_bound_and_no_estimate() -> None:
    none = np.zeros(105, dtype=bool)
    rate = exponential_rate(TIMES, none)
    assert rate.estimate is None
    assert rate.low == 0
    assert rate.high == pytest.approx(-math.log(0.025) / 615)  # chi-square with two degrees of freedom
    assert weibull_fit(TIMES, none) is None


def test_a_weibull_without_censoring_solves_its_likelihood_equations() -> None:
    times = np.array([3.0, 5, 8, 13, 21, 34])
    found = weibull_fit(times, np.ones(6, dtype=bool))
    assert found is not None
    k, lam = found.shape, found.scale
    assert lam**k == pytest.approx(np.mean(times**k))
    score = 6 / k + np.log(times).sum() - 6 * (times**k * np.log(times)).sum() / (times**k).sum()
    assert score == pytest.approx(0, abs=1e-8)


def test_huge_times_overflow_nowhere() -> None:
    found = weibull_fit(np.array([1e-3, 1e9, 1e9 + 1]), np.array([True, True, False]))
    assert found is not None
    assert np.isfinite([found.shape, found.scale]).all()


def test_kaplan_meier_by_hand() -> None:
    # 6 at risk: 1 dies at 1; of 4 at 3 one dies (another is censored at 2); at 3 a censored one stays; 2 at 5
    times = np.array([1.0, 2, 3, 3, 5, 7])
    complete = np.array([True, False, True, False, True, False])
    curve = kaplan_meier(times, complete)
    assert curve.times.tolist() == [1, 3, 5]
    assert curve.survival == pytest.approx([5 / 6, 5 / 6 * 3 / 4, 5 / 6 * 3 / 4 * 1 / 2])
    assert curve.quantiles(np.array([0.1, 0.3, 0.6])).tolist() == [1, 3, 5]
    assert np.isnan(curve.quantiles(np.array([0.95]))).all()


def test_cut_runs_do_not_shorten_what_is_learned() -> None:
    draws = np.random.default_rng(5)
    whole = np.exp(8 + 1.2 * draws.standard_normal(20_000))
    window = np.exp(8.5 + 1.0 * draws.standard_normal(20_000))
    found = fit_runtimes(np.minimum(whole, window), whole <= window)
    assert found.form == "1 log-normal"
    assert 0.2 < found.cut / found.jobs < 0.5
    (part,) = found.quantity.mixture.components  # type: ignore[union-attr]
    assert math.log(part.median) == pytest.approx(8, abs=0.04)
    assert part.sigma == pytest.approx(1.2, abs=0.04)
    naive = np.minimum(whole, window)
    assert np.log(np.median(naive)) < 7.7  # what the same times say when taken as complete


def test_two_log_normals_are_found_again() -> None:
    draws = np.random.default_rng(1)
    short = draws.random(20_000) < 0.166
    logs = np.where(
        short, 4.17 + 0.16 * draws.standard_normal(20_000), 7.33 + 1.96 * draws.standard_normal(20_000)
    )
    found = fit_runtimes(np.exp(logs), np.ones(20_000, dtype=bool))
    assert found.form == "2 log-normals"
    narrow, wide = found.quantity.mixture.components  # type: ignore[union-attr]
    assert narrow.weight == pytest.approx(0.166, abs=0.01)
    assert (math.log(narrow.median), narrow.sigma) == pytest.approx((4.17, 0.16), abs=0.02)
    assert (math.log(wide.median), wide.sigma) == pytest.approx((7.33, 1.96), abs=0.05)


def test_times_that_no_log_normal_knows_become_a_table() -> None:
    draws = np.random.default_rng(2)
    times = np.repeat([600.0, 3600, 86_400], [4000, 5000, 1000]) * np.exp(
        0.001 * draws.standard_normal(10_000)
    )
    times = np.concatenate([times, draws.uniform(100, 100_000, 5000)])
    found = fit_runtimes(times, np.ones(len(times), dtype=bool))
    assert found.form.endswith("quantiles")
    table = found.quantity.quantiles
    assert table is not None
    assert np.interp(0.5, table.at, table.values) == pytest.approx(np.quantile(times, 0.5), rel=0.02)


def test_without_a_complete_run_nothing_is_learned() -> None:
    with pytest.raises(ValueError, match="no run is complete"):
        fit_runtimes(np.array([5.0, 6.0]), np.array([False, False]))
