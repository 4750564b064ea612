"""Jobs as columns: sixty bytes a job instead of four hundred; a `Job` is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.model.chains import Submissions
from sim.model.job import Job, JobSet, UserEnd
from sim.model.packed import Rows
from sim.units import Micros

__all__ = ["JobTable", "as_submitted", "priorities", "span_or_none"]

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

_BLOCK = 2048
"""Jobs made at a time when all are asked for in turn."""
_FOR_EVER: Micros = 1 << 61
_make = partial(tuple.__new__, Job)
"""A job of its thirteen fields in order, as `Job._make` without a look at their number."""


@dataclass(frozen=True, eq=False, repr=False)
class JobTable(Rows[Job]):
    """The jobs of a `JobSet` by id.

    All arrays have one entry a job. -1 in `deadline_us` and `limit_us` means that there is none.
    """

    shape: Numbers
    submit_us: Ints
    work: Floats
    heads: tuple[str, ...]
    """Names, or the beginnings of names that a number follows."""
    head: Numbers
    """Which of them."""
    number: Numbers
    """What follows it (`lora-7b-000012`); -1: nothing."""
    teams: tuple[str, ...]
    team: Numbers
    priority: npt.NDArray[Any]
    """Whole numbers; Python's own where one is too large for eight bytes."""
    deadline_us: Ints
    limit_us: Ints
    luck: Floats
    ends: Mapping[int, tuple[UserEnd, ...]]
    """By id, of those that do not simply run to their end."""

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> JobTable:
        """The same jobs as columns."""
        if isinstance(jobs, JobTable):
            return jobs
        teams = {team: code for code, team in enumerate(dict.fromkeys(job.team for job in jobs))}
        return cls(
            shape=_whole((job.shape for job in jobs), np.int32),
            submit_us=_whole((job.submit_us for job in jobs), np.int64),
            work=np.array([job.work for job in jobs], dtype=np.float64),
            heads=tuple(job.name for job in jobs),
            head=np.arange(len(jobs), dtype=np.int32),
            number=np.full(len(jobs), -1, dtype=np.int32),
            teams=tuple(teams),
            team=_whole((teams[job.team] for job in jobs), np.int32),
            priority=priorities([job.priority for job in jobs]),
            deadline_us=_whole((span_or_none(job.deadline_us) for job in jobs), np.int64),
            limit_us=_whole((span_or_none(job.limit_us) for job in jobs), np.int64),
            luck=np.array([job.luck for job in jobs], dtype=np.float64),
            ends={job.id: job.ends for job in jobs if job.ends},
        )

    @classmethod
    def join(cls, tables: Sequence[JobTable], *, by_time: bool = True) -> JobTable:
        """Jobs of several tables as one, by time of submission; ties in the order given.

        `by_time` false: one table after the other. Ids and `ends` are counted anew.
        """
        parts = {field.name: [getattr(table, field.name) for table in tables] for field in fields(cls)}
        times = np.concatenate(parts["submit_us"])
        order = np.argsort(times, kind="stable") if by_time else np.arange(len(times))
        firsts = np.cumsum([0, *(len(table) for table in tables)]).tolist()
        ids = np.empty(len(order), dtype=np.int64)
        ids[order] = np.arange(len(order))
        ends = {
            int(ids[first + job]): one
            for first, table in zip(firsts, tables, strict=False)
            for job, one in table.ends.items()
        }
        joined: dict[str, Any] = {"ends": ends}
        for texts, codes in (("heads", "head"), ("teams", "team")):
            starts = np.cumsum([0, *(len(one) for one in parts[texts])]).tolist()
            parts[codes] = [one + start for one, start in zip(parts[codes], starts, strict=False)]
            joined[texts] = tuple(text for one in parts[texts] for text in one)
        for name, columns in parts.items():
            if name not in joined:
                joined[name] = np.concatenate(columns)[order]
        return cls(**joined)

    def take(self, rows: Ints) -> JobTable:
        """The jobs of these ids, in this order, counted anew."""
        names = [field.name for field in fields(self) if field.name not in ("heads", "teams", "ends")]
        ends = self.ends
        kept = {place: ends[row] for place, row in enumerate(rows.tolist()) if row in ends} if ends else {}
        return replace(self, ends=kept, **{name: getattr(self, name)[rows] for name in names})

    def __len__(self) -> int:
        return len(self.submit_us)

    def __iter__(self) -> Iterator[Job]:
        return self._in_turn(named=True)

    def nameless(self) -> Iterator[Job]:
        """The jobs in turn, with empty names: to make a name takes as long as to make all the rest."""
        return self._in_turn(named=False)

    def _in_turn(self, *, named: bool) -> Iterator[Job]:
        blocks = range(0, len(self), _BLOCK)
        each = (self._jobs(first, min(first + _BLOCK, len(self)), named=named) for first in blocks)
        return chain.from_iterable(each)

    def _row(self, at: int) -> Job:
        return next(self._jobs(at, at + 1, named=True))

    def _jobs(self, first: int, last: int, *, named: bool) -> Iterator[Job]:
        part = slice(first, last)
        ends = self.ends
        return map(
            _make,
            zip(
                range(first, last),
                self._names(part) if named else repeat(""),
                self.shape[part].tolist(),
                self.submit_us[part].tolist(),
                self.work[part].tolist(),
                self._teams(part),
                self.priority[part].tolist(),
                _times(self.deadline_us[part]),
                _times(self.limit_us[part]),
                self.luck[part].tolist(),
                [ends.get(job, ()) for job in range(first, last)] if ends else repeat(()),
                strict=False,  # the last may repeat for ever
            ),
        )

    def _teams(self, part: slice) -> Iterable[str]:
        teams = self.teams
        return repeat(teams[0]) if len(teams) == 1 else [teams[code] for code in self.team[part].tolist()]

    def _names(self, part: slice) -> list[str]:
        heads = self.heads
        each = zip(self.head[part].tolist(), self.number[part].tolist(), strict=True)
        return [heads[head] if number < 0 else f"{heads[head]}-{number:06d}" for head, number in each]


def as_submitted(jobs: JobSet, found: Submissions | None) -> JobSet:
    """The jobs as a log with these submissions counts them, each with the time at which it was submitted.

    Jobs that were never submitted are not among them. None: the jobs themselves.
    """
    if found is None:
        return jobs
    table = JobTable.of(jobs.jobs).take(np.array(found.jobs, dtype=np.int64))
    times = np.array(found.at_us, dtype=np.int64)
    return replace(jobs, jobs=replace(table, submit_us=times), chains=None)


def _times(column: Ints) -> list[int | None]:
    times: list[Any] = column.tolist()
    return times if (column >= 0).all() else [None if time < 0 else time for time in times]


def span_or_none(span_us: Micros | None) -> int:
    """A span of time as the columns keep it; one of 70,000 years and more is as good as for ever."""
    return -1 if span_us is None else min(span_us, _FOR_EVER)


def priorities(values: Sequence[int]) -> npt.NDArray[Any]:
    """Priorities as a column."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def _whole(values: Iterable[int], kind: Any) -> npt.NDArray[Any]:
    return np.array(list(values), dtype=kind)
