"""What a set of recorded jobs looks like, as numbers: arrivals, run times, widths, load over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sim.workload.distributions import Floats
from sim.workload.trace_rows import MOST_CARDS

__all__ = ["QUANTILES", "WIDTHS", "Description", "describe"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""Of run times and waits."""
WIDTHS = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, MOST_CARDS))
"""Groups of widths, cards, ends included."""
_POINTS = 400
"""Points of the curve of load, at most."""
_LOAD = ("from_day", "day", "busy", "busy_peak", "asked", "asked_peak")
_DAY = 86400.0
_ROUNDING_S = 2
"""Seconds by which whole seconds of start, end and run time may disagree."""


@dataclass(frozen=True, slots=True)
class Description:
    """Figures of recorded jobs. Times are in the unit of the name; quantiles by linear interpolation."""

    jobs: int
    replayable: int
    origin: datetime | None
    """Local time of second 0; None: the trace has no dates."""
    days: float
    """From the first to the last submission."""
    by_hour: tuple[tuple[int, float], ...]
    """Hours 0 to 23, local: submissions in all, and a day. Empty without dates."""
    by_weekday: tuple[tuple[int, float], ...]
    """Monday to Sunday: submissions in all, and a day of that name. Empty without dates."""
    run_times: Mapping[str, tuple[int, tuple[float, ...], float]]
    """Group of widths -> complete run times: jobs, quantiles and mean, hours."""
    censored: int
    """Jobs whose run time is not complete; in no quantile."""
    waits: tuple[int, tuple[float, ...], float] | None
    """Recorded waits: jobs, quantiles and mean, hours; None where none is recorded."""
    widths: Mapping[int, tuple[int, float]]
    """Cards -> jobs and card-hours."""
    load: pd.DataFrame
    """Cards over time, in equal stretches: `from_day` and `day` (beginning and middle, from second 0), means
    `busy` and `asked` (cards that jobs would use if each ran as it was submitted), and `busy_peak` and
    `asked_peak` (the most at any instant of the stretch)."""
    assumed_start: bool
    """Whether busy cards are by submission, for want of recorded starts."""
    suspended: int
    """Jobs that ran for less than end - start: nobody knows when they stood still, so that their use is
    spread evenly in `busy`."""


def describe(jobs: pa.Table, about: Mapping[str, Any]) -> Description:
    """Figures of jobs in the normal form (`about` as the import wrote it).

    Only jobs with cards, a run time and a submission enter the load; all submissions enter arrivals.
    """
    submit, runtime, gpus = (_column(jobs, name) for name in ("submit_s", "runtime_s", "gpus"))
    start, wait = _column(jobs, "start_s"), _column(jobs, "wait_s")
    complete = (runtime > 0) & _is_null(jobs, "censored")
    known = submit[~np.isnan(submit)]
    origin = datetime.fromisoformat(about["origin"]) if about.get("origin") else None
    by_hour, by_weekday = _arrivals(known, origin, about.get("timezone"))
    used = (gpus > 0) & (runtime > 0) & ~np.isnan(submit)
    assumed = not np.any(~np.isnan(start[used]))
    begin = np.where(np.isnan(start), submit, start)
    end = _column(jobs, "end_s")
    paused = end - begin > runtime + _ROUNDING_S
    lasted = np.where(paused, end - begin, runtime)
    level = np.where(used, gpus * runtime / np.maximum(lasted, 1e-6), 0.0)
    return Description(
        jobs=len(jobs),
        replayable=int(_is_null(jobs, "left_out").sum()),
        origin=origin,
        days=float(known.max() - known.min()) / _DAY if len(known) else 0.0,
        by_hour=by_hour,
        by_weekday=by_weekday,
        run_times=_run_times(runtime, gpus, complete),
        censored=int(((runtime > 0) & ~complete).sum()),
        waits=_summary(wait[~np.isnan(wait)] / 3600) if np.any(~np.isnan(wait)) else None,
        widths=_widths(gpus, runtime),
        load=_load(
            (submit[used], runtime[used], gpus[used]),
            (begin[used], lasted[used], level[used]),
        ),
        assumed_start=assumed,
        suspended=int((paused & used).sum()),
    )


def _column(jobs: pa.Table, name: str) -> Floats:
    if name not in jobs.column_names:
        return np.full(len(jobs), np.nan)
    return np.array(pc.fill_null(pc.cast(jobs.column(name), pa.float64()), np.nan).to_numpy())


def _is_null(jobs: pa.Table, name: str) -> Any:
    if name not in jobs.column_names:
        return np.ones(len(jobs), dtype=bool)
    return pc.is_null(jobs.column(name)).to_numpy()


def _summary(values: Floats) -> tuple[int, tuple[float, ...], float]:
    return len(values), tuple(np.quantile(values, QUANTILES).tolist()), float(values.mean())


def _run_times(
    runtime: Floats, gpus: Floats, complete: Any
) -> dict[str, tuple[int, tuple[float, ...], float]]:
    found = {}
    groups = [("all", np.ones(len(gpus), dtype=bool))]
    groups += [(width_name(low, high), (gpus >= low) & (gpus <= high)) for low, high in WIDTHS]
    for name, here in groups:
        values = runtime[complete & here] / 3600
        if len(values):
            found[name] = _summary(values)
    return found


