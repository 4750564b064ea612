"""The queue in the order of a policy, kept so that no event ever scans it.

`wait` policies look at one head. `skip` policies keep one heap for each shape of job: jobs of one
shape fit or do not fit together, so only the heads are looked at. Fair share has a room of its own (`fair`).
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from sim.decisions.policies import Policy
from sim.engine.fleet import Pool
from sim.engine.stay import Run, Stay
from sim.model.fleet import PolicyParameters
from sim.units import Micros

__all__ = ["Follower", "Line", "Queue", "Ranking", "Room", "SkippingQueue"]

Entry = tuple[Any, ...]
"""The key of a job, number by number, then the job. Every key ends with the job's id, so that two
entries never tie and jobs are never compared."""


class Line(Protocol):
    """Waiting jobs in the order of a policy, and what it must know about those that run."""

    waiting: int

    def push(self, run: Run) -> bool:
        """Add a job; True if a decision may now start some job."""

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Offer jobs to `try_start` in the policy's order until what is left is blocked."""

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""


class Follower(Protocol):
    """One that must know who runs."""

    dirty: bool
    """Whether cards may have come or become free since the last decision."""

    def started(self, stay: Stay) -> None:
        """A job has got cards now."""

    def left(self, stay: Stay) -> None:
        """A job has left its cards now."""


class _Waiting:
    """Jobs in the order of their keys. Most come in that order, and those need no heap."""

    __slots__ = ("early", "first", "in_turn", "least")

    def __init__(self, least: int = 0) -> None:
        self.least = least
        """Fewest cards that one of them needs; 0 where nobody knows."""
        self.in_turn: deque[Entry] = deque()
        """Those that came in order: what first come first served lives on."""
        self.early: list[Entry] = []
        """A heap of those that go before one that came before them."""
        self.first: Entry | None = None
        """The first of all."""

    def push(self, entry: Entry) -> bool:
        """Add one; True if it is the first of all."""
        in_turn = self.in_turn
        if not in_turn:
            in_turn.append(entry)
        elif in_turn[-1] < entry:
            in_turn.append(entry)
            return False
        else:
            heapq.heappush(self.early, entry)
        first = self.first
        if first is not None and first < entry:
            return False
        self.first = entry
        return True

    def drop_first(self) -> None:
        early, in_turn = self.early, self.in_turn
        if in_turn and in_turn[0] is self.first:
            in_turn.popleft()
        else:
            heapq.heappop(early)
        if early:
            self.first = early[0] if not in_turn or early[0] < in_turn[0] else in_turn[0]
        else:
            self.first = in_turn[0] if in_turn else None

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        everybody = (*self.in_turn, *self.early)
        gone = [entry[-1] for entry in everybody if unwanted(entry[-1])]
        if gone:
            self.in_turn = deque(sorted(entry for entry in everybody if not unwanted(entry[-1])))
            self.early = []
            self.first = self.in_turn[0] if self.in_turn else None
        return gone


class Room:
    """Whether a job of a shape cannot start for want of free cards: a look that saves most tries."""

    def __init__(self, pools: Sequence[Pool], least: Sequence[int]) -> None:
        self._pools = pools
        self.least = least
        """Fewest cards that a job of each shape needs."""

    def free(self) -> int:
        """Cards that one pool has free, at most."""
        most = 0
        for pool in self._pools:
            if pool.free > most:
                most = pool.free
        return most


class Ranking:
    """The order of a policy. `estimate` gives the expected run time of a job without a time limit."""

    def __init__(
        self, policy: Policy, parameters: PolicyParameters, estimate: Callable[[Run], Micros]
    ) -> None:
        self._rule = policy.key
        self._parameters = parameters
        self._estimate = estimate

    def key(self, run: Run) -> tuple[float | int, ...]:
        """Place of a job in the order, whether or not it waits."""
        if run.estimate_us < 0:
            run.estimate_us = self._estimate(run)
        return self._rule(run, self._parameters)


