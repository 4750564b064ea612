"""From exact amounts to whole cents, and from amounts to text that a calculator can follow.

Exact amounts are `Fraction`s, so that a third of an hour times a price has no error of its own
before it is rounded, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, lcm

from sim.units import CENT

__all__ = ["apportion", "as_decimal", "round_cents", "show_factor", "show_money", "show_number"]

_LONGEST_FACTOR = 12
"""Signs of a factor that people write; one that is worked out has 28 digits."""
_LARGEST_DENOMINATOR = 10**9
"""Of such a factor, in cents of list prices."""


def as_decimal(value: Fraction) -> Decimal:
    """The value with the digits of `Decimal`'s default context (28); exact where it ends before."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def round_cents(value: Fraction) -> Decimal:
    """Round an exact amount of at least 0 to the cent, halves up."""
    return floor(value * 100 + Fraction(1, 2)) * CENT


def apportion(exact: Sequence[Fraction]) -> list[Decimal]:
    """Round lines of one invoice to the cent so that they sum to the rounded exact total.

    Lines rounded one by one drift from the total: 81 lines of 0.0049 would be billed nothing.
    Here the total (0.3969) is rounded once (0.40), every line is rounded down, and the cents left
    over go to the largest remainders, ties to the first.
    """
    whole = lcm(*(amount.denominator for amount in exact))
    parts = [amount.numerator * 100 * (whole // amount.denominator) for amount in exact]  # cents / whole
    total = (2 * sum(parts) + whole) // (2 * whole)
    cents, rests = [part // whole for part in parts], [part % whole for part in parts]
    order = sorted(range(len(exact)), key=lambda i: (-rests[i], i))
    for i in order[: total - sum(cents)]:
        cents[i] += 1
    return [count * CENT for count in cents]


def show_money(amount: Decimal | Fraction) -> str:
    """Two decimals at least, six at most, thousands apart: `2,800.00`, `20.835`."""
    whole, _, decimals = _digits(amount).partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}"


def show_number(value: Decimal | Fraction) -> str:
    """As few decimals as needed, six at most: `5`, `0.25`, `0.333333`."""
    return _digits(value)


def show_factor(factor: Decimal) -> str:
    """A factor as it is stated, `0.80`; one that a price makes (11,800 / 14,160) as the fraction `5/6`."""
    text = str(factor)
    if len(text) <= _LONGEST_FACTOR:
        return text
    fraction = Fraction(factor).limit_denominator(_LARGEST_DENOMINATOR)
    return str(fraction) if as_decimal(fraction) == factor else show_number(factor)


def _digits(value: Decimal | Fraction) -> str:
    number = as_decimal(value) if isinstance(value, Fraction) else value
    text = f"{number:,.6f}"
    return text.rstrip("0").rstrip(".")
