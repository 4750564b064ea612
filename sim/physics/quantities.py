"""Mean of a number that may be random, cut to its bounds: closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise

from sim.model.shapes import Mixture, Quantiles
from sim.model.values import Choice, Distribution, Exponential, Geometric, LogNormalShape, Triangular, Uniform
from sim.physics.lengths import cut_mean

__all__ = ["mean_of"]


def mean_of(quantity: float | Distribution) -> float:
    """Mean of a number, or of a distribution that is cut (clipped) to `min` and `max`.

    With M(b) the mean of min(X, b), a number cut to a and b has the mean a + M(b) - M(a).
    """
    if not isinstance(quantity, Distribution):
        return float(quantity)
    shape = getattr(quantity, quantity.kind)
    capped = _CAPPED[quantity.kind]
    low = quantity.min or 0.0
    high = math.inf if quantity.max is None else quantity.max
    return low + capped(shape, high) - capped(shape, low)


def _lognormal(shape: LogNormalShape, cap: float) -> float:
    mean = shape.mean or (shape.median or 1.0) * math.exp(shape.sigma**2 / 2)
    if cap == math.inf or cap == 0:
        return mean if cap else 0.0
    return cut_mean(mean, shape.sigma, cap)


def _exponential(shape: Exponential, cap: float) -> float:
    return -shape.mean * math.expm1(-cap / shape.mean)


def _uniform(shape: Uniform, cap: float) -> float:
    if cap <= shape.low:
        return cap
    if cap >= shape.high:
        return (shape.low + shape.high) / 2
    return cap - (cap - shape.low) ** 2 / (2 * (shape.high - shape.low))


def _triangular(shape: Triangular, cap: float) -> float:
    low, mode, high = shape.low, shape.mode, shape.high
    if cap <= low:
        return cap
    mean = (low + mode + high) / 3
    if cap >= high:
        return mean
    if cap < mode:
        return cap - (cap - low) ** 3 / (3 * (high - low) * (mode - low))
    return mean - (high - cap) ** 3 / (3 * (high - low) * (high - mode))


def _geometric(shape: Geometric, cap: float) -> float:
    if cap == math.inf:
        return shape.mean
    beyond, whole = 1 - 1 / shape.mean, math.floor(cap)
    return float(shape.mean * (1 - beyond**whole) + beyond**whole * (cap - whole))


def _choice(shape: Choice, cap: float) -> float:
    weights = shape.weights or (1.0,) * len(shape.values)
    total = math.fsum(w * min(v, cap) for w, v in zip(weights, shape.values, strict=True))
    return total / math.fsum(weights)


def _mixture(shape: Mixture, cap: float) -> float:
    weights = [part.weight for part in shape.components]
    means = [_lognormal(LogNormalShape(median=c.median, sigma=c.sigma), cap) for c in shape.components]
    return math.fsum(w * m for w, m in zip(weights, means, strict=True)) / math.fsum(weights)


def _quantiles(shape: Quantiles, cap: float) -> float:
    """Cell by cell: the logarithmic mean of two quantiles, the plain one above a 0."""
    cells = zip(pairwise(shape.at), pairwise(shape.values), strict=True)
    return math.fsum((end - begin) * _cell(low, high, cap) for (begin, end), (low, high) in cells)


def _cell(low: float, high: float, cap: float) -> float:
    top = min(high, cap)
    if top <= low:
        return min(low, cap)
    if low == 0:
        inside, mean = top / high, top / 2
    else:
        inside, mean = math.log(top / low) / math.log(high / low), (top - low) / math.log(top / low)
    return inside * mean + (1 - inside) * top


_CAPPED: Mapping[str, Callable[..., float]] = {
    "lognormal": _lognormal,
    "exponential": _exponential,
    "uniform": _uniform,
    "triangular": _triangular,
    "geometric": _geometric,
    "choice": _choice,
    "mixture": _mixture,
    "quantiles": _quantiles,
}
