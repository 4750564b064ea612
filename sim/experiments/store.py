"""outputs/<scenario>/<run id>/: everything that a comparison found, written whole or not at all.

The run id is a hash of what the run reads, so the same question has the same folder and another
question never overwrites it. All files but manifest.json have the same bytes for the same run id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from sim.experiments.billing_frames import assumptions_frame, divisors_frame, rentals_frame
from sim.experiments.charge_columns import CHARGE_COLUMNS
from sim.experiments.comparison import Comparison
from sim.experiments.comparison_frames import comparison_frame, differences_frame, replications_frame
from sim.experiments.doubt_frames import doubt_tables
from sim.experiments.files import csv_text, slug, whole_folder, write_csv, write_parquet
from sim.experiments.frames import (
    attempts_frame,
    failures_frame,
    invoices_frame,
    jobs_frame,
    leases_frame,
    ledger_frame,
    rates_frame,
)
from sim.experiments.identity import (
    CATALOG_FILE,
    TRACE_FILE,
    calibration,
    portable,
    question_digest,
    read_beside,
)
from sim.experiments.manifest import digests, machine, write_json
from sim.load import Question, dump
from sim.replication import prepare, used_offers
from sim.workload.readers import TraceRow

__all__ = ["FORMAT", "id_of", "money_tables", "run_folder", "run_id", "save", "tables", "write"]

FORMAT = "1-" + hashlib.blake2b(repr(CHARGE_COLUMNS).encode(), digest_size=4).hexdigest()
"""Layout of a run's folder, which the fields of a charge are part of; another one is not read."""


def run_id(comparison: Comparison) -> str:
    """Twelve hexadecimal digits that stand for all that the run reads."""
    return id_of(comparison.question, comparison.baseline, comparison.version)


def id_of(question: Question, baseline: str, version: str) -> str:
    """The run id of a question as it is run, with its replications and its seed."""
    experiment = question.scenario.experiment
    read = (
        dump(portable(question.scenario)),
        *read_beside(question),
        question.price,
        experiment.seed,
        experiment.replications,
        baseline,
        version,
    )
    return hashlib.blake2b(repr(read).encode(), digest_size=6).hexdigest()


def run_folder(comparison: Comparison, out: Path) -> Path:
    """Where `save` writes the comparison."""
    return out / slug(comparison.question.scenario.name) / run_id(comparison)


def save(comparison: Comparison, out: Path, charts: Mapping[str, bytes] | None = None) -> Path:
    """Write the comparison below `out` and return its folder; `charts` are PNG files by name.

    A folder of the same run id is replaced. Raises RunError where it cannot be written, and then
    leaves nothing behind.
    """
    pictures = {f"charts/{name}.png": picture for name, picture in (charts or {}).items()}
    return write(comparison, out, tables(comparison), pictures)


def write(
    comparison: Comparison,
    out: Path,
    frames: Mapping[str, pd.DataFrame],
    copies: Mapping[str, bytes],
    said: Mapping[str, Any] | None = None,
) -> Path:
    """`save` with these tables, and these files as they are; `said` goes into the manifest."""
    folder = run_folder(comparison, out)
    with whole_folder(folder) as fresh:
        _write_scenario(comparison, fresh)
        write_json(comparison.to_json(), fresh / "comparison.json")
        for name, frame in frames.items():
            write_csv(frame, fresh / f"{name}.csv")
            write_parquet(frame, fresh / f"{name}.parquet")
        for name, data in copies.items():
            (fresh / name).parent.mkdir(exist_ok=True)
            (fresh / name).write_bytes(data)
        write_json({**_manifest(comparison, fresh), **(said or {})}, fresh / "manifest.json")
    return folder


def tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """Every table of the output by the name of its file, strategies in their order."""
    scenario = comparison.question.scenario
    runs = list(comparison.details.values())
    details = {
        "jobs": [jobs_frame(run, scenario) for run in runs],
        "attempts": [attempts_frame(run, scenario) for run in runs],
        "leases": [leases_frame(run, scenario) for run in runs],
        "failures": [failures_frame(run, scenario) for run in runs],
    }
    return {
        **money_tables(comparison),
        **doubt_tables(comparison),
        "rates": rates_frame(prepare(comparison.question)),
        **{name: pd.concat(frames, ignore_index=True) for name, frames in details.items()},
    }


