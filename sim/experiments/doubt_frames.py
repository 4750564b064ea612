"""Tables of uncertain inputs: what was drawn in each replication, luck and doubt apart, and the twins."""

from __future__ import annotations

import pandas as pd

from sim.experiments.billing_frames import divisors_frame, rentals_frame
from sim.experiments.columns import RUN, frame_of, table_of
from sim.experiments.comparison import Comparison
from sim.replication import used_offers

__all__ = ["doubt_tables"]


def doubt_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """`inputs`: one row a replication and input, its value as a scenario writes it; `doubt`: one row a
    strategy (or difference) and metric; `twins`: the metrics of each twin by the number of its replication,
    `twin_rentals` and `twin_divisors` what billing them anew needs. Nothing where all inputs are known."""
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
        "inputs": frame_of({"replication": "Int64", "input": "str", "value": "str"}, drawn),
        "doubt": frame_of(kinds, splits),
        **_twin_tables(comparison),
    }


def _twin_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """The twins as `replications`, `rentals` and `divisors` have the replications."""
    assert comparison.doubt is not None  # noqa: S101 - asked for by who knows that there is some
    twins, offers = comparison.doubt.twins, used_offers(comparison.question)
    columns = [*RUN, *((info.name, "float") for info in comparison.metrics)]
    rows = [
        (name, number, *(one.metrics.get(info.name) for info in comparison.metrics))
        for name, found in twins.items()
        for number, one in enumerate(found)
    ]
    pairs = [
        (strategy, [one.billable for one in twins[strategy.name]])
        for strategy in comparison.question.scenario.strategies
    ]
    rentals = [rentals_frame(strategy, found, offers) for strategy, found in pairs]
    divisors = [divisors_frame(strategy.name, found) for strategy, found in pairs]
    return {
        "twins": table_of(columns, rows),
        "twin_rentals": pd.concat(rentals, ignore_index=True),
        "twin_divisors": pd.concat(divisors, ignore_index=True),
    }
