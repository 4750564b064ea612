"""When one way to pay overtakes another, in closed form.

A prepaid period of p months costs A whole. Kept n months, a plan paid month by month at M a month
costs n M. They are equal at n = A / M: in months, as a share n / p of the period, and as that share
of the period's hours. Against rent by the hour at h an hour, a month of M is worth M / h hours.

These formulas average over the steps of the shorter plan and know no refund; what the steps and the
refund rule make of them is read off the billed curve (`outcomes`). Source: the contracts' own prices;
the articles' break-even of "six months" is what these formulas correct (9.6 months at 0.80).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.finance.presentvalue import months_worth
from sim.billing.rounding import as_decimal

__all__ = [
    "HOURS_OF_MONTH",
    "PlanCost",
    "TermBreakEven",
    "UseBreakEven",
    "step_up_month",
    "term_break_even",
    "use_break_even",
]

HOURS_OF_MONTH = Fraction(730)
"""Hours of a mean month, 365 x 24 / 12; the articles count 720."""


@dataclass(frozen=True, slots=True)
class PlanCost:
    """What one period of a plan costs, all units together."""

    name: str
    months: int
    """Months in one period."""
    amount: Fraction
    """Currency a period."""

    @property
    def monthly(self) -> Fraction:
        """Currency a month, if the whole period is used."""
        return self.amount / self.months


@dataclass(frozen=True, slots=True)
class TermBreakEven:
    """How long the cards must be kept for the longer commitment to be the cheaper one."""

    longer: str
    shorter: str
    months: Fraction
    """Months kept at which both cost the same, no refund."""
    share: Fraction
    """That over the longer plan's period; above 1: the longer plan never pays within one period."""
    hours: Fraction
    """That share of the hours of the period (730 a month)."""
    discounted_months: Decimal | None
    """The same with both plans' payments discounted; None where it never happens."""

    @property
    def pays(self) -> bool:
        """Whether the longer plan is cheaper when its whole period is used."""
        return self.share < 1


@dataclass(frozen=True, slots=True)
class UseBreakEven:
    """How many hours a month must be used for the prepaid card to be cheaper than rent by the hour."""

    prepaid: str
    hourly: str
    hours: Fraction
    """Hours a month, of one unit by the hour."""
    share: Fraction
    """That over 730 hours: the break-even utilisation, committed rate over hourly rate."""


def term_break_even(one: PlanCost, other: PlanCost, rate: Decimal = Decimal(0)) -> TermBreakEven | None:
    """Break-even of two plans with periods of different length; None where the lengths are equal.

    `rate` is the effective annual rate of `discounted_months`, payments by months.
    """
    if one.months == other.months:
        return None
    longer, shorter = (one, other) if one.months > other.months else (other, one)
    months = longer.amount / shorter.monthly
    return TermBreakEven(
        longer=longer.name,
        shorter=shorter.name,
        months=months,
        share=months / longer.months,
        hours=months * HOURS_OF_MONTH,
        discounted_months=months_worth(
            as_decimal(longer.amount), as_decimal(shorter.amount), shorter.months, rate
        ),
    )


def use_break_even(prepaid: PlanCost, name: str, hour: Fraction, units: int = 1) -> UseBreakEven:
    """Hours a month at which `units` prepaid units cost as much as `units` units by the hour.

    `hour` is currency per unit and hour.
    """
    hours = prepaid.monthly / (hour * units)
    return UseBreakEven(prepaid.name, name, hours, hours / HOURS_OF_MONTH)


def step_up_month(whole: Fraction, first: Fraction, added_month: Fraction, months: int = 12) -> Fraction:
    """Month up to which taking all cards for the period at once is cheaper than adding some later.

    All at once costs `whole`. Beginning with fewer costs `first`, and those added at month m cost
    `added_month` for each of the `months` - m left. Equal at m = months - (whole - first) / added_month;
    0 or below: adding later is never dearer.
    """
    return months - (whole - first) / added_month
