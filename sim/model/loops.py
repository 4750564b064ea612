"""A closed loop, as a scenario writes it: the next run is submitted when the last has been looked at."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from sim.model.base import Strict
from sim.model.values import Quantity
from sim.model.windows import Windows

__all__ = ["Loop"]


class Loop(Strict):
    """Runs that follow one another: the next one is submitted some time after the end of the last."""

    people: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Persons who submit runs, each one at a time, in place of `rate` and `at`. Without it campaigns of
    `runs` runs begin as `rate` or `at` say."""
    think_s: Quantity
    """Time from the end of a run, however it ends, to the submission of the next, seconds."""
    runs: Quantity | None = None
    """Runs of a campaign, rounded; default: a person goes on without end."""
    pause_s: Quantity | None = None
    """With `people` and `runs`: time from the end of a campaign to the next one of the same person,
    seconds, in place of `think_s`."""
    hours: Windows | None = None
    """Hours of work, local time, such as `mon-fri 09:00-18:00`: think times and pauses pass and runs are
    submitted only then; default: always."""

    @model_validator(mode="after")
    def _campaigns(self) -> Loop:
        if self.people is None and self.runs is None:
            msg = "a loop needs people, or the runs of campaigns that begin as rate or at say"
            raise ValueError(msg)
        if self.people is None and self.pause_s is not None:
            msg = "pause_s goes with people: without them campaigns begin as rate or at say"
            raise ValueError(msg)
        if self.people is not None and (self.runs is None) != (self.pause_s is None):
            msg = "people who make campaigns need both runs and pause_s; those who go on without end, neither"
            raise ValueError(msg)
        return self
