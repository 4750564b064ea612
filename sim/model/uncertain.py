"""Inputs that nobody knows for sure, as a scenario writes them. Docstrings are help texts."""

from __future__ import annotations

import itertools
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from sim.model.base import Strict
from sim.model.values import check_weights

__all__ = [
    "NAMED_INPUTS",
    "SPEED_ERROR",
    "ChoiceInput",
    "LognormalInput",
    "Measure",
    "NormalInput",
    "TriangularInput",
    "Uncertain",
    "UniformInput",
    "measure",
]

NAMED_INPUTS = {
    "price_range": ("place in the published price range, 0 low, 1 high", ""),
    "price": ("times the list price, agreed prices too", ""),
    "discount": ("times the discount of plans", ""),
    "demand": ("times the jobs", ""),
    "growth": ("growth of the rates of all classes", "%/month"),
    "run_time": ("times the running time on every card", ""),
    "failures": ("times the rate of random failures", ""),
}
"""Inputs that are no key of their own: what a number of each means, and the unit it is written with.
They are those of the sensitivity study, but for an early end."""

SPEED_ERROR = 0.14
"""Of the measured rows whose source was left out of the fit, nine of ten are predicted within this part of
their speed (docs/validation.md)."""

_MEASURE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(\D.*?)?\s*")


def measure(written: float | str) -> tuple[float, str]:
    """A number and its unit: 16 and `/day` of `16/day`, 30 and nothing of 30. ValueError for other texts."""
    if not isinstance(written, str):
        return float(written), ""
    match = _MEASURE.fullmatch(written)
    if match is None:
        msg = "must be a number, or a number with one unit such as 16/day, 30min or 3%/month"
        raise ValueError(msg)
    return float(match[1]), match[2] or ""


