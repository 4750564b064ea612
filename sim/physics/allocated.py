"""Allocated bytes of one card at the peak of a training step, part by part.

The peak is the fullest of a few moments of a step; the parts are what stands at that moment, so they sum to
the peak. Counted are the tensors alone: no allocator, no context, no workspace of the kernels.
Source: structure traced with real models (`facts/traced_memory.csv`); divisions from how the frameworks work.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from sim.physics.activations import (
    Kinds,
    Layer,
    Moment,
    casts_adapters,
    feed_forward,
    kinds_of,
    layer_of,
    layer_peak,
)
from sim.physics.cases import Cases, Flags, Floats, Names
from sim.units import GIB

__all__ = ["AllocatedParts", "allocated"]

_MASK_LENGTH = 8192.0
"""Longest sample with a whole mask: no trace is longer, and kernels for longer samples make none."""

_FORWARD, _INSIDE, _LOSS, _LAYER, _FIRST, _EMBEDDINGS, _STEP = range(7)
_WINDOWS = np.array(["forward", "forward", "loss", "layer", "first layer", "first layer", "optimizer step"])


@dataclass(frozen=True, slots=True)
class AllocatedParts:
    """What stands allocated on one card at the peak, GiB each, one row a case."""

    weights: Floats
    """Base weights, with the scales of quantised ones."""
    quantisation: Floats
    """What k-bit preparation adds: embeddings and head in 32 bits, and the head's 16-bit copy."""
    adapters: Floats
    """Trained weights beside the base."""
    gradients: Floats
    optimizer: Floats
    """Optimiser state, a 32-bit copy of the weights, and the temporary of the step."""
    activations: Floats
    """Kept for the backward pass."""
    recomputed: Floats
    """The layer at work, and 16-bit copies of weights."""
    logits: Floats
    """Head and loss at work."""
    gathered: Floats
    """Sharded weights put together for use."""
    window: Names
    """The moment of the peak: forward, loss, layer, first layer, optimizer step."""

    @property
    def total(self) -> Floats:
        """Sum of the parts, GiB."""
        parts = [getattr(self, item.name) for item in dataclasses.fields(self) if item.name != "window"]
        return np.asarray(np.sum(parts, axis=0))


@dataclass(frozen=True, slots=True)
class _Stage:
    """The share of one card: of its pipeline stage, tensor shards taken off, data shards not yet."""

    layers: Floats
    embeddings: Floats
    """Parameters of the embeddings, of the head below: 0 where the stage has none."""
    head: Floats
    linear: Floats
    adapters: Floats
    first: Flags
    last: Flags
    held: Floats
    """Micro-batches whose activations the stage holds at once."""

    @property
    def outer(self) -> Floats:
        return self.embeddings + self.head


def allocated(cases: Cases) -> AllocatedParts:
    """Parts at the peak of the fullest card, GiB: of a pipeline, one of its first or of its last stage."""
    kinds = kinds_of(cases)
    layer = layer_of(cases, kinds)
    gradient = np.where(cases.accumulation > 1, 0.0, _gradient_bytes(cases) / _shards(cases, 2))
    moment = layer_peak(cases, kinds, layer, gradient)
    ends = [_peak(cases, kinds, layer, moment, _stage(cases, first=first)) for first in (True, False)]
    larger = ends[0].total >= ends[1].total
    return AllocatedParts(
        **{
            item.name: np.where(larger, *(getattr(end, item.name) for end in ends))
            for item in dataclasses.fields(AllocatedParts)
        }
    )


def _stage(cases: Cases, *, first: bool) -> _Stage:
    whole = cases.pipeline == 1
    is_first, is_last = whole | first, whole | (not first)
    layers = np.ceil(cases.layers / cases.pipeline)
    share = layers / cases.layers / cases.tensor
    matrix = np.minimum(cases.vocab * cases.hidden, cases.outer)
    head = np.where(cases.tied & whole, 0.0, matrix)
    embeddings = np.where(cases.tied, cases.outer, cases.outer - matrix)
    # One forward, one backward: the first of p stages starts p micro-batches before it has one back.
    held = np.where(cases.naive | ~is_first, 1.0, np.minimum(cases.pipeline, cases.accumulation))
    return _Stage(
        layers=layers,
        embeddings=is_first * embeddings / cases.tensor,
        head=is_last * head / cases.tensor,
        linear=cases.linear * share,
        adapters=cases.adapter_params * share,
        first=is_first,
        last=is_last,
        held=np.maximum(held, 1.0),
    )


def _shards(cases: Cases, stage: int) -> Floats:
    """Parts that a kind of state is cut into from this ZeRO stage on."""
    return np.where(cases.zero >= stage, cases.data, 1.0)


