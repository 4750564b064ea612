"""Rows of measurements as cases: what a published table, or a user's own, says of a run.

The columns are those of the table of facts (`sim/physics/facts/measurements.csv`). Free text is read with
patience: an unknown word falls back to what most training code does, a missing number is a reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sim.catalog import Catalog
from sim.catalog.names import find_gpu, find_model
from sim.model.hardware import Gpu, LanguageModel
from sim.physics.cases import Case
from sim.physics.row_cells import MisreadError, number, positive, text
from sim.physics.row_recipe import checkpointing_of, method_of, recipe_of
from sim.physics.row_split import layout_of, micro_steps, split_of
from sim.physics.split import Split
from sim.physics.task import Task

__all__ = ["NEEDED", "Row", "read_row"]

NEEDED = ("model", "method", "micro_batch", "seq_len", "gpu")
"""Columns without which nothing can be said of any row."""

_DRIVER_GIB = 0.6
"""Of the size in the name of an unknown card, what a program cannot have, GiB (assumed)."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row as the physics sees it."""

    case: Case
    traced: bool
    """The memory column counts tensors alone, without the allocator or a card."""
    allocated: bool
    """It counts what the framework allocates (traced rows too)."""
    capacity_gib: float | None
    """Memory of the card; None where the row names none."""


def read_row(row: Mapping[str, Any], catalog: Catalog) -> Row:
    """The case of a row. Raises MisreadError with the reason where a needed fact is missing."""
    model = _model(row, catalog)
    gpu = _gpu(row, catalog)
    method = method_of(row)
    kind = text(row, "mem_kind").lower()
    recipe = recipe_of(row, method)
    task = Task(
        model=model,
        method=method,
        rank=0 if method == "full" else round(positive(row, "rank", 8)),
        micro_batch=round(positive(row, "micro_batch")),
        seq_len=round(positive(row, "seq_len")),
        checkpointing=checkpointing_of(row) == "full",
        recipe=recipe,
    )
    if task.rank > model.hidden:
        msg = f"rank {task.rank} is larger than the hidden size {model.hidden}"
        raise MisreadError(msg)
    cards = round(positive(row, "n_gpus", 1))
    split = split_of(row, task)
    wrong = _no_split(split, task, cards if text(row, "n_gpus") else split.cards)
    if wrong:
        raise MisreadError(wrong)
    if split.pipeline > 1 and number(row, "grad_accum") is None:
        steps = micro_steps(row, task.micro_batch * split.data, split)
        task = replace(task, recipe=replace(recipe, accumulation=steps))
    return Row(
        case=Case(task, split, layout_of(row, split, gpu), gpu, positive(row, "mean_len", task.seq_len)),
        traced="traced" in kind,
        allocated="traced" in kind or "allocated" in kind,
        capacity_gib=_capacity(row, gpu),
    )


def _no_split(split: Split, task: Task, cards: int) -> str:
    """Why a division that a row names cannot be; empty where it can."""
    if split.cards != cards:
        return f"{split.name} is a division over {split.cards} cards; n_gpus is {cards}"
    if task.model.heads % split.tensor:
        return f"{task.model.heads} attention heads do not divide by {split.tensor}"
    if split.pipeline > task.model.layers:
        return f"{split.pipeline} stages, but the model has {task.model.layers} layers"
    return ""


_CHIPS = {"a100": "A100-80G", "v100": "V100-32G", "a800": "A800-80G"}
"""Names that leave the memory open: the same chip, taken with the larger memory."""


def _gpu(row: Mapping[str, Any], catalog: Catalog) -> Gpu | None:
    name = text(row, "gpu")
    found = find_gpu(name, catalog)
    chip = _CHIPS.get(re.sub(r"[^a-z0-9]", "", name.lower().replace("nvidia", "").replace("tesla", "")))
    return found or catalog.gpus.get(chip or "")


def _model(row: Mapping[str, Any], catalog: Catalog) -> LanguageModel:
    """By the dimensions in the row where it has them, else by key or name in the catalogue."""
    named = None
    for key in ("arch", "model"):
        named = named or find_model(text(row, key), catalog)
    keys = ("layers", "hidden", "heads", "intermediate", "vocab")
    sizes = [number(row, key) for key in keys]
    if any(size is None or size <= 0 for size in sizes):
        if named is None:
            msg = f"model {text(row, 'model') or '(empty)'!r} is not in the catalogue"
            raise MisreadError(msg)
        return named
    layers, hidden, heads, ffn, vocab = (round(positive(row, key)) for key in keys)
    kv_heads = round(positive(row, "kv_heads", heads))
    matrices = named.ffn_matrices if named else round(positive(row, "ffn_matrices", 3))
    head_dim = named.head_dim if named and named.hidden == hidden else hidden // heads
    if head_dim < 1 or matrices not in (2, 3):
        msg = f"no model has {hidden} as hidden, {heads} heads and {matrices} feed-forward matrices"
        raise MisreadError(msg)
    tied = text(row, "tied").lower() in {"1", "1.0", "y", "true"}
    width = head_dim * (heads + kv_heads)
    linear = layers * hidden * (2 * width + matrices * ffn)
    return LanguageModel(
        id=text(row, "arch") or text(row, "model") or "row",
        name=text(row, "model") or "row",
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        intermediate=ffn,
        ffn_matrices=matrices,
        vocab=vocab,
        tied_embeddings=tied,
        params=linear + vocab * hidden * (1 if tied else 2),
        params_linear=linear,
        source="dimensions in the row",
    )


def _capacity(row: Mapping[str, Any], gpu: Gpu | None) -> float | None:
    """GiB that a program can have: the card's, or the size in a name such as `24GB GPU`."""
    if gpu is not None:
        return gpu.usable_gib
    size = re.search(r"(\d+(?:\.\d+)?)\s*gi?b", text(row, "gpu").lower())
    return float(size[1]) - _DRIVER_GIB if size else None
