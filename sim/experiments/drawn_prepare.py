"""A question with drawn inputs made ready quickly: physics is asked again only where it answers otherwise.

Asking physics is nearly all of the work, and every replication has inputs of its own; of these most
(demand, prices, failures, sizes of data sets) change nothing that physics reads.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sim.experiments.flow import Flow
from sim.load import Question
from sim.model.scenario import Scenario
from sim.replication import Prepared, fleet_plan, prepare, used_offers
from sim.workload import shapes_of

__all__ = ["prepared_like", "quick"]

_UNREAD = ("rate", "at", "samples", "epochs", "batch_size")
"""Keys of a class of jobs that physics does not read: how many jobs, and how much work each has."""


def quick(flow: Flow, base: Any) -> Flow:
    """The flow, with what physics said of `base` used again where it holds."""
    if flow.prepare is not prepare or not isinstance(base, Prepared):
        return flow
    return Flow(partial(prepared_like, base), flow.replicate)


def prepared_like(base: Prepared, question: Question) -> Prepared:
    """What `prepare(question)` gives."""
    scenario = question.scenario
    shapes = shapes_of(scenario, question.trace)
    same = (
        _read(scenario) == _read(base.question.scenario)
        and shapes == base.shapes
        and used_offers(question).keys() == base.offers.keys()
    )
    if not same:
        return prepare(question)
    plans = (fleet_plan(scenario, one, question.catalog, question.price) for one in scenario.strategies)
    return Prepared(question, base.shapes, base.rates, tuple(plans))


def _read(scenario: Scenario) -> tuple[object, ...]:
    """What physics reads of a scenario beside the shapes and the offers."""
    trace = scenario.workload.trace
    unread = dict.fromkeys(_UNREAD)
    return (
        scenario.performance,
        tuple(one.model_copy(update=unread) for one in scenario.workload.classes),
        None if trace is None else trace.restart,
    )
