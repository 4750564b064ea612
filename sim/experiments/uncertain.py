"""Uncertain inputs: one draw of all of them for each replication, the same for all strategies.

Each input has a stream of its own name, so that another input, another strategy or another number of workers
changes no draw. Jobs and failures of a replication come from their own streams: what is drawn here changes
what they mean (more of them, longer, dearer) and not their luck.

Twins tell doubt about inputs from luck: the twin of a replication has its inputs, and luck of its own. Their
numbers begin where those of replications can never reach.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from sim.errors import InputError, Problem
from sim.experiments.drawn_prepare import quick
from sim.experiments.flow import Flow
from sim.experiments.knobs_table import KNOBS
from sim.experiments.knobs_turns import (
    Turned,
    flow_of,
    turn_demand,
    turn_discount,
    turn_failures,
    turn_growth,
    turn_price,
    turn_price_range,
    turn_run_time,
)
from sim.load import Question
from sim.load_uncertain import path_of, quantile, refused, with_values, written
from sim.model.uncertain import NAMED_INPUTS
from sim.streams import Streams

__all__ = [
    "TWINS",
    "Drawer",
    "Turn",
    "at_base",
    "check_inputs",
    "draw",
    "draw_of",
    "drawn",
    "refuse_own_strategies",
    "with_seed",
]

TWINS = 1_000_000
"""Number of the twin of replication 0; a study has at most 100,000 replications."""

Turn = Callable[[Question], Question]

KEPT = 64
"""Draws that are kept ready at a time."""

_TURNS = {
    "price_range": turn_price_range,
    "price": turn_price,
    "discount": turn_discount,
    "demand": turn_demand,
    "growth": turn_growth,
    "run_time": turn_run_time,
    "failures": turn_failures,
}


def draw_of(number: int) -> int:
    """The replication whose inputs a replication or a twin has."""
    return number - TWINS if number >= TWINS else number


def draw(question: Question, number: int) -> dict[str, float | str]:
    """Key -> the value that the inputs have in a replication (or twin), as a scenario writes them."""
    scenario = question.scenario
    streams = Streams(scenario.experiment.seed, draw_of(number))
    return {
        key: written(known, quantile(known, _share(streams, key)), key)
        for key, known in (scenario.uncertain or {}).items()
    }


def _share(streams: Streams, key: str) -> float:
    """Uniform and never 0 nor 1, at which some distributions have no value."""
    return float(min(max(streams.generator("uncertain", key).random(), 1e-12), 1 - 1e-12))


def drawn(question: Question, number: int) -> Turned:
    """The question with the inputs of a replication, and nothing uncertain any more.

    Raises InputError where values that were fine one by one are refused together.
    """
    values = draw(question, number)
    paths = {key: value for key, value in values.items() if key not in NAMED_INPUTS}
    turned = Turned(at_base(question))
    if paths:
        try:
            scenario = with_values(turned.question.scenario, paths)
        except ValidationError as error:
            key, value = next(iter(paths.items()))
            raise refused(key, value, error) from None
        turned = Turned(dataclasses.replace(turned.question, scenario=scenario))
    for name, turn in _TURNS.items():
        if name in values:
            turned = turn(turned, _number(values[name]))
    return turned


def at_base(question: Question) -> Question:
    """The question with every input as its file has it."""
    if question.scenario.uncertain is None:
        return question
    scenario = question.scenario.model_copy(update={"uncertain": None})
    return dataclasses.replace(question, scenario=scenario)


def with_seed(question: Question, seed: int) -> Question:
    """The question with another seed."""
    experiment = question.scenario.experiment.model_copy(update={"seed": seed})
    scenario = question.scenario.model_copy(update={"experiment": experiment})
    return dataclasses.replace(question, scenario=scenario)


def check_inputs(question: Question) -> None:
    """InputError for a named input that this question does not have, such as the discount of no plan."""
    for key in question.scenario.uncertain or {}:
        if key in KNOBS and KNOBS[key](question) is None:
            known = [name for name in NAMED_INPUTS if KNOBS[name](question) is not None]
            file = None if question.path is None else str(question.path)
            rule = "the scenario has no such input: nothing would change with it"
            raise InputError(Problem(rule, file, key=f"uncertain.{key}", value=key, known=tuple(known)))


def refuse_own_strategies(question: Question) -> None:
    """InputError for what a search that makes strategies of its own cannot follow: uncertain keys of the
    file's strategies, and a steady state, for it judges by replications."""
    file = None if question.path is None else str(question.path)
    for key in question.scenario.uncertain or {}:
        if path_of(key)[0] == "strategies":
            rule = "this command makes strategies of its own, which have no uncertain keys of the file"
            raise InputError(Problem(rule, file, key=f"uncertain.{key}"))
    if question.scenario.experiment.steady_state is not None:
        rule = "this command judges by replications: leave steady_state to fleetsim compare"
        raise InputError(Problem(rule, file, key="experiment.steady_state"))


@dataclass
class Drawer:
    """The question of a replication, ready to run: with its inputs drawn, or as it is if all are known."""

    question: Question
    flow: Flow
    prepared: Any
    """The question with every input at its base, prepared."""
    turn: Turn | None = None
    """What is done to the question after its inputs are drawn, such as more demand."""
    _kept: dict[int, tuple[Question, Any]] = field(default_factory=dict, repr=False)
    """Of the latest draws, which strategies share and searches come back to."""

    @classmethod
    def of(cls, question: Question, flow: Flow, turn: Turn | None = None) -> Drawer:
        """Prepare the question. InputError for uncertain inputs that it does not have."""
        check_inputs(question)
        base = at_base(question)
        return cls(question, flow, flow.prepare(base if turn is None else turn(base)), turn)

    def ready(self, number: int) -> tuple[Question, Any]:
        """The question of a replication or twin, and that question prepared."""
        if self.question.scenario.uncertain is None:
            return self.question, self.prepared
        wanted = draw_of(number)
        if wanted not in self._kept:
            turned = drawn(self.question, wanted)
            flow = flow_of(turned, quick(self.flow, self.prepared))
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            question = turned.question if self.turn is None else self.turn(turned.question)
            self._kept[wanted] = question, flow.prepare(question)
        return self._kept[wanted]

    def __getstate__(self) -> Mapping[str, Any]:
        return {**vars(self), "_kept": {}}


def _number(value: float | str) -> float:
    return float(value.removesuffix("%/month")) if isinstance(value, str) else value
