"""Shapes of random numbers that are learned from records: mixtures of log-normals, tables of quantiles."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from pydantic import Field, model_validator

from sim.model.base import Strict

__all__ = ["Component", "Mixture", "Quantiles"]

_Share = Annotated[float, Field(ge=0, le=1)]


class Component(Strict):
    """One log-normal of a mixture."""

    weight: float = Field(gt=0)
    """Relative to the other components."""
    median: float = Field(gt=0)
    """Median of this component."""
    sigma: float = Field(gt=0, le=10)
    """Standard deviation of the natural logarithm."""


class Mixture(Strict):
    """Log-normals, one of which is met with its weight."""

    components: tuple[Component, ...] = Field(min_length=1, max_length=20)
    """The log-normals and their weights."""


class Quantiles(Strict):
    """A table of quantiles. Between two of them the logarithm is interpolated, and the value itself
    where the lower one is 0; a step in `at` with one value at both ends is an atom."""

    at: tuple[_Share, ...] = Field(min_length=2, max_length=1000)
    """Probabilities, rising from 0 to 1."""
    values: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=2, max_length=1000)
    """The value at each of them, never falling."""

    @model_validator(mode="after")
    def _a_table(self) -> Quantiles:
        if len(self.at) != len(self.values):
            msg = "quantiles need as many values as probabilities (at)"
            raise ValueError(msg)
        if self.at[0] != 0 or self.at[-1] != 1 or any(b <= a for a, b in pairwise(self.at)):
            msg = "at must rise from 0 to 1"
            raise ValueError(msg)
        if any(b < a for a, b in pairwise(self.values)):
            msg = "quantiles may not fall: values must be in ascending order"
            raise ValueError(msg)
        if self.values[-1] == 0:
            msg = "the largest quantile must be above 0"
            raise ValueError(msg)
        return self
