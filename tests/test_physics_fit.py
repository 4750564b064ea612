"""What `fit` answers: people's own questions, what to change until a job fits, and ways not taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from sim.physics import FitRow, fit_job
from sim.physics.options import predictor_for
from sim.physics.remedies import remedies
from sim.units import GIB
from tests.conftest import Outcome
from tests.physics_cases import catalog, job, row

Run = Callable[..., Outcome]


def changes(found: FitRow) -> list[str]:
    return [step.change for step in found.remedies]


def test_8b_with_rank_128_on_a_card_of_24_gb() -> None:
    # 8.03e9 weights of 2 bytes; 128 x 32 x (26,624 for attention + 3 x 18,432) = 335.5 million adapters of 4
    # bytes with two moments of 4: 20.1 GB before anything is computed, 17.6 without the moments.
    found = row("rtx3090-24g-cloud", "llama-3-8b", rank=128)
    assert found.parts is not None
    assert found.parts.weights * GIB == pytest.approx(16.06e9, rel=1e-3)
    adapters = 128 * 32 * (26_624 + 3 * 18_432)
    assert adapters == 335_544_320
    assert found.parts.adapters * GIB == pytest.approx(4 * adapters)
    assert found.parts.optimizer * GIB == pytest.approx(8 * adapters)
    before = (found.parts.weights + found.parts.adapters) * GIB
    assert before == pytest.approx(17.4e9, rel=0.02)
    assert (found.usable_gib, found.fits) == (23.6, False)
    assert found.margin_gib == pytest.approx(23.6 - (found.total_gib or 0))
    assert found.shortfall_gib == pytest.approx(-found.margin_gib)
    # Rank 128 is not out of reach: the vocabulary of 128 thousand is what a fused loss takes away.
    assert changes(found)[0] == "chunked loss"
    assert found.remedies[0].fits


def test_70b_with_four_bits_on_eight_cards_of_24_gb() -> None:
    found = row("rtx3090-24g-cloud", "llama-2-70b", "qlora4", gpus=8, split="data parallel")
    # Each card holds the whole: adding cards does not pool memory.
    assert not found.fits
    assert found.total_gib is not None
    assert 40 < found.total_gib < 52
    one = row("rtx3090-24g-cloud", "llama-2-70b", "qlora4")
    assert found.total_gib >= (one.total_gib or 0)
    # Which card would do: one of 80 GB, for the job as it is written.
    assert "80 GB" in one.remedies[-1].change
    assert one.remedies[-1].fits
    # And which split: layers one behind the other.
    divided = row("rtx3090-24g-cloud", "llama-2-70b", "qlora4", gpus=8)
    assert divided.fits
    assert divided.split.startswith("pipeline")
    reasons = {way.split: way.reason for way in divided.refused}
    assert "too much" in reasons["data parallel"]
    assert "not cut across cards" in reasons["tensor 8"]


def test_34b_on_eight_cards_of_45_gb() -> None:
    # 34.4e9 x 2 bytes are 64 GiB on every card of 44.5, whatever 360 GB in all say.
    small = catalog().offers["a100-40g-8x"].model_copy(update={"id": "l40s", "gpu": "L40S", "link": "pcie4"})
    whole, *_ = fit_job(job("yi-34b", gpus=8, split="data parallel", spans=False), [small])
    assert not whole.fits
    assert (whole.total_gib or 0) > 64
    smallest, *_ = fit_job(job("yi-34b", spans=False), [small])
    assert (smallest.fits, smallest.gpus) == (True, 2)
    sharded, *_ = fit_job(job("yi-34b", split="zero", spans=False), [small])
    assert sharded.fits
    assert sharded.gpus in (2, 4)


def test_88_hours_for_ten_epochs_on_one_3090() -> None:
    # alpaca-lora: 50,000 short samples (256 tokens at most), ten epochs, 8-bit base.
    alpaca = {"samples": 50_000.0, "epochs": 10.0, "seq_len": 256, "mean_tokens": 130, "micro_batch": 4}
    one, two = (
        row("rtx3090-24g-cloud", "llama-7b", "qlora8", targets="qv", rank=8, gpus=cards, **alpaca)
        for cards in (1, 2)
    )
    assert one.hours is not None
    assert two.hours is not None
    assert 88 / 3 < one.hours < 88 * 1.5
    assert 0.5 * one.hours <= two.hours < one.hours


@pytest.mark.parametrize("cards", [1, 4])
def test_70b_with_16_bits_is_on_no_single_h100_nor_on_four_of_40_gb_by_zero(cards: int) -> None:
    offer = "h100-mig" if cards == 1 else "a100-40g-8x"
    found = row(offer, "llama-2-70b", gpus=cards, split="zero or data")
    assert not found.fits
    # 138 GB of weights alone, over the cards.
    assert (found.total_gib or 0) > 138e9 / cards / GIB


def test_the_ladder_goes_by_harm_and_ends_with_the_first_that_fits() -> None:
    hard = {"checkpointing": False, "attention": "eager", "micro_batch": 4, "accumulation": 2}
    found = row("rtx3090-24g-cloud", "llama-2-7b", "full", **hard)
    assert changes(found) == [
        "gradient checkpointing",
        "flash attention",
        "micro batch 1 with 8 accumulated steps",
        "chunked loss",
        "paged 8-bit optimiser",
        "LoRA instead of full fine-tuning",
    ]
    *tried, last = found.remedies
    assert not any(step.fits for step in tried)
    assert last.fits
    # Every step keeps those above it: what each saves adds up.
    gone = sum(step.saves_gib for step in found.remedies)
    assert (found.total_gib or 0) - gone == pytest.approx(last.memory_gib)
    assert last.memory_gib <= last.has_gib == 23.6
    assert {step.gpu for step in found.remedies} == {"RTX3090"}
    # 6.7e9 parameters: moments and a temporary of 2 bytes each go, 37.7 GiB.
    assert found.remedies[4].saves_gib == pytest.approx(6 * 6.738e9 / GIB, rel=0.05)
    assert [step.harm.split(";")[0].split(":")[0] for step in found.remedies] == [
        *["none"] * 4,
        "small",
        "another result",
    ]


def test_more_cards_come_after_fewer_bits_and_a_larger_card_last() -> None:
    found = row("a100-40g-8x", "llama-2-70b")
    assert changes(found)[:3] == ["chunked loss", "8-bit base weights", "4-bit base weights"]
    assert changes(found)[3] == "ZeRO-3 over 2 cards"
    assert [step.gpus for step in found.remedies][:4] == [1, 1, 1, 2]
    # No single card on offer has room for 138 GB: the ladder has no larger card then.
    assert found.remedies[-1].fits
    assert "larger card" not in changes(found)[-1]
    easier = row("rtx3090-24g-cloud", "llama-2-13b")
    assert "a larger card" in changes(easier)[-1]
    assert easier.remedies[-1].gpu == "V100S-32G"
    assert "job as written" in changes(easier)[-1]
    assert easier.remedies[-1].memory_gib == pytest.approx(easier.total_gib)


def test_shorter_samples_are_the_last_resort_on_the_same_cards() -> None:
    alone = catalog().offers["t4-16g-cloud"].model_copy(update={"network": "none"})
    predict = predictor_for("measured")
    steps = remedies(job("llama-2-13b", "qlora4", seq_len=8192, loss="chunked"), alone, catalog(), predict)
    lengths = [step.change for step in steps if "samples of at most" in step.change]
    assert lengths[0] == "samples of at most 4096 tokens, one card"
    used = [step.memory_gib for step in steps if "samples of at most" in step.change]
    assert used == sorted(used, reverse=True)
    assert "cut" in next(step.harm for step in steps if "samples of at most" in step.change)
    assert "a larger card" in steps[-1].change


@pytest.mark.parametrize(("margin", "tight"), [(3.9, True), (4.0, False), (None, False)])
def test_a_margin_under_a_tenth_of_the_card_is_tight(margin: float | None, tight: bool) -> None:
    found = row("a100-40g-custom")
    assert replace(found, usable_gib=40.0, margin_gib=margin).tight is tight


def test_a_job_that_fits_needs_nothing() -> None:
    assert row("a100-80g-8x").remedies == ()
    assert row("a100-80g-8x").reason == ""


def test_zero3_over_10gbe_is_far_behind_a_pipeline() -> None:
    found = row("a100-40g-custom", "llama-2-70b", gpus=4)
    speeds = {way.split: way.tokens_per_s or 0.0 for way in found.refused}
    speeds[found.split] = found.tokens_per_s or 0.0
    assert speeds["pipeline 4"] > 10 * speeds["zero-3"] > 0
    assert speeds["zero-3"] == pytest.approx(36, rel=0.3)
    # Where both have room, the reason is the time alone.
    roomy = catalog().offers["a100-40g-custom"].model_copy(update={"gpu": "A100-80G"})
    chosen, *_ = fit_job(job("llama-2-70b", gpus=4), [roomy])
    assert "pipeline" in chosen.split
    reason = next(way.reason for way in chosen.refused if way.split == "zero-3")
    times = float(reason.split(" times slower")[0])
    assert times > 10
    assert reason.endswith("limited by network")


def test_the_text_says_that_zero3_is_slow_there(fleetsim: Run) -> None:
    done = fleetsim("fit", "--model", "llama-2-70b", "--gpus", 4)
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "Ways not taken to divide it over these cards" in text
    start = text.index("a100-40g-custom 4 cards, tensor")
    assert "zero-3" in text[start : start + 1000]
    assert "times slower" in text[start : start + 1000]


def test_every_other_way_has_a_reason() -> None:
    found = row("a100-80g-8x", "llama-2-70b", gpus=8, method="qlora4")
    assert len({way.split for way in found.refused}) == len(found.refused)
    assert found.split not in {way.split for way in found.refused}
    for way in found.refused:
        assert way.reason
        words = ("too much", "times slower", "quantised matrices", "do not divide", "stages")
        assert any(word in way.reason for word in words), way
    # 14 heads do not divide by 4.
    narrow = row("a100-80g-8x", "qwen2.5-0.5b", gpus=4)
    assert any("14 attention heads do not divide by 4" in way.reason for way in narrow.refused)


@pytest.mark.parametrize("kind", ["data parallel", "zero", "tensor", "pipeline"])
def test_a_split_that_is_asked_for_is_the_one_taken(kind: str) -> None:
    found = row("a100-80g-8x", "llama-2-7b", gpus=4, split=kind)
    assert found.split.startswith(kind)
    others = [way.reason for way in found.refused if not way.split.startswith(kind)]
    assert others
    assert all(reason == f"the job asks for {kind}" for reason in others)


def test_both_profiles_stand_side_by_side(fleetsim: Run) -> None:
    done = fleetsim("fit", "--model", "llama-2-7b", "--samples", 100_000, "--both")
    assert done.code == 0
    assert "By published measurements, and by the articles" in done.out
    line = next(line for line in done.out.splitlines() if line.startswith("a100-40g-custom"))
    # The articles: 6.74e9 of 7e9 parameters, 5 h and 20 GB; measured ten times the hours and more.
    assert "19.3" in line
    assert "4.8 h" in line
    assert float(line.split("x ")[-1]) > 8
    assert "plan with the measured" in done.out


def test_both_profiles_as_json(fleetsim: Run) -> None:
    done = fleetsim("fit", "--model", "llama-2-7b", "--samples", 100_000, "--both", "--format", "json")
    answer = json.loads(done.out)
    assert answer["performance"] == "measured and vendor"
    assert answer["offers"].keys() == {"measured", "vendor"}
    ours, theirs = (
        next(entry for entry in answer["offers"][name] if entry["offer"] == "a100-40g-custom")
        for name in ("measured", "vendor")
    )
    assert theirs["hours"] == pytest.approx(5 * 6.738 / 7, rel=1e-3)
    assert (theirs["support"], theirs["parts"]) == ("vendor", None)
    assert ours["hours"] > 36
    assert ours["support"] in ("measured", "interpolated", "extrapolated")
    assert ours["parts"].keys() >= {"weights", "logits", "gathered", "fragmentation", "context"}
    assert sum(ours["parts"].values()) == pytest.approx(ours["total_gib"])
    assert ours["run_cost"] == pytest.approx(ours["price_per_hour"] * ours["hours"])


def test_json_has_the_ladder_and_the_ways_not_taken(fleetsim: Run) -> None:
    done = fleetsim("fit", "--model", "llama-2-70b", "--gpus", 4, "--format", "json")
    entries = json.loads(done.out)["offers"]
    short = next(entry for entry in entries if entry["offer"] == "rtx3090-24g-cloud")
    assert short["remedies"][0].keys() >= {
        "change",
        "harm",
        "saves_gib",
        "memory_gib",
        "fits",
        "tokens_per_s",
    }
    assert short["shortfall_gib"] == pytest.approx(short["reserve_gib"] - short["margin_gib"])
    taken = next(entry for entry in entries if entry["offer"] == "a100-80g-8x")
    assert {"split", "reason"} <= taken["refused"][0].keys()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "llama-3-9b"), ("catalogue", "did you mean 'llama-3-8b'", "known:")),
        (("--model", "llama-3-8b", "--rank", 4097), ("rank is at most the hidden size", "4096")),
        (("--model", "llama-3-8b", "--micro-batch", -1), ("micro_batch", "greater than or equal to 1")),
        (("--model", "llama-3-8b", "--seq-len", 0), ("seq_len", "greater than or equal to 1")),
        (("--model", "llama-3-8b", "--quantisation", "nf4"), ("does not go with method lora", "qlora4")),
        (
            ("--model", "llama-3-8b", "--method", "qlora4", "--quantisation", "int8"),
            ("does not go with method qlora4", "nf4dq", "gptq4"),
        ),
        (("--model", "llama-3-8b", "--split", "diagonal"), ("split", "'pipeline'", "'zero or data'")),
        (("--model", "llama-3-8b", "--optimizer", "adan"), ("optimizer", "'adamw_8bit'", "'sgd'")),
        (("--model", "llama-3-8b", "--method", "dora"), ("--method", "'qlora4'")),
        (("--model", "llama-3-8b", "--performance", "mesured"), ("performance", "measured, vendor")),
        (("--model", "llama-3-8b", "--gpus", "two"), ("--gpus", "numbers with commas")),
    ],
)
def test_bad_questions_name_the_rule_and_what_is_known(
    fleetsim: Run, options: tuple[object, ...], words: tuple[str, ...]
) -> None:
    done = fleetsim("fit", *options)
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
