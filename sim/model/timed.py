"""Jobs that are known by their run time alone, as a scenario writes them. Docstrings are help texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from sim.model.base import Strict
from sim.model.ends import EndPreset, JobEnds
from sim.model.loops import Loop
from sim.model.values import Duration, LocalTime, Quantity, Rate
from sim.units import MINUTE

__all__ = [
    "Again",
    "Alike",
    "ArrivalProfile",
    "Busy",
    "Holidays",
    "JobEnd",
    "Name",
    "TimedClass",
    "TimedKind",
    "check_arrivals",
]


def _seen(name: str) -> str:
    """ValueError for a name of blanks and signs of no width, which would stand empty in every table."""
    if name and not any(sign.isprintable() and not sign.isspace() for sign in name):
        msg = "a name needs at least one sign that can be seen"
        raise ValueError(msg)
    return name


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_seen)]
JobEnd = Literal["done", "cancelled", "failed"]
_Factor = Annotated[float, Field(ge=0)]
_Part = Annotated[float, Field(ge=0, le=1)]
_Spread = Annotated[float, Field(ge=0, le=10)]


def check_arrivals(
    rate: str | None, at: Sequence[datetime] | None, loop: Loop | None, batch_size: Quantity, profile: object
) -> None:
    """ValueError unless a class has one of a rate, the times of its batches, and people in a loop."""
    people = loop is not None and loop.people is not None
    if (rate is not None) + (at is not None) + people != 1:
        msg = (
            "a class needs either a rate, such as 6/day, or the times of its batches (at), or people who "
            "submit one run after the other (loop: {people: 5, think_s: 1800})"
        )
        raise ValueError(msg)
    if loop is not None and batch_size != 1:
        msg = "in a loop jobs do not arrive together: give the runs of a campaign (loop.runs), no batch_size"
        raise ValueError(msg)
    if people and profile != "flat":
        msg = "people in a loop have no profile of arrivals: give their hours of work (loop.hours)"
        raise ValueError(msg)


class ArrivalProfile(Strict):
    """How arrivals rise and fall over the day and the week, local time; averages are normalised to 1."""

    hourly: tuple[_Factor, ...] | None = Field(default=None, min_length=24, max_length=24)
    """Factors of the hours 0 to 23."""
    weekly: tuple[_Factor, ...] = Field(default=(1, 1, 1, 1, 1, 1, 1), min_length=7, max_length=7)
    """Factors of Monday to Sunday."""
    week: tuple[_Factor, ...] | None = Field(default=None, min_length=168, max_length=168)
    """Factors of the 168 hours of a week from Monday midnight; in place of `hourly` and `weekly`."""

    @model_validator(mode="after")
    def _some_arrivals(self) -> ArrivalProfile:
        plain = self.hourly is None and set(self.weekly) == {1}
        if (self.week is None) == (self.hourly is None) or not (self.week is None or plain):
            msg = "a profile has either hourly (and weekly) factors, or the 168 factors of a week"
            raise ValueError(msg)
        if not any(self.hourly or self.week or ()) or not any(self.weekly):
            msg = "at least one hourly and one weekly factor must be above 0"
            raise ValueError(msg)
        return self

    @property
    def hours(self) -> tuple[float, ...]:
        """Factors of the 168 hours of a week from Monday midnight, mean 1."""
        if self.week is not None:
            found = self.week
        else:
            hourly = self.hourly or ()
            found = tuple(day * hour for day in self.weekly for hour in hourly)
        mean = sum(found) / len(found)
        return tuple(factor / mean for factor in found)


class Busy(Strict):
    """Busy and quiet times beyond the profile: each week, day and hour has a random factor of its own
    with mean 1 (gamma distributed); here stand their coefficients of variation."""

    week: _Spread = 0.0
    """Coefficient of variation of the factor of a week."""
    day: _Spread = 0.0
    """Coefficient of variation of the factor of a day."""
    hour: _Spread = 0.0
    """Coefficient of variation of the factor of an hour."""


class Alike(Strict):
    """How much the jobs of one batch resemble each other, and successive batches."""

    kind: _Part = 0.0
    """Probability that a job is of the kind that was drawn for its batch, and not of one of its own."""
    runtime: _Part = 0.0
    """Correlation of the run times of two jobs of a batch (of their normal scores)."""
    next: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Correlation of the run times of a batch and the next one."""
    size: Annotated[float, Field(ge=-1, le=1)] = 0.0
    """Correlation of the run times of a batch with its size: below 0 where large batches have short jobs."""
    day: _Part = 0.0
    """Correlation of the sizes of two batches of one day: days of large batches and days of small ones."""
    gap: _Part = 0.0
    """Correlation of the gaps within a batch."""
    gap_size: Annotated[float, Field(ge=-1, le=1)] = 0.0
    """Correlation of the gaps of a batch with its size: below 0 where large batches come faster."""


