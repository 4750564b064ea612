"""Failures as they happen: what breaks, which jobs it hits, when it is noticed and mended.

A failure restores a machine, not a job: the jobs it hit go back to the queue once it is noticed,
and resume from the newest checkpoint that survived. One timer serves all machines of a pool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import simpy

from sim.engine.clock import Moment, Order
from sim.engine.execution import Executor, Run
from sim.engine.failures import FailureEvent
from sim.engine.fleet import Card, Machine, Pool
from sim.model.records import FailureRecord
from sim.units import Micros

__all__ = ["Breakdowns"]


class Breakdowns:
    """Lets the failures of one pool happen and keeps their records."""

    def __init__(
        self,
        env: simpy.Environment,
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
        if not machine.leased or not machine.up or card.broken:
            return
        token = next(self._tokens)
        now: Micros = self.executor.now
        back_us = now + event.outage.detect_us + event.outage.repair_us
        alone = event.kind == "gpu_reset"
        if alone:
            self.pool.break_card(card, now, token)
            Moment(self.env, back_us, Order.REPAIR, self._mend_card, card, token)
        else:
            self.pool.break_machine(machine, now, token)
            Moment(self.env, back_us, Order.REPAIR, self._mend_machine, machine, token)
        runs = _runs_on([card] if alone else machine.cards)
        for run in runs:
            self.executor.fail(run, event.kind)
        self._note(event, card if alone else None, back_us, runs)
        noticed = now + event.outage.detect_us
        for run in runs:
            Moment(self.env, noticed, Order.NOTICE, self._notice, run, run.version)

    def _note(self, event: FailureEvent, card: Card | None, back_us: Micros, runs: Sequence[Run]) -> None:
        self.records.append(
            FailureRecord(
                at_us=event.at_us, kind=event.kind, offer=self.pool.spec.offer,
                machine=event.machine, card=None if card is None else card.ordinal,
                back_us=back_us, jobs=tuple(run.job.id for run in runs),
                promise_kept=event.outage.promise_kept,
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
        self.pool.mend_card(card, self.executor.now, moment.version)
        self.on_mended(card.machine)

    def _mend_machine(self, moment: Moment) -> None:
        machine: Machine = moment.subject
        self.pool.mend_machine(machine, self.executor.now, moment.version)
        self.on_mended(machine)


def _runs_on(cards: Sequence[Card]) -> list[Run]:
    """The jobs on these cards, each once, in order of submission."""
    runs = {card.held_by.job.id: card.held_by for card in cards if isinstance(card.held_by, Run)}
    return [runs[job] for job in sorted(runs)]
