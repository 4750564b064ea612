"""A sweep: the same comparison for every cell of a grid or list of settings, on the same random numbers.

Every cell is an ordinary comparison (`sim.experiments.compare`) of the scenario with the settings of the
cell; jobs and failures are drawn from the same named streams in all of them, so that cells differ by their
settings and not by luck. Of each cell only its figures are kept.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.experiments.compare import clocked, compare
from sim.experiments.comparison import Comparison, Condition, MetricInfo, Status, Wall
from sim.experiments.decision import ranked_by
from sim.experiments.runs import Flow, Places
from sim.experiments.statistics import Interval
from sim.experiments.store import id_of
from sim.experiments.sweep_axes import Axis, Cell
from sim.experiments.sweep_fill import Filled, Point, fill
from sim.experiments.vault import Vault
from sim.load import Question

__all__ = ["CellResult", "CellStrategy", "Sweep", "some_vault", "sweep"]


@dataclass(frozen=True, slots=True)
class CellStrategy:
    """One strategy in one cell."""

    name: str
    metrics: Mapping[str, Interval]
    status: Status
    """How it stands to the target."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """What the comparison of one cell found."""

    values: tuple[str, ...]
    """Of the varied keys, in their order."""
    strategies: tuple[CellStrategy, ...]
    recommended: str | None
    """Name of the strategy to rent; None where none meets the target."""
    nearest: str | None
    """Where none does: the one that comes nearest."""
    reason: str
    confidence: float | None
    replications: int
    warnings: tuple[str, ...]

    def interval(self, strategy: int, metric: str) -> Interval | None:
        """The mean of a metric with its limits; None where it was not measured."""
        return self.strategies[strategy].metrics.get(metric)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A grid or list of comparisons."""

    question: Question
    """The scenario without the varied settings."""
    axes: tuple[Axis, ...]
    paired: bool
    cells: tuple[CellResult, ...]
    metrics: tuple[MetricInfo, ...]
    conditions: tuple[Condition, ...]
    """Of the scenario without the varied settings."""
    money: str
    """The metric of cost by which strategies are ranked."""
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    """What kind of warning, of whom, in how many cells; the cells have them in full."""
    version: str
    sweep_id: str
    """Twelve hexadecimal digits that stand for all that the sweep reads."""
    filled: Filled = field(compare=False)
    wall: Wall = field(compare=False)

    @property
    def strategies(self) -> tuple[str, ...]:
        """Names of the strategies, as the first cell has them."""
        return tuple(one.name for one in self.cells[0].strategies)

    @property
    def counted(self) -> str:
        """What the intervals of a cell are over: `20 replications`, or `20 batches of one run`."""
        most = max(cell.replications for cell in self.cells)
        if self.question.scenario.experiment.steady_state is not None:
            return f"{most:,} batches of one run"
        return f"{most:,} replications" if most > 1 else "one replication"

    def info(self, metric: str) -> MetricInfo:
        """Unit and description of a metric; of an unknown one, its name alone."""
        return next((info for info in self.metrics if info.name == metric), MetricInfo(metric, ""))

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim sweep --format json`; nothing in it is NaN or infinite."""
        experiment = self.question.scenario.experiment
        return {
            "scenario": self.question.scenario.name,
            "sweep": self.sweep_id,
            "seed": experiment.seed,
            "confidence": experiment.confidence,
            "varied": [{"key": axis.key, "values": list(axis.values)} for axis in self.axes],
            "paired": self.paired,
            "counted": self.counted,
            "ranked_by": self.money,
            "cells": [self._cell(cell) for cell in self.cells],
            "metrics": [{"name": info.name, "unit": info.unit} for info in self.metrics],
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def _cell(self, cell: CellResult) -> dict[str, Any]:
        return {
            "settings": dict(zip((axis.key for axis in self.axes), cell.values, strict=True)),
            "recommendation": cell.recommended,
            "nearest": cell.nearest,
            "reason": cell.reason,
            "confidence": cell.confidence,
            "replications": cell.replications,
            "warnings": list(cell.warnings),
            "strategies": [
                {
                    "name": one.name,
                    "target": one.status,
                    "metrics": {name: _limits(found) for name, found in one.metrics.items()},
                }
                for one in cell.strategies
            ],
        }


def sweep(
    base: Question,
    axes: Sequence[Axis],
    cells: Sequence[Cell],
    places: Places,
    *,
    paired: bool = False,
    replications: int | None = None,
    flow: Flow | None = None,
) -> Sweep:
    """Compare the strategies in every cell.

    `base` is the scenario without the varied settings; `cells` come from `sim.experiments.sweep_axes`.
    Without a vault runs that cells share are kept in a folder for the time being. The result is the same
    for any number of workers, with and without a vault. Raises InputError and RunError as `compare` does;
    the former names the cell.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    flow = flow or Flow()
    found, comparisons = [], []
    with some_vault(places) as kept:
        filled = _filled(cells, replications, kept, flow)
        for cell in cells:
            comparison = _compared(cell, axes, kept, flow, replications)
            comparisons.append(_slim(comparison))
            found.append(_result(cell, comparison))
    metrics = {info.name: info for one in comparisons for info in one.metrics}
    names = tuple(axis.key for axis in axes)
    return Sweep(
        question=base,
        axes=tuple(axes),
        paired=paired,
        cells=tuple(found),
        metrics=tuple(metrics.values()),
        conditions=comparisons[0].conditions,
        money=ranked_by(base.scenario),
        assumptions=_distinct(line for one in comparisons for line in one.assumptions),
        notes=_distinct(line for one in comparisons for line in one.notes),
        warnings=_counted(comparisons),
        version=importlib.metadata.version("fleetsim"),
        sweep_id=_sweep_id(names, [cell.values for cell in found], comparisons),
        filled=filled,
        wall=clocked(started, clock, places.workers),
    )


@contextmanager
def some_vault(places: Places) -> Iterator[Places]:
    """The places with their vault, or with one in a folder that goes away afterwards."""
    if places.vault is not None:
        yield places
        return
    with tempfile.TemporaryDirectory(prefix="fleetsim-") as folder:
        yield replace(places, vault=Vault(Path(folder)))


def _filled(cells: Sequence[Cell], replications: int | None, places: Places, flow: Flow) -> Filled:
    numbers: dict[int, list[Point]] = {}
    for cell in cells:
        number = replications or cell.question.scenario.experiment.replications
        numbers.setdefault(number, []).append(Point(cell.question, flow))
    parts = [fill(points, number, places) for number, points in numbers.items()]
    return Filled(
        sum(part.asked for part in parts),
        sum(part.simulated for part in parts),
        sum(part.kept for part in parts),
    )


def _compared(
    cell: Cell, axes: Sequence[Axis], places: Places, flow: Flow, replications: int | None
) -> Comparison:
    try:
        return compare(
            cell.question,
            replications=replications,
            workers=places.workers,
            vault=places.vault,
            cluster=places.cluster,
            flow=flow,
        )
    except InputError as error:
        where = ", ".join(f"{axis.key}={value}" for axis, value in zip(axes, cell.values, strict=True))
        raise InputError(
            Problem(f"{p.rule} (in the cell {where})", p.file, p.line, p.key, p.value, p.known)
            for p in error.problems
        ) from None


def _slim(comparison: Comparison) -> Comparison:
    """Without the runs themselves, so that memory does not grow with the cells."""
    return replace(comparison, details={}, billables={}, strategies=())


def _result(cell: Cell, comparison: Comparison) -> CellResult:
    decision = comparison.recommendation
    return CellResult(
        values=cell.values,
        strategies=tuple(
            CellStrategy(one.name, dict(one.metrics), one.status) for one in comparison.strategies
        ),
        recommended=decision.strategy,
        nearest=decision.nearest,
        reason=decision.reason,
        confidence=decision.confidence,
        replications=comparison.replications,
        warnings=tuple(
            f"{mark.strategy}: {mark.text}" if mark.strategy else mark.text for mark in comparison.warnings
        ),
    )


def _counted(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    cells = Counter(
        key
        for one in comparisons
        for key in dict.fromkeys((mark.strategy, mark.kind) for mark in one.warnings)
    )
    return tuple(
        f"{f'{strategy}: ' if strategy else ''}{kind} in {number:,} of {len(comparisons):,} cells"
        for (strategy, kind), number in cells.items()
    )


def _sweep_id(
    keys: Sequence[str], values: Sequence[tuple[str, ...]], comparisons: Sequence[Comparison]
) -> str:
    ids = [id_of(one.question, one.baseline, one.version) for one in comparisons]
    return hashlib.blake2b(repr((tuple(keys), list(values), ids)).encode(), digest_size=6).hexdigest()


def _distinct(lines: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))


def _limits(interval: Interval) -> dict[str, float | int | None]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
