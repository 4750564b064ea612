"""What goes to the worker process and what comes back, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from sim.measure.case import Case
from sim.model.base import Strict
from sim.model.hardware import LanguageModel

__all__ = [
    "OUTCOME",
    "WARMUP_STEPS",
    "Device",
    "Done",
    "Failed",
    "Order",
    "OutOfMemory",
    "Outcome",
    "Settings",
]

Device = Literal["cuda", "cpu"]
"""Where the steps run: torch's names."""

WARMUP_STEPS = 3
"""Steps before the clock counts: kernels are chosen and the optimiser's state is made in them."""


class Settings(Strict):
    """How cases are measured, the same for all of a call."""

    device: Device = "cuda"
    steps: int = Field(default=8, ge=1)
    """Steps that are timed."""
    warmup: int = Field(default=WARMUP_STEPS, ge=1)
    """Steps before them; memory is watched in these too."""


class Order(Strict):
    """One case for the worker, with all that it needs to know."""

    case: Case
    model: LanguageModel
    settings: Settings


class Done(Strict):
    """A case that ran."""

    outcome: Literal["done"] = "done"
    peak_gib: float | None
    """Most memory held at once, GiB; None where the system does not tell."""
    allocated_gib: float | None = None
    """The part of it in live tensors, GiB; None on a CPU, where torch does not count."""
    mem_kind: str
    """How the peak was counted: `reserved(max)` on a card, `cpu(rss)` on a CPU."""
    step_s: Annotated[tuple[float, ...], Field(min_length=1)]
    """Seconds of each timed step: forward, backward and optimiser."""
    first_loss: float
    """Loss of the first step, nats a token; near ln(vocabulary) with random weights."""
    trained_params: int
    """Parameters that were trained."""
    versions: Mapping[str, str]
    """Library -> version."""
    remarks: tuple[str, ...] = ()
    """What a reader of the row should know besides."""


class OutOfMemory(Strict):
    """A case that the card could not hold."""

    outcome: Literal["oom"] = "oom"
    message: str


class Failed(Strict):
    """A case that ended in another way; it leaves no row and is tried again by the next call."""

    outcome: Literal["failed"] = "failed"
    message: str


Outcome = Done | OutOfMemory | Failed

OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Annotated[Outcome, Field(discriminator="outcome")])
"""Reads what the worker wrote."""
