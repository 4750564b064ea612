"""The twin's jobs: one process a job, which waits, runs step by step, is interrupted and ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import simpy

from sim.model.job import Job
from sim.model.rates import RunOption
from sim.model.records import Attempt, JobRecord
from sim.units import Micros
from tests.twin.cards import Card, Machine, Pool
from tests.twin.clock import ARRIVAL, COMPLETION, NOTICE
from tests.twin.partition import ready_in
from tests.twin.sharing import Share, count, in_time_of_all, may_share, run_beside_others, tell

if TYPE_CHECKING:
    from tests.twin.world import World

__all__ = ["Cut", "Failure", "Life", "Moved"]


@dataclass
class Failure:
    """The job's process dies now; somebody notices at `noticed`."""

    kind: str
    noticed: Micros


@dataclass
class Moved:
    """Somebody takes the job off its cards now: its lease ends, or another job goes first."""

    cause: str
    saves: bool = True


class Cut:
    """The horizon."""


class Stay:
    """One stay on cards, as it goes."""

    def __init__(self, pool: Pool, option: RunOption, cards: list[Card], start: Micros) -> None:
        self.pool, self.option, self.cards, self.start = pool, option, cards, start
        self.spent = {"startup": 0, "checkpoint": 0, "work": 0}
        self.saved: Micros = 0
        self.unsaved: Micros = 0
        self.dead: Micros = 0
        self.voided: Micros = 0
        self.failed: str | None = None
        self.luck = 1.0
        self.planned: tuple[Micros, Micros] = (0, 0)
        """Start-up, and work with checkpoints, if nothing goes wrong."""
        self.share: Share | None = None
        """On a card that may be shared: `saved` and `unsaved` are then of the job's own clock."""


