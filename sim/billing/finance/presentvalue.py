"""Present value, and the rate at which a series of payments is worth nothing.

The rate is an effective annual rate: 1 now is worth 1 + r in a year. Two conventions turn a date into
years; every result names the one that it used:

- `months`: whole months by calendar anniversary, each a twelfth of a year, and the rest as a share of
  the month that it lies in (payments on anniversaries are exactly k / 12 years away);
- `actual/365`: days between the two dates over 365.

Source of the formulas: any textbook of corporate finance (Brealey, Myers, Allen, chapters 2 and 5).
Sums are decimal numbers of 34 digits, so that the same payments give the same cents everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from sim.billing.periods import add_months

__all__ = [
    "CONVENTIONS",
    "CashFlow",
    "Convention",
    "Irr",
    "annuity_due",
    "irr",
    "months_worth",
    "net_present_value",
    "present_value",
    "years_between",
]

Convention = Literal["months", "actual/365"]
CONVENTIONS: tuple[Convention, ...] = ("months", "actual/365")

_DIGITS = Context(prec=34)
_DENSE_LOW, _DENSE_HIGH, _STEPS = -4.0, 12.0, 1600
"""Rates that are searched closely, as u = ln(1 + r): -98 % to 16 million per cent a year."""
_LARGEST = 100.0
"""Beyond them, points grow apart up to here: 2.7e45 per cent a year, 4,000 times as much each month."""
_EXPONENT = 600.0
"""Largest -u x years below which the exponential function has a value."""


@dataclass(frozen=True, slots=True)
class CashFlow:
    """An amount at a date. Where costs are meant, a payment is above 0 and money that comes back below."""

    at: datetime
    """Local time; zones are left out of account, as a bank does."""
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Irr:
    """The rates at which flows are worth nothing: one, none or several."""

    logs: tuple[float, ...]
    """ln(1 + effective annual rate), lowest first: exact enough near -100 % too."""
    reason: str | None
    """Why there is none, or what several mean; None where there is exactly one."""
    one_sided: bool = False
    """Whether the amounts never change their sign, so that no rate is to be looked for."""

    @property
    def yearly(self) -> tuple[float, ...]:
        """Effective annual rates, lowest first."""
        return tuple(math.expm1(log) for log in self.logs)

    @property
    def rate(self) -> float | None:
        """The one effective annual rate; None where there is none or more than one."""
        return self.yearly[0] if len(self.yearly) == 1 else None

    @property
    def monthly(self) -> float | None:
        """The same as a rate a month: (1 + r)^(1/12) - 1."""
        return math.expm1(self.logs[0] / 12) if len(self.logs) == 1 else None


def years_between(since: datetime, until: datetime, convention: Convention = "months") -> Fraction:
    """Years from one local time to another, exact; negative where `until` comes first."""
    since, until = since.replace(tzinfo=None), until.replace(tzinfo=None)
    if convention == "actual/365":
        return Fraction((until - since) // _MICROSECOND, 365 * 86_400_000_000)
    months = (until.year - since.year) * 12 + until.month - since.month
    if add_months(since, months) > until:
        months -= 1
    begin, end = add_months(since, months), add_months(since, months + 1)
    part = Fraction((until - begin) // _MICROSECOND, (end - begin) // _MICROSECOND)
    return (months + part) / 12


def present_value(flows: Iterable[tuple[Fraction, Decimal]], rate: Decimal) -> Decimal:
    """Sum of amount / (1 + rate)^years, 34 digits, not rounded. `rate` is effective and above -1."""
    with localcontext(_DIGITS):
        log = (1 + rate).ln()
        total = Decimal(0)
        for years, amount in flows:
            total += amount * (-log * years.numerator / years.denominator).exp() if years else amount
        return total


def net_present_value(
    flows: Iterable[CashFlow], rate: Decimal, since: datetime, convention: Convention = "months"
) -> Decimal:
    """Value at `since` of dated flows, 34 digits, not rounded."""
    timed = [(years_between(since, flow.at, convention), flow.amount) for flow in flows]
    return present_value(timed, rate)


def annuity_due(payment: Decimal, number: int, months_apart: int, rate: Decimal) -> Decimal:
    """Value of `number` equal payments, the first one now: payment (1 - v^n) / (1 - v).

    v = (1 + rate)^(-months_apart / 12); convention `months`.
    """
    with localcontext(_DIGITS):
        factor = (-(1 + rate).ln() * months_apart / 12).exp()
        return payment * number if factor == 1 else payment * (1 - factor**number) / (1 - factor)


def months_worth(price: Decimal, payment: Decimal, months_apart: int, rate: Decimal) -> Decimal | None:
    """Number of payments in advance, in months and not rounded, that are worth `price` now.

    n = ln(1 - price (1 - v) / payment) / ln v, times the months between payments; None where payments
    for ever are worth less than that.
    """
    with localcontext(_DIGITS):
        factor = (-(1 + rate).ln() * months_apart / 12).exp()
        if factor == 1:
            return price / payment * months_apart
        left = 1 - price * (1 - factor) / payment
        return None if left <= 0 else left.ln() / factor.ln() * months_apart


def irr(flows: Sequence[tuple[Fraction, Decimal]]) -> Irr:
    """All effective annual rates at which the flows (years, amount) are worth nothing.

    Sign changes between the points of a grid and the extrema between them are refined by Brent's
    method. No more roots exist than the amounts change their sign in order of time (Descartes).
    """
    by_time: dict[Fraction, Decimal] = {}
    for years, amount in flows:
        by_time[years] = by_time.get(years, Decimal(0)) + amount
    timed = [(float(years), float(by_time[years])) for years in sorted(by_time) if by_time[years]]
    signs = [amount > 0 for _, amount in timed]
    changes = sum(one != other for one, other in pairwise(signs))
    if not timed:
        return Irr((), "the two plans pay the same at the same times", one_sided=True)
    if not changes:
        reason = "all differences have one sign: one plan is cheaper at every rate"
        return Irr((), reason, one_sided=True)
    roots = _roots(timed)
    if not roots:
        return Irr((), "no rate makes the two plans equal")
    if len(roots) == 1:
        return Irr(tuple(roots), None)
    return Irr(tuple(roots), f"{len(roots)} rates make the two plans equal: go by the net present value")


def _roots(timed: Sequence[tuple[float, float]]) -> list[float]:
    """Values of u = ln(1 + r) with sum amount e^(-u years) = 0."""
    first = timed[0][0]
    shifted = [(years - first, amount) for years, amount in timed]
    size = math.fsum(abs(amount) for _, amount in shifted)

    def value(u: float) -> float:
        return math.fsum(amount * math.exp(-u * years) for years, amount in shifted) / size

    def slope(u: float) -> float:
        return math.fsum(-years * amount * math.exp(-u * years) for years, amount in shifted) / size

    grid = _grid(shifted[-1][0])
    points = sorted({*grid, *_crossings(slope, grid)})
    touching = [u for u in points if abs(value(u)) < 1e-13]
    apart = [root for root in _crossings(value, points) if all(abs(root - u) > 1e-6 for u in touching)]
    return sorted(_distinct([*touching, *apart]))


def _grid(years: float) -> list[float]:
    """Values of u to look at, lowest first; `years` is the time from the first payment to the last."""
    width = (_DENSE_HIGH - _DENSE_LOW) / _STEPS
    low = -min(_LARGEST, _EXPONENT / years)
    points = [_DENSE_LOW + width * step for step in range(_STEPS + 1)]
    while points[-1] < _LARGEST:
        points.append(points[-1] * 1.01)
    while points[0] > low:
        points.insert(0, points[0] * 1.01)
    return [point for point in points if point >= low]


def _crossings(function: Callable[[float], float], points: Sequence[float]) -> list[float]:
    from scipy.optimize import brentq  # slow to load, and most commands never ask for a rate

    values = [function(point) for point in points]
    found = []
    for left, right, low, high in zip(points[:-1], points[1:], values[:-1], values[1:], strict=True):
        if low * high < 0:
            found.append(float(brentq(function, left, right, xtol=1e-14, rtol=1e-14)))
    return found


def _distinct(roots: Sequence[float]) -> list[float]:
    kept: list[float] = []
    for root in sorted(roots):
        if not kept or root - kept[-1] > 1e-6:
            kept.append(root)
    return kept


_MICROSECOND = datetime(2000, 1, 1, 0, 0, 0, 1) - datetime(2000, 1, 1)  # noqa: DTZ001 - only a difference
