"""Mixtures and quantile tables as random quantities: quantiles, tails and means in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sim.model.values import Distribution
from sim.physics.quantities import mean_of
from sim.workload.distributions import KINDS, at_quantile, mean_whole

MIXED = {"mixture": {"components": [
    {"weight": 1, "median": 65, "sigma": 0.16}, {"weight": 3, "median": 1500, "sigma": 1.9}]}}  # fmt: skip
TABLE = {"quantiles": {"at": [0, 0.25, 0.75, 1], "values": [1, 4, 4, 64]}}


def dist(keys: dict) -> Distribution:
    return Distribution.model_validate(keys)


def test_a_mixture_of_one_is_a_log_normal() -> None:
    one = dist({"mixture": {"components": [{"weight": 7, "median": 100, "sigma": 2}]}})
    plain = dist({"lognormal": {"median": 100, "sigma": 2}})
    at = np.array([0.001, 0.1, 0.5, 0.9, 0.999])
    assert at_quantile(one, at) == pytest.approx(at_quantile(plain, at), rel=1e-4)


def test_the_quantile_of_a_mixture_is_where_its_distribution_reaches_it() -> None:
    at = np.array([0.01, 0.2, 0.26, 0.5, 0.95])
    values = at_quantile(dist(MIXED), at)

    def below(value: float) -> float:
        parts = [(0.25, 65, 0.16), (0.75, 1500, 1.9)]
        return sum(w * 0.5 * math.erfc(-math.log(value / m) / s / math.sqrt(2)) for w, m, s in parts)

    assert [below(value) for value in values] == pytest.approx(at, abs=1e-5)
    chance = KINDS["mixture"].at_least(dist(MIXED).mixture, values)
    assert chance == pytest.approx(1 - at, abs=1e-5)


def test_means_of_mixtures() -> None:
    by_hand = 0.25 * 65 * math.exp(0.16**2 / 2) + 0.75 * 1500 * math.exp(1.9**2 / 2)
    assert mean_of(dist(MIXED)) == pytest.approx(by_hand)


def test_a_table_of_quantiles_by_hand() -> None:
    # logarithms between: half way from 1 to 4 is 2, a third of the way from 4 to 64 is 4 x 16^(1/3)
    at = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 0.75 + 0.25 / 3])
    assert at_quantile(dist(TABLE), at) == pytest.approx([1, 2, 4, 4, 4, 4 * 16 ** (1 / 3)])
    chance = KINDS["quantiles"].at_least(dist(TABLE).quantiles, np.array([0.5, 1, 2, 4, 4.0001, 16, 64, 65]))
    # at 4 stands half of all: at least 4 has everything but the first quarter
    assert chance == pytest.approx([1, 1, 0.875, 0.75, 0.25, 0.125, 0, 0], abs=1e-5)


def test_the_mean_of_a_table_is_the_logarithmic_mean_of_its_cells() -> None:
    by_hand = 0.25 * 3 / math.log(4) + 0.5 * 4 + 0.25 * 60 / math.log(16)
    assert mean_of(dist(TABLE)) == pytest.approx(by_hand)
    draws = at_quantile(dist(TABLE), (np.arange(200_000) + 0.5) / 200_000)
    assert draws.mean() == pytest.approx(by_hand, rel=1e-4)
    assert mean_of(dist({**TABLE, "max": 16})) == pytest.approx(np.minimum(draws, 16).mean(), rel=1e-4)


def test_a_table_from_zero_is_linear_in_its_first_cell() -> None:
    zero = dist({"quantiles": {"at": [0, 0.5, 1], "values": [0, 0, 10]}})
    assert at_quantile(zero, np.array([0.2, 0.5, 0.75])) == pytest.approx([0, 0, 5])
    assert mean_of(zero) == pytest.approx(2.5)


def test_mean_sizes_of_batches_from_a_table() -> None:
    whole = dist({"choice": {"values": [1, 20, 300], "weights": [80, 15, 5]}})
    assert mean_whole(whole) == pytest.approx(0.8 + 0.15 * 20 + 0.05 * 300)


@pytest.mark.parametrize(
    ("at", "values", "rule"),
    [
        ([0, 1], [1, 2, 3], "as many values"),
        ([0.1, 1], [1, 2], "from 0 to 1"),
        ([0, 0.5, 0.5, 1], [1, 2, 3, 4], "from 0 to 1"),
        ([0, 0.5, 1], [1, 3, 2], "ascending"),
        ([0, 1], [0, 0], "above 0"),
    ],
)
def test_tables_that_are_none(at: list, values: list, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        dist({"quantiles": {"at": at, "values": values}})
