"""Pools whose cards are partitioned (MIG) while they are idle: each job has a slice of its own.

A slice runs at its own speed, whatever runs beside it, so its stays are as all others but for the
speed. A job takes the smallest slice that holds it: on a card that is partitioned so, else on an
idle card that is partitioned anew, else a larger slice.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sim.decisions.sharing import partition, slice_speed, slices_holding
from sim.engine.fleet import Card, Machine
from sim.engine.sharing import Guests, SharedStay
from sim.engine.sharing_pools import SharedPool
from sim.engine.stay import Run, Stay
from sim.model.fleet import PoolSpec
from sim.model.job import JobShape
from sim.model.rates import RunOption
from sim.model.sharing import SharingSpec, SliceSpec
from sim.units import Micros

__all__ = ["SlicedPool"]


@dataclass(slots=True)
class _Cut:
    """The partition of one card."""

    free: Counter[str]
    """Slices without a job, by profile."""
    ready_us: Micros | None = None
    """When the card has been partitioned so; None: its first job has not begun."""


class SlicedPool(SharedPool):
    """A pool of leased cards with MIG."""

    def __init__(self, spec: PoolSpec, machines: int, sharing: SharingSpec) -> None:
        super().__init__(spec, machines, sharing)
        self._cuts: dict[int, _Cut] = {}
        self._open: dict[tuple[str, bool], list[int]] = {}
        """(profile, card in use) -> ordinals of the cards with a free slice of it, rising."""
        self._smallest: dict[float, SliceSpec] = {}

    def ways(self, options: Sequence[RunOption], _: JobShape) -> tuple[RunOption, ...]:
        return tuple(way for option in options for way in self._on_slices(option))

    def _on_slices(self, option: RunOption) -> Iterator[RunOption]:
        """The way on every slice that holds a job, the smallest first; at last on the whole card."""
        if option.gpus == 1 and option.memory_gib is not None:
            parts = slices_holding(self.sharing.slices, option.memory_gib)
            if parts:
                self._smallest[option.memory_gib] = parts[0]
            for part in parts:
                speed = float(slice_speed(part, self.sharing.slice_gain))
                tokens = None if option.tokens_per_s is None else option.tokens_per_s * speed
                yield replace(option, us_per_work=option.us_per_work / speed, tokens_per_s=tokens, part=part)
        yield option

    def fresh(self, option: RunOption, *, touched: bool) -> list[Card] | None:
        part = option.part
        if part is None:
            return self.take(option.gpus, spans=option.spans, touched=touched)
        if option.memory_gib is None or self._smallest[option.memory_gib] is not part:
            return None
        cards = self.join(option)
        if cards is None and (cards := self.take(1, spans=False, touched=touched)) is not None:
            self._cut(cards[0], part)
        return cards

    def join(self, option: RunOption) -> list[Card] | None:
        if option.part is None:
            return None
        name = option.part.name
        card = self._first_usable(self._open.get((name, True), ()))
        if card is None and (card := self._first_usable(self._open.get((name, False), ()))) is not None:
            card.held_by = self
            self._set_free(card.machine, card.machine.free - 1)
        return None if card is None else [card]

    def come(self, run: Run, option: RunOption, cards: list[Card], now: Micros, guests: Guests) -> SharedStay:
        stay = SharedStay(run, self, option, cards, now, guests)
        card, part = guests.card, option.part
        self._close(card)
        guests.come(stay)
        if part is not None:
            self._cuts[card.ordinal].free[part.name] -= 1
        self._list(card)
        return stay

    def left(self, stay: SharedStay, now: Micros) -> None:
        card, part = stay.guests.card, stay.option.part
        self._close(card)
        stay.guests.go(stay, now)
        cut = self._cuts.get(card.ordinal)
        if cut is not None and part is not None:  # a card that broke meanwhile has no partition
            cut.free[part.name] += 1
            self._list(card)

    def prepare(self, stay: Stay, now: Micros) -> Micros:
        """Time until the place of a job that begins now is ready for it."""
        if stay.option.part is not None:
            cut = self._cuts[stay.cards[0].ordinal]
            if cut.ready_us is None:
                cut.ready_us = now + self.sharing.reconfigure_us
            return max(0, cut.ready_us - now)
        cut_before = [card for card in stay.cards if card.ordinal in self._cuts]
        for card in cut_before:
            self._uncut(card)
        return self.sharing.reconfigure_us if cut_before else 0

    # --- partitions -------------------------------------------------------------------------

    def _cut(self, card: Card, wanted: SliceSpec) -> None:
        self._uncut(card)
        parts = partition(self.sharing.slices, wanted, self.sharing.jobs)
        self._cuts[card.ordinal] = _Cut(Counter(part.name for part in parts))

    def _uncut(self, card: Card) -> None:
        self._close(card)
        self._cuts.pop(card.ordinal, None)

    def _list(self, card: Card) -> None:
        """Offer the free slices of a card."""
        for name in +self._cuts[card.ordinal].free:
            insort(self._open.setdefault((name, _in_use(card)), []), card.ordinal)

    def _close(self, card: Card) -> None:
        """Offer no slice of a card."""
        cut = self._cuts.get(card.ordinal)
        for name in () if cut is None else +cut.free:
            ordinals = self._open.get((name, _in_use(card)), [])
            place = bisect_left(ordinals, card.ordinal)
            if ordinals[place : place + 1] == [card.ordinal]:
                del ordinals[place]

    def break_card(self, card: Card, now: Micros, token: int) -> None:
        self._uncut(card)
        super().break_card(card, now, token)

    def break_machine(self, machine: Machine, now: Micros, token: int, *, moves: bool = True) -> None:
        for card in machine.cards:
            self._uncut(card)
        super().break_machine(machine, now, token, moves=moves)

    def take_away(self, machine: Machine, now: Micros, ended: Micros | None) -> None:
        for card in machine.cards:
            self._uncut(card)
        super().take_away(machine, now, ended)


def _in_use(card: Card) -> bool:
    return isinstance(card.held_by, Guests) and bool(card.held_by.stays)
