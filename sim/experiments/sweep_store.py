"""Folders of sweeps and sensitivity studies: tables, the document, charts, and a manifest with digests.

Written whole or not at all. All files but manifest.json have the same bytes for the same name of the folder.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from sim.experiments.comparison import Wall
from sim.experiments.files import slug, whole_folder, write_csv, write_parquet
from sim.experiments.store import PACKAGES
from sim.experiments.sweep import Sweep
from sim.load import Question, dump

__all__ = ["cells_frame", "save_sweep", "sweep_frame", "write_study"]


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
            **_times(found.wall),
        },
    )


def write_study(
    question: Question,
    name: str,
    out: Path,
    frames: Mapping[str, pd.DataFrame],
    documents: Mapping[str, Mapping[str, Any]],
    charts: Mapping[str, bytes],
    said: Mapping[str, Any],
) -> Path:
    """outputs/<scenario>/<name>/ with tables as CSV and Parquet, documents as JSON and charts as PNG.

    `said` goes into the manifest.
    """
    folder = out / slug(question.scenario.name) / name
    with whole_folder(folder) as fresh:
        (fresh / "scenario.yaml").write_text(dump(question.scenario), encoding="utf-8", newline="\n")
        for title, document in documents.items():
            _write_json(document, fresh / title)
        for title, frame in frames.items():
            write_csv(frame, fresh / f"{title}.csv")
            write_parquet(frame, fresh / f"{title}.parquet")
        for title, picture in charts.items():
            (fresh / "charts").mkdir(exist_ok=True)
            (fresh / "charts" / f"{title}.png").write_bytes(picture)
        _write_json(_manifest(question, fresh, said), fresh / "manifest.json")
    return folder


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
    return _frame(kinds, rows)


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
    return _frame(kinds, rows)


def _frame(kinds: Mapping[str, str], rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: pd.Series([row[place] for row in rows], dtype=kind)
            for place, (name, kind) in enumerate(kinds.items())
        }
    )


def _times(wall: Wall) -> dict[str, Any]:
    return {
        "started": wall.started,
        "finished": wall.finished,
        "seconds": wall.seconds,
        "workers": wall.workers,
    }


def _manifest(question: Question, folder: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    experiment = question.scenario.experiment
    return {
        "scenario": question.scenario.name,
        "file": None if question.path is None else str(question.path),
        "fleetsim": importlib.metadata.version("fleetsim"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "seed": experiment.seed,
        "price": question.price,
        **said,
        "files": {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        },
    }


def _write_json(document: Mapping[str, Any], path: Path) -> None:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
