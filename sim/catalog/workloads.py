"""Workloads of published clusters: their summaries, and the timed class that meets each of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Literal

from pydantic import Field

from sim.catalog.reading import Document, read_yaml, validated
from sim.model.base import Strict
from sim.model.ends import EndPreset
from sim.model.timed import JobEnd, TimedClass, TimedKind
from sim.model.values import Distribution, LogNormalShape, Rate

__all__ = ["ClusterSummary", "JobMix", "preset_class", "workload_presets"]

_BATCH = 3.0
"""Mean jobs of a batch of a published cluster, geometric (assumed: the summaries say nothing of batches)."""
_STATES: tuple[JobEnd, ...] = ("done", "cancelled", "failed")


class RunTimes(Strict):
    """Published run times of GPU jobs, seconds."""

    mean: float = Field(gt=0)
    median: float = Field(gt=0)
    longest: float = Field(gt=0)


class Cards(Strict):
    """Published cards of GPU jobs."""

    mean: float = Field(ge=1)
    most: int = Field(ge=1)


class States(Strict):
    """Shares of the final states of GPU jobs."""

    done: float = Field(gt=0, le=1)
    cancelled: float = Field(default=0.0, ge=0, le=1)
    failed: float = Field(default=0.0, ge=0, le=1)


class ClusterSummary(Strict):
    """What is published of a cluster's GPU jobs."""

    name: str
    description: str
    source: str
    runtime_s: RunTimes
    cards: Cards
    by_count: States = States(done=1)
    """Shares of jobs; default: the summary tells no states, and all count as done."""
    by_gpu_time: States = States(done=1)
    """Shares of card-time."""


class JobMix(Strict):
    """Kinds of jobs written out."""

    name: str
    description: str
    source: str
    runtime_gpu: str
    team: str
    ends: EndPreset
    kinds: tuple[TimedKind, ...]


@functools.cache
def workload_presets() -> Mapping[str, ClusterSummary | JobMix]:
    """The carried presets by name."""
    file = resources.files("sim.catalog").joinpath("workloads.yaml")
    document = read_yaml(file.read_text(encoding="utf-8"), "workloads.yaml")
    return {**_entries(document, "clusters", ClusterSummary), **_entries(document, "mixes", JobMix)}


def _entries(
    document: Document, key: Literal["clusters", "mixes"], kind: type[ClusterSummary] | type[JobMix]
) -> dict[str, ClusterSummary | JobMix]:
    return {
        name: validated(kind, {"name": name, **entry}, document, (key, name))
        for name, entry in document.data[key].items()
    }


def preset_class(preset: ClusterSummary | JobMix, rate: Rate) -> TimedClass:
    """The class of jobs of a preset, with this many jobs per unit of time."""
    together = Distribution.model_validate({"geometric": {"mean": _BATCH}})
    if isinstance(preset, JobMix):
        return TimedClass(
            name=preset.name,
            rate=rate,
            profile="office-hours",
            kinds=preset.kinds,
            runtime_gpu=preset.runtime_gpu,
            team=preset.team,
            ends=preset.ends,
        )
    return TimedClass(
        name=preset.name, rate=rate, profile="office-hours", batch_size=together, kinds=_kinds(preset)
    )


def _kinds(summary: ClusterSummary) -> tuple[TimedKind, ...]:
    """One kind a number of cards and final state."""
    times = _run_times(summary)
    return tuple(
        TimedKind(share=share * getattr(summary.by_count, state), gpus=gpus, runtime_s=time, state=state)
        for gpus, share in _widths(summary.cards).items()
        for state, time in times.items()
    )


def _widths(cards: Cards) -> dict[int, float]:
    """Shares of powers of two that fall by one factor each and have the published mean."""
    counts = [1 << power for power in range(cards.most.bit_length())]

    def shares(factor: float) -> list[float]:
        weights = [factor**power for power in range(len(counts))]
        return [weight / math.fsum(weights) for weight in weights]

    def excess(factor: float) -> float:
        mean = math.fsum(n * share for n, share in zip(counts, shares(factor), strict=True))
        return mean - cards.mean

    if len(counts) == 1:
        return {1: 1.0}
    return dict(zip(counts, shares(_root(excess, 1e-9, 1.0)), strict=True))


def _run_times(summary: ClusterSummary) -> dict[JobEnd, Distribution]:
    """Log-normal run times by final state, cut at the longest: each state has the mean that its share of
    GPU time asks for, and all together the published median (one spread for all)."""
    times, counts, spent = summary.runtime_s, summary.by_count, summary.by_gpu_time
    states = [state for state in _STATES if getattr(counts, state) > 0]
    whole = math.fsum(getattr(counts, state) for state in states)
    used = math.fsum(getattr(spent, state) for state in states)
    part = {state: getattr(counts, state) / whole for state in states}
    means = {state: times.mean * getattr(spent, state) / used / part[state] for state in states}

    def medians(sigma: float) -> dict[JobEnd, float]:
        return {state: _median(means[state], sigma, times.longest) for state in states}

    def above(sigma: float) -> float:
        at = medians(sigma)
        below = (part[s] * _normal(math.log(times.median / at[s]) / sigma) for s in states)
        return math.fsum(below) - 0.5

    sigma = _root(above, 0.05, 4.0)
    return {
        state: Distribution(
            lognormal=LogNormalShape(median=float(f"{median:.5g}"), sigma=float(f"{sigma:.5g}")),
            max=times.longest,
        )
        for state, median in medians(sigma).items()
    }


def _median(mean: float, sigma: float, longest: float) -> float:
    """Median of a log-normal that is cut at `longest` and then has this mean."""

    def excess(log_median: float) -> float:
        top = (math.log(longest) - log_median) / sigma
        inside = math.exp(log_median + sigma**2 / 2) * _normal(top - sigma)
        return inside + longest * (1 - _normal(top)) - mean

    return math.exp(_root(excess, math.log(mean) - sigma**2 / 2 - 1, math.log(longest)))


def _normal(value: float) -> float:
    return 0.5 * math.erfc(-value / math.sqrt(2))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # here: only a scenario with a preset needs it

    return float(brentq(function, low, high, xtol=1e-12))
