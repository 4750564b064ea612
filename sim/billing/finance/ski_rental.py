"""When to stop renting by the month and buy a longer period, without knowing how long the need lasts.

Renting costs `month` each month. Buying costs `price` at once and from then on `share` (a) of the
monthly price: 0 for a period that is prepaid whole. Rules of Wang, Li and Liang, "To Reserve or Not
to Reserve: Optimal Online Multi-Instance Acquisition in IaaS Clouds" (arXiv 1305.5608):

- deterministic: rent until the rent paid, with the month that begins, would reach the break-even
  amount price / (1 - a); then buy. It never costs more than 2 - a times the best in hindsight, and no
  deterministic rule does better;
- randomised: the same with a threshold z drawn with density (1 - a) e^((1 - a) z) / (e - 1 + a) below
  the break-even (z in units of the price). Its expected cost is at most e / (e - 1 + a) times the best.
  With the rest of the chance, a / (e - 1 + a), one card is not bought in this period at all: that is
  what makes the bound hold for every end of the need, as the tests enumerate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

__all__ = ["SkiRental", "randomised_months", "ski_rental", "worst_ratio"]


@dataclass(frozen=True, slots=True)
class SkiRental:
    """The rule, and how bad it can get."""

    rented_months: int
    """Months to rent before buying: buy at the beginning of the next one."""
    bound: Fraction
    """2 - a: the most that any need can make it cost, over the best in hindsight."""
    worst: Fraction
    """What it is with these prices: the need ends in the month in which the period was bought."""
    worst_cost: Fraction
    """Cost of the rule then."""
    best_cost: Fraction
    """Cost of the best in hindsight then."""
    randomised_bound: float
    """e / (e - 1 + a)."""


def ski_rental(month: Fraction, price: Fraction, share: Fraction = Fraction(0)) -> SkiRental:
    """The deterministic rule for these prices; ValueError unless prices are above 0 and 0 <= share < 1."""
    _check(month, price, share)
    rented = max(0, ceil(price / (1 - share) / month) - 1)
    cost, best = _costs(rented, month, price, share)
    return SkiRental(
        rented_months=rented,
        bound=2 - share,
        worst=cost / best,
        worst_cost=cost,
        best_cost=best,
        randomised_bound=math.e / (math.e - 1 + float(share)),
    )


def worst_ratio(rented: int, month: Fraction, price: Fraction, share: Fraction = Fraction(0)) -> Fraction:
    """Cost over the best in hindsight when the need ends in the first month after buying, having rented
    `rented` months: the worst end for every rule of this kind."""
    _check(month, price, share)
    cost, best = _costs(rented, month, price, share)
    return cost / best


def randomised_months(
    month: Fraction, price: Fraction, share: Fraction = Fraction(0)
) -> dict[int | None, float]:
    """Chance of each number of months to rent before buying, under the randomised rule; None: never."""
    _check(month, price, share)
    a, step = float(share), float(month / price)
    last = max(0, ceil(price / (1 - share) / month) - 1)
    total = math.e - 1 + a

    def below(z: float) -> float:
        return math.expm1((1 - a) * min(z, 1 / (1 - a))) / total

    chances: dict[int | None, float] = {n: below((n + 1) * step) - below(n * step) for n in range(last + 1)}
    if a > 0:
        chances[None] = a / total
    return chances


def _costs(rented: int, month: Fraction, price: Fraction, share: Fraction) -> tuple[Fraction, Fraction]:
    cost = rented * month + price + share * month
    return cost, min((rented + 1) * month, price + share * month * (rented + 1))


def _check(month: Fraction, price: Fraction, share: Fraction) -> None:
    if month <= 0 or price <= 0 or not 0 <= share < 1:
        msg = "prices must be above 0, and the share after buying at least 0 and below 1"
        raise ValueError(msg)
