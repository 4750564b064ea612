"""How submissions of jobs end before their work is done, as a scenario writes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sim.model.base import Strict
from sim.model.values import Duration
from sim.units import MINUTE

__all__ = ["EndPreset", "JobEnds"]

EndPreset = Literal[
    "acme_seren",
    "acme_kalos",
    "philly",
    "helios",
    "helios_venus",
    "helios_earth",
    "helios_saturn",
    "helios_uranus",
    "small_team",
]
"""Clusters whose final states of jobs are published; `small_team` is assumed."""


class JobEnds(Strict):
    """How submissions of jobs end before their work is done, not by the hardware (shares by count)."""

    cancelled: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of submissions that the user stops, after a part of the run that is drawn uniformly."""
    failed: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of submissions that fail by an error of their own, and lose their work."""
    early: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Share of these failures that come soon after the start, uniformly within `within`; the others
    come anywhere in the run (assumed)."""
    within: Duration = 10 * MINUTE
    """Running time within which early failures come."""
    retried: Annotated[float, Field(ge=0, le=1)] = 0.6
    """Probability that a failed job is submitted again, from the beginning (assumed)."""
    retries: int = Field(default=3, ge=0, le=20)
    """New submissions at most; each is drawn with the same shares as the first."""
    pause: Duration = 8 * MINUTE
    """Time to the new submission: median, log-normal (assumed)."""
    sigma: Annotated[float, Field(ge=0, le=5)] = 1.0
    """Spread of the pause (assumed)."""

    @model_validator(mode="after")
    def _at_most_all(self) -> JobEnds:
        if self.cancelled + self.failed > 1:
            msg = "cancelled and failed are shares of the same jobs and add up to at most 1"
            raise ValueError(msg)
        return self
