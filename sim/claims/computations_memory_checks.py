"""Memory compared: one peak against another, parts against weights, rules against the physics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_jobs import MEMORY_ERROR, RATIO_ERROR, CardJob, Run, job_at, pairs_of, runs_of
from sim.claims.card_steps import (
    SHOWN_IN_FULL,
    Part,
    assumed,
    memory_sources,
    memory_steps,
    part_gib,
    spread,
    yes,
)
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.units import GIB

__all__ = ["MEMORY_CHECKS"]


class _Two(Strict):
    same: Mapping[str, Any] = {}
    """Inputs of both jobs."""
    job: Mapping[str, Any]
    against: Mapping[str, Any]
    part: Part = "total"
    answer: Literal["share", "saving", "more", "times", "change"] = "share"
    """Of `against`: share in %, saving in %, what is more in %, times; or the change in GiB."""


_UNITS: Mapping[str, str] = {"share": "%", "saving": "%", "more": "%", "times": "x", "change": "GiB"}


def memory_against(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """One peak against another; a range over the models and lengths, pair by pair where they agree."""
    asked = read_inputs(_Two, inputs)
    first = runs_of(job_at("job", asked.same, asked.job), bench)
    second = runs_of(job_at("against", asked.same, asked.against), bench)
    steps: list[Step] = []
    values: list[float] = []
    for one, other in pairs_of(first, second):
        a, b = part_gib(one, asked.part), part_gib(other, asked.part)
        if b <= 0:
            rule = "what is compared with takes no memory"
            raise InputError(Problem(rule, key="inputs.part", value=asked.part))
        values.append(_compared(asked.answer, a, b))
        steps += _pair(asked, one, other, a, b, values[-1])
    low, high = spread(values)
    runs = (*first, *second)
    # A change of state alone, such as another rank, is counted, not fitted.
    error = MEMORY_ERROR if asked.answer == "change" else RATIO_ERROR
    sources = memory_sources(runs)
    return Working(low, high, _UNITS[asked.answer], tuple(steps), assumed(runs), sources, error=error)


def _compared(answer: str, a: float, b: float) -> float:
    return {
        "share": 100 * a / b,
        "saving": 100 * (1 - a / b),
        "more": 100 * (a / b - 1),
        "times": a / b,
        "change": a - b,
    }[answer]


def _pair(asked: _Two, one: Run, other: Run, a: float, b: float, value: float) -> list[Step]:
    part = "" if asked.part == "total" else f" ({asked.part})"
    texts = {
        "share": f"Share: {a:.2f} / {b:.2f}",
        "saving": f"Saving: 1 - {a:.2f} / {b:.2f}",
        "more": f"More: {a:.2f} / {b:.2f} - 1",
        "times": f"Times: {a:.2f} / {b:.2f}",
        "change": f"Change: {a:.2f} - {b:.2f}",
    }
    return [
        Step(f"Peak on one card{part}: {one.label}", shown(a, "GiB", 2)),
        Step(f"Peak on one card{part}: {other.label}", shown(b, "GiB", 2)),
        Step(texts[asked.answer], shown(value, _UNITS[asked.answer], 2)),
    ]


class _Largest(CardJob):
    parts: tuple[Part, ...] = ("activations", "state")
    """Parts that the statement calls larger than the weights, taken together."""


def parts_over_weights(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether some parts of a peak together are larger than the weights."""
    asked = read_inputs(_Largest, inputs)
    runs = runs_of(asked, bench)
    steps: list[Step] = []
    larger = []
    for run in runs:
        steps += memory_steps(run, whole=len(runs) <= SHOWN_IN_FULL)
        ours, base = sum(part_gib(run, part) for part in asked.parts), part_gib(run, "weights")
        larger.append(ours > base)
        text = f"{' and '.join(asked.parts)} against {base:.2f} GiB of weights: {run.label}"
        steps.append(Step(text, shown(ours, "GiB", 2)))
    steps.append(Step("They are larger than the weights", f"{sum(larger)} of {len(larger)} jobs"))
    sources = memory_sources(runs)
    return Working(None, None, "", tuple(steps), assumed(runs), sources, holds=all(larger))


class _Rule(Strict):
    factor: float = Field(gt=0)
    """On the weights."""
    bytes_each: float = Field(gt=0)
    """For each sample, token and hidden unit."""
    room_gb: tuple[float, ...] = Field(min_length=1, max_length=2)
    """Added, GB."""
    cases: tuple[CardJob, ...] = Field(min_length=1)


def rule_of_thumb(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether `factor x weights + batch x length x hidden x bytes + room` gives the peaks of the physics.

    All cases on one card that is large enough, so that nothing is divided.
    """
    asked = read_inputs(_Rule, inputs)
    runs = [run for job in asked.cases for run in runs_of(job, bench)]
    steps: list[Step] = []
    holds = True
    for run in runs:
        task, model = run.case.task, run.model
        gb = GIB / 1e9
        base = model.params * 2 / 1e9
        acts = task.micro_batch * task.seq_len * model.hidden * asked.bytes_each / 1e9
        low, high = (asked.factor * base + acts + room for room in (min(asked.room_gb), max(asked.room_gb)))
        text = (
            f"{model.name}, {task.micro_batch} x {task.seq_len:,}: {base:.1f} GB x {asked.factor:g} + "
            f"{acts:.2f} GB + {min(asked.room_gb):g} to {max(asked.room_gb):g} GB"
        )
        right = run.total_gib * gb
        near = right * (1 - MEMORY_ERROR) <= high and low <= right * (1 + MEMORY_ERROR)
        holds = holds and near
        steps += [
            Step(text, f"{low:.1f} to {high:.1f} GB"),
            Step(f"Peak by the physics: {run.label}", f"{right:.1f} GB"),
            Step(f"They agree within the error of the physics, {MEMORY_ERROR:.0%}", yes(near)),
        ]
    steps.append(Step("The rule gives all of these peaks", yes(holds)))
    return Working(None, None, "", tuple(steps), assumed(runs)[1:], memory_sources(runs), holds=holds)


class _Tier(Strict):
    params_b: Annotated[float, Field(gt=0)]
    from_gb: Annotated[float, Field(gt=0)]


class _Tiers(Strict):
    tiers: tuple[_Tier, ...] = Field(min_length=1)


def tiers_above_weights(inputs: Mapping[str, Any], _: Bench) -> Working:
    """Whether the low end of each range is above the bare 16-bit weights."""
    asked = read_inputs(_Tiers, inputs)
    steps, holds = [], True
    for tier in asked.tiers:
        base = tier.params_b * 2
        holds = holds and tier.from_gb > base
        text = (
            f"Weights of {tier.params_b:g}B: {tier.params_b:g} x 10^9 x 2 bytes, against {tier.from_gb:g} GB"
        )
        steps.append(
            Step(text, f"{base:g} GB, {'below' if tier.from_gb > base else 'not below'} the low end")
        )
    steps.append(Step("Every low end leaves room for more than the weights", yes(holds)))
    return Working(None, None, "", tuple(steps), (), (), holds=holds)


MEMORY_CHECKS: Mapping[str, Computation] = {
    "memory_against": memory_against,
    "parts_over_weights": parts_over_weights,
    "memory_rule_of_thumb": rule_of_thumb,
    "tiers_above_weights": tiers_above_weights,
}
"""Computations that compare memory."""
