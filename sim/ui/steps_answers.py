"""The computed grid of the page `steps`: waits and targets by point, as `sweep` has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim.ui.steps_grid import Spec, point_name

__all__ = ["Grid", "Point", "grid_of", "trimmed"]

METRICS = ("wait_p95_h", "wait_mean_h", "on_time_share", "target_met_share", "busy_share", "jobs_unfinished")
"""What the page shows of a point."""


@dataclass(frozen=True)
class Point:
    """What the runs of one point found."""

    status: str
    """To the target: met, missed, unsure, or none where there is no target."""
    metrics: Mapping[str, Mapping[str, float | int | None]]

    def mean(self, metric: str) -> float | None:
        """The mean of a metric; None where it was not measured."""
        value = self.metrics.get(metric, {}).get("mean")
        return None if value is None else float(value)

    def limits(self, metric: str) -> tuple[float | None, float | None]:
        """Its interval."""
        found = self.metrics.get(metric, {})
        return found.get("low"), found.get("high")

    @property
    def runs(self) -> int:
        """Runs that were made."""
        return max((int(found.get("n") or 0) for found in self.metrics.values()), default=0)


@dataclass(frozen=True)
class Grid:
    """All points that were computed."""

    points: Mapping[tuple[str, str], Point]
    """(growth, name of the point) -> what was found."""
    seed: int
    runs: int

    def at(self, spec: Spec, growth: str, size: int, month: int) -> Point | None:
        """The point of a step; without a step the month does not matter."""
        name = point_name(size, 0 if size == spec.count else month)
        return self.points.get((growth, name))


def grid_of(document: Mapping[str, Any], spec: Spec) -> Grid | None:
    """The grid in a sweep's document; None where it holds another grid."""
    points: dict[tuple[str, str], Point] = {}
    for cell in document["cells"]:
        growth = str(cell["settings"].get("workload.growth", ""))
        for one in cell["strategies"]:
            points[growth, str(one["name"])] = Point(str(one["target"]), one["metrics"])
    asked = {
        (growth, point_name(size, month))
        for growth in (spec.growths or ("",))
        for size, month in [(spec.count, 0), *((size, month) for size in spec.sizes for month in spec.months)]
    }
    if not asked <= set(points):
        return None
    return Grid(points, int(document["seed"]), min(point.runs for point in points.values()))


def trimmed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with what the page shows and nothing else: what comes with the program."""
    cells = [
        {
            "settings": cell["settings"],
            "strategies": [
                {
                    "name": one["name"],
                    "target": one["target"],
                    "metrics": {name: one["metrics"][name] for name in METRICS if name in one["metrics"]},
                }
                for one in cell["strategies"]
            ],
        }
        for cell in document["cells"]
    ]
    return {"seed": document["seed"], "varied": document["varied"], "cells": cells}
