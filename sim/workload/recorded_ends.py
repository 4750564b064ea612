"""How recorded jobs ended, by the words of schedulers: what a replay and a learned workload read alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sim.model.timed import JobEnd

__all__ = ["STATES", "lost_end", "recorded_end"]

STATES: Mapping[str, JobEnd | None] = {
    "": "done",
    "done": "done",
    "completed": "done",
    "pass": "done",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "killed": "cancelled",
    "revoked": "cancelled",
    "preempted": "cancelled",
    "requeued": "cancelled",
    "unknown": "done",
    "failed": "failed",
    "timeout": "failed",
    "deadline": "failed",
    "node_fail": "failed",
    "boot_fail": "failed",
    "out_of_memory": "failed",
    "running": None,
    "suspended": None,
    "pending": None,
    "cut": None,
}
"""State in a record, lower case -> how such jobs end; None: cut by the end of the record."""


def recorded_end(text: str) -> JobEnd | None:
    """How a job of this state ended; None: it had not. ValueError for a word that is no state.

    Beyond the words here those are known that an import knows (`words.yaml`), such as `Succeeded` or `失败`.
    """
    word = text.strip().lower().rstrip("+").split(" by ")[0]
    if word in STATES:
        return STATES[word]
    from sim.workload.imports.states import state_of  # here: an import's readers take long to load

    found = state_of(text)
    if found is None:
        msg = "unknown state of a job"
        raise ValueError(msg)
    return STATES[found]


def lost_end(text: str) -> Literal["cancelled", "failed"] | None:
    """The end of a recorded job whose work was not done; None: it was done, or nobody knows.

    A job that still ran at the record's end is replayed with the time that it had run, as done.
    """
    end = recorded_end(text)
    return None if end is None or end == "done" else end
