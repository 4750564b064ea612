"""The computations by key: every topic has a module `computations_<topic>` with a table of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sim.claims.computations_finance import FINANCE
from sim.claims.computations_ledger import LEDGER
from sim.claims.computations_memory import MEMORY
from sim.claims.computations_offers import OFFERS
from sim.claims.computations_owning import OWNING
from sim.claims.computations_prices import PRICES
from sim.claims.computations_reliability import RELIABILITY
from sim.claims.computations_runs import RUNS
from sim.claims.computations_scaling import SCALING
from sim.claims.computations_speed import SPEED
from sim.claims.computations_utilisation import UTILISATION
from sim.claims.working import Computation

__all__ = ["COMPUTATIONS", "joined"]


def joined(tables: Iterable[Mapping[str, Computation]]) -> dict[str, Computation]:
    """One table of several; ValueError where a key stands twice."""
    whole: dict[str, Computation] = {}
    for table in tables:
        if twice := whole.keys() & table.keys():
            msg = f"these computations stand twice: {sorted(twice)}"
            raise ValueError(msg)
        whole.update(table)
    return whole


COMPUTATIONS: Mapping[str, Computation] = joined(
    (PRICES, OFFERS, LEDGER, RUNS, FINANCE, OWNING, MEMORY, SPEED, SCALING, UTILISATION, RELIABILITY)
)
