"""What the charts of a sweep show: the metrics, their names and their values by cell."""

from __future__ import annotations

from sim.experiments.decision import WAIT
from sim.experiments.sweep import Sweep

__all__ = ["named", "of_strategy", "shown_metrics", "titled"]

TITLES = {
    "committed_cost_cny": "committed cost",
    "cost_with_penalties_cny": "cost with penalties",
    "wait_p95_h": "95th percentile of wait",
    "wait_mean_h": "mean wait",
    "on_time_share": "jobs on time",
    "overloaded": "runs with a growing queue",
}


def shown_metrics(found: Sweep) -> list[str]:
    """Money, wait, and what the target reads, as far as any cell has a value of it."""
    asked = [found.money, WAIT, *(c.metric for c in found.conditions if c.metric != "jobs_refused")]
    return [
        metric
        for metric in dict.fromkeys(asked)
        if any((i := one.metrics.get(metric)) is not None and i.mean is not None
               for cell in found.cells for one in cell.strategies)
    ]  # fmt: skip


def of_strategy(
    found: Sweep, number: int, metric: str
) -> list[tuple[int, float | None, float | None, float | None]]:
    """(cell, mean, low, high) of a strategy, in the order of the cells."""
    rows = []
    for place, cell in enumerate(found.cells):
        if number < len(cell.strategies) and (interval := cell.interval(number, metric)) is not None:
            rows.append((place, interval.mean, interval.low, interval.high))
    return rows


def named(found: Sweep, metric: str) -> str:
    """A metric with its unit, as an axis says it."""
    info = found.info(metric)
    title = TITLES.get(metric, metric.replace("_", " "))
    return f"{title} ({info.unit})" if info.unit else title


def titled(metric: str) -> str:
    """A metric as a title begins with it."""
    title = TITLES.get(metric, metric.replace("_", " "))
    return f"{title[:1].upper()}{title[1:]}"