class Life:
    """One job from submission to its end."""

    def __init__(self, world: World, job: Job) -> None:
        self.world, self.job, self.env = world, job, world.env
        self.state = "unborn"
        self.queued: Micros = job.submit_us
        self.told: simpy.Event | None = None
        self.stay: Stay | None = None
        self.first_start: Micros | None = None
        self.end: Micros | None = None
        self.waited: Micros = 0
        self.ran: Micros = 0
        self.interruptions = 0
        self.gpus, self.offer = 0, None
        self.total: Micros = 0
        self.saved: Micros = 0
        self.kept_card_time: Micros = 0
        self.files: tuple[Machine, int] | None = None
        """Machine and disk with the checkpoints; None: in nobody's danger."""
        self.ordered_for = False
        self.attempts: list[Attempt] = []
        self.process = self.env.process(self.live())

    def live(self):
        yield self.env.at(self.job.submit_us, ARRIVAL, self.job.id)
        while True:
            self.queued = self.env.now
            self.ordered_for = False
            if not self.world.could_ever_hold(self.job.shape, self.env.now):
                self.finish("refused")
                return
            self.state = "waiting"
            self.told = self.env.event()
            self.world.joined(self)
            place = yield self.told
            self.told = None
            self.waited += self.env.now - self.queued
            if place is None:
                self.queued = self.env.now
                self.finish("refused")
                return
            ended = yield from self.stay_on(*place)
            if ended in ("done", "killed"):
                self.finish(ended)
                return
            if ended == "horizon":
                return
            self.interruptions += 1

    def finish(self, state: str) -> None:
        self.state, self.end = state, self.env.now

    # --- one stay ---------------------------------------------------------------------------

    def stay_on(self, pool: Pool, option: RunOption, cards: list[Card]):
        """Run on these cards, which the decision has given. Returns how it ended."""
        self.state = "running"
        self.gpus, self.offer = len(cards), pool.spec.offer
        stay = Stay(pool, option, cards, self.env.now)
        if may_share(pool, option):
            count(cards[0], self.env.now)
            stay.share = Share(self, pool.spec.sharing)
        self.stay = stay
        startup = self.startup(stay) + ready_in(stay, self.env.now)
        if self.first_start is None:
            self.first_start = self.env.now
        self.bring_files(stay)
        stay.planned = startup, sum(length for what, length in self.steps(stay, 0))
        limit = None if self.job.limit_us is None else stay.start + self.job.limit_us
        ended, what, begun = "done", "startup", self.env.now
        if stay.share is not None:
            ended = yield from run_beside_others(self, stay, startup, limit)
            if ended == "done":
                stay.saved, stay.unsaved = stay.saved + stay.unsaved, 0
            self.leave(stay, ended)
            return ended
        try:
            for what, length in self.steps(stay, startup):
                begun = self.env.now
                if limit is not None and begun + length > limit:
                    yield self.env.at(limit, COMPLETION, self.job.id)
                    self.spend(stay, what, self.env.now - begun)
                    ended = "killed"
                    break
                yield self.env.at(begun + length, COMPLETION, self.job.id)
                self.spend(stay, what, length)
                if what == "checkpoint":
                    stay.saved, stay.unsaved = stay.saved + stay.unsaved, 0
        except simpy.Interrupt as blow:
            self.spend(stay, what, self.env.now - begun)
            ended = yield from self.struck(stay, blow.cause)
        if ended == "done":
            stay.saved, stay.unsaved = stay.saved + stay.unsaved, 0
        self.leave(stay, ended)
        return ended

    def steps(self, stay: Stay, startup: Micros):
        """What the job does in this stay: start up, then pieces of work with checkpoints between."""
        yield "startup", startup
        left = self.total - self.saved
        every = self.world.checkpoint_every(stay, self.total)
        cost = self.world.checkpoint_cost(stay)
        while every is not None and left > every:
            yield "work", every
            left -= every
            yield "checkpoint", cost
        yield "work", left

    def spend(self, stay: Stay, what: str, time: Micros) -> None:
        stay.spent[what] += time
        if what == "work":
            stay.unsaved += time

    def startup(self, stay: Stay) -> Micros:
        option = stay.option
        time = option.startup_us if self.first_start is None else option.restart_us
        if option.stage_key is None:
            return time
        # One transfer a machine: who comes while it is under way waits for its end.
        waits = [0]
        for machine in {card.machine for card in stay.cards}:
            there = machine.models.setdefault(option.stage_key, self.env.now + option.stage_us)
            waits.append(there - self.env.now)
        return time + max(waits)

    def bring_files(self, stay: Stay) -> None:
        """Saved work comes along if its disk still lives, as the same share of the work."""
        if self.files_lost():
            stay.voided, self.kept_card_time, self.saved = self.kept_card_time, 0, 0
        sigma = stay.option.speed_noise
        stay.luck = math.exp(sigma * self.job.luck - sigma * sigma / 2)
        total = max(1, round(self.job.work * stay.option.us_per_work * stay.luck))
        if self.total and total != self.total:
            self.saved = self.saved * total // self.total
        self.total = total
        machine = stay.cards[0].machine
        self.files = machine, machine.disk

    def files_lost(self) -> bool:
        return self.files is not None and self.files[0].disk != self.files[1]

    def struck(self, stay: Stay, cause):
        """Something took the job off its work. Returns how the stay ended, when it has ended."""
        died = self.env.now
        noticed: Micros | None = None
        while isinstance(cause, Failure):
            stay.failed = stay.failed or cause.kind
            noticed = cause.noticed if noticed is None else min(noticed, cause.noticed)
            try:
                yield self.env.at(noticed, NOTICE, self.job.id)
                cause = None
            except simpy.Interrupt as again:
                cause = again.cause
        stay.dead = self.env.now - died
        if stay.failed is not None:
            return "horizon" if isinstance(cause, Cut) else stay.failed
        if isinstance(cause, Cut) or cause.saves:
            stay.saved, stay.unsaved = stay.saved + stay.unsaved, 0
        return "horizon" if isinstance(cause, Cut) else cause.cause

    def leave(self, stay: Stay, ended: str) -> None:
        """The stay is over: write it down, give the cards back."""
        now = self.env.now
        card_us = None
        if stay.share is not None:
            count(stay.cards[0], now)
            card_us = stay.share.card_us
        if stay.option.part is not None:
            card_us = (now - stay.start) * stay.option.part.compute // 7
        if self.files_lost():
            stay.voided += self.kept_card_time
            self.kept_card_time = self.saved = 0
            stay.unsaved, stay.saved = stay.unsaved + stay.saved, 0
        self.saved += stay.saved
        work_us, lost_us, card_time = stay.saved, stay.unsaved, stay.saved * len(stay.cards)
        if stay.share is not None:
            work_us, lost_us = in_time_of_all(stay, now)
        if card_us is not None:
            card_time = work_us * card_us // (now - stay.start) if now > stay.start else 0
        self.kept_card_time += card_time
        self.ran += now - stay.start
        self.attempts.append(
            Attempt(
                self.job.id, stay.pool.spec.offer, stay.pool.burst,
                tuple(card.ordinal for card in stay.cards), stay.start, now, ended,
                stay.spent["startup"], stay.spent["checkpoint"], work_us,
                lost_us + stay.dead, stay.voided, card_us=card_us,
            )
        )  # fmt: skip
        if ended == "horizon":
            return
        if stay.failed is None and ended not in ("done", "killed"):
            self.files = None  # a planned move takes the files along
        for card in stay.cards:
            card.holders.remove(self)
        self.world.left(self)
        self.stay = None
        if stay.share is not None:
            tell(stay.cards[0], stay.pool.spec.sharing)
        self.world.changed()

    def record(self, horizon: Micros) -> JobRecord:
        waiting = self.state == "waiting"
        progress = self.saved / self.total if self.total else 0.0
        return JobRecord(
            self.job.id, self.state, self.first_start, self.end,
            self.waited + (horizon - self.queued if waiting else 0), self.gpus, self.offer,
            self.interruptions, 1.0 if self.state == "done" else progress, self.ran,
        )  # fmt: skip
