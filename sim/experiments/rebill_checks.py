"""What of a stored run may change when it is billed again: all that the simulation never read.

Where inputs are uncertain every replication has a question of its own, and each of them is looked at.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sim.decisions.placement import PLACEMENTS
from sim.errors import InputError, Problem
from sim.experiments.billable import MONEY_METRICS
from sim.experiments.knobs_turns import Turned
from sim.experiments.stored import StoredRun
from sim.experiments.uncertain import drawn
from sim.load import Question, load
from sim.model.contract import PriceChoice
from sim.model.scenario import Strategy
from sim.replication import fleet_plan, used_offers

__all__ = ["refuse_new_runs", "refuse_priced_rules", "with_changes"]

UNCERTAIN = "uncertain"

FREE = ("name", "currency", "exchange", "terms", "experiment.confidence", UNCERTAIN)
"""Keys of a scenario that jobs, engine and metrics of service never read; those of the strategies are
free as far as they leave the fleet plan, which is all that the engine knows of a strategy, as it was.
What is drawn is looked at replication by replication."""


def with_changes(stored: StoredRun, changes: Sequence[str], price: PriceChoice | None) -> Question:
    """The question of a stored run with these settings; InputError where one is wrong."""
    question = load(stored.folder / "scenario.yaml", changes, stored.question.catalog)
    return dataclasses.replace(question, price=price or stored.question.price)


def refuse_priced_rules(stored: StoredRun) -> None:
    """InputError if the runs are no replications, or their number was chosen by the old prices."""
    experiment, key = stored.question.scenario.experiment, None
    if experiment.steady_state is not None:
        rule = (
            "the intervals of one long run stand on its jobs, which a stored run does not keep: use fleetsim "
            "compare, which reads the runs it kept"
        )
        raise InputError(Problem(rule, str(stored.folder), key="experiment.steady_state"))
    if experiment.select is not None:
        key = "experiment.select"
    elif experiment.until is not None and set(experiment.until.half_width) & set(MONEY_METRICS):
        key = "experiment.until"
    if key is not None:
        rule = "the number of replications was chosen by what they cost: use fleetsim compare"
        raise InputError(Problem(rule, str(stored.folder), key=key))


def refuse_new_runs(stored: StoredRun, after: Question, changes: Sequence[str]) -> None:
    """InputError with the keys whose change the simulation, or a metric of service, would have read."""
    keys = [*_read(stored, after)]
    if not keys:
        return
    problems: list[Problem] = []
    for change in changes:
        name, _, value = change.partition("=")
        try:
            alone = with_changes(stored, [change], after.price)
        except InputError:  # it needs the others; what they do together is said below
            continue
        if any(_read(stored, alone)):
            problems.append(_new_run(stored, name.strip(), value.strip(), alone))
    if not problems:
        problems = [_new_run(stored, key, None, after) for key in keys]
    raise InputError(problems)


def _read(stored: StoredRun, after: Question) -> Iterator[str]:
    """Keys that differ and that the runs read: of the file, and of the draws of each replication."""
    before = stored.question
    found = [*_read_by_simulation(before, after)]
    if found:
        yield from found
        return
    old, new = before.scenario.uncertain, after.scenario.uncertain
    if (old is None) != (new is None):
        yield UNCERTAIN  # with none there are no twins, and with some there must be
        return
    names = [key for key in {**(old or {}), **(new or {})} if (old or {}).get(key) != (new or {}).get(key)]
    for number in range(int(stored.document["replications"]) if old else 0):
        one, other = drawn(before, number), drawn(after, number)
        if _met(one) != _met(other) or any(_read_by_simulation(one.question, other.question)):
            yield from (f"{UNCERTAIN}.{name}" for name in names)
            if not names:
                yield from _read_by_simulation(one.question, other.question)
            return


def _met(turned: Turned) -> tuple[float, float]:
    """What of drawn inputs stands in no scenario."""
    return turned.run_time, turned.failures


def _new_run(stored: StoredRun, key: str, value: str | None, after: Question) -> Problem:
    rule = "the simulation or its metrics of service read this: use fleetsim compare"
    by_price = [
        new.name
        for old, new in zip(stored.question.scenario.strategies, after.scenario.strategies, strict=False)
        if PLACEMENTS[new.placement].by_price and _plan(stored.question, old) != _plan(after, new)
    ]
    if by_price:
        rule = f"the placement rule of {by_price[0]!r} reads prices: use fleetsim compare"
    return Problem(rule, str(stored.folder), key=key, value=value)


def _read_by_simulation(before: Question, after: Question) -> Iterator[str]:
    """Keys that differ and that jobs, engine, physics or metrics of service read."""
    old, new = before.scenario, after.scenario
    changed = list(_differences(old.model_dump(), new.model_dump()))
    for key in changed:
        if not key.startswith("strategies") and not any(key == f or key.startswith(f"{f}.") for f in FREE):
            yield key
    names = [strategy.name for strategy in old.strategies]
    if names != [strategy.name for strategy in new.strategies]:
        yield "strategies"
        return
    offers = used_offers(before).keys() == used_offers(after).keys()
    for number, (one, other) in enumerate(zip(old.strategies, new.strategies, strict=True)):
        if _plan(before, one) != _plan(after, other) or not offers:
            here = [key for key in changed if key.startswith(f"strategies.{number}.")]
            yield from here or (["--price"] if before.price != after.price else changed)


def _plan(question: Question, strategy: Strategy) -> Any:
    return fleet_plan(question.scenario, strategy, question.catalog, question.price)


def _differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Dotted paths at which two trees of mappings, lists and values differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}".strip("."))
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{path}.{number}")
    elif old != new:
        yield path