def _measured(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        msg = "must be a number, or a number with one unit such as 16/day, 30min or 3%/month"
        raise ValueError(msg)  # noqa: TRY004 - pydantic speaks of ValueError alone
    return value


def _checked(value: float | str) -> float | str:
    measure(value)
    return value


Measure = Annotated[
    float | str,
    BeforeValidator(_measured),
    AfterValidator(_checked),
    WithJsonSchema({"type": ["number", "string"], "examples": [0.8, "16/day", "30min"]}),
]
"""A number, with its unit where the key has one."""

Sigma = Annotated[float, Field(gt=0, le=10)]


def one_unit(*written: float | str | None) -> str:
    """The unit that all have; ValueError where they differ."""
    units = {measure(one)[1] for one in written if one is not None}
    if len(units) > 1:
        msg = f"all numbers of a distribution have one unit, and these have {' and '.join(sorted(units))}"
        raise ValueError(msg)
    return units.pop() if units else ""


def _rising(*written: float | str | None) -> bool:
    numbers = [measure(one)[0] for one in written if one is not None]
    return all(one <= other for one, other in itertools.pairwise(numbers))


class UniformInput(Strict):
    """Any value from `low` to `high`, all alike."""

    low: Measure
    """Least value, with its unit where the key has one."""
    high: Measure
    """Largest value."""

    @model_validator(mode="after")
    def _ordered(self) -> UniformInput:
        one_unit(self.low, self.high)
        if not _rising(self.low, self.high) or self.low == self.high:
            msg = "low < high must hold"
            raise ValueError(msg)
        return self


class TriangularInput(Strict):
    """From `low` to `high`, most likely at `mode`."""

    low: Measure
    """Least value, with its unit where the key has one."""
    mode: Measure
    """Likeliest value."""
    high: Measure
    """Largest value."""

    @model_validator(mode="after")
    def _ordered(self) -> TriangularInput:
        one_unit(self.low, self.mode, self.high)
        if not _rising(self.low, self.mode, self.high) or self.low == self.high:
            msg = "low <= mode <= high and low < high must hold"
            raise ValueError(msg)
        return self


class NormalInput(Strict):
    """Normal, cut off outside of `low` and `high` where they are given (no value piles up there)."""

    mean: Measure
    """Mean, before it is cut off, with its unit where the key has one."""
    deviation: Measure
    """Standard deviation, before it is cut off."""
    low: Measure | None = None
    """Least value; default: none."""
    high: Measure | None = None
    """Largest value; default: none."""

    @model_validator(mode="after")
    def _ordered(self) -> NormalInput:
        one_unit(self.mean, self.deviation, self.low, self.high)
        if measure(self.deviation)[0] <= 0:
            msg = "the deviation must be above 0"
            raise ValueError(msg)
        if not _rising(self.low, self.mean, self.high) or (self.low is not None and self.low == self.high):
            msg = "low <= mean <= high and low < high must hold"
            raise ValueError(msg)
        return self


class LognormalInput(Strict):
    """Log-normal, cut off outside of `low` and `high` where they are given (no value piles up there)."""

    median: Measure
    """Median, before it is cut off, with its unit where the key has one."""
    sigma: Sigma
    """Standard deviation of the natural logarithm."""
    low: Measure | None = None
    """Least value; default: 0."""
    high: Measure | None = None
    """Largest value; default: none."""

    @model_validator(mode="after")
    def _ordered(self) -> LognormalInput:
        one_unit(self.median, self.low, self.high)
        if measure(self.median)[0] <= 0 or (self.low is not None and measure(self.low)[0] < 0):
            msg = "the median of a lognormal must be above 0, and low not below 0"
            raise ValueError(msg)
        if not _rising(self.low, self.median, self.high) or (self.low is not None and self.low == self.high):
            msg = "low <= median <= high and low < high must hold"
            raise ValueError(msg)
        return self


class ChoiceInput(Strict):
    """One of `values`, with these `weights` (default: all alike)."""

    values: tuple[Measure, ...] = Field(min_length=2, max_length=1000)
    """Values that may be drawn, with their unit where the key has one."""
    weights: tuple[float, ...] | None = None
    """Their weights, in the same order; default: all alike."""

    @model_validator(mode="after")
    def _weighted(self) -> ChoiceInput:
        one_unit(*self.values)
        check_weights(self.weights, len(self.values))
        return self


class Uncertain(Strict):
    """What is known of an input: exactly one kind of distribution."""

    uniform: UniformInput | None = None
    """Between two values, all alike."""
    triangular: TriangularInput | None = None
    """Between two values, with a likeliest one."""
    normal: NormalInput | None = None
    """Normal, by its mean and standard deviation."""
    lognormal: LognormalInput | None = None
    """Log-normal, by its median and sigma."""
    choice: ChoiceInput | None = None
    """One of several values."""
    validation: Literal[True] | None = None
    """For `run_time` alone: the error of predicted speeds in the validation table, as a log-normal with
    median 1 of which nine tenths lie within 14 %."""
    source: str | None = Field(default=None, min_length=1, max_length=500)
    """Where the distribution comes from; default: it is an assumption, and shown as one."""

    @property
    def kind(self) -> str:
        """Name of the kind that is given."""
        return next(name for name in _KINDS if getattr(self, name) is not None)

    @property
    def unit(self) -> str:
        """The unit that its numbers are written with."""
        shape = self.shape
        if isinstance(shape, UniformInput | TriangularInput):
            return one_unit(shape.low)
        if isinstance(shape, NormalInput):
            return one_unit(shape.mean)
        return one_unit(shape.median if isinstance(shape, LognormalInput) else shape.values[0])

    @property
    def shape(self) -> UniformInput | TriangularInput | NormalInput | LognormalInput | ChoiceInput:
        """The distribution itself."""
        if self.validation is not None:
            return LognormalInput(median=1, sigma=_SPEED_SIGMA)
        shape: UniformInput | TriangularInput | NormalInput | LognormalInput | ChoiceInput
        shape = getattr(self, self.kind)
        return shape

    @model_validator(mode="after")
    def _exactly_one(self) -> Uncertain:
        given = [name for name in _KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            msg = f"an uncertain input has exactly one kind of: {', '.join(_KINDS)}"
            raise ValueError(msg)
        return self


_KINDS = ("uniform", "triangular", "normal", "lognormal", "choice", "validation")

_SPEED_SIGMA = 0.0797
"""ln 1.14 / 1.645: nine tenths of the values then lie within a factor of 1.14."""
