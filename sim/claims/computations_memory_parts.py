"""Memory by arithmetic: weights, adapters, optimiser state, parts added up, cards added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_jobs import CardJob, Several, card_of, run_of, runs_of
from sim.claims.card_steps import yes
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.physics.recipe import LINEARS, QUANTISATIONS
from sim.physics.task import adapter_params

__all__ = ["MEMORY_PARTS"]

_DECIMAL = "Weights are counted in decimal GB: 10^9 bytes."
_FORMATS: Mapping[int, tuple[str, ...]] = {4: ("nf4", "nf4dq", "gptq4"), 8: ("int8", "gptq8")}
"""Formats of the physics by bits; their scales stand beside the weights."""
_Positive = Annotated[float, Field(gt=0, le=1e6)]
_Sizes = Annotated[tuple[_Positive, ...], Several]


class _Weights(Strict):
    params_b: _Positive
    """Parameters, thousand millions."""
    bits: Literal[4, 8, 16, 32] = 16
    cards: int = Field(default=1, ge=1, le=1024)


def _weights_gb(params_b: float, bits: int) -> tuple[float, float, tuple[Step, ...]]:
    """GB of the weights: the bare bits, and with the scales of the widest quantised format."""
    bare = params_b * bits / 8
    text = f"Weights of {params_b:g}B parameters in {bits} bits: {params_b:g} x 10^9 x {bits / 8:g} bytes"
    steps = [Step(text, shown(bare, "GB"))]
    if bits not in _FORMATS:
        return bare, bare, tuple(steps)
    widest = max(_FORMATS[bits], key=lambda name: QUANTISATIONS[name])
    whole = params_b * QUANTISATIONS[widest]
    text = f"With the scales of {widest}: {params_b:g} x 10^9 x {QUANTISATIONS[widest]:.4g} bytes"
    return bare, whole, (*steps, Step(text, shown(whole, "GB")))


def weights(inputs: Mapping[str, Any], _: Bench) -> Working:
    """GB of a model's weights, on each of some cards."""
    asked = read_inputs(_Weights, inputs)
    low, high, steps = _weights_gb(asked.params_b, asked.bits)
    if asked.cards > 1:
        low, high = low / asked.cards, high / asked.cards
        text = f"On each of {asked.cards} cards: {low * asked.cards:g} to {high * asked.cards:.4g} GB"
        steps = (*steps, Step(f"{text} / {asked.cards}", f"{shown(low)} to {shown(high, 'GB')}"))
    assumptions: tuple[str, ...] = (_DECIMAL,)
    if asked.bits < 16:
        assumptions += ("Every weight is counted as quantised; embeddings and head stay in 16 bits.",)
    return Working(low, high, "GB", steps, assumptions, ("sim/physics/recipe.py: bytes of a weight",))


class _Adapters(CardJob):
    per: Literal["model", "matrix"] = "model"
    hidden: int | None = Field(default=None, ge=1, le=10**6)
    """Width of a square matrix, with `per: matrix`."""
    bytes_each: _Positive = 2
    """Of an adapter weight in the file."""
    answer: Literal["params", "M params", "MB", "share"] = "params"


