"""Tables of uncertain inputs: what was drawn in each replication, and luck and doubt apart."""

from __future__ import annotations

import pandas as pd

from sim.experiments.comparison import Comparison

__all__ = ["doubt_tables"]


def doubt_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """`inputs`: one row a replication and input, its value as a scenario writes it; `doubt`: one row a
    strategy (or difference) and metric. Nothing where all inputs are known."""
    doubt = comparison.doubt
    if doubt is None:
        return {}
    drawn: list[tuple[object, ...]] = [
        (number, key, str(value)) for number, one in enumerate(doubt.draws) for key, value in one.items()
    ]
    splits: list[tuple[object, ...]] = [
        (one.strategy, one.less, one.metric, one.mean, one.low, one.high, one.parts.luck, one.parts.inputs,
         one.parts.share, one.parts.low, one.parts.high, one.parts.pairs, comparison.info(one.metric).unit)
        for one in doubt.splits
    ]  # fmt: skip
    kinds = {
        **dict.fromkeys(("strategy", "less", "metric"), "str"),
        **dict.fromkeys(("mean", "p5", "p95", "luck_deviation", "input_deviation"), "float64"),
        **dict.fromkeys(("input_share", "input_share_low", "input_share_high"), "float64"),
        "pairs": "Int64",
        "unit": "str",
    }
    return {
        "inputs": _frame({"replication": "Int64", "input": "str", "value": "str"}, drawn),
        "doubt": _frame(kinds, splits),
    }


def _frame(kinds: dict[str, str], rows: list[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: pd.Series([row[place] for row in rows], dtype=kind)
            for place, (name, kind) in enumerate(kinds.items())
        }
    )
