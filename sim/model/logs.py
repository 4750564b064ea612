"""The records of a run's jobs and of their stays, packed: written by the engine, read by all others."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.model.packed import Codes, Layout, Packed
from sim.model.records import Attempt, JobRecord, JobState
from sim.units import Micros

__all__ = ["AttemptWriter", "Attempts", "JobRecords", "JobWriter"]

_JOB = Layout(
    job="q", start_us="q", end_us="q", wait_us="q", run_us="q", pause_us="q", progress="d",
    gpus="i", interruptions="i", submissions="i", redone="i", offer="i", reason="i", state="i", bad="?",
)  # fmt: skip
_STAY = Layout(
    start_us="q", end_us="q", startup_us="q", checkpoint_us="q", work_us="q", lost_us="q",
    voided_card_us="q", pause_us="q", first="q", job="i", cards="i", offer="i", ended="i", burst="?",
)  # fmt: skip
_BYTES = _JOB.size
_NONE = -1
"""In place of a time or an offer that is None."""


class JobRecords(Packed[JobRecord]):
    """`JobRecord`s in order of `Job.id`."""

    layout = _JOB

    def __init__(self, rows: npt.NDArray[np.void], texts: Sequence[str]) -> None:
        super().__init__(rows)
        self.texts = tuple(texts)
        """What the numbers in the columns `state`, `offer` and `reason` stand for; -1 is None."""

    @classmethod
    def of(cls, records: Sequence[JobRecord]) -> JobRecords:
        """The same records, packed."""
        if isinstance(records, JobRecords):
            return records
        writer = JobWriter(len(records))
        for place, record in enumerate(records):
            writer.put(place, *record[1:])
        return writer.table(len(records), [record.job for record in records])

    def parts(self) -> tuple[npt.NDArray[np.uint8], list[str]]:
        """The rows as bytes, and the texts; `from_parts` makes the same records of them."""
        return np.ascontiguousarray(self._rows).view(np.uint8), list(self.texts)

    @classmethod
    def from_parts(cls, rows: npt.NDArray[np.uint8], texts: Sequence[str]) -> JobRecords:
        """Records of these parts; ValueError where the bytes are no whole rows."""
        return cls(rows.view(_JOB.dtype), texts)

    def in_state(self, *states: JobState) -> npt.NDArray[np.bool_]:
        """Which jobs are in one of these states."""
        return np.isin(self._rows["state"], [i for i, text in enumerate(self.texts) if text in states])

    def _read(self, values: tuple[Any, ...]) -> JobRecord:
        (
            job, start, end, wait, run, pause, progress,
            gpus, interruptions, submissions, redone, offer, reason, state, bad,
        ) = values  # fmt: skip
        texts: Sequence[Any] = self.texts
        return JobRecord(
            job, texts[state], None if start < 0 else start, None if end < 0 else end, wait, gpus,
            None if offer < 0 else texts[offer], interruptions, progress, run, texts[reason], pause,
            submissions, redone, bad,
        )  # fmt: skip


class JobWriter:
    """Takes the records of a known number of jobs, in any order."""

    def __init__(self, jobs: int) -> None:
        self._buffer = bytearray(jobs * _JOB.size)  # pages that are never written take no memory
        self._codes = Codes()
        self._into = _JOB.pack.pack_into

    def put(
        self,
        job: int,
        state: str,
        start_us: Micros | None,
        end_us: Micros | None,
        wait_us: Micros,
        gpus: int,
        offer: str | None,
        interruptions: int,
        progress: float,
        run_us: Micros,
        reason: str = "",
        pause_us: Micros = 0,
        submissions: int = 1,
        redone: int = 0,
        bad: bool = False,
    ) -> None:
        """The record of a job, field by field; its id is its place."""
        codes = self._codes
        self._into(
            self._buffer, job * _BYTES, job, _NONE if start_us is None else start_us,
            _NONE if end_us is None else end_us, wait_us, run_us, pause_us, progress, gpus, interruptions,
            submissions, redone, _NONE if offer is None else codes[offer], codes[reason], codes[state], bad,
        )  # fmt: skip

    def table(self, jobs: int, ids: Sequence[int] | None = None) -> JobRecords:
        """The records of the first so many jobs, their places or `ids`; the writer is spent."""
        buffer, self._buffer = self._buffer, bytearray()
        del buffer[jobs * _JOB.size :]
        rows = np.frombuffer(buffer, dtype=_JOB.dtype)
        if ids is not None:
            rows["job"] = ids
        return JobRecords(rows, tuple(self._codes))


class Attempts(Packed[Attempt]):
    """`Attempt`s by start, then job."""

    layout = _STAY

    def __init__(
        self,
        rows: npt.NDArray[np.void],
        cards: array[int],
        texts: Sequence[str],
        shares: Mapping[int, Micros],
    ) -> None:
        super().__init__(rows)
        self._cards = cards
        self._shares = shares
        """`card_us` of the stays on shared cards, by the column `first`."""
        self.texts = tuple(texts)
        """What the numbers in the columns `offer` and `ended` stand for."""

    @classmethod
    def of(cls, stays: Sequence[Attempt]) -> Attempts:
        """The same stays, packed."""
        if isinstance(stays, Attempts):
            return stays
        writer = AttemptWriter()
        for stay in stays:
            writer.add(*stay)
        return writer.table(in_order=False)

    def parts(self) -> tuple[npt.NDArray[np.uint8], array[int], dict[int, Micros], list[str]]:
        """The rows as bytes, the cards, the shares of cards, and the texts."""
        rows = np.ascontiguousarray(self._rows).view(np.uint8)
        return rows, self._cards, dict(self._shares), list(self.texts)

    @classmethod
    def from_parts(
        cls,
        rows: npt.NDArray[np.uint8],
        cards: npt.NDArray[np.int32],
        shares: Mapping[int, Micros],
        texts: Sequence[str],
    ) -> Attempts:
        """Stays of these parts; ValueError where the bytes are no whole rows."""
        return cls(rows.view(_STAY.dtype), array("i", cards.tobytes()), texts, shares)

    def ended(self, *how: str) -> npt.NDArray[np.bool_]:
        """Which stays ended in one of these ways."""
        return np.isin(self._rows["ended"], [i for i, text in enumerate(self.texts) if text in how])

    def on_cards(self) -> list[list[int]]:
        """The cards of each stay, in the order of the rows."""
        every = self._cards.tolist()
        places = zip(self._rows["first"].tolist(), self._rows["cards"].tolist(), strict=True)
        return [every[first : first + count] for first, count in places]

    def _read(self, values: tuple[Any, ...]) -> Attempt:
        (
            start, end, startup, checkpoint, work, lost, voided, pause,
            first, job, cards, offer, ended, burst,
        ) = values  # fmt: skip
        return Attempt(
            job, self.texts[offer], burst, tuple(self._cards[first : first + cards]), start, end,
            self.texts[ended], startup, checkpoint, work, lost, voided, pause, self._shares.get(first),
        )  # fmt: skip

    def card_share(self) -> npt.NDArray[np.float64] | None:
        """Part of each card that each stay had, on average; None: no card was shared."""
        if not self._shares:
            return None
        share = np.ones(len(self))
        for place, first in enumerate(self._rows["first"].tolist()):
            if first in self._shares:
                length = int(self._rows["end_us"][place] - self._rows["start_us"][place])
                share[place] = self._shares[first] / length if length else 1.0
        return share


class AttemptWriter:
    """Takes the records of stays as they end."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._extend = self._buffer.extend
        self._cards = array("i")
        self._shares: dict[int, Micros] = {}
        self._codes = Codes()
        self._pack = _STAY.pack.pack

    def add(
        self,
        job: int,
        offer: str,
        burst: bool,
        cards: Sequence[int],
        start_us: Micros,
        end_us: Micros,
        ended: str,
        startup_us: Micros,
        checkpoint_us: Micros,
        work_us: Micros,
        lost_us: Micros,
        voided_card_us: Micros = 0,
        pause_us: Micros = 0,
        card_us: Micros | None = None,
    ) -> None:
        """One stay, field by field."""
        codes, all_cards = self._codes, self._cards
        if card_us is not None:
            self._shares[len(all_cards)] = card_us
        self._extend(
            self._pack(
                start_us, end_us, startup_us, checkpoint_us, work_us, lost_us, voided_card_us, pause_us,
                len(all_cards), job, len(cards), codes[offer], codes[ended], burst,
            )
        )  # fmt: skip
        all_cards.extend(cards)

    def void(self, gone: Mapping[int, Micros]) -> None:
        """Card-time of jobs' saved work that was lost after their last stays; it is told with these."""
        rows = np.frombuffer(self._buffer, dtype=_STAY.dtype)
        for job, card_us in gone.items():
            rows["voided_card_us"][np.flatnonzero(rows["job"] == job)[-1]] += card_us

    def table(self, *, in_order: bool = True) -> Attempts:
        """All stays, by start, job and end if they are to be put in order; the writer is spent."""
        rows = np.frombuffer(self._buffer, dtype=_STAY.dtype)
        if in_order:
            rows = rows[np.lexsort((rows["end_us"], rows["job"], rows["start_us"]))]
        return Attempts(rows, self._cards, tuple(self._codes), self._shares)
