"""The small types of a scenario file: durations, local times, rates, quantities that may be random."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)

from sim.model.base import Strict
from sim.model.shapes import Mixture, Quantiles
from sim.units import Micros, format_duration, parse_duration, parse_growth, parse_rate

__all__ = [
    "Choice",
    "Distribution",
    "Duration",
    "Exponential",
    "Geometric",
    "Growth",
    "Horizon",
    "LocalTime",
    "LogNormalShape",
    "Mixture",
    "Quantiles",
    "Quantity",
    "Rate",
    "Triangular",
    "check_weights",
    "Uniform",
]


_FIRST_YEAR, _LAST_YEAR = 1970, 2199
"""Outside of these, sums of times and zones would leave what the calendar can hold."""


def _duration(value: Any) -> Micros:
    if isinstance(value, str):
        return parse_duration(value)
    msg = "a duration is a number with a unit, such as 90s, 10min, 4h, 14d or 2w"
    raise ValueError(msg)


def _local_time(value: Any) -> datetime:
    time = _any_local_time(value)
    if not _FIRST_YEAR <= time.year <= _LAST_YEAR:
        msg = f"a time lies in the years {_FIRST_YEAR} to {_LAST_YEAR}"
        raise ValueError(msg)
    return time


def _any_local_time(value: Any) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            msg = "a time is a date or a date with a time, such as 2026-01-01 or 2026-01-01T08:00"
            raise ValueError(msg) from None
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            msg = "a time is local in the scenario's timezone: write it without an offset"
            raise ValueError(msg)
        return datetime(*value.timetuple()[:6], value.microsecond)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    msg = "a time is a date or a date with a time, such as 2026-01-01 or 2026-01-01T08:00"
    raise ValueError(msg)


def _write_time(value: datetime) -> str:
    midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
    return value.date().isoformat() if midnight else value.isoformat()


def _horizon(value: Any) -> Micros | datetime:
    if isinstance(value, str):
        try:
            return parse_duration(value)
        except ValueError:
            pass
    try:
        return _local_time(value)
    except ValueError:
        if isinstance(value, str) and _is_duration(value.strip().removeprefix("-")):
            msg = "a horizon must be longer than 0"
            raise ValueError(msg) from None
        msg = "a horizon is a duration such as 365d or 36h, or an end date such as 2026-12-31"
        raise ValueError(msg) from None


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True


def _write_horizon(value: Micros | datetime) -> str:
    return _write_time(value) if isinstance(value, datetime) else format_duration(value)


def _checked(parse: Any) -> Any:
    def check(text: str) -> str:
        parse(text)
        return text

    return check


_DURATION_SCHEMA = {
    "type": "string",
    "pattern": r"^\s*(\d+(\.\d+)?\s*[a-zA-Z]+\s*)+$",
    "examples": ["90s", "10min", "4h", "14d", "2w"],
}
_TIME_SCHEMA = {"type": "string", "examples": ["2026-01-01", "2026-01-01T08:00"]}

Duration = Annotated[
    int,
    BeforeValidator(_duration),
    PlainSerializer(format_duration, return_type=str, when_used="json"),
    WithJsonSchema(_DURATION_SCHEMA),
]
"""A span of time, written with its unit; microseconds inside."""

LocalTime = Annotated[
    datetime,
    BeforeValidator(_local_time),
    PlainSerializer(_write_time, return_type=str, when_used="json"),
    WithJsonSchema(_TIME_SCHEMA),
]
"""A date (its midnight) or a time, local in the scenario's time zone."""

Horizon = Annotated[
    int | datetime,
    BeforeValidator(_horizon),
    PlainSerializer(_write_horizon, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "examples": ["90min", "36h", "365d", "2026-12-31"]}),
]
"""How long is simulated: a duration, or a local end date (its midnight, not included)."""

Rate = Annotated[
    str,
    AfterValidator(_checked(parse_rate)),
    WithJsonSchema({"type": "string", "examples": ["6/day", "3/week", "0.5/h"]}),
]
"""Events per unit of time, as `6/day`."""

Growth = Annotated[
    str,
    AfterValidator(_checked(parse_growth)),
    WithJsonSchema({"type": "string", "examples": ["3%/month", "40%/year"]}),
]
"""Percentage per unit of time, compounded continuously from the scenario's start."""