def _peak(cases: Cases, kinds: Kinds, layer: Layer, moment: Moment, stage: _Stage) -> AllocatedParts:
    weights, quantisation = _weights(cases, kinds, stage)
    outer = cases.train_outer * stage.outer
    whole = np.where(cases.full, stage.linear + stage.outer, stage.adapters + outer)
    width = _gradient_bytes(cases)
    # Embeddings and head trained beside adapters are copies in 16 bits, with gradients as wide.
    trained = whole - outer * (1 - _outer_width(cases))
    copy = np.where(kinds.pure & cases.master, 4.0, 0.0)  # 32-bit weights beside the 16-bit ones
    # Paged state leaves the card when it runs short: the card need not hold it.
    away = cases.offload | cases.paged
    state = np.where(away, 0.0, cases.state_bytes) + np.where(cases.offload, 0.0, copy)
    state = state * whole / _shards(cases, 1)
    temporary = np.where(cases.foreach & ~cases.offload, width * trained / _shards(cases, 1), 0.0)
    gradients = _gradients(cases, stage, moment, trained) * width / _shards(cases, 2)
    # An optimiser that steps within the backward pass frees each gradient as it comes.
    passing = width * (stage.linear / stage.layers + np.maximum(stage.embeddings, stage.head))
    gradients = np.where(cases.in_backward, np.minimum(gradients, passing), gradients)
    # Plain data parallelism keeps the gradients a second time, in the buckets that are summed over cards.
    buckets = np.where((cases.data > 1) & (cases.zero == 0), width * trained, 0.0)
    kept, working, logits, head = _working(cases, kinds, layer, moment, stage)
    heights = gradients + kept + working + logits + head
    heights[_STEP] += temporary
    peak = np.argmax(heights, axis=0)
    rows = np.arange(len(cases))
    adapters = np.where(cases.full, 0.0, cases.adapter_bytes * trained / _shards(cases, 3))
    return AllocatedParts(
        weights=weights / GIB,
        quantisation=(quantisation + head[peak, rows]) / GIB,
        adapters=adapters / GIB,
        gradients=(gradients[peak, rows] + buckets) / GIB,
        optimizer=(state + np.where(peak == _STEP, temporary, 0.0)) / GIB,
        activations=kept[peak, rows] / GIB,
        recomputed=working[peak, rows] / GIB,
        logits=logits[peak, rows] / GIB,
        gathered=_gathered(cases, stage) / GIB,
        window=_WINDOWS[peak],
    )


def _weights(cases: Cases, kinds: Kinds, stage: _Stage) -> tuple[Floats, Floats]:
    """Bytes of the base weights, and what k-bit preparation adds to them at all times."""
    width = np.where(kinds.master, 4.0, 2.0)
    linear = np.where(cases.bits < 16, cases.quant_bytes, width)
    away = cases.offload & (cases.zero == 3)
    shards = _shards(cases, 3)
    weights = np.where(away, 0.0, (linear * stage.linear + width * stage.outer) / shards)
    return weights, np.where(kinds.kbit & ~away, 2 * stage.outer / shards, 0.0)


def _gradient_bytes(cases: Cases) -> Floats:
    """Bytes of one gradient: as wide as what is trained; 32 bits where 32-bit weights are kept."""
    return np.where(cases.full, np.where(cases.master, 4.0, 2.0), cases.adapter_bytes)


def _outer_width(cases: Cases) -> Floats:
    """Width of embeddings and head trained beside adapters over that of the adapters."""
    return np.where(cases.full, 1.0, 2.0 / cases.adapter_bytes)


def _gradients(cases: Cases, stage: _Stage, moment: Moment, trained: Floats) -> Floats:
    """Gradients that stand at each moment, in parameters, shape (moments, n)."""
    outer = cases.full | cases.train_outer
    narrow = _outer_width(cases)
    head = np.where(outer, np.where(cases.tied, stage.outer * stage.last, stage.head), 0.0) * narrow
    # The gradient of the embeddings comes last; tied with the head, it is there from the start.
    waiting = np.where(outer & ~cases.tied, stage.embeddings, 0.0) * narrow
    own = moment.gradients / cases.tensor
    layer = np.where(cases.full, stage.linear, stage.adapters) / stage.layers
    # The gradient of the embeddings stands beside what it is added to: with tied embeddings the head's half
    # and, for a moment, their sum; else what earlier micro-steps left.
    again = cases.accumulation > 1
    added = (
        np.where(cases.tied & stage.last, 2.0, 1.0 * again) * outer * stage.first * stage.embeddings * narrow
    )
    matrix = np.where(again & cases.full, cases.hidden * cases.intermediate / cases.tensor, 0.0)
    zero = np.zeros(len(cases))
    standing = [zero, zero, zero, head + own, trained - waiting - layer + own, trained + added, trained]
    earlier = np.where(again, trained, 0.0)
    left = [earlier, earlier, earlier, earlier + matrix, earlier + matrix, earlier, earlier]
    return np.asarray(np.maximum(np.stack(standing), np.stack(left)))


