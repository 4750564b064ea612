"""The queue in the order of a policy, kept so that no event ever scans it.

`wait` policies look at one head. `skip` policies keep one heap for each shape of job: jobs of one
shape fit or do not fit together, so only the heads are looked at. Fair share keeps one heap a team.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from sim.decisions.policies import Policy, least_used
from sim.decisions.views import QueuedJob
from sim.engine.execution import Run, Stay
from sim.engine.fleet import Pool
from sim.engine.stay import turn
from sim.model.fleet import PolicyParameters
from sim.units import Micros

__all__ = ["FairQueue", "Follower", "Line", "Queue", "Room"]

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


_seen: Callable[[Any], QueuedJob] = partial(tuple.__new__, QueuedJob)
"""A `QueuedJob` of its fields in order: every job that waits needs one."""


class _Waiting:
    """Jobs in the order of their keys. Most come in that order, and those need no heap."""

    __slots__ = ("early", "first", "in_turn", "least")

    def __init__(self, least: int) -> None:
        self.least = least
        """Fewest cards that one of them needs; 0 where nobody knows."""
        self.in_turn: deque[Entry] = deque()
        """Those that came in order: what first come first served lives on."""
        self.early: list[Entry] = []
        """A heap of those that go before one that came before them."""
        self.first: Entry | None = None
        """The first of all."""

    def push(self, entry: Entry) -> None:
        first = self.first
        if first is None or entry < first:
            self.first = entry
        if not self.in_turn or self.in_turn[-1] < entry:
            self.in_turn.append(entry)
        else:
            heapq.heappush(self.early, entry)

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


class Queue:
    """Waiting jobs. `estimate` gives the expected run time of a job without a time limit.

    `room`: None where a job may start though no card is free (it makes room, or shares a card).
    """

    def __init__(
        self,
        policy: Policy,
        parameters: PolicyParameters,
        estimate: Callable[[Run], Micros],
        room: Room | None = None,
    ) -> None:
        self._policy = policy
        self._parameters = parameters
        self._estimate = estimate
        self._room = room
        self._by_shape = policy.when_blocked == "skip"
        self._lines: dict[int, _Waiting] = {}
        self._by_size: list[_Waiting] = []
        """The same, those that need few cards first."""
        self._only: Run | None = None
        """The one job that waits: most find an empty queue, and one job needs no order."""
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

    def _insert(self, run: Run) -> bool:
        shape = run.shape if self._by_shape else 0
        line = self._lines.get(shape)
        if line is None:
            line = self._lines[shape] = _Waiting(0 if self._room is None else self._room.least[shape])
            self._by_size = sorted(self._lines.values(), key=lambda line: line.least)
        entry = (*self.key(run), run)
        in_turn = line.in_turn
        if in_turn and in_turn[-1] < entry:
            in_turn.append(entry)
            return False
        line.push(entry)
        return line.first is entry

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Offer jobs to `try_start` in the policy's order until what is left is blocked."""
        while self._only is not None:
            # Out of the queue before it is tried: making room for it may bring others in.
            only, self._only = self._only, None
            self.waiting -= 1
            if not try_start(only):
                self.push(only)
                return
        if not self.waiting:
            return
        if self._by_shape:
            self._skip_what_does_not_fit(try_start)
            return
        line, room = self._lines.get(0), self._room
        while line is not None and line.first is not None:
            run: Run = line.first[-1]
            if room is not None and room.least[run.shape] > room.free():
                return
            if not try_start(run):
                return
            line.drop_first()
            self.waiting -= 1

    def _skip_what_does_not_fit(self, try_start: Callable[[Run], bool]) -> None:
        free = 1 if self._room is None else self._room.free()
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
            if not try_start(head[-1]):
                heapq.heappop(heads)
                continue
            line.drop_first()
            self.waiting -= 1
            following = line.first
            if following is None:
                heapq.heappop(heads)
            else:
                heapq.heapreplace(heads, (following, line))

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        self._settle()
        removed = [run for line in self._lines.values() for run in line.remove(unwanted)]
        self.waiting -= len(removed)
        return sorted(removed, key=lambda run: run.job.id)

    def key(self, run: Run) -> tuple[float | int, ...]:
        """Place of a job in the policy's order, whether or not it waits."""
        number, _, _, submit_us, _, team, priority, deadline, limit, _, _ = run.job
        deadline = None if deadline is None else submit_us + deadline
        estimate = self._estimate(run) if limit is None else limit
        view = _seen((number, run.released_us, estimate, priority, deadline, team))
        return self._policy.key(view, self._parameters)


class _TeamUse:
    """Card-time of one team, where past use counts half after each half-life."""

    __slots__ = ("at_us", "cards", "use_card_us")

    def __init__(self) -> None:
        self.use_card_us = 0.0
        self.cards = 0
        self.at_us: Micros = 0

    def advance(self, now: Micros, rate: float) -> float:
        """The use as of now; `rate` is the decay per microsecond."""
        passed = (now - self.at_us) * rate
        if passed:
            self.use_card_us = self.use_card_us * math.exp(-passed) - self.cards / rate * math.expm1(-passed)
            self.at_us = now
        return self.use_card_us


class FairQueue:
    """One heap a team; the team with the least decayed use goes first, and its first job holds all."""

    def __init__(self, half_life_us: Micros, now: Callable[[], Micros]) -> None:
        self._rate = math.log(2) / half_life_us
        self._now = now
        self.dirty = True
        self._heaps: dict[str, list[tuple[int, Run]]] = {}
        self._uses: dict[str, _TeamUse] = {}
        self.waiting = 0

    def push(self, run: Run) -> bool:
        """Add a job. Which team is first changes with time, so a decision is always due."""
        heapq.heappush(self._heaps.setdefault(run.job.team, []), (turn(run), run))
        self.waiting += 1
        return True

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Offer the first job of the least used team until one is blocked."""
        now = self._now()
        used = {team: self._use(team).advance(now, self._rate) for team, heap in self._heaps.items() if heap}
        heads = [(least_used(use, self._heaps[team][0][0]), team) for team, use in used.items()]
        heapq.heapify(heads)
        while heads:
            team = heads[0][1]
            heap = self._heaps[team]
            if not try_start(heap[0][1]):
                return
            heapq.heappop(heap)
            self.waiting -= 1
            if heap:
                heapq.heapreplace(heads, (least_used(used[team], heap[0][0]), team))
            else:
                heapq.heappop(heads)

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        removed = [run for heap in self._heaps.values() for _, run in heap if unwanted(run)]
        for team, heap in self._heaps.items():
            self._heaps[team] = [entry for entry in heap if not unwanted(entry[1])]
            heapq.heapify(self._heaps[team])
        self.waiting -= len(removed)
        return sorted(removed, key=lambda run: run.job.id)

    def started(self, stay: Stay) -> None:
        """A job has got cards now."""
        self._hold(stay, len(stay.cards))

    def left(self, stay: Stay) -> None:
        """A job has left its cards now."""
        self._hold(stay, -len(stay.cards))

    def _hold(self, stay: Stay, cards: int) -> None:
        use = self._use(stay.run.job.team)
        use.advance(self._now(), self._rate)
        use.cards += cards

    def _use(self, team: str) -> _TeamUse:
        return self._uses.setdefault(team, _TeamUse())
