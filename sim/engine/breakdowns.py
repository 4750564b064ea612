"""Failures as they happen: what breaks, which jobs it hits, when it is noticed and mended.

A failure restores a machine, not a job: the jobs it hit go back to the queue once it is noticed,
and resume from the newest checkpoint that survived. One timer serves all machines of a pool.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count

from sim.engine.clock import Clock, Moment, Order
from sim.engine.execution import Executor, Run
from sim.engine.failures import FailureEvent
from sim.engine.fleet import Card, Machine, Pool
from sim.engine.saves import corrupt
from sim.engine.sharing import runs_on
from sim.model.failures import KINDS, PLANNED, SILENT
from sim.model.records import FailureRecord
from sim.units import Micros

__all__ = ["Breakdowns"]


class Breakdowns:
    """Lets the failures of one pool happen and keeps their records."""

    def __init__(
        self,
        env: Clock,
        pool: Pool,
        events: Sequence[FailureEvent],
        executor: Executor,
        on_interrupted: Callable[[Run], None],
        on_mended: Callable[[Machine], None],
    ) -> None:
        self.env = env
        self.pool = pool
        self.executor = executor
        self.on_interrupted = on_interrupted
        self.on_mended = on_mended
        self.records: list[FailureRecord] = []
        self._events = iter(events)
        self._tokens = count(1)
        self._spares: list[Micros] | None = None
        """When each of the spares is there, as a heap; None: none has been taken yet."""
        models = [model for model, _ in pool.spec.failures_by_machine(len(pool.machines))]
        infancies = (model.infancy for model in models if model.infancy is not None)
        self._infancy_us = max((infancy.period_us for infancy in infancies), default=0)
        self._announced = all(model.maintenance is None or model.maintenance.announced for model in models)
        self._wait_for_next()

    def _wait_for_next(self) -> None:
        event = next(self._events, None)
        if event is not None:
            Moment(self.env, event.at_us, Order.FAILURE, self._strike, event)

    def _strike(self, moment: Moment) -> None:
        event: FailureEvent = moment.subject
        self._wait_for_next()
        machine = self.pool.machines[event.machine]
        card = machine.cards[event.card]
        # A failure of what is not leased or already down does not happen.
        if not machine.leased or not machine.up or _grown_up(event, machine, self._infancy_us):
            return
        if card.broken and KINDS[event.kind].unit == "card":
            return
        if event.kind == SILENT:
            for run in runs_on([card]):
                corrupt(run, self.executor.now)
            return
        token = next(self._tokens)
        now: Micros = self.executor.now
        back_us = now + event.outage.detect_us + self._away(event, machine)
        alone = event.alone
        if alone:
            self.pool.break_card(card, now, token)
            Moment(self.env, back_us, Order.REPAIR, self._mend_card, card, token)
        else:
            self.pool.break_machine(machine, now, token, moves=event.moves)
            mend = self._mend_moved if event.moves else self._mend_machine
            Moment(self.env, back_us, Order.REPAIR, mend, machine, token)
        runs = runs_on([card] if alone else machine.cards)
        self._note(event, card if alone else None, back_us, runs)
        if event.kind == PLANNED and self._announced:
            self._send_away(runs)
            return
        for run in runs:
            self.executor.fail(run, event.kind)
        noticed = now + event.outage.detect_us
        for run in runs:
            Moment(self.env, noticed, Order.NOTICE, self._notice, run, run.version)

    def _away(self, event: FailureEvent, machine: Machine) -> Micros:
        """Time from notice to working order: as drawn, and the wait for a spare, and the rollback."""
        away_us = event.outage.repair_us
        model = self.pool.spec.failures_of(machine.lease)
        if model is None or not event.moves or event.outage.exact:
            return away_us
        if model.snapshots is not None and not machine.disk_kept:
            away_us += model.snapshots.rollback_us
        if model.spares is not None:
            away_us += self._wait_for_spare(event, model.spares.count)
        return away_us

    def _wait_for_spare(self, event: FailureEvent, count: int) -> Micros:
        """The spare that is there first is taken, and what failed is one once it is mended.

        They are given out in the order in which machines fail, not in that in which it is noticed.
        """
        if not count:  # the provider mends the very machine that failed
            return event.outage.shop_us
        if self._spares is None:
            self._spares = [0] * count
        noticed = event.at_us + event.outage.detect_us
        there_us = heapq.heapreplace(self._spares, noticed + event.outage.shop_us)
        return max(0, there_us - noticed)

    def _send_away(self, runs: Sequence[Run]) -> None:
        """Planned work begins: jobs save their state and wait for other cards."""
        for run in runs:
            # A job whose failure nobody has noticed yet cannot write a checkpoint.
            failed = run.stay.failed if run.stay else None
            self.executor.interrupt(run, failed or PLANNED, saves=failed is None)
            self.on_interrupted(run)

    def _note(self, event: FailureEvent, card: Card | None, back_us: Micros, runs: Sequence[Run]) -> None:
        self.records.append(
            FailureRecord(
                at_us=event.at_us, kind=event.kind, offer=self.pool.spec.offer,
                machine=event.machine, card=None if card is None else card.ordinal,
                back_us=back_us, jobs=tuple(run.job.id for run in runs),
                promise_kept=event.outage.promise_kept, burst=self.pool.burst,
            )
        )  # fmt: skip

    def _notice(self, moment: Moment) -> None:
        run: Run = moment.subject
        if run.version != moment.version or run.stay is None or run.stay.failed is None:
            return
        self.executor.interrupt(run, run.stay.failed, saves=False)
        self.on_interrupted(run)

    def _mend_card(self, moment: Moment) -> None:
        card: Card = moment.subject
        if card.broken != moment.version:
            return  # it was replaced with its machine meanwhile
        self.pool.mend_card(card, self.executor.now, moment.version)
        self.on_mended(card.machine)

    def _mend_moved(self, moment: Moment) -> None:
        self._mend(moment.subject, moment.version, moved=True)

    def _mend_machine(self, moment: Moment) -> None:
        self._mend(moment.subject, moment.version, moved=False)

    def _mend(self, machine: Machine, token: int, *, moved: bool) -> None:
        self.pool.mend_machine(machine, self.executor.now, token, moved=moved)
        self.on_mended(machine)


def _grown_up(event: FailureEvent, machine: Machine, infancy_us: Micros) -> bool:
    """Whether a failure of new machines comes too late for this one."""
    return event.infant and event.at_us - machine.fresh_us >= infancy_us
