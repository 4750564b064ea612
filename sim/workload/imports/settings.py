"""What the user says about an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sim.errors import InputError, Problem

__all__ = ["Settings", "zone_of"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of an import; every default is the plain reading of the file."""

    format: str | None = None
    """Name of a reader; None: recognised from the content."""
    encoding: str | None = None
    """Encoding of a text; None: recognised from the content."""
    columns: tuple[str, ...] = ()
    """sacct without a header: the names of its columns, in order."""
    preset: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Field of the normal form -> column of the file, with an optional unit (`Duration:min`)."""
    map_file: Path | None = None
    """A map in YAML."""
    unit: str | None = None
    """Unit of the mapped times whose columns do not say theirs: s, min, h, ..."""
    decimal: str = "."
    """Decimal sign of numbers, `.` or `,`."""
    dates: str | None = None
    """Order of `3/2/2026`: day-first or month-first; None: such times are not read."""
    sheet: str | None = None
    timezone: str | None = None
    """Zone of local times; None: unknown, taken as they stand."""
    team: str | None = None
    """Column whose text is the team; None: as the format's rule says."""
    cards: Mapping[str, str] = field(default_factory=dict)
    """Recorded kind of card -> card id of the catalogue."""
    since: datetime | None = None
    until: datetime | None = None
    """Window, local time; half-open."""
    teams: tuple[str, ...] = ()
    """Only jobs of these teams; empty: all."""
    thin: float | None = None
    thicken: float | None = None
    shuffle: bool = False
    seed: int = 0
    strict: bool = False
    replayable: bool = False
    """Whether an import without a job that can be replayed is an error."""
    widest: int | None = None
    """Cards of the largest leased machine, for the report."""
    most: int | None = None
    """Cards of the largest pool that one job may use, for the report."""


def zone_of(name: str | None) -> ZoneInfo | None:
    """The zone of this name; None for None. Raises InputError for a name that is no zone."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        rule = "there is no such time zone; zones are named as Asia/Shanghai or UTC"
        raise InputError(Problem(rule, key="--timezone", value=name)) from None
