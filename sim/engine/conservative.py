"""Conservative backfilling: every waiting job (of the first so many) has a reservation.

A reservation is only ever moved to an earlier time, unless cards fail, so that no job is delayed by
those behind it: a job starts early if it delays none of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sim.engine.execution import Executor
from sim.engine.fleet import Pool
from sim.engine.lengths import expected
from sim.engine.placer import Placer, Spot, Way
from sim.engine.reservations import Board
from sim.engine.stay import Run, Stay
from sim.engine.timeline import NEVER, Parts, Timeline, Windows
from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["ConservativeQueue"]


Gains = Mapping[Pool, Mapping[int, Micros]]
"""Machines on which cards have become free, by pool, and from when on."""


@dataclass(frozen=True, slots=True)
class _Plan:
    start_us: Micros
    pool: Pool
    option: RunOption
    parts: Parts


class ConservativeQueue:
    """Waiting jobs in order of submission, the first `look_ahead` of them with reservations."""

    def __init__(
        self,
        pools: Sequence[Pool],
        placer: Placer,
        executor: Executor,
        look_ahead: int,
        begin: Callable[[Run, Spot], None],
    ) -> None:
        self.waiting = 0
        self.dirty = True
        self._pools = pools
        self._placer = placer
        self._executor = executor
        self._look_ahead = look_ahead
        self._begin = begin
        self._board = Board(pools)
        self._order: list[int] = []
        self._runs: dict[int, Run] = {}
        self._plans: dict[int, _Plan] = {}
        """In order of submission: those of the first jobs of the queue."""
        self._lines: dict[Pool, Timeline] = {}
        self._broken = True
        """Whether what was planned on does not hold any more."""
        self._early = False
        """Whether cards have become free before they were expected to."""
        self._changes = -1

    # --- the queue --------------------------------------------------------------------------

    def push(self, run: Run) -> bool:
        """Add a job; one that comes back to its old place makes all plans void."""
        job = run.job.id
        insort(self._order, job)
        self._runs[job] = run
        self.waiting += 1
        if self._order[-1] != job:
            self._broken = True
        return True

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        removed = [self._runs[job] for job in self._order if unwanted(self._runs[job])]
        for run in removed:
            self._take_out(run)
            self._broken = True
        return removed

    def _take_out(self, run: Run) -> None:
        job = run.job.id
        del self._order[bisect_left(self._order, job)]
        del self._runs[job]
        self.waiting -= 1

    def started(self, stay: Stay) -> None:
        """A job has got cards now."""
        self._board.started(stay)
        self._hold(stay)

    def left(self, stay: Stay) -> None:
        """A job has left its cards now."""
        self._board.left(stay)
        line = self._lines.get(stay.pool)
        if line is not None:
            self._freed(line, *line.release(stay.run.job.id), self._executor.now)

    def _freed(self, line: Timeline, planned_us: Micros, parts: Parts, end_us: Micros) -> None:
        """Cards that were held until one instant are free from another on."""
        if end_us < planned_us:
            self._early = True
            line.gain(parts, end_us)

    def _hold(self, stay: Stay) -> None:
        parts: dict[int, int] = {}
        for card in stay.cards:
            if card.machine.up and not card.broken:  # others are not counted among the cards either
                parts[card.machine.ordinal] = parts.get(card.machine.ordinal, 0) + 1
        end_us = max(self._board.end_of(stay), self._executor.now + 1)
        self._lines[stay.pool].hold(stay.run.job.id, stay.start_us, end_us, tuple(sorted(parts.items())))

    # --- decisions --------------------------------------------------------------------------

    def start_what_fits(self, _: Callable[[Run], bool]) -> None:
        """Plan what has no plan, bring forward what can be, and start what is due now."""
        now = self._executor.now
        changes = sum(pool.changes for pool in self._pools)
        if self._broken or changes != self._changes or self._board.overdue(now) or self._missed(now):
            self._begin_anew()
        elif self._early:
            self._bring_forward(now)
        self._changes, self._broken, self._early = changes, False, False
        while True:
            planned = self._plan_more(now)
            due = [job for job, plan in self._plans.items() if plan.start_us == now]
            for job in due:
                self._start(job)
            if not planned and not due:
                return

    def _missed(self, now: Micros) -> bool:
        return any(plan.start_us < now for plan in self._plans.values())

    def _begin_anew(self) -> None:
        self._plans.clear()
        self._lines = {pool: _line(pool) for pool in self._pools}
        for pool in self._pools:
            for _, stay in self._board.running(pool):
                self._hold(stay)

    def _bring_forward(self, now: Micros) -> None:
        """Each to the earliest time that leaves all others where they are, until none can move.

        In order of submission, over and over: a job that moves may leave room for one before it. Since
        its last turn, only cards that have become free can let a job start earlier.
        """
        lines = self._lines
        while any(line.gained for line in lines.values()):
            before = {pool: line.gained for pool, line in lines.items()}
            for line in lines.values():
                line.gained = {}  # what becomes free from here on counts at the next turn as well
            for job, plan in list(self._plans.items()):
                if plan.start_us > now:
                    self._move(job, plan, now, before)

    def _move(self, job: int, plan: _Plan, now: Micros, before: Gains) -> None:
        gains = before
        if any(line.gained for line in self._lines.values()):
            gains = {
                pool: {m: min(old.get(m, NEVER), new.get(m, NEVER)) for m in (*old, *new)}
                for pool, old in before.items()
                for new in (self._lines[pool].gained,)
            }
        run = self._runs[job]
        if not any(self._may_move(run, way, plan.start_us, now, gains) for way in self._placer.tries(run)):
            return
        line = self._lines[plan.pool]
        line.release(job)
        better = self._earliest(run, now, plan.start_us, gains)
        self._set(job, plan if better is None else better)
        if better is not None:
            line.gain(plan.parts, plan.start_us)

    def _may_move(self, run: Run, way: Way, before: Micros, now: Micros, gains: Gains) -> bool:
        """Whether cards that have become free might let a run start before an instant."""
        pool, option, _ = way
        length = expected(run, pool, option, self._executor.checkpoint)
        machines = [machine for machine, from_us in gains[pool].items() if from_us < before + length]
        if not machines:
            return False
        line = self._lines[pool]
        return line.has_hole(option.gpus, length, now, before, None if option.spans else machines)

    def _where(self, run: Run, way: Way, before: Micros, gains: Gains) -> list[int]:
        """Machines on which a run that starts before an instant could use what has become free."""
        pool, option, _ = way
        until = before + expected(run, pool, option, self._executor.checkpoint)
        return [machine for machine, from_us in gains[pool].items() if from_us < until]

    def _plan_more(self, now: Micros) -> bool:
        planned = False
        while len(self._plans) < min(self._look_ahead, len(self._order)):
            job = self._order[len(self._plans)]
            plan = self._earliest(self._runs[job], now, NEVER)
            # Cards that are down or still to be ordered come at an unknown time: no reservation yet.
            self._set(job, _Plan(NEVER, self._pools[0], _NOTHING, ()) if plan is None else plan)
            planned = True
        return planned

    def _earliest(self, run: Run, now: Micros, before: Micros, gains: Gains | None = None) -> _Plan | None:
        """The earliest place before an instant; ties go to the way that is tried first.

        `gains`: only there have cards become free; elsewhere there is nothing new.
        """
        best: _Plan | None = None
        rule = self._placer.rule
        for pool, option, _ in self._placer.tries(run):
            length = expected(run, pool, option, self._executor.checkpoint)
            line = self._lines[pool]
            machines = None if gains is None else self._where(run, (pool, option, False), before, gains)
            if machines == []:
                continue
            if option.spans:
                found = line.over_several(option.gpus, length, now, before, fill_gaps=rule.fill_gaps)
            else:
                found = line.on_one_machine(
                    option.gpus, length, now, before, emptiest=rule.emptiest_machine, among=machines
                )
            if found is not None:
                best = _Plan(found[0], pool, option, found[1])
                before = found[0]
        return best

    def _set(self, job: int, plan: _Plan) -> None:
        self._plans[job] = plan
        run = self._runs[job]
        length = 0 if not plan.parts else expected(run, plan.pool, plan.option, self._executor.checkpoint)
        self._lines[plan.pool].hold(job, plan.start_us, plan.start_us + length, plan.parts)

    def _start(self, job: int) -> None:
        plan = self._plans.pop(job)
        run = self._runs[job]
        cards = plan.pool.take_from(plan.parts)
        if cards is None:
            msg = f"job {job}: the cards of its reservation are not free"
            raise RuntimeError(msg)
        line = self._lines[plan.pool]
        planned = line.release(job)
        self._take_out(run)
        self._begin(run, (plan.pool, plan.option, cards))
        if run.stay is not None:  # it may be shorter than planned: nothing had to be fetched, say
            end_us = self._board.end_of(run.stay)
            self._freed(line, *planned, end_us)
            # Bad luck may add a checkpoint: those planned behind it then have no place any more.
            self._broken = self._broken or end_us > planned[0]


_NOTHING = RunOption(0, False, "none", 0, 0, 0.0, 0)


def _line(pool: Pool) -> Timeline:
    """The future of a pool as far as it is known: leases and windows, without what is down."""
    windows: list[Windows] = []
    for span in pool.spec.leases:
        usable = [(start, NEVER if end is None else end) for start, end in span.usable]
        windows += [usable] * span.count
    if pool.burst:
        windows = [((m.since_us, NEVER),) if m.leased else () for m in pool.machines]
    cards = [0 if m.down else sum(not card.broken for card in m.cards[: m.usable]) for m in pool.machines]
    return Timeline(windows, cards)
