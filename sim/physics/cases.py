"""Jobs on cards as columns: everything that memory and speed follow from, one row a case.

The formulas of memory and speed are written once, over columns; one job is a table of one row, and a
hundred thousand shapes are asked in one call. Sizes that depend on the fitted constants are not here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.model.hardware import Gpu
from sim.physics.recipe import LINEARS, LOSSES, OPTIMIZERS, QUANTISATIONS, Recipe
from sim.physics.split import Layout, Split
from sim.physics.task import Task, adapter_sides

__all__ = ["Case", "Cases", "Flags", "Floats", "Names", "cases_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Names = NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Case:
    """One job in one way of training, division and place."""

    task: Task
    split: Split
    layout: Layout
    gpu: Gpu | None = None
    """None: memory alone is asked."""
    length: float | None = None
    """Tokens of a place of the micro-batch with padding, as computed; None: `seq_len`."""
    mig_share: float = 1.0
    """Share of the card's multiprocessors, for a slice."""


@dataclass(frozen=True, slots=True)
class Cases:
    """Columns of shape (n,). Counts and sizes are floats, yes or no is bool, names are text."""

    # The model.
    model: Names
    """Id in the catalogue, or the name in a row."""
    layers: Floats
    hidden: Floats
    heads: Floats
    kv_heads: Floats
    head_dim: Floats
    intermediate: Floats
    """Width of the feed-forward that one token passes: of its experts together."""
    ffn_matrices: Floats
    vocab: Floats
    tied: Flags
    params: Floats
    linear: Floats
    """Parameters of the linear layers in the blocks (what quantisation shrinks)."""
    active_linear: Floats
    """Those that one token passes: fewer than `linear` with experts."""

    # The method.
    full: Flags
    """Every weight is trained; else adapters are."""
    bits: Floats
    """Of the base weights: 16, 8 or 4."""
    quant_bytes: Floats
    """Bytes a linear base weight as stored: 2, or the quantised size with its scales."""
    kbit_prep: Flags
    """Quantised base with embeddings, head and residual stream in 32 bits."""
    rank: Floats
    """0 without adapters."""
    adapt_q: Flags
    adapt_k: Flags
    adapt_v: Flags
    adapt_o: Flags
    adapt_gate: Flags
    adapt_up: Flags
    adapt_down: Flags
    adapt_head: Flags
    adapted: Floats
    """Adapter parameters of the blocks for each unit of rank."""
    train_outer: Flags
    """Embeddings and head trained in full beside adapters."""
    adapter_bytes: Floats
    autocast: Flags
    master: Flags
    master_copy: Flags
    deepspeed: Flags
    """Whether DeepSpeed holds the training state."""
    dropout: Flags
    state_bytes: Floats
    """Optimiser state, bytes a trained parameter (by the type of the trained parameters)."""
    foreach: Flags
    paged: Flags
    in_backward: Flags
    """The optimiser steps within the backward pass, gradient by gradient."""
    fp8: Flags
    stack: Names

    # The micro-step of one data-parallel group.
    micro_batch: Floats
    seq_len: Floats
    """Longest sample: memory is asked at it."""
    length: Floats
    """Tokens of a place as computed, with padding: speed is asked at it."""
    accumulation: Floats
    checkpointing: Flags
    selective: Flags
    """Only attention is computed again (with `checkpointing` off)."""
    flash: Flags
    loss_forward: Floats
    """Bytes a token and vocabulary entry."""
    loss_backward: Floats
    ragged: Flags

    # The division.
    data: Floats
    tensor: Floats
    pipeline: Floats
    zero: Floats
    """Stage 0 to 3."""
    naive: Flags
    offload: Flags

    # The place.
    gpu: Names
    """Id in the catalogue; empty where memory alone is asked."""
    tflops: Floats
    """Dense 16-bit peak, TFLOP/s; NaN without a card. A slice has its share."""
    fp8_tflops: Floats
    efficiency: Floats
    """Relative to an A100, as the catalogue has it."""
    bandwidth_gb_s: Floats
    usable_gib: Floats
    machines: Floats
    per_machine: Floats
    link: Names
    """Within a machine."""
    network: Names
    """Between machines."""

    def __len__(self) -> int:
        return len(self.layers)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Cases:
        """The rows of an index or mask, in its order; an index may repeat rows."""
        return Cases(**{field.name: getattr(self, field.name)[rows] for field in dataclasses.fields(self)})

    def replace(self, **columns: Any) -> Cases:
        """The same with other columns, each an array of shape (n,) or one value for all rows."""
        full = {
            name: np.broadcast_to(np.asarray(value, dtype=getattr(self, name).dtype), (len(self),)).copy()
            for name, value in columns.items()
        }
        return dataclasses.replace(self, **full)

    @property
    def tokens(self) -> Floats:
        """Tokens of a micro-batch at full length."""
        return self.micro_batch * self.seq_len

    @property
    def kv(self) -> Floats:
        """Width of keys or values."""
        return self.kv_heads * self.head_dim

    @property
    def outer(self) -> Floats:
        """Parameters of embeddings and head."""
        return self.params - self.linear

    @property
    def adapter_params(self) -> Floats:
        """LoRA parameters of the whole model: rank x (inputs + outputs) of every adapted layer."""
        return np.asarray(self.rank * (self.adapted + self.adapt_head * (self.hidden + self.vocab)))

    @property
    def trained(self) -> Floats:
        """Parameters that are trained."""
        adapters = self.adapter_params + self.train_outer * self.outer
        return np.where(self.full, self.params, adapters)


