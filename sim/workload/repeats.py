"""Failed jobs that are submitted again, drawn before the run: only when is up to the fleet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.model.timed import Again, TimedClass
from sim.model.values import Distribution, Quantity
from sim.streams import Streams
from sim.units import SECOND
from sim.workload.arrivals import Ints
from sim.workload.distributions import Floats, at_quantile
from sim.workload.kinds import LEAST, as_wide, runtimes

__all__ = ["Repeats", "with_repeats"]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Which jobs repeat which; arrays of shape (n,)."""

    first: Ints
    """Number of the job that came by itself; jobs with the same number are a job and its repeats."""
    turn: Ints
    """0 for it, 1 for its first repeat, ..."""
    pause_us: Ints
    """From the failure to this submission."""


def with_repeats(
    one: TimedClass, again: Again, times: Ints, kind: Ints, runtime: Floats, streams: Streams
) -> tuple[Ints, Ints, Floats, Repeats]:
    """The jobs with new submissions of those that fail, at the earliest: as if there were always a card.

    Four uniform numbers a job and repeat: whether, after which pause, which kind of as many cards, and
    how long.
    """
    from scipy.special import ndtri  # here: it takes long to import, and few commands draw

    lots = streams.generator("again", one.name).random((len(times), again.most, 4))
    failed = np.array([of_kind.state == "failed" for of_kind in one.kinds])
    found = [(times, kind, runtime, np.arange(len(times)), np.zeros(len(times), dtype=np.int64))]
    for turn in range(again.most):
        times, kind, runtime, first, _ = found[-1]
        goes_on = failed[kind] & (lots[first, turn, 0] < again.share)
        times, kind, runtime, first = times[goes_on], kind[goes_on], runtime[goes_on], first[goes_on]
        lot = lots[first, turn]
        pause = np.rint(_values(again.pause_s, lot[:, 1]) * SECOND).astype(np.int64)
        times = times + runtime.astype(np.int64) + pause
        kind = as_wide(one, kind, lot[:, 2])
        found.append((times, kind, runtimes(one, kind, ndtri(np.clip(lot[:, 3], LEAST, None))), first, pause))
    turns = np.repeat(np.arange(len(found)), [len(part[0]) for part in found])
    times, kind, runtime, first, pause = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return times, kind, runtime, Repeats(first, turns, pause)


def _values(quantity: Quantity, lots: Floats) -> Floats:
    if not isinstance(quantity, Distribution):
        return np.full(len(lots), float(quantity))
    return at_quantile(quantity, lots)
