"""A recommendation or a step on disk: the comparison of what is near, every option, the document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from sim.experiments import store
from sim.experiments.advice import Advice
from sim.experiments.comparison import Comparison
from sim.experiments.files import csv_text
from sim.experiments.stepup import StepUp
from sim.report.plots import render

__all__ = ["options_frame", "save_advice", "save_step_up", "steps_frame"]


def save_advice(advice: Advice, out: Path) -> Path:
    """Write the recommendation below `out`; returns its folder. RunError where it cannot be written."""
    files = {
        "options.csv": csv_text(options_frame(advice)).encode(),
        "recommendation.json": _json(advice.to_json()),
    }
    return _write(advice.comparison, out, files)


def save_step_up(found: StepUp, out: Path) -> Path:
    """Write the months of a step below `out`; returns the folder. RunError where it cannot be written."""
    files = {"steps.csv": csv_text(steps_frame(found)).encode(), "stepup.json": _json(found.to_json())}
    return _write(found.comparison, out, files)


def _write(comparison: Comparison, out: Path, files: Mapping[str, bytes]) -> Path:
    charts = {f"charts/{name}.png": picture for name, picture in render(comparison).items()}
    return store.write(comparison, out, store.tables(comparison), {**charts, **files})


def _json(document: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)}\n".encode()


def steps_frame(found: StepUp) -> pd.DataFrame:
    """One row a month, the latest first; costs in the scenario's currency, waits in hours."""
    steps = found.steps
    columns: dict[str, tuple[str, list[object]]] = {
        "month": ("Int64", [step.month for step in steps]),
        "at": ("str", [None if step.at is None else step.at.date().isoformat() for step in steps]),
        "committed_cost": ("object", [Decimal(f"{step.cost:.2f}") for step in steps]),
        "accrued_cost": ("object", [Decimal(f"{step.accrued:.2f}") for step in steps]),
        "target": ("str", [step.standing for step in steps]),
        "replications": ("Int64", [step.replications for step in steps]),
    }
    for number, line in enumerate(found.comparison.conditions):
        values = [step.means[number] if step.means else None for step in steps]
        columns[line.metric] = ("float64", list(values))
    return pd.DataFrame({name: pd.Series(cells, dtype=kind) for name, (kind, cells) in columns.items()})


def options_frame(advice: Advice) -> pd.DataFrame:
    """One row an option of the search, in its order; costs in the scenario's currency."""
    options = advice.found.options
    candidates = [option.candidate for option in options]
    costs = [None if option.cost is None else Decimal(f"{option.cost:.2f}") for option in options]
    columns: dict[str, tuple[str, list[object]]] = {
        "strategy": ("str", [one.name for one in candidates]),
        "offer": ("str", [one.offer for one in candidates]),
        "units": ("Int64", [one.units for one in candidates]),
        "cards": ("Int64", [one.cards for one in candidates]),
        "plan": ("str", [one.plan for one in candidates]),
        "policy": ("str", [one.policy for one in candidates]),
        "burst": ("boolean", [one.burst for one in candidates]),
        "result": ("str", [option.status for option in options]),
        "reason": ("str", [option.reason for option in options]),
        "replications": ("Int64", [option.replications for option in options]),
        "committed_cost": ("object", list(costs)),
    }
    return pd.DataFrame({name: pd.Series(cells, dtype=kind) for name, (kind, cells) in columns.items()})