class _OneQueue(ABC):
    """Jobs that wait, in one order. The first of an empty queue needs no place in it.

    `room`: None where a job may start though no card is free (it makes room, or shares a card).
    """

    def __init__(self, ranking: Ranking, room: Room | None = None) -> None:
        self._key = ranking.key
        self._room = room
        self._only: Run | None = None
        """The one job that waits: most find an empty queue."""
        self.waiting = 0

    def push(self, run: Run) -> bool:
        """Add a job; True if it became a head and cards are free, so that a decision may start it."""
        self.waiting += 1
        room = self._room
        if self.waiting == 1:
            self._only = run
            return room is None or room.least[run.shape] <= room.free()
        if self._only is not None:
            self._settle()
        return self._insert(run) and (room is None or room.least[run.shape] <= room.free())

    def _settle(self) -> None:
        """Give the job that waited alone its place in the order."""
        if self._only is not None:
            only, self._only = self._only, None
            self._insert(only)

    @abstractmethod
    def _insert(self, run: Run) -> bool:
        """Give a job its place in the order; True if it is a head now."""

    def _start_the_only(self, try_start: Callable[[Run], bool]) -> bool:
        """Offer the job that waits alone; True if it has started."""
        while self._only is not None:
            # Out of the queue before it is tried: making room for it may bring others in.
            only, self._only = self._only, None
            self.waiting -= 1
            if not try_start(only):
                self.push(only)
                return False
        return True

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        self._settle()
        removed = [run for line in self._all_lines() for run in line.remove(unwanted)]
        self.waiting -= len(removed)
        return sorted(removed, key=lambda run: run.job.id)

    @abstractmethod
    def _all_lines(self) -> Iterable[_Waiting]:
        """All that wait, but for one that waits alone."""


class Queue(_OneQueue):
    """The first holds all behind it."""

    def __init__(self, ranking: Ranking, room: Room | None = None) -> None:
        super().__init__(ranking, room)
        self._line = _Waiting()

    def _insert(self, run: Run) -> bool:
        return self._line.push((*self._key(run), run))

    def _all_lines(self) -> Iterable[_Waiting]:
        return (self._line,)

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Offer jobs to `try_start` in the policy's order until one is blocked."""
        if self._only is not None and not self._start_the_only(try_start):
            return
        line, room = self._line, self._room
        while line.first is not None:
            run: Run = line.first[-1]
            if room is not None and room.least[run.shape] > room.free():
                return
            if not try_start(run):
                return
            line.drop_first()
            self.waiting -= 1


class SkippingQueue(_OneQueue):
    """Jobs that do not fit now hold nobody: one heap a shape, of which only the heads are looked at."""

    def __init__(self, ranking: Ranking, room: Room | None = None) -> None:
        super().__init__(ranking, room)
        self._lines: dict[int, _Waiting] = {}
        self._by_size: list[_Waiting] = []
        """The same, those that need few cards first."""

    def _insert(self, run: Run) -> bool:
        line = self._lines.get(run.shape)
        if line is None:
            line = self._lines[run.shape] = _Waiting(0 if self._room is None else self._room.least[run.shape])
            self._by_size = sorted(self._lines.values(), key=lambda line: line.least)
        return line.push((*self._key(run), run))

    def _all_lines(self) -> Iterable[_Waiting]:
        return self._lines.values()

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Offer jobs to `try_start` in the policy's order until what is left is blocked."""
        if self._only is not None and not self._start_the_only(try_start):
            return
        room = self._room
        free = 1 if room is None else room.free()
        heads: list[tuple[Entry, _Waiting]] = []
        for line in self._by_size:
            if line.least > free:
                break
            if line.first is not None:
                heads.append((line.first, line))
        if len(heads) > 1:
            heapq.heapify(heads)
        while heads:
            head, line = heads[0]
            if line.least > free or not try_start(head[-1]):
                heapq.heappop(heads)
                continue
            line.drop_first()
            self.waiting -= 1
            if room is not None:
                free = room.free()
                if free < self._by_size[0].least:
                    return
            if line.first is None:
                heapq.heappop(heads)
            else:
                heapq.heapreplace(heads, (line.first, line))
