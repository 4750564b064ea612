"""Peak memory: by pencil, against published cases, and within physical bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.catalog import load_catalog
from sim.physics import fit_job
from sim.physics.constants import load_constants
from sim.physics.memory import peak_memory
from sim.physics.task import DATA_PARALLEL, ONE_CARD, ZERO3, Split, adapter_params
from sim.units import GIB
from tests.physics_cases import job, task

MEMORY = load_constants().memory
MODELS = sorted(load_catalog().models)


def total(model: str, method: str = "lora", split: Split = ONE_CARD, gpus: int = 1, **changes: Any) -> float:
    return peak_memory(task(model, method, **changes), split, gpus, MEMORY).total_gib


def test_adapter_sizes_are_those_of_the_published_checkpoints() -> None:
    # All linear layers of Llama 2 7B, rank 16: 16 x 32 x (4 x 8192 + 3 x 15104) = 40.0 million.
    assert adapter_params(task("llama-2-7b", rank=16)) == 39_976_960
    assert 10 * adapter_params(task("llama-2-13b", rank=16)) == pytest.approx(626e6, rel=0.01)
    assert 10 * adapter_params(task("llama-2-70b", rank=16)) == pytest.approx(2071e6, rel=0.01)


def test_the_parts_by_pencil() -> None:
    # Llama 2 7B, LoRA of rank 16, four samples of 4096 tokens, checkpointing.
    parts = peak_memory(task("llama-2-7b", micro_batch=4, seq_len=4096), ONE_CARD, 1, MEMORY)
    tokens = 4 * 4096
    assert parts.weights == pytest.approx(2 * 6_738_149_376 / GIB)
    assert parts.optimizer + parts.gradients == pytest.approx(16 * 39_976_960 / GIB)
    assert parts.logits == pytest.approx(1.21 * 10 * 32_000 * tokens / GIB)
    assert parts.activations == pytest.approx(1.21 * 2 * 4096 * 32 * tokens / GIB)
    assert (parts.quantisation, parts.sharding, parts.overhead) == (0, 0, 1)
    assert parts.total_gib == pytest.approx(24.9, abs=0.05)


@pytest.mark.parametrize(
    ("model", "changes", "published"),
    [
        ("llama-2-7b", {"micro_batch": 4, "seq_len": 4096}, 25),
        ("qwen-7b", {"micro_batch": 4, "seq_len": 4096}, 49),
        ("qwen-14b", {"micro_batch": 4}, 46),
        ("llama-2-13b", {"micro_batch": 4}, 33),
        ("qwen-14b", {"rank": 64}, 37.4),
        ("qwen-72b", {"method": "qlora4", "rank": 64}, 64.1),
        ("qwen-7b", {"method": "full"}, 73.4),
    ],
)
def test_published_cases(model: str, changes: dict[str, Any], published: float) -> None:
    assert total(model, **changes) == pytest.approx(published, rel=0.15)


def test_zero3_of_72b_on_four_cards() -> None:
    assert total("qwen-72b", "lora", ZERO3, 4, rank=64) == pytest.approx(57.2, rel=0.05)


@pytest.mark.parametrize(
    ("model", "method", "offer", "gpus", "fits"),
    [
        ("llama-2-70b", "qlora4", "a100-80g-8x", 1, True),
        ("llama-2-70b", "qlora4", "a100-40g-8x", 1, False),
        ("llama-2-70b", "qlora4", "rtx3090-24g-cloud", 1, False),
        ("llama-2-70b", "qlora4", "rtx3090-24g-cloud", 2, False),
        ("llama-2-70b", "lora", "h100-mig", 1, False),
        ("llama-2-70b", "lora", "a100-40g-8x", 4, False),
        ("llama-2-70b", "lora", "a100-40g-custom", 4, False),
        ("llama-2-70b", "lora", "a100-80g-8x", 4, True),
        ("qwen-7b", "full", "a100-40g-custom", 1, False),
        ("qwen-7b", "full", "h100-mig", 1, True),
        ("llama-2-7b", "lora", "rtx3090-24g-cloud", 1, True),
        ("qwen-7b", "qlora4", "t4-16g-cloud", 1, True),
        ("llama-3.1-405b", "lora", "h100-80g-8x", 8, False),
    ],
)
def test_what_fits_where(model: str, method: str, offer: str, gpus: int, fits: bool) -> None:
    rows = fit_job(job(model, method, gpus=gpus), [load_catalog().offers[offer]])
    assert any(row.fits for row in rows) is fits
    if not fits:
        assert rows[0].shortfall_gib is not None
        assert rows[0].shortfall_gib > 0
        assert "too little" in rows[0].reason


def test_qwen_14b_with_four_samples_does_not_fit_40g() -> None:
    rows = fit_job(job("qwen-14b", micro_batch=4, gpus=1), [load_catalog().offers["a100-40g-custom"]])
    assert not rows[0].fits


def test_two_cards_do_not_pool_memory() -> None:
    one, two = total("llama-2-7b"), total("llama-2-7b", split=DATA_PARALLEL, gpus=2)
    assert two >= one


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from(MODELS),
    method=st.sampled_from(["full", "lora", "qlora4", "qlora8"]),
    batch=st.integers(1, 16),
    length=st.integers(16, 8192),
    longer=st.integers(1, 4096),
    checkpointing=st.booleans(),
    gpus=st.sampled_from([1, 2, 8]),
)
def test_more_never_takes_less(
    model: str, method: str, batch: int, length: int, longer: int, checkpointing: bool, gpus: int
) -> None:
    split = ONE_CARD if gpus == 1 else ZERO3
    fixed: dict[str, Any] = {"checkpointing": checkpointing}

    def need(batch: int, length: int, gpus: int = gpus, **changes: Any) -> float:
        shape = {"micro_batch": batch, "seq_len": length, **fixed, **changes}
        return total(model, method, split, gpus, **shape)

    here = need(batch, length)
    assert need(batch, length + longer) >= here
    assert need(batch + 1, length) >= here
    assert need(batch, length, rank=64) >= here
    assert need(batch, length, checkpointing=True) <= need(batch, length, checkpointing=False) + 1e-9
    model_bytes = (0.5 if method == "qlora4" else 1.0) * load_catalog().models[model].params_linear
    assert here > model_bytes / gpus / GIB
    if gpus > 1:
        assert need(batch, length, gpus * 2) <= here


@pytest.mark.parametrize("model", MODELS)
def test_fewer_bits_take_less(model: str) -> None:
    weights = [
        peak_memory(task(model, method), ONE_CARD, 1, MEMORY).weights
        for method in ("qlora4", "qlora8", "lora")
    ]
    assert weights == sorted(weights)
    assert weights[0] < weights[1] < weights[2]
