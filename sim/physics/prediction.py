"""What a performance profile is asked, and what it answers: one prediction a way to split a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim.model.hardware import Gpu
from sim.model.rates import Support
from sim.physics.lengths import Lengths
from sim.physics.memory import MemoryParts
from sim.physics.task import Layout, Split, Task

__all__ = ["Prediction", "Predictor", "best"]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A job split in one way over the cards of one layout."""

    split: Split
    memory_gib: float
    """Peak of one card, GiB."""
    has_gib: float
    """What the card has for it, GiB."""
    seconds_per_sample: float
    """Of the whole job: all cards work on it together."""
    tokens_per_s: float
    """Useful tokens a second over all cards."""
    support: Support
    limited_by: str
    parts: MemoryParts | None = None
    """None where a source gives the sum alone."""

    @property
    def fits(self) -> bool:
        """Whether the peak stays within the card."""
        return self.memory_gib <= self.has_gib


Predictor = Callable[[Task, Lengths, Gpu, Layout], tuple[Prediction, ...]]
"""Predictions of every way to split the task over the layout, whether it fits or not."""


def best(predictions: tuple[Prediction, ...]) -> Prediction:
    """The fastest that fits; where none fits, the one that needs least. Ties go to the first."""
    fitting = [prediction for prediction in predictions if prediction.fits]
    if fitting:
        return max(fitting, key=lambda prediction: prediction.tokens_per_s)
    return min(predictions, key=lambda prediction: prediction.memory_gib)
