"""Bytes a token of the activations of one layer: kept for the backward pass, and worked with at its peak.

Derived from what the modules of a decoder layer save for autograd (RMS norm in 32 bits, rotary attention,
feed-forward with or without a gate, LoRA beside a linear layer), and checked against peaks traced with real
models (`facts/traced_memory.csv`). h hidden, q heads x head size, kv width of keys, f feed-forward, r rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sim.physics.cases import Cases, Flags, Floats

__all__ = ["Kinds", "Layer", "Moment", "casts_adapters", "feed_forward", "kinds_of", "layer_of", "layer_peak"]

_NORM = 22.0
"""Bytes a token and hidden unit while a 32-bit norm is differentiated: five 32-bit tensors, one of 16."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which of the ways of training a case is: exactly one is true in each row."""

    cast: Flags
    """32-bit adapters under autocast: every adapted layer keeps its own 16-bit copy of its input."""
    shared: Flags
    """Adapters in the type of the layer's input: neighbours share one input."""
    wide: Flags
    """32-bit adapters without autocast: every adapted layer keeps a 32-bit copy of its input."""
    kbit: Flags
    """Quantised base with k-bit preparation: residual stream and feed-forward in 32 bits."""
    pure: Flags
    """Full, in 16 bits."""
    master: Flags
    """Full, 32-bit weights under autocast."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Bytes a token that one layer keeps without checkpointing, by place."""

    attention: Floats
    """Norms and attention block with the inputs of its linear layers."""
    inputs: Floats
    """Inputs of the first linear layers of the feed-forward."""
    inner: Floats
    """Inside of the feed-forward."""
    down: Floats
    """Input of its last linear layer."""
    unsaved: Floats
    """Not kept in the very first layer, whose input needs no gradient."""

    @property
    def kept(self) -> Floats:
        """All of it."""
        return self.attention + self.inputs + self.inner + self.down


@dataclass(frozen=True, slots=True)
class Moment:
    """The fullest moment of one layer's pass: bytes beyond the inputs of the layers."""

    tokens: Floats
    """Bytes a token."""
    fixed: Floats
    """Bytes of copies of the layer's weights."""
    gradients: Floats
    """Trained parameters of the layer whose gradients stand already."""


_Candidate: TypeAlias = tuple[Floats, Floats, Floats]


def kinds_of(cases: Cases) -> Kinds:
    """The way of training of each case."""
    full, quantised = cases.full, cases.bits < 16
    kbit = ~full & cases.kbit_prep
    plain = ~full & ~kbit
    # PEFT leaves the input of a quantised layer as it is under autocast.
    shared = plain & ((cases.adapter_bytes < 4) | (quantised & cases.autocast))
    master = full & cases.master & ~cases.master_copy
    return Kinds(
        cast=plain & ~shared & cases.autocast,
        shared=shared,
        wide=plain & ~shared & ~cases.autocast,
        kbit=kbit,
        pure=full & ~master,
        master=master,
    )


def feed_forward(cases: Cases) -> Floats:
    """Width of the feed-forward that one token passes: with experts, of all that it is sent to."""
    attention = 2 * cases.hidden * (cases.heads * cases.head_dim + cases.kv)
    active = (cases.active_linear / cases.layers - attention) / (cases.ffn_matrices * cases.hidden)
    return np.where(
        cases.active_linear < cases.linear, np.maximum(active, cases.intermediate), cases.intermediate
    )


def layer_of(cases: Cases, kinds: Kinds) -> Layer:
    """What one layer keeps without checkpointing, bytes a token."""
    h, q, f = cases.hidden, cases.heads * cases.head_dim, feed_forward(cases)
    gated = cases.ffn_matrices == 3
    attention, inputs, down = _linear_inputs(cases, kinds, f)
    inner = np.where(gated, 6.0, 2.0) * np.where(kinds.kbit, 2.0, 1.0) * f
    norms = _norms(cases, kinds) * h
    # Attention over stored scores repeats keys and values for every head, and keeps the 32-bit softmax and
    # its 16-bit copy; its result stays only where the next linear layer needs it as it is.
    result = cases.flash | cases.full | (cases.adapt_o & (kinds.shared | kinds.kbit) & ~cases.dropout)
    keys = np.where(cases.flash, 4 * cases.kv, 4 * q)
    scores = np.where(cases.flash, 4.0, 6.0 * cases.seq_len) * cases.heads
    layer = Layer(
        attention=norms + attention + 2 * q + 2 * q * result + keys + scores,
        inputs=inputs,
        inner=inner,
        down=down,
        unsaved=np.where(cases.full | cases.checkpointing, 0.0, 4 * h + cases.dropout * h * _qkv(cases)),
    )
    return _selective(cases, layer, f)


