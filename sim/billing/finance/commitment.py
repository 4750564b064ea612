"""How many cards to commit when demand is uncertain: the newsvendor.

A committed card costs c a period, used or not; a card beyond the commitment costs p > c in the periods
in which it is needed. Cost of k cards: c k + p E[(D - k)+]. The least is at the smallest k with
F(k) >= 1 - c / p, the critical ratio; c / p is the share of time that the k-th card must be needed.
Sources: the newsvendor of any operations textbook (Arrow, Harris and Marschak, 1951); two-contract
form: Sage 10.1177/10591478241251614.

Probabilities of finite distributions are fractions, so that a tie is a tie; Poisson's are floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Commitment", "Demand", "commit", "empirical", "enumerated", "newsvendor", "poisson", "uniform"]

_MOST = 1_000_000
_TAIL = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Demand:
    """Cards needed in a period, as a distribution over whole numbers."""

    name: str
    mean: Fraction
    cumulative: Callable[[int], Fraction]
    """P(D <= k)."""
    most: int
    """No more are ever needed (Poisson: but for a chance of 1e-12)."""

    def excess(self, k: int) -> Fraction:
        """E[(D - k)+] = E[D] - sum of P(D > j) for j < k."""
        return max(Fraction(0), self.mean - sum((1 - self.cumulative(j) for j in range(k)), Fraction(0)))


@dataclass(frozen=True, slots=True)
class Commitment:
    """How many cards to commit, and what every number of them costs."""

    critical_ratio: Fraction
    """1 - c / p."""
    newsvendor: int
    """The smallest k with F(k) >= critical ratio."""
    enumerated: int
    """The smallest k of least cost, found by trying every k."""
    costs: tuple[Fraction, ...]
    """Cost a period of 0, 1, 2, ... committed cards."""


def poisson(mean: float) -> Demand:
    """Poisson demand; ValueError unless the mean is above 0 and at most 10,000."""
    if not 0 < mean <= 10_000:
        msg = "the mean of a Poisson demand must be above 0 and at most 10,000"
        raise ValueError(msg)

    from scipy.special import pdtr  # slow to load, and most commands never ask for it

    def cumulative(k: int) -> Fraction:
        return Fraction(float(pdtr(k, mean))) if k >= 0 else Fraction(0)

    most = math.ceil(mean)
    while 1 - cumulative(most) > _TAIL:
        most += 1
    return Demand(f"Poisson with mean {mean:g}", Fraction(mean), cumulative, most)


def uniform(low: int, high: int) -> Demand:
    """Every whole number from `low` to `high` with the same chance; ValueError if 0 <= low <= high fails."""
    if not 0 <= low <= high <= _MOST:
        msg = (
            f"a uniform demand goes from a whole number of at least 0 to one not below it, at most {_MOST:,}"
        )
        raise ValueError(msg)
    return empirical([0] * low + [1] * (high - low + 1), f"uniform from {low} to {high}")


def empirical(weights: Sequence[int], name: str = "empirical") -> Demand:
    """Demand of 0, 1, 2, ... with these whole weights (such as hours in which so many were needed).

    ValueError where a weight is negative or all are 0.
    """
    total = sum(weights)
    if total <= 0 or min(weights) < 0 or len(weights) > _MOST + 1:
        msg = "weights of demand are whole numbers of at least 0, and not all 0"
        raise ValueError(msg)
    running, sums = 0, []
    for weight in weights:
        running += weight
        sums.append(Fraction(running, total))
    mean = Fraction(sum(k * weight for k, weight in enumerate(weights)), total)
    most = max(k for k, weight in enumerate(weights) if weight)

    def cumulative(k: int) -> Fraction:
        return Fraction(0) if k < 0 else sums[k] if k < len(sums) else Fraction(1)

    return Demand(name, mean, cumulative, most)


def newsvendor(demand: Demand, committed: Fraction, fallback: Fraction) -> int:
    """The smallest k with F(k) >= 1 - committed / fallback; 0 where the fallback is not the dearer one."""
    ratio = 1 - committed / fallback
    if ratio <= 0:
        return 0
    return next((k for k in range(demand.most + 1) if demand.cumulative(k) >= ratio), demand.most)


def enumerated(demand: Demand, committed: Fraction, fallback: Fraction) -> tuple[Fraction, ...]:
    """Cost a period of every number of committed cards from 0 to the most that is ever needed."""
    costs, excess = [], demand.mean
    for k in range(demand.most + 1):
        costs.append(committed * k + fallback * max(Fraction(0), excess))
        excess -= 1 - demand.cumulative(k)
    return tuple(costs)


def commit(demand: Demand, committed: Fraction, fallback: Fraction) -> Commitment:
    """Both answers; ValueError unless both prices (currency a period) are above 0."""
    if committed <= 0 or fallback <= 0:
        msg = "both prices must be above 0"
        raise ValueError(msg)
    costs = enumerated(demand, committed, fallback)
    return Commitment(
        critical_ratio=1 - committed / fallback,
        newsvendor=newsvendor(demand, committed, fallback),
        enumerated=costs.index(min(costs)),
        costs=costs,
    )
