"""How numbers read in sentences and tables: with their unit, as short as they can be, a dash for none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.experiments.statistics import Interval

__all__ = ["DASH", "count", "limits", "money", "plain", "quoted", "share", "span", "sureness", "value"]

DASH = "-"

BARE = frozenset({"", "jobs", "orders", "failures", "interruptions"})
"""Units that the name of the metric says already."""


def plain(text: str) -> str:
    """The text on one line and without control characters, which could drive a terminal."""
    return "".join(sign if sign.isprintable() else " " for sign in text).strip()


def quoted(name: str) -> str:
    """A name between quotation marks, for names hold commas and words of all kinds."""
    return f"'{plain(name)}'"


def money(amount: float | None, currency: str = "CNY") -> str:
    """`107,520 CNY`; amounts below 100 keep their cents."""
    if amount is None:
        return DASH
    places = 0 if abs(amount) >= 100 or amount == round(amount) else 2
    return f"{_zero(round(amount, places)):,.{places}f} {currency}"


def span(hours: float | None, like: float | None = None) -> str:
    """`0 h`, `3 min`, `1.3 h`, `380 h`: hours, and minutes below six minutes.

    `like` is a time, hours, whose unit is used as well, so that the numbers of one cell have one unit.
    """
    if hours is None:
        return DASH
    if 0 < abs(hours if like is None else like) < 0.1:
        return f"{_zero(round(hours * 60, 1)):g} min"
    places = 0 if hours == 0 or abs(hours) >= 99.95 else 1
    return f"{_zero(round(hours, places)):,.{places}f} h"


def share(part: float | None) -> str:
    """`95.0 %`."""
    return DASH if part is None else f"{_zero(round(100 * part, 1)):.1f} %"


def sureness(confidence: float) -> str:
    """A draw never proves certainty: `97 %`, `99.5 %`, and `above 99.9 %` where every draw agreed.

    From 99 % on a place more, cut off: what falls short of certainty is not rounded up to it.
    """
    if confidence > 0.999:
        return "above 99.9 %"
    if confidence < 0.99:
        return f"{min(99, round(100 * confidence))} %"
    return f"{math.floor(1000 * confidence + 1e-9) / 10:.1f} %"


def count(number: float | None) -> str:
    """`12`, `0.3`, `1,204`: whole numbers without places, means with one."""
    if number is None:
        return DASH
    places = 0 if number == round(number) or abs(number) >= 1000 else 1 if abs(number) >= 0.05 else 3
    return f"{_zero(round(number, places)):,.{places}f}"


def value(number: float | None, unit: str) -> str:
    """A number in the way of its unit: `CNY`, `h`, `share`, a ratio (`1`), or a count."""
    if unit.startswith("CNY"):
        return money(number, unit)
    if unit == "share":
        return share(number)
    if unit == "h":
        return span(number)
    if unit == "1":
        return DASH if number is None else f"{_zero(round(number, 2)):,.2f}"
    text = count(number)
    return text if number is None or unit in BARE else f"{text} {unit}"


def limits(interval: Interval, unit: str) -> str:
    """`[1.1, 1.5]` in the unit of the mean; empty where there are no limits or they are equal."""
    low, high = interval.low, interval.high
    if low is None or high is None or low == high:
        return ""
    if unit == "h":
        texts = span(low, interval.mean), span(high, interval.mean)
    else:
        texts = value(low, unit), value(high, unit)
    numbers = (text.rpartition(" ")[0] or text for text in texts)
    return f"[{', '.join(numbers)}]"


def _zero(number: float) -> float:
    return number + 0.0  # -0.0 becomes 0.0
