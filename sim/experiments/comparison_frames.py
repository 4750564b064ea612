"""What a comparison found as tables: means and limits, paired differences, the values of replications."""

from __future__ import annotations

from typing import Any

import pandas as pd

from sim.experiments.columns import frame_of
from sim.experiments.comparison import Comparison

__all__ = ["comparison_frame", "differences_frame", "replications_frame"]


def comparison_frame(comparison: Comparison) -> pd.DataFrame:
    """One row a strategy and metric: the mean, its limits, the number of values and their unit."""
    rows = [
        (
            result.name,
            name,
            interval.mean,
            interval.low,
            interval.high,
            interval.n,
            comparison.info(name).unit,
        )
        for result in comparison.strategies
        for name, interval in result.metrics.items()
    ]
    return _tidy(["strategy", "metric"], rows)


def differences_frame(comparison: Comparison) -> pd.DataFrame:
    """One row a strategy, baseline and metric: the paired difference in the same columns."""
    rows = [
        (
            difference.strategy,
            difference.baseline,
            difference.metric,
            difference.interval.mean,
            difference.interval.low,
            difference.interval.high,
            difference.interval.n,
            comparison.info(difference.metric).unit,
        )
        for difference in comparison.differences
    ]
    return _tidy(["strategy", "baseline", "metric"], rows)


def replications_frame(comparison: Comparison) -> pd.DataFrame:
    """One row a strategy and replication, one column a metric; empty where it is not defined."""
    pieces = [
        pd.DataFrame(
            {
                "strategy": pd.Series([result.name] * comparison.replications, dtype="str"),
                "replication": pd.Series(range(comparison.replications), dtype="Int64"),
                **{
                    info.name: pd.Series(
                        result.values.get(info.name, [None] * comparison.replications), dtype="float64"
                    )
                    for info in comparison.metrics
                },
            }
        )
        for result in comparison.strategies
    ]
    return pd.concat(pieces, ignore_index=True)


def _tidy(keys: list[str], rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    types = {
        **dict.fromkeys(keys, "str"),
        **dict.fromkeys(("mean", "low", "high"), "float64"),
        "n": "Int64",
        "unit": "str",
    }
    return frame_of(types, rows)
