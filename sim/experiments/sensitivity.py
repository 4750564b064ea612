"""What the decision hangs on: each input turned through its range, and the value at which it flips.

One input at a time, the others at their base, on common random numbers: a bar of the tornado is what the
recommended strategy costs (or another metric) at the low and at the high end. Where the decision at an end
differs from the base, halving between the two finds the value at which it changes, to 1/64 of the distance
(1/256 for prices and discounts). Ranges and their reasons: `sim.experiments.knobs_table`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sim.errors import InputError, Problem
from sim.experiments.compare import clocked, compare
from sim.experiments.comparison import Comparison, Wall
from sim.experiments.decision import ranked_by
from sim.experiments.knobs_table import Knob, turned_by
from sim.experiments.knobs_turns import flow_of
from sim.experiments.metric_interval import metric_interval
from sim.experiments.runs import Flow, Places
from sim.experiments.statistics import Interval, paired_difference
from sim.experiments.sweep import some_vault
from sim.experiments.sweep_fill import Point, fill
from sim.load import Question
from sim.metrics import METRICS

__all__ = ["Bar", "Flip", "Meter", "Reading", "Tornado", "fixed", "known_metric", "tornado", "two_best"]

HALVINGS, HALVINGS_OF_MONEY = 6, 8
"""Halvings between the base and an end: to 1/64 of the distance, to 1/256 where nothing is simulated anew."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a comparison found with some inputs turned."""

    decision: str | None
    """The recommended strategy; None where none meets the target."""
    values: Mapping[str, tuple[float | None, ...]]
    """Strategy -> the metric of the study in each replication."""
    nearest: str | None
    metric: str
    """Name of that metric."""
    costs: Mapping[str, float | None]
    """Strategy -> mean of the metric of cost."""
    meets: Mapping[str, bool]

    def interval(self, strategy: str, confidence: float) -> Interval:
        """The metric of one strategy."""
        return metric_interval(self.metric, self.values[strategy], confidence)

    def difference(self, strategy: str, rival: str, confidence: float) -> Interval:
        """The metric of one strategy less that of another, on the same jobs and failures."""
        return paired_difference(self.values[strategy], self.values[rival], confidence)


@dataclass(slots=True)
class Meter:
    """Comparisons of one question with its inputs turned; every value is asked once."""

    question: Question
    knobs: tuple[Knob, ...]
    metric: str
    places: Places
    flow: Flow
    replications: int
    _read: dict[tuple[float, ...], Reading] = field(default_factory=dict)
    base: Comparison | None = None
    """The comparison with nothing turned, once it was asked."""

    def at(self, values: Values) -> Reading:
        """The comparison with these inputs turned, the others at their base."""
        key = self._key(values)
        if key not in self._read:
            turned = turned_by(self.question, self.knobs, values)
            places = self.places
            comparison = compare(
                turned.question, self.replications, workers=places.workers, vault=places.vault,
                cluster=places.cluster, flow=flow_of(turned, self.flow), progress=places.progress,
            )  # fmt: skip
            self._read[key] = self._reading(comparison)
            if not turned_any(values, self.knobs):
                self.base = dataclasses.replace(comparison, details={}, billables={})
        return self._read[key]

    def fill(self, points: Sequence[Values]) -> None:
        """Make the runs of these values now, on all processes at once."""
        turned = [turned_by(self.question, self.knobs, values) for values in points]
        fill([Point(one.question, flow_of(one, self.flow)) for one in turned], self.replications, self.places)

    def _key(self, values: Values) -> tuple[float, ...]:
        return tuple(values.get(knob.name, knob.base) for knob in self.knobs)

    def _reading(self, comparison: Comparison) -> Reading:
        money = ranked_by(self.question.scenario)
        none = (None,) * comparison.replications
        results = comparison.strategies
        return Reading(
            decision=comparison.recommendation.strategy,
            values={one.name: one.values.get(self.metric, none) for one in results},
            nearest=comparison.recommendation.nearest,
            metric=self.metric,
            costs={one.name: one.mean(money) for one in results},
            meets={one.name: one.meets_target for one in results},
        )


@dataclass(frozen=True, slots=True)
class Bar:
    """One input of the tornado."""

    knob: Knob
    low: Interval
    """The metric of the recommended strategy with the input at the low end of its range."""
    high: Interval
    difference_low: Interval | None
    """The recommended strategy less its rival at the low end; None without a rival."""
    difference_high: Interval | None
    decision_low: str | None
    decision_high: str | None


@dataclass(frozen=True, slots=True)
class Flip:
    """Where the decision changes between the base and one end of an input's range."""

    knob: Knob
    end: float
    before: float
    """The value nearest to the change at which the decision was still that of the base."""
    after: float
    """The value nearest to it at which it was another."""
    decision: str | None
    """What it is there."""

    @property
    def value(self) -> float:
        """The middle of the two."""
        return (self.before + self.after) / 2


