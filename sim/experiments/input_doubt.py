"""Luck and doubt about inputs, told apart by twins: runs with the same inputs and luck of their own.

Each replication has a draw of all inputs; its twin has the same draw and other luck
(`sim.experiments.variance_parts` says what follows). Luck averages out with more replications. Doubt does
not: the range of the replications is the range in which the result may lie, and it stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sim.experiments.comparison_parts import InputDoubt, InputDrawn, Split
from sim.experiments.knobs_table import KNOBS
from sim.experiments.runs import Runs
from sim.experiments.sample import Sample
from sim.experiments.statistics import defined, quantiles
from sim.experiments.uncertain import TWINS, draw
from sim.experiments.uncertain_words import described, short, source_of
from sim.experiments.variance_parts import parts
from sim.load import Question
from sim.load_uncertain import path_of, plain
from sim.model.uncertain import NAMED_INPUTS

__all__ = ["MOST_TWINS", "doubt_of", "input_doubt"]

MOST_TWINS = 100
"""Replications that get a twin; the parts of a variance are then known to some 15 %."""

RANGE = (0.05, 0.95)
"""Quantiles of the range in which a result may lie."""


def input_doubt(
    runs: Runs, samples: Sequence[Sequence[Sample]], baseline: str, metrics: Sequence[str]
) -> InputDoubt | None:
    """Make the twins of the replications, and tell luck from doubt; None where all inputs are known.

    `samples`: strategy by strategy; `metrics`: what is looked at, for each strategy and less the baseline.
    """
    question = runs.question
    if question.scenario.uncertain is None:
        return None
    number = min(MOST_TWINS, *map(len, samples))
    strategies = range(len(samples))
    tasks = [(strategy, TWINS + n) for n in range(number) for strategy in strategies]
    made = runs.ask(tasks, note="twins, which tell luck from doubt about inputs") if number > 1 else []
    twins = [made[strategy :: len(samples)] for strategy in strategies]
    return doubt_of(question, samples, twins, baseline, metrics)


def doubt_of(
    question: Question,
    samples: Sequence[Sequence[Sample]],
    twins: Sequence[Sequence[Sample]],
    baseline: str,
    metrics: Sequence[str],
) -> InputDoubt:
    """Luck and doubt apart, of replications and their twins, both strategy by strategy."""
    names = [of_strategy[0].strategy for of_strategy in samples]
    base = names.index(baseline)
    splits: list[Split] = []
    for metric in dict.fromkeys(metrics):
        own = [_values(one, metric) for one in samples]
        other = [_values(one, metric) for one in twins]
        for place, name in enumerate(names):
            splits += _split(name, None, metric, own[place], other[place], question)
        for place, name in enumerate(names):
            if place != base:
                less, twin_less = _less(own[place], own[base]), _less(other[place], other[base])
                splits += _split(name, baseline, metric, less, twin_less, question)
    most = max(map(len, samples))
    draws = tuple(draw(question, n) for n in range(most))
    paired = {name: tuple(found) for name, found in zip(names, twins, strict=True)}
    return InputDoubt(_inputs(question, draws[0]), tuple(splits), len(twins[0]), draws, paired)


def _inputs(question: Question, first: Mapping[str, float | str]) -> tuple[InputDrawn, ...]:
    data = plain(question.scenario)
    return tuple(
        InputDrawn(
            key,
            NAMED_INPUTS.get(key, ("", ""))[0],
            described(known),
            _base(question, data, key),
            short(first[key]),
            known.source or (None if known.validation is None else source_of(known)),
        )
        for key, known in (question.scenario.uncertain or {}).items()
    )


def _base(question: Question, data: Any, key: str) -> str:
    """What the scenario has where nothing is drawn."""
    if key in NAMED_INPUTS:
        knob = KNOBS[key](question)
        return "" if knob is None else f"{knob.base:g}{NAMED_INPUTS[key][1]}"
    for step in path_of(key):
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return ""
    return short(data) if isinstance(data, int | float | str) else ""


def _values(samples: Sequence[Sample], metric: str) -> list[float | None]:
    return [sample.metrics.get(metric) for sample in samples]


def _less(one: Sequence[float | None], base: Sequence[float | None]) -> list[float | None]:
    return [
        None if value is None or other is None else value - other
        for value, other in zip(one, base, strict=False)
    ]


def _split(
    strategy: str,
    less: str | None,
    metric: str,
    values: Sequence[float | None],
    twins: Sequence[float | None],
    question: Question,
) -> list[Split]:
    """One row; none where too little of it is defined."""
    numbers = defined(values)
    try:
        found = parts(values[: len(twins)], twins, question.scenario.experiment.confidence)
    except ValueError:
        return []
    low, high = quantiles(numbers, RANGE)
    mean = math.fsum(numbers) / len(numbers)
    return [Split(strategy, less, metric, mean, low or 0.0, high or 0.0, found)]
