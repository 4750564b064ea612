"""The twin's shared cards: jobs that slow each other, told step by step in exact fractions.

A job goes through its steps (start-up, work, checkpoint, work ...) and is told whenever the others
on its card make it faster or slower. Then it looks where it stands and goes on from there.
"""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import simpy

from sim.model.rates import RunOption
from sim.model.sharing import SharingSpec, SpeedCurve
from sim.units import Micros
from tests.twin.cards import Card, Pool
from tests.twin.clock import COMPLETION

if TYPE_CHECKING:
    from tests.twin.life import Life, Stay

__all__ = [
    "Share",
    "as_of",
    "count",
    "in_time_of_all",
    "may_share",
    "place_beside",
    "run_beside_others",
    "tell",
]


class Share:
    """What a stay has on a shared card."""

    def __init__(self, life: Life, spec: SharingSpec) -> None:
        self.demand = spec.demand_of(life.world.jobs.shapes[life.job.shape])
        self.works = False
        self.speed = Fraction(0)
        self.told = life.env.event()
        """That it may run at another speed now."""
        self.card_us: Micros = 0
        self.work_us: Micros = 0
        """Time of all that its work took, up to the last whole piece of it."""
        self.saved_us: Micros = 0
        """The same, up to the last checkpoint."""
        self.steps: list[list] = []
        """What it has to do from here."""
        self.begun: Micros = 0
        """When it stood there."""


def speed_of(curve: SpeedCurve, demands: list[Fraction]) -> Fraction:
    """From the words of the preset: a broken line up to a whole card, then the card is divided."""
    if len(demands) <= 1:
        return Fraction(1)
    total = sum(demands)
    last = curve.points[-1]
    if total > last[0]:
        pair = min(curve.beyond / total, last[1])
    else:
        pair = curve.points[0][1]
        for (a, fa), (b, fb) in zip(curve.points, curve.points[1:], strict=False):
            if a <= total <= b:
                pair = fa * (b - total) / (b - a) + fb * (total - a) / (b - a)
    return pair * (1 - curve.per_job * (len(demands) - 2))


# --- who comes beside whom ------------------------------------------------------------------


def may_share(pool: Pool, option: RunOption) -> bool:
    spec = pool.spec.sharing
    return (
        spec is not None
        and spec.kind != "mig"
        and option.gpus == 1
        and option.memory_gib is not None
        and option.memory_gib <= spec.usable_gib
    )


def place_beside(pool: Pool, option: RunOption) -> Card | None:
    """The card in use that is asked for least and has room; lower ordinals first."""
    spec = pool.spec.sharing
    if not may_share(pool, option):
        return None
    fitting = []
    for machine in pool.machines:
        for card in machine.cards:
            stays = [life.stay for life in card.holders]
            if (
                not stays
                or not machine.leased
                or not machine.open
                or card.down
                or any(stay.share is None for stay in stays)
            ):
                continue
            taken = sum(stay.option.memory_gib for stay in stays)
            if len(stays) < spec.jobs and taken + option.memory_gib <= spec.usable_gib:
                fitting.append((sum(stay.share.demand for stay in stays), len(stays), card.ordinal, card))
    return min(fitting, key=lambda row: row[:3])[3] if fitting else None


def count(card: Card, now: Micros) -> None:
    """Share out the card's time since somebody came or went."""
    passed, card.since = now - card.since, now
    sharers = [life.stay.share for life in card.holders if life.stay is not None]
    for place, share in enumerate(sharers):
        share.card_us += passed // len(sharers) + (1 if place < passed % len(sharers) else 0)


def speed_on(card: Card, spec: SharingSpec) -> Fraction:
    """Of all that work there now."""
    return speed_of(spec.curve, [stay.share.demand for stay in at_work(card)])


def at_work(card: Card) -> list[Stay]:
    stays = [life.stay for life in card.holders if life.stay is not None]
    return [stay for stay in stays if stay.failed is None and stay.share.works]


def tell(card: Card, spec: SharingSpec) -> None:
    """Tell all that work on a card to look how fast they are, if that is not as before."""
    for stay in at_work(card):
        if stay.share.speed != speed_on(card, spec) and not stay.share.told.triggered:
            stay.share.told.succeed()


