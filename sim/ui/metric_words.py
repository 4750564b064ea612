"""Metrics as people read them: a name and what it means in the page's language, numbers with their unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sim.experiments.wording import DASH, count, share, sureness
from sim.metrics import METRICS
from sim.ui.amounts import UNKNOWN
from sim.ui.language import language, word

__all__ = [
    "cell",
    "confidence",
    "difference",
    "figure",
    "metric_help",
    "metric_name",
    "named",
    "of_limits",
    "unit_of",
]

_KEY = re.compile(r"\b(" + "|".join(METRICS) + r")\b")

POINTS = "points"
"""Unit of a difference between shares: percentage points."""

SHORT_H = 0.1
"""Below this, hours are written as minutes."""


def metric_name(metric: str) -> str:
    """The name of a metric; the metric's own key where a document of another version has one unknown here."""
    return word(f"metrics.{metric}") if metric in METRICS else metric


def named(text: str) -> str:
    """A sentence of the program with the names of metrics in place of their keys."""
    return _KEY.sub(lambda found: metric_name(found[0]), text)


def metric_help(metric: str) -> str:
    """What the metric means, in a sentence; empty where it is not known."""
    return word(f"metrics.{metric}_means") if metric in METRICS else ""


def unit_of(metric: str) -> str:
    """The unit of a metric as axes and headings name it: `CNY`, `h`, `%`, `GPU-h`; empty for ratios."""
    unit = METRICS[metric].unit if metric in METRICS else ""
    return "%" if unit == "share" else "" if unit == "1" else word_of_unit(unit)


def word_of_unit(unit: str) -> str:
    """A unit of the program in the page's language."""
    if language() != "zh":
        return unit
    return _CHINESE.get(unit, unit)


_CHINESE: Mapping[str, str] = {
    "CNY": "元",
    POINTS: "个百分点",
    "CNY/month": "元/月",
    "CNY/job": "元/作业",
    "CNY/GPU-h": "元/卡时",
    "h": "小时",
    "min": "分钟",
    "jobs": "个作业",
    "orders": "次",
    "failures": "次",
    "interruptions": "次",
    "submissions": "次",
    "GPU-h": "卡时",
}


def figure(number: float | None, unit: str, like: float | None = None) -> str:
    """A number with its unit; `like` is a time, hours, whose unit is used as well."""
    if number is None:
        return UNKNOWN
    if unit == "h":
        short = 0 < abs(number if like is None else like) < SHORT_H
        amount = number * 60 if short else number
        places = 0 if abs(amount) >= 99.95 or amount == 0 else 1
        return f"{amount + 0.0:,.{places}f} {word_of_unit('min' if short else 'h')}"
    if unit.startswith("CNY"):
        places = 0 if abs(number) >= 100 or number == round(number) else 2
        return f"{round(number, places) + 0.0:,.{places}f} {word_of_unit(unit)}"
    if unit == "share":
        return share(number)
    if unit == POINTS:
        return f"{round(100 * number, 1) + 0.0:,.1f} {word_of_unit(POINTS)}"
    if unit in ("1", ""):
        return f"{round(number, 2) + 0.0:,.2f}"
    text = count(number)
    return UNKNOWN if text == DASH else f"{text} {word_of_unit(unit)}"


def confidence(value: float | None) -> str:
    """How sure a choice is, as the command line says it: `97 %`, `99.5 %`, never quite certain."""
    return word("compare.unknown") if value is None else sureness(value).replace("above", ">")


def cell(mean: float | None, low: float | None, high: float | None, unit: str) -> str:
    """`22.9 h [14.5, 31.2]`: a mean with its interval in one unit; the mean alone where there is none."""
    text = figure(mean, unit)
    if mean is None or low is None or high is None or low == high:
        return text
    ends = [figure(end, unit, mean) for end in (low, high)]
    return f"{text} [{', '.join(end.rpartition(' ')[0] or end for end in ends)}]"


def difference(limits: Mapping[str, Any]) -> str:
    """`cell` of a difference: with its sign; shares differ by percentage points."""
    unit = POINTS if limits["unit"] == "share" else str(limits["unit"])
    text = cell(limits["mean"], limits["low"], limits["high"], unit)
    return f"+{text}" if (limits["mean"] or 0) > 0 else text


def of_limits(limits: Mapping[str, Any]) -> str:
    """`cell` of a metric as result documents hold it."""
    return cell(limits["mean"], limits["low"], limits["high"], str(limits["unit"]))
