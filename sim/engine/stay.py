"""A job inside the engine: its life from submission to end, and its stays on cards.

Nothing here acts: `execution` starts and ends stays, `saves` tells what is left of a job's work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sim.engine.fleet import Card, Pool
from sim.model.job import Job, UserEnd
from sim.model.rates import RunOption
from sim.model.records import JobState
from sim.units import Micros

__all__ = ["Run", "Stay", "interruptions", "noise", "turn", "user_end"]


class Run:
    """The life of one job inside the engine. `version` changes whenever its state does."""

    __slots__ = (
        "bad_us", "end_us", "ends", "estimate_us", "first_start_us", "gpus", "history", "id",
        "interruptions", "job", "kept_card_us", "limit_us", "offer", "pause_us", "priority", "queued_us",
        "reason", "redone", "released_us", "run_us", "saved_epoch", "saved_us", "saved_where", "shape",
        "state", "stay", "submissions", "total_us", "version", "wait_us", "work",
    )  # fmt: skip

    def __init__(self, job: Job) -> None:
        self.job = job
        # What is read a dozen times a job: a slot is read four times as fast as a field of the job.
        self.id, _, self.shape, submit_us, self.work, _, self.priority, _, limit_us, _, self.ends = job
        self.limit_us = limit_us
        self.estimate_us: Micros = -1 if limit_us is None else limit_us
        """The user's time limit; where there is none, what the queue expects, or -1 until it asks."""
        self.state: JobState = "waiting"
        self.version = 0
        self.queued_us: Micros = submit_us
        self.released_us: Micros = submit_us
        """When it was last submitted: a job that failed by itself may be submitted again."""
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
        self.bad_us: Micros | None = None
        """Work from which on its state is wrong, by silent corruption; None: it is sound."""
        self.history: list[Stay] | None = None
        """Its stays, where disks have snapshots."""
        self.submissions = 1
        self.pause_us: Micros = 0
        self.redone = 0

    @property
    def deadline_at_us(self) -> Micros | None:
        """Instant by which it should have ended."""
        allowed = self.job.deadline_us
        return None if allowed is None else self.job.submit_us + allowed


class Stay:
    """One stay of a job on cards. All times but `start_us` are spans of the stay."""

    shared = False
    """Whether other jobs may be on its card."""
    paced = False
    """Whether other jobs on its card slow it down."""

    __slots__ = (
        "before_card_us", "before_us", "callback", "cards", "cost_us", "ended_us", "every_us", "failed",
        "failed_us", "gain_us", "left_epoch", "length_us", "option", "pieces", "plain", "pool",
        "remaining_us", "run", "start_us", "startup_us", "stop_us", "subject", "total_us", "version",
        "voided_card_us",
    )  # fmt: skip

    subject: Run
    """A stay is the moment of its own end: what `clock.Timed` asks for."""
    version: int
    callback: Callable[[Any], None]
    startup_us: Micros
    remaining_us: Micros
    every_us: Micros
    length_us: Micros
    before_us: Micros
    """Where pasts matter: work and card-time saved before it began, and the whole work at its speed."""
    before_card_us: Micros
    total_us: Micros
    ended_us: Micros | None
    gain_us: Micros
    """Work that it had saved when it ended."""
    left_epoch: int
    """Which disk stood in its first machine when it ended."""

    def __init__(self, run: Run, pool: Pool, option: RunOption, cards: list[Card], start_us: Micros) -> None:
        self.run = run
        self.pool = pool
        self.option = option
        self.cards = cards
        self.start_us = start_us
        self.plain = True
        """Whether it ends when its work is done, on cards of its own, if nothing happens."""
        self.cost_us: Micros = 0
        self.pieces = 1
        self.failed: str | None = None
        """Kind of the failure that stopped it, while nobody has noticed yet."""
        self.failed_us: Micros = 0
        self.voided_card_us: Micros = 0
        self.stop_us: Micros | None = None
        """When its user or an error of its own ends it, if that comes before the end."""

    def card_time(self, work_us: Micros) -> Micros:
        """Card-time of so much of its work."""
        return work_us * len(self.cards)

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


def turn(run: Run) -> int:
    """Place of a job in the order of submission, ties by its number; a new submission has a new place."""
    return run.released_us << 40 | run.id


def user_end(run: Run) -> UserEnd | None:
    """How the present submission of a job ends before its work is done; None: it does not."""
    ends = run.ends
    return ends[run.submissions - 1] if len(ends) >= run.submissions else None


def interruptions(stay: Stay) -> float:
    """Rate of the failures that would interrupt a stay, per microsecond."""
    machines = {card.machine.ordinal: card.machine for card in stay.cards}
    model = stay.pool.spec.failures_of(stay.cards[0].machine.lease)
    return (
        0.0 if model is None else model.interruptions_per_us(len(stay.cards), len(machines), stay.pool.size)
    )


def noise(job: Job, option: RunOption) -> float:
    """Factor on the running time, log-normal with mean 1; the same wherever the noise is the same."""
    sigma = option.speed_noise
    return math.exp(sigma * job.luck - sigma * sigma / 2) if sigma else 1.0
