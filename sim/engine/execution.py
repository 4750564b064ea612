"""A job on its cards: from start through start-up, work and checkpoints to its end.

One record of a job's life (`Run`) lives in the engine from submission to the end. A stay on cards
is planned at its start: when nothing goes wrong, one event ends it. Work saved by checkpoints is
computed when something does go wrong, so checkpoints cost no events.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import simpy

from sim.engine.clock import Moment, Order
from sim.engine.fleet import Card, Pool
from sim.model.fleet import CheckpointSpec
from sim.model.job import Job
from sim.model.rates import RunOption
from sim.model.records import Attempt, JobState
from sim.units import Micros

__all__ = ["Executor", "Run", "Stay"]


class Run:
    """The life of one job inside the engine. `version` changes whenever its state does."""

    __slots__ = (
        "end_us", "first_start_us", "gpus", "interruptions", "job", "kept_card_us", "offer",
        "queued_us", "reason", "run_us", "saved_epoch", "saved_us", "saved_where", "state",
        "stay", "total_us", "version", "wait_us",
    )  # fmt: skip

    def __init__(self, job: Job) -> None:
        self.job = job
        self.state: JobState = "waiting"
        self.version = 0
        self.queued_us: Micros = job.submit_us
        self.wait_us: Micros = 0
        self.first_start_us: Micros | None = None
        self.end_us: Micros | None = None
        self.run_us: Micros = 0
        self.interruptions = 0
        self.reason = ""
        self.gpus = 0
        self.offer: str | None = None
        self.stay: Stay | None = None
        self.total_us: Micros = 0
        """Work in all, at the speed of the last stay."""
        self.saved_us: Micros = 0
        """Work that a checkpoint holds, at the speed of the last stay."""
        self.kept_card_us: Micros = 0
        """Card-time of the work that is held."""
        self.saved_where: Card | None = None
        self.saved_epoch = 0

    @property
    def progress(self) -> float:
        """Share of the work that a checkpoint holds."""
        return self.saved_us / self.total_us if self.total_us else 0.0


class Stay:
    """One stay of a job on cards. All times but `start_us` are spans of the stay."""

    __slots__ = (
        "cards", "cost_us", "every_us", "failed", "failed_us", "length_us", "option", "pieces",
        "pool", "remaining_us", "start_us", "startup_us", "voided_card_us",
    )  # fmt: skip

    def __init__(self, pool: Pool, option: RunOption, cards: list[Card], start_us: Micros) -> None:
        self.pool = pool
        self.option = option
        self.cards = cards
        self.start_us = start_us
        self.startup_us: Micros = 0
        self.remaining_us: Micros = 0
        self.every_us: Micros = 0
        self.cost_us: Micros = 0
        self.pieces = 1
        self.length_us: Micros = 0
        self.failed: str | None = None
        """Kind of the failure that stopped it, while nobody has noticed yet."""
        self.failed_us: Micros = 0
        self.voided_card_us: Micros = 0

    def split(self, elapsed_us: Micros) -> tuple[Micros, Micros, Micros, Micros]:
        """(start-up, checkpoints, work, work saved by checkpoints) after so much of the stay.

        No checkpoint follows the last piece; one that is being written when the stay ends is spoilt.
        """
        if elapsed_us <= self.startup_us:
            return elapsed_us, 0, 0, 0
        running = elapsed_us - self.startup_us
        done = min(running // (self.every_us + self.cost_us), self.pieces - 1)
        inside = running - done * (self.every_us + self.cost_us)
        piece = self.every_us if done < self.pieces - 1 else self.remaining_us - done * self.every_us
        work = min(inside, piece)
        return (
            self.startup_us,
            done * self.cost_us + inside - work,
            done * self.every_us + work,
            (done * self.every_us),
        )


class Executor:
    """Starts, completes and interrupts stays, and keeps their records."""

    def __init__(
        self, env: simpy.Environment, checkpoint: CheckpointSpec, on_freed: Callable[[Stay], None]
    ) -> None:
        self.env = env
        self.checkpoint = checkpoint
        self.on_freed = on_freed
        """Called when a job has left its cards."""
        self.attempts: list[Attempt] = []
        self.running: dict[int, Run] = {}

    @property
    def now(self) -> Micros:
        """The clock, integer microseconds."""
        return self.env.now  # type: ignore[return-value]

    def start(self, run: Run, pool: Pool, option: RunOption, cards: list[Card]) -> None:
        """Put a waiting job on cards that `Pool.take` gave."""
        now = self.now
        stay = Stay(pool, option, cards, now)
        for card in cards:
            card.held_by = run
        run.wait_us += now - run.queued_us
        run.state, run.stay = "running", stay
        run.version += 1
        run.gpus, run.offer = len(cards), pool.spec.offer
        stay.startup_us = self._startup(run, stay)
        self._resume(run, stay)
        self._plan(stay)
        if run.first_start_us is None:
            run.first_start_us = now
        self.running[run.job.id] = run
        limit = run.job.limit_us
        length = stay.length_us if limit is None else min(stay.length_us, limit)
        Moment(self.env, now + length, Order.COMPLETION, self._complete, run, run.version)

    def _startup(self, run: Run, stay: Stay) -> Micros:
        option = stay.option
        startup = option.startup_us if run.first_start_us is None else option.restart_us
        if option.stage_key is None:
            return startup
        machines = {card.machine.ordinal: card.machine for card in stay.cards}.values()
        missing = [machine for machine in machines if option.stage_key not in machine.fetched]
        for machine in missing:
            machine.fetched.add(option.stage_key)
        return startup + option.stage_us if missing else startup

    def _resume(self, run: Run, stay: Stay) -> None:
        """Carry saved work over to the speed of these cards; work on a lost disk is gone."""
        if run.saved_where is not None and run.saved_where.machine.disk_epoch != run.saved_epoch:
            stay.voided_card_us, run.kept_card_us, run.saved_us = run.kept_card_us, 0, 0
        total = max(1, round(run.job.work * stay.option.us_per_work * _noise(run.job, stay.option)))
        if run.total_us and total != run.total_us:
            run.saved_us = run.saved_us * total // run.total_us
        run.total_us = total
        run.saved_where = stay.cards[0]
        run.saved_epoch = stay.cards[0].machine.disk_epoch
        stay.remaining_us = total - run.saved_us

    def _plan(self, stay: Stay) -> None:
        every = self.checkpoint.every_us
        cost = self.checkpoint.cost_us
        stay.cost_us = stay.option.checkpoint_us if cost is None else cost
        if every is None:
            stay.every_us, stay.pieces = max(1, stay.remaining_us), 1
        else:
            stay.every_us = every
            stay.pieces = max(1, -(-stay.remaining_us // every))
        stay.length_us = stay.startup_us + stay.remaining_us + (stay.pieces - 1) * stay.cost_us

    def _complete(self, moment: Moment) -> None:
        run: Run = moment.subject
        if run.version != moment.version or run.stay is None:
            return
        stay = run.stay
        elapsed = self.now - stay.start_us
        done = elapsed >= stay.length_us
        run.state = "done" if done else "killed"
        if not done:
            run.reason = "ran into its time limit"
        self._leave(run, run.state, saves=done)
        run.end_us = self.now

    def fail(self, run: Run, kind: str) -> None:
        """The job's process dies now; its cards stay held until `interrupt` (the failure is noticed)."""
        stay = run.stay
        if stay is None or stay.failed is not None:
            return
        stay.failed, stay.failed_us = kind, self.now - stay.start_us
        run.version += 1

    def interrupt(self, run: Run, cause: str, *, saves: bool) -> None:
        """Take a job off its cards. `saves`: it writes a checkpoint first (a planned interruption)."""
        self._leave(run, cause, saves=saves)
        if saves:
            run.saved_where = None  # a planned move takes the files along
        run.state = "waiting"
        run.queued_us = self.now
        run.interruptions += 1

    def cut(self, horizon_us: Micros) -> None:
        """The horizon: close the records of all that runs."""
        for run in list(self.running.values()):
            self._record(run, horizon_us, "horizon", saves=True)

    def _leave(self, run: Run, ended: str, *, saves: bool) -> None:
        stay = run.stay
        if stay is None:
            msg = f"job {run.job.id} leaves its cards but is on none"
            raise RuntimeError(msg)
        self._record(run, self.now, ended, saves=saves)
        stay.pool.give_back(stay.cards, self.now, stay.start_us)
        del self.running[run.job.id]
        run.stay = None
        run.version += 1
        self.on_freed(stay)

    def _record(self, run: Run, now: Micros, ended: str, *, saves: bool) -> None:
        """Write the attempt; what the stay saved becomes the job's saved work."""
        stay = run.stay
        if stay is None:
            return
        elapsed = now - stay.start_us
        alive = elapsed if stay.failed is None else stay.failed_us
        startup, checkpoints, work, saved = stay.split(alive)
        if saves and stay.failed is None:
            saved = work
        lost_disk = run.saved_where is not None and (run.saved_where.machine.disk_epoch != run.saved_epoch)
        if lost_disk:
            stay.voided_card_us += run.kept_card_us
            run.kept_card_us = run.saved_us = saved = 0
        run.saved_us += saved
        run.kept_card_us += saved * len(stay.cards)
        run.run_us += elapsed
        self.attempts.append(
            Attempt(
                job=run.job.id, offer=stay.pool.spec.offer, burst=stay.pool.burst,
                cards=tuple(card.ordinal for card in stay.cards), start_us=stay.start_us, end_us=now,
                ended=ended, startup_us=startup,
                checkpoint_us=checkpoints, work_us=saved,
                lost_us=work - saved + elapsed - alive, voided_card_us=stay.voided_card_us,
            )
        )  # fmt: skip


def _noise(job: Job, option: RunOption) -> float:
    """Factor on the running time, log-normal with mean 1; the same wherever the noise is the same."""
    sigma = option.speed_noise
    return math.exp(sigma * job.luck - sigma * sigma / 2) if sigma else 1.0
