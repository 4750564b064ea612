"""Run times of one kind of jobs: a mixture of log-normals or a table of quantiles, by information criterion.

Both are densities of the logarithm of the time; the one with the smaller value of Schwarz's criterion
(BIC, 1978) is taken. Times of cut jobs enter by their probability of being longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import log_ndtr, logsumexp

from sim.model.shapes import Component, Mixture, Quantiles
from sim.model.values import Distribution
from sim.workload.distributions import at_quantile
from sim.workload.learned import quantiles_at_least
from sim.workload.survival import kaplan_meier

__all__ = ["RuntimeFit", "fit_runtimes"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_MOST_COMPONENTS = 4
"""Log-normals of a mixture at most."""
_TABLES = (8, 16, 32, 64)
"""Equal shares of the tables that are tried ..."""
_TAILS = (0.01, 0.02, 0.05, 0.1, 0.9, 0.95, 0.98, 0.99, 0.995)
"""... with these probabilities besides."""
_FAR_TAILS = (0.998, 0.999, 0.9995, 0.9998, 0.9999)
"""Taken where five times or more lie beyond: one cell to the longest time would reach too far."""
_FEWEST_A_CELL = 5
"""Complete runs of a cell at least."""
_STEPS = 400
"""Steps of expectation and maximisation at most."""
_NARROWEST = 0.02
"""Least spread of a component: two per cent; below, the likelihood runs away on a repeated time."""
_REPEATED, _TENTH = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99), 0.1
_FEWEST_TO_REPEAT = 200
"""Of so many complete runs a fit must repeat these quantiles within a tenth, whatever its criterion."""
_RESOLUTION = 0.5
"""Seconds: records are whole seconds, so no cell of a table is narrower than that."""
_LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, slots=True)
class RuntimeFit:
    """What was found for one kind."""

    quantity: Distribution
    form: str
    """Such as `2 log-normals` or `32 quantiles`."""
    bic: float
    jobs: int
    cut: int
    """Of these jobs, those whose run was cut by the end of the record."""


def fit_runtimes(seconds: Floats, complete: Flags) -> RuntimeFit:
    """Fit run times above 0, seconds, shape (n,); `complete` is False where a run was cut.

    Raises ValueError without a complete run.
    """
    if not complete.any():
        msg = "run times cannot be learned: no run is complete"
        raise ValueError(msg)
    jobs, cut = len(seconds), int((~complete).sum())
    found = [
        RuntimeFit(quantity, form, bic, jobs, cut)
        for quantity, form, bic in (*_mixtures(seconds, complete), *_tables(seconds, complete))
    ]
    near = [one for one in found if _repeats(one.quantity, seconds, complete)]
    return min(near or found, key=lambda one: one.bic)


def _repeats(quantity: Distribution, seconds: Floats, complete: Flags) -> bool:
    """Whether the quantiles that many records show well are repeated; of few records any may do."""
    if complete.sum() < _FEWEST_TO_REPEAT:
        return True
    at = np.array(_REPEATED)
    curve = kaplan_meier(seconds, complete)
    shown = np.quantile(seconds, at) if complete.all() else curve.quantiles(at)
    known = np.isfinite(shown)
    ratio = at_quantile(quantity, at[known]) / shown[known]
    return bool((np.abs(np.log(ratio)) <= math.log1p(_TENTH)).all())


# --- mixtures -------------------------------------------------------------------------------


def _mixtures(seconds: Floats, complete: Flags) -> list[tuple[Distribution, str, float]]:
    logs, weight, cut_logs, cut_weight = _counted(seconds, complete)
    penalty = math.log(len(seconds))
    found = []
    most = min(_MOST_COMPONENTS, max(1, int(complete.sum()) // 10))
    for count in range(1, most + 1):
        share, mu, sigma, likelihood = _mix(logs, weight, cut_logs, cut_weight, count)
        parts = sorted(zip(np.exp(mu).tolist(), share.tolist(), sigma.tolist(), strict=True))
        shape = Mixture(
            components=tuple(
                Component(weight=_round(w), median=_round(m), sigma=_round(s))
                for m, w, s in parts
                if w > 1e-6
            )
        )
        name = f"{count} log-normal{'s' if count > 1 else ''}"
        top = float(f"{seconds.max():.6g}")
        bound = top if not len(cut_logs) else None
        quantity = Distribution(mixture=shape, min=_least(seconds), max=bound)
        found.append((quantity, name, penalty * (3 * count - 1) - 2 * likelihood))
    return found


def _least(seconds: Floats) -> float:
    return float(f"{seconds.min():.6g}")


def _counted(seconds: Floats, complete: Flags) -> tuple[Floats, Floats, Floats, Floats]:
    """Logarithms, each once, with how often they were met; complete and cut."""
    logs, weight = np.unique(np.log(seconds[complete]), return_counts=True)
    cut, cut_weight = np.unique(np.log(seconds[~complete]), return_counts=True)
    if len(logs) > 4000:  # a bin of the histogram is far narrower than any component
        edges = np.linspace(logs[0], logs[-1], 2001)
        cell = np.clip(np.searchsorted(edges, logs, side="right") - 1, 0, 1999)
        whole = np.bincount(cell, weight, 2000)
        centre = np.bincount(cell, weight * logs, 2000)
        logs, weight = centre[whole > 0] / whole[whole > 0], whole[whole > 0]
    return logs, weight.astype(float), cut, cut_weight.astype(float)


def _mix(
    logs: Floats, weight: Floats, cut: Floats, cut_weight: Floats, count: int
) -> tuple[Floats, Floats, Floats, float]:
    """Shares, means, spreads and log-likelihood by expectation and maximisation.

    It starts from equal slices of the sorted logarithms, so that the same data give the same fit.
    """
    whole = np.concatenate([weight, cut_weight])
    reached = np.cumsum(weight) / weight.sum()
    slices = np.minimum((reached * count - 1e-9).astype(int), count - 1)
    mu = np.array([np.average(logs[slices == j], weights=weight[slices == j]) if (slices == j).any()
                   else logs[len(logs) * j // count] for j in range(count)])  # fmt: skip
    spread = max(
        float(np.sqrt(np.average((logs - np.average(logs, weights=weight)) ** 2, weights=weight))), 0.1
    )
    share, sigma = np.full(count, 1 / count), np.full(count, spread / count)
    likelihood = -math.inf
    for _ in range(_STEPS):
        z = (logs[:, None] - mu) / sigma
        seen = np.log(share) - 0.5 * z**2 - np.log(sigma) - 0.5 * _LOG_2PI
        alpha = (cut[:, None] - mu) / sigma
        longer = np.log(share) + log_ndtr(-alpha)
        joined = np.concatenate([seen, longer])
        each = logsumexp(joined, axis=1)
        reached_now = float(whole @ each)
        if reached_now - likelihood < 1e-7 * abs(reached_now):
            likelihood = reached_now
            break
        likelihood = reached_now
        belongs = np.exp(joined - each[:, None]) * whole[:, None]
        # Means of what a cut run may still become: a normal above its cut.
        hazard = np.exp(-0.5 * alpha**2 - 0.5 * _LOG_2PI - log_ndtr(-alpha))
        first = np.concatenate([np.broadcast_to(logs[:, None], seen.shape), mu + sigma * hazard])
        mass = belongs.sum(axis=0) + 1e-12
        new = (belongs * first).sum(axis=0) / mass
        square = np.concatenate([
            (logs[:, None] - new) ** 2,
            sigma**2 * (1 + alpha * hazard - hazard**2) + (mu + sigma * hazard - new) ** 2,
        ])  # fmt: skip
        sigma = np.maximum(np.sqrt((belongs * square).sum(axis=0) / mass), _NARROWEST)
        mu, share = new, mass / mass.sum()
    return share, mu, sigma, likelihood


# --- tables ---------------------------------------------------------------------------------


def _tables(seconds: Floats, complete: Flags) -> list[tuple[Distribution, str, float]]:
    """Tables of 8 to 64 equal shares; coarse ones only where records are few."""
    found = []
    for cells in _TABLES:
        if cells * _FEWEST_A_CELL > complete.sum():
            break
        even = np.linspace(0, 1, cells + 1)
        far = [p for p in _FAR_TAILS if (1 - p) * complete.sum() >= _FEWEST_A_CELL]
        at = np.unique(np.round(np.concatenate([even, _TAILS, far]), 6))
        table = _table(seconds, complete, at)
        likelihood = _table_likelihood(table, seconds, complete)
        # probabilities are set; the values between the ends are learned
        bic = math.log(len(seconds)) * (len(at) - 2) - 2 * likelihood
        found.append((Distribution(quantiles=table), f"{len(at)} quantiles", bic))
    return found


def _table(seconds: Floats, complete: Flags, at: Floats) -> Quantiles:
    """Quantiles by Kaplan and Meier where runs were cut; a time never reached is the longest seen."""
    if complete.all():
        values = np.quantile(seconds, at)
    else:
        curve = kaplan_meier(seconds, complete)
        values = np.nan_to_num(curve.quantiles(at), nan=curve.longest)
        values[0] = seconds[complete].min()
        values = np.maximum.accumulate(values)
    return Quantiles(at=tuple(at.tolist()), values=tuple(float(f"{value:.6g}") for value in values.tolist()))


def _table_likelihood(table: Quantiles, seconds: Floats, complete: Flags) -> float:
    at, values = np.array(table.at), np.array(table.values)
    low, high = values[:-1], values[1:]
    middle = np.sqrt(low * high)
    # A cell of one repeated time is as wide as the resolution of the record.
    width = np.maximum(np.log(high) - np.log(low), np.log1p(2 * _RESOLUTION / middle))
    density = np.log(np.diff(at)) - np.log(width)
    seen = seconds[complete]
    first = np.clip(np.searchsorted(values, seen, side="left") - 1, 0, len(low) - 1)
    last = np.clip(np.searchsorted(values, seen, side="right") - 1, 0, len(low) - 1)
    # A time that is the border of cells belongs to the densest of them.
    total = float(np.maximum(density[first], density[np.maximum(first, last)]).sum())
    if not complete.all():
        longer = np.maximum(quantiles_at_least(table, seconds[~complete]), 1e-12)
        total += float(np.log(longer).sum())
    return total


def _round(value: float) -> float:
    return float(f"{value:.5g}")
