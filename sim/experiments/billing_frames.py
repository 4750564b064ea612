"""Tables that let a stored run be billed anew: who was rented when, in every replication, and more.

Times are whole microseconds from the scenario's start, so that nothing is lost on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sim.experiments.billable import Billable
from sim.experiments.columns import RUN, table_of
from sim.metrics.facts import Times
from sim.model.contract import Offer
from sim.model.scenario import Strategy

__all__ = ["assumptions_frame", "divisors_frame", "rentals_frame"]


def rentals_frame(
    strategy: Strategy, billables: Sequence[Billable], offers: Mapping[str, Offer]
) -> pd.DataFrame:
    """One row a machine and replication: what billing reads, in whole microseconds from the start.

    `absences` are times outside of the lease's windows, `from-until` with spaces between them. Made
    column by column: bursts in many replications are millions of rows.
    """
    found = [one.numbers for one in billables]
    numbers = np.concatenate(found) if found else np.empty((0, 5), dtype=np.int64)
    lease, machine, start, end, ordered = numbers.T
    rented = [one.offer_id for one in strategy.leases]
    labels = [f"lease {position}" for position in range(len(rented))]
    if strategy.burst is not None:  # position -1
        rented, labels = [*rented, strategy.burst.offer_id], [*labels, "burst"]
    cards = np.array([offers[name].gpus_per_unit for name in rented], dtype=np.int64)
    absences = [""] * len(numbers)
    first = 0
    for billable, rows in zip(billables, found, strict=True):
        for row, away in billable.absences.items():
            absences[first + row] = " ".join(f"{begin}-{until}" for begin, until in away)
        first += len(rows)
    return pd.DataFrame(
        {
            "strategy": pd.Series([strategy.name] * len(numbers), dtype="str"),
            "replication": _integers(np.repeat(np.arange(len(found)), [len(rows) for rows in found])),
            "lease": pd.Series(np.array(labels, dtype=object)[lease], dtype="str"),
            "offer": pd.Series(np.array(rented, dtype=object)[lease], dtype="str"),
            "machine": _integers(machine),
            "gpus": _integers(cards[lease]),
            "ordered_us": _integers(ordered, none=-1),
            "start_us": _integers(start),
            "end_us": _integers(end, none=-1),
            "absences": pd.Series(absences, dtype="str"),
        }
    )


def _integers(values: Times, none: int | None = None) -> pd.Series:
    """Whole numbers, of which one may stand for no value."""
    missing = np.zeros(len(values), dtype=bool) if none is None else values == none
    return pd.Series(pd.arrays.IntegerArray(values.astype(np.int64), missing))


def divisors_frame(strategy: str, billables: Sequence[Billable]) -> pd.DataFrame:
    """One row a replication: what the cost of a job and of a useful card-hour is divided by."""
    rows = [(strategy, number, one.jobs, one.useful_card_us) for number, one in enumerate(billables)]
    return table_of([*RUN, ("jobs", "float"), ("useful_card_us", "int")], rows)


def assumptions_frame(by_strategy: Mapping[str, Sequence[str]], common: Sequence[str]) -> pd.DataFrame:
    """One row an assumption: those of each strategy's ledger, then those of the whole question."""
    told = {text for texts in by_strategy.values() for text in texts}
    rows = [(name, text) for name, texts in by_strategy.items() for text in texts]
    rows += [("", text) for text in common if text not in told]
    return table_of([("strategy", "text"), ("assumption", "text")], rows)