class LogNormalShape(Strict):
    """Log-normal: give the `median` or the `mean`, and `sigma`."""

    median: float | None = Field(default=None, gt=0)
    """Median; give this or the mean."""
    mean: float | None = Field(default=None, gt=0)
    """Mean; give this or the median."""
    sigma: float = Field(ge=0, le=10)
    """Standard deviation of the natural logarithm."""

    @model_validator(mode="after")
    def _one_location(self) -> LogNormalShape:
        if (self.median is None) == (self.mean is None):
            msg = "a lognormal has either a median or a mean"
            raise ValueError(msg)
        return self


class Exponential(Strict):
    """Exponential with this mean."""

    mean: float = Field(gt=0)
    """Mean."""


class Uniform(Strict):
    """Uniform from `low` to `high`."""

    low: float = Field(ge=0)
    """Smallest value."""
    high: float = Field(ge=0)
    """Largest value."""

    @model_validator(mode="after")
    def _ordered(self) -> Uniform:
        if self.high < self.low:
            msg = "high may not be below low"
            raise ValueError(msg)
        return self


class Triangular(Strict):
    """Triangular from `low` over `mode` to `high`."""

    low: float = Field(ge=0)
    """Smallest value."""
    mode: float = Field(ge=0)
    """Most likely value."""
    high: float = Field(ge=0)
    """Largest value."""

    @model_validator(mode="after")
    def _ordered(self) -> Triangular:
        if not self.low <= self.mode <= self.high or self.low == self.high:
            msg = "low <= mode <= high and low < high must hold"
            raise ValueError(msg)
        return self


class Geometric(Strict):
    """Geometric on 1, 2, 3, ... with this mean."""

    mean: float = Field(ge=1)
    """Mean, at least 1."""


def check_weights(weights: Sequence[float] | None, values: int) -> None:
    """ValueError unless there is a weight for each of so many values, or none at all."""
    if weights is not None and (len(weights) != values or min(weights) < 0 or sum(weights) <= 0):
        msg = "weights must be one per value, not negative and not all zero"
        raise ValueError(msg)


class Choice(Strict):
    """One of `values`, with these `weights` (default: all alike)."""

    values: tuple[float, ...] = Field(min_length=1)
    """Values that may be drawn."""
    weights: tuple[float, ...] | None = None
    """Their weights, in the same order; default: all alike."""

    @model_validator(mode="after")
    def _weighted(self) -> Choice:
        if any(value < 0 for value in self.values):
            msg = "values may not be negative"
            raise ValueError(msg)
        check_weights(self.weights, len(self.values))
        return self


class Distribution(Strict):
    """A random number: exactly one kind, cut (clipped) to `min` and `max` where given."""

    lognormal: LogNormalShape | None = None
    """Log-normal, by its median or mean and sigma."""
    exponential: Exponential | None = None
    """Exponential, by its mean."""
    uniform: Uniform | None = None
    """Evenly between two values."""
    triangular: Triangular | None = None
    """Between two values with a most likely one."""
    geometric: Geometric | None = None
    """Whole numbers from 1, by their mean."""
    choice: Choice | None = None
    """One of some values, with weights."""
    mixture: Mixture | None = None
    """One of several log-normals, with weights."""
    quantiles: Quantiles | None = None
    """By the values at given shares of the draws."""
    min: float | None = Field(default=None, ge=0)
    """Smallest value; what is drawn below it becomes it."""
    max: float | None = Field(default=None, gt=0)
    """Largest value; what is drawn above it becomes it."""

    @property
    def kind(self) -> str:
        """Name of the kind that is given."""
        return next(name for name in _KINDS if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _exactly_one(self) -> Distribution:
        given = [name for name in _KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            msg = f"a distribution has exactly one kind of: {', '.join(_KINDS)}"
            raise ValueError(msg)
        if self.min is not None and self.max is not None and self.max < self.min:
            msg = "max may not be below min"
            raise ValueError(msg)
        return self


_KINDS = (
    *("lognormal", "exponential", "uniform", "triangular", "geometric", "choice"),
    *("mixture", "quantiles"),
)

Quantity = Annotated[float, Field(gt=0, strict=True)] | Distribution
"""A number above 0, or a distribution."""
