"""Windows of the week in which the cards of a lease may train, such as `mon-fri 08:00-20:00`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from sim.units import Micros

__all__ = ["Window", "Windows", "open_times", "parse_window"]

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FORM = re.compile(r"(?:(.+?)\s+)?(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})")
_DAY = 24 * 60
_RULE = (
    "a window is two times of the day, with days before them if it is not for all: 08:00-20:00, "
    "20:00-08:00 over midnight, mon-fri 08:00-20:00 or sat,sun 00:00-24:00"
)


@dataclass(frozen=True, slots=True)
class Window:
    """One window of the week; times are minutes after the midnight that begins the day it opens on."""

    days: frozenset[int]
    """Days of the week on which it opens, 0 is Monday."""
    opens: int
    closes: int
    """Not included; above 1440 where it closes on the next day."""


def parse_window(text: str) -> Window:
    """Read `[days ]HH:MM-HH:MM`; an end at or before the beginning lies on the next day."""
    found = _FORM.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(_RULE)
    days, *figures = found.groups()
    hour, minute, last_hour, last_minute = map(int, figures)
    opens, closes = 60 * hour + minute, 60 * last_hour + last_minute
    if minute > 59 or last_minute > 59 or opens >= _DAY or closes > _DAY:
        raise ValueError(_RULE)
    if opens == closes:
        msg = "a window has a length: write 00:00-24:00 for the whole day"
        raise ValueError(msg)
    return Window(frozenset(_days(days)), opens, closes if closes > opens else closes + _DAY)


def _days(text: str | None) -> Iterator[int]:
    if text is None:
        yield from range(7)
        return
    for part in text.split(","):
        ends = [name.strip() for name in part.split("-")]
        if len(ends) > 2 or not set(ends) <= set(_DAYS):
            raise ValueError(_RULE)
        first, last = _DAYS.index(ends[0]), _DAYS.index(ends[-1])
        yield from ((first + step) % 7 for step in range((last - first) % 7 + 1))


def open_times(
    windows: Sequence[str],
    start_us: Micros,
    until_us: Micros,
    local_time: Callable[[Micros], datetime],
    elapsed_us: Callable[[datetime], Micros],
) -> tuple[tuple[Micros, Micros], ...]:
    """The open times between two instants, half-open, in order, joined where they touch.

    Edges are times of the local clock, also across changes of daylight time: a window of twelve
    hours then has eleven or thirteen. As for every local time of a scenario, a time that happens
    twice is the first of the two, and one that the clock skips is counted on from before the change.
    """
    parsed = [parse_window(text) for text in windows]
    day = local_time(start_us).date() - timedelta(days=1)  # yesterday's may reach over midnight
    last = local_time(until_us).date()
    found: list[tuple[Micros, Micros]] = []
    while day <= last:
        midnight = datetime.combine(day, time())
        for window in parsed:
            if day.weekday() in window.days:
                ends = (midnight + timedelta(minutes=m) for m in (window.opens, window.closes))
                begin_us, end_us = (elapsed_us(end) for end in ends)
                found.append((max(begin_us, start_us), min(end_us, until_us)))
        day += timedelta(days=1)
    return tuple(_joined(found))


def _joined(times: Sequence[tuple[Micros, Micros]]) -> Iterator[tuple[Micros, Micros]]:
    begun: Micros | None = None
    ended: Micros = 0
    for begin, end in sorted(pair for pair in times if pair[0] < pair[1]):
        if begun is not None and begin <= ended:
            ended = max(ended, end)
            continue
        if begun is not None:
            yield begun, ended
        begun, ended = begin, end
    if begun is not None:
        yield begun, ended


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _checked(text: str) -> str:
    parse_window(text)
    return text


_EXAMPLES = ["08:00-20:00", "20:00-08:00", "mon-fri 08:00-20:00"]

Windows = Annotated[
    tuple[Annotated[str, AfterValidator(_checked)], ...],
    BeforeValidator(_as_list),
    Field(min_length=1),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "examples": _EXAMPLES},
                {"type": "array", "items": {"type": "string", "examples": _EXAMPLES}, "minItems": 1},
            ]
        }
    ),
]
"""One window, or a list of them: `08:00-20:00`, `[mon-fri 20:00-08:00, "sat,sun 00:00-24:00"]`."""
