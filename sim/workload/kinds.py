"""Kinds of timed jobs: what decides where they run, and their run times at normal scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.model.timed import TimedClass, TimedKind
from sim.model.values import Distribution, Quantity
from sim.units import SECOND
from sim.workload.arrivals import Ints
from sim.workload.distributions import Floats, at_quantile

__all__ = ["LEAST", "ShapeKey", "as_wide", "at_score", "key_of", "normal", "runtimes"]

LEAST = 1e-12
"""Probabilities below are taken as this one."""


class ShapeKey(NamedTuple):
    """What tells apart where kinds can run: cards, and GiB a card (None: any card)."""

    gpus: int
    memory_gib: float | None


def key_of(kind: TimedKind) -> ShapeKey:
    """Cards and memory of a kind."""
    return ShapeKey(kind.gpus, kind.memory_gib)


def as_wide(one: TimedClass, kind: Ints, lots: Floats) -> Ints:
    """For each job one of the kinds with its number of cards and memory, by their shares."""
    chosen = kind.copy()
    keys = [key_of(of_kind) for of_kind in one.kinds]
    for key in dict.fromkeys(keys):
        places = np.array([place for place, other in enumerate(keys) if other == key])
        bounds = np.cumsum([one.kinds[place].share for place in places.tolist()])
        mine = np.isin(kind, places)
        at = np.searchsorted(bounds / bounds[-1], lots[mine], side="right")
        chosen[mine] = places[np.minimum(at, len(places) - 1)]
    return chosen


def runtimes(one: TimedClass, kind: Ints, scores: Floats) -> Floats:
    """Run times of jobs, microseconds, at least one."""
    seconds = np.empty(len(kind))
    for place, of_kind in enumerate(one.kinds):
        mine = kind == place
        seconds[mine] = at_score(of_kind.runtime_s, scores[mine])
    return np.maximum(np.rint(seconds * SECOND), 1.0)


def at_score(quantity: Quantity, scores: Floats) -> Floats:
    """Values of a quantity at normal scores."""
    if not isinstance(quantity, Distribution):
        return np.full(len(scores), float(quantity))
    from scipy.special import ndtr  # here: it takes long to import, and few commands draw

    return at_quantile(quantity, np.clip(ndtr(scores), 0.0, np.nextafter(1.0, 0.0)))


def normal(generator: np.random.Generator, count: int) -> Floats:
    """Standard normal numbers, one uniform each."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(generator.random(count), LEAST, None)))
