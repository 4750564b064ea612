"""What a comparison has beside its figures: several strategies at once, uncertain inputs, a steady state.

Nouns, and what the JSON document says of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sim.experiments.sample import Sample
from sim.experiments.statistics import Interval
from sim.experiments.variance_parts import Parts
from sim.experiments.wording import span
from sim.model.said import said
from sim.units import HOUR, Micros

__all__ = ["AtOnce", "InputDoubt", "InputDrawn", "Split", "Standing", "Steady"]

Standing = Literal["best", "not best", "open"]


@dataclass(frozen=True, slots=True)
class AtOnce:
    """One strategy against the best of the others in one metric."""

    strategy: str
    metric: str
    interval: Interval
    """Its mean less that of the best of the others; all strategies' hold at once."""
    standing: Standing
    """`open`: the interval holds 0, or there is none."""

    def to_json(self, unit: str) -> dict[str, Any]:
        """One entry of `at_once` in the document of a comparison."""
        found = self.interval
        return {
            "strategy": self.strategy, "metric": self.metric, "mean": found.mean, "low": found.low,
            "high": found.high, "n": found.n, "unit": unit, "standing": self.standing,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class InputDrawn:
    """One uncertain input."""

    key: str
    means: str
    """What a number of it means; empty for a key of the scenario."""
    distribution: str
    base: str
    """As the file has it; empty where it says nothing."""
    first: str
    """In replication 0, whose jobs and ledger are shown."""
    source: str | None
    """None: the distribution is an assumption."""


@dataclass(frozen=True, slots=True)
class Split:
    """What is not sure of one metric of one strategy, in the unit of the metric."""

    strategy: str
    less: str | None
    """The strategy that it is set against; None: the metric itself."""
    metric: str
    mean: float
    low: float
    """5 % of the replications are below."""
    high: float
    """5 % are above."""
    parts: Parts


@dataclass(frozen=True, slots=True)
class InputDoubt:
    """The uncertain inputs of a comparison, and what they make unsure."""

    inputs: tuple[InputDrawn, ...]
    splits: tuple[Split, ...]
    pairs: int
    draws: tuple[Mapping[str, float | str], ...]
    """The inputs of each replication, in order; empty in a comparison that was read again."""
    twins: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    """Strategy -> the twins of its replications, in order; empty as above."""

    @property
    def method(self) -> str:
        """How the parts were found."""
        return (
            f"{self.pairs} pairs of runs with the same inputs and different luck, one-way analysis of "
            "variance (law of total variance; Sun, Apley and Staum, 2011)"
        )

    def to_json(self, units: Mapping[str, str]) -> dict[str, Any]:
        """The entry `uncertain` in the document of a comparison. `units`: metric -> its unit."""
        return {
            "inputs": [
                {
                    "key": one.key, "means": one.means or None, "distribution": one.distribution,
                    "base": one.base or None, "replication_0": one.first, "source": one.source,
                }
                for one in self.inputs
            ],
            "pairs": self.pairs,
            "method": self.method,
            "splits": [
                {
                    "strategy": one.strategy, "less": one.less, "metric": one.metric,
                    "unit": units.get(one.metric, ""), "mean": one.mean, "p5": one.low, "p95": one.high,
                    "luck_standard_deviation": one.parts.luck, "input_standard_deviation": one.parts.inputs,
                    "input_share": one.parts.share, "input_share_low": one.parts.low,
                    "input_share_high": one.parts.high, "pairs": one.parts.pairs,
                }
                for one in self.splits
            ],
        }  # fmt: skip

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> InputDoubt:
        """What `to_json` wrote. KeyError or TypeError for anything else."""
        return cls(
            tuple(
                InputDrawn(one["key"], one["means"] or "", one["distribution"], one["base"] or "",
                           one["replication_0"], one["source"])
                for one in found["inputs"]
            ),
            tuple(
                Split(one["strategy"], one["less"], one["metric"], one["mean"], one["p5"], one["p95"],
                      Parts(one["luck_standard_deviation"], one["input_standard_deviation"],
                            one["input_share"], one["input_share_low"], one["input_share_high"],
                            one["pairs"]))
                for one in found["splits"]
            ),
            found["pairs"],
            (),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Steady:
    """How the steady state was read."""

    warm_up_us: Micros
    by_rule: bool
    """Found by MSER-5; else given."""
    batches: int
    jobs: int
    """Jobs of a batch; the fewest of the strategies where these have different jobs."""
    alike: Mapping[str, float | None]
    """Strategy -> correlation of the mean waits of neighbouring batches; None where they do not vary."""
    alike_cost: Mapping[str, float | None] = field(default_factory=dict)
    """The same of the cost of neighbouring periods; None too where it is known before the run."""

    @property
    def text(self) -> str:
        """How it was done, in one sentence."""
        how = said("MSER-5, the longest of the strategies") if self.by_rule else said("given")
        long = span(self.warm_up_us / HOUR)
        return said(
            "Steady state of one run of each strategy: warm-up of {wait} ({how}), then {batches} batches of "
            "{jobs} jobs, whose waits are the sample. Cost: {batches2} periods of equal length, whose cost a "
            "day is the sample; what leases cost is known before the run, so that fixed leases alone have an "
            "interval without width. Cash, costs by the job and use of cards are those of the whole run, of "
            "which there is one.",
            wait=long,
            how=how,
            batches=self.batches,
            jobs=f"{self.jobs:,}",
            batches2=self.batches,
        )

    def to_json(self) -> dict[str, Any]:
        """The entry `steady_state` in the document of a comparison."""
        return {
            "warm_up_h": self.warm_up_us / HOUR,
            "warm_up_by": "MSER-5" if self.by_rule else "scenario",
            "batches": self.batches,
            "jobs_a_batch": self.jobs,
            "correlation_of_neighbours": dict(self.alike),
            "correlation_of_neighbouring_costs": dict(self.alike_cost),
        }

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Steady:
        """What `to_json` wrote."""
        return cls(
            round(found["warm_up_h"] * HOUR), found["warm_up_by"] == "MSER-5", found["batches"],
            found["jobs_a_batch"], found["correlation_of_neighbours"],
            found.get("correlation_of_neighbouring_costs", {}),
        )  # fmt: skip
