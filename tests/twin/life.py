"""The twin's jobs: one process a job, which waits, runs step by step, is interrupted and ends."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import simpy

from sim.model.job import Job
from sim.model.rates import RunOption
from sim.model.records import Attempt, JobRecord
from sim.units import Micros
from tests.twin.calendar import model_of
from tests.twin.cards import Card, Pool
from tests.twin.clock import ARRIVAL, COMPLETION, NOTICE
from tests.twin.partition import ready_in
from tests.twin.saved import Saved
from tests.twin.sharing import Share, as_of, count, in_time_of_all, may_share, run_beside_others, tell

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
        self.step: tuple[str, Micros] = ("startup", start)
        """What it does, and since when."""
        self.luck = 1.0
        self.planned: tuple[Micros, Micros] = (0, 0)
        """Start-up, and work with checkpoints, if nothing goes wrong."""
        self.share: Share | None = None
        """On a card that may be shared: `saved` and `unsaved` are then of the job's own clock."""
        self.card_us: Micros | None = None
        """Its part of the card's time, where it had a part of one; told when it is over."""
        self.length: Micros = 0
        """From begin to end, told when it is over."""

    @property
    def work(self) -> Micros:
        """Done in steps that are over."""
        return self.saved + self.unsaved


class Life(Saved):
    """One job from submission to its end."""

    def __init__(self, world: World, job: Job) -> None:
        super().__init__()
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
        self.released: Micros = job.submit_us
        """When it was last submitted."""
        self.submissions = 1
        self.paused: Micros = 0
        self.redone = 0
        self.ordered_for = False
        self.attempts: list[Attempt] = []
        self.process = self.env.process(self.live())

    @property
    def turn(self) -> tuple[Micros, int]:
        """Its place among those that were submitted."""
        return self.released, self.job.id

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
            if ended in ("done", "killed", "cancelled", "failed"):
                self.finish(ended)
                return
            if ended == "horizon":
                return
            if ended == "retried":
                pause = self.attempts[-1].pause_us
                self.submissions += 1
                yield self.env.at(self.env.now + pause, ARRIVAL, self.job.id)
                self.paused += pause
                self.released = self.env.now
            elif ended == "bad_result":
                self.redone += 1
            else:
                self.interruptions += 1

    def finish(self, state: str) -> None:
        self.state, self.end = state, self.env.now
        self.last_progress = self.progress()
        self.lose_while_waiting()

    def lose_while_waiting(self) -> None:
        """What has gone since the last stay is told with that stay."""
        if self.stay is None and self.attempts and self.files_lost():
            gone = self.kept_card_time - self.what_is_left()[1]
            last = self.attempts[-1]
            self.attempts[-1] = last._replace(voided_card_us=last.voided_card_us + gone)

    def progress(self) -> float:
        """Share of the work that is done and still there."""
        return self.what_is_left()[0] / self.total if self.total else 0.0

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
        self.stays += 1
        startup = self.startup(stay) + ready_in(stay, self.env.now)
        if self.first_start is None:
            self.first_start = self.env.now
        self.bring_files(stay)
        stay.planned = startup, sum(length for what, length in self.steps(stay, 0))
        limit = None if self.job.limit_us is None else stay.start + self.job.limit_us
        if stay.share is None:
            ended = yield from self.run_alone(stay, startup, limit)
        else:
            ended = yield from run_beside_others(self, stay, startup, limit)
        if ended == "done" and self.bad is not None and self.is_found(stay):
            ended = "bad_result"
        if ended == "done":
            stay.saved, stay.unsaved = stay.saved + stay.unsaved, 0
        return self.leave(stay, ended)

    def run_alone(self, stay: Stay, startup: Micros, limit: Micros | None):
        """Step by step, on cards of its own."""
        own_end = self.own_end()
        try:
            steps = [*self.steps(stay, startup), ("end", 0)]
            for (what, length), following in itertools.pairwise(steps):
                stay.step = what, self.env.now
                until, over = self.env.now + length, None
                left = length + 1 if own_end is None else own_end - stay.work
                # It comes before a checkpoint of the same instant, unless that takes no time.
                if what == "work" and (left < length or (left == length and following != ("checkpoint", 0))):
                    until, over = self.env.now + max(0, left), self.of_its_own()
                if limit is not None and until > limit:
                    until, over = limit, "killed"
                yield self.env.at(until, COMPLETION, self.job.id)
                self.spend(stay)
                if over is not None:
                    return over
                if what == "checkpoint":
                    stay.saved, stay.unsaved = stay.saved + stay.unsaved, 0
                    self.write(stay, stay.saved)
        except simpy.Interrupt as blow:
            self.spend(stay)
            return (yield from self.struck(stay, blow.cause))
        return "done"

    def own_end(self) -> Micros | None:
        """Work, of this stay, after which its user or an error of its own ends it; None: nobody does."""
        if self.submissions > len(self.job.ends):
            return None
        end = self.job.ends[self.submissions - 1]
        stop = round(end.share * self.total) if end.after_us is None else min(end.after_us, self.total)
        return stop - self.saved

    def of_its_own(self) -> str:
        """How such an end is called; a failed job comes again if that is before the horizon."""
        end = self.job.ends[self.submissions - 1]
        return "cancelled" if end.kind == "cancelled" else "failed"

    def pause(self) -> Micros | None:
        """Time until a failed job is submitted again; None: not before the horizon."""
        after = self.job.ends[self.submissions - 1].retry_after_us
        return None if after is None or self.env.now + after >= self.world.plan.horizon_us else after

    def is_found(self, stay: Stay) -> bool:
        """Whether somebody sees that the result is bad."""
        model = model_of(stay.pool.spec, stay.cards[0].machine.lease)
        draw = self.world.streams.generator("bad result", self.job.id, self.redone).random()
        return model is not None and draw < model.found

    def steps(self, stay: Stay, startup: Micros):
        """What the job does in this stay: start up, then pieces of work with checkpoints between."""
        yield "startup", startup
        left = self.total - self.saved
        every = self.world.checkpoint_every(stay)
        cost = self.world.checkpoint_cost(stay)
        while every is not None and left > every:
            yield "work", every
            left -= every
            yield "checkpoint", cost
        yield "work", left

    def spend(self, stay: Stay) -> None:
        """A step is over, or broken off."""
        what, begun = stay.step
        stay.spent[what] += self.env.now - begun
        if what == "work":
            stay.unsaved += self.env.now - begun
        stay.step = "nothing", self.env.now

    def corrupt(self) -> None:
        """From here on its state is wrong, and so is each checkpoint to come."""
        what, begun = self.stay.step
        if self.stay.failed is not None or self.bad is not None or what == "nothing":
            return
        if self.stay.share is not None:
            self.bad = self.saved + as_of(self.stay, self.env.now).work
        else:
            self.bad = self.saved + self.stay.work + (self.env.now - begun if what == "work" else 0)

    def write_for_snapshot(self) -> None:
        """A job beside others writes down its checkpoints when it is told something; now somebody asks."""
        if self.stay is not None and self.stay.share is not None and self.stay.failed is None:
            found = as_of(self.stay, self.env.now)
            self.write(self.stay, found.saved, found.share.saved_us)

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
            saved, card_time = self.what_is_left()
            stay.voided = self.kept_card_time - card_time
            self.saved, self.kept_card_time = saved, card_time
            self.sound_again()
        sigma = stay.option.speed_noise
        stay.luck = math.exp(sigma * self.job.luck - sigma * sigma / 2)
        total = max(1, round(self.job.work * stay.option.us_per_work * stay.luck))
        if self.total and total != self.total:
            self.saved = self.saved * total // self.total
            self.bad = None if self.bad is None else self.bad * total // self.total
        self.total = total
        machine = stay.cards[0].machine
        for other in self.world.machines:
            other.files.pop(self.name, None)
            self.carry_over(other)
        self.files = machine, machine.disk
        self.write(stay, 0)

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

    def leave(self, stay: Stay, ended: str) -> str:
        """The stay is over: write it down, give the cards back. Returns how it ended."""
        now = self.env.now
        card_us = None
        if stay.share is not None:
            count(stay.cards[0], now)
            card_us = stay.share.card_us
        if stay.option.part is not None:
            card_us = (now - stay.start) * stay.option.part.compute // 7
        stay.card_us, stay.length = card_us, now - stay.start
        ended, pause = self.settle(stay, ended)
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
                lost_us + stay.dead, stay.voided, pause, card_us,
            )
        )  # fmt: skip
        if ended == "horizon":
            return ended
        self.write(stay, 0, over=True)
        if stay.failed is None and ended not in ("done", "killed", "cancelled"):
            self.files = None  # a planned move takes the files along
        for card in stay.cards:
            card.holders.remove(self)
        self.world.left(self)
        self.stay = None
        if stay.share is not None:
            tell(stay.cards[0], stay.pool.spec.sharing)
        self.world.changed()
        return ended

    def settle(self, stay: Stay, ended: str) -> tuple[str, Micros]:
        """What the job has saved after this stay; how it ended, and how long until it comes again."""
        pause = 0
        if ended == "failed" and stay.failed is None and self.pause() is not None:
            ended, pause = "retried", self.pause()
        if ended in ("failed", "retried", "bad_result"):
            stay.voided += self.kept_card_time
            stay.unsaved, stay.saved = stay.unsaved + stay.saved, 0
            self.kept_card_time = self.saved = 0
            self.files, self.bad = None, None
            self.edition += 1
        elif self.files_lost():
            self.lose(stay)
        self.saved += stay.saved
        if ended != "done":
            self.sound_again()
        return ended, pause

    def record(self, horizon: Micros) -> JobRecord:
        waiting = self.state == "waiting"
        if waiting:
            self.lose_while_waiting()
        progress = self.progress() if self.end is None else self.last_progress
        return JobRecord(
            self.job.id, self.state, self.first_start, self.end,
            self.waited + (horizon - self.queued if waiting else 0), self.gpus, self.offer,
            self.interruptions, 1.0 if self.state == "done" else progress, self.ran, "",
            self.paused, self.submissions, self.redone, self.state == "done" and self.bad is not None,
        )  # fmt: skip
