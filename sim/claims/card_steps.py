"""The physics of a job as lines that a person with a calculator can follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from sim.claims.card_jobs import Run, constants
from sim.claims.card_published import published_near
from sim.claims.working import Step, shown
from sim.physics.memory import stack_columns
from sim.physics.throughput import attention_flops, linear_flops
from sim.units import GIB

__all__ = [
    "GIB_NOTE",
    "SHOWN_IN_FULL",
    "Part",
    "assumed",
    "hour_steps",
    "memory_sources",
    "memory_steps",
    "part_gib",
    "rate_steps",
    "speed_sources",
    "spread",
    "yes",
]

GIB_NOTE = "GB of a card are counted as its driver does: 1 GiB = 2^30 bytes."
SHOWN_IN_FULL = 2
"""Jobs whose peak or speed is shown step by step; of more only the result."""
_FORMS = "sim/physics, formulas in docs/models.md"


def memory_sources(runs: Sequence[Run]) -> tuple[str, ...]:
    """Where the figures of a peak come from."""
    models = (f"models.yaml: {name}" for name in _names(runs))
    return (f"{_FORMS} section 1", *models, *published_near(runs))


def speed_sources(runs: Sequence[Run]) -> tuple[str, ...]:
    """Where the figures of a speed come from."""
    cards = dict.fromkeys(run.gpu.id for run in runs)
    return (
        f"{_FORMS} section 2",
        *(f"models.yaml: {name}" for name in _names(runs)),
        *(f"gpus.yaml: {name}" for name in cards),
        *published_near(runs, speed=True),
    )


def _names(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.model.id for run in runs))


def assumed(runs: Sequence[Run], *, speed: bool = False) -> tuple[str, ...]:
    """What every such figure rests on: how far published runs support it."""
    tags = {run.speed_tag if speed else run.memory_tag for run in runs}
    what = "speed" if speed else "memory"
    found = [] if speed else [GIB_NOTE]
    if "extrapolated" in tags:
        found.append(f"No published run is near to all of these jobs: their {what} is extrapolated.")
    found.append(
        "Computed as Hugging Face transformers with PEFT trains, with flash attention and gradient "
        "checkpointing unless the inputs say otherwise."
    )
    return tuple(found)


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest."""
    return min(values), max(values)


Part = Literal["total", "weights", "working", "activations", "state"]


def part_gib(run: Run, part: Part) -> float:
    """GiB of a peak's part. `working`: all that is held while the step runs, with what the allocator adds to
    it; `state`: of trained parameters."""
    parts = run.parts
    _, factor, _, _ = stack_columns(run.cases.stack, constants().memory)
    passing = parts.activations + parts.recomputed + parts.logits + parts.gathered
    named = {
        "total": parts.total_gib,
        "weights": parts.weights + parts.quantisation,
        "state": parts.gradients + parts.optimizer,
        "activations": parts.activations + parts.recomputed,
        "working": float(factor[0]) * passing,
    }
    return named[part]


def yes(value: bool) -> str:
    """Yes or no, in words."""
    return "yes" if value else "no"


def _gib(value: float) -> str:
    return shown(value, "GiB", 2)


def memory_steps(run: Run, *, whole: bool = True) -> tuple[Step, ...]:
    """A peak part by part; with `whole` false only the sum."""
    if not whole:
        return (Step(f"Peak on one card: {run.label}", _gib(run.total_gib)),)
    parts, cases = run.parts, run.cases
    tokens = float(cases.tokens[0])
    found = [Step(_weights(run), _gib(parts.weights))]
    if parts.quantisation:
        text = "Embeddings, head and norms kept in 32 bits beside a quantised base"
        found.append(Step(text, _gib(parts.quantisation)))
    found += _trained(run)
    if parts.activations:
        each = parts.activations * GIB / tokens
        text = f"Kept for the backward pass: {tokens:,.0f} tokens x {each:,.0f} bytes / 2^30"
        found.append(Step(text, _gib(parts.activations)))
    if parts.recomputed:
        each = parts.recomputed * GIB / tokens
        text = f"The layer at work: {tokens:,.0f} tokens x {each:,.0f} bytes / 2^30"
        found.append(Step(text, _gib(parts.recomputed)))
    if parts.logits:
        entries = tokens * run.model.vocab / float(cases.tensor[0])
        text = (
            f"Output over the vocabulary and its loss: {tokens:,.0f} tokens x {run.model.vocab:,} entries x "
            f"{parts.logits * GIB / entries:.3g} bytes / 2^30"
        )
        found.append(Step(text, _gib(parts.logits)))
    if parts.gathered:
        found.append(Step("Weights gathered from the other cards, and buffers", _gib(parts.gathered)))
    found.append(Step(_loose(run), _gib(parts.fragmentation)))
    found.append(Step("CUDA context, libraries and fixed buffers", _gib(parts.context)))
    found.append(Step(f"Sum, peak on one card: {run.label}", _gib(run.total_gib)))
    return tuple(found)


