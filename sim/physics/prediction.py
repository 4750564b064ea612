"""What a performance profile is asked, and what it answers: one prediction a way to split a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sim.model.hardware import Gpu
from sim.model.rates import Support
from sim.physics.lengths import Lengths
from sim.physics.memory import MemoryParts
from sim.physics.split import Layout, Split
from sim.physics.task import Task

__all__ = ["Answer", "Ask", "Prediction", "Predictor", "Refused", "best", "refusals"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A job on the cards of one layout."""

    task: Task
    lengths: Lengths
    gpu: Gpu
    layout: Layout
    host_tokens_per_s: float | None = None
    """What the host can feed, tokens a second over all cards; None: no limit is known."""


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
    """How well the speed is supported by measurements."""
    limited_by: str
    parts: MemoryParts | None = None
    """None where a source gives the sum alone."""
    memory_support: Support = "extrapolated"
    """How well the memory is."""
    reserve_gib: float = 0.0
    """GiB kept free, because no published run is near and the peak may be higher than said."""

    @property
    def needs_gib(self) -> float:
        """The peak and what is kept free."""
        return self.memory_gib + self.reserve_gib

    @property
    def fits(self) -> bool:
        """Whether the peak stays within the card, with the reserve."""
        return self.needs_gib <= self.has_gib


@dataclass(frozen=True, slots=True)
class Refused:
    """A way to divide the job that was not taken, and why."""

    split: str
    reason: str
    memory_gib: float | None = None
    tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """All that a profile says to one question."""

    predictions: tuple[Prediction, ...]
    """Every way to divide the job over the cards, whether it fits or not; empty where none can be."""
    impossible: tuple[Refused, ...] = ()
    """Ways that cannot be, whatever the memory."""


class Predictor(Protocol):
    """A performance profile."""

    def __call__(self, asks: Sequence[Ask]) -> list[Answer]:
        """One answer a question, in its order."""
        ...


def best(predictions: Sequence[Prediction]) -> Prediction:
    """The fastest that fits; where none fits, the one that needs least. Ties go to the first."""
    fitting = [prediction for prediction in predictions if prediction.fits]
    if fitting:
        return max(fitting, key=lambda prediction: prediction.tokens_per_s)
    return min(predictions, key=lambda prediction: prediction.needs_gib)


_FAR_SLOWER = 1.5
"""From here on a way without room is also said to be slow."""


def refusals(answer: Answer) -> tuple[Refused, ...]:
    """The ways not taken, each with its reason: out of memory, slower, or impossible."""
    chosen = best(answer.predictions)
    found = []
    for other in answer.predictions:
        if other is chosen:
            continue
        times = chosen.tokens_per_s / other.tokens_per_s if other.tokens_per_s > 0 else 0.0
        slower = f"{times:.3g} times slower, limited by {other.limited_by}"
        if not other.fits:
            missing = other.needs_gib - other.has_gib
            reason = f"needs {other.needs_gib:.1f} GiB a card, {missing:.1f} too much"
            if chosen.fits and times > _FAR_SLOWER:
                reason += f", and would be {slower}"
        elif chosen.fits and other.tokens_per_s > 0:
            reason = slower
        else:
            reason = "its cards have no link"
        found.append(Refused(other.split.name, reason, other.memory_gib, other.tokens_per_s))
    return (*found, *answer.impossible)
