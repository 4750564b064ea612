"""The shipped constants, fitted anew from the carried tables of published runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from sim.physics.calibration import Errors, errors_of, group_weights
from sim.physics.cases import Flags, Floats
from sim.physics.constants import load_constants
from sim.physics.memory import card_memory
from sim.physics.memory_constants import MemoryConstants
from sim.physics.memory_fit import FREE as MEMORY_FREE
from sim.physics.memory_fit import fit_memory, published_memory_prior
from sim.physics.speed_constants import SpeedConstants
from sim.physics.speed_fit import FREE as SPEED_FREE
from sim.physics.speed_fit import fit_speed, published_prior
from sim.physics.table import Measurements, measurements
from sim.physics.throughput import step_time

__all__ = [
    "ShippedFit",
    "fit_memory_rows",
    "fit_shipped",
    "fit_speed_rows",
    "fitted_yaml",
    "memory_ratio",
    "memory_rows",
    "speed_ratio",
    "speed_rows",
]


@dataclass(frozen=True, slots=True)
class ShippedFit:
    """The constants that the carried rows give, and how well they give those rows back."""

    memory: MemoryConstants
    speed: SpeedConstants
    memory_errors: Errors
    speed_errors: Errors


def memory_rows() -> Measurements:
    """Carried rows complete enough to fit and score the memory of a card."""
    table = measurements()
    return table.take(table.for_memory & np.isfinite(table.memory_gib))


def speed_rows() -> Measurements:
    """Carried rows complete enough to fit and score speed."""
    table = measurements()
    known = np.isfinite(table.tokens_per_s) & np.isfinite(table.cases.tflops)
    return table.take(table.for_speed & known)


def fit_memory_rows(table: Measurements, rows: Flags) -> MemoryConstants:
    """Memory constants from some of the rows; weights are those of the whole table."""
    own, weights = table.take(rows), group_weights(table)[rows]
    typed = load_constants().memory
    prior = published_memory_prior().model_copy(
        update={
            "link_gib": typed.link_gib,
            "sharded_copy": typed.sharded_copy,
            "sharded_quantised_gib": typed.sharded_quantised_gib,
        }
    )
    return fit_memory(own.cases, own.memory_gib, weights, prior, reported=own.allocated)


def fit_speed_rows(table: Measurements, rows: Flags) -> SpeedConstants:
    """Speed constants from some of the rows; weights are those of the whole table."""
    own, weights = table.take(rows), group_weights(table)[rows]
    return fit_speed(own.cases, own.tokens_per_s, weights, published_prior())


def memory_ratio(table: Measurements, constants: MemoryConstants) -> Floats:
    """Predicted over published peak, shape (n,)."""
    held = card_memory(table.cases, constants, reported=table.allocated, traced=table.traced)
    return np.asarray(held.total / table.memory_gib)


def speed_ratio(table: Measurements, constants: SpeedConstants) -> Floats:
    """Predicted over published tokens a second, shape (n,)."""
    return np.asarray(step_time(table.cases, constants).tokens_per_s / table.tokens_per_s)


def fit_shipped() -> ShippedFit:
    """Fit memory and speed to all carried rows. Deterministic; about a second."""
    memory, speed = memory_rows(), speed_rows()
    held = fit_memory_rows(memory, np.ones(len(memory.rows), dtype=bool))
    fast = fit_speed_rows(speed, np.ones(len(speed.rows), dtype=bool))
    return ShippedFit(
        memory=held,
        speed=fast,
        memory_errors=errors_of(memory_ratio(memory, held), np.ones(len(memory.rows))),
        speed_errors=errors_of(speed_ratio(speed, fast), np.ones(len(speed.rows))),
    )


def fitted_yaml(found: ShippedFit, day: date) -> str:
    """The text of `fitted.yaml`: every free constant, six digits, and the errors of the fit."""
    lines = [
        "# Constants fitted to the published runs in facts/measurements.csv; written by",
        "# benchmarks/fit_constants.py, not by hand. Units and meaning stand in memory_constants.py and",
        "# speed_constants.py.",
        "fit:",
        f"  date: {day}",
        f"  memory_rows: {found.memory_errors.rows}",
        f"  memory_median: {found.memory_errors.median:.4f}",
        f"  memory_p90: {found.memory_errors.p90:.4f}",
        f"  speed_rows: {found.speed_errors.rows}",
        f"  speed_median: {found.speed_errors.median:.4f}",
        f"  speed_p90: {found.speed_errors.p90:.4f}",
    ]
    lines += _section("memory", found.memory.model_dump(), MEMORY_FREE)
    return "\n".join([*lines, *_section("speed", found.speed.model_dump(by_alias=True), SPEED_FREE)]) + "\n"


def _section(name: str, data: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    tree: dict[str, Any] = {}
    for entry in names:
        *path, last = entry.split(".")
        value, place = data, tree
        for key in path:
            value, place = value[key], place.setdefault(key, {})
        place[last] = value[last]
    return [f"{name}:", *_lines(tree, 1)]


def _lines(tree: Mapping[str, Any], depth: int) -> list[str]:
    lines: list[str] = []
    for key, value in tree.items():
        if isinstance(value, Mapping):
            lines += [f"{'  ' * depth}{key}:", *_lines(value, depth + 1)]
        else:
            lines.append(f"{'  ' * depth}{key}: {value:.6g}")
    return lines