@dataclass(frozen=True, slots=True)
class Tornado:
    """One input at a time."""

    question: Question
    """As it was run, with the replications asked for."""
    metric: str
    unit: str
    decision: str | None
    """At the base; None where no strategy meets the target."""
    strategy: str
    """The recommended one, else the nearest."""
    rival: str | None
    """The best of the others: the cheapest that meets the target, else the cheapest."""
    base: Interval
    base_difference: Interval | None
    bars: tuple[Bar, ...]
    """The widest first."""
    flips: tuple[Flip, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    wall: Wall = field(compare=False)


def tornado(
    question: Question,
    knobs: Sequence[Knob],
    metric: str | None,
    replications: int,
    places: Places,
    flow: Flow | None = None,
) -> Tornado:
    """Turn each input to the ends of its range, and find where the decision flips.

    Raises InputError for an unknown metric or one that the recommended strategy does not have, and as
    `compare` does.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    asked = fixed(question, replications)
    metric = known_metric(metric or ranked_by(asked.scenario))
    level = asked.scenario.experiment.confidence
    with some_vault(places) as kept:
        meter = Meter(asked, tuple(knobs), metric, kept, flow or Flow(), replications)
        points: list[Values] = [{}, *({knob.name: end} for knob in knobs for end in knob.ends)]
        meter.fill(points)
        base = meter.at({})
        strategy, rival = two_best(base)
        _refuse_undefined(base, strategy, metric)
        bars = [_bar(meter, knob, strategy, rival, level) for knob in knobs]
        flips = [flip for knob in knobs for end in knob.ends if (flip := _flip(meter, knob, end))]
    comparison = meter.base
    middle = base.interval(strategy, level)
    apart = None if rival is None else base.difference(strategy, rival, level)
    return Tornado(
        question=asked,
        metric=metric,
        unit=METRICS[metric].unit,
        decision=base.decision,
        strategy=strategy,
        rival=rival,
        base=middle,
        base_difference=apart,
        bars=tuple(sorted(bars, key=lambda bar: -_width(bar, middle, apart))),
        flips=tuple(flips),
        assumptions=() if comparison is None else comparison.assumptions,
        notes=(*_said_of(question), *(() if comparison is None else comparison.notes)),
        wall=clocked(started, clock, places.workers),
    )


def two_best(reading: Reading) -> tuple[str, str | None]:
    """The recommended strategy (else the nearest), and the cheapest of the others that meets the target
    (else the cheapest)."""
    best = reading.decision or reading.nearest or next(iter(reading.costs))
    others = [name for name in reading.costs if name != best]
    good = [name for name in others if reading.meets[name]] or others
    rival = min(good, key=lambda name: reading.costs[name] or 0.0, default=None)
    return best, rival


def fixed(question: Question, replications: int) -> Question:
    """The question with a fixed number of replications, whatever rule of stopping it has, and with its
    uncertain inputs at their base."""
    changes = {"replications": replications, "until": None, "select": None, "steady_state": None}
    experiment = question.scenario.experiment.model_copy(update=changes)
    scenario = question.scenario.model_copy(update={"experiment": experiment, "uncertain": None})
    return dataclasses.replace(question, scenario=scenario)


def _said_of(question: Question) -> list[str]:
    """What is done otherwise here than the scenario says."""
    found = []
    if question.scenario.uncertain is not None:
        keys = ", ".join(question.scenario.uncertain)
        found.append(f"Inputs that the scenario calls uncertain stand at their base here: {keys}.")
    if question.scenario.experiment.steady_state is not None:
        found.append("The scenario asks for a steady state; here replications of the whole horizon are made.")
    return found


def known_metric(metric: str) -> str:
    """The metric; InputError if there is none of this name."""
    if metric not in METRICS:
        raise InputError(Problem("this is no metric", key="--metric", value=metric, known=tuple(METRICS)))
    return metric


def turned_any(values: Values, knobs: Sequence[Knob]) -> bool:
    """Whether any input differs from its base."""
    return any(values.get(knob.name, knob.base) != knob.base for knob in knobs)


def _refuse_undefined(base: Reading, strategy: str, metric: str) -> None:
    if all(value is None for value in base.values[strategy]):
        rule = f"the recommended strategy {strategy!r} has no value of this metric"
        raise InputError(Problem(rule, key="--metric", value=metric))


def _bar(meter: Meter, knob: Knob, strategy: str, rival: str | None, level: float) -> Bar:
    low, high = meter.at({knob.name: knob.low}), meter.at({knob.name: knob.high})
    return Bar(
        knob=knob,
        low=low.interval(strategy, level),
        high=high.interval(strategy, level),
        difference_low=None if rival is None else low.difference(strategy, rival, level),
        difference_high=None if rival is None else high.difference(strategy, rival, level),
        decision_low=low.decision,
        decision_high=high.decision,
    )


def _flip(meter: Meter, knob: Knob, end: float) -> Flip | None:
    decision = meter.at({}).decision
    if meter.at({knob.name: end}).decision == decision:
        return None
    before, after = knob.base, end
    for _ in range(HALVINGS_OF_MONEY if knob.money_only else HALVINGS):
        middle = (before + after) / 2
        if meter.at({knob.name: middle}).decision == decision:
            before = middle
        else:
            after = middle
    return Flip(knob, end, before, after, meter.at({knob.name: after}).decision)


def _width(bar: Bar, base: Interval, apart: Interval | None) -> float:
    """The wider of the two bars of an input."""
    own, other = (bar.low, bar.high, base), (bar.difference_low, bar.difference_high, apart)
    return max(_spread(own), _spread(other))


def _spread(intervals: Sequence[Interval | None]) -> float:
    means = [found.mean for found in intervals if found is not None and found.mean is not None]
    return max(means) - min(means) if means else 0.0
