"""Ends by users: which submissions are cancelled or fail by an error of their own, drawn before the run.

Five uniform numbers a submission, in one stream a class: how it ends, when, whether early, whether it
is submitted again, and after which pause. Every strategy sees the same ends.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.model.ends import EndPreset, JobEnds
from sim.model.job import UserEnd
from sim.model.timed import TimedClass
from sim.model.work import JobClass
from sim.streams import Streams

__all__ = ["OWN_END", "PRESETS", "draw_ends", "ends_of"]

PRESETS: Mapping[EndPreset, JobEnds] = {
    "acme_seren": JobEnds(cancelled=0.075, failed=0.429),
    "acme_kalos": JobEnds(cancelled=0.062, failed=0.397),
    "philly": JobEnds(cancelled=0.090, failed=0.305),
    "helios": JobEnds(cancelled=0.221, failed=0.155),
    "helios_venus": JobEnds(cancelled=0.272, failed=0.202),
    "helios_earth": JobEnds(cancelled=0.136, failed=0.129),
    "helios_saturn": JobEnds(cancelled=0.272, failed=0.145),
    "helios_uranus": JobEnds(cancelled=0.201, failed=0.192),
    "small_team": JobEnds(cancelled=0.18, failed=0.20),
}
"""Shares by count of GPU jobs, of the public summaries of the Acme (Seren, Kalos), Philly and Helios
traces; `small_team` lies between Helios and Philly (assumed). When jobs fail, and whether they are
submitted again, is assumed in all of them. In these traces cancelled jobs are longer than others."""

OWN_END: Mapping[str, tuple[UserEnd, ...]] = {
    "cancelled": (UserEnd("cancelled"),),
    "failed": (UserEnd("failed"),),
}
"""End of a job whose run time is known -> its one submission, which ends so after that time."""

_NUMBERS = 5


def ends_of(job_class: JobClass | TimedClass) -> JobEnds | None:
    """The shares of a class, its preset looked up; None: all its jobs run to their end."""
    ends = job_class.ends
    return PRESETS[ends] if isinstance(ends, str) else ends


def draw_ends(
    job_class: JobClass | TimedClass, count: int, streams: Streams
) -> list[tuple[UserEnd, ...]] | None:
    """The ends of the submissions of `count` jobs; None, and no draw, for a class without them."""
    ends = ends_of(job_class)
    if ends is None:
        return None
    submissions = ends.retries + 1
    numbers = streams.generator("ends", job_class.name).random((count, submissions, _NUMBERS))
    pauses = _pauses(ends, numbers[:, :, 4])
    each = zip(numbers.tolist(), pauses.tolist(), strict=True)
    return [_ends_of_job(ends, of_job, of_pauses) for of_job, of_pauses in each]


def _ends_of_job(ends: JobEnds, numbers: list[list[float]], pauses: list[int]) -> tuple[UserEnd, ...]:
    found: list[UserEnd] = []
    for submission, (how, when, early, again, _) in enumerate(numbers):
        if how < ends.cancelled:
            found.append(UserEnd("cancelled", when))
        elif how < ends.cancelled + ends.failed:
            last = submission == len(numbers) - 1 or again >= ends.retried
            pause = None if last else pauses[submission]
            after = round(when * ends.within) if early < ends.early else None
            found.append(UserEnd("failed", when, after, pause))
            if not last:
                continue
        break
    return tuple(found)


def _pauses(ends: JobEnds, uniforms: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri  # here: it takes long to import, and few commands draw

    values = ends.pause * np.exp(ends.sigma * ndtri(np.clip(uniforms, 1e-12, None)))
    return np.asarray(np.rint(values), dtype=np.int64)