class TimedKind(Strict):
    """Jobs of one number of cards and one end."""

    share: float = Field(gt=0)
    """Share of the jobs, relative to the other kinds."""
    gpus: int = Field(default=1, ge=1, le=100_000)
    """Cards of a job."""
    runtime_s: Quantity
    """Run time with start-up, seconds."""
    state: JobEnd = "done"
    """How these jobs end after that time: `done`, `cancelled` by their user, or `failed` by themselves."""
    memory_gib: float | None = Field(default=None, gt=0)
    """GiB a card, held against the card's nominal memory; default: fits any card."""


class Again(Strict):
    """Failed jobs that are submitted again, each as another job of the class with as many cards."""

    share: _Part
    """Share of failed jobs that are."""
    pause_s: Quantity
    """Time from the failure to the new submission, seconds."""
    most: int = Field(default=3, ge=1, le=100)
    """New submissions of one job at most."""


class TimedClass(Strict):
    """Jobs whose run times are known and not what they compute: what is learned from records.

    Batches arrive at random; their jobs follow one another by `gap_s`.
    """

    name: Name
    """What the class is called in tables."""
    rate: Rate | None = None
    """Jobs per unit of time, averaged over a week."""
    at: tuple[LocalTime, ...] | None = Field(default=None, min_length=1, max_length=10_000)
    """Campaigns: local times at which one batch each arrives; in place of `rate`."""
    loop: Loop | None = None
    """People who submit the next run after looking at the last, or campaigns of such runs."""
    since: LocalTime | None = None
    """Local time from which jobs arrive, to the hour; default: from the start."""
    profile: Literal["flat", "office-hours"] | ArrivalProfile = "flat"
    """`flat`, `office-hours`, or hourly and weekly factors, or 168 of a whole week."""
    busy: Busy = Busy()
    """Busy and quiet weeks, days and hours beyond the profile; default: none."""
    batch_size: Quantity = 1.0
    """Jobs that arrive together."""
    gap_s: Quantity | None = None
    """Time from one job of a batch to the next, seconds; default: all arrive at one instant."""
    alike: Alike = Alike()
    """How much the jobs of a batch resemble each other; default: not at all."""
    kinds: tuple[TimedKind, ...] = Field(min_length=1, max_length=1000)
    """Kinds of jobs, with their weights."""
    runtime_gpu: str | None = None
    """Card on which the run times were measured; without it they hold on any card."""
    spans: bool = True
    """Whether the cards of one job may stand in several machines."""
    restart: Duration = 2 * MINUTE
    """Time to start a job again after an interruption (assumed); the first start is part of the run time."""
    deadline: Duration | None = None
    """Time allowed from submission to end; a job that ends later is late, and runs on."""
    limit: Duration | None = None
    """Time limit of a run; a job past it is killed."""
    priority: int = 0
    """Larger is more urgent; used by the policy `priority`."""
    team: str = ""
    """Whose jobs they are; read by the policy `fair` and by costs by team."""
    ends: EndPreset | JobEnds | None = None
    """Jobs that users cancel, or that fail by an error of their own, before the run time drawn for them;
    default: none."""
    again: Again | None = None
    """Jobs of kinds with the state `failed` that are submitted again, beyond `rate`; default: none."""

    @model_validator(mode="after")
    def _arrives_somehow(self) -> TimedClass:
        check_arrivals(self.rate, self.at, self.loop, self.batch_size, self.profile)
        if self.loop is not None and self.gap_s is not None:
            msg = "in a loop jobs follow one another by loop.think_s, not by gap_s"
            raise ValueError(msg)
        alone = self.loop is not None and self.loop.people is not None
        if alone and (self.busy != Busy() or self.alike != Alike() or self.since is not None):
            msg = "busy, alike and since say how batches arrive: people in a loop have none"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _ends_once(self) -> TimedClass:
        if self.ends is not None and any(kind.state != "done" for kind in self.kinds):
            msg = "a class has either ends, or kinds with a state of their own: both would end jobs twice"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _fails_first(self) -> TimedClass:
        if self.again is not None and (self.loop is not None or not self._some_fail):
            msg = "again needs kinds with the state failed, and no loop (ends have retries of their own)"
            raise ValueError(msg)
        return self

    @property
    def _some_fail(self) -> bool:
        return any(kind.state == "failed" for kind in self.kinds)

    @property
    def jobs_a_batch(self) -> Quantity:
        """Jobs of a batch, or of a campaign in a loop."""
        return self.batch_size if self.loop is None or self.loop.runs is None else self.loop.runs


class Holidays(Strict):
    """Days on which fewer jobs arrive, local time."""

    dates: tuple[LocalTime, ...] = ()
    """Days, such as 2026-02-17."""
    calendar: Literal["none", "china"] = "none"
    """`china`: the public holidays of the package `chinesecalendar`, which must be installed; its
    working weekends count as Mondays."""
    factor: _Factor = 0.2
    """Arrivals on these days, relative to a Sunday (assumed)."""
