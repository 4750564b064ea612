"""One run in full, from a scenario or from a stored run, for views that need its every record.

A stored run keeps what it did, not every time to the microsecond. A replication is made again from the
folder's own scenario, which gives the same run; that it does is checked by its metrics or its ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.experiments.billable import billable_of
from sim.experiments.flow import Flow
from sim.experiments.sample import finite
from sim.experiments.uncertain import Drawer, with_seed
from sim.load import Question
from sim.replication import Prepared, RunResult, replicate

if TYPE_CHECKING:
    from sim.experiments.stored import StoredRun

__all__ = ["Detail", "again", "detail"]


@dataclass(frozen=True, slots=True)
class Detail:
    """One run with the question it answers."""

    prepared: Prepared
    strategy: int
    """Position in the scenario."""
    run: RunResult

    @property
    def question(self) -> Question:
        """The question."""
        return self.prepared.question


def detail(question: Question, strategy: int, replication: int = 0, seed: int | None = None) -> Detail:
    """Make one run of a strategy, with the inputs of that replication where some are uncertain."""
    if seed is not None:
        question = with_seed(question, seed)
    _, prepared = Drawer.of(question, Flow()).ready(replication)
    return Detail(prepared, strategy, replicate(prepared, strategy, replication, seed))


def again(stored: StoredRun, strategy: int, number: int = 0) -> Detail:
    """Make one replication of a stored run again.

    Raises InputError where the run has no such replication, RunError where it is another one now: then the
    catalogue or the program has changed.
    """
    # Here: a run made from a scenario opens no folder, and pandas takes long to import.
    from sim.experiments.stored_replication import check_replication, metrics_of, not_repeated

    name = stored.strategies[strategy]
    check_replication(stored, name, number)
    found = detail(stored.question, strategy, number)
    if number == 0:
        same = stored.ledger(name).charges == found.run.ledger.charges
    else:
        kept = metrics_of(stored, name, number)
        same = all(finite(value) == kept[key] for key, value in found.run.metrics.items())
        same &= stored.billables(name)[number] == billable_of(found.run, found.question.scenario)
    if not same:
        raise not_repeated(stored)
    return found
