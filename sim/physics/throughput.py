"""Seconds of an optimiser step: arithmetic, memory traffic, launches, unpacking, optimiser, links.

All columns over cases. The parts are what each would take alone; `total` lets work and traffic overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.physics.cases import Cases, Floats, Names
from sim.physics.recipe import QUANTISATIONS
from sim.physics.speed_constants import SpeedConstants, stack_group
from sim.physics.traffic import by_name, traffic_of

__all__ = ["Steps", "attention_flops", "linear_flops", "step_time"]


@dataclass(frozen=True, slots=True)
class Steps:
    """One optimiser step (all its micro-steps) of every card at once; columns in seconds."""

    compute: Floats
    """Arithmetic and the traffic of activations with the card's memory."""
    recompute: Floats
    """Of `compute`: what is computed a second time."""
    launch: Floats
    """Floor by kernel launches; hides behind `compute` or the reverse."""
    dequantise: Floats
    optimizer: Floats
    gather: Floats
    """Weights (ZeRO-3, FSDP) and gradients (ZeRO-2 and 3) of every micro-step."""
    gradients: Floats
    """Data-parallel sums, once a step."""
    tensor: Floats
    """Sums of tensor-parallel layers; nothing hides them."""
    pipeline: Floats
    """Activations from stage to stage."""
    bubble: Floats
    """Stages that wait while the pipeline fills and drains."""
    host: Floats
    """Time that the host needs to prepare the tokens of the step; 0 where it is not limited."""
    total: Floats
    """With what of the traffic hides behind the work."""
    tokens_per_s: Floats
    """Computed places of all cards, padding included."""
    limited_by: Names
    """compute, launch, dequantisation, optimizer, network, bubble or host: what takes longest alone; empty
    without a card."""


def step_time(cases: Cases, constants: SpeedConstants, host_tokens_per_s: Floats | None = None) -> Steps:
    """Time of an optimiser step of each case.

    `host_tokens_per_s`: tokens a second that processors, disks and network bring to the job as a whole;
    infinite where they do not limit it. Source: form and constants fitted to published throughputs.
    """
    micro = cases.accumulation
    compute, again = _compute(cases, constants)
    launch, unpack = _launch(cases, constants), _dequantise(cases, constants)
    traffic = traffic_of(cases, constants)
    one = np.hypot(compute, launch) + unpack + traffic.tensor
    # A stage waits for p - 1 micro-steps in each step; a naive split lets one stage work at a time.
    idle = (cases.pipeline - 1) * np.where(cases.naive, micro, 1.0)
    bubble = idle * one
    optimizer = _optimizer(cases, constants)
    work = micro * one + bubble + optimizer
    moved = micro * (traffic.gather + traffic.pipeline) + traffic.gradients
    step = np.maximum(work, moved) + constants.overlap * np.minimum(work, moved)
    tokens = cases.micro_batch * cases.length * micro * cases.data
    host = np.zeros(len(cases)) if host_tokens_per_s is None else tokens / host_tokens_per_s
    total = np.maximum(step, host)
    parts = {
        "compute": micro * compute,
        "launch": micro * launch,
        "dequantisation": micro * unpack,
        "optimizer": optimizer,
        "network": moved + micro * traffic.tensor,
        "bubble": bubble,
    }
    longest = np.array(list(parts))[np.argmax(np.stack(list(parts.values())), axis=0)]
    return Steps(
        compute=parts["compute"],
        recompute=micro * again,
        launch=parts["launch"],
        dequantise=parts["dequantisation"],
        optimizer=optimizer,
        gather=micro * traffic.gather,
        gradients=traffic.gradients,
        tensor=micro * traffic.tensor,
        pipeline=micro * traffic.pipeline,
        bubble=bubble,
        host=host,
        total=total,
        tokens_per_s=tokens / total,
        limited_by=np.where(host > step, "host", np.where(np.isnan(total), "", longest)),
    )


