"""Amounts divided so that the parts sum to the whole exactly, in whole small units.

Views of the ledger count money in `UNIT`, a hundred-millionth of the currency (the eight places of
the FOCUS export), as integers, so that thousands of parts add up without an error of their own; what
people read is divided anew, in whole cents.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

__all__ = ["PLACES", "UNIT", "cents", "divide", "in_cents", "in_units", "money"]

PLACES = 8
"""Decimal places of a unit."""

UNIT = Decimal(1).scaleb(-PLACES)

_PER_CENT = 10 ** (PLACES - 2)


def divide(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide an amount over weights of at least 0, largest remainder, ties to the first.

    The parts sum to the amount. A negative amount is divided like its opposite, so that a purchase
    and its full refund cancel part by part. Without any weight everything falls on the first part;
    without parts the amount must be 0.
    """
    if not weights:
        if amount:
            msg = "an amount cannot be divided among nobody"
            raise ValueError(msg)
        return []
    if amount < 0:
        return [-part for part in divide(-amount, weights)]
    total = sum(weights)
    if total == 0:
        return [amount, *([0] * (len(weights) - 1))]
    parts, rests = [], []
    for weight in weights:
        part, rest = divmod(amount * weight, total)
        parts.append(part)
        rests.append(rest)
    left = amount - sum(parts)
    for position in sorted(range(len(weights)), key=lambda i: (-rests[i], i))[:left]:
        parts[position] += 1
    return parts


def in_units(amount: Decimal) -> int:
    """An amount of at most eight places in units; more places are rounded, halves to even."""
    return int(amount.scaleb(PLACES).to_integral_value())


def in_cents(amounts: Sequence[int]) -> list[int]:
    """Amounts in units as whole cents that sum to their rounded total: each is off by less than a cent.

    Every amount is rounded down, and the cents left over go to the largest remainders, ties to the
    first.
    """
    total = (2 * sum(amounts) + _PER_CENT) // (2 * _PER_CENT)
    parts = [amount // _PER_CENT for amount in amounts]
    order = sorted(range(len(amounts)), key=lambda i: (-(amounts[i] % _PER_CENT), i))
    for position in order[: total - sum(parts)]:
        parts[position] += 1
    return parts


def cents(amount: Decimal) -> int:
    """An amount of whole cents as their number."""
    return int(amount.scaleb(2).to_integral_value())


def money(number: int, places: int = 2) -> Decimal:
    """So many cents (or units, with `PLACES`) as an amount with fixed places."""
    return Decimal(number).scaleb(-places)
