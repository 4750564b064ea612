"""How one run is made: the seam at which tests put runs made by hand, and studies their turned inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sim.load import Question
from sim.replication import RunResult, prepare, replicate

__all__ = ["Flow"]


@dataclass(frozen=True, slots=True)
class Flow:
    """The two steps of a run."""

    prepare: Callable[[Question], Any] = prepare
    replicate: Callable[[Any, int, int, int | None], RunResult] = replicate
