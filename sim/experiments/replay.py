"""The past again: recorded waits beside those that the simulator gives for the same jobs.

Only where the fleet and the order of the queue are those of the record can the two be alike; then the
distance between them says how far a what-if may be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sim.experiments.waits import waits_on
from sim.load import Question
from sim.replication import prepare, replicate
from sim.workload.goodness import sample_of
from sim.workload.record import Record

__all__ = ["Replay", "compared", "replay_on_cards", "replay_on_strategy"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Replay:
    """Recorded and simulated waits of the same jobs, hours, shape (n,), by time of submission."""

    fleet: str
    submit_h: Floats
    simulated_h: Floats
    recorded_h: Floats
    """NaN where the record has no wait."""

    @property
    def known(self) -> int:
        """Jobs with a recorded wait."""
        return int((~np.isnan(self.recorded_h)).sum())

    def pairs(self) -> tuple[Floats, Floats]:
        """Recorded and simulated waits of the jobs that have both."""
        both = ~np.isnan(self.recorded_h) & ~np.isnan(self.simulated_h)
        return self.recorded_h[both], self.simulated_h[both]


@dataclass(frozen=True, slots=True)
class Distance:
    """How far simulated waits are from recorded ones."""

    jobs: int
    mean_recorded_h: float
    mean_simulated_h: float
    quantiles: Mapping[float, tuple[float, float]]
    """Probability -> recorded and simulated wait, hours."""
    kolmogorov_smirnov: float
    """Largest difference between the shares of jobs that waited at most so long; 0 to 1."""
    wasserstein_h: float
    """Mean shift, hours, that turns one distribution of waits into the other."""
    spearman: float | None
    """Rank correlation of the two waits of a job; None where all waits are alike."""


def compared(replay: Replay) -> Distance | None:
    """The distance; None where no wait is recorded."""
    from scipy.stats import ks_2samp, spearmanr, wasserstein_distance

    recorded, simulated = replay.pairs()
    if not len(recorded):
        return None
    varied = np.ptp(recorded) > 0 and np.ptp(simulated) > 0 and len(recorded) > 2
    pairs = zip(np.quantile(recorded, QUANTILES), np.quantile(simulated, QUANTILES), strict=True)
    return Distance(
        jobs=len(recorded),
        mean_recorded_h=float(recorded.mean()),
        mean_simulated_h=float(simulated.mean()),
        quantiles={q: (float(a), float(b)) for q, (a, b) in zip(QUANTILES, pairs, strict=True)},
        kolmogorov_smirnov=float(ks_2samp(recorded, simulated, method="asymp").statistic),
        wasserstein_h=float(wasserstein_distance(recorded, simulated)),
        spearman=float(spearmanr(recorded, simulated).statistic) if varied else None,
    )


def replay_on_cards(record: Record, cards: int, policy: str) -> Replay:
    """The jobs of a record on so many like cards without failures; each runs to its end."""
    return Replay(
        f"{cards:,} cards, {policy}",
        record.submit_s / 3600,
        waits_on(sample_of(record), cards, policy),
        record.columns.wait_s / 3600,
    )


def replay_on_strategy(question: Question, strategy: int, waits_s: Mapping[str, float]) -> Replay:
    """The first replication of a strategy; `waits_s` are recorded waits, seconds, by id of the job.

    A job that had not started at the horizon has its wait so far; refused ones have none.
    """
    result = replicate(prepare(question), strategy, 0)
    jobs = list(result.jobs.jobs)
    waits = {job.job: job.wait_us for job in result.log.jobs if job.state != "refused"}
    return Replay(
        result.strategy,
        np.array([job.submit_us for job in jobs]) / 3.6e9,
        np.array([waits.get(job.id, np.nan) for job in jobs], dtype=float) / 3.6e9,
        np.array([waits_s.get(job.name, np.nan) for job in jobs], dtype=float) / 3600,
    )
