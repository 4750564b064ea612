"""Amounts as a person of the page's language writes them, each with its unit."""

from __future__ import annotations

from datetime import date

from sim.ui.language import language

__all__ = ["day", "hours", "money", "month", "number", "share"]

UNKNOWN = "–"


def number(value: float | None, digits: int = 0) -> str:
    """A number with thousands apart: 26,880."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def money(amount: float | None, digits: int = 0, currency: str = "CNY") -> str:
    """`26,880 CNY` or `26,880 元`; results are always in yuan, an offer's own price may not be."""
    if amount is None:
        return UNKNOWN
    return f"{amount:,.{digits}f} {'元' if (language(), currency) == ('zh', 'CNY') else currency}"


def hours(value: float | None, digits: int = 1) -> str:
    """Hours, or days from two of them on: `17.9 h`, `3.2 days`."""
    if value is None:
        return UNKNOWN
    chinese = language() == "zh"
    if abs(value) >= 48:
        return f"{value / 24:,.{digits}f} {'天' if chinese else 'days'}"
    return f"{value:,.{digits}f} {'小时' if chinese else 'h'}"


def share(value: float | None, digits: int = 1) -> str:
    """A share as per cent: `62.5 %`."""
    return UNKNOWN if value is None else f"{100 * value:.{digits}f} %"


def day(value: date) -> str:
    """A date: `2026-06-01` or `2026年6月1日`."""
    return f"{value.year}年{value.month}月{value.day}日" if language() == "zh" else value.isoformat()[:10]


def month(value: date) -> str:
    """A month: `2026-06` or `2026年6月`."""
    return f"{value.year}年{value.month}月" if language() == "zh" else f"{value:%Y-%m}"
