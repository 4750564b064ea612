"""Lists of numbers on the command line: `1..12`, `2,4,8`, `0..1:0.25`."""

from __future__ import annotations

import re
from decimal import Decimal

from sim.errors import InputError, Problem

__all__ = ["numbers", "whole_numbers"]

MOST = 10_000

_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def numbers(text: str, option: str) -> list[Decimal]:
    """The numbers of a list of numbers and ranges (`a..b` in steps of 1, `a..b:step`), in order.

    Raises InputError for anything else, an empty range, and more than 10,000 numbers.
    """
    found: list[Decimal] = []
    for part in text.split(","):
        piece = part.strip()
        match = _RANGE.fullmatch(piece)
        if match is not None:
            low, high, step = Decimal(match[1]), Decimal(match[2]), Decimal(match[3] or 1)
            if high < low or step <= 0:
                rule = "a range goes from the smaller to the larger number, in steps above 0"
                raise InputError(Problem(rule, key=option, value=piece))
            if (high - low) / step >= MOST:
                raise InputError(Problem(f"a list has at most {MOST:,} numbers", key=option, value=piece))
            found += [low + step * number for number in range(int((high - low) / step) + 1)]
        elif _NUMBER.fullmatch(piece):
            found.append(Decimal(piece))
        else:
            rule = "must be numbers and ranges, such as 1..12 or 2,4,8 or 0..1:0.25"
            raise InputError(Problem(rule, key=option, value=text))
    return found


def whole_numbers(text: str, option: str) -> list[int]:
    """The same, of whole numbers of at least 1."""
    found = numbers(text, option)
    if any(number != int(number) or number < 1 for number in found):
        raise InputError(Problem("must be whole numbers of at least 1", key=option, value=text))
    return [int(number) for number in found]
