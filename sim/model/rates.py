"""What physics answered before the run: does a shape fit an offer, and how fast does it run there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sim.model.sharing import SliceSpec
from sim.units import Micros

__all__ = ["Misfit", "RateTable", "RunOption", "Support"]

Support = str
"""`measured`, `interpolated`, `extrapolated`, `vendor` (an article's own figure) or `recorded` (trace)."""


@dataclass(frozen=True, slots=True)
class RunOption:
    """One way to run a shape on the cards of an offer."""

    gpus: int
    spans: bool
    """True: the cards stand in more than one machine; False: all in one machine."""
    split: str
    """How the job is divided: `one card`, `data parallel`, `zero-3`, `recorded`."""
    startup_us: Micros
    """From start to the first training step: container, imports, model load, warm-up."""
    restart_us: Micros
    """The same after an interruption."""
    us_per_work: float
    """Microseconds of running per unit of `Job.work`, without start-up and checkpoints."""
    checkpoint_us: Micros
    """Time that one checkpoint takes."""
    stage_us: Micros = 0
    """Time to fetch the base model to a machine that has never held it; before start-up."""
    stage_key: str | None = None
    """What is fetched; machines keep it while their disk lives."""
    memory_gib: float | None = None
    """Predicted peak per card, GiB."""
    tokens_per_s: float | None = None
    """Useful tokens a second over all cards (padding is not useful)."""
    support: Support = "recorded"
    memory_support: Support = "recorded"
    """How well `memory_gib` is supported, as `support` says it of the speed."""
    speed_noise: float = 0.0
    """Standard deviation of the logarithm of the running time from job to job; its mean stays."""
    limited_by: str = ""
    """What limits the speed: `compute`, `launch`, `dequantisation`, `network`, ..."""
    demand: Fraction | None = None
    """Busy share of the card by the job alone on it; None: the job has its card for itself."""
    part: SliceSpec | None = None
    """MIG slice on which the job runs; None: whole cards."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a shape runs on no number of cards of an offer."""

    reason: str
    """A sentence for people."""
    needs_gib: float | None = None
    """Memory per card that the best split would need, GiB."""
    has_gib: float | None = None
    """Memory per card that there is, GiB."""

    @property
    def shortfall_gib(self) -> float | None:
        """GiB missing per card, or None where memory is not the reason."""
        if self.needs_gib is None or self.has_gib is None:
            return None
        return max(0.0, self.needs_gib - self.has_gib)


@dataclass(frozen=True, slots=True)
class RateTable:
    """Shape x offer -> ways to run. A pair is in `options` or in `misfits`, never in both.

    Options of one pair are sorted by `gpus`, then one machine before several. For `auto` the
    engine takes the smallest count that fits; a list is taken in the order the user wrote.
    """

    options: Mapping[tuple[int, str], tuple[RunOption, ...]] = field(default_factory=dict)
    misfits: Mapping[tuple[int, str], Misfit] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Assumptions and warnings about the figures."""
