"""Cells of a row of measurements: text, numbers, and what makes a row unreadable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["LARGEST", "MisreadError", "number", "positive", "text"]

LARGEST = 1_000_000_000
"""Above this no size of a run is meant in earnest, and sums of squares would leave what a float holds."""


class MisreadError(Exception):
    """Why nothing can be said of a row; the text is for people."""


def text(row: Mapping[str, Any], key: str) -> str:
    """A cell as text; empty where the column is missing or holds nothing."""
    value = row.get(key)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).strip()


def number(row: Mapping[str, Any], key: str) -> float | None:
    """A cell as a number; None where it is empty or no number."""
    try:
        value = float(text(row, key).replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def positive(row: Mapping[str, Any], key: str, default: float | None = None) -> float:
    """A cell as a number from 1 to `LARGEST`; `default` stands for an empty one.

    Raises MisreadError with the reason for any other number, for text, and for an empty cell without default.
    """
    value = number(row, key)
    if value is None and text(row, key):
        msg = f"{key} is no number: {text(row, key)!r}"
        raise MisreadError(msg)
    if value is None:
        value = default
    if value is None:
        msg = f"{key} is not given"
        raise MisreadError(msg)
    if value < 1:
        msg = f"{key} is {value:g}; it must be at least 1"
        raise MisreadError(msg)
    if value > LARGEST:
        msg = f"{key} is {value:g}; it must be at most {LARGEST:,}"
        raise MisreadError(msg)
    return value