def linear_flops(cases: Cases) -> tuple[Floats, Floats]:
    """Operations a token in linear layers of the blocks and in the head, all passes: the whole model.

    Forward is 2 a weight; backward 2 for the activations and, where the weight is trained, 2 for it;
    checkpointing repeats the forward: 6 and 8 in full, 4 and 6 with adapters.
    """
    passes = 2.0 + cases.full + cases.checkpointing
    # An adapter's own weights are trained: 6, and 8 with checkpointing.
    blocks = 2.0 * passes * cases.active_linear + 2.0 * (3.0 + cases.checkpointing) * cases.adapter_params
    head = 2.0 * (passes + (cases.train_outer & ~cases.full)) * cases.vocab * cases.hidden
    return blocks, head


def attention_flops(cases: Cases) -> Floats:
    """Operations a token in attention, all passes: 4 a pair and head dimension, half the pairs (causal).

    Backward always needs both of its parts; checkpointing, selective too, repeats the forward.
    Kernels that store the scores compute the pairs that the mask throws away.
    """
    pairs = cases.length * np.where(cases.flash, 0.5, 1.0)
    passes = 3.0 + (cases.checkpointing | cases.selective)
    return np.asarray(4.0 * pairs * cases.heads * cases.head_dim * cases.layers * passes)


def _compute(cases: Cases, constants: SpeedConstants) -> tuple[Floats, Floats]:
    """Seconds of a micro-step of the slowest stage (the last, with the head), and the repeated part."""
    tokens = cases.micro_batch * cases.length / cases.tensor
    stages = cases.pipeline
    linear, head_rate, attention = _rates(cases, constants)
    blocks, head = linear_flops(cases)
    scores = attention_flops(cases)
    moved = _activation_bytes(cases, constants) * cases.layers
    passes = 3.0 + cases.checkpointing
    memory = cases.bandwidth_gb_s * 1e9
    logits = (cases.loss_forward + cases.loss_backward) * cases.vocab / memory
    # The last stage has the head; of a naive split the sum of all stages counts, so each has its share.
    last = np.where(cases.naive, 1.0 / stages, 1.0)
    block = (blocks / linear + scores / attention + passes * moved / memory) / stages
    once = 2.0 * (cases.active_linear + cases.adapter_params) / linear + moved / memory
    repeated = scores / attention / (3.0 + (cases.checkpointing | cases.selective))
    again = np.where(cases.checkpointing, once + repeated, np.where(cases.selective, repeated, 0.0)) / stages
    again = again + cases.checkpointing * last * 2.0 * cases.vocab * cases.hidden / head_rate
    return tokens * (block + last * (head / head_rate + logits)), tokens * again


def _rates(cases: Cases, constants: SpeedConstants) -> tuple[Floats, Floats, Floats]:
    """Operations a second of linear layers, the head, and attention."""
    card = _card_factor(cases, constants.cards, constants, cases.efficiency)
    attends = _card_factor(cases, constants.attention_cards, constants, card)
    stack = by_name(cases.stack, lambda name: _stack_factor(constants.stacks, name))
    kernel = by_name(cases.stack, lambda name: constants.attention_stacks.get(stack_group(name), 1.0))
    # Tensor parallel cuts one of the two sides of every matrix.
    width = cases.hidden / np.sqrt(cases.tensor)
    reach = constants.efficiency * card * stack * width / (width + constants.half_width)
    peak = cases.tflops * 1e12
    plain = peak * np.minimum(constants.peak_share, reach)
    wide = np.nan_to_num(cases.fp8_tflops * 1e12 * constants.peak_share, nan=0.0)
    eight = np.maximum(plain, np.minimum(wide, plain * constants.fp8_gain))
    attention = peak * np.minimum(
        constants.peak_share, constants.attention_efficiency * attends * stack * kernel
    )
    return np.where(cases.fp8, eight, plain), plain, attention


def _fused(stack: str) -> bool:
    return stack_group(stack) in ("optimized", "fused")


def _stack_factor(stacks: Mapping[str, float], name: str) -> float:
    """A framework's own value (a calibration may name it), else its group's."""
    group = "optimized" if _fused(name) else stack_group(name)
    return stacks.get(name.lower(), stacks.get(group, 1.0))


