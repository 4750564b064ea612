"""Luck and doubt about inputs, kept apart: all inputs drawn once a replication, beside runs with all at base.

What differs between replications with every input at its base is luck: it averages out with more of them.
What the draws of the inputs add does not: nobody knows the inputs better for more runs. So the first is
given as the interval of a mean, the second as the range in which the result may lie. Each replication has
the same draw, and the same luck, for all strategies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.experiments.knobs_table import Knob, turned_by
from sim.experiments.knobs_turns import flow_of
from sim.experiments.metric_interval import metric_interval
from sim.experiments.runs import Flow, Places, Runs
from sim.experiments.sensitivity import Tornado, fixed
from sim.experiments.statistics import Interval, defined, quantiles
from sim.experiments.sweep import some_vault
from sim.experiments.sweep_fill import Point, fill
from sim.load import Question
from sim.streams import Streams

__all__ = ["Doubt", "Spread", "doubt", "drawn"]

RANGE = (0.05, 0.95)
"""Quantiles of the range in which a result may lie."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The metric of one strategy, in its unit."""

    strategy: str
    luck: Interval
    """Of the mean with all inputs at their base: what more replications would narrow."""
    mean: float
    """With the inputs drawn."""
    low: float
    """5 % of the replications with drawn inputs are below."""
    high: float
    """5 % are above."""
    luck_deviation: float
    """Standard deviation from replication to replication with all inputs at their base."""
    input_deviation: float
    """What the inputs add: the square root of the variance with drawn inputs less that without; 0 where it
    is below."""
    cheapest: float | None
    """Share of the replications in which no other strategy has less of the metric; None for a metric of
    which less is not better."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Luck and doubt about inputs, a row a strategy."""

    draws: int
    spreads: tuple[Spread, ...]


def doubt(
    found: Tornado, knobs: Sequence[Knob], draws: int, places: Places, flow: Flow | None = None
) -> Doubt:
    """Draw all inputs once a replication, for all strategies of the tornado's question.

    `draws` is at least 2. Strategies in which the metric is defined in fewer than two of the replications
    are left out.
    """
    flow = flow or Flow()
    asked = fixed(found.question, draws)
    seed = asked.scenario.experiment.seed
    values = [drawn(knobs, seed, number) for number in range(draws)]
    with some_vault(places) as kept:
        points = [_point(asked, knobs, one, flow, number) for number, one in enumerate(values)]
        fill([Point(asked, flow), *points], draws, kept)
        at_base = _metrics(Point(asked, flow, tuple(range(draws))), found.metric, kept)
        columns = [_metrics(point, found.metric, kept) for point in points]
    turned = [[column[place][0] for column in columns] for place in range(len(at_base))]
    less = found.unit.startswith("CNY")
    winners = _winners(turned) if less else Counter[int]()
    level = asked.scenario.experiment.confidence
    spreads = [
        _spread(strategy.name, found.metric, before, after, level, winners[place] / draws if less else None)
        for place, (strategy, before, after) in enumerate(
            zip(asked.scenario.strategies, at_base, turned, strict=True)
        )
        if min(len(defined(before)), len(defined(after))) >= 2
    ]
    return Doubt(draws, tuple(spreads))


def drawn(knobs: Sequence[Knob], seed: int, replication: int) -> dict[str, float]:
    """Inputs of one replication, uniform over their ranges, each from a stream of its own name."""
    streams = Streams(seed, replication)
    return {
        knob.name: knob.low + (knob.high - knob.low) * float(streams.generator("input", knob.name).random())
        for knob in knobs
    }


def _point(
    question: Question, knobs: Sequence[Knob], values: Mapping[str, float], flow: Flow, number: int
) -> Point:
    turned = turned_by(question, knobs, values)
    return Point(turned.question, flow_of(turned, flow), (number,))


def _metrics(point: Point, metric: str, places: Places) -> list[list[float | None]]:
    """Strategy by strategy, the metric in the replications of a point."""
    runs = Runs.of(point.question, Places(places.workers, places.cluster, places.vault), point.flow)
    return [
        [sample.metrics.get(metric) for sample in runs.ask([(strategy, n) for n in point.numbers or ()])]
        for strategy in range(len(point.question.scenario.strategies))
    ]


def _winners(turned: Sequence[Sequence[float | None]]) -> Counter[int]:
    """How often each strategy has the least, the first of those that are equal to the cent."""
    found: Counter[int] = Counter()
    for column in zip(*turned, strict=True):
        costs = [math.inf if value is None else round(value, 2) for value in column]
        found[costs.index(min(costs))] += 1
    return found


def _spread(
    name: str,
    metric: str,
    before: Sequence[float | None],
    after: Sequence[float | None],
    confidence: float,
    cheapest: float | None,
) -> Spread:
    low, high = quantiles(after, RANGE)
    numbers = defined(after)
    luck = _variance(defined(before))
    return Spread(
        strategy=name,
        luck=metric_interval(metric, before, confidence),
        mean=math.fsum(numbers) / len(numbers),
        low=low or 0.0,
        high=high or 0.0,
        luck_deviation=math.sqrt(luck),
        input_deviation=math.sqrt(max(0.0, _variance(numbers) - luck)),
        cheapest=cheapest,
    )


def _variance(numbers: Sequence[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
