"""Jobs as the engine sees them: made before the run, the same for every strategy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from sim.model.chains import Chains
from sim.units import Micros

__all__ = ["Job", "JobSet", "JobShape", "UserEnd"]


@dataclass(frozen=True, slots=True)
class JobShape:
    """What decides where a job can run and how fast; jobs of one shape share one row of rates.

    `job_class` is the name of the scenario's class, or None for a trace. `gpus` are the card
    counts that the job may take, in the order of preference; empty means `auto`.
    """

    name: str
    job_class: str | None
    gpus: tuple[int, ...]
    memory_gib: float | None = None
    """Trace only: GiB per card, held against the card's nominal memory; None: fits any card."""
    gpu: str | None = None
    """Trace only: the card id that the job insists on."""
    runtime_gpu: str | None = None
    """Trace only: the card on which run times were measured; None: they hold on any card."""
    spans: bool = True
    """Whether the cards of one job may stand in several machines."""
    restart_us: Micros | None = None
    """Recorded jobs: time to start again after an interruption; None: as the scenario's trace says."""
    demand: float | None = None
    """Recorded jobs: busy share of a card by one of them alone on it; None: as the scenario says."""
    closed: bool = False
    """Whether they come from people who wait for each run: never more at a time than people."""


@dataclass(frozen=True, slots=True)
class UserEnd:
    """How one submission of a job ends before its work is done, by its user or the user's own error."""

    kind: Literal["cancelled", "failed"]
    share: float = 1.0
    """Share of the work after which it ends."""
    after_us: Micros | None = None
    """Running time after which it ends, whatever the job's length; goes before `share`."""
    retry_after_us: Micros | None = None
    """Failed: time until the user submits it again, from the beginning; None: given up."""


class Job(NamedTuple):
    """One job. `id` counts from 0 in order of submission (ties in order of generation)."""

    id: int
    name: str
    shape: int
    """Index into `JobSet.shapes`."""
    submit_us: Micros
    work: float
    """Class: samples x epochs. Trace: recorded run time in microseconds."""
    team: str = ""
    priority: int = 0
    """Larger is more urgent."""
    deadline_us: Micros | None = None
    """Allowed time from submission to end."""
    limit_us: Micros | None = None
    """User's time limit for the run; the job is killed past it."""
    luck: float = 0.0
    """Standard normal: how lucky the job is with its neighbours, where an offer has such noise."""
    ends: tuple[UserEnd, ...] = ()
    """Ends of its first, second, ... submission; a submission without one runs to the end."""


@dataclass(frozen=True, slots=True)
class JobSet:
    """All jobs of one replication, sorted by `submit_us`, and their shapes.

    With `chains` that holds for the jobs before `chains.first`; the others wait for another's end.
    """

    shapes: tuple[JobShape, ...]
    jobs: Sequence[Job]
    """A tuple, or a `JobTable`, which makes each job when it is asked for."""
    notes: tuple[str, ...] = ()
    """What the reader wants the user to know, such as assumptions about a trace."""
    chains: Chains | None = None
    """Jobs that are submitted when another has ended; None: there are none."""

    @property
    def independent(self) -> Iterable[Job]:
        """The jobs whose submission waits for no other job."""
        return self.jobs if self.chains is None else islice(self.jobs, self.chains.first)