def _card_factor(cases: Cases, own: Mapping[str, float], constants: SpeedConstants, other: Floats) -> Floats:
    """Share of the peak relative to an A100: of the card or the one it is like, else `other`."""

    def value(name: str) -> float:
        card = name.split("/")[0]  # a slice is named CARD/PROFILE
        return own.get(name, own.get(card, own.get(constants.cards_like.get(card, card), np.nan)))

    found = by_name(cases.gpu, value)
    return np.where(np.isnan(found), other, found)


def _activation_bytes(cases: Cases, constants: SpeedConstants) -> Floats:
    """Bytes a token, layer and pass that norms, activations, sums and adapters move through memory."""
    hidden, inner = cases.hidden, cases.heads * cases.head_dim
    attention = 2.0 * hidden * (inner + cases.kv)
    ffn = (cases.active_linear / cases.layers - attention) / (cases.ffn_matrices * hidden)
    stored = 24.0 * hidden + np.where(cases.ffn_matrices == 3, 8.0, 6.0) * np.maximum(ffn, 0.0)
    scores = np.where(cases.flash, 0.0, 6.0 * cases.heads * cases.length)
    ranks = np.maximum(cases.rank, 1.0)
    # Inputs are turned to the adapter's type and back where that is 32-bit.
    sides = cases.adapter_bytes / 4.0 * cases.adapter_params / (ranks * cases.layers)
    return np.asarray(constants.activation_traffic * (stored + scores) + constants.adapter_traffic * sides)


def _launch(cases: Cases, constants: SpeedConstants) -> Floats:
    """Seconds of launching the kernels of a stage in a micro-step."""
    count = sum(
        np.asarray(flag, dtype=np.float64)
        for flag in (
            cases.adapt_q,
            cases.adapt_k,
            cases.adapt_v,
            cases.adapt_o,
            cases.adapt_gate & (cases.ffn_matrices == 3),
            cases.adapt_up,
            cases.adapt_down,
        )
    )
    adapted = count / (cases.ffn_matrices + 4.0)
    floor = constants.floor_s_per_layer * cases.layers / cases.pipeline
    floor = floor * (1.0 + constants.floor_adapter * adapted)
    floor = floor * np.where(cases.zero == 3, constants.floor_zero, 1.0)
    floor = floor * by_name(cases.stack, lambda name: constants.floor_fused if _fused(name) else 1.0)
    return np.asarray(floor * np.where(cases.checkpointing, 1.0, constants.floor_plain))


def _dequantise(cases: Cases, constants: SpeedConstants) -> Floats:
    """Seconds to unpack the quantised weights of a card once a pass, whatever the batch."""
    packed = np.isin(cases.quant_bytes, [QUANTISATIONS["gptq4"], QUANTISATIONS["gptq8"]])
    cost = constants.dequantise
    four = np.where(packed, cost["gptq4"], cost["nf4"])
    eight = np.where(packed, cost["gptq8"], cost["int8"])
    factor = np.where(cases.bits == 4, four, np.where(cases.bits == 8, eight, 0.0))
    passes = 2.0 + cases.checkpointing
    size = (cases.quant_bytes + 2.0) * cases.linear / (cases.tensor * cases.pipeline)
    return np.asarray(factor * passes * size / (cases.bandwidth_gb_s * 1e9))


def _optimizer(cases: Cases, constants: SpeedConstants) -> Floats:
    """Seconds to read and write weights, gradients and state of the trained parameters of a card."""
    wide = np.where(cases.full, cases.master, cases.adapter_bytes == 4)
    width = np.where(wide, 4.0, 2.0)
    # Weight read and written, gradient read, state read and written, 16-bit copy written.
    each = 3.0 * width + 2.0 * cases.state_bytes + 2.0 * cases.master_copy
    shards = cases.tensor * cases.pipeline * np.where(cases.zero >= 1, cases.data, 1.0)
    size = each * cases.trained / shards
    rate = np.where(cases.offload, constants.host_gb_s, cases.bandwidth_gb_s) * 1e9
    return np.asarray(constants.optimizer_cost * size / rate)
