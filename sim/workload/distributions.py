"""Random quantities: values at a quantile, so that one uniform number makes one draw.

Draws go through the quantile function. Two scenarios that differ in a parameter only (a larger
median, say) then turn the same uniform numbers into comparable values, and the first n of m draws
are the n draws that a shorter run would have made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sim.errors import InputError, Problem
from sim.model.values import (
    Choice,
    Distribution,
    Exponential,
    Geometric,
    LogNormalShape,
    Quantity,
    Triangular,
    Uniform,
)
from sim.workload import learned

__all__ = ["KINDS", "Floats", "Kind", "at_least", "at_quantile", "draw", "mean_whole", "whole"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

LARGEST = 1e12
"""Whole draws are cut here: no data set has more samples."""
_MOST_STEPS = 2**22
"""Values up to which the mean of a whole quantity is summed."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of distribution, before it is cut to `min` and `max`."""

    quantile: Callable[[Any, Floats], Floats]
    """Shape and probabilities in [0, 1) -> values."""
    at_least: Callable[[Any, Floats], Floats]
    """Shape and values -> probability of at least that value."""


def draw(quantity: Quantity, count: int, generator: np.random.Generator) -> Floats:
    """`count` draws; a plain number is repeated and uses no random number."""
    if not isinstance(quantity, Distribution):
        return np.full(count, float(quantity))
    return at_quantile(quantity, generator.random(count))


def at_quantile(distribution: Distribution, probability: Floats) -> Floats:
    """Values of the distribution, cut to its `min` and `max`, at probabilities in [0, 1)."""
    kind = KINDS[distribution.kind]
    with np.errstate(over="ignore"):  # an overflow is infinity, and is cut below
        values = kind.quantile(getattr(distribution, distribution.kind), probability)
    return np.clip(values, distribution.min or 0.0, distribution.max)


def whole(values: Floats) -> Floats:
    """Rounded to whole numbers, halves up, at least 1; still floats."""
    return np.clip(np.floor(values + 0.5), 1.0, LARGEST)


def mean_whole(quantity: Quantity) -> float:
    """Mean of `whole` draws: 1 + P(2 or more) + P(3 or more) + ..., after the cut to min and max.

    Raises InputError where the sum does not settle, as for a very wide log-normal without `max`.
    """
    if not isinstance(quantity, Distribution):
        return float(whole(np.array([float(quantity)]))[0])
    total, first, size = 1.0, 1, 256
    while first < _MOST_STEPS:
        values = np.arange(first, first + size, dtype=np.float64) + 0.5
        tail = at_least(quantity, values)
        total += float(tail.sum())
        if tail[-1] * values[-1] < 1e-9 * total:
            return total
        first, size = first + size, size * 2
    msg = "the mean of this quantity cannot be found, its values are too far apart: give it a max"
    raise InputError(Problem(msg))


def at_least(distribution: Distribution, values: Floats) -> Floats:
    """Probability of at least each value, after the cut to `min` and `max`."""
    kind = KINDS[distribution.kind]
    chance = kind.at_least(getattr(distribution, distribution.kind), values)
    if distribution.min is not None:
        chance = np.where(values <= distribution.min, 1.0, chance)
    if distribution.max is not None:
        chance = np.where(values > distribution.max, 0.0, chance)
    return chance


def _mu(shape: LogNormalShape) -> float:
    if shape.median is not None:
        return math.log(shape.median)
    return math.log(shape.mean or 1.0) - shape.sigma**2 / 2  # one of the two is given


def _lognormal(shape: LogNormalShape, probability: Floats) -> Floats:
    if shape.sigma == 0:
        return np.full(probability.shape, np.exp(_mu(shape)))
    from scipy.special import ndtri  # here: it takes long to import, and few commands draw

    # ndtri(0) is minus infinity, whose exponential is 0
    return np.asarray(np.exp(_mu(shape) + shape.sigma * ndtri(probability)))


def _lognormal_at_least(shape: LogNormalShape, values: Floats) -> Floats:
    from scipy.special import ndtr

    distance = np.log(values) - _mu(shape)
    if shape.sigma == 0:
        return np.where(distance <= 0, 1.0, 0.0)
    return np.asarray(ndtr(-distance / shape.sigma))


def _exponential(shape: Exponential, probability: Floats) -> Floats:
    return -float(shape.mean) * np.log1p(-probability)


def _exponential_at_least(shape: Exponential, values: Floats) -> Floats:
    return np.exp(-values / shape.mean)


def _uniform(shape: Uniform, probability: Floats) -> Floats:
    return shape.low + (shape.high - shape.low) * probability


def _uniform_at_least(shape: Uniform, values: Floats) -> Floats:
    if shape.low == shape.high:
        return np.where(values <= shape.low, 1.0, 0.0)
    return np.clip((shape.high - values) / (shape.high - shape.low), 0.0, 1.0)


def _triangular(shape: Triangular, probability: Floats) -> Floats:
    width = shape.high - shape.low
    turn = (shape.mode - shape.low) / width
    rising = shape.low + np.sqrt(probability * width * (shape.mode - shape.low))
    falling = shape.high - np.sqrt((1 - probability) * width * (shape.high - shape.mode))
    return np.where(probability < turn, rising, falling)


def _triangular_at_least(shape: Triangular, values: Floats) -> Floats:
    width, inside = shape.high - shape.low, np.clip(values, shape.low, shape.high)
    with np.errstate(invalid="ignore", divide="ignore"):  # a side of no width is never chosen below
        rising = 1 - (inside - shape.low) ** 2 / (width * (shape.mode - shape.low))
        falling = (shape.high - inside) ** 2 / (width * (shape.high - shape.mode))
    return np.where(inside < shape.mode, rising, np.where(inside >= shape.high, 0.0, falling))


def _geometric(shape: Geometric, probability: Floats) -> Floats:
    if shape.mean == 1:
        return np.ones(probability.shape)
    steps = np.log1p(-probability) / np.log1p(-1 / shape.mean)
    return np.asarray(np.maximum(np.ceil(steps), 1.0))


def _geometric_at_least(shape: Geometric, values: Floats) -> Floats:
    return np.asarray((1 - 1 / shape.mean) ** np.maximum(np.ceil(values) - 1, 0))


def _weights(shape: Choice) -> Floats:
    weights = np.ones(len(shape.values)) if shape.weights is None else np.array(shape.weights, dtype=float)
    return np.asarray(weights / weights.sum())


def _choice(shape: Choice, probability: Floats) -> Floats:
    bounds = np.cumsum(_weights(shape))
    place = np.searchsorted(bounds, probability * bounds[-1], side="right")
    return np.asarray(np.array(shape.values, dtype=float)[np.minimum(place, len(bounds) - 1)])


def _choice_at_least(shape: Choice, values: Floats) -> Floats:
    reached = np.array(shape.values, dtype=float)[:, None] >= values
    return np.asarray((_weights(shape)[:, None] * reached).sum(axis=0))


KINDS: Mapping[str, Kind] = {
    "lognormal": Kind(_lognormal, _lognormal_at_least),
    "exponential": Kind(_exponential, _exponential_at_least),
    "uniform": Kind(_uniform, _uniform_at_least),
    "triangular": Kind(_triangular, _triangular_at_least),
    "geometric": Kind(_geometric, _geometric_at_least),
    "choice": Kind(_choice, _choice_at_least),
    "mixture": Kind(learned.mixture, learned.mixture_at_least),
    "quantiles": Kind(learned.quantiles, learned.quantiles_at_least),
}
"""A new kind: a shape in `model.values.Distribution`, its two functions, and a row here."""
