"""Predictions for the rows of a measurement table: memory, speed, whether it fits, and why not said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.physics.constants import Constants
from sim.physics.memory import card_memory
from sim.physics.support import memory_support, speed_support, worse
from sim.physics.table import read_table
from sim.physics.throughput import step_time

__all__ = ["RowPrediction", "predict_rows"]


@dataclass(frozen=True, slots=True)
class RowPrediction:
    """What is said of one row; None where nothing can be said."""

    peak_mem_gib: float | None = None
    """GiB a card, of the kind that the row's `mem_kind` names."""
    tokens_per_s: float | None = None
    """Over all cards, padding included."""
    fits: bool | None = None
    support: str = ""
    """The lesser of the tags of memory and speed; memory's alone where no speed is said."""
    reason: str = ""
    """Why a figure is missing."""


def predict_rows(rows: Sequence[Mapping[str, Any]], constants: Constants) -> list[RowPrediction]:
    """One prediction a row, in its order. Rows that cannot be read have a reason and no figure."""
    table = read_table(rows)
    reasons = dict(table.unread_rows)
    if not table.rows:
        return [RowPrediction(reason=reasons[index]) for index in range(len(rows))]
    memory = card_memory(table.cases, constants.memory, reported=table.allocated, traced=table.traced).total
    # A pool broken up by many lengths gives back what another job needs: it decides no fit.
    needs = card_memory(table.cases.replace(ragged=False), constants.memory).total
    speeds = step_time(table.cases, constants.speed).tokens_per_s
    tags = memory_support(table.cases), speed_support(table.cases)
    fits = needs <= table.capacity_gib
    found: list[RowPrediction] = []
    position = 0
    for index in range(len(rows)):
        if index in reasons:
            found.append(RowPrediction(reason=reasons[index]))
            continue
        speed = float(speeds[position])
        if not np.isfinite(memory[position]):
            found.append(RowPrediction(reason="numbers of the row or of the calibration are out of range"))
            position += 1
            continue
        said = bool(np.isfinite(speed) and speed > 0)
        known = bool(np.isfinite(table.capacity_gib[position]))
        by_memory, by_speed = str(tags[0][position]), str(tags[1][position])
        found.append(
            RowPrediction(
                peak_mem_gib=float(memory[position]),
                tokens_per_s=speed if said else None,
                fits=bool(fits[position]) if known else None,
                support=worse(by_memory, by_speed) if said else by_memory,
                reason="" if said else "no speed: the card is not in the catalogue",
            )
        )
        position += 1
    return found
