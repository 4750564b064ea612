"""`--burst N` of the finance commands: mean bursts from runs beside what the contracts cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from sim.billing.finance.outcomes import Way
from sim.errors import InputError, Problem

if TYPE_CHECKING:
    from sim.experiments.expected_burst import ExpectedBurst
    from sim.load import Question

__all__ = ["BurstOption", "burst_notes", "bursts_json", "with_bursts"]

BurstOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--burst",
        min=0,
        max=1000,
        metavar="N",
        help="Simulate N replications of strategies with burst, and add its mean cost; 0: leave it out.",
    ),
]


def with_bursts(
    ways: Sequence[Way], question: Question | None, months: int, replications: int
) -> tuple[list[Way], list[ExpectedBurst]]:
    """The ways with the mean bursts of their strategies over so many months, and what was found.

    InputError where bursts are asked for and there are none.
    """
    if not replications:
        return list(ways), []
    if question is None or all(way.strategy.burst is None for way in ways):
        rule = "only strategies of a scenario that rent in bursts have any"
        raise InputError(Problem(rule, key="--burst", value=replications))
    from sim.experiments.expected_burst import expected_burst

    names = [strategy.name for strategy in question.scenario.strategies]
    made: list[Way] = []
    found: list[ExpectedBurst] = []
    for way in ways:
        if way.strategy.burst is None:
            made.append(way)
            continue
        found.append(expected_burst(question, names.index(way.name), months, replications))
        made.append(dataclasses.replace(way, bursts=found[-1].charges))
    return made, found


def burst_notes(ways: Sequence[Way], found: Sequence[ExpectedBurst]) -> list[str]:
    """What is to be known of bursts: how their mean was found, or that they are left out."""
    if found:
        return [one.sentence for one in found]
    if any(way.strategy.burst is not None for way in ways):
        left_out = "Burst rentals are left out: what they cost depends on the jobs"
        return [f"{left_out}; --burst 10 adds their mean over 10 runs."]
    return []


def bursts_json(found: Sequence[ExpectedBurst]) -> list[dict[str, Any]]:
    """The entry `bursts`: cost over all months, with the limits of its interval."""
    return [
        {
            "strategy": one.strategy,
            "months": one.months,
            "replications": one.cost.n,
            "seed": one.seed,
            "cost": one.cost.mean,
            "cost_low": one.cost.low,
            "cost_high": one.cost.high,
        }
        for one in found
    ]
