"""States of cards and jobs, and the rows of a trace of events as columns of numbers.

A row is a change of state. Texts are numbers here and become texts a piece at a time, so that the
trace of a long run never stands in memory twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = [
    "CODES",
    "NO_LEASE",
    "STATES",
    "Flags",
    "Ints",
    "Part",
    "Rows",
    "State",
    "Texts",
    "in_order",
    "ints",
]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NO_LEASE = -2
"""Code of no lease: -1 is a burst."""


@dataclass(frozen=True, slots=True)
class State:
    """One value of the column `state`."""

    name: str
    kind: Literal["card", "job"]
    lasts: bool
    """Whether the card or job stays in it until its next row; else it is a moment."""
    meaning: str


STATES: tuple[State, ...] = (
    State("done", "job", lasts=False, meaning="all its work is done"),
    State("killed", "job", lasts=False, meaning="it was stopped for good; `cause` says why"),
    State("cancelled", "job", lasts=False, meaning="its user stopped it for good"),
    State("failed", "job", lasts=False, meaning="it failed by an error of its own, for good"),
    State("broken", "card", lasts=False, meaning="a failure; without `card` it is the whole machine's"),
    State("stalled", "job", lasts=True, meaning="a failure stopped it, nobody knows; it holds its cards"),
    State("interrupted", "job", lasts=False, meaning="it lost its cards before its end"),
    State("retried", "job", lasts=False, meaning="it failed by an error of its own, to be submitted again"),
    State("redone", "job", lasts=False, meaning="its result was seen to be bad: it begins again"),
    State("returned", "card", lasts=False, meaning="its lease ended, or the hourly unit was handed back"),
    State("leased", "card", lasts=False, meaning="its lease begins: it is usable from now on"),
    State("down", "card", lasts=True, meaning="away for a failure, a reset or a migration, without a job"),
    State("away", "card", lasts=True, meaning="outside of the windows in which jobs may use it"),
    State("reserved", "card", lasts=True, meaning="kept out of training"),
    State("free", "card", lasts=True, meaning="in working order, without a job"),
    State("submitted", "job", lasts=False, meaning="it arrives"),
    State("paused", "job", lasts=True, meaning="until its user submits it again"),
    State("queued", "job", lasts=True, meaning="it waits"),
    State("refused", "job", lasts=False, meaning="no card can ever hold it"),
    State("started", "job", lasts=True, meaning="it has its cards and starts up: fetching, loading"),
    State("running", "job", lasts=True, meaning="it works, and writes checkpoints"),
    State("busy", "card", lasts=True, meaning="a job holds it"),
    State("unfinished", "job", lasts=False, meaning="the horizon: it was running or waiting (`cause`)"),
    State("kept", "card", lasts=False, meaning="the horizon: it is still leased"),
)
"""Every state, in the order in which rows of one instant stand."""

ENDS_JOB = frozenset({"done", "killed", "cancelled", "failed", "refused", "unfinished"})
"""States with which a job's rows end."""

ENDS_STAY = ENDS_JOB - {"refused"} | {"interrupted", "retried", "redone"}
"""States in which a job leaves its cards, if it has some."""

CODES: Mapping[str, int] = {state.name: code for code, state in enumerate(STATES)}


def ints(values: Iterable[int]) -> Ints:
    """Numbers as a column."""
    return np.fromiter(values, dtype=np.int64)


class Texts:
    """Texts by number, each once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, text: str) -> int:
        """The number of a text; -1 of an empty one."""
        if not text:
            return -1
        if text not in self._codes:
            self._codes[text] = len(self.all)
            self.all.append(text)
        return self._codes[text]

    def codes(self, texts: Iterable[str]) -> Ints:
        """The numbers of many texts."""
        return ints(self.code(text) for text in texts)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows as columns of numbers."""

    time: npt.NDArray[np.int64]
    state: npt.NDArray[np.int8]
    """Position in `STATES`."""
    job: npt.NDArray[np.int32]
    """Position in `RunLog.jobs`; -1: none."""
    pool: npt.NDArray[np.int16]
    """Number of offer and burst; -1: none."""
    lease: npt.NDArray[np.int32]
    """As in `LeaseRecord`; NO_LEASE: none."""
    machine: npt.NDArray[np.int32]
    card: npt.NDArray[np.int32]
    cause: npt.NDArray[np.int32]
    """Number of a text; -1: none."""
    stay: npt.NDArray[np.int32]
    """Position in `RunLog.attempts` of the stay on cards that the row is about, in `RunLog.failures` of
    the failure of a `broken` row; -1: none."""

    def __len__(self) -> int:
        return len(self.time)


_KINDS: dict[str, type[np.signedinteger]] = {"time": np.int64, "state": np.int8, "pool": np.int16}


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows. `group` is the card or job, and `step` puts its rows in its own order."""

    rows: Rows
    group: Ints
    step: Ints

    @classmethod
    def of(cls, state: str, time: Ints, group: Ints, step: Ints | int, **given: Ints | int) -> Part:
        """Rows of one state; columns that are not given are empty."""
        values = {"time": time, "state": CODES[state], "lease": NO_LEASE, **given}
        columns = {
            field.name: np.broadcast_to(
                np.asarray(values.get(field.name, -1), dtype=_KINDS.get(field.name, np.int32)), time.shape
            )
            for field in fields(Rows)
        }
        return cls(Rows(**columns), group, np.broadcast_to(np.asarray(step, dtype=np.int64), time.shape))


def in_order(parts: Sequence[Part]) -> Rows:
    """Rows in order of time; of one instant in the order of `STATES`, jobs and cards each by number.

    A card or job that goes through several states in one instant keeps its own order: a row never
    stands before an earlier one of the same card or job. One column after another is put in order.
    """

    def column(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(part.rows, name) for part in parts])

    group = np.concatenate([part.group for part in parts])
    step = np.concatenate([part.step for part in parts])
    own = np.lexsort((step, group))
    del step
    group, time, state = group[own], column("time")[own], column("state")[own]
    fresh = np.ones(len(own), dtype=np.int64)
    fresh[1:] = (group[1:] != group[:-1]) | (time[1:] != time[:-1])
    base = np.cumsum(fresh) * len(STATES)
    rank = np.maximum.accumulate(state + base) - base
    del fresh, base, state
    # Ties keep the order of `own`, which is that of group and step.
    order = own[np.lexsort((group, rank, time))]
    del own, rank, group, time
    return Rows(**{field.name: column(field.name)[order] for field in fields(Rows)})
