"""Failed jobs that are submitted again: how many, how often, and after which pause.

A record does not say which job repeats which. It shows where jobs have names: the next job of the
same user, name and number of cards, submitted within a day of the end of a failed one, repeats it. Jobs that
were done are looked at in the same way: where they are followed half as often or more, a name stands
for all sorts of runs, and nothing is learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from sim.workload.arrivals import Ints
from sim.workload.record import Record

__all__ = ["FEWEST", "RetryFit", "fit_retries"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

WITHIN_S = 86_400.0
"""A job submitted longer after a failure is no answer to it (assumed)."""
FEWEST = 20
"""Failed jobs from which on something is learned (assumed)."""
_SURE = 2.0
"""Standard errors by which failed jobs must be followed more often than done ones."""
_TIMES = 2.0
"""How many times as often, besides."""


@dataclass(frozen=True, slots=True)
class RetryFit:
    """What a record shows of new submissions of failed jobs."""

    failed: int
    """Failed jobs with a name."""
    followed: float
    """Share of them that a job of the same user, name and cards follows within a day."""
    followed_done: float
    """The same share of jobs that were done."""
    most: int
    """New submissions of one job at most; 0 where nothing is learned."""
    pause_s: Floats
    """Times from the failure to the new submission, seconds."""
    again: Flags
    """Which jobs of the record are such new submissions, shape (n,)."""


def fit_retries(record: Record) -> RetryFit | None:
    """New submissions of a record; None where its jobs have no names, or too few of them failed."""
    columns = record.columns
    named = columns.name != ""
    failed = named & (columns.state == "failed") & columns.complete
    done = named & (columns.state == "done") & columns.complete
    if int(failed.sum()) < FEWEST:
        return None
    following = _following(record, named)
    found = following >= 0
    p_failed, p_done = _share(found, failed), _share(found, done)
    error = math.sqrt(
        p_failed * (1 - p_failed) / failed.sum() + p_done * (1 - p_done) / max(int(done.sum()), 1)
    )
    again = np.zeros(len(record), dtype=bool)
    if p_failed - p_done <= _SURE * error or p_failed < _TIMES * p_done:
        return RetryFit(int(failed.sum()), p_failed, p_done, 0, np.empty(0), again)
    repeated = np.flatnonzero(failed & found)
    again[following[repeated]] = True
    pauses = record.submit_s[following[repeated]] - _ends(record)[repeated]
    most = _longest(following, failed & found)
    return RetryFit(int(failed.sum()), p_failed, p_done, most, np.maximum(pauses, 0.0), again)


def _share(found: Flags, of: Flags) -> float:
    return float(found[of].mean()) if of.any() else 0.0


def _ends(record: Record) -> Floats:
    """End of each job; of those without a recorded wait as if they had had none."""
    wait = np.nan_to_num(record.columns.wait_s, nan=0.0)
    return np.asarray(record.submit_s + np.maximum(wait, 0.0) + record.runtime_s)


def _following(record: Record, named: Flags) -> Ints:
    """The next job of the same user, name and cards, if it is submitted within a day of the end and after
    it; -1 where there is none. The last one that ended before a job is the one that it follows."""
    columns, ends = record.columns, _ends(record)
    following = np.full(len(record), -1, dtype=np.int64)
    keys = pd.DataFrame({"user": columns.user, "name": columns.name, "gpus": columns.gpus})[named]
    for rows in keys.groupby(["user", "name", "gpus"], sort=False).indices.values():
        jobs = np.flatnonzero(named)[rows]
        if len(jobs) < 2:
            continue
        by_end = jobs[np.argsort(ends[jobs], kind="stable")]
        # The last that has ended when a job is submitted, if no other was submitted since.
        last = np.searchsorted(ends[by_end], record.submit_s[jobs], side="right") - 1
        for job, place in zip(jobs.tolist(), last.tolist(), strict=True):
            if place < 0:
                continue
            before = int(by_end[place])
            near = record.submit_s[job] - ends[before] <= WITHIN_S
            if before != job and near and following[before] < 0:
                following[before] = job
    return following


def _longest(following: Ints, repeated: Flags) -> int:
    """The longest chain of failures, each submitted again."""
    length = np.zeros(len(following), dtype=np.int64)
    for job in range(len(following)):  # by time of submission, so each comes before the one that follows
        if repeated[job]:
            length[following[job]] = max(length[following[job]], length[job] + 1)
    return int(length.max(initial=0))
