"""How a measured run was trained, read from the words of its row.

An unknown word falls back to what most training code does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sim.model.work import Method
from sim.physics.recipe import LINEARS, Recipe
from sim.physics.row_cells import LARGEST, MisreadError, number, text

__all__ = ["checkpointing_of", "method_of", "recipe_of"]

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


def method_of(row: Mapping[str, Any]) -> Method:
    """The method of a row. Raises MisreadError where its word is none."""
    name = text(row, "method").lower()
    method = _METHODS.get(name)
    if method is None:
        msg = f"method {name or '(empty)'!r} is not one of full, lora, qlora4, qlora8"
        raise MisreadError(msg)
    bits = number(row, "bits")
    if method == "lora" and bits in (4, 8):
        return "qlora4" if bits == 4 else "qlora8"
    return method


def checkpointing_of(row: Mapping[str, Any]) -> str:
    """`full`, `selective` or `none`; an empty cell counts as full, as fine-tuning code mostly has it."""
    word = text(row, "grad_ckpt").lower()
    if word.startswith("sel"):
        return "selective"
    return "none" if word in {"n", "no", "none", "false", "0"} else "full"


def recipe_of(row: Mapping[str, Any], method: Method) -> Recipe:
    """The choices of the training code beside model, method and shape."""
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
        selective=checkpointing_of(row) == "selective",
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
