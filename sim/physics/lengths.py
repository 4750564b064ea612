"""How long samples are: means of cut log-normal lengths, and of the longest in a micro-batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sim.model.scenario import JobClass

__all__ = ["Lengths", "cut_mean", "lengths_of", "padded_mean"]

_NODES, _WEIGHTS = (tuple(map(float, part)) for part in np.polynomial.legendre.leggauss(200))
_DEPTH = 9.0
"""Standard deviations below the median at which the integral starts; below lies nothing to see."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of one sample of a class."""

    useful: float
    """Mean after the cut at `seq_len`, without padding."""
    padded: float
    """Mean with padding to the longest of its micro-batch."""
    per_slot: float = 1.0
    """Samples in one place of a micro-batch: more than one when samples are packed."""


def lengths_of(job_class: JobClass) -> Lengths:
    """Lengths of a class. Samples fill `seq_len` where the class gives no mean.

    Packed samples fill every place of a micro-batch to `seq_len`, several in a place.
    """
    limit = float(job_class.seq_len)
    if job_class.mean_tokens is None:
        return Lengths(limit, limit)
    useful = cut_mean(job_class.mean_tokens, job_class.length_sigma, limit)
    if job_class.packed:
        return Lengths(useful, limit, limit / useful)
    padded = padded_mean(job_class.mean_tokens, job_class.length_sigma, limit, job_class.micro_batch)
    return Lengths(useful, padded)


def cut_mean(mean: float, sigma: float, limit: float) -> float:
    """Mean of min(L, limit), where L is log-normal with this mean and logarithmic spread.

    >>> cut_mean(100.0, 0.0, 80.0)
    80.0
    """
    if sigma == 0:
        return min(mean, limit)
    mu = math.log(mean) - sigma**2 / 2
    z = (math.log(limit) - mu) / sigma
    return mean * _normal(z - sigma) + limit * _normal(-z)


def padded_mean(mean: float, sigma: float, limit: float, batch: int) -> float:
    """Mean of the longest of `batch` samples, each cut at `limit`: the integral of 1 - F(x)^batch.

    Gauss-Legendre over the logarithm of x, so the same answer every time.
    """
    if sigma == 0 or batch == 1:
        return cut_mean(mean, sigma, limit)
    mu = math.log(mean) - sigma**2 / 2
    low, high = -_DEPTH, min((math.log(limit) - mu) / sigma, _DEPTH)
    if high <= low:
        return limit
    half = (high - low) / 2
    inside = math.fsum(
        weight * (1 - _normal(z) ** batch) * sigma * math.exp(mu + sigma * z)
        for weight, z in zip(_WEIGHTS, (low + half * (node + 1) for node in _NODES), strict=True)
    )
    return min(math.exp(mu + sigma * low) + half * inside, limit)


def _normal(z: float) -> float:
    """Distribution function of the standard normal."""
    return math.erfc(-z / math.sqrt(2)) / 2
