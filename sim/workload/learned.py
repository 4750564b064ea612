"""Quantiles and tails of the shapes that are learned from records: mixtures and quantile tables."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from sim.model.shapes import Mixture, Quantiles

__all__ = ["mixture", "mixture_at_least", "quantiles", "quantiles_at_least"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_NODES = 8193
_WIDEST = 8.5
"""Standard deviations to either side that the table of a mixture covers; beyond is less than 1e-16."""


def mixture(shape: Mixture, probability: Floats) -> Floats:
    """Quantiles of a mixture of log-normals, read from a fine table of its distribution function.

    The logarithm is right to about 1e-5 of the widest component; a probability of 0 gives the lowest
    value of the table.
    """
    weights, mu, sigma = _parts(shape)
    nodes = np.linspace((mu - _WIDEST * sigma).min(), (mu + _WIDEST * sigma).max(), _NODES)
    # A narrow component needs nodes of its own.
    own = mu[:, None] + sigma[:, None] * np.linspace(-_WIDEST, _WIDEST, 513)
    nodes = np.unique(np.concatenate([nodes, own.ravel()]))
    below = _below(nodes, weights, mu, sigma)
    return np.asarray(np.exp(np.interp(probability, below, nodes)))


def mixture_at_least(shape: Mixture, values: Floats) -> Floats:
    """Probability of at least each value."""
    from scipy.special import ndtr

    weights, mu, sigma = _parts(shape)
    distance = (np.log(values)[:, None] - mu) / sigma
    return np.asarray((weights * ndtr(-distance)).sum(axis=1))


def _parts(shape: Mixture) -> tuple[Floats, Floats, Floats]:
    weights = np.array([part.weight for part in shape.components])
    mu = np.log([part.median for part in shape.components])
    return weights / weights.sum(), mu, np.array([part.sigma for part in shape.components])


def _below(nodes: Floats, weights: Floats, mu: Floats, sigma: Floats) -> Floats:
    from scipy.special import ndtr  # here: it takes long to import, and few commands draw

    return np.asarray((weights * ndtr((nodes[:, None] - mu) / sigma)).sum(axis=1))


def quantiles(shape: Quantiles, probability: Floats) -> Floats:
    """Values of a quantile table: the logarithm is interpolated, or the value above a 0."""
    at, values = np.array(shape.at), np.array(shape.values, dtype=np.float64)
    cell = np.clip(np.searchsorted(at, probability, side="right") - 1, 0, len(at) - 2)
    share = (probability - at[cell]) / (at[cell + 1] - at[cell])
    low, high = values[cell], values[cell + 1]
    positive = low > 0
    ratio = np.divide(high, low, out=np.ones_like(low), where=positive)
    return np.asarray(np.where(positive, low * ratio**share, low + (high - low) * share))


def quantiles_at_least(shape: Quantiles, asked: Floats) -> Floats:
    """Probability of at least each value; an atom at the value counts in full."""
    at, values = np.array(shape.at), np.array(shape.values, dtype=np.float64)
    cell = np.searchsorted(values, asked, side="left") - 1
    inside = np.clip(cell, 0, len(at) - 2)
    low, high = values[inside], values[inside + 1]
    reached = np.clip(asked, low, high)
    positive = (low > 0) & (high > low)
    with np.errstate(divide="ignore", invalid="ignore"):  # the cells that are not asked for
        share = np.where(positive, np.log(reached / low) / np.log(high / low), (reached - low) / (high - low))
    below = at[inside] + np.nan_to_num(share) * (at[inside + 1] - at[inside])
    return np.where(cell < 0, 1.0, np.where(cell > len(at) - 2, 0.0, 1.0 - below))
