"""Conservative backfilling: every waiting job (of the first so many) has a reservation.

A reservation is only ever moved to an earlier time, unless cards fail, so that no job is delayed by
those behind it: a job starts early if it delays none of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.engine.execution import Executor
from sim.engine.fleet import Pool
from sim.engine.lengths import expected
from sim.engine.placer import Placer, Spot
from sim.engine.reservations import Board
from sim.engine.stay import Run, Stay, turn
from sim.engine.timeline import NEVER, Parts, Timeline, Windows
from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["ConservativeQueue"]


Gain = tuple[Pool, int, Micros, Micros]
"""Cards of a machine of a pool have become free between two instants."""


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
        """Turns of the waiting jobs; runs, plans and holds go by them too."""
        self._runs: dict[int, Run] = {}
        self._plans: dict[int, _Plan] = {}
        """In order of submission: those of the first jobs of the queue."""
        self._lines: dict[Pool, Timeline] = {}
        self._broken = True
        """Whether what was planned on does not hold any more."""
        self._gains: list[Gain] = []
        """Cards that have become free before they were expected to."""
        self._changes = -1

    # --- the queue --------------------------------------------------------------------------

    def push(self, run: Run) -> bool:
        """Add a job; one that comes back to its old place makes all plans void."""
        mine = turn(run)
        insort(self._order, mine)
        self._runs[mine] = run
        self.waiting += 1
        if self._order[-1] != mine:
            self._broken = True
        return True

    def remove(self, unwanted: Callable[[Run], bool]) -> list[Run]:
        """Take out all jobs of which `unwanted` holds (rare: a lease has ended)."""
        removed = [run for run in map(self._runs.__getitem__, self._order) if unwanted(run)]
        for run in removed:
            self._take_out(run)
            self._broken = True
        return removed

    def _take_out(self, run: Run) -> None:
        mine = turn(run)
        del self._order[bisect_left(self._order, mine)]
        del self._runs[mine]
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
            self._freed(stay.pool, *line.release(turn(stay.run)), self._executor.now)

    def _freed(self, pool: Pool, planned_us: Micros, parts: Parts, end_us: Micros) -> None:
        """Cards that were held until one instant are free from another on."""
        if end_us < planned_us:
            self._gains += [(pool, machine, end_us, planned_us) for machine, _ in parts]

    def _hold(self, stay: Stay) -> None:
        parts: dict[int, int] = {}
        for card in stay.cards:
            if card.machine.up and not card.broken:  # others are not counted among the cards either
                parts[card.machine.ordinal] = parts.get(card.machine.ordinal, 0) + 1
        end_us = max(self._board.end_of(stay), self._executor.now + 1)
        self._lines[stay.pool].hold(turn(stay.run), stay.start_us, end_us, tuple(sorted(parts.items())))

    # --- decisions --------------------------------------------------------------------------

    def start_what_fits(self, _: Callable[[Run], bool]) -> None:
        """Plan what has no plan, bring forward what can be, and start what is due now."""
        now = self._executor.now
        changes = sum(pool.changes for pool in self._pools)
        if self._broken or changes != self._changes or self._board.overdue(now) or self._missed(now):
            self._begin_anew()
        elif self._gains:
            self._bring_forward(now)
        self._changes, self._broken = changes, False
        self._gains.clear()
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
        gains, plans = self._gains, self._plans
        seen = dict.fromkeys(plans, 0)
        """How many of the gains each has looked at."""
        known = -1
        while known < len(gains):
            known = len(gains)
            for job in seen:
                if seen[job] < len(gains):
                    if plans[job].start_us > now:
                        self._move(job, plans[job], now, gains[seen[job] :])
                    seen[job] = len(gains)

    def _move(self, job: int, plan: _Plan, now: Micros, gains: Sequence[Gain]) -> None:
        """To an earlier time, if there is one where cards have become free."""
        if not self._may_move(job, plan, now, gains):
            return
        planned = self._lines[plan.pool].release(job)
        better = self._earliest(self._runs[job], now, plan.start_us, gains)
        self._set(job, plan if better is None else better)
        if better is not None:
            self._freed(plan.pool, *planned, plan.start_us)

    def _may_move(self, job: int, plan: _Plan, now: Micros, gains: Sequence[Gain]) -> bool:
        """Whether cards that have become free let a job start earlier, all other plans as they are."""
        run, before = self._runs[job], plan.start_us
        for pool, option, _ in self._placer.tries(run):
            length = expected(run, pool, option, self._executor.checkpoint)
            until = _where(pool, before + length, gains)
            if until:
                line = self._lines[pool]
                own = plan.parts if pool is plan.pool else ()
                sooner = line.sooner_over_several if option.spans else line.sooner_on_one
                if sooner(option.gpus, length, now, before, until, own):
                    return True
        return False

    def _plan_more(self, now: Micros) -> bool:
        planned = False
        while len(self._plans) < min(self._look_ahead, len(self._order)):
            job = self._order[len(self._plans)]
            plan = self._earliest(self._runs[job], now, NEVER)
            # Cards that are down or still to be ordered come at an unknown time: no reservation yet.
            self._set(job, _Plan(NEVER, self._pools[0], _NOTHING, ()) if plan is None else plan)
            planned = True
        return planned

    def _earliest(
        self, run: Run, now: Micros, before: Micros, gains: Sequence[Gain] | None = None
    ) -> _Plan | None:
        """The earliest place before an instant; ties go to the way that is tried first.

        `gains`: only there have cards become free; elsewhere there is nothing new.
        """
        best: _Plan | None = None
        rule = self._placer.rule
        for pool, option, _ in self._placer.tries(run):
            length = expected(run, pool, option, self._executor.checkpoint)
            line = self._lines[pool]
            machines = None if gains is None else _where(pool, before + length, gains)
            if machines is not None and not machines:
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
            self._freed(plan.pool, *planned, end_us)
            # Bad luck may add a checkpoint: those planned behind it then have no place any more.
            self._broken = self._broken or end_us > planned[0]


def _where(pool: Pool, end_us: Micros, gains: Sequence[Gain]) -> dict[int, Micros]:
    """Machines of a pool on which cards have become free before an instant, and until when."""
    until: dict[int, Micros] = {}
    for gained, machine, from_us, until_us in gains:
        if gained is pool and from_us < end_us:
            until[machine] = max(until_us, until.get(machine, 0))
    return until


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
