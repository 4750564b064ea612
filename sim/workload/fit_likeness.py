"""How much the jobs of a batch resemble each other, learned from a record."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from sim.model.timed import Alike
from sim.workload.arrivals import Ints

__all__ = ["fit_alike", "likeness", "normal_scores"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_MOST = 0.95
"""Correlations are kept below 1: identical jobs would make one draw of a whole batch."""
_FEWEST_BATCHES = 10
"""Batches below which nothing is learned of sizes and of neighbours."""


def normal_scores(values: Floats) -> Floats:
    """Normal scores of ranks (Blom's are as good); equal values share their mean rank."""
    return np.asarray(ndtri((rankdata(values) - 0.5) / len(values)))


def likeness(scores: Floats, batch: Ints) -> float:
    """Correlation of two different jobs of a batch, each job counted once; NaN without a pair or a spread.

    Scores have mean 0 and variance near 1; batches count by their jobs, not by their pairs.
    """
    counts = np.bincount(batch)
    sums, squares = np.bincount(batch, scores), np.bincount(batch, scores**2)
    several, spread = counts > 1, float((scores**2).mean())
    if not several.any() or spread == 0:
        return math.nan
    together = (sums[several] ** 2 - squares[several]) / (counts[several] - 1)
    return float(together.sum() / spread / counts[several].sum())


def fit_alike(kind: Ints, seconds: Floats, submit_s: Floats, batch: Ints, day: Ints, shares: Floats) -> Alike:
    """Learn how alike jobs are.

    `kind`, `seconds`, `submit_s` and `batch` have one entry a job, `day` one a batch and `shares` one a
    kind.
    """
    scores = np.empty(len(kind))
    for one in np.unique(kind):
        scores[kind == one] = normal_scores(seconds[kind == one])
    counts = np.bincount(batch)
    mean = np.bincount(batch, scores) / counts
    runtime, size = _level(likeness(scores, batch), mean, counts, counts)
    after = 0.0
    if len(counts) >= _FEWEST_BATCHES and runtime > 0:
        # what the size explains is no likeness of neighbours: large batches come together on their own days
        own = mean - math.sqrt(runtime) * size * _size_moments(counts)[0]
        joint = float((own[1:] * own[:-1]).mean())
        after = min(max(joint / runtime / (1 - size**2), 0.0), _MOST)
    inside = np.diff(batch, prepend=-1) == 0
    gap, gap_size = _gap_parts(np.diff(submit_s, prepend=0.0)[inside], batch[inside], counts)
    return Alike(
        kind=_kind_part(kind, batch, shares),
        runtime=_round(runtime),
        next=_round(after),
        size=_round(size),
        day=_round(_part(likeness(normal_scores(counts.astype(float)), day - day[0]))),
        gap=_round(gap),
        gap_size=_round(gap_size),
    )


def _gap_parts(gaps: Floats, gap_batch: Ints, counts: Ints) -> tuple[float, float]:
    """Correlation of the gaps of a batch with each other, and with its size."""
    if len(gaps) < 10 or gaps.min() == gaps.max():
        return 0.0, 0.0
    scores = normal_scores(gaps)
    met = np.bincount(gap_batch, minlength=len(counts))
    several = met > 0
    mean = np.bincount(gap_batch, scores, len(counts))[several] / met[several]
    return _level(likeness(scores, gap_batch), mean, counts[several], met[several])


def _level(together: float, mean: Floats, counts: Ints, weight: Ints) -> tuple[float, float]:
    """Correlation within a batch, and of a batch's level with its size (normal scores among jobs).

    `together` is the likeness of jobs of batches with two and more; `mean`, `counts` and `weight` have
    one entry a batch: mean score, size and jobs. A level is size x S + rest, with S the normal score of
    the size; batches of one job, whose S is low, are not seen in `together`, and that is made good here.
    """
    alike = _part(together)
    if alike == 0 or len(counts) < _FEWEST_BATCHES:
        return alike, 0.0
    first, second = _size_moments(counts)
    spread = float((weight * first**2).sum())
    slope = float((weight * mean * first).sum()) / spread if spread > 0 else 0.0
    several = counts > 1
    square = float(np.average(second[several], weights=weight[several])) if several.any() else 1.0
    alike = _part(together + slope**2 * (1 - square))
    if alike == 0:
        return 0.0, 0.0
    return alike, min(max(slope / math.sqrt(alike), -_MOST), _MOST)


def _size_moments(counts: Ints) -> tuple[Floats, Floats]:
    """Mean and mean square of the normal score of each batch's size among jobs; equal sizes share them."""
    sizes, place = np.unique(counts, return_inverse=True)
    jobs = np.bincount(place) * sizes
    edges = np.concatenate(([0.0], np.cumsum(jobs) / jobs.sum()))
    edges[-1] = 1.0
    cut = np.clip(ndtri(edges), -40, 40)
    height = np.exp(-0.5 * cut**2) / math.sqrt(2 * math.pi)
    width = np.diff(edges)
    mean = -np.diff(height) / width
    square = 1 - np.diff(cut * height) / width
    return mean[place], square[place]


def _kind_part(kind: Ints, batch: Ints, shares: Floats) -> float:
    """Probability k that a job keeps its batch's kind: two jobs are of one kind with probability
    k^2 + (1 - k^2) x (sum of the squares of the shares)."""
    chance = float((shares**2).sum() / shares.sum() ** 2)
    counts = np.bincount(batch)
    several = counts > 1
    if chance >= 1 or not several.any():
        return 0.0
    table = np.zeros((len(counts), len(shares)))
    np.add.at(table, (batch, kind), 1)
    pairs = ((table**2).sum(axis=1) - counts)[several] / (counts[several] - 1)
    same = float(pairs.sum() / counts[several].sum())
    return _round(math.sqrt(min(max((same - chance) / (1 - chance), 0.0), 1.0)))


def _part(value: float) -> float:
    return 0.0 if math.isnan(value) else min(max(value, 0.0), _MOST)


def _round(value: float) -> float:
    return float(f"{value:.3g}")
