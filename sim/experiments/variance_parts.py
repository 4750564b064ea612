"""A variance told apart: luck within the same inputs, and doubt about the inputs.

By the law of total variance the variance of a result is the mean variance at given inputs (luck) and the
variance of the mean over inputs (doubt). Of pairs of runs that share their inputs and nothing else, the
one-way analysis of variance gives both without bias: a nested design with two runs a draw (Sun, Apley and
Staum, 2011, Operations Research 59, 998-1007). The interval of the share of the inputs is that of the
balanced one-way random model for normal values (Searle, Casella and McCulloch, Variance Components, 1992,
chapter 3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import fdtri

__all__ = ["Parts", "parts"]


@dataclass(frozen=True, slots=True)
class Parts:
    """A variance in its two parts, as standard deviations in the unit of the values."""

    luck: float
    inputs: float
    """0 where the estimate is below 0, which little doubt and few pairs may give."""
    share: float | None
    """Of the inputs in the whole variance; None where nothing varies."""
    low: float | None
    """Limits of the share."""
    high: float | None
    pairs: int


def parts(values: Sequence[float | None], twins: Sequence[float | None], confidence: float = 0.95) -> Parts:
    """The two parts of a variance, from pairs of runs that share their inputs.

    `values` and `twins` are of one length; pairs with an undefined side are left out. At least two pairs.
    """
    both = [
        (one, other)
        for one, other in zip(values, twins, strict=True)
        if one is not None and other is not None and math.isfinite(one) and math.isfinite(other)
    ]
    pairs = len(both)
    if pairs < 2:
        msg = "two or more pairs are needed"
        raise ValueError(msg)
    middles = [(one + other) / 2 for one, other in both]
    whole = math.fsum(middles) / pairs
    inside = math.fsum((one - other) ** 2 for one, other in both) / (2 * pairs)
    between = 2 * math.fsum((middle - whole) ** 2 for middle in middles) / (pairs - 1)
    luck, doubt = inside, max(0.0, (between - inside) / 2)
    share = doubt / (doubt + luck) if doubt + luck > 0 else None
    low, high = _limits(between, inside, pairs, confidence)
    return Parts(math.sqrt(luck), math.sqrt(doubt), share, low, high, pairs)


def _limits(
    between: float, inside: float, pairs: int, confidence: float
) -> tuple[float | None, float | None]:
    """Limits of the share of the inputs, within 0 and 1."""
    if between == 0 and inside == 0:
        return None, None
    if inside == 0:
        return 1.0, 1.0
    ratio, tail = between / inside, (1 - confidence) / 2
    low = ratio / float(fdtri(pairs - 1, pairs, 1 - tail))
    high = ratio / float(fdtri(pairs - 1, pairs, tail))
    return _share(low), _share(high)


def _share(ratio: float) -> float:
    """The share of the inputs at a ratio of the two parts, within 0 and 1."""
    return min(1.0, max(0.0, (ratio - 1) / (ratio + 1)))
