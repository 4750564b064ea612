"""The profile `measured`: memory and speed by the forms that were fitted to published runs."""

from __future__ import annotations

from dataclasses import dataclass

from sim.model.hardware import Gpu
from sim.physics.constants import Constants
from sim.physics.lengths import Lengths
from sim.physics.memory import peak_memory
from sim.physics.prediction import Prediction
from sim.physics.support import support_of
from sim.physics.task import DATA_PARALLEL, ONE_CARD, ZERO3, Layout, Split, Task
from sim.physics.throughput import step_time

__all__ = ["Measured", "splits_of"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A predictor with the constants that it uses."""

    constants: Constants

    def __call__(self, task: Task, lengths: Lengths, gpu: Gpu, layout: Layout) -> tuple[Prediction, ...]:
        """One prediction a split; memory with full samples, speed with padded ones."""
        return tuple(self._predict(task, lengths, gpu, layout, split) for split in splits_of(layout))

    def _predict(self, task: Task, lengths: Lengths, gpu: Gpu, layout: Layout, split: Split) -> Prediction:
        parts = peak_memory(task, split, layout.gpus, self.constants.memory)
        step = step_time(task, lengths.padded, gpu, layout, split, self.constants)
        per_sample = step.total_s / (task.micro_batch * layout.gpus * lengths.per_slot)
        return Prediction(
            split=split,
            memory_gib=parts.total_gib,
            has_gib=gpu.usable_gib,
            seconds_per_sample=per_sample,
            tokens_per_s=lengths.useful / per_sample,
            support=support_of(task, gpu, layout, split),
            limited_by=step.limited_by,
            parts=parts,
        )


def splits_of(layout: Layout) -> tuple[Split, ...]:
    """The ways to divide a job over so many cards."""
    return (ONE_CARD,) if layout.gpus == 1 else (DATA_PARALLEL, ZERO3)
