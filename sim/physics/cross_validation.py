"""How well the forms give rows that the fit has not seen: whole groups left out, whole sources left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sim.physics.cases import Flags, Floats, Names
from sim.physics.memory_constants import MemoryConstants
from sim.physics.shipped import (
    fit_memory_rows,
    fit_speed_rows,
    memory_ratio,
    memory_rows,
    speed_ratio,
    speed_rows,
)
from sim.physics.table import Measurements

__all__ = ["LeftOut", "groups_of", "held_out", "sources_of"]

ConstantsT = TypeVar("ConstantsT")

FOLDS = 8
"""Groups are left out in so many parts."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Predicted over published for every row, each by a fit that did not see it; shape (n,)."""

    table: Measurements
    by_group: Floats
    """Other rows of its source, model and method were left out with it."""
    by_source: Floats
    """Its whole source was left out; its framework counts as unknown."""


def sources_of(table: Measurements) -> Names:
    """The project or page that each row is from."""
    return np.array([source.split(" ")[0] for source in table.column("source")], dtype=np.str_)


def groups_of(table: Measurements) -> Names:
    """Source, model and method of each row."""
    parts = zip(sources_of(table), table.cases.model, table.column("method"), strict=True)
    return np.array(["|".join(map(str, part)) for part in parts], dtype=np.str_)


def held_out(kind: str) -> LeftOut:
    """Cross-validation of `memory` or `speed`."""
    if kind == "memory":
        return _held_out(memory_rows(), fit_memory_rows, memory_ratio, _without_stacks)
    return _held_out(speed_rows(), fit_speed_rows, speed_ratio, lambda constants, _: constants)


def _held_out(
    table: Measurements,
    fit: Callable[[Measurements, Flags], ConstantsT],
    ratio: Callable[[Measurements, ConstantsT], Floats],
    forget: Callable[[ConstantsT, Measurements], ConstantsT],
) -> LeftOut:
    names, where = np.unique(groups_of(table), return_inverse=True)
    folds = (np.arange(len(names)) % FOLDS)[where]
    sources = sources_of(table)
    by_group, by_source = np.full(len(table.rows), np.nan), np.full(len(table.rows), np.nan)
    for fold in range(FOLDS):
        out = folds == fold
        if out.any():
            by_group[out] = ratio(table.take(out), fit(table, ~out))
    for source in np.unique(sources):
        out = sources == source
        by_source[out] = ratio(table.take(out), forget(fit(table, ~out), table.take(out)))
    return LeftOut(table, by_group, by_source)


def _without_stacks(constants: MemoryConstants, left: Measurements) -> MemoryConstants:
    """Constants that know nothing of the frameworks of some rows."""
    gone = set(map(str, left.cases.stack))
    kept = {name: stack for name, stack in constants.stacks.items() if name not in gone}
    return constants.model_copy(update={"stacks": kept})