def _norms(cases: Cases, kinds: Kinds) -> Floats:
    """Bytes a token and hidden unit that a layer's two norms keep.

    A gated feed-forward comes with RMS norm in separate 32-bit steps, one of two matrices with the fused
    layer norm, which keeps its input alone.
    """
    steps = np.where(kinds.master, 16.0, np.where(kinds.pure, 12.0, 8.0))
    fused = np.where(kinds.master | kinds.kbit | cases.autocast, 8.0, 4.0)
    return np.where(cases.ffn_matrices == 3, steps, fused)


def _selective(cases: Cases, layer: Layer, f: Floats) -> Layer:
    """Selective recomputation: 34 h a token for a GPT, attention scores left out.

    Source: Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models (2022), eq. 2:
    norms 4 h, attention 11 h, feed-forward 19 h with f = 4 h.
    """
    h, q = cases.hidden, cases.heads * cases.head_dim
    chosen = cases.selective & cases.full
    return Layer(
        attention=np.where(chosen, 7 * h + 4 * q + 4 * cases.kv, layer.attention),
        inputs=np.where(chosen, 3 * h, layer.inputs),
        inner=np.where(chosen, np.where(cases.ffn_matrices == 3, 6.0, 2.0) * f, layer.inner),
        down=np.where(chosen, 2 * f, layer.down),
        unsaved=layer.unsaved,
    )


def _qkv(cases: Cases) -> Floats:
    """Adapted layers among queries, keys and values."""
    return np.asarray(1.0 * cases.adapt_q + cases.adapt_k + cases.adapt_v)


def _linear_inputs(cases: Cases, kinds: Kinds, f: Floats) -> tuple[Floats, Floats, Floats]:
    """Bytes a token kept for linear layers: those of attention, the first and the last feed-forward ones."""
    h, q, gated = cases.hidden, cases.heads * cases.head_dim, cases.ffn_matrices == 3
    qkv, first = _qkv(cases), 1.0 * (cases.adapt_gate & gated) + cases.adapt_up
    own = cases.dropout | ~kinds.shared
    # Bytes a value of an input: each adapted layer its own copy, or one for those that read the same.
    size = np.where(kinds.wide, 4.0, 2.0)
    mask = 1.0 * cases.dropout
    inner = np.where(kinds.wide, 4.0, 2.0) * cases.rank
    result = np.where((kinds.shared | kinds.kbit) & ~cases.dropout, 0.0, size)
    attention = h * (size * np.where(own, qkv, qkv > 0) + mask * qkv)
    attention = attention + cases.adapt_o * (result + mask) * q + inner * (qkv + cases.adapt_o)
    inputs = h * (size * np.where(own, first, first > 0) + mask * first) + inner * first
    down = cases.adapt_down * ((size + mask) * f + inner)
    first_layers = np.where(gated, 2.0, 1.0)
    attention = np.where(kinds.pure, 2 * h, np.where(kinds.master, 6 * h, attention))
    inputs = np.where(kinds.pure, 2 * h, np.where(kinds.master, 2 * h * first_layers, inputs))
    return attention, inputs, np.where(cases.full, 2 * f, down)


def layer_peak(cases: Cases, kinds: Kinds, layer: Layer, gradient: Floats) -> Moment:
    """The fullest moment of a layer, while it is computed (with checkpointing: again) and differentiated.

    `gradient`: bytes that the gradient of one trained parameter adds on the card.
    """
    moments = [
        *_backward_adapters(cases, kinds, layer),
        *_backward_full(cases, kinds, layer),
        *_again(cases, kinds, layer),
    ]
    tokens, zero = cases.tokens / cases.tensor, np.zeros(len(cases))
    best: _Candidate = (zero, zero, zero)
    height = np.full(len(cases), -np.inf)
    for candidate in moments:
        size = candidate[0] * tokens + (candidate[1] + gradient * candidate[2]) / cases.tensor
        better = size > height
        height = np.where(better, size, height)
        best = (
            np.where(better, candidate[0], best[0]),
            np.where(better, candidate[1], best[1]),
            np.where(better, candidate[2], best[2]),
        )
    return Moment(*best)


def casts_adapters(cases: Cases) -> Flags:
    """Whether autocast makes 16-bit copies of the adapters."""
    return ~cases.full & cases.autocast & (cases.adapter_bytes > 2)


def _layer_params(cases: Cases) -> Floats:
    return cases.linear / cases.layers


def _copies(cases: Cases, kinds: Kinds) -> Floats:
    """Bytes of the 16-bit copies that autocast makes of trained weights when a layer is computed again."""
    adapters = np.where(casts_adapters(cases), 2 * cases.adapter_params / cases.layers, 0.0)
    return np.where(kinds.master, 2 * _layer_params(cases), adapters) * cases.checkpointing


