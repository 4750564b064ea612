"""When jobs on divided cards end: planned anew whenever one of them gets faster or slower."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim.engine.clock import Clock, Moment, Order
from sim.engine.sharing import PacedStay
from sim.engine.sharing_pools import DividedPool
from sim.engine.stay import Run

__all__ = ["Pacer"]


class Pacer:
    """Plans the ends of stays on divided cards. `complete` is called when one has come."""

    def __init__(self, env: Clock, complete: Callable[[Moment], None]) -> None:
        self._env = env
        self._complete = complete

    def begins(self, stay: PacedStay) -> None:
        """A job begins; it computes, and slows the others, from when it has started up."""
        run, limit = stay.run, stay.run.job.limit_us
        if limit is not None and limit < stay.startup_us:
            Moment(self._env, stay.start_us + limit, Order.COMPLETION, self._complete, run, run.version)
        elif stay.startup_us:
            works_us = stay.start_us + stay.startup_us
            Moment(self._env, works_us, Order.COMPLETION, self._works, run, run.version)
        else:
            self._let_work(stay)

    def _works(self, moment: Moment) -> None:
        run: Run = moment.subject
        if run.version == moment.version and isinstance(run.stay, PacedStay):
            self._let_work(run.stay)

    def _let_work(self, stay: PacedStay) -> None:
        if isinstance(stay.pool, DividedPool):
            self.plan(stay.pool.works(stay, self._env.now_us))

    def plan(self, stays: Sequence[PacedStay]) -> None:
        """These stays run at another speed from now on."""
        for stay in stays:
            run, length, limit = stay.run, stay.length_us, stay.run.job.limit_us
            if stay.stop_us is not None and stay.stop_us < length:
                length = stay.stop_us
            end = stay.due(length)
            if limit is not None and stay.start_us + limit < end:
                end = stay.start_us + limit
            run.version += 1
            Moment(self._env, end, Order.COMPLETION, self._complete, run, run.version)