def adapters(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """LoRA parameters: rank x (inputs + outputs), of one matrix or of every adapted layer of a model."""
    asked = read_inputs(_Adapters, inputs)
    found: list[tuple[float, int, Step]]
    if asked.per == "matrix":
        if asked.hidden is None:
            rule = "with `per: matrix` the width of the matrix is needed"
            raise InputError(Problem(rule, key="inputs.hidden"))
        if asked.answer == "share":
            rule = "a share is one of a model, not of a matrix"
            raise InputError(Problem(rule, key="inputs.answer", value=asked.answer))
        side = asked.hidden
        found = [
            (rank * 2 * side, 0, Step(f"One matrix: {rank} x ({side:,} + {side:,})", f"{rank * 2 * side:,}"))
            for rank in asked.rank
        ]
    else:
        found = [_adapters_of(run.case.task, run.model.params) for run in runs_of(asked, bench)]
    values, steps = [], []
    for count, params, step in found:
        value, more = _as_answer(asked, count, params)
        values.append(value)
        steps += [step, *more]
    unit = "%" if asked.answer == "share" else asked.answer
    return Working(
        min(values),
        max(values),
        unit,
        tuple(steps),
        sources=("sim/physics/task.py: rank x (inputs + outputs) of the adapted layers", "models.yaml"),
    )


def _adapters_of(task: Any, params: int) -> tuple[float, int, Step]:
    count = adapter_params(task)
    named = [name for name in LINEARS if name in task.recipe.targets]
    sides = count / task.rank / task.model.layers
    text = (
        f"{task.model.name}, rank {task.rank}, layers {', '.join(named)}: {task.model.layers} blocks x "
        f"{task.rank} x {sides:,.0f} inputs and outputs"
    )
    return count, params, Step(text, f"{count:,.0f}")


def _as_answer(asked: _Adapters, count: float, params: int) -> tuple[float, list[Step]]:
    if asked.answer == "share":
        share = 100 * count / params if params else 0.0
        return share, [Step(f"Share: {count:,.0f} / {params:,}", shown(share, "%"))]
    if asked.answer == "MB":
        size = count * asked.bytes_each / 1e6
        return size, [Step(f"File: {count:,.0f} x {asked.bytes_each:g} bytes / 10^6", shown(size, "MB"))]
    return count / (1e6 if asked.answer == "M params" else 1), []


class _State(Strict):
    params_b: _Positive
    share: float = Field(default=1.0, gt=0, le=1)
    """Part of the parameters that is trained."""
    copies: tuple[_Positive, ...] = Field(default=(4, 4), min_length=1)
    """Bytes a trained parameter of each thing kept: two moments of AdamW in 32 bits are 4 and 4."""


def trained_state(inputs: Mapping[str, Any], _: Bench) -> Working:
    """GB kept for the trained parameters, such as the moments of AdamW."""
    asked = read_inputs(_State, inputs)
    trained, each = asked.params_b * asked.share, sum(asked.copies)
    steps = []
    if asked.share < 1:
        text = f"Trained parameters: {asked.params_b:g} x 10^9 x {asked.share:g}"
        steps.append(Step(text, shown(trained * 1e9, digits=0)))
    bytes_text = " + ".join(f"{size:g}" for size in asked.copies)
    found = trained * each
    steps.append(Step(f"State: {trained:g} x 10^9 x ({bytes_text}) bytes", shown(found, "GB")))
    source = "Loshchilov and Hutter: AdamW keeps two moments of each trained parameter"
    return Working(found, found, "GB", tuple(steps), (_DECIMAL,), (source,))


class _Part(Strict):
    name: str
    gb: _Sizes | None = None
    """What the statement says of it, one number or two."""
    params_b: _Positive | None = None
    """Or weights: parameters, thousand millions, in `bits`."""
    bits: Literal[4, 8, 16, 32] = 16


class _Sum(Strict):
    parts: tuple[_Part, ...] = Field(min_length=1)
    beside: CardJob | None = None
    """The job of the statement, whose computed peak is shown beside the sum."""


def sum_of_parts(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """The statement's own parts added up; weights among them are computed from parameters and bits."""
    asked = read_inputs(_Sum, inputs)
    low = high = 0.0
    steps: list[Step] = []
    for part in asked.parts:
        if part.params_b is not None:
            least, _, own = _weights_gb(part.params_b, part.bits)
            most = least
            steps.append(own[0])
        else:
            sizes = part.gb or ()
            if not sizes:
                rule = "a part has `gb`, or weights by `params_b` and `bits`"
                raise InputError(Problem(rule, key="inputs.parts", value=part.name))
            least, most = min(sizes), max(sizes)
            steps.append(Step(f"As stated: {part.name}", f"{least:g} to {most:g} GB"))
        low, high = low + least, high + most
    steps.append(Step("Sum of the parts", f"{shown(low)} to {shown(high, 'GB')}"))
    if asked.beside is not None:
        steps += [
            Step(f"For comparison, peak by the physics: {run.label}", shown(run.total_gib, "GiB", 2))
            for run in runs_of(asked.beside, bench)
        ]
        # The sum is the answer, so it comes last.
        steps.append(Step("Answer, the sum of the stated parts", f"{shown(low)} to {shown(high, 'GB')}"))
    return Working(low, high, "GB", tuple(steps), (_DECIMAL,))


class _Cards(Strict):
    gpu: str
    gpus: int = Field(ge=1, le=1024)


def cards_memory(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Printed memory of several cards together."""
    asked = read_inputs(_Cards, inputs)
    card = card_of(asked.gpu, bench)
    found = asked.gpus * card.memory_gib
    step = Step(f"{asked.gpus} cards x {card.memory_gib:g} GB", shown(found, "GB"))
    note = "Cards do not pool their memory: a job must be divided to use it."
    return Working(found, found, "GB", (step,), (note,), (f"gpus.yaml: {card.id}",))


class _Ceiling(Strict):
    gpu: str
    keep_gb: _Positive | None = None
    """Stay under so many GB; or under a share of the card."""
    share: float | None = Field(default=None, gt=0, le=1)
    grows: CardJob
    """A job on the card, by which the room that is left is measured."""


def ceiling(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether a ceiling on memory in use lies below what a program can have on the card."""
    asked = read_inputs(_Ceiling, inputs)
    card = card_of(asked.gpu, bench)
    limit = asked.keep_gb or (asked.share or 1.0) * card.memory_gib
    run = runs_of(asked.grows.model_copy(update={"gpu": card.id}), bench)[0]
    one = asked.grows.model_copy(update={"gpu": card.id})
    task = run.case.task
    longer = run_of(one, run.model, task.rank, task.micro_batch + 1, task.seq_len, bench)
    more, left = longer.total_gib - run.total_gib, card.usable_gib - limit
    steps = (
        Step(f"Ceiling on {card.name}", shown(limit, "GiB", 1)),
        Step("Memory that a program can have on the card", shown(card.usable_gib, "GiB", 1)),
        Step(f"Left above the ceiling: {card.usable_gib:g} - {limit:g}", shown(left, "GiB", 1)),
        Step(f"One more sample in a micro-batch takes ({run.label})", shown(more, "GiB", 2)),
        Step("What is left is above 0, so the ceiling is met before the card is full", yes(left > 0)),
    )
    source = (f"gpus.yaml: {card.id}", "sim/physics, docs/models.md section 1")
    note = "Where to stop is a choice; what is checked is that the ceiling leaves room."
    return Working(None, None, "", steps, (note,), source, holds=left > 0)


MEMORY_PARTS: Mapping[str, Computation] = {
    "weights": weights,
    "adapters": adapters,
    "trained_state": trained_state,
    "sum_of_parts": sum_of_parts,
    "cards_memory": cards_memory,
    "memory_ceiling": ceiling,
}
"""Computations of memory by arithmetic."""
