"""The division and the place of a measured run, read from the words of its row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sim.model.hardware import Gpu
from sim.physics.row_cells import number, text
from sim.physics.split import Layout, Split
from sim.physics.task import Task

__all__ = ["layout_of", "micro_steps", "split_of"]

_DIMENSIONS = {"tensor": ("tp", "tensor"), "pipeline": ("pp", "pipeline")}
"""Short and long word of each dimension."""
_SERVER_GB_S = 1200
"""Memory bandwidth, GB/s, from which a card of the A100 or H100 class has NVLink (data sheets: 1,555 and
more; an A30 has 933)."""


def _cell(row: Mapping[str, Any], key: str) -> str:
    return text(row, key).lower()


def _cards(row: Mapping[str, Any]) -> int:
    return max(1, round(number(row, "n_gpus") or 1))


def split_of(row: Mapping[str, Any], task: Task) -> Split:
    """The division that a row's words say; what they leave open follows from the number of cards."""
    cards, word = _cards(row), _cell(row, "zero_or_fsdp")
    offload = "offload" in word
    zero = _zero(word)
    if "device_map" in word:
        return Split(pipeline=cards, naive=True)
    tensor, pipeline = _size(row, "tensor"), _size(row, "pipeline")
    if (
        tensor is None
        and pipeline is None
        and any(name in word for name in ("3d", "megatron", "tp", "tensor"))
    ):
        tensor = min(cards, 8)
        while tensor > 1 and task.model.heads % tensor:
            tensor //= 2
    tensor, pipeline = tensor or 1, pipeline or 1
    data = max(1, cards // (tensor * pipeline))
    return Split(data, tensor, pipeline, zero if data > 1 or offload or zero == 3 else 0, offload=offload)


def _zero(word: str) -> int:
    if "shard_grad_op" in word or re.search(r"zero[ _-]?(stage[ _-]?)?2", word):
        return 2
    if re.search(r"zero[ _-]?offload", word):
        return 2  # the name of DeepSpeed's second stage with its state on the host
    if re.search(r"zero[ _-]?(stage[ _-]?)?1|dist\w*[ _-]?opt", word):
        return 1
    return 3 if "fsdp" in word or "zero" in word else 0


def _size(row: Mapping[str, Any], name: str) -> int | None:
    """The size of a dimension: a column of its own, or words such as `tp8`, `tp=8`, `8-way tensor`."""
    short, long = _DIMENSIONS[name]
    own = _cell(row, short)
    if re.fullmatch(r"\d+(\.0)?", own):
        return max(1, int(own.removesuffix(".0")[:9]))
    for key in ("zero_or_fsdp", "notes"):
        words = _cell(row, key)
        # In the column a single letter counts too (t8 p4); in notes it could be anything.
        letter = rf"|(?<![a-z]){short[0]}" if key == "zero_or_fsdp" else rf"|(?<![a-z]){short[0]}(?=\s*=)"
        after = re.search(
            rf"(?:(?<![a-z]){short}|{long}(?:[ _-]?(?:model[ _-]?)?parallel\w*)?{letter})"
            r"(?:[ _-]?size)?\s*(?:of)?\s*[=:_-]?\s*(\d+)(?!\d)",
            words,
        )
        before = re.search(rf"(\d+)[ -]?(?:way)?[ -]{long}", words)
        found = after or before
        if found:
            return max(1, int(found[1][:9]))
    return None


_FULL_PIPELINE = 8.0
"""Micro-steps a stage where a row does not say: few enough idle stages that a pipeline is worth it."""


def micro_steps(row: Mapping[str, Any], samples: int, split: Split) -> float:
    """Micro-steps of a pipelined run without accumulation: by its global batch, else a full pipeline."""
    if split.naive:
        return 1.0
    words = " ".join(_cell(row, key) for key in ("notes", "zero_or_fsdp"))
    batch = re.search(r"(?:global[ _-]?batch(?:[ _-]?size)?|\bgbs)\s*(?:of)?\s*[=:]?\s*(\d+)", words)
    if batch:
        return max(1.0, float(int(batch[1][:9]) // max(1, samples)))
    return _FULL_PIPELINE * split.pipeline


def layout_of(row: Mapping[str, Any], split: Split, gpu: Gpu | None) -> Layout:
    """Where the cards stand: eight to a machine unless the notes say other, linked as the row says."""
    cards, notes, words = split.cards, _cell(row, "notes"), _cell(row, "interconnect")
    several = r"(?<!\d)(\d{1,9})\s*(?:nodes?|machines?|hosts?)\s*(?:x|of|with|,)\s*(\d{1,9})(?!\d)"
    nodes = re.search(several, notes + " " + words)
    per_machine = min(cards, 8)
    if nodes and int(nodes[1]) * int(nodes[2]) == cards:
        per_machine = int(nodes[2])
    machines = -(-cards // per_machine)
    return Layout(machines, per_machine, _link(words, gpu), _network(words))


def _link(words: str, gpu: Gpu | None) -> str:
    if "slow" in words:
        return "slow"
    if re.search(r"(?<!no )(?:nvlink|nvswitch|sxm)", words):
        return "nvlink"
    generation = re.search(r"pcie\s*(?:gen\s*)?([345])", words)
    if generation:
        return f"pcie{generation[1]}"
    if "pcie" in words:
        return gpu.pcie if gpu else "pcie4"
    return "nvlink" if gpu is not None and _server(gpu) else (gpu.pcie if gpu else "nvlink")


def _server(gpu: Gpu) -> bool:
    """Cards that stand in machines with a switch of their own."""
    return gpu.card_class in {"a100", "h100"} and "PCIe" not in gpu.id and gpu.bandwidth_gb_s > _SERVER_GB_S


def _network(words: str) -> str:
    if re.search(r"\b1\s*(?:gbe|gbps|g ethernet)\b", words) or "1gbe" in words:
        return "1gbe"
    if "10gbe" in words or re.search(r"\b10\s*(?:gbps|gbit|g ethernet)", words):
        return "10gbe"
    return "ib"