def cases_of(items: Sequence[Case]) -> Cases:
    """The columns of a list of cases, in its order."""
    rows = [_row(item) for item in items]
    kinds = {"Floats": np.float64, "Flags": np.bool_, "Names": np.str_}
    return Cases(
        **{
            field.name: np.array([row[field.name] for row in rows], dtype=kinds[str(field.type)])
            for field in dataclasses.fields(Cases)
        }
    )


def _row(case: Case) -> dict[str, Any]:
    task, split, layout, gpu = case.task, case.split, case.layout, case.gpu
    recipe = task.recipe
    return {
        **_model(task),
        **_method(task, split),
        "micro_batch": task.micro_batch,
        "seq_len": task.seq_len,
        "length": task.seq_len if case.length is None else case.length,
        "accumulation": recipe.accumulation,
        "checkpointing": task.checkpointing,
        "selective": recipe.selective and not task.checkpointing,
        "flash": recipe.attention != "eager",
        **_loss(task, recipe),
        "ragged": recipe.ragged,
        "data": split.data,
        "tensor": split.tensor,
        "pipeline": split.pipeline,
        "zero": split.zero,
        "naive": split.naive,
        "offload": split.offload,
        "gpu": "" if gpu is None else gpu.id,
        "tflops": np.nan if gpu is None else gpu.tflops * case.mig_share,
        "fp8_tflops": np.nan if gpu is None or gpu.fp8_tflops is None else gpu.fp8_tflops * case.mig_share,
        "efficiency": 1.0 if gpu is None else gpu.efficiency,
        "bandwidth_gb_s": np.nan if gpu is None else gpu.bandwidth_gb_s * case.mig_share,
        "usable_gib": np.nan if gpu is None else gpu.usable_gib,
        "machines": layout.machines,
        "per_machine": layout.per_machine,
        "link": layout.link,
        "network": layout.network,
    }


def _model(task: Task) -> dict[str, Any]:
    model = task.model
    return {
        "model": model.id,
        "layers": model.layers,
        "hidden": model.hidden,
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "intermediate": model.intermediate // model.experts * model.experts_per_token,
        "ffn_matrices": model.ffn_matrices,
        "vocab": model.vocab,
        "tied": model.tied_embeddings,
        "params": model.params,
        "linear": model.params_linear,
        "active_linear": model.active_linear,
    }


def _method(task: Task, split: Split) -> dict[str, Any]:
    recipe = task.recipe
    if recipe.master_if_sharded and split.zero:
        recipe = dataclasses.replace(recipe, master=True, master_copy=True)
    if split.zero == 3 and task.method in ("qlora4", "qlora8"):
        # Shards hold one type: nothing stays in 32 bits beside a quantised base.
        recipe = dataclasses.replace(recipe, kbit_prep=False, adapter_bytes=2.0, autocast=False)
    deepspeed = split.zero > 0 if recipe.deepspeed is None else recipe.deepspeed
    full, quantised = task.method == "full", task.method in ("qlora4", "qlora8")
    four = task.method == "qlora4"
    scheme = recipe.quantisation or ("nf4dq" if four else "int8")
    optimizer = OPTIMIZERS[recipe.optimizer]
    wide = recipe.master if full else recipe.adapter_bytes == 4
    targets = () if full else recipe.targets
    return {
        "full": full,
        "bits": (4 if four else 8) if quantised else 16,
        "quant_bytes": QUANTISATIONS[scheme] if quantised else 2.0,
        # PEFT's preparation leaves the parts of a GPTQ model in 16 bits.
        "kbit_prep": quantised and recipe.kbit_prep and not scheme.startswith("gptq"),
        "rank": 0 if full else task.rank,
        **{f"adapt_{name}": name in targets for name in LINEARS},
        "adapt_head": recipe.adapt_head and not full,
        "adapted": 0.0 if full else adapter_sides(task),
        "train_outer": recipe.train_outer and not full,
        "adapter_bytes": recipe.adapter_bytes,
        # Pure 16-bit training has no casts, and where a master copy stands the model itself is cast.
        "autocast": recipe.autocast and not (full and (not recipe.master or recipe.master_copy)),
        "master": recipe.master and full,
        "master_copy": recipe.master_copy and full,
        "deepspeed": deepspeed,
        "dropout": recipe.dropout and not full,
        "state_bytes": optimizer.per_param if wide else optimizer.pure,
        "foreach": optimizer.foreach and not deepspeed,  # DeepSpeed brings a fused one
        "paged": optimizer.paged,
        "in_backward": recipe.in_backward and full,
        "fp8": recipe.fp8,
        "stack": recipe.stack,
    }


def _loss(task: Task, recipe: Recipe) -> dict[str, float]:
    loss = LOSSES[recipe.loss]
    forward = loss.forward
    if recipe.loss == "upcast" and task.micro_batch == 1:
        forward = 10.0  # one sample shifts without a copy; traced peaks of single samples
    return {"loss_forward": forward, "loss_backward": loss.backward}
