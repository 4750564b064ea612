"""Any replication of a stored run: its question, with its draw of inputs, and its ledger.

A folder has the ledger of replication 0 and, of all replications, who was rented when. What that comes to is
billed anew, which simulates nothing.
"""

from __future__ import annotations

from sim.billing import bill
from sim.errors import InputError, Problem, RunError
from sim.experiments.billable import Billable, records_of
from sim.experiments.stored import StoredRun
from sim.experiments.uncertain import drawn
from sim.load import Question
from sim.model.ledger import Ledger
from sim.replication import used_offers

__all__ = ["billed", "check_replication", "ledger_of", "metrics_of", "not_repeated", "question_of"]


def check_replication(stored: StoredRun, strategy: str, number: int) -> None:
    """InputError if the run has no such replication of a strategy."""
    made = len(stored.billables(strategy))
    if not 0 <= number < made:
        rule = f"the run has {made:,} of strategy {strategy!r}, numbered from 0 to {made - 1:,}"
        raise InputError(Problem(rule, str(stored.folder), key="--replication", value=number))


def question_of(question: Question, number: int) -> Question:
    """The question with the inputs of a replication; itself where all inputs are known."""
    return question if question.scenario.uncertain is None else drawn(question, number).question


def billed(question: Question, place: int, billable: Billable) -> Ledger:
    """What is owed for what one replication rented. `question`: with the replication's own inputs;
    `place`: position of the strategy."""
    strategy, offers = question.scenario.strategies[place], used_offers(question)
    records = records_of(billable, strategy, offers)
    return bill(records, question.scenario, strategy, offers, question.price)


def metrics_of(stored: StoredRun, strategy: str, number: int) -> dict[str, float | None]:
    """The metrics of one replication, as the run's table has them."""
    table = stored.table("replications")
    row = table[(table["strategy"] == strategy) & (table["replication"] == number)]
    names = [name for name in table.columns if name not in ("strategy", "replication")]
    return {name: None if (cell := row[name].iloc[0]) != cell else float(cell) for name in names}


def ledger_of(stored: StoredRun, strategy: str, number: int = 0) -> Ledger:
    """The ledger of one replication: that of 0 as it is stored, another billed anew.

    Raises InputError where there is no such replication, RunError where it comes to another sum than when
    the run was made.
    """
    check_replication(stored, strategy, number)
    if number == 0:
        return stored.ledger(strategy)
    place = stored.strategies.index(strategy)
    found = billed(question_of(stored.question, number), place, stored.billables(strategy)[number])
    if float(found.committed) != metrics_of(stored, strategy, number)["committed_cost_cny"]:
        raise not_repeated(stored)
    return found


def not_repeated(stored: StoredRun) -> RunError:
    """What is said where a stored run cannot be made again."""
    msg = (
        f"the run in {stored.folder} cannot be repeated: the catalogue or the program has changed since; "
        "run the comparison again, the scenario is in its scenario.yaml"
    )
    return RunError(msg)
