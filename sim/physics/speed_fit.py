"""Fit of the throughput constants to measured rows: robust, and held to what was known before.

Each free constant has a spread around its prior (of its logarithm). With many rows the rows decide, with
few the prior does: the same function serves the shipped fit and a user's own calibration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.physics.cases import Cases, Floats
from sim.physics.robust import REACH, dampened
from sim.physics.speed_constants import SpeedConstants
from sim.physics.throughput import step_time

__all__ = [
    "BEFORE",
    "FREE",
    "NOISE",
    "SECTION_SPREADS",
    "SPREADS",
    "fit_speed",
    "group_weights",
    "published_prior",
    "value_of",
    "with_values",
]

BEFORE: Mapping[str, tuple[float, float]] = {
    "efficiency": (0.80, 0.10),
    "half_width": (200.0, 0.7),
    "attention_efficiency": (0.5, 0.35),
    "activation_traffic": (2.5, 0.5),
    "adapter_traffic": (10.0, 0.4),
    "fp8_gain": (1.45, 0.1),
    "cards.H100-80G": (0.85, 0.15),
    "cards.RTX3090": (1.1, 0.15),
    "cards.RTX4090": (1.1, 0.15),
    "attention_cards.H100-80G": (0.6, 0.3),
    "stacks.hf": (1.0, 0.10),
    "stacks.optimized": (1.05, 0.10),
    "attention_stacks.optimized": (0.6, 0.3),
    "floor_s_per_layer": (0.0034, 0.3),
    "floor_fused": (0.6, 0.4),
    "floor_adapter": (0.5, 0.4),
    "floor_zero": (3.5, 0.3),
    "dequantise.gptq4": (8.7, 0.3),
    "overlap": (0.53, 0.3),
    "links.nvlink": (230.0, 0.15),
    "links.pcie4": (11.0, 0.2),
    "links.slow": (3.0, 0.3),
    "links.ib": (150.0, 0.4),
}
"""Constants that published rows speak of: value and spread (standard deviation of the logarithm) before any
row is seen. From recommended values, data sheets and counts of what a kernel reads and writes."""

SPREADS: Mapping[str, float] = {
    **{name: spread for name, (_, spread) in BEFORE.items()},
    "optimizer_cost": 0.3,
    "floor_plain": 0.1,
    "host_gb_s": 0.4,
}
"""Spread of constants by name; others take that of their section in SECTION_SPREADS."""

SECTION_SPREADS: Mapping[str, float] = {
    "cards": 0.15,
    "attention_cards": 0.3,
    "stacks": 0.10,
    "attention_stacks": 0.3,
    "dequantise": 0.3,
    "links": 0.3,
    "nvlink_scale": 0.15,
}

FREE = tuple(BEFORE)
"""What the shipped fit frees; a calibration may name fewer, or others that the prior has."""

NOISE = 0.08
"""Standard deviation of a published speed around the form, as a logarithm: sources differ by as much."""

_UPPER: Mapping[str, float] = {"efficiency": 0.9, "attention_efficiency": 0.8, "overlap": 1.0}


def fit_speed(
    cases: Cases,
    measured_tokens_per_s: Floats,
    weights: Floats,
    prior: SpeedConstants,
    free: Sequence[str] = FREE,
) -> SpeedConstants:
    """The constants that fit the rows best, `free` ones moved from the prior, others as they are.

    A row's residual is log(predicted / measured) / NOISE, dampened beyond one (soft L1), times the root
    of its weight; a constant's is its log distance from the prior in spreads. Deterministic.
    """
    from scipy.optimize import least_squares  # here: slow to load, and only a calibration needs it

    measured = np.log(measured_tokens_per_s)
    roots = np.sqrt(weights)
    spreads = np.array([_spread(name) for name in free])
    start = np.array([value_of(prior, name) for name in free])

    def residuals(steps: Floats) -> Floats:
        constants = with_values(prior, dict(zip(free, start * np.exp(steps * spreads), strict=True)))
        off = (np.log(step_time(cases, constants).tokens_per_s) - measured) / NOISE
        return np.concatenate([roots * dampened(off), steps])

    highest = np.array([np.log(_UPPER.get(name, np.inf) / at) for name, at in zip(free, start, strict=True)])
    upper = np.maximum(np.minimum(REACH, highest / spreads), 1e-6)
    found = least_squares(residuals, np.zeros(len(free)), bounds=(-REACH, upper), xtol=1e-6, ftol=1e-6)
    return with_values(prior, dict(zip(free, start * np.exp(found.x * spreads), strict=True)))


def group_weights(groups: Sequence[str]) -> Floats:
    """Weight of each row by the name of its group (source, model, method): 1 / root of the group's size.

    Rows of one table have their errors in common, so eighty of them tell less than eighty alone.
    """
    _, place, sizes = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True, return_counts=True)
    return np.asarray(1.0 / np.sqrt(sizes[place]))


def published_prior() -> SpeedConstants:
    """The constants before any row is seen, which the shipped fit starts from."""
    return with_values(SpeedConstants(), {name: value for name, (value, _) in BEFORE.items()})


def _spread(name: str) -> float:
    section = name.partition(".")[0]
    found = SPREADS.get(name, SECTION_SPREADS.get(section))
    if found is None:
        msg = f"{name} is not a constant of the throughput form that can be fitted"
        raise ValueError(msg)
    return found


def value_of(constants: SpeedConstants, name: str) -> float:
    """A constant by its name, with a dot before the key of a mapping or the name of a link."""
    section, _, key = name.partition(".")
    value = constants.model_dump(by_alias=True)[section]
    return float(value[key] if key else value)


def with_values(constants: SpeedConstants, values: Mapping[str, float]) -> SpeedConstants:
    """The same with some constants by name replaced. Raises ValidationError for a value out of bounds."""
    data: dict[str, Any] = constants.model_dump(by_alias=True)
    for name, value in values.items():
        section, _, key = name.partition(".")
        if key:
            data[section] = {**data[section], key: float(value)}
        else:
            data[section] = float(value)
    return SpeedConstants.model_validate(data)
