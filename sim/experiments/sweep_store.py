"""A sweep as tables and as a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from sim.experiments.columns import frame_of
from sim.experiments.study_store import write_study
from sim.experiments.sweep import Sweep

__all__ = ["cells_frame", "save_sweep", "sweep_frame"]


def save_sweep(found: Sweep, out: Path, charts: Mapping[str, bytes] | None = None) -> Path:
    """Write a sweep below `out`; returns its folder. `charts` are PNG files by name.

    Raises RunError where it cannot be written, and then leaves nothing behind.
    """
    return write_study(
        found.question,
        f"sweep-{found.sweep_id}",
        out,
        {"sweep": sweep_frame(found), "cells": cells_frame(found)},
        {"sweep.json": found.to_json()},
        charts or {},
        {
            "kind": "sweep",
            "version": found.version,
            "simulated": found.filled.simulated,
            "kept": found.filled.kept,
            **found.wall.to_json(),
        },
    )


def sweep_frame(found: Sweep) -> pd.DataFrame:
    """One row a cell, strategy and metric: the mean, its limits, the number of values and their unit."""
    rows = [
        (number, *cell.values, one.name, metric, interval.mean, interval.low, interval.high, interval.n,
         found.info(metric).unit)
        for number, cell in enumerate(found.cells)
        for one in cell.strategies
        for metric, interval in one.metrics.items()
    ]  # fmt: skip
    kinds = {
        "cell": "Int64",
        **{axis.key: "str" for axis in found.axes},
        "strategy": "str",
        "metric": "str",
        **dict.fromkeys(("mean", "low", "high"), "float64"),
        "n": "Int64",
        "unit": "str",
    }
    return frame_of(kinds, rows)


def cells_frame(found: Sweep) -> pd.DataFrame:
    """One row a cell: the decision there, how sure it is (a share), and why."""
    rows = [
        (
            number,
            *cell.values,
            cell.recommended,
            cell.nearest,
            cell.confidence,
            cell.replications,
            cell.reason,
        )
        for number, cell in enumerate(found.cells)
    ]
    kinds = {
        "cell": "Int64",
        **{axis.key: "str" for axis in found.axes},
        "recommended": "str",
        "nearest": "str",
        "confidence": "float64",
        "replications": "Int64",
        "reason": "str",
    }
    return frame_of(kinds, rows)
