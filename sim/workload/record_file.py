"""A record from the table of an import."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sim.errors import InputError, Problem
from sim.workload.record import Record, record_of

__all__ = ["NO_START", "record_from"]

NO_START = datetime(2001, 1, 1)  # noqa: DTZ001 - a local time, and a Monday
"""Start of a record that does not say when it was made: hours and weekdays are then counted from it."""
_COLUMNS = (
    *("submit_s", "gpus", "runtime_s", "team", "state", "wait_s", "censored", "left_out"),
    *("user", "name", "id"),
)


def record_from(
    jobs: pa.Table,
    about: Mapping[str, Any],
    file: str,
    start: datetime | None = None,
    timezone: str | None = None,
) -> Record:
    """The record of an imported table; `about` is what the import said, `file` is named in problems.

    `start` is the local time of second 0 and `timezone` its zone; default: what the import wrote, else
    NO_START in UTC. Raises InputError for an unknown zone or state, or no job.
    """
    zone = timezone or str(about.get("timezone") or "UTC")
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        rule = "unknown time zone; write it as in Asia/Shanghai or UTC"
        raise InputError(Problem(rule, key="--timezone", value=zone)) from None
    begin = start or _origin(about.get("origin"), zone) or NO_START
    try:
        return record_of(_plain(jobs), begin, zone)
    except InputError as error:
        raise InputError(
            Problem(one.rule, file, one.line, one.key, one.value, one.known) for one in error.problems
        ) from None


def _origin(text: object, zone: str) -> datetime | None:
    """Local time of second 0 as the import has written it."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def _plain(table: pa.Table) -> pd.DataFrame:
    if "left_out" in table.column_names:
        table = table.filter(pc.is_null(table.column("left_out"))).drop_columns(["left_out"])
    columns = {}
    for name in [name for name in _COLUMNS if name in table.column_names]:
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
        columns[name] = column.to_pandas()
    return _with_names(pd.DataFrame(columns))


def _with_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Where jobs have no names of their own, ids that came again are names: `sweep`, `sweep#2`."""
    if "id" not in frame:
        return frame
    ids = frame.pop("id").astype("string")
    if "name" in frame and frame["name"].notna().any():
        return frame
    stems = ids.str.replace(r"#\d+$", "", regex=True)
    return frame.assign(name=stems) if bool((stems != ids).any()) else frame
