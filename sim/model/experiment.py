"""How often a question is simulated, with which random numbers, and when that is enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from sim.model.base import Strict
from sim.model.values import Duration
from sim.units import parse_tolerance

__all__ = ["MOST_REPLICATIONS", "Experiment", "Selection", "SteadyState", "Tolerance", "Until"]

MOST_REPLICATIONS = 100_000
"""Runs of one strategy at most, in a file and on the command line."""


def _as_text(value: Any) -> Any:
    return f"{value:.12g}" if isinstance(value, int | float) and not isinstance(value, bool) else value


def _checked(text: str) -> str:
    parse_tolerance(text)
    return text


Tolerance = Annotated[
    str,
    BeforeValidator(_as_text),
    AfterValidator(_checked),
    WithJsonSchema({"type": ["string", "number"], "examples": ["5%", 0.5]}),
]
"""`5%`, or a number in the unit of what it belongs to."""

Confidence = Annotated[float, Field(gt=0.5, lt=1)]


class Until(Strict):
    """Replicate until the intervals are narrow enough."""

    half_width: Mapping[str, Tolerance] = Field(min_length=1)
    """Metric -> widest half of its interval, and of that of its difference to the baseline: a share of
    the mean such as 5%, or a number in the metric's unit."""
    most: int = Field(default=1000, ge=2, le=MOST_REPLICATIONS)
    """Replications of a strategy at which to stop in any case."""


class Selection(Strict):
    """Replicate until it is known which strategy is cheapest among those that meet the target."""

    confidence: Confidence = 0.95
    """Probability that the right one is chosen."""
    cost_zone: Tolerance = "1%"
    """Difference in cost that does not matter: a share of the lowest cost, or an amount of money."""
    target_zone: Tolerance = "5%"
    """Deviation from a limit of the target that does not matter: a share of the limit, or a number in
    its unit."""
    first: int = Field(default=10, ge=3, le=1000)
    """Replications of every strategy before anything is decided."""
    most: int = Field(default=1000, ge=3, le=MOST_REPLICATIONS)
    """Replications of a strategy at which to stop undecided; at least `first`."""

    @model_validator(mode="after")
    def _some_to_spend(self) -> Selection:
        if self.most < self.first:
            msg = f"most must be at least first, the replications before anything is decided, {self.first}"
            raise ValueError(msg)
        return self


class SteadyState(Strict):
    """One long run of each strategy, cut into batches, in place of many runs from an empty queue."""

    warm_up: Literal["auto"] | Duration = "auto"
    """Jobs submitted before this time are left out of service metrics: a time, or `auto`, the start-up phase
    by the rule MSER-5, the longest of the strategies."""
    batches: int = Field(default=20, ge=10, le=1000)
    """Stretches of equally many jobs, whose figures count as one value each."""


class Experiment(Strict):
    """How often the question is simulated, and with which random numbers."""

    replications: int = Field(default=30, ge=1, le=MOST_REPLICATIONS)
    """Of every strategy; with `until`, at least so many, yet no more than its `most`."""
    seed: int = Field(default=42, ge=0)
    """Seed of all random numbers: the same seed gives the same bytes."""
    warm_up: Duration = 0
    """Jobs submitted before this time are left out of service metrics; money is never cut."""
    confidence: Confidence = 0.95
    """Of the intervals."""
    until: Until | None = None
    """Go on until intervals are narrow enough; default: `replications` and no more."""
    select: Selection | None = None
    """Go on until the choice is sure, with replications where the doubt is; default: all alike."""
    steady_state: SteadyState | None = None
    """Make one long run of each strategy and read its steady state; default: `replications` runs of the
    whole horizon, from an empty queue."""

    @model_validator(mode="after")
    def _one_rule(self) -> Experiment:
        if sum(rule is not None for rule in (self.until, self.select, self.steady_state)) > 1:
            msg = "an experiment stops by one rule: until, select, or steady_state, which makes one run"
            raise ValueError(msg)
        if self.steady_state is not None and self.warm_up:
            msg = "steady_state has a warm-up of its own: write it there"
            raise ValueError(msg)
        return self
