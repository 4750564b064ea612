"""The inputs that a sensitivity study turns: unit, range, and why that range. To add one: a row at the foot.

Ranges without a published source are assumptions and say so; `--range NAME=LOW..HIGH` replaces any.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sim.errors import InputError, Problem
from sim.experiments.knobs_turns import (
    Turned,
    months_of,
    turn_demand,
    turn_discount,
    turn_end,
    turn_failures,
    turn_growth,
    turn_price,
    turn_price_range,
    turn_run_time,
)
from sim.load import Question
from sim.load_uncertain import quantile
from sim.model.said import said
from sim.replication import used_offers
from sim.units import DAY, MONTH, parse_growth

__all__ = ["KNOBS", "Knob", "knobs_of", "titled", "turned_by", "with_ranges"]


@dataclass(frozen=True, slots=True)
class Knob:
    """One input, its range, and how a question is turned to a value of it."""

    name: str
    title: str
    unit: str
    low: float
    base: float
    """As the question has it."""
    high: float
    why: str
    """Reason of the range."""
    assumed: bool
    """Whether the range has no published source."""
    turn: Callable[[Turned, float], Turned]
    least: float = -math.inf
    most: float = math.inf
    """Values outside of these mean nothing."""
    money_only: bool = False
    """Whether runs that are kept need only be billed anew."""

    @property
    def ends(self) -> tuple[float, ...]:
        """The ends of the range that differ from the base."""
        return tuple(end for end in (self.low, self.high) if end != self.base)


def knobs_of(question: Question) -> tuple[Knob, ...]:
    """The inputs that this question has, in the order of the table; where the scenario says how uncertain
    one is, its range is that."""
    return tuple(_said(question, knob) for row in KNOBS.values() if (knob := row(question)) is not None)


def with_ranges(knobs: Sequence[Knob], ranges: Mapping[str, tuple[float, float]]) -> tuple[Knob, ...]:
    """The same inputs with ranges of the user. InputError for an unknown name or one that cannot be."""
    known = tuple(knob.name for knob in knobs)
    for name in ranges:
        if name not in known:
            rule = "this input is not among those of the scenario"
            raise InputError(Problem(rule, key="--range", value=name, known=known))
    return tuple(_ranged(knob, ranges[knob.name]) if knob.name in ranges else knob for knob in knobs)


def titled(knob: Knob) -> str:
    """The name that `--range` takes, and what it means where the name does not say it."""
    return knob.name if knob.title == knob.name else f"{knob.name}, {knob.title}"


def turned_by(question: Question, knobs: Sequence[Knob], values: Mapping[str, float]) -> Turned:
    """The question with these inputs turned; an input at its base, or not named, stays untouched."""
    turned = Turned(question)
    for knob in knobs:
        value = values.get(knob.name, knob.base)
        if value != knob.base:
            turned = knob.turn(turned, value)
    return turned


def _said(question: Question, knob: Knob) -> Knob:
    known = (question.scenario.uncertain or {}).get(knob.name)
    if known is None:
        return knob
    ends = [round(quantile(known, share), 6) for share in (0.05, 0.95)]
    low, high = min(knob.base, *ends), max(knob.base, *ends)
    why = said("5 % to 95 % of what the scenario says of it (assumed)")
    if known.source:
        why = said("5 % to 95 % of what the scenario says of it ({name})", name=known.source)
    return dataclasses.replace(knob, low=low, high=high, why=why, assumed=known.source is None)


def _ranged(knob: Knob, ends: tuple[float, float]) -> Knob:
    low, high = ends
    text = f"{knob.name}={low:g}..{high:g}"
    if not knob.least <= low <= knob.base <= high <= knob.most or low == high:
        bounds = [f"at least {knob.least:g}"] if math.isfinite(knob.least) else []
        bounds += [f"at most {knob.most:g}"] if math.isfinite(knob.most) else []
        rule = f"the range must hold the base, {knob.base:g} {knob.unit}"
        if bounds:
            rule += f", and be {' and '.join(bounds)}"
        raise InputError(Problem(rule, key="--range", value=text))
    return dataclasses.replace(knob, low=low, high=high, why=said("given with --range"), assumed=False)


def _price_range(question: Question) -> Knob | None:
    prices = {offer.id: offer.price for offer in used_offers(question).values()}
    wide = [name for name, price in prices.items() if price.low < price.high]
    words = {price for price in _price_words(question, wide) if isinstance(price, str)}
    if not wide or not words:
        return None
    word = question.price or (words.pop() if len(words) == 1 else "mid")
    return Knob(
        name="price_range", title="place in the published price range", unit="of the range",
        low=0.0, base={"low": 0.0, "mid": 0.5, "high": 1.0}[word], high=1.0,
        why=said("the ends of the published ranges of {name}; 0 is the low end", name=", ".join(wide)),
        assumed=False,
        turn=turn_price_range, least=0.0, most=1.0, money_only=True,
    )  # fmt: skip


def _price_words(question: Question, wide: Sequence[str]) -> Iterator[str | Decimal]:
    """What leases and bursts of these offers say of their price; `mid` where they say nothing."""
    for strategy in question.scenario.strategies:
        yield from (lease.price or "mid" for lease in strategy.leases if lease.offer_id in wide)
        if strategy.burst is not None and strategy.burst.offer_id in wide:
            yield strategy.burst.price or "mid"


def _price(_question: Question) -> Knob:
    return Knob(
        name="price", title="price level", unit="times", low=0.9, base=1.0, high=1.1,
        why=said("a tenth less and a tenth more"), assumed=True,
        turn=turn_price, least=0.01, money_only=True,
    )  # fmt: skip


def _discount(question: Question) -> Knob | None:
    offers = used_offers(question)
    discounted = any(
        lease.plan in plans and plans[lease.plan].multiplier < 1
        for strategy in question.scenario.strategies
        for lease in strategy.leases
        for plans in [offers[lease.offer_id].plans]
    )
    agreed = any(
        lease.terms.discounts or question.scenario.terms.discounts
        for strategy in question.scenario.strategies
        for lease in strategy.leases
    )
    if not (discounted or agreed):
        return None
    return Knob(
        name="discount", title="discount of plans", unit="times", low=0.5, base=1.0, high=1.5,
        why=said("half as much off, and half as much again"),
        assumed=True, turn=turn_discount, least=0.0, money_only=True,
    )  # fmt: skip


def _demand(_question: Question) -> Knob:
    return Knob(
        name="demand", title="demand", unit="times", low=0.7, base=1.0, high=1.3,
        why=said("a team's guess of its own jobs is off by some 30 %"), assumed=True,
        turn=turn_demand, least=0.01,
    )  # fmt: skip


def _growth(question: Question) -> Knob | None:
    workload = question.scenario.workload
    if not (workload.classes or workload.timed):
        return None
    base = 0.0
    if workload.growth is not None:
        base = round(100 * math.expm1(parse_growth(workload.growth) * MONTH), 6)
    return Knob(
        name="growth", title="growth of demand", unit="%/month", low=min(0.0, base), base=base,
        high=max(2 * base, base + 3.0),
        why=said("from none to twice the growth that is planned, at least 3 points more"), assumed=True,
        turn=turn_growth, least=-99.0,
    )  # fmt: skip


def _run_time(_question: Question) -> Knob:
    return Knob(
        name="run_time", title="running time", unit="times", low=0.88, base=1.0, high=1.14,
        why=said(
            "of the measured rows whose source was left out of the fit, 90 % are within 14 % "
            "(docs/validation.md)"
        ), assumed=False, turn=turn_run_time, least=0.01,
    )  # fmt: skip


def _failures(question: Question) -> Knob | None:
    if question.scenario.reliability.profile == "none":
        return None
    return Knob(
        name="failures", title="failure rate", unit="times", low=0.36, base=1.0, high=2.0,
        why=said(
            "low: 24,400 GPU-hours between interruptions of A100 cards (Meta RSC-1) instead of 8,760; "
            "high: twice as many failures"
        ), assumed=True, turn=turn_failures, least=0.01,
    )  # fmt: skip


def _end(question: Question) -> Knob | None:
    scenario = question.scenario
    base = months_of(scenario)
    least = (scenario.experiment.warm_up + DAY) / MONTH
    low = max(base / 2, least)
    if base < 1 or low >= base:
        return None
    return Knob(
        name="end", title="early end of the project", unit="months", low=low, base=base, high=base,
        why=said("the project is given up at half of its time; jobs and leases end, what is owed stays"),
        assumed=True, turn=turn_end, least=least, most=base,
    )  # fmt: skip


KNOBS: Mapping[str, Callable[[Question], Knob | None]] = {
    "price_range": _price_range,
    "price": _price,
    "discount": _discount,
    "demand": _demand,
    "growth": _growth,
    "run_time": _run_time,
    "failures": _failures,
    "end": _end,
}
"""Name -> the input as a question has it; None where the question has no such input."""
