"""When the project may end, as `breakeven` is asked: in some months, or with a hazard in every month."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sim.billing.finance.analysis import Analysis
from sim.billing.finance.downside import Ends, ends_with_hazard, even_hazards
from sim.cli.finance_options import read_ends, read_share
from sim.errors import InputError, Problem

__all__ = ["Asked", "asked_ends"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The ends to weigh, and the hazard that they come from."""

    ends: Ends | None
    """None: no downside is asked for."""
    hazard: Fraction | None = None
    """Probability to end in a month that is reached; None: not asked for so."""

    @property
    def mean_months(self) -> Fraction:
        """Months that the project lasts on average; 0 where nothing is asked for."""
        chances = {} if self.ends is None else self.ends.chances
        return sum((month * chance for month, chance in chances.items()), Fraction(0))

    def even(self, analysis: Analysis) -> dict[str, tuple[float, ...]]:
        """Way -> hazards at which it has the expected cost of the first way; empty without a hazard."""
        if self.hazard is None:
            return {}
        first, *others = analysis.ways
        costs = [found.cost for found in first.outcomes]
        return {way.name: even_hazards(costs, [found.cost for found in way.outcomes]) for way in others}


def asked_ends(months: str | None, probability: str | None, hazard: str | None, full: int) -> Asked:
    """The ends of `--end-months` and `--end-probability`, or of `--end-hazard`; InputError for both.

    A hazard is above 0 and at most 1; an end is possible in each month before `full`, which is 2 or more.
    """
    if hazard is None:
        return Asked(read_ends(months, probability, full))
    key, value = ("--end-months", months) if months is not None else ("--end-probability", probability)
    if value is not None:
        rule = "--end-hazard says for every month how probable its end is; give one or the other"
        raise InputError(Problem(rule, key=key, value=value))
    share = Fraction(read_share(hazard, "--end-hazard"))
    if not share:
        rule = "a probability of 0 ends nothing; leave the option away"
        raise InputError(Problem(rule, key="--end-hazard", value=hazard))
    if full == 1:
        rule = "an early end is before the last month: --months must be 2 or more"
        raise InputError(Problem(rule, key="--end-hazard", value=hazard))
    return Asked(ends_with_hazard(share, full), share)
