"""The key `sharing` of a strategy: several jobs on one card. The docstring under a key is its help text."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from pydantic import Field, model_validator

from sim.model.base import Strict
from sim.model.sharing import (
    DEMAND,
    LEFT_BY,
    MOST_JOBS,
    PER_JOB,
    POINTS,
    RECONFIGURE,
    SLICE_GAIN,
    SLICES,
    SharingKind,
)
from sim.model.values import Duration

__all__ = ["BusyShare", "Sharing"]

BusyShare = Annotated[float, Field(gt=0, le=1)]
"""Part of the time in which one job, alone on a card, keeps it busy."""
_Point = tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(gt=0, le=1)]]

_MIG_ONLY = ("reconfigure", "slice_gain")
_TIME_ONLY = ("demand", "curve", "beyond", "per_job")


class Sharing(Strict):
    """How several one-card jobs share a leased card. Gangs, and jobs whose memory is not known, have whole
    cards; a job joins others only where no card is free."""

    kind: SharingKind
    """`time-slicing` and `mps`: all jobs of a card compute on all of it and slow each other; `mig`: an idle
    card is partitioned into slices, and each job has a slice of its own."""
    jobs: int | None = Field(default=None, ge=2, le=MOST_JOBS)
    """Jobs on one card at most; their memory must fit on it together. Default: 2; 7 with `mig`."""
    offers: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Offers whose leased cards are shared; default: all (with `mig`: all whose cards have MIG profiles)."""
    demand: BusyShare = DEMAND
    """Busy share of a card by one job alone on it, where neither class nor trace says it (assumed)."""
    curve: tuple[_Point, ...] = Field(default=POINTS, min_length=1)
    """Combined demand of the jobs of a card and their speed against the speed alone, straight lines
    between; default: measured pairs of training jobs (Lucid)."""
    beyond: BusyShare | None = None
    """Above the last point of `curve`: part of the card that is divided by the combined demand; default:
    0.92, with `mps` 0.97 (assumed)."""
    per_job: float = Field(default=PER_JOB, ge=0, lt=1)
    """Speed lost with every job above two (assumed)."""
    reconfigure: Duration = RECONFIGURE
    """`mig`: time to partition an idle card anew (assumed)."""
    slice_gain: float = Field(default=SLICE_GAIN, gt=0, le=SLICES)
    """`mig`: speed of a slice against its share of the compute slices, at most that of the card (assumed)."""

    @model_validator(mode="after")
    def _own_keys(self) -> Sharing:
        others = _TIME_ONLY if self.kind == "mig" else _MIG_ONLY
        usual = type(self).model_fields
        for key in others:
            if getattr(self, key) != usual[key].default:
                kinds = "time-slicing and mps" if self.kind == "mig" else "mig"
                msg = f"{key} goes with the kind {kinds}, not with {self.kind}"
                raise ValueError(msg)
        if self.kind == "mig" and self.most > SLICES:
            msg = f"a card has at most {SLICES} MIG slices, so jobs is at most {SLICES}"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _a_curve(self) -> Sharing:
        for (low, fast), (high, slow) in pairwise(self.curve):
            if high <= low or slow > fast:
                msg = "the points of the curve rise in demand, and their speeds do not rise"
                raise ValueError(msg)
        if self.per_job * (self.most - 2) >= 1:
            msg = f"with {self.most} jobs, per_job {self.per_job:g} would bring them to a standstill"
            raise ValueError(msg)
        return self

    @property
    def most(self) -> int:
        """Jobs on one card at most."""
        return self.jobs or (SLICES if self.kind == "mig" else 2)

    @property
    def left(self) -> float:
        """Part of the card that is divided where more than all of it is asked for."""
        return LEFT_BY.get(self.kind, 1.0) if self.beyond is None else self.beyond
