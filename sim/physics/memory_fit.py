"""Fit of the memory constants to measured peaks: robust, and held to what was known before.

A framework's factors are free around those of all frameworks, so that a few rows of one do not carry
them far, and a framework that no row is from takes what the others have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.physics.cases import Cases, Flags, Floats
from sim.physics.memory import card_memory
from sim.physics.memory_constants import MemoryConstants
from sim.physics.robust import REACH, dampened

__all__ = ["BEFORE", "FREE", "NOISE", "fit_memory", "published_memory_prior"]

_STACKS = ("qwen", "ms-swift", "fsdp_qlora")

BEFORE: Mapping[str, tuple[float, float]] = {
    "common.state": (1.03, 0.03),
    "common.working": (1.2, 0.15),
    "common.fixed_gib": (0.5, 0.5),
    "quantised_output_bytes": (2.0, 0.3),
    "ragged": (1.5, 0.3),
    "ragged_slope": (0.3, 0.5),
    "allocated.working": (1.02, 0.05),
    "deepspeed_bytes": (0.8, 0.3),
    "zero3_gib": (6.7, 0.2),
    **{f"stacks.{name}.state": (1.03, 0.04) for name in _STACKS},
    **{f"stacks.{name}.working": (1.2, 0.2) for name in _STACKS},
    **{f"stacks.{name}.fixed_gib": (0.5, 0.7) for name in _STACKS},
    # Only these two trained on a quantised base with a card measured; plain bitsandbytes needs less.
    **{f"stacks.{name}.quantised_gib": (2.0, 0.5) for name in ("qwen", "ms-swift")},
}
"""Constants that published rows speak of: value and spread (standard deviation of the logarithm) before any
row is seen."""

FREE = tuple(BEFORE)
"""What the shipped fit frees."""

NOISE = 0.08
"""Standard deviation of a published peak around the form, as a logarithm."""


def fit_memory(
    cases: Cases,
    measured_gib: Floats,
    weights: Floats,
    prior: MemoryConstants,
    *,
    reported: Flags,
    free: Sequence[str] = FREE,
) -> MemoryConstants:
    """The constants that fit the rows best, `free` ones moved from the prior, others as they are.

    A row's residual is log(predicted / measured) / NOISE, dampened beyond one (soft L1), times the root
    of its weight; a constant's is its log distance from the prior in spreads, a framework's from the
    common one. Deterministic.
    """
    from scipy.optimize import least_squares  # here: slow to load, and only a calibration needs it

    measured, roots = np.log(measured_gib), np.sqrt(weights)
    spreads = np.array([BEFORE.get(name, (1.0, 0.1))[1] for name in free])
    start = np.array([value_of(prior, name) for name in free])
    parents = [_parent(name, free) for name in free]

    def constants_at(steps: Floats) -> MemoryConstants:
        logs = np.log(start) + steps * spreads
        for index, parent in enumerate(parents):
            if parent is not None:
                logs[index] += steps[parent] * spreads[parent]
        return with_values(prior, dict(zip(free, np.exp(logs), strict=True)))

    def residuals(steps: Floats) -> Floats:
        total = card_memory(cases, constants_at(steps), reported=reported).total
        off = (np.log(total) - measured) / NOISE
        return np.concatenate([roots * dampened(off), steps])

    found = least_squares(residuals, np.zeros(len(free)), bounds=(-REACH, REACH), xtol=1e-6, ftol=1e-6)
    return constants_at(found.x)


def _parent(name: str, free: Sequence[str]) -> int | None:
    """Position of the common constant that a framework's own follows."""
    parts = name.split(".")
    common = f"common.{parts[-1]}"
    return free.index(common) if parts[0] == "stacks" and common in free else None


def published_memory_prior() -> MemoryConstants:
    """The constants before any row is seen, which the shipped fit starts from."""
    blank = {"state": 1.03, "working": 1.2, "fixed_gib": 0.5}
    base = MemoryConstants.model_validate(
        {
            "common": blank,
            "stacks": dict.fromkeys(_STACKS, blank),
            "context_gib": 0.6,
            "link_gib": 0.5,
            "sharded_quantised_gib": 0.0,
            "quantised_output_bytes": 2.0,
            "ragged": 1.5,
            "ragged_slope": 0.3,
            "allocated": {"state": 1.0, "working": 1.02, "fixed_gib": 0.05},
            "deepspeed_bytes": 0.8,
            "zero3_gib": 6.7,
            "zero3_share": 2.0,
        }
    )
    return with_values(base, {name: value for name, (value, _) in BEFORE.items()})


def value_of(constants: MemoryConstants, name: str) -> float:
    """A constant by its name, with dots between the keys."""
    value: Any = constants.model_dump()
    for key in _path(name):
        value = value[key]
    return float(value)


def _path(name: str) -> tuple[str, ...]:
    """The keys of a name; that of a framework may have dots of its own."""
    section, _, rest = name.partition(".")
    return (section, *rest.rpartition(".")[::2]) if section == "stacks" else tuple(name.split("."))


def with_values(constants: MemoryConstants, values: Mapping[str, float]) -> MemoryConstants:
    """The same with some constants by name replaced. Raises ValidationError for a value out of bounds."""
    data: dict[str, Any] = constants.model_dump()
    for name, value in values.items():
        *path, last = _path(name)
        place = data
        for key in path:
            place = place[key]
        place[last] = float(value)
    return MemoryConstants.model_validate(data)
