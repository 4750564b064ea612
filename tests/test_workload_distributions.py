"""Quantities: quantiles by hand, and the mean of whole, cut draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sim.errors import InputError
from sim.model.values import Distribution
from sim.workload.distributions import KINDS, at_quantile, draw, mean_whole, whole


def dist(**keys) -> Distribution:
    return Distribution.model_validate(keys)


def quantile(probability: float, **keys) -> float:
    return float(at_quantile(dist(**keys), np.array([probability]))[0])


@pytest.mark.parametrize(
    ("probability", "keys", "value"),
    [
        (0.5, {"lognormal": {"median": 50000, "sigma": 1.0}}, 50000),
        (0.8413447460685429, {"lognormal": {"median": 10, "sigma": 2.0}}, 10 * math.exp(2)),
        (0.5, {"lognormal": {"mean": 100, "sigma": 1.0}}, 100 * math.exp(-0.5)),
        (0.3, {"lognormal": {"median": 7, "sigma": 0}}, 7),
        (1 - math.exp(-2), {"exponential": {"mean": 3}}, 6),
        (0.25, {"uniform": {"low": 2, "high": 6}}, 3),
        (0.25, {"triangular": {"low": 0, "mode": 1, "high": 4}}, 1),
        (0.125, {"triangular": {"low": 4, "mode": 4, "high": 5}}, 5 - math.sqrt(0.875)),
        (0.7, {"geometric": {"mean": 2}}, 2),  # P(1) = 0.5, P(2) = 0.25
        (0.76, {"geometric": {"mean": 2}}, 3),
        (0.9, {"geometric": {"mean": 1}}, 1),
        (0.74, {"choice": {"values": [1, 2, 4], "weights": [1, 2, 1]}}, 2),
        (0.76, {"choice": {"values": [1, 2, 4], "weights": [1, 2, 1]}}, 4),
        (0.01, {"uniform": {"low": 0, "high": 10}, "min": 3, "max": 5}, 3),
        (0.99, {"uniform": {"low": 0, "high": 10}, "min": 3, "max": 5}, 5),
    ],
)
def test_quantiles_are_the_textbook_ones(probability, keys, value):
    assert quantile(probability, **keys) == pytest.approx(value)


@pytest.mark.parametrize(
    ("keys", "mean"),
    [
        ({"geometric": {"mean": 3}}, 3.0),
        ({"geometric": {"mean": 1}}, 1.0),
        ({"choice": {"values": [1, 2, 4]}}, 7 / 3),
        ({"choice": {"values": [0, 2.5], "weights": [1, 3]}}, (1 + 3 * 3) / 4),  # 0 becomes 1, 2.5 becomes 3
        # rounds to 1 below 1.5, to 2 from there, to 3 from 2.5: P 3/8, 2/8, 2/8, and 1/8 for 4
        ({"uniform": {"low": 0, "high": 4}}, 1 + (2.5 + 1.5 + 0.5) / 4),
        ({"uniform": {"low": 5, "high": 5}}, 5.0),
        ({"exponential": {"mean": 2}}, 1 + math.exp(-0.75) / (1 - math.exp(-0.5))),
        ({"geometric": {"mean": 2}, "max": 2}, 1.5),
        ({"geometric": {"mean": 2}, "min": 2}, 2.5),  # 1.5 for one and two, 3/8 + 4/16 + ... = 1 for the rest
        ({"lognormal": {"median": 4, "sigma": 0}}, 4.0),
        ({"triangular": {"low": 0, "mode": 2, "high": 4}}, 1 + (1 - 1.5**2 / 8) + 1.5**2 / 8 + 0.5**2 / 8),
    ],
)
def test_mean_of_whole_draws_by_hand(keys, mean):
    assert mean_whole(dist(**keys)) == pytest.approx(mean)


def test_mean_of_whole_draws_agrees_with_draws():
    skewed = dist(lognormal={"mean": 6, "sigma": 0.8}, max=40)
    draws = whole(draw(skewed, 200_000, np.random.default_rng(1)))
    assert draws.mean() == pytest.approx(mean_whole(skewed), rel=0.01)


def test_a_plain_number_is_repeated_and_draws_nothing():
    generator = np.random.default_rng(3)
    assert draw(2.5, 3, generator).tolist() == [2.5, 2.5, 2.5]
    assert generator.random() == np.random.default_rng(3).random()
    assert mean_whole(4.0) == 4


def test_whole_rounds_halves_up_and_never_below_one():
    assert whole(np.array([0.0, 0.4, 1.5, 2.5, 2.49])).tolist() == [1, 1, 2, 3, 2]


def test_a_quantity_without_a_mean_is_refused_and_a_max_helps():
    with pytest.raises(InputError, match="give it a max"):
        mean_whole(dist(lognormal={"median": 5, "sigma": 9}))
    assert 1 < mean_whole(dist(lognormal={"median": 5, "sigma": 9}, max=100)) < 100


def test_a_huge_spread_gives_finite_draws():
    wide = dist(lognormal={"median": 1e300, "sigma": 10})
    assert np.isfinite(whole(draw(wide, 1000, np.random.default_rng(0)))).all()


def test_fewer_draws_are_the_first_of_more():
    keys = dist(lognormal={"median": 5, "sigma": 1})
    few, many = (draw(keys, n, np.random.default_rng(7)) for n in (10, 1000))
    assert few.tolist() == many[:10].tolist()


def test_every_kind_of_the_model_has_a_row():
    bounds = {"min", "max"}
    assert set(KINDS) == set(Distribution.model_fields) - bounds