def money_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """The tables that change with prices and contracts, and those that billing reads."""
    runs, scenario = list(comparison.details.values()), comparison.question.scenario
    offers = used_offers(comparison.question)
    billables = [(strategy, comparison.billables[strategy.name]) for strategy in scenario.strategies]
    details = {
        "ledger": [ledger_frame(run) for run in runs],
        "invoices": [invoices_frame(run) for run in runs],
        "rentals": [rentals_frame(strategy, found, offers) for strategy, found in billables],
        "divisors": [divisors_frame(strategy.name, found) for strategy, found in billables],
    }
    return {
        "comparison": comparison_frame(comparison),
        "differences": differences_frame(comparison),
        "replications": replications_frame(comparison),
        "assumptions": assumptions_frame(
            {run.strategy: run.ledger.assumptions for run in runs}, comparison.assumptions
        ),
        **{name: pd.concat(frames, ignore_index=True) for name, frames in details.items()},
    }


def _write_scenario(comparison: Comparison, folder: Path) -> None:
    """The resolved scenario, and beside it the files it names, so that the folder runs by itself."""
    question = comparison.question
    scenario, fitted = portable(question.scenario), calibration(question)
    (folder / "scenario.yaml").write_text(dump(scenario), encoding="utf-8", newline="\n")
    if scenario.workload.trace is not None:
        text = csv_text(_trace_frame(question.trace))
        (folder / TRACE_FILE).write_text(text, encoding="utf-8", newline="")
    if fitted is not None:
        (folder / scenario.performance).write_bytes(fitted)
    if question.catalog_source is not None:
        (folder / CATALOG_FILE).write_bytes(question.catalog_source.read_bytes())


def _trace_frame(rows: tuple[TraceRow, ...]) -> pd.DataFrame:
    columns: dict[str, tuple[str, list[object]]] = {
        "submit_s": ("object", [_seconds(row.submit_us) for row in rows]),
        "gpus": ("Int64", [row.gpus for row in rows]),
        "runtime_s": ("object", [_seconds(row.runtime_us) for row in rows]),
        "id": ("str", [row.name for row in rows]),
        "memory_gib": ("float64", [row.memory_gib for row in rows]),
        "team": ("str", [row.team for row in rows]),
        "deadline_s": ("object", [_seconds(row.deadline_us) for row in rows]),
        "priority": ("Int64", [row.priority for row in rows]),
        "gpu": ("str", [row.gpu for row in rows]),
        "limit_s": ("object", [_seconds(row.limit_us) for row in rows]),
        "spans": ("boolean", [row.spans for row in rows]),
        "runtime_gpu": ("str", [row.runtime_gpu for row in rows]),
    }
    if any(row.demand is not None for row in rows):
        columns["demand"] = ("float64", [row.demand for row in rows])
    if any(row.end is not None for row in rows):
        columns["state"] = ("str", [row.end for row in rows])
    return pd.DataFrame({name: pd.Series(cells, dtype=kind) for name, (kind, cells) in columns.items()})


def _seconds(micros: int | None) -> Decimal | None:
    return None if micros is None else Decimal(micros).scaleb(-6)


def _manifest(comparison: Comparison, folder: Path) -> dict[str, Any]:
    question = comparison.question
    return {
        "run_id": run_id(comparison),
        "format": FORMAT,
        "scenario": question.scenario.name,
        "file": str(question.path) if question.path is not None else None,
        "fleetsim": comparison.version,
        **machine(),
        "seed": comparison.seed,
        "replications": comparison.replications,
        "baseline": comparison.baseline,
        "price": question.price,
        "question": question_digest(question),
        **comparison.wall.to_json(),
        "files": digests(folder),
    }
