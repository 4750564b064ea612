"""Speed by the physics: hours of a data set, one job against another, tokens a day."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_jobs import RATIO_ERROR, SPEED_ERROR, CardJob, Run, job_at, pairs_of, runs_of
from sim.claims.card_steps import SHOWN_IN_FULL, assumed, hour_steps, rate_steps, speed_sources, spread, yes
from sim.claims.computations_hardware import HARDWARE
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.physics.throughput import attention_flops, linear_flops

__all__ = ["SPEED", "SPEED_UNITS", "compared"]


Answer = Literal["times", "faster", "slower", "longer"]
SPEED_UNITS: Mapping[str, str] = {"times": "x", "faster": "%", "slower": "%", "longer": "%"}


def training_hours(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Hours of training on a data set; a range over all that the job names. Fit is not asked."""
    asked = read_inputs(CardJob, inputs)
    runs = runs_of(asked, bench)
    steps: list[Step] = []
    for run in runs:
        steps += hour_steps(run) if len(runs) <= SHOWN_IN_FULL else hour_steps(run)[-1:]
        if not run.fits:
            text = f"But the job does not fit: it needs {run.total_gib:.1f} GiB of {run.gpu.usable_gib:g} GiB"
            steps.append(Step(text, shown(run.hours, "h", 1)))
    low, high = spread([run.hours for run in runs])
    notes = (*assumed(runs, speed=True), *_lengths(runs[0], asked))
    return Working(low, high, "h", tuple(steps), notes, speed_sources(runs), error=SPEED_ERROR)


def _lengths(run: Run, asked: CardJob) -> tuple[str, ...]:
    if run.lengths.useful == run.case.task.seq_len:
        return ("Every sample fills the length that is stated.",)
    mean = f"Samples average {run.lengths.useful:,.0f} tokens"
    if run.lengths.per_slot > 1:
        return (f"{mean} and are packed one behind the other.",)
    basis = "as stated" if "length_sigma" in asked.model_fields_set else "assumed"
    spread_of = f"log-normal with spread {asked.length_sigma:g} ({basis})"
    return (f"{mean}, {spread_of}; each is padded to the longest beside it.",)


class _Two(Strict):
    same: Mapping[str, Any] = {}
    """Inputs of both jobs."""
    job: Mapping[str, Any]
    against: Mapping[str, Any]
    answer: Answer = "times"
    """Samples a second: times; % faster; % slower; or % longer time."""


def compared(answer: Answer, job: float, other: float) -> float:
    """A speed against another."""
    found: Mapping[str, float] = {
        "times": job / other,
        "faster": 100 * (job / other - 1),
        "slower": 100 * (1 - job / other),
        "longer": 100 * (other / job - 1),
    }
    return found[answer]


def speed_against(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Samples a second of one job against another, of the same base model."""
    asked = read_inputs(_Two, inputs)
    first = runs_of(job_at("job", asked.same, asked.job), bench)
    second = runs_of(job_at("against", asked.same, asked.against), bench)
    pairs = pairs_of(first, second)
    steps: list[Step] = []
    values: list[float] = []
    for one, other in pairs:
        a, b = one.samples_per_s, other.samples_per_s
        values.append(compared(asked.answer, a, b))
        for run, rate in ((one, a), (other, b)):
            steps += rate_steps(run) if len(pairs) <= SHOWN_IN_FULL else ()
            steps.append(Step(f"Samples a second: {run.label}", shown(rate, "1/s", 4)))
        steps.append(Step(_how(asked.answer, a, b), shown(values[-1], SPEED_UNITS[asked.answer], 2)))
    low, high = spread(values)
    runs = (*first, *second)
    return Working(
        low,
        high,
        SPEED_UNITS[asked.answer],
        tuple(steps),
        assumed(runs, speed=True),
        speed_sources(runs),
        error=RATIO_ERROR,
    )


def _how(answer: Answer, a: float, b: float) -> str:
    return {
        "times": f"Times: {a:.4f} / {b:.4f}",
        "faster": f"Faster: {a:.4f} / {b:.4f} - 1",
        "slower": f"Slower: 1 - {a:.4f} / {b:.4f}",
        "longer": f"Longer: {b:.4f} / {a:.4f} - 1",
    }[answer]


class _Day(CardJob):
    """Tokens of a day on all cards together."""


def tokens_a_day(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Million million tokens that cards train on in a day, and what their printed peak would allow."""
    runs = runs_of(read_inputs(_Day, inputs), bench)
    steps: list[Step] = []
    values = []
    for run in runs:
        blocks, head = linear_flops(run.cases)
        ops = float(blocks[0] + head[0] + attention_flops(run.cases)[0])
        printed = run.gpu.fp8_tflops if run.case.task.recipe.fp8 else run.gpu.tflops
        peak = (printed or run.gpu.tflops) * 1e12 * run.case.split.cards
        values.append(run.tokens_per_s * 86400 / 1e12)
        bound = peak / ops * 86400 / 1e12
        steps += [
            *rate_steps(run),
            Step(
                f"At the printed peak: {peak:.4g} operations/s / {ops:.4g} x 86,400 s / 10^12",
                shown(bound, "T tokens/day", 4),
            ),
            Step(
                f"As computed: {run.tokens_per_s:,.0f} tokens/s x 86,400 s / 10^12",
                shown(values[-1], "T tokens/day", 4),
            ),
        ]
    low, high = spread(values)
    notes = assumed(runs, speed=True)
    return Working(low, high, "T tokens/day", tuple(steps), notes, speed_sources(runs), error=SPEED_ERROR)


class _Growth(CardJob):
    nearly: float = Field(default=1.2, gt=0)
    """Largest exponent that may be called nearly linear."""


def attention_growth(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether the operations of attention for one sample grow nearly linearly with its length."""
    asked = read_inputs(_Growth, inputs)
    if len(asked.seq_len) != 2 or len(set(asked.seq_len)) != 2:
        raise InputError(Problem("two lengths are compared", key="inputs.seq_len"))
    steps: list[Step] = []
    exponents = []
    models = dict.fromkeys(run.model.id for run in runs_of(asked, bench))
    for model in models:
        short, long = runs_of(asked.model_copy(update={"model": (model,)}), bench)
        ops = [float(attention_flops(run.cases)[0]) * run.case.task.seq_len for run in (short, long)]
        times, grown = long.case.task.seq_len / short.case.task.seq_len, ops[1] / ops[0]
        exponents.append(math.log(grown) / math.log(times))
        steps += [
            Step(f"Attention, one sample: {run.label}", f"{value / 1e12:,.3f} TFLOP")
            for run, value in zip((short, long), ops, strict=True)
        ]
        steps.append(Step(f"{times:g} times the length, so many times the operations", shown(grown, "x")))
    holds = max(exponents) <= asked.nearly
    steps.append(Step("Exponent of the length", shown(max(exponents), digits=2)))
    steps.append(Step("Nearly linear", yes(holds)))
    sources = ("Dao, FlashAttention-2 (2023): the memory is linear, the operations stay quadratic",)
    return Working(None, None, "", tuple(steps), (), sources, holds=holds)


SPEED: Mapping[str, Computation] = {
    **HARDWARE,
    "training_hours": training_hours,
    "speed_against": speed_against,
    "tokens_a_day": tokens_a_day,
    "attention_growth": attention_growth,
}
"""Computations of speed."""
