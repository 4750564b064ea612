"""How a job is trained: the choices beside model, method and shape, each by its common name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = [
    "LINEARS",
    "LOSSES",
    "OPTIMIZERS",
    "QUANTISATIONS",
    "TARGETS",
    "LossBytes",
    "OptimizerBytes",
    "Recipe",
]

LINEARS = ("q", "k", "v", "o", "gate", "up", "down")
"""Linear layers of a block; a feed-forward of two matrices has no `gate`."""

TARGETS: Mapping[str, tuple[str, ...]] = {
    "all-linear": LINEARS,
    "attention": ("q", "k", "v"),
    "qv": ("q", "v"),
    "qkvo": ("q", "k", "v", "o"),
    "mlp": ("gate", "up", "down"),
}
"""Named sets of adapted layers."""


@dataclass(frozen=True, slots=True)
class LossBytes:
    """Bytes a token and vocabulary entry while the loss is computed, and while it is differentiated."""

    forward: float
    backward: float


LOSSES: Mapping[str, LossBytes] = {
    "standard": LossBytes(10, 12),
    "upcast": LossBytes(14, 12),
    "plain": LossBytes(4, 6),
    "chunked": LossBytes(2.5, 2.5),
    "fused": LossBytes(0, 0),
}
"""Loss kernels. `standard`: transformers 5 (16-bit logits, their 32-bit copy, its shifted form).
`upcast`: older transformers, logits made 32-bit before the shift (10 forward with one sample, which is no
copy). `plain`: 16-bit logits all through. `chunked`: fused or chunked cross-entropy (assumed; the published
rows did not move it). `fused`: head and loss in one kernel, so that logits are never stored
(assumed 0: what a kernel holds of them at a time is next to nothing; Wijmans et al., Cut Your Losses in
Large-Vocabulary Language Models, 2024: 24 GB become 1 MB for Gemma 2 2B). Source of the first three: traced
peaks of real models."""


@dataclass(frozen=True, slots=True)
class OptimizerBytes:
    """Bytes of optimiser state a trained parameter."""

    per_param: float
    """With 32-bit trained parameters."""
    pure: float
    """With 16-bit trained parameters."""
    paged: bool = False
    """State that moves to host memory when the card runs short."""
    foreach: bool = False
    """Makes a temporary the size of the parameters during the step."""


OPTIMIZERS: Mapping[str, OptimizerBytes] = {
    "adamw": OptimizerBytes(8, 4, foreach=True),
    "adamw_fused": OptimizerBytes(8, 4),
    "adamw_foreach": OptimizerBytes(8, 4, foreach=True),
    "adamw_8bit": OptimizerBytes(2, 2),
    "paged_adamw": OptimizerBytes(8, 8, paged=True),
    "paged_adamw_8bit": OptimizerBytes(2, 2, paged=True),
    "adafactor": OptimizerBytes(0.02, 0.02),
    "sgd": OptimizerBytes(0, 0),
    "lion": OptimizerBytes(4, 2),
}
"""`adamw` is PyTorch's own default, the foreach form. AdamW keeps two moments in the type of the parameter:
2 x 4 or 2 x 2 bytes; 8-bit states one byte each."""

QUANTISATIONS: Mapping[str, float] = {
    "nf4": 0.5625,
    "nf4dq": 0.515625 + 1 / 2048,
    "gptq4": 0.52,
    "int8": 1.0,
    "gptq8": 1.02,
}
"""Bytes a quantised weight. NF4: half a byte and a 32-bit scale for 64 weights; double quantisation keeps
the scale in one byte and has a second level above it (half a thousandth of a byte by traced models); GPTQ:
16-bit scale and 4-bit zero for 128."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What training code decides; the defaults are those of Hugging Face transformers with PEFT."""

    targets: tuple[str, ...] = LINEARS
    """Adapted layers of a block, of LINEARS."""
    adapt_head: bool = False
    """Whether the output head has an adapter too."""
    train_outer: bool = False
    """Whether embeddings and head are trained in full beside the adapters."""
    attention: str = "flash"
    """`flash` (or any kernel that never stores the scores), or `eager`."""
    loss: str = "standard"
    """Key of LOSSES."""
    optimizer: str = "adamw"
    """Key of OPTIMIZERS."""
    quantisation: str = ""
    """Key of QUANTISATIONS; empty: nf4dq for 4 bits, int8 for 8 bits."""
    kbit_prep: bool = True
    """With a quantised base: embeddings and head made 32-bit, residual stream too."""
    adapter_bytes: float = 4.0
    """Bytes of one adapter weight: 4, or 2 for 16-bit adapters."""
    autocast: bool = True
    """Mixed precision by autocast; without it everything runs in the type of the weights."""
    master: bool = False
    """Full fine-tuning with 32-bit weights beside or instead of the 16-bit ones."""
    master_if_sharded: bool = False
    """Full fine-tuning: `master` and `master_copy` hold where the state is sharded, whatever they say."""
    master_copy: bool = False
    """Whether `master` weights stand beside a 16-bit copy (DeepSpeed, Megatron) or alone (autocast)."""
    deepspeed: bool | None = None
    """Whether DeepSpeed holds the training state; None: where it is sharded."""
    dropout: bool = False
    """Dropout in the adapters."""
    accumulation: float = 1.0
    """Micro-steps between two optimiser steps."""
    stack: str = "hf"
    """Framework, a key of the constants' `stacks`; another name takes what they have in common."""
    fp8: bool = False
    """Matrix products in 8-bit floating point."""
    ragged: bool = False
    """Samples of many lengths one after another, which break up the allocator's blocks."""
    in_backward: bool = False
    """Full fine-tuning with an optimiser that steps within the backward pass and frees each gradient."""
    selective: bool = False
    """Where nothing else is computed again: whether the inside of attention is (Megatron)."""
