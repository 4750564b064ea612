"""The profile `measured`: memory and speed by the forms that were fitted to published runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.physics.cases import Case, Cases, cases_of
from sim.physics.constants import Constants
from sim.physics.memory import card_memory
from sim.physics.prediction import Answer, Ask, Prediction, Refused
from sim.physics.split import Split
from sim.physics.splits import splits_of
from sim.physics.support import memory_support, speed_support
from sim.physics.task import Task
from sim.physics.throughput import step_time

__all__ = ["Measured", "case_of"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A predictor with the constants that it uses."""

    constants: Constants

    def __call__(self, asks: Sequence[Ask]) -> list[Answer]:
        """All ways of all questions in one table; memory with full samples, speed with padded ones."""
        ways = [splits_of(ask.task, ask.layout) for ask in asks]
        owners = [index for index, (possible, _) in enumerate(ways) for _ in possible]
        splits = [split for possible, _ in ways for split in possible]
        impossible = [tuple(Refused(other.split.name, other.reason) for other in none) for _, none in ways]
        if not splits:
            return [Answer((), refused) for refused in impossible]
        cases = cases_of([case_of(asks[owner], split) for owner, split in zip(owners, splits, strict=True)])
        predictions = self._predict(asks, owners, splits, cases)
        found: list[list[Prediction]] = [[] for _ in asks]
        for owner, prediction in zip(owners, predictions, strict=True):
            found[owner].append(prediction)
        return [Answer(tuple(own), refused) for own, refused in zip(found, impossible, strict=True)]

    def _predict(
        self, asks: Sequence[Ask], owners: Sequence[int], splits: Sequence[Split], cases: Cases
    ) -> list[Prediction]:
        memory = card_memory(cases, self.constants.memory)
        host = np.array([_host(asks[owner]) for owner in owners])
        steps = step_time(cases, self.constants.speed, host_tokens_per_s=host)
        by_memory, by_speed = memory_support(cases), speed_support(cases)
        reserves = np.where(by_memory == "extrapolated", self.constants.memory.extrapolated_reserve, 0.0)
        totals, speeds, limits = memory.total, steps.tokens_per_s, steps.limited_by
        found = []
        for row, (owner, split) in enumerate(zip(owners, splits, strict=True)):
            lengths = asks[owner].lengths
            computed = float(speeds[row])
            # A sample takes its padded places, or the share of a place that packing leaves it.
            per_sample = lengths.padded / lengths.per_slot / computed if computed > 0 else np.inf
            found.append(
                Prediction(
                    split=split,
                    memory_gib=float(totals[row]),
                    has_gib=asks[owner].gpu.usable_gib,
                    seconds_per_sample=per_sample,
                    tokens_per_s=lengths.useful / per_sample,
                    support=str(by_speed[row]),
                    limited_by=str(limits[row]),
                    parts=memory.parts(row),
                    memory_support=str(by_memory[row]),
                    reserve_gib=float(reserves[row]) * asks[owner].gpu.usable_gib,
                )
            )
        return found


def _host(ask: Ask) -> float:
    """Computed places a second that the host can fill: padding costs it nothing."""
    if ask.host_tokens_per_s is None:
        return float("inf")
    return ask.host_tokens_per_s * ask.lengths.padded / (ask.lengths.useful * ask.lengths.per_slot)


def case_of(ask: Ask, split: Split) -> Case:
    """The case of one way.

    Cards that share a group take micro-steps in its place, so that an optimiser step sees as many
    samples as under data parallel over the same cards.
    """
    recipe = ask.task.recipe
    group = split.tensor * split.pipeline
    task: Task = ask.task
    if group > 1:
        task = replace(task, recipe=replace(recipe, accumulation=recipe.accumulation * group))
    return Case(task, split, ask.layout, ask.gpu, ask.lengths.padded)
