"""Search on a ladder: fleets in order of size, each taken to serve no worse than the one below it.

A rung is judged by replications until it is known whether it meets the target. Because larger fleets of
the same kind serve better, the lowest rung that does is found by halving, not by trying each; that they
do is an assumption, and the neighbours of the answer are judged, not assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sim.experiments.comparison import Condition
from sim.experiments.runs import Runs
from sim.experiments.selection import ConstrainedSelection, Observation
from sim.experiments.stopping import AHEAD, limits_of, quantities
from sim.model.experiment import Selection

__all__ = ["Judge", "Judgement", "lowest"]

Standing = Literal["meets", "misses", "unsure"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a strategy meets the target."""

    standing: Standing
    """`unsure`: the budget was spent in doubt."""
    meets: bool
    """By the means, where unsure."""
    replications: int
    means: tuple[float | None, ...]
    """Of the target's metrics, in their order."""


@dataclass(slots=True)
class Judge:
    """Judges strategies of one question, each once."""

    runs: Runs
    conditions: Sequence[Condition]
    rule: Selection
    """`confidence` is that of one judgement."""
    found: dict[int, Judgement] = field(default_factory=dict)

    def of(self, strategy: int, note: str = "") -> Judgement:
        """Simulate a strategy until it is known whether it meets every line of the target."""
        if strategy not in self.found:
            self.found[strategy] = self._judge(strategy, note)
        return self.found[strategy]

    def _judge(self, strategy: int, note: str) -> Judgement:
        rule = self.rule
        procedure = ConstrainedSelection(
            1, limits_of(self.conditions, rule), 1.0, rule.confidence, rule.first
        )
        ahead = rule.first
        while procedure.wanted and procedure.replications(0) < rule.most:
            number = procedure.replications(0)
            if (strategy, number) not in self.runs.made:
                last = min(number + ahead, rule.most)
                self.runs.ask([(strategy, n) for n in range(number, last)], note=note)
                ahead = AHEAD
            sample = self.runs.ask([(strategy, number)])[0]
            procedure.tell({0: Observation(0.0, quantities(sample, self.conditions))})
        means = self._means(strategy, procedure.replications(0))
        standing: Standing = "unsure"
        if procedure.done:
            standing = "meets" if procedure.standing[0] == "feasible" else "misses"
        meets = standing == "meets" or (standing == "unsure" and self._meet(means))
        return Judgement(standing, meets, procedure.replications(0), means)

    def _means(self, strategy: int, number: int) -> tuple[float | None, ...]:
        samples = self.runs.ask([(strategy, n) for n in range(number)])
        found: list[float | None] = []
        for condition in self.conditions:
            values = [sample.metrics.get(condition.metric) for sample in samples]
            known = [value for value in values if value is not None]
            found.append(sum(known) / len(known) if known else None)
        return tuple(found)

    def _meet(self, means: Sequence[float | None]) -> bool:
        return all(
            mean is None or (mean >= line.limit if line.at_least else mean <= line.limit)
            for mean, line in zip(means, self.conditions, strict=True)
        )


def lowest(judge: Judge, rungs: Sequence[int], note: str = "") -> int | None:
    """Position of the lowest rung that meets the target; None if the highest does not.

    `rungs` are strategies from the smallest fleet to the largest. The highest is judged first: if it
    misses, so do all.
    """
    if not rungs or not judge.of(rungs[-1], note).meets:
        return None
    low, high = 0, len(rungs) - 1
    while low < high:
        middle = (low + high) // 2
        if judge.of(rungs[middle], note).meets:
            high = middle
        else:
            low = middle + 1
    return high
