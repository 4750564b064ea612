"""The downside: the project may end early, and nobody knows when.

Each way to rent has a cost for every month of end (`outcomes`). With a probability for each of these
months, a way has an expected cost; its regret in a month is what it costs above the best way for that
month. A way was wrong in a month if another would have cost less. Source: decision under risk, Savage's
regret (1951); the least expected regret is what it would be worth to know the month.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.rounding import as_decimal

__all__ = [
    "Downside",
    "EndRow",
    "Ends",
    "PlanRisk",
    "downside",
    "ends_with_hazard",
    "even_hazards",
    "even_probability",
]

GRID = 1000
"""Steps from a hazard of 0 to 1 on which a change of sign is looked for."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Month of end -> probability; the probabilities sum to exactly 1."""

    chances: Mapping[int, Fraction]

    def __post_init__(self) -> None:
        """ValueError unless months are at least 1, no chance is below 0, and they sum to 1."""
        if any(month < 1 for month in self.chances) or any(chance < 0 for chance in self.chances.values()):
            msg = "months of end are at least 1, and no probability is below 0"
            raise ValueError(msg)
        if sum(self.chances.values()) != 1:
            msg = "the probabilities of the months of end must sum to 1"
            raise ValueError(msg)

    @classmethod
    def early(cls, early: Mapping[int, Fraction], full: int) -> Ends:
        """Early ends with their probabilities; with the rest of the chance, the full time is reached.

        ValueError where they sum to more than 1 or a month is not before `full`.
        """
        if any(month >= full for month in early):
            msg = f"an early end is before month {full}, the full time"
            raise ValueError(msg)
        rest = 1 - sum(early.values(), Fraction(0))
        if rest < 0:
            msg = "the probabilities of early ends sum to more than 1"
            raise ValueError(msg)
        return cls({**dict(sorted(early.items())), full: rest})


@dataclass(frozen=True, slots=True)
class EndRow:
    """One month of end: what each way costs then, and how much more than the best."""

    months: int
    probability: Fraction
    costs: Mapping[str, Decimal]
    regrets: Mapping[str, Decimal]
    best: tuple[str, ...]
    """Ways of least cost."""


@dataclass(frozen=True, slots=True)
class PlanRisk:
    """One way to rent over all months of end."""

    expected_cost: Decimal
    """Currency, not rounded."""
    expected_regret: Decimal
    largest_regret: Decimal
    wrong: Fraction
    """Probability that another way would have cost less."""


@dataclass(frozen=True, slots=True)
class Downside:
    """The table of regret and what it says of each way."""

    rows: tuple[EndRow, ...]
    risks: Mapping[str, PlanRisk]
    cheapest: str
    """Least expected cost; the first of equal ones."""
    least_regret: str
    """Smallest largest regret."""


def downside(costs: Mapping[str, Mapping[int, Decimal]], ends: Ends) -> Downside:
    """Regret table; `costs` holds the cost of every way for every month of `ends`."""
    rows = []
    for month, chance in ends.chances.items():
        at = {name: by_month[month] for name, by_month in costs.items()}
        least = min(at.values())
        best = tuple(name for name, cost in at.items() if cost == least)
        rows.append(EndRow(month, chance, at, {name: cost - least for name, cost in at.items()}, best))
    risks = {name: _risk(name, rows) for name in costs}
    return Downside(
        rows=tuple(rows),
        risks=risks,
        cheapest=min(risks, key=lambda name: risks[name].expected_cost),
        least_regret=min(risks, key=lambda name: risks[name].largest_regret),
    )


def ends_with_hazard(hazard: Fraction, full: int) -> Ends:
    """The same chance of ending in every month that is reached: p (1 - p)^(m - 1), the rest at `full`."""
    left, early = Fraction(1), {}
    for month in range(1, full):
        early[month] = left * hazard
        left -= early[month]
    return Ends({**early, full: left})


def even_hazards(one: Sequence[Decimal], other: Sequence[Decimal]) -> tuple[float, ...]:
    """Hazards above 0 and below 1 at which two ways have the same expected cost, rising.

    `one`, `other`: costs by month of end, from 1 to the full time. None where one way is the cheaper one
    at every hazard, or both cost the same. Found by changes of sign in steps of 0.001 (Brent's method).
    """
    from scipy.optimize import brentq  # here: slow to load, and most commands never ask for a hazard

    less = [float(b - a) for a, b in zip(one, other, strict=True)]

    def expected(hazard: float) -> float:
        total, left = 0.0, 1.0
        for difference in less[:-1]:
            total += left * hazard * difference
            left *= 1 - hazard
        return total + left * less[-1]

    grid = [step / GRID for step in range(1, GRID)]
    values = [expected(hazard) for hazard in grid]
    found = [hazard for hazard, value in zip(grid, values, strict=True) if value == 0 and any(less)]
    found += [
        float(brentq(expected, grid[place], grid[place + 1], xtol=1e-14))
        for place in range(len(grid) - 1)
        if values[place] * values[place + 1] < 0
    ]
    return tuple(sorted(found))


def even_probability(
    one_full: Decimal, one_early: Decimal, other_full: Decimal, other_early: Decimal
) -> Fraction | None:
    """Probability of one early end at which two ways have the same expected cost.

    p = (B - A) / ((B - A) + (a - b)) with A, B the full costs and a, b the early ones; None where one
    way is the cheaper one at every probability.
    """
    full = Fraction(other_full) - Fraction(one_full)
    early = Fraction(one_early) - Fraction(other_early)
    if full + early == 0:
        return None
    chance = full / (full + early)
    return chance if 0 <= chance <= 1 else None


def _risk(name: str, rows: Sequence[EndRow]) -> PlanRisk:
    cost = sum((row.probability * Fraction(row.costs[name]) for row in rows), Fraction(0))
    regret = sum((row.probability * Fraction(row.regrets[name]) for row in rows), Fraction(0))
    return PlanRisk(
        expected_cost=as_decimal(cost),
        expected_regret=as_decimal(regret),
        largest_regret=max(row.regrets[name] for row in rows),
        wrong=sum((row.probability for row in rows if name not in row.best), Fraction(0)),
    )
