"""The states of jobs, worked out from a run's records."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

import numpy as np

from sim.experiments.event_rows import CODES, Flags, Ints, Part, Texts, ints
from sim.model.job import JobSet
from sim.model.records import RunLog
from sim.units import Micros

__all__ = ["Stays", "job_rows", "pool_key"]

Names = np.ndarray[tuple[int, ...], np.dtype[np.str_]]

STEPS = 8
"""Steps of one stay: started, running, stalled, interrupted, paused, queued again."""

TORN = {"retried": "retried", "bad_result": "redone"}
"""How a stay ended after which its job goes on, and the state for it; all others are interruptions."""

FIRST, LAST = -STEPS, 1 << 40
"""Step of a job's submission and of its end."""


def pool_key(offer: str, *, burst: bool) -> str:
    """Name of cards that are numbered together: those of an offer, leased or by the hour."""
    return f"{offer}\n{'burst' if burst else ''}"


class Stays:
    """The stays on cards of one run as columns, in the order of `RunLog.attempts`."""

    def __init__(self, log: RunLog, texts: Texts, pools: Texts) -> None:
        stays = log.attempts
        self.count = len(stays)
        self.job = np.searchsorted(ints(r.job for r in log.jobs), ints(stay.job for stay in stays))
        """Position of the job in `RunLog.jobs`."""
        self.start = ints(stay.start_us for stay in stays)
        self.end = ints(stay.end_us for stay in stays)
        self.works = self.start + ints(stay.startup_us for stay in stays)
        """When start-up is over."""
        self.queued = self.end + ints(stay.pause_us for stay in stays)
        """When the job is in the queue again, if it goes on after the stay."""
        self.ended = texts.codes(stay.ended for stay in stays)
        self.pool = pools.codes(pool_key(stay.offer, burst=stay.burst) for stay in stays)
        self.number, self.last = self._in_its_job()
        self.stalled, self.stalled_by = self._stalls(log, texts)

    def _in_its_job(self) -> tuple[Ints, Flags]:
        """How many stays of the same job came before, and whether none comes after."""
        order = np.lexsort((np.arange(self.count), self.start, self.job))
        job, place = self.job[order], np.arange(self.count)
        changes = job[1:] != job[:-1]
        first = np.concatenate([[True], changes])[: self.count]
        number, last = np.empty_like(place), np.empty(self.count, dtype=bool)
        number[order] = place - np.maximum.accumulate(np.where(first, place, 0))
        last[order] = np.concatenate([changes, [True]])[: self.count]
        return number, last

    def _stalls(self, log: RunLog, texts: Texts) -> tuple[Ints, Ints]:
        """When a failure stopped the job of each stay, and the text of its kind; -1 where none did."""
        at, by = np.full(self.count, -1), np.full(self.count, -1)
        hit = {job for failure in log.failures for job in failure.jobs}
        starts: dict[int, list[Micros]] = defaultdict(list)
        places: dict[int, list[int]] = defaultdict(list)
        for place, stay in enumerate(log.attempts):
            if stay.job in hit:
                starts[stay.job].append(stay.start_us)
                places[stay.job].append(place)
        for failure in log.failures:
            for job in failure.jobs:
                # A stay that begins in the instant of a failure begins after it.
                place = places[job][bisect_left(starts[job], failure.at_us) - 1]
                if at[place] < 0:
                    at[place], by[place] = failure.at_us, texts.code(failure.kind)
        return at, by


def job_rows(log: RunLog, jobs: JobSet, stays: Stays, texts: Texts) -> list[Part]:
    """Every change of state of every job; the group of a row is the job's position in the log."""
    submit = ints(jobs.jobs[record.job].submit_us for record in log.jobs)
    ended = ints(-1 if record.end_us is None else record.end_us for record in log.jobs)
    state = np.array([record.state for record in log.jobs], dtype="U16")
    reason = texts.codes("bad result" if record.bad else record.reason for record in log.jobs)
    place = np.arange(len(log.jobs))
    ran = np.bincount(stays.job, minlength=len(place)) > 0
    # A job that is refused in the instant in which it comes never enters the queue.
    queues = ran | (state != "refused") | (ended > submit)
    ends = _ends_its_job(stays, texts, state, ended)
    last_stay = np.full(len(place), -1)
    last_stay[stays.job[ends]] = np.flatnonzero(ends)
    parts = [
        Part.of("submitted", submit, place, FIRST, job=place),
        Part.of("queued", submit[queues], place[queues], FIRST + 1, job=place[queues]),
        *_stay_rows(stays, texts, ~ends, stays.last & ~ends & (ended[stays.job] == stays.queued)),
    ]
    for name in np.unique(state).tolist():
        which = np.flatnonzero(state == name)
        cut = name in ("running", "waiting")
        shown = "unfinished" if cut else name
        if shown not in CODES:
            msg = f"the table of states lacks a job's state: {shown}"
            raise RuntimeError(msg)
        time = np.full(len(which), log.horizon_us) if cut else ended[which]
        cause = texts.code(name) if cut else reason[which]
        stay = last_stay[which]
        pool = np.where(stay < 0, -1, stays.pool[stay]) if stays.count else -1
        parts.append(Part.of(shown, time, which, LAST, job=which, cause=cause, stay=stay, pool=pool))
    return parts


def _ends_its_job(stays: Stays, texts: Texts, state: Names, ended: Ints) -> Flags:
    """Which stays end with their job: it is done or stopped then, or runs at the horizon."""
    final = state[stays.job]
    stops = (final == "running") | ((final != "refused") & (ended[stays.job] == stays.end))
    goes_on = np.isin(stays.ended, [texts.code(ended) for ended in TORN])
    return np.asarray(stays.last & stops & ~goes_on, dtype=np.bool_)


def _stay_rows(stays: Stays, texts: Texts, torn: Flags, ends_at_once: Flags) -> list[Part]:
    """From the start of each stay to the queue after it, which a job that `ends_at_once` never enters."""
    # Whoever leaves in the instant of a failure has not stood still.
    stalls = (stays.stalled >= 0) & (stays.stalled < stays.end)
    kinds = {state: torn & (stays.ended == texts.code(ended)) for ended, state in TORN.items()}
    kinds["interrupted"] = torn & ~np.logical_or.reduce(list(kinds.values()))

    def rows(name: str, step: int, chosen: Flags, time: Ints, **more: Ints) -> Part:
        which = np.flatnonzero(chosen)
        given = {key: column[which] for key, column in more.items()}
        step_of = STEPS * stays.number[which] + step
        return Part.of(name, time[which], stays.job[which], step_of, job=stays.job[which], **given)

    on = {"stay": np.arange(stays.count), "pool": stays.pool}
    return [
        rows("started", 0, np.full(stays.count, True), stays.start, **on),
        rows("running", 1, stays.works < np.where(stalls, stays.stalled, stays.end), stays.works, **on),
        rows("stalled", 2, stalls, stays.stalled, cause=stays.stalled_by, **on),
        *(rows(state, 3, chosen, stays.end, cause=stays.ended, **on) for state, chosen in kinds.items()),
        rows("paused", 4, torn & (stays.queued > stays.end), stays.end),
        rows("queued", 5, torn & ~ends_at_once, stays.queued),
    ]
