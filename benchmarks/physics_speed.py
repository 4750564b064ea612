"""How fast the physics answers: 100,000 distinct shapes in one call, against one call a shape.

python benchmarks/physics_speed.py
"""

from __future__ import annotations

import time

import numpy as np

from sim.catalog import load_catalog
from sim.physics.cases import Case, Cases, cases_of
from sim.physics.constants import load_constants
from sim.physics.memory import card_memory
from sim.physics.split import ONE_CARD, ZERO3, Layout
from sim.physics.task import Task
from sim.physics.throughput import step_time

SHAPES = 100_000


def shapes(count: int) -> Cases:
    """So many distinct shapes: models, methods, cards and splits crossed, lengths and batches drawn."""
    catalog = load_catalog()
    models = [catalog.models[name] for name in ("llama-2-7b", "llama-2-13b", "llama-2-70b", "qwen2.5-7b")]
    cards = [catalog.gpus[name] for name in ("A100-40G", "A100-80G", "H100-80G", "RTX3090")]
    bases = cases_of(
        [
            Case(Task(model, method, 16, 1, 2048, True), split, Layout(1, split.cards, "nvlink"), card)
            for model in models
            for method in ("full", "lora", "qlora4", "qlora8")
            for card in cards
            for split in (ONE_CARD, ZERO3(4), ZERO3(8))
        ]
    )
    wide = bases.take(np.arange(count) % len(bases))
    draws = np.random.Generator(np.random.PCG64DXSM(0))
    length = draws.integers(64, 16384, count).astype(float)
    return wide.replace(
        seq_len=length,
        length=length,
        micro_batch=draws.integers(1, 33, count).astype(float),
        rank=np.where(wide.full, 0.0, draws.integers(1, 257, count)),
        checkpointing=draws.integers(0, 2, count).astype(bool),
    )


def main() -> None:
    """Print seconds and the ratio of one call to one call a shape."""
    constants, cases = load_constants(), shapes(SHAPES)
    distinct = set(
        zip(cases.model, cases.seq_len, cases.micro_batch, cases.rank, cases.gpu, cases.data, strict=True)
    )
    began = time.perf_counter()
    fits = card_memory(cases, constants.memory).total <= cases.usable_gib
    speeds = step_time(cases, constants.speed).tokens_per_s
    together = time.perf_counter() - began
    few = 300
    began = time.perf_counter()
    for row in range(few):
        one = cases.take(np.array([row]))
        card_memory(one, constants.memory)
        step_time(one, constants.speed)
    single = (time.perf_counter() - began) / few
    print(f"{SHAPES:,} shapes ({len(distinct):,} distinct) in {together:.2f} s; {fits.mean():.0%} fit")
    print(f"median speed {np.median(speeds):,.0f} tokens/s")
    print(f"one call a shape: {single * 1e3:.2f} ms each, {single * SHAPES / together:,.0f} times as long")


if __name__ == "__main__":
    main()
