"""When a trace was recorded, held against when a scenario replays it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sim.errors import InputError
from sim.model.said import said
from sim.model.scenario import Scenario

__all__ = ["RecordedWhen", "moved", "recorded_when"]

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_NEAR = timedelta(minutes=1)
"""A start that is written to the minute is the record's."""


@dataclass(frozen=True, slots=True)
class RecordedWhen:
    """Second 0 of a trace, as its import has written it."""

    origin: datetime
    """Local time without a zone."""
    timezone: str | None
    """IANA name; None: the import was not told."""


def recorded_when(path: Path) -> RecordedWhen | None:
    """When the jobs of an imported trace were recorded; None where the file does not say."""
    if path.suffix.lower() != ".parquet":
        return None
    from sim.workload.normal import open_trace  # here: pyarrow takes long to import

    try:
        with open_trace(path) as trace:
            origin, zone = trace.about.get("origin"), trace.about.get("timezone")
    except InputError:
        return None  # the reader of its rows says so
    try:
        when = datetime.fromisoformat(str(origin))
        if zone is not None:
            ZoneInfo(str(zone))
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None
    return RecordedWhen(when.replace(tzinfo=None), None if zone is None else str(zone))


def moved(scenario: Scenario, recorded: RecordedWhen | None) -> Iterator[str]:
    """A sentence where the scenario replays its trace at another time than the recorded one.

    Recorded local times without a zone are held against the scenario's local start alone.
    """
    trace = scenario.workload.trace
    if recorded is None or trace is None:
        return
    zone = scenario.zone if recorded.timezone is None else ZoneInfo(recorded.timezone)
    first = recorded.origin.replace(tzinfo=zone).astimezone(UTC) + timedelta(microseconds=trace.since)
    now, then = scenario.start_instant, first.astimezone(zone)
    end = now + timedelta(microseconds=scenario.horizon_us)
    same_clock = all(
        moment.astimezone(zone).utcoffset() == moment.astimezone(scenario.zone).utcoffset()
        for moment in (now, end)
    )
    if abs(now - first) < _NEAR and same_clock:
        return
    named = "" if recorded.timezone is None else f" {recorded.timezone}"
    keys = f"start: {then.replace(tzinfo=None, microsecond=0).isoformat()}"
    yield said(
        "The trace was recorded from {then} on and is replayed from {now} on: hours, weekdays and months "
        "of billing are not those of the record; with {keys} they are.",
        then=f"{_shown(then)}{named}",
        now=f"{_shown(now.astimezone(scenario.zone))} {scenario.timezone}",
        keys=keys if recorded.timezone is None else f"{keys}, timezone: {recorded.timezone}",
    )


def _shown(moment: datetime) -> str:
    """`Mon 2026-01-05 00:46:02`, whatever the locale."""
    return f"{_DAYS[moment.weekday()]} {moment:%Y-%m-%d %H:%M:%S}"
