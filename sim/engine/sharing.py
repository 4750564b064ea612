"""Jobs that share a card: stays whose speed changes when another job comes or goes.

A stay on a divided card has a clock of its own: the time that it would have taken alone. Start-up
and checkpoints need disk and processor and take their time as always; work alone runs slower. What
is done is carried over at a change of speed in whole microseconds; the rest of one is done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from sim.engine.fleet import Card, Pool
from sim.engine.stay import Run, Stay
from sim.model.rates import RunOption
from sim.model.sharing import SLICES
from sim.units import Micros

__all__ = ["Guests", "PacedStay", "SharedStay", "runs_on"]


class SharedStay(Stay):
    """A stay on a card that other jobs may share, at a speed that does not change (a MIG slice)."""

    shared = True

    def __init__(
        self, run: Run, pool: Pool, option: RunOption, cards: list[Card], start_us: Micros, guests: Guests
    ) -> None:
        super().__init__(run, pool, option, cards, start_us)
        self.guests = guests
        self.card_us: Micros = 0
        """Its part of the card's time so far."""
        self.closed_us: Micros | None = None
        """When it was over; None: it is not."""

    def close(
        self, now: Micros, running_us: Micros, work_us: Micros, saved_us: Micros
    ) -> tuple[Micros, Micros, Micros]:
        """It ends now: time in which it worked, time of the work saved, its part of the card's time.

        `running_us` is the time without start-up and checkpoints; `work_us` and `saved_us` are of its
        own clock.
        """
        self.guests.count(now)
        self.closed_us = now
        if self.option.part is not None:
            self.card_us = (now - self.start_us) * self.option.part.compute // SLICES
        saved = running_us if saved_us == work_us else self.spent_on(saved_us)
        return running_us, saved, self.card_us

    def spent_on(self, work_us: Micros) -> Micros:
        """Time that the first so much of its work took."""
        return work_us

    def card_time(self, work_us: Micros) -> Micros:
        """Its part of the card's time while it did the first so much of its work, once it is over."""
        length = 0 if self.closed_us is None else self.closed_us - self.start_us
        return self.spent_on(work_us) * self.card_us // length if length else 0


class _Mark(NamedTuple):
    """From an instant on a stay works at a speed of `part` / `whole`."""

    at_us: Micros
    running_us: Micros
    """Where its own clock stood then, from the end of its start-up."""
    part: int
    whole: int


class PacedStay(SharedStay):
    """A stay on a divided card. All times but instants and the length of a stay are of its own clock."""

    paced = True
    works = False
    """Whether its start-up is over."""
    speed = Fraction(0)
    """Its speed of now, 1 for the speed alone; 0 while it starts up."""

    def __init__(
        self, run: Run, pool: Pool, option: RunOption, cards: list[Card], start_us: Micros, guests: Guests
    ) -> None:
        super().__init__(run, pool, option, cards, start_us, guests)
        self._marks: list[_Mark] = []

    def at_speed(self, now: Micros, speed: Fraction) -> None:
        """From now on it works at this speed."""
        running = self._running(now) if self._marks else 0
        self.speed = speed
        self._marks.append(_Mark(now, running, speed.numerator, speed.denominator))

    # --- its own clock ----------------------------------------------------------------------

    def own_time(self, elapsed_us: Micros) -> Micros:
        """Its own clock after so much of the stay."""
        if not self._marks or elapsed_us <= self.startup_us:
            return min(elapsed_us, self.startup_us)
        return self.startup_us + self._running(self.start_us + elapsed_us)

    def due(self, own_us: Micros) -> Micros:
        """Instant at which its own clock will stand there if it goes on as now; it works already."""
        return self._instant(own_us - self.startup_us)

    def split(self, elapsed_us: Micros) -> tuple[Micros, Micros, Micros, Micros]:
        """As of any stay, on its own clock, after so much of the stay."""
        return super().split(self.own_time(elapsed_us))

    def spent_on(self, work_us: Micros) -> Micros:
        """Time that the first so much of its work took."""
        if not work_us:
            return 0
        written = min(max(0, -(-work_us // self.every_us) - 1), self.pieces - 1) * self.cost_us
        return self._instant(work_us + written) - self.start_us - self.startup_us - written

    def _running(self, at_us: Micros) -> Micros:
        """Its own clock at an instant, from the end of its start-up."""
        mark = next(m for m in reversed(self._marks) if m.at_us <= at_us)
        # All in parts of a microsecond, so that nothing is rounded between two changes of speed.
        work, writing = self.every_us * mark.whole, self.cost_us * mark.part
        passed = self._parts(mark.running_us, mark) + (at_us - mark.at_us) * mark.part
        done = min(passed // (work + writing), self.pieces - 1)
        passed -= done * (work + writing)
        last = done == self.pieces - 1
        piece = self.remaining_us - done * self.every_us if last else self.every_us
        worked = min(passed // mark.whole, piece)
        written = 0 if last or worked < piece else (passed - piece * mark.whole) // mark.part
        return done * (self.every_us + self.cost_us) + worked + written

    def _instant(self, running_us: Micros) -> Micros:
        """When its own clock first stood, or will stand, there; the end of its start-up is 0."""
        mark = next((m for m in reversed(self._marks) if m.running_us < running_us), self._marks[0])
        parts = self._parts(max(running_us, mark.running_us), mark) - self._parts(mark.running_us, mark)
        return mark.at_us - (-parts // mark.part)

    def _parts(self, running_us: Micros, mark: _Mark) -> int:
        """Time at a mark's speed from the end of start-up to there, in parts of a microsecond."""
        _, checkpoints, work, _ = super().split(self.startup_us + running_us)
        return work * mark.whole + checkpoints * mark.part


class Guests:
    """The stays on one card that may be shared, and how its time is shared out among them."""

    def __init__(self, card: Card, now: Micros) -> None:
        self.card = card
        self.stays: list[SharedStay] = []
        """In the order in which they came."""
        self.since_us = now
        self._counted_us = now

    def come(self, stay: SharedStay) -> None:
        """A stay begins."""
        self.count(stay.start_us)
        self.stays.append(stay)

    def go(self, stay: SharedStay, now: Micros) -> None:
        """A stay is over."""
        self.count(now)
        self.stays.remove(stay)

    def count(self, now: Micros) -> None:
        """Share out the card's time since the last change: equally, what is left over to the first."""
        passed, self._counted_us = now - self._counted_us, now
        if passed and self.stays:
            each, over = divmod(passed, len(self.stays))
            for place, stay in enumerate(self.stays):
                stay.card_us += each + (place < over)


def runs_on(cards: Sequence[Card]) -> list[Run]:
    """The jobs on these cards, each once, in order of submission."""
    found: dict[int, Run] = {}
    for card in cards:
        holder = card.held_by
        if isinstance(holder, Run):
            found[holder.job.id] = holder
        elif isinstance(holder, Guests):
            found.update((stay.run.job.id, stay.run) for stay in holder.stays)
    return [found[job] for job in sorted(found)]