def _weights(run: Run) -> str:
    cases, model = run.cases, run.model
    shards = cases.tensor[0] * cases.pipeline[0] * (cases.data[0] if cases.zero[0] == 3 else 1.0)
    shared = f" / {shards:.0f} cards" if shards > 1 else ""
    if cases.bits[0] < 16:
        linear, outer = model.params_linear, model.params - model.params_linear
        text = f"({linear:,} weights x {cases.quant_bytes[0]:.4g} bytes + {outer:,} x 2 bytes)"
    else:
        wide = run.case.task.method == "full" and bool(cases.master[0]) and not cases.master_copy[0]
        text = f"{model.params:,} x {4 if wide else 2} bytes"
    return f"Weights: {text}{shared} / 2^30"


def _trained(run: Run) -> list[Step]:
    parts, cases = run.parts, run.cases
    trained = float(cases.trained[0])
    what = "trained parameters" if run.case.task.method == "full" else "adapter parameters"
    found = []
    for name, value in (
        ("Adapters", parts.adapters),
        ("Gradients", parts.gradients),
        ("Optimiser state, with the temporary of its step", parts.optimizer),
    ):
        if value:
            text = f"{name}: {trained:,.0f} {what} x {value * GIB / trained:.3g} bytes on one card / 2^30"
            found.append(Step(text, _gib(value)))
    return found


def _loose(run: Run) -> str:
    state, working, _, _ = stack_columns(run.cases.stack, constants().memory)
    return (
        f"Allocator and kernels: {state[0] - 1:.1%} of weights and state, {working[0] - 1:.1%} of what is "
        "held while the step runs"
    )


def rate_steps(run: Run) -> tuple[Step, ...]:
    """How long a step takes, and the tokens a second that follow."""
    cases, steps, gpu = run.cases, run.steps, run.gpu
    blocks, head = linear_flops(cases)
    ops = float(blocks[0] + head[0] + attention_flops(cases)[0])
    tokens = float(cases.micro_batch[0] * cases.length[0] * cases.accumulation[0] * cases.data[0])
    found = [
        Step(f"Operations for one token, all passes: {run.label}", f"{ops / 1e9:,.2f} GFLOP"),
        Step(f"Printed peak of {gpu.name}, 16 bits", f"{gpu.tflops:,.4g} TFLOP/s"),
    ]
    for name, column in (
        ("Arithmetic and traffic with the card's memory", steps.compute),
        ("Launching kernels, beside the arithmetic", steps.launch),
        ("Unpacking quantised weights", steps.dequantise),
        ("Optimiser", steps.optimizer),
        ("Weights and gradients over the links", steps.gather + steps.gradients),
        ("Sums of tensor parallel layers", steps.tensor),
        ("Activations from stage to stage", steps.pipeline),
        ("Stages that wait", steps.bubble),
    ):
        if column[0] > 0:
            found.append(Step(f"{name}, one step", shown(float(column[0]), "s", 4)))
        if column is steps.compute:
            found.append(_reached(run, ops, tokens))
    found += _total(run)
    text = f"Tokens a second: {tokens:,.0f} tokens / {steps.total[0]:.4f} s"
    return (*found, Step(text, shown(run.tokens_per_s, "tokens/s", 1)))


def _reached(run: Run, ops: float, tokens: float) -> Step:
    """How much of the printed peak the arithmetic reaches, traffic with the memory included."""
    cards, seconds = run.case.split.cards, float(run.steps.compute[0])
    rate = ops * tokens / cards / seconds / 1e12
    text = f"So a card reaches {ops / 1e9:,.2f} GFLOP x {tokens:,.0f} tokens / {seconds:.4f} s"
    if cards > 1:
        text += f" / {cards} cards"
    return Step(f"{text} (fitted to published runs)", f"{rate:,.1f} TFLOP/s, {rate / run.gpu.tflops:.0%}")


def _total(run: Run) -> list[Step]:
    """How the parts of a step add up: what launches hide, and what hides behind the links."""
    steps = run.steps
    once, launch = float(steps.compute[0]), float(steps.launch[0])
    rest = float((steps.dequantise + steps.optimizer + steps.tensor + steps.bubble)[0])
    work, moved = math.hypot(once, launch) + rest, float((steps.gather + steps.gradients + steps.pipeline)[0])
    text = f"Work of the step: sqrt({once:.4f}^2 + {launch:.4f}^2) + {rest:.4f} s"
    found = [Step(text, shown(work, "s", 4))]
    if moved:
        share = constants().speed.overlap
        text = f"Step: {max(work, moved):.4f} s + {share:.3f} x {min(work, moved):.4f} s, work and traffic"
        found.append(Step(text, shown(float(steps.total[0]), "s", 4)))
    return found


def hour_steps(run: Run) -> tuple[Step, ...]:
    """From tokens a second to the hours of the data set, and the bound that no card can beat."""
    places, rate = run.samples * run.places, run.tokens_per_s
    blocks, head = linear_flops(run.cases)
    ops = float(blocks[0] + head[0] + attention_flops(run.cases)[0])
    peak = run.gpu.tflops * 1e12 * run.case.split.cards
    return (
        Step(
            f"Tokens to compute, {run.model.name}: {run.samples:,.0f} samples x {run.places:,.5g} tokens",
            shown(places, "tokens", 0),
        ),
        Step("At the printed peak of the cards it would take", shown(places * ops / peak / 3600, "h", 1)),
        *rate_steps(run),
        Step(f"Hours: {places:,.0f} tokens / {rate:,.1f} tokens/s / 3,600", shown(run.hours, "h", 1)),
    )