# --- how a job runs there -------------------------------------------------------------------


def run_beside_others(life: Life, stay: Stay, startup: Micros, limit: Micros | None):
    """All of one stay. Returns how it ended."""
    env, share, spec = life.env, stay.share, stay.pool.spec.sharing
    share.steps, over = up_to_its_end(life, [list(step) for step in life.steps(stay, startup)])
    share.begun = env.now
    while True:
        if not share.works and (share.steps[0][0] == "work" or not share.steps[0][1]):
            share.steps = [step for step in share.steps if step[0] != "startup"]
            share.works = True
            tell(stay.cards[0], spec)
            share.speed, share.told = speed_on(stay.cards[0], spec), env.event()
        ahead = share.steps if share.works else share.steps[:1]
        end = share.begun + math.ceil(sum(time_of(step, share.speed) for step in ahead))
        end = end if limit is None else min(end, limit)
        moved, ends = None, env.at(end, COMPLETION, life.job.id)
        try:
            yield ends | share.told
            if env.now == end:  # whoever else comes or goes then, it ends in the turn of those that end
                yield ends
        except simpy.Interrupt as blow:
            moved = blow.cause
        goes_on(stay, env.now)
        life.write(stay, stay.saved, share.saved_us)
        if moved is not None:
            return (yield from life.struck(stay, moved))
        if not share.steps:
            return over
        if limit is not None and env.now >= limit and not (share.steps[0][0] == "work" and not share.works):
            return "killed"
        if share.told.triggered:
            share.speed, share.told = speed_on(stay.cards[0], spec), env.event()


def up_to_its_end(life: Life, steps: list[list]) -> tuple[list[list], str]:
    """The steps that it goes through, and how it ends then: done, by its user, or by an error of its own."""
    left = life.own_end()
    if left is None:
        return steps, "done"
    for place, (what, length) in enumerate(steps):
        if what != "work":
            continue
        # It comes before a checkpoint of the same instant, unless that takes no time.
        if left < length or (left == length and steps[place + 1 : place + 2] != [["checkpoint", 0]]):
            return [*steps[:place], ["work", max(0, left)]], life.of_its_own()
        left -= length
    return steps, "done"


def time_of(step: list, speed: Fraction) -> Fraction:
    """Time of all that a step takes: only work is slowed."""
    what, length = step
    return length / speed if what == "work" else Fraction(length)


def as_of(stay: Stay, now: Micros) -> Stay:
    """The stay as it stands at an instant in which nobody tells it anything: a copy."""
    found = copy.copy(stay)
    found.spent, found.share = dict(stay.spent), copy.copy(stay.share)
    found.share.steps = [list(step) for step in stay.share.steps]
    goes_on(found, now)
    return found


def goes_on(stay: Stay, now: Micros) -> None:
    """Go through the steps until now; of the step in which that is whole microseconds are done."""
    share, steps, at = stay.share, stay.share.steps, Fraction(stay.share.begun)
    share.begun = now
    while steps and (at < now or not steps[0][1]):
        what, length = steps[0]
        if what == "work" and not share.works:
            return
        ends = at + time_of(steps[0], share.speed)
        if ends <= now:
            done, at = length, ends
            steps.pop(0)
        else:
            done = math.floor((now - at) * (share.speed if what == "work" else 1))
            at = Fraction(now)
            steps[0][1] -= done
        if what == "work":
            stay.unsaved += done
        else:
            stay.spent[what] += done
        if what == "work" and steps and steps[0][0] == "checkpoint":
            share.work_us = math.ceil(at) - stay.start - stay.spent["startup"] - stay.spent["checkpoint"]
        if what == "checkpoint" and ends <= now:
            stay.saved, stay.unsaved, share.saved_us = stay.saved + stay.unsaved, 0, share.work_us


def in_time_of_all(stay: Stay, now: Micros) -> tuple[Micros, Micros]:
    """Time that the saved and the lost work of a stay took, which is over now."""
    worked = now - stay.start - stay.dead - stay.spent["startup"] - stay.spent["checkpoint"]
    saved = worked if not stay.unsaved else stay.share.saved_us if stay.saved else 0
    return saved, worked - saved
