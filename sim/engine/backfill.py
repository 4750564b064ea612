"""EASY backfilling: the first job of the queue has a reservation, others may pass if they respect it.

No decision scans the queue. Jobs of one shape fit together or not at all, so each shape is asked
whether one of its jobs could start, and which is the first that is short enough.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from sim.engine.execution import Run, Stay
from sim.engine.fleet import Pool
from sim.engine.lengths import expected
from sim.engine.placer import Placer, Spot, Way
from sim.engine.reservations import Board, Reservation
from sim.engine.shortest import NEVER, ShapeQueue
from sim.engine.stay import turn
from sim.units import Micros

__all__ = ["EasyQueue"]


class EasyQueue:
    """Waiting jobs in order of submission, with backfilling behind the first."""

    def __init__(self, pools: Sequence[Pool], placer: Placer, begin: Callable[[Run, Spot], None]) -> None:
        self.waiting = 0
        self.dirty = True
        """Whether cards may have come, gone or become free since the last decision."""
        self._pools = pools
        self._placer = placer
        self._begin = begin
        self._board = Board(pools)
        self._order: list[int] = []
        """Turns of the waiting jobs, as a heap; stale ones are dropped when they come to the front."""
        self._runs: dict[int, Run] = {}
        self._shapes: dict[int, ShapeQueue] = {}
        self._arrived: list[int] = []
        self._kept: Reservation | None = None
        self._stale_us: Micros | None = None
        """From this instant on what was expected may have proved wrong."""
        self._changes = 0

    # --- the queue --------------------------------------------------------------------------

    def push(self, run: Run) -> bool:
        """Add a job. It may pass others, so a decision is always due."""
        job = run.job
        shape = self._shapes.get(job.shape)
        if shape is None:
            shape = self._shapes[job.shape] = ShapeQueue()
        shape.add(run, self._least_length(run))
        mine = turn(run)
        heapq.heappush(self._order, mine)
        self._runs[mine] = run
        if mine == self._order[0]:
            self.dirty = True
        self._arrived.append(mine)
        self.waiting += 1
        return True

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        removed = [run for run in self._runs.values() if unwanted(run)]
        for run in removed:
            self._take_out(run)
        return sorted(removed, key=turn)

    def _take_out(self, run: Run) -> None:
        del self._runs[turn(run)]
        self._shapes[run.shape].drop(run)
        self.waiting -= 1

    def _head(self) -> Run | None:
        order, runs = self._order, self._runs
        while order and order[0] not in runs:
            heapq.heappop(order)
        return runs[order[0]] if order else None

    def _least_length(self, run: Run) -> Micros:
        limit = run.limit_us
        if limit is not None:
            return limit
        spec = self._placer.executor.checkpoint
        return min(expected(run, pool, option, spec) for pool, option, _ in self._placer.tries(run))

    def started(self, stay: Stay) -> None:
        """A job has got cards now."""
        self._board.started(stay)

    def left(self, stay: Stay) -> None:
        """A job has left its cards now."""
        self._board.left(stay)
        self.dirty = True

    # --- decisions --------------------------------------------------------------------------

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Start jobs from the front while they fit, then those that do not delay the first."""
        now = self._placer.executor.now
        changes = sum(pool.changes for pool in self._pools)
        arrived, self._arrived = self._arrived, []
        fresh = (
            self.dirty or changes != self._changes or (self._stale_us is not None and now >= self._stale_us)
        )
        if not fresh:
            # Nothing has changed for those that waited already: only newcomers can start.
            for newcomer in sorted(arrived):
                self._try_to_pass(self._runs[newcomer], now)
            return
        while (head := self._head()) is not None and try_start(head):
            self._take_out(head)
        self._changes = changes
        self.dirty = not any(pool.free for pool in self._pools)
        if head is None or self.dirty:
            return
        self._kept = self._board.first_fit(self._placer.tries(head), now)
        self._stale_us = self._board.next_end(now)
        self._let_others_pass(head, now)

    def _let_others_pass(self, head: Run, now: Micros) -> None:
        """Offer the jobs behind the first, in order; a shape that cannot start is left out at once."""
        first = turn(head)
        candidates: list[tuple[int, int]] = []

        def look(shape: int, after: int) -> None:
            queue = self._shapes[shape]
            if queue.waiting:
                run = queue.first(self._longest(shape, now), after)
                if run is not None:
                    candidates.append((turn(run), shape))

        for shape in self._shapes:
            look(shape, first)
        heapq.heapify(candidates)
        while candidates:
            mine, shape = heapq.heappop(candidates)
            self._try_to_pass(self._runs[mine], now)
            size = len(candidates)
            look(shape, mine)
            if len(candidates) > size:
                heapq.heappush(candidates, candidates.pop())

    def _longest(self, shape: int, now: Micros) -> Micros:
        """The longest that a job of this shape may be expected to run to start now; -1: none can."""
        longest = -1
        kept = self._kept
        for way in self._placer.tries_of(shape):
            pool, option, _ = way
            if option.gpus > pool.free:
                continue
            if kept is None or pool is not kept.pool:
                if pool.fits(option.gpus, spans=option.spans):
                    return NEVER - 1
            elif pool.fits(option.gpus, spans=option.spans):
                if self._spares(way, kept):
                    return NEVER - 1
                longest = kept.at_us - now
        return longest

    def _spares(self, way: Way, kept: Reservation) -> bool:
        """Whether a long job could start this way beside the reservation, in its pool."""
        pool, option, _ = way
        if kept.machine is None:
            return option.gpus <= kept.spare
        hidden = pool.hide(kept.machine, kept.spare)
        fits = pool.fits(option.gpus, spans=option.spans)
        pool.unhide(kept.machine, hidden)
        return fits

    def _try_to_pass(self, run: Run, now: Micros) -> None:
        """Start a job that is not the first, unless it would delay the first."""
        kept = self._kept
        for way in self._placer.tries(run):
            pool, option, touched = way
            if option.gpus > pool.free:
                continue
            length = expected(run, pool, option, self._placer.executor.checkpoint)
            if kept is None or pool is not kept.pool or now + length <= kept.at_us:
                cards = pool.take(option.gpus, spans=option.spans, touched=touched)
            elif kept.machine is None:
                if option.gpus > kept.spare:
                    continue
                cards = pool.take(option.gpus, spans=option.spans, touched=touched)
                kept.spare -= 0 if cards is None else option.gpus
            else:
                machine = kept.machine
                hidden = pool.hide(machine, kept.spare)
                cards = pool.take(option.gpus, spans=option.spans, touched=touched)
                pool.unhide(machine, hidden)
                if cards is not None:
                    kept.spare -= sum(card.machine is machine for card in cards)
            if cards is not None:
                self._take_out(run)
                self._begin(run, (pool, option, cards))
                return
