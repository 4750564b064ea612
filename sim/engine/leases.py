"""Leases as they come and go, and the windows of the week in which jobs may use their cards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from simpy.events import EventPriority

from sim.engine.clock import Clock, Moment, Order
from sim.engine.dispatcher import Dispatcher
from sim.engine.execution import Executor, Run
from sim.engine.fleet import Machine, Pool
from sim.engine.sharing import runs_on
from sim.model.fleet import LeaseSpan
from sim.units import Micros

__all__ = ["Leases"]


@dataclass(slots=True)
class _Lease:
    """One lease, its machines, and the windows that are still to come."""

    pool: Pool
    span: LeaseSpan
    machines: list[Machine]
    windows: Iterator[tuple[Micros, Micros]]


class Leases:
    """Brings the machines of all leases and takes them away again."""

    def __init__(self, env: Clock, horizon_us: Micros, executor: Executor, dispatcher: Dispatcher) -> None:
        self.env = env
        self.horizon_us = horizon_us
        self.executor = executor
        self.dispatcher = dispatcher

    def schedule(self, pool: Pool) -> None:
        """Let the leases of a pool happen; called once, before the run."""
        first = 0
        for span in pool.spec.leases:
            machines = pool.machines[first : first + span.count]
            first += span.count
            for machine, usable in zip(machines, span.usable_cards(pool.size), strict=True):
                machine.lease, machine.disk_kept, machine.usable = span.lease, span.disk_kept, usable
            lease = _Lease(pool, span, machines, iter(span.windows or ()))
            if span.start_us < self.horizon_us:
                self._at(span.start_us, Order.LEASE_START, self._starts, lease)
                if span.end_us is not None:
                    self._at(span.end_us, Order.LEASE_END, self._ends, lease)

    def _at(
        self, at_us: Micros, order: EventPriority, callback: Callable[[Moment], None], lease: _Lease
    ) -> None:
        if at_us < self.horizon_us:
            Moment(self.env, at_us, order, callback, lease)

    # --- leases -----------------------------------------------------------------------------

    def _starts(self, moment: Moment) -> None:
        lease: _Lease = moment.subject
        for machine in lease.machines:
            lease.pool.bring(machine, self.executor.now)
        if lease.span.windows is not None:
            for machine in lease.machines:
                lease.pool.shut(machine, self.executor.now)
            self._await_window(lease)
        self.dispatcher.decide_soon()

    def _ends(self, moment: Moment) -> None:
        lease: _Lease = moment.subject
        leaving = _runs_on(lease.machines)
        for machine in lease.machines:
            lease.pool.close(machine)
        self._interrupt(leaving, "lease_end")
        for machine in lease.machines:
            lease.pool.take_away(machine, self.executor.now, self.executor.now)
        self._requeue(leaving)

    # --- windows ----------------------------------------------------------------------------

    def _await_window(self, lease: _Lease) -> None:
        window = next(lease.windows, None)
        if window is None:
            return
        opens_us, closes_us = window
        if opens_us == self.executor.now:
            self._open(lease)
        else:
            self._at(opens_us, Order.LEASE_START, self._opens, lease)
        if closes_us != lease.span.end_us:  # the end of the lease sees to its own jobs
            self._at(closes_us, Order.LEASE_END, self._closes, lease)

    def _opens(self, moment: Moment) -> None:
        self._open(moment.subject)
        self.dispatcher.decide_soon()

    def _open(self, lease: _Lease) -> None:
        for machine in lease.machines:
            lease.pool.open(machine, self.executor.now)

    def _closes(self, moment: Moment) -> None:
        lease: _Lease = moment.subject
        leaving = _runs_on(lease.machines)
        for machine in lease.machines:
            lease.pool.shut(machine, self.executor.now)
        self._interrupt(leaving, "window_end")
        self._requeue(leaving)
        self._await_window(lease)

    # --- jobs -------------------------------------------------------------------------------

    def _interrupt(self, leaving: Sequence[Run], cause: str) -> None:
        for left in leaving:
            # A job whose failure nobody has noticed yet cannot write a checkpoint.
            failed = left.stay.failed if left.stay else None
            self.executor.interrupt(left, failed or cause, saves=failed is None)

    def _requeue(self, leaving: Sequence[Run]) -> None:
        for left in leaving:
            self.dispatcher.requeue(left)
        self.dispatcher.lease_ended()
        self.dispatcher.decide_soon()


def _runs_on(machines: Sequence[Machine]) -> list[Run]:
    """The jobs on these machines, each once, in order of submission."""
    return runs_on([card for machine in machines for card in machine.cards])
