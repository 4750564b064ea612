"""MIG slices as cards: their share of the chip, of its memory, and what that does to a job."""

from __future__ import annotations

import pytest

from sim.catalog import load_catalog
from sim.catalog.slices import slice_cards
from sim.model.hardware import Gpu, MigProfile
from tests.physics_cases import case, speed, total

CATALOG = load_catalog()
SLICES = sorted(name for name in CATALOG.gpus if "/" in name)


def test_three_sevenths_of_an_h100_are_60_of_132_multiprocessors() -> None:
    card = CATALOG.gpus["H100-80G/3g.40gb"]
    # 989.4 TFLOP/s x 60/132, not x 3/7; half of 3350 GB/s; memory as listed.
    assert card.tflops == pytest.approx(449.7, abs=0.05)
    assert card.fp8_tflops == pytest.approx(899.5, abs=0.05)
    assert card.bandwidth_gb_s == pytest.approx(1675)
    assert card.memory_gib == 39.38
    assert card.sm_count == 60


@pytest.mark.parametrize(
    ("name", "sms", "of", "eighths", "gib"),
    [
        ("H100-80G/1g.10gb", 16, 132, 1, 9.75),
        ("H100-80G/1g.20gb", 26, 132, 2, 19.62),
        ("H100-80G/2g.20gb", 32, 132, 2, 19.62),
        ("H100-80G/7g.80gb", 132, 132, 8, 79.12),
        ("A100-40G/1g.5gb", 14, 108, 1, 4.75),
        ("A100-80G/3g.40gb", 42, 108, 4, 39.25),
    ],
)
def test_shares_of_the_listed_profiles(name: str, sms: int, of: int, eighths: int, gib: float) -> None:
    card, whole = CATALOG.gpus[name], CATALOG.gpus[name.split("/")[0]]
    assert card.tflops / whole.tflops == pytest.approx(sms / of)
    assert card.bandwidth_gb_s / whole.bandwidth_gb_s == pytest.approx(eighths / 8)
    assert card.memory_gib == gib


@pytest.mark.parametrize("name", SLICES)
def test_a_slice_is_never_more_than_its_card(name: str) -> None:
    card, whole = CATALOG.gpus[name], CATALOG.gpus[name.split("/")[0]]
    assert card.id == name
    assert 0 < card.usable_gib <= card.memory_gib <= whole.memory_gib
    assert card.usable_gib <= whole.usable_gib
    assert 0 < card.tflops <= whole.tflops
    assert 0 < card.bandwidth_gb_s <= whole.bandwidth_gb_s
    assert card.mig == 0  # a slice is not cut again
    part, all_ = speed(case("qwen-1.8b", gpu=name), case("qwen-1.8b", gpu=whole.id))
    assert 0 < part <= all_
    # Four thousand tokens at once: the larger share shows, and still no slice beats the card.
    part, all_ = speed(
        case("llama-2-7b", gpu=name, micro_batch=4), case("llama-2-7b", gpu=whole.id, micro_batch=4)
    )
    assert part <= all_


def test_half_a_card_is_about_half_as_fast() -> None:
    part, whole = speed(
        case("llama-2-7b", gpu="H100-80G/3g.40gb", micro_batch=4),
        case("llama-2-7b", gpu="H100-80G", micro_batch=4),
    )
    assert part / whole == pytest.approx(60 / 132, rel=0.1)


def test_the_same_job_takes_the_same_memory_on_a_slice() -> None:
    assert total(gpu="H100-80G/3g.40gb") == pytest.approx(total(gpu="H100-80G"))


def test_a_card_without_a_count_of_multiprocessors_goes_by_its_largest_profile() -> None:
    gpu = CATALOG.gpus["H100-80G"].model_copy(update={"sm_count": None})
    own: list[MigProfile] = [profile for profile in CATALOG.mig_profiles if profile.gpu == gpu.id]
    found: dict[str, Gpu] = slice_cards({gpu.id: gpu}, own)
    assert found["H100-80G/1g.10gb"].tflops == pytest.approx(989.4 * 16 / 132)
    assert slice_cards({}, own) == {}