def _working(
    cases: Cases, kinds: Kinds, layer: Layer, moment: Moment, stage: _Stage
) -> tuple[Floats, Floats, Floats, Floats]:
    """Bytes at each moment, shape (moments, n): kept, at work, of the logits, of the head's 16-bit copy."""
    tokens, zero = cases.tokens / cases.tensor, np.zeros(len(cases))
    h = cases.hidden
    wide = kinds.kbit | kinds.master
    boundary = np.where(wide, 4.0, 2.0) * h
    each = np.where(cases.checkpointing, boundary, layer.kept)
    others = (stage.held - 1) * stage.layers * each * tokens
    tables, mask = _common(cases, wide)
    unsaved = np.where(stage.first, layer.unsaved, 0.0) * tokens
    kept = others + tables + mask * cases.checkpointing + stage.layers * each * tokens - unsaved
    # The first layer's input stands either way; so that checkpointing never takes more, the mask counts too.
    alone = others + tables + mask + np.where(cases.checkpointing, boundary, boundary + layer.kept) * tokens
    copies, saved = _copies(cases, kinds, stage)
    # Without checkpointing, what the layer had kept is part of its fullest moment, or gone by then.
    beyond = (moment.tokens - np.where(cases.checkpointing, 0.0, layer.kept)) * tokens
    gone, peak = np.minimum(beyond, 0.0), np.maximum(beyond, 0.0) + moment.fixed / cases.tensor
    ends = [bytes_ * h * tokens * stage.last for bytes_ in _final(kinds)]
    logits = [
        tokens * cases.vocab * (bytes_ + 2.0 * cases.adapt_head) * stage.last
        for bytes_ in (cases.loss_forward, cases.loss_backward)
    ]
    head = np.where(wide, 2 * cases.vocab * h / cases.tensor * stage.last, 0.0)
    extra = np.where(kinds.kbit, head, 0.0)
    loss_copies = saved + np.where(kinds.master & cases.checkpointing, head, 0.0)
    inside = _inside(cases) * tokens * cases.checkpointing + copies
    return (
        np.stack([kept + ends[0], kept, kept + ends[1], kept + gone, alone + gone, boundary * tokens, zero]),
        np.stack([copies, inside, loss_copies, peak + saved, peak, zero, zero]),
        np.stack([logits[0], zero, logits[1], zero, zero, zero, zero]),
        np.stack([extra, zero, extra, zero, zero, zero, zero]),
    )


def _common(cases: Cases, wide: Flags) -> tuple[Floats, Floats]:
    """Bytes that all layers share: rotary tables, and the mask, which checkpointing keeps for each layer."""
    tables = np.where(wide, 8.0, 4.0) * cases.seq_len * cases.head_dim
    width = np.where(cases.flash, 1.0, 2.0)
    mask = width * cases.tokens * np.minimum(cases.seq_len, _MASK_LENGTH)
    return tables / cases.tensor, np.where(cases.stack == "hf", mask, 0.0) / cases.tensor


def _copies(cases: Cases, kinds: Kinds, stage: _Stage) -> tuple[Floats, Floats]:
    """Bytes of the 16-bit copies that autocast keeps: to the end of the forward pass, and beyond it."""
    adapters = np.where(casts_adapters(cases), 2 * stage.adapters, 0.0)
    head = np.where(cases.tied & stage.last, cases.vocab * cases.hidden / cases.tensor, stage.head)
    base = np.where(kinds.master & (cases.zero < 3), 2 * (stage.linear + head), 0.0)
    copies = adapters / _shards(cases, 3) + base
    return copies, np.where(cases.checkpointing, 0.0, copies)


def _final(kinds: Kinds) -> tuple[Floats, Floats]:
    """Bytes a token and hidden unit of last norm and head input: in the forward pass, and at the loss."""
    forward = np.select([kinds.pure, kinds.kbit, kinds.master], [8.0, 8.0, 14.0], 6.0)
    loss = np.select([kinds.pure, kinds.kbit, kinds.master], [8.0, 4.0, 10.0], 4.0)
    return forward, loss


def _inside(cases: Cases) -> Floats:
    """Bytes a token inside a layer that is computed without keeping anything."""
    h, f = cases.hidden, feed_forward(cases)
    repeated = np.where(cases.kv_heads < cases.heads, 4 * cases.kv, 0.0)
    scores = 8 * h + repeated + 10 * cases.heads * cases.seq_len
    return np.where(cases.flash, 8 * h + 8 * f, np.maximum(scores, 8 * h + 8 * f))


def _gathered(cases: Cases, stage: _Stage) -> Floats:
    """Bytes of ZeRO-3's gathered weights: two layers, embeddings and head, less the card's own share."""
    linear = np.where(cases.bits < 16, cases.quant_bytes, 2.0) * stage.linear / stage.layers
    outer = np.where(cases.kbit_prep & (cases.bits < 16), 4.0, 2.0) * stage.outer
    adapters = np.where(cases.full, 0.0, cases.adapter_bytes) * stage.adapters / stage.layers
    missing = np.where(cases.offload, 1.0, 1 - 1 / cases.data)
    whole = np.minimum(stage.layers, 2.0) * (linear + adapters) + outer
    return np.where(cases.zero == 3, missing * whole, 0.0)