def width_name(low: int, high: int) -> str:
    """`1 card`, `3-4 cards`, `17 cards or more`."""
    if low == high:
        return "1 card" if low == 1 else f"{low} cards"
    return f"{low} cards or more" if high >= MOST_CARDS else f"{low}-{high} cards"


def _widths(gpus: Floats, runtime: Floats) -> dict[int, tuple[int, float]]:
    known = ~np.isnan(gpus)
    hours = np.where(np.isnan(runtime), 0.0, runtime)[known] * gpus[known] / 3600
    numbers, places = np.unique(gpus[known], return_inverse=True)
    counts, sums = np.bincount(places), np.bincount(places, weights=hours)
    return {
        int(number): (int(count), float(total))
        for number, count, total in zip(numbers.tolist(), counts.tolist(), sums.tolist(), strict=True)
    }


def _arrivals(
    submit: Floats, origin: datetime | None, zone: str | None
) -> tuple[tuple[tuple[int, float], ...], tuple[tuple[int, float], ...]]:
    """Submissions by local hour and weekday, and a day."""
    if origin is None or not len(submit):
        return (), ()
    place = ZoneInfo(zone) if zone else UTC
    first = (origin.replace(tzinfo=place) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1)
    instants = np.rint(submit * 1e6).astype(np.int64) + int(first)
    local = pd.DatetimeIndex(instants.astype("datetime64[us]")).tz_localize("UTC").tz_convert(place)
    hours = np.bincount(local.hour.to_numpy(), minlength=24).tolist()
    weekdays = np.bincount(local.day_of_week.to_numpy(), minlength=7).tolist()
    dates = pd.date_range(local.min().date(), local.max().date(), freq="D")
    of_a_name = np.bincount(dates.day_of_week.to_numpy(), minlength=7).tolist()
    by_hour = tuple((count, count / len(dates)) for count in hours)
    by_weekday = tuple((count, count / max(1, days)) for count, days in zip(weekdays, of_a_name, strict=True))
    return by_hour, by_weekday


_Use = tuple[Floats, Floats, Floats]
"""Beginnings and lengths, seconds, and cards."""


def _load(asked: _Use, busy: _Use) -> pd.DataFrame:
    """Means and peaks over equal stretches, whole hours long, up to the last start.

    Not up to the last end: a job that runs for weeks after all others says little.
    """
    begins = np.concatenate((asked[0], busy[0]))
    if not len(begins):
        return pd.DataFrame({name: pd.Series([], dtype="float64") for name in _LOAD})
    first, last = float(begins.min()), float(begins.max())
    step = 3600.0 * max(1, int(np.ceil((last - first) / 3600 / _POINTS)))
    edges = np.asarray(
        first + step * np.arange(int(np.ceil(max(last - first, 1.0) / step)) + 1), dtype=np.float64
    )
    found = {"from_day": edges[:-1] / _DAY, "day": (edges[:-1] + step / 2) / _DAY}
    for name, (begin, lasted, cards) in (("busy", busy), ("asked", asked)):
        moments, level = _steps(begin, begin + lasted, cards)
        found[name] = np.diff(_card_seconds(edges, moments, level)) / step
        found[f"{name}_peak"] = _peaks(edges, moments, level)
    return pd.DataFrame(found)[list(_LOAD)]


def _steps(begin: Floats, end: Floats, gpus: Floats) -> tuple[Floats, Floats]:
    """The cards in use as a curve of steps: moments, and the level from each on."""
    moments = np.concatenate((begin, end))
    change = np.concatenate((gpus, -gpus))
    order = np.argsort(moments, kind="stable")
    return moments[order], np.cumsum(change[order])


def _peaks(edges: Floats, moments: Floats, level: Floats) -> Floats:
    """The most cards in use at any instant of each stretch [edge, next edge).

    Of changes at one moment only the level after the last of them lasts: cards that one job gives back
    and another takes are not used twice. In whole microseconds, so that an end and the next start are one.
    """
    edges, moments = np.rint(edges * 1e6), np.rint(moments * 1e6)
    last = np.append(moments[1:] != moments[:-1], True)
    moments, level = moments[last], np.concatenate(([0.0], level[last]))
    first = np.searchsorted(moments, edges[:-1], side="right")
    after = np.searchsorted(moments, edges[1:], side="left")
    peaks = [level[low : high + 1].max() for low, high in zip(first.tolist(), after.tolist(), strict=True)]
    return np.array(peaks, dtype=np.float64)


def _card_seconds(edges: Floats, moments: Floats, level: Floats) -> Floats:
    """Card-seconds used before each edge, exact."""
    area = np.concatenate(([0.0], np.cumsum(level[:-1] * np.diff(moments))))
    place = np.searchsorted(moments, edges, side="right") - 1
    inside = np.maximum(place, 0)
    value = area[inside] + level[inside] * (edges - moments[inside])
    return np.asarray(np.where(place < 0, 0.0, value))