def _backward_adapters(cases: Cases, kinds: Kinds, layer: Layer) -> list[_Candidate]:
    """Moments of a layer with adapters while it is differentiated."""
    h, q, f, zero = cases.hidden, cases.heads * cases.head_dim, feed_forward(cases), np.zeros(len(cases))
    copies, matrix = _copies(cases, kinds), 2 * h * cases.intermediate
    before = layer.attention + layer.inputs + layer.inner
    gates = np.where(cases.ffn_matrices == 3, 6.0, 4.0) * np.where(kinds.kbit, 2.0, 1.0)
    act = before + np.where(kinds.kbit, 0.0, 2.0) * h + gates * f
    norm = layer.attention + np.where(kinds.kbit, 16.0, _NORM) * h * (cases.ffn_matrices == 3)
    softmax = 12 * cases.heads * cases.seq_len + 6 * h + 6 * q + 2 * h * _qkv(cases)
    weight = layer.kept + np.where(kinds.kbit & cases.adapt_down, 8 * h + 4 * f, 2 * h + 2 * f)
    return [
        _where(~cases.full, act, copies, zero),
        _where(~cases.full, norm, copies, zero),
        _where(~cases.full & ~cases.flash, softmax, copies, zero),
        # The 16-bit form of a quantised matrix stands while it is multiplied with.
        _where(~cases.full & (cases.bits < 16), weight, copies + matrix, zero),
    ]


def _backward_full(cases: Cases, kinds: Kinds, layer: Layer) -> list[_Candidate]:
    """Moments of a layer trained in full while it is differentiated, with its gradients by then."""
    h, q, f, zero = cases.hidden, cases.heads * cases.head_dim, feed_forward(cases), np.zeros(len(cases))
    copies, matrix, kept = _copies(cases, kinds), h * cases.intermediate, layer.kept
    block = (cases.ffn_matrices) * matrix
    inside = layer.inner + layer.down
    gates = np.where(cases.ffn_matrices == 3, 4.0, 2.0) * f
    softmax = 12 * cases.heads * cases.seq_len + np.where(kinds.master, 16.0, 10.0) * h + 6 * q
    own = np.where(kinds.master, 0.5, 1.0) * matrix
    steps = h * (cases.ffn_matrices == 3)
    return [
        _where(kinds.pure, kept + 4 * h, zero, zero),
        _where(kinds.pure, kept + 2 * h + gates, zero, matrix),
        _where(kinds.master, kept + 6 * h, copies, zero),
        _where(kinds.master, kept + 2 * h + 2 * f, copies, own),
        _where(kinds.master, kept + gates, copies, own),
        _where(
            cases.full,
            kept - inside + np.where(kinds.master, 8.0, 18.0) * steps,
            copies,
            block / _half(kinds),
        ),
        _where(cases.full & ~cases.flash, softmax, copies, block / _half(kinds)),
        _where(cases.full, (_NORM + 4) * steps, zero, _layer_params(cases)),
    ]


def _half(kinds: Kinds) -> Floats:
    """A 32-bit gradient takes the place of the 16-bit copy of its matrix: only half of it is new."""
    return np.where(kinds.master, 2.0, 1.0)


def _again(cases: Cases, kinds: Kinds, layer: Layer) -> list[_Candidate]:
    """Moments of a layer with adapters while it is computed again: the copies made for an adapter's input."""
    h, f, zero = cases.hidden, feed_forward(cases), np.zeros(len(cases))
    copies, before = _copies(cases, kinds), layer.attention + layer.inputs + layer.inner
    adapters, drop = ~cases.full, cases.dropout
    last_h = np.select([kinds.cast, kinds.wide, kinds.kbit], [10.0, 14.0, 12.0], np.where(drop, 10.0, 8.0))
    last_f = np.select([kinds.cast, kinds.wide, kinds.kbit], [6.0, 2.0, 4.0], np.where(drop, 2.0, 0.0))
    last = layer.kept + last_h * h + (last_f + drop * (kinds.cast | kinds.wide) * 4.0) * f
    both_h = np.select([kinds.cast, kinds.wide], [10.0, 6.0 + 6.0 * cases.adapt_down], 6.0)
    first = before + both_h * h + np.where(kinds.wide, 8.0, 4.0) * f
    return [
        _where(adapters & cases.adapt_down, last, copies, zero),
        _where(adapters & ~kinds.kbit & cases.adapt_up, first, copies, zero),
    ]


def _where(chosen: Flags, tokens: Floats, fixed: Floats, gradients: Floats) -> _Candidate:
    """A candidate in the chosen rows; in the others it counts for nothing."""
    return np.where(chosen, tokens, 0.0), np.where(chosen, fixed, 0.0), np.where(chosen, gradients, 0.0)
