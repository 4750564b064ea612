"""One run in full, from a scenario or from a stored run, for views that need its every record.

A stored run keeps what it did, not every time to the microsecond. Its replication 0 is made again from the
folder's own scenario, which gives the same run; that it does is checked by the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim.errors import RunError
from sim.experiments.flow import Flow
from sim.experiments.stored import StoredRun
from sim.experiments.uncertain import Drawer, with_seed
from sim.load import Question
from sim.replication import Prepared, RunResult, replicate

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


def again(stored: StoredRun, strategy: int) -> Detail:
    """Make replication 0 of a stored run again.

    Raises RunError where its ledger is another one: then the catalogue or the program has changed.
    """
    found = detail(stored.question, strategy)
    if stored.ledger(found.run.strategy).charges != found.run.ledger.charges:
        msg = (
            f"the run in {stored.folder} cannot be repeated: the catalogue or the program has changed since; "
            "run the comparison again, the scenario is in its scenario.yaml"
        )
        raise RunError(msg)
    return found
