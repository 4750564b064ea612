"""Pools whose cards are shared, and those that are divided in time (time slicing, MPS).

A job first looks for a card of its own. Only where none is free does it join others: on the card
that is asked for least, as far as memory goes. Gangs, and jobs whose memory is not known, have
whole cards.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from sim.decisions.sharing import shared_speed
from sim.engine.fleet import Card, Pool
from sim.engine.sharing import Guests, PacedStay, SharedStay
from sim.engine.stay import Run, Stay
from sim.model.fleet import PoolSpec
from sim.model.job import JobShape
from sim.model.rates import RunOption
from sim.model.sharing import SharingSpec
from sim.units import Micros

__all__ = ["DividedPool", "SharedPool"]

_KIB = 1 << 20
"""KiB of a GiB: memory is added up in whole KiB, needs rounded up."""


class SharedPool(Pool):
    """A pool of leased cards, each of which may hold several jobs at a time."""

    def __init__(self, spec: PoolSpec, machines: int, sharing: SharingSpec) -> None:
        super().__init__(spec, machines, burst=False)
        self.shares = True
        self.sharing = sharing

    @abstractmethod
    def ways(self, options: Sequence[RunOption], shape: JobShape) -> tuple[RunOption, ...]:
        """The ways of a shape of jobs with what sharing asks of them."""

    @abstractmethod
    def fresh(self, option: RunOption, *, touched: bool) -> list[Card] | None:
        """Take free cards, or what is as good as a free card; None if there are none."""

    @abstractmethod
    def join(self, option: RunOption) -> list[Card] | None:
        """Take a place beside other jobs; None if there is none."""

    @abstractmethod
    def come(self, run: Run, option: RunOption, cards: list[Card], now: Micros, guests: Guests) -> SharedStay:
        """A job begins at its place on a card that others may share."""

    @abstractmethod
    def left(self, stay: SharedStay, now: Micros) -> None:
        """A job leaves its place beside others."""

    def enter(self, run: Run, option: RunOption, cards: list[Card], now: Micros) -> Stay:
        """Let a job that `fresh` or `join` gave its place begin there."""
        if option.demand is None and option.part is None:
            for card in cards:
                card.held_by = run
            return Stay(run, self, option, cards, now)
        (card,) = cards
        guests = card.held_by
        if not isinstance(guests, Guests):
            guests = card.held_by = Guests(card, now)
        return self.come(run, option, cards, now, guests)

    def give_back(self, cards: list[Card], now: Micros, started: Micros) -> None:
        """A job leaves its cards, its stay closed; a shared card is free when the last one has gone."""
        guests = cards[0].held_by
        if not isinstance(guests, Guests):
            super().give_back(cards, now, started)
            return
        stay = next(stay for stay in guests.stays if stay.closed_us is not None)
        self.left(stay, now)
        if not guests.stays:
            super().give_back(cards, now, guests.since_us)

    def _card(self, ordinal: int) -> Card:
        return self.machines[ordinal // self.size].cards[ordinal % self.size]

    def _first_usable(self, ordinals: Sequence[int]) -> Card | None:
        for ordinal in ordinals:
            card = self._card(ordinal)
            machine = card.machine
            if machine.leased and machine.up and machine.away_since is None and not card.broken:
                return card
        return None


class DividedPool(SharedPool):
    """Time slicing and MPS: all jobs of a card compute on all of it, in turn or side by side."""

    def __init__(self, spec: PoolSpec, machines: int, sharing: SharingSpec) -> None:
        super().__init__(spec, machines, sharing)
        self._room_kib = math.floor(sharing.usable_gib * _KIB)
        self._places: dict[tuple[Fraction, int, int], list[int]] = {}
        """(combined demand, jobs, KiB left) -> ordinals of the cards in use that are so, rising."""
        self._where: dict[int, tuple[Fraction, int, int]] = {}
        """The same by card."""
        self._speeds: dict[tuple[Fraction, ...], Fraction] = {}
        self.on_pace: Callable[[Sequence[PacedStay]], None] = _nobody
        """Called with stays that run at another speed from now on."""

    def ways(self, options: Sequence[RunOption], shape: JobShape) -> tuple[RunOption, ...]:
        demand = self.sharing.demand_of(shape)
        return tuple(
            replace(option, demand=demand)
            if option.gpus == 1 and option.memory_gib is not None and _kib(option) <= self._room_kib
            else option
            for option in options
        )

    def fresh(self, option: RunOption, *, touched: bool) -> list[Card] | None:
        return self.take(option.gpus, spans=option.spans, touched=touched)

    def join(self, option: RunOption) -> list[Card] | None:
        if option.demand is None:
            return None
        needs, best, found = _kib(option), None, None
        for (demand, jobs, left_kib), ordinals in self._places.items():
            if jobs == self.sharing.jobs or left_kib < needs:
                continue
            if best is None or (demand, jobs, ordinals[0]) < best:
                card = self._first_usable(ordinals)
                if card is not None and (best is None or (demand, jobs, card.ordinal) < best):
                    best, found = (demand, jobs, card.ordinal), card
        return None if found is None else [found]

    def come(self, run: Run, option: RunOption, cards: list[Card], now: Micros, guests: Guests) -> SharedStay:
        stay = PacedStay(run, self, option, cards, now, guests)
        self._out(guests)
        guests.come(stay)
        self._in(guests)
        return stay

    def left(self, stay: SharedStay, now: Micros) -> None:
        guests = stay.guests
        self._out(guests)
        guests.go(stay, now)
        self._in(guests)
        self.on_pace(self._paced(guests, now))

    def works(self, stay: PacedStay, now: Micros) -> list[PacedStay]:
        """A job has started up; gives the stays that run at another speed from now on."""
        stay.works = True
        return self._paced(stay.guests, now)

    def _paced(self, guests: Guests, now: Micros) -> list[PacedStay]:
        stays = (stay for stay in guests.stays if isinstance(stay, PacedStay))
        working = [s for s in stays if s.works and s.failed is None and s.closed_us is None]
        demands = tuple(sorted(_demand(stay) for stay in working))
        speed = self._speeds.get(demands)
        if speed is None:
            speed = self._speeds[demands] = shared_speed(self.sharing.curve, demands)
        changed = [stay for stay in working if stay.speed != speed]
        for stay in changed:
            stay.at_speed(now, speed)
        return changed

    # --- who may be joined ------------------------------------------------------------------

    def _in(self, guests: Guests) -> None:
        if guests.stays:
            self._where[guests.card.ordinal] = place = self._place(guests)
            insort(self._places.setdefault(place, []), guests.card.ordinal)

    def _out(self, guests: Guests) -> None:
        if guests.stays:
            place = self._where.pop(guests.card.ordinal)
            ordinals = self._places[place]
            del ordinals[bisect_left(ordinals, guests.card.ordinal)]
            if not ordinals:
                del self._places[place]

    def _place(self, guests: Guests) -> tuple[Fraction, int, int]:
        stays = guests.stays
        taken = sum(_kib(stay.option) for stay in stays)
        return sum(map(_demand, stays), Fraction(0)), len(stays), self._room_kib - taken


def _nobody(_: Sequence[PacedStay]) -> None:
    """Until somebody plans the ends of stays."""


def _kib(option: RunOption) -> int:
    return 0 if option.memory_gib is None else math.ceil(option.memory_gib * _KIB)


def _demand(stay: Stay) -> Fraction:
    return stay.option.demand or Fraction(0)
