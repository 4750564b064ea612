"""The queue in the order of a policy, kept so that no event ever scans it.

`wait` policies look at one head. `skip` policies keep one heap for each shape of job: jobs of one
shape fit or do not fit together, so only the heads are looked at.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from sim.decisions.policies import Policy
from sim.decisions.views import QueuedJob
from sim.engine.execution import Run
from sim.units import Micros

__all__ = ["Queue"]

Entry = tuple[tuple[float | int, ...], Run]


class Queue:
    """Waiting jobs. `estimate` gives the expected run time of a job without a time limit."""

    def __init__(self, policy: Policy, estimate: Callable[[Run], Micros]) -> None:
        self._policy = policy
        self._estimate = estimate
        self._by_shape = policy.when_blocked == "skip"
        self._heaps: dict[int, list[Entry]] = {}
        self.waiting = 0

    def push(self, run: Run) -> bool:
        """Add a job; True if it became a head, so that a decision may start it."""
        heap = self._heaps.setdefault(run.job.shape if self._by_shape else 0, [])
        # Every key ends with the job's id, so two entries never tie and runs are never compared.
        heapq.heappush(heap, (self._policy.key(self._view(run)), run))
        self.waiting += 1
        return heap[0][1] is run

    def start_what_fits(self, try_start: Callable[[Run], bool]) -> None:
        """Offer jobs to `try_start` in the policy's order until what is left is blocked."""
        heads = [(heap[0], shape) for shape, heap in self._heaps.items() if heap]
        heapq.heapify(heads)
        while heads:
            (_, run), shape = heads[0]
            if not try_start(run):
                heapq.heappop(heads)
                if not self._by_shape:
                    return
                continue
            heap = self._heaps[shape]
            heapq.heappop(heap)
            self.waiting -= 1
            if heap:
                heapq.heapreplace(heads, (heap[0], shape))
            else:
                heapq.heappop(heads)

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        removed: list[Run] = []
        for shape, heap in self._heaps.items():
            gone = [entry for entry in heap if unwanted(entry[1])]
            if gone:
                kept = [entry for entry in heap if not unwanted(entry[1])]
                heapq.heapify(kept)
                self._heaps[shape] = kept
                self.waiting -= len(gone)
                removed += [run for _, run in gone]
        return sorted(removed, key=lambda run: run.job.id)

    def _view(self, run: Run) -> QueuedJob:
        job = run.job
        deadline = None if job.deadline_us is None else job.submit_us + job.deadline_us
        return QueuedJob(
            id=job.id, submit_us=job.submit_us,
            estimate_us=self._estimate(run) if job.limit_us is None else job.limit_us,
            priority=job.priority, deadline_at_us=deadline, team=job.team,
        )  # fmt: skip
