"""The whole output of a comparison: tables, documents and charts in one folder."""

from __future__ import annotations

from pathlib import Path

from sim.experiments import store
from sim.experiments.comparison import Comparison
from sim.report.plots import render

__all__ = ["save"]


def save(comparison: Comparison, out: Path = Path("outputs")) -> Path:
    """Write the comparison with its charts below `out`; returns its folder.

    Raises RunError where the folder cannot be written.
    """
    return store.save(comparison, out, render(comparison))
