"""The twin's partitioned cards: who gets which slice, found by looking at all cards anew."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import TYPE_CHECKING

from sim.model.rates import RunOption
from sim.model.sharing import SharingSpec, SliceSpec
from sim.units import Micros
from tests.twin.cards import Card, Pool

if TYPE_CHECKING:
    from tests.twin.life import Stay

__all__ = ["beside", "fresh", "on_slices", "ready_in"]


def holding(spec: SharingSpec, option: RunOption) -> list[SliceSpec]:
    """The slices that hold a job, the smallest first; the whole card is not one of them."""
    if option.gpus > 1 or option.memory_gib is None:
        return []
    fitting = [part for part in spec.slices if part.compute < 7 and part.memory_gib >= option.memory_gib]
    fitting.sort(key=lambda part: part.name)
    fitting.sort(key=lambda part: (part.memory_gib, part.compute, "+me" in part.name))
    return fitting


def on_slices(spec: SharingSpec, option: RunOption) -> list[RunOption]:
    """The ways of a job on a card that may be partitioned; the whole card comes last."""
    ways = []
    for part in holding(spec, option):
        speed = min(spec.slice_gain * part.compute / 7, Fraction(1))
        ways.append(dataclasses.replace(option, us_per_work=option.us_per_work / float(speed), part=part))
    return [*ways, option]


def divided(spec: SharingSpec, wanted: SliceSpec) -> list[SliceSpec]:
    """Slice by slice: the wanted one as long as it goes, else the largest that does."""
    parts: list[SliceSpec] = []
    larger = sorted(
        spec.slices, key=lambda part: (-part.compute, -part.memory, "+me" in part.name, part.name)
    )
    while len(parts) < spec.jobs:
        goes = [
            part
            for part in (wanted, *larger)
            if sum(p.compute for p in parts) + part.compute <= 7
            and sum(p.memory for p in parts) + part.memory <= 8
            and parts.count(part) < part.most
            and not (part.alone and any(p.alone for p in parts))
        ]
        if not goes:
            break
        parts.append(goes[0])
    return parts


def free_slice(card: Card, part: SliceSpec) -> bool:
    there = card.machine.leased and card.machine.open and not card.reserved
    if card.cut is None or not there or card.down:
        return False
    taken = [life.stay.option.part for life in card.holders if life.stay is not None]
    return None not in taken and card.cut.count(part) > taken.count(part)


def beside(pool: Pool, option: RunOption) -> Card | None:
    """A card with a free slice of just this profile: one in use before an idle one, low numbers first."""
    cards = [card for machine in pool.machines for card in machine.cards if free_slice(card, option.part)]
    return min(cards, key=lambda card: (not card.holders, card.ordinal), default=None)


def fresh(pool: Pool, option: RunOption, rule: str, touched: bool) -> list[Card] | None:
    """Cards as good as free ones; an idle card is partitioned for the job if none is so already."""
    spec = pool.spec.sharing
    if option.part is None:
        return pool.find(option.gpus, option.spans, rule, touched=touched)
    if option.part is not holding(spec, option)[0]:
        return None
    card = beside(pool, option)
    if card is not None:
        return [card]
    cards = pool.find(1, False, rule, touched=touched)
    if cards is not None:
        cards[0].cut, cards[0].cut_at = divided(spec, option.part), None
    return cards


def ready_in(stay: Stay, now: Micros) -> Micros:
    """Time until the cards of a job that begins now are as it needs them."""
    spec = stay.pool.spec.sharing
    if spec is None or spec.kind != "mig":
        return 0
    if stay.option.part is not None:
        (card,) = stay.cards
        if card.cut_at is None:
            card.cut_at = now + spec.reconfigure_us
        return max(0, card.cut_at - now)
    wait = spec.reconfigure_us if any(card.cut is not None for card in stay.cards) else 0
    for card in stay.cards:
        card.cut = None
    return wait
