"""What a study tells its page: the decision, tables, and words for its charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim.experiments.run_read import interval_of
from sim.experiments.wording import DASH, limits, value
from sim.report.page_html import Html, Part, lines

__all__ = ["Told", "figure"]


@dataclass(frozen=True, slots=True)
class Told:
    """A study in the words of its page."""

    title: str
    """After the name of the scenario, in the title of the window."""
    about: str
    decision: tuple[str, ...]
    first: tuple[Part, ...]
    """Sections before the charts."""
    details: tuple[Part, ...]
    """Sections after them."""
    charts: Mapping[str, tuple[str, str]]
    """Name of a chart -> its caption, and words for who cannot see it."""


def figure(found: Mapping[str, Any] | None, unit: str, plus: bool = False) -> Html:
    """A mean with its limits below; a dash for none."""
    if found is None or found["mean"] is None:
        return lines(DASH)
    interval = interval_of(found)
    sign = "+" if plus and found["mean"] > 0 else ""
    return lines("\n".join(filter(None, (sign + value(interval.mean, unit), limits(interval, unit)))))
