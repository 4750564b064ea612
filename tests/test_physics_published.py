"""Predictions against published runs: the median error stays small. Skips where the rows are absent."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import pytest

from sim.catalog import load_catalog
from sim.model.hardware import Link
from sim.physics.constants import Constants, load_constants
from sim.physics.memory import peak_memory
from sim.physics.task import DATA_PARALLEL, ONE_CARD, ZERO3, Layout, Split, Task
from sim.physics.throughput import step_time

ROWS = Path(__file__).parents[2] / "shared" / "facts" / "measurements.csv"
pytestmark = pytest.mark.skipif(not ROWS.is_file(), reason="the published rows are not here")

CATALOG = load_catalog()
CONSTANTS = load_constants()
MODELS = {
    "qwen18": "qwen-1.8b",
    "qwen7": "qwen-7b",
    "qwen14": "qwen-14b",
    "qwen72": "qwen-72b",
    "llama2_7": "llama-2-7b",
    "llama2_13": "llama-2-13b",
    "llama3_8": "llama-3-8b",
    "yi34": "yi-34b",
    "mistral7": "mistral-7b",
    "chatglm3": "chatglm3-6b",
    "bc7": "baichuan-7b",
    "bc13": "baichuan-13b",
    "stablelm3": "stablelm-alpha-3b",
    "tinyllama": "tinyllama-1.1b",
    "falcon7": "falcon-7b",
    "gemma2b": "gemma-2b",
    "gemma7b": "gemma-7b",
    "phi2": "phi-2",
    "phi3": "phi-3-mini",
    "mpt1b": "mpt-1b",
    "mpt3b": "mpt-3b",
    "mpt7b": "mpt-7b",
    "mpt30b": "mpt-30b",
}
CARDS = {
    "A100-SXM4-80GB": "A100-80G",
    "A100-80GB": "A100-80G",
    "A100-SXM4-40GB": "A100-40G",
    "H100-SXM5-80GB": "H100-80G",
    "RTX 3090": "RTX3090",
    "RTX 4090": "RTX4090",
}
SPLITS: dict[str, Split] = {"none": ONE_CARD, "ddp": DATA_PARALLEL, "fsdp": ZERO3, "zero3": ZERO3}


def rows(kind: str) -> list[dict[str, str]]:
    """Rows that are complete and that the forms can express."""
    with ROWS.open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row[kind] == "1"]
    return [
        row
        for row in found
        if row["arch"] in MODELS
        and row["zero_or_fsdp"] in SPLITS
        and row["method"] in ("full", "lora", "qlora4", "qlora8")
        and row["flash_attn"] == "y"
        and "wte" not in row["target_modules"]
        and "fp8" not in row["stack"]
    ]


def task_of_row(row: dict[str, str]) -> Task:
    targets = row["target_modules"]
    narrow = {"q,v": "qv", "query,value": "qv", "DEFAULT(c_attn / qkv)": "attention"}
    return Task(
        model=CATALOG.models[MODELS[row["arch"]]],
        method=row["method"],  # type: ignore[arg-type]
        rank=round(float(row["rank"] or 8)),
        micro_batch=round(float(row["micro_batch"])),
        seq_len=round(float(row["seq_len"])),
        checkpointing=row["grad_ckpt"] == "y",
        adapted=narrow.get(targets, "all"),  # type: ignore[arg-type]
    )


def split_of(row: dict[str, str]) -> tuple[Split, int]:
    gpus = round(float(row["n_gpus"]))
    return SPLITS[row["zero_or_fsdp"]], gpus


def error_summary(errors: list[float]) -> str:
    ordered = sorted(map(abs, errors))
    return (
        f"{len(errors)} rows: median {statistics.median(ordered):.1%}, "
        f"90th percentile {ordered[int(0.9 * len(ordered))]:.1%}"
    )


def test_memory_of_published_runs() -> None:
    errors = []
    for row in rows("fit_mem"):
        split, gpus = split_of(row)
        allocated = row["mem_kind"].startswith("allocated")
        parts = peak_memory(task_of_row(row), split, gpus, CONSTANTS.memory, allocated=allocated)
        errors.append(parts.total_gib / float(row["peak_mem_gib"]) - 1)
    assert len(errors) >= 100
    assert statistics.median(map(abs, errors)) <= 0.15, error_summary(errors)


def constants_of(row: dict[str, str]) -> tuple[Constants, Link]:
    """The row's own accumulation, and a slow board as a slow link."""
    lengths = CONSTANTS.lengths.model_copy(update={"accumulation": float(row["grad_accum"] or 1)})
    constants = CONSTANTS.model_copy(update={"lengths": lengths})
    if "slow" in row["interconnect"]:
        slow = constants.links.model_copy(update={"pcie3": 3.0})
        return constants.model_copy(update={"links": slow}), "pcie3"
    return constants, "pcie4" if "PCIe" in row["interconnect"] else "nvlink"


def test_throughput_of_published_runs() -> None:
    errors = []
    for row in rows("fit_thr"):
        if row["gpu"] not in CARDS:
            continue
        split, gpus = split_of(row)
        constants, link = constants_of(row)
        layout = Layout(max(1, gpus // 8), min(gpus, 8), link, "ib")
        task = task_of_row(row)
        step = step_time(task, task.seq_len, CATALOG.gpus[CARDS[row["gpu"]]], layout, split, constants)
        predicted = gpus * task.micro_batch * task.seq_len / step.total_s
        errors.append(predicted / float(row["tokens_per_s_total"]) - 1)
    assert len(errors) >= 100
    assert statistics.median(map(abs, errors)) <= 0.15, error_summary(errors)
