"""Rows of measurements as cases: what a published table, or a user's own, says of a run.

The columns are those of the table of facts (`sim/physics/facts/measurements.csv`). Free text is read with
patience: an unknown word falls back to what most training code does, a missing number is a reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sim.catalog import Catalog
from sim.catalog.names import find_gpu, find_model
from sim.model.hardware import Gpu, LanguageModel
from sim.model.work import Method
from sim.physics.cases import Case
from sim.physics.recipe import LINEARS, Recipe
from sim.physics.row_split import layout_of, micro_steps, split_of
from sim.physics.split import Split
from sim.physics.task import Task

__all__ = ["LARGEST", "NEEDED", "MisreadError", "Row", "number", "read_row", "text"]

NEEDED = ("model", "method", "micro_batch", "seq_len", "gpu")
"""Columns without which nothing can be said of any row."""

_METHODS: Mapping[str, Method] = {
    "full": "full",
    "sft": "full",
    "pretrain": "full",
    "pretraining": "full",
    "full(pure_bf16)": "full",
    "full(bf16 amp)": "full",
    "lora": "lora",
    "qlora4": "qlora4",
    "qlora": "qlora4",
    "qlora8": "qlora8",
}

_LAYERS: Mapping[str, tuple[str, ...]] = {
    "c_attn": ("q", "k", "v"),
    "qkv": ("q", "k", "v"),
    "qkv_proj": ("q", "k", "v"),
    "query_key_value": ("q", "k", "v"),
    "attn": ("q", "k", "v", "o"),
    "attention": ("q", "k", "v", "o"),
    "c_proj": ("o", "down"),
    "projection": ("o",),
    "proj": ("o",),
    "dense": ("o",),
    "output": ("o",),
    "query": ("q",),
    "key": ("k",),
    "value": ("v",),
    "mlp": ("gate", "up", "down"),
    "w1": ("gate",),
    "w2": ("up",),
    "w3": ("down",),
    "fc1": ("up",),
    "fc2": ("down",),
    "dense_h_to_4h": ("up",),
    "dense_4h_to_h": ("down",),
    "gate_up_proj": ("gate", "up"),
    "all-linear": LINEARS,
    "all_linear": LINEARS,
    "all": LINEARS,
    **{name: (name,) for name in LINEARS},
    **{f"{name}_proj": (name,) for name in LINEARS},
}


LARGEST = 1_000_000_000
"""Above this no size of a run is meant in earnest, and sums of squares would leave what a float holds."""


class MisreadError(Exception):
    """Why nothing can be said of a row; the text is for people."""


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


def text(row: Mapping[str, Any], key: str) -> str:
    """A cell as text; empty where the column is missing or holds nothing."""
    value = row.get(key)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).strip()


def number(row: Mapping[str, Any], key: str) -> float | None:
    """A cell as a number; None where it is empty or no number."""
    try:
        value = float(text(row, key).replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_row(row: Mapping[str, Any], catalog: Catalog) -> Row:
    """The case of a row. Raises MisreadError with the reason where a needed fact is missing."""
    model = _model(row, catalog)
    gpu = _gpu(row, catalog)
    method = _method(row)
    kind = text(row, "mem_kind").lower()
    recipe = _recipe(row, method)
    task = Task(
        model=model,
        method=method,
        rank=0 if method == "full" else round(_positive(row, "rank", 8)),
        micro_batch=round(_positive(row, "micro_batch")),
        seq_len=round(_positive(row, "seq_len")),
        checkpointing=_checkpointing(row) == "full",
        recipe=recipe,
    )
    if task.rank > model.hidden:
        msg = f"rank {task.rank} is larger than the hidden size {model.hidden}"
        raise MisreadError(msg)
    cards = round(_positive(row, "n_gpus", 1))
    split = split_of(row, task)
    wrong = _no_split(split, task, cards if text(row, "n_gpus") else split.cards)
    if wrong:
        raise MisreadError(wrong)
    if split.pipeline > 1 and number(row, "grad_accum") is None:
        steps = micro_steps(row, task.micro_batch * split.data, split)
        task = replace(task, recipe=replace(recipe, accumulation=steps))
    return Row(
        case=Case(task, split, layout_of(row, split, gpu), gpu, _positive(row, "mean_len", task.seq_len)),
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


def _positive(row: Mapping[str, Any], key: str, default: float | None = None) -> float:
    value = number(row, key)
    if value is None and text(row, key):
        msg = f"{key} is no number: {text(row, key)!r}"
        raise MisreadError(msg)
    if value is None:
        value = default
    if value is None:
        msg = f"{key} is not given"
        raise MisreadError(msg)
    if value < 1:
        msg = f"{key} is {value:g}; it must be at least 1"
        raise MisreadError(msg)
    if value > LARGEST:
        msg = f"{key} is {value:g}; it must be at most {LARGEST:,}"
        raise MisreadError(msg)
    return value


def _method(row: Mapping[str, Any]) -> Method:
    name = text(row, "method").lower()
    method = _METHODS.get(name)
    if method is None:
        msg = f"method {name or '(empty)'!r} is not one of full, lora, qlora4, qlora8"
        raise MisreadError(msg)
    bits = number(row, "bits")
    if method == "lora" and bits in (4, 8):
        return "qlora4" if bits == 4 else "qlora8"
    return method


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
    layers, hidden, heads, ffn, vocab = (round(_positive(row, key)) for key in keys)
    kv_heads = round(_positive(row, "kv_heads", heads))
    matrices = named.ffn_matrices if named else round(_positive(row, "ffn_matrices", 3))
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


def _checkpointing(row: Mapping[str, Any]) -> str:
    """`full`, `selective` or `none`; an empty cell counts as full, as fine-tuning code mostly has it."""
    word = text(row, "grad_ckpt").lower()
    if word.startswith("sel"):
        return "selective"
    return "none" if word in {"n", "no", "none", "false", "0"} else "full"


def _recipe(row: Mapping[str, Any], method: Method) -> Recipe:
    stack = _stack(row)
    tag = text(row, "optim_bytes_tag").lower()
    autocast, master = text(row, "autocast_bf16").lower(), text(row, "fp32_master").lower()
    litgpt = stack in {"litgpt", "torchtune"}
    pure = tag == "bf16" or litgpt
    adapter = text(row, "adapter_dtype").lower()
    targets, adapt_head, train_outer = _targets(row)
    return Recipe(
        targets=targets,
        adapt_head=adapt_head,
        train_outer=train_outer,
        attention="flash" if text(row, "flash_attn").lower() not in {"n", "no", "false", "0"} else "eager",
        # DeepSpeed casts the whole model, so that logits stay in 16 bits.
        loss="plain" if tag == "ds" else _loss(row, stack),
        optimizer=_optimizer(row),
        quantisation=_quantisation(row, method),
        kbit_prep=_kbit_prep(row, stack, tag),
        adapter_bytes=2.0 if "16" in adapter or (pure and "32" not in adapter) else 4.0,
        autocast=autocast == "y" if autocast else method != "full" and not pure and tag != "ds",
        # As for a job class: where nothing is said, sharded state has a 32-bit master.
        master_if_sharded=not master and not tag and not pure,
        master=master == "y" if master else tag in {"ds", "amp", "fp32"} or stack.startswith("optimized"),
        master_copy=not master and (tag == "ds" or stack.startswith("optimized")),
        deepspeed=tag == "ds" or "zero" in text(row, "zero_or_fsdp").lower(),
        dropout=(number(row, "lora_dropout") or 0) > 0,
        accumulation=min(max(1.0, number(row, "grad_accum") or 1.0), float(LARGEST)),
        stack=stack,
        in_backward=_in_backward(row),
        fp8="fp8" in stack or (number(row, "bits") == 8 and method == "full"),
        ragged=any(words in text(row, "notes").lower() for words in ("lengths vary", "many lengths")),
        selective=_checkpointing(row) == "selective",
    )


_PROJECTS = {"qwenlm/qwen": "qwen", "ms-swift": "ms-swift", "fsdp_qlora": "fsdp_qlora"}
"""Projects that the stack column calls `hf` but whose scripts differ in memory and speed."""


def _stack(row: Mapping[str, Any]) -> str:
    stack, source = text(row, "stack").lower() or "hf", text(row, "source").lower()
    if stack in {"hf", "hf5", "transformers", "peft", "trl"}:
        return next((name for words, name in _PROJECTS.items() if words in source), "hf")
    return stack


def _loss(row: Mapping[str, Any], stack: str) -> str:
    word = text(row, "loss_kernel").lower()
    if stack.startswith("optimized") and word in {"", "plain_hf"}:
        return "chunked"  # llm-foundry's own default: a fused cross-entropy
    if any(part in word for part in ("chunk", "fused", "liger", "cut")):
        return "chunked"
    if "upcast" in word or word == "plain_hf":
        return "upcast"
    return "standard"


def _optimizer(row: Mapping[str, Any]) -> str:
    word = text(row, "optimizer").lower()
    paged, eight = "paged" in word, "8bit" in word or "8-bit" in word
    if paged:
        return "paged_adamw_8bit" if eight else "paged_adamw"
    if eight:
        return "adamw_8bit"
    for name in ("adafactor", "lion", "sgd"):
        if name in word:
            return name
    if "foreach" in word:
        return "adamw_foreach"
    return "adamw_fused" if "fused" in word else "adamw"


def _in_backward(row: Mapping[str, Any]) -> bool:
    words = f"{text(row, 'optimizer')} {text(row, 'notes')}".lower()
    return bool(re.search(r"in[ _-]?(?:the[ _-]?)?b(?:ack)?wa?r?d|fused[ _-]backward", words))


def _quantisation(row: Mapping[str, Any], method: Method) -> str:
    word = text(row, "quant_fmt").lower()
    if method == "qlora4":
        if "gptq" in word or "awq" in word:
            return "gptq4"
        return "nf4" if word in {"nf4", "bnb4", "fp4"} else "nf4dq"
    if method == "qlora8":
        return "gptq8" if "gptq" in word else "int8"
    return ""


def _kbit_prep(row: Mapping[str, Any], stack: str, tag: str) -> bool:
    """By its column; else as transformers do it, which DeepSpeed's own cast to 16 bits undoes."""
    word = text(row, "kbit_prep").lower()
    return word == "y" if word else stack in {"hf", "qwen", "ms-swift"} and tag not in {"bf16", "ds"}


def _targets(row: Mapping[str, Any]) -> tuple[tuple[str, ...], bool, bool]:
    """Adapted layers of a block, whether the head has an adapter, whether embeddings and head are trained."""
    cell = text(row, "target_modules").lower()
    outer = any(word in cell for word in ("wte", "embed_tokens", "modules_to_save"))
    words = [word for word in re.split(r"[^a-z0-9_\-]+", cell) if word and word != "default"]
    head = any(word in {"head", "lm_head"} for word in words) and not outer
    found = {layer for word in words for layer in _LAYERS.get(word, ())}
    return (tuple(name for name in LINEARS if name in found) or LINEARS), head, outer


def _capacity(row: Mapping[str, Any], gpu: Gpu | None) -> float | None:
    """GiB that a program can have: the card's, or the size in a name such as `24GB GPU`."""
    if gpu is not None:
        return gpu.usable_gib
    size = re.search(r"(\d+(?:\.\d+)?)\s*gi?b", text(row, "gpu").lower())
    return float(size[1]) - 0.6 if size else None
