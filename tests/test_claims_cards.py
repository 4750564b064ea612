"""Computations of memory, speed and links, against a pencil and published rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sim.claims.bench import Bench
from sim.claims.card_jobs import MEMORY_ERROR, SPEED_ERROR, CardJob, runs_of
from sim.claims.card_steps import hour_steps, memory_steps
from sim.claims.table import COMPUTATIONS
from sim.claims.working import Working
from sim.errors import InputError
from sim.physics.table import carried

GIB = 2**30


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def computed(key: str, bench: Bench, **inputs: Any) -> Working:
    return COMPUTATIONS[key](inputs, bench)


def one(key: str, bench: Bench, **inputs: Any) -> float:
    working = computed(key, bench, **inputs)
    assert working.low is not None
    assert working.low == working.high
    return working.low


@pytest.mark.parametrize(
    ("inputs", "low", "high"),
    [
        ({"params_b": 7, "bits": 16}, 14, 14),
        ({"params_b": 70, "bits": 16}, 140, 140),
        ({"params_b": 70, "bits": 4}, 35, 39.375),  # 0.5, and 0.5 + 4/64 with a 32-bit scale for 64 weights
        ({"params_b": 70, "bits": 4, "cards": 4}, 8.75, 9.84375),
        ({"params_b": 13, "bits": 8}, 13, 13.26),
        ({"params_b": 13, "bits": 32}, 52, 52),
    ],
)
def test_weights_are_parameters_times_bytes(
    bench: Bench, inputs: dict[str, Any], low: float, high: float
) -> None:
    working = computed("weights", bench, **inputs)
    assert (working.low, working.high) == pytest.approx((low, high))
    assert working.unit == "GB"


def test_notes_tell_the_spread_that_was_taken(bench: Bench) -> None:
    job = {"model": "llama-2-7b", "gpu": "A100-40G", "mean_tokens": 400, "micro_batch": 4}
    assert any(
        "spread 0.6 (assumed)" in note for note in computed("training_hours", bench, **job).assumptions
    )
    stated = computed("training_hours", bench, **job, length_sigma=0.3).assumptions
    assert any("spread 0.3 (as stated)" in note for note in stated)
    cards = {**job, "gpus": 2, "waits_for_longest": True, "length_sigma": 0.3}
    assert any("spread 0.3" in note for note in computed("cards_worth", bench, **cards).assumptions)


def test_adapters_are_rank_times_both_sides(bench: Bench) -> None:
    assert one("adapters", bench, per="matrix", hidden=4096, rank=8) == 8 * 8192
    # 7B, query and value: 32 blocks x 2 matrices x 8 x (4096 + 4096)
    assert one("adapters", bench, model="llama-2-7b", rank=8, targets="qv") == 32 * 2 * 8 * 8192
    # 70B has 8 key-value heads of 128: query 8192 + 8192, value 8192 + 1024
    got = one("adapters", bench, model="llama-2-70b", rank=128, targets="qv", answer="M params")
    assert got == pytest.approx(80 * 128 * (16384 + 9216) / 1e6)
    # article s2's file of 320 MB: rank 64 on every linear layer of Qwen-7B, 2 bytes
    sides = 4 * (4096 + 4096) + 3 * (4096 + 11008)
    got = one("adapters", bench, model="qwen-7b", rank=64, answer="MB")
    assert got == pytest.approx(32 * 64 * sides * 2 / 1e6)
    assert round(got) == 320
    # ms-swift prints 17.9 million for rank 8: its layer of query, key and value is one, with one input of
    # 4096 in the place of three
    got = one("adapters", bench, model="qwen-7b", rank=8, answer="M params")
    assert got - 32 * 8 * 2 * 4096 / 1e6 == pytest.approx(17.9, abs=0.05)


def test_two_moments_of_adamw_are_eight_bytes(bench: Bench) -> None:
    assert one("trained_state", bench, params_b=7, copies=[4, 4]) == pytest.approx(56)
    assert one("trained_state", bench, params_b=13, share=0.005, copies=[2]) == pytest.approx(0.13)
    assert one("trained_state", bench, params_b=13, share=0.005, copies=[4, 4]) == pytest.approx(0.52)


def test_parts_are_added_up(bench: Bench) -> None:
    parts = [{"name": "weights", "params_b": 13, "bits": 16}, {"name": "rest", "gb": [6, 8]}]
    working = computed("sum_of_parts", bench, parts=parts)
    assert (working.low, working.high) == (32, 34)
    assert one("cards_memory", bench, gpu="A100-80G", gpus=8) == 640


def test_a_peak_is_the_sum_of_its_steps(bench: Bench) -> None:
    (run,) = runs_of(CardJob(model=("llama-2-7b",), micro_batch=(4,)), bench)
    steps = memory_steps(run)
    values = [float(step.value.split(" ")[0]) for step in steps]
    assert sum(values[:-1]) == pytest.approx(values[-1], abs=0.05)  # each is rounded to 0.01
    # weights, vocabulary and optimiser with a pencil: 2 bytes; 12 bytes a token and entry; 8 bytes
    assert values[0] == pytest.approx(6738149376 * 2 / GIB, abs=0.005)
    (logits,) = (step for step in steps if "vocabulary" in step.text)
    assert float(logits.value.split(" ")[0]) == pytest.approx(8192 * 32000 * 12 / GIB, abs=0.005)
    (state,) = (step for step in steps if step.text.startswith("Optimiser"))
    assert float(state.value.split(" ")[0]) == pytest.approx(39976960 * 8 / GIB, abs=0.005)


def test_hours_are_tokens_over_rate(bench: Bench) -> None:
    (run,) = runs_of(CardJob(model=("llama-2-7b",), micro_batch=(4,)), bench)
    steps = hour_steps(run)
    assert steps[0].value == "614,400,000 tokens"  # 100,000 x 3 x 2048
    rate = float(steps[-2].value.split(" ")[0].replace(",", ""))
    assert run.hours == pytest.approx(614.4e6 / rate / 3600, rel=1e-4)
    # no card beats its printed peak: 40 GFLOP a token and 312 TFLOP/s are 22 hours
    bound = float(steps[1].value.split(" ")[0])
    assert 614.4e6 * 4 * 6.7e9 / 312e12 / 3600 < bound < run.hours


QWEN = {"rank": 64, "accumulation": 8, "gpu": "A100-80G"}
GPTQ = {**QWEN, "method": "qlora4", "quantisation": "gptq4"}
PUBLISHED = [
    ("m0055", {"model": "qwen-14b", **QWEN}, "memory"),
    ("m0067", {"model": "qwen-14b", **GPTQ}, "memory"),
    ("m0079", {"model": "qwen-72b", **GPTQ}, "memory"),
    ("m0055", {"model": "qwen-14b", **QWEN}, "speed"),
    ("m0079", {"model": "qwen-72b", **GPTQ}, "speed"),
]
"""Row of the carried table, and the same job as a statement would name it."""


@pytest.mark.parametrize(("row", "job", "what"), PUBLISHED)
def test_jobs_agree_with_published_rows(bench: Bench, row: str, job: dict[str, Any], what: str) -> None:
    (published,) = (one for one in carried("measurements.csv") if one["id"] == row)
    (run,) = runs_of(CardJob.model_validate(job), bench)
    if what == "memory":
        # one framework's own figure may lie at twice the usual error
        assert run.total_gib == pytest.approx(float(published["peak_mem_gib"]), rel=2 * MEMORY_ERROR)
    else:
        assert run.tokens_per_s == pytest.approx(float(published["tokens_per_s_total"]), rel=3 * SPEED_ERROR)


def test_the_nearest_published_run_is_named(bench: Bench) -> None:
    job = {"size": "70B", "gpus": 4, "split": "zero-3", "gpu": "A100-80G"}
    memory = computed("training_memory", bench, **job).sources
    assert any("m0073" in line and "57.2 GiB" in line for line in memory)  # Qwen-72B, 1 x 2048, 4 cards
    speed = computed("training_hours", bench, **job).sources
    assert any("m0073" in line and "1,434.0 tokens/s" in line for line in speed)
    other = computed("training_hours", bench, **{**job, "gpu": "A100-40G"}).sources
    assert not any("published" in line for line in other)  # that run was on another card


def test_what_fits_and_what_does_not(bench: Bench) -> None:
    assert not computed("training_fits", bench, size="70B", gpu="H100-80G").holds  # 138 GB of weights
    assert computed("training_fits", bench, size="70B", method="qlora4", gpu="A100-80G").holds  # Qwen-72B ran
    assert not computed("training_fits", bench, size="70B", method="qlora4", gpu="RTX3090").holds
    assert computed("training_fits", bench, size="7B", gpu="A100-40G").holds
    full = {"size": "7B", "method": "full", "gpu": "A100-40G"}
    assert not computed("training_fits", bench, **full).holds
    assert computed("training_fits", bench, **full, says="does not fit").holds
    assert not computed("training_fits", bench, size="7B", gpu="A100-40G", jobs=9, cards=8).holds


def test_fewest_cards_hold_the_weights_at_least(bench: Bench) -> None:
    working = computed("fewest_cards", bench, size="70B", gpu="A100-40G")
    # 138 GB are 3.3 cards of 39.4 GiB, so four at least
    assert working.low == 4
    assert working.high == 8
    assert computed("fewest_cards", bench, model="llama-2-7b", gpu="A100-40G").low == 1


def test_one_peak_against_another(bench: Bench) -> None:
    same = {"model": "llama-2-7b"}
    linear = one("memory_against", bench, same=same, job={"micro_batch": 8}, against={"micro_batch": 1},
                 part="working", answer="times")  # fmt: skip
    assert linear == pytest.approx(8, rel=0.01)
    # rank 8 to 64 on query and value: 56 x 32 x 2 x 8192 parameters of 4 + 8 bytes
    two = {**same, "targets": "qv"}
    ranks = {"job": {"rank": 64}, "against": {"rank": 8}, "answer": "change"}
    grown = one("memory_against", bench, same=two, **ranks)
    assert grown == pytest.approx(56 * 32 * 2 * 8192 * 12 / GIB, rel=0.06)
    assert one("memory_against", bench, same=same, job={"split": "zero-2"}, against={"split": "zero-1"},
               answer="saving") == 0  # fmt: skip


def test_speeds_against_each_other(bench: Bench) -> None:
    cards = {"job": {"gpu": "H100-80G"}, "against": {"gpu": "A100-80G"}}
    h100 = one("speed_against", bench, same={"model": "llama-2-7b", "micro_batch": 4}, **cards)
    assert 2.0 < h100 < 2.54  # published pairs: 2.08 to 2.53
    slower = one("speed_against", bench, same={"model": "llama-2-7b"}, job={"method": "qlora4"},
                 against={"method": "lora"}, answer="slower")  # fmt: skip
    longer = one("speed_against", bench, same={"model": "llama-2-7b"}, job={"method": "qlora4"},
                 against={"method": "lora"}, answer="longer")  # fmt: skip
    assert 1 / (1 - slower / 100) == pytest.approx(1 + longer / 100)
    assert 25 < longer < 60  # published at 2048 tokens: 35 to 56 per cent


def test_eight_cards_are_eight_times_less_what_they_wait(bench: Bench) -> None:
    job = {"model": "llama-2-13b", "gpus": 8, "split": "data parallel", "mean_tokens": 400, "micro_batch": 4}
    even = one("cards_worth", bench, **{**job, "mean_tokens": None})
    assert 7.9 < even < 8
    uneven = one("cards_worth", bench, **job, waits_for_longest=True)
    alike = one("cards_worth", bench, **job, waits_for_longest=True, length_sigma=0)
    assert uneven < 6 < alike < 8
    days = one("cards_worth", bench, **{**job, "mean_tokens": None}, unit="days", days_on_one=30)
    assert days == pytest.approx(30 / even)


def test_slow_links_cost_cards(bench: Bench) -> None:
    job = {"model": "llama-2-7b", "gpus": 4, "machines": 4, "split": "data parallel", "unit": "cards"}
    slow = one("cards_worth", bench, **job, network="1gbe")
    fast = one("cards_worth", bench, **job, network="10gbe")
    # 32-bit gradients of 40 million adapters, 2 x 3/4 of 160 MB at 0.115 GB/s: 2.1 s against a step of 0.6 s
    moved = 2 * 0.75 * 39976960 * 4 / 0.115e9
    (run,) = runs_of(CardJob(model=("llama-2-7b",)), bench)
    step = 2048 / run.tokens_per_s
    assert slow == pytest.approx(4 * step / (moved + 0.691216 * step), rel=1e-3)
    assert slow < 1.1 < 3 < fast < 4


def test_data_sheets(bench: Bench) -> None:
    def against(a: Mapping[str, str], b: Mapping[str, str], **more: str) -> float:
        return one("cards_against", bench, card=a, against=b, **more)

    h100, a100 = {"gpu": "H100-80G", "of": "fp8"}, {"gpu": "A100-40G", "of": "bf16"}
    assert against(h100, a100) == pytest.approx(1979 / 312)
    assert against({"gpu": "A100-40G", "of": "tf32"}, {"gpu": "RTX3090", "of": "fp32"}) == pytest.approx(
        156 / 35.5
    )
    bandwidth = {"of": "bandwidth"}
    gap = against({"gpu": "H100-80G", **bandwidth}, {"gpu": "A100-40G", **bandwidth}, answer="more")
    assert gap == pytest.approx(100 * (3350 / 1555 - 1))
    assert one("link_rate", bench, link="pcie4") == pytest.approx(31.51, abs=0.01)
    assert one("link_rate", bench, link="pcie4", both_ways=True) == pytest.approx(63.02, abs=0.01)
    assert one("link_rate", bench, link="nvlink", gpu="RTX3090") == pytest.approx(112.5)
    assert one("link_rate", bench, link="nvlink", gpu="H100-80G") == 900
    assert not computed("has_nvlink", bench, gpu="RTX4090", says=True).holds
    assert one("pcie_lanes", bench, gpu="RTX4090") == 16
    assert one("pcie_lanes", bench, gpu="RTX4060Ti-16G") == 8
    assert one("striped_read", bench, drives=4, bus="pcie3") == pytest.approx(15.75, abs=0.01)
    dates = {"paper": "FlashAttention-3", "since": "2024-07", "until": "2024-12"}
    assert computed("published_between", bench, **dates).holds


def test_attention_stays_quadratic_and_a_trillion_tokens_are_far(bench: Bench) -> None:
    assert not computed("attention_growth", bench, model="llama-2-7b", seq_len=[2048, 8192]).holds
    working = computed(
        "tokens_a_day", bench, model="llama-2-7b", gpu="H100-80G", gpus=8, split="data parallel"
    )
    # 8 x 989 TFLOP/s over 4 operations a weight are 25 thousand million a day at most
    assert working.high is not None
    assert 0.001 < working.high < 8 * 989.4e12 / (4 * 6.7e9) * 86400 / 1e12


TWO = {"job": {"size": "7B"}, "against": {"size": "13B"}}
APART = {"size": "7B", "gpus": 2, "split": "zero-3"}
NO_RATE = {"card": {"gpu": "T4", "of": "fp8"}, "against": {"gpu": "T4", "of": "bf16"}}
WRONG = [
    ("training_memory", {"size": "8B"}, "inputs.size", "70B"),
    ("training_memory", {"model": "no-such"}, "inputs.model", "no base model"),
    ("training_memory", {"size": "7B", "gpu": "A1000"}, "inputs.gpu", "no card"),
    ("training_memory", {"size": "7B", "batch": 4}, "inputs.batch", "unknown key"),
    ("training_memory", {"size": "7B", "micro_batch": 0}, "inputs.micro_batch", "greater"),
    ("training_memory", {"size": "7B", "rank": 5000}, "inputs.rank", "hidden size"),
    ("training_memory", {"size": "7B", "targets": "eyes"}, "inputs.targets", "linear layers"),
    ("training_memory", {"size": "7B", "gpus": 4, "machines": 3}, "inputs.machines", "evenly"),
    ("training_hours", {**APART, "link": "none"}, "inputs.link", "link"),
    ("training_hours", {**APART, "machines": 2}, "inputs.network", "link"),
    ("weights", {"bits": 4}, "inputs.params_b", "needs the key"),
    ("adapters", {"per": "matrix"}, "inputs.hidden", "width"),
    ("fewest_cards", {"size": "130B", "method": "full", "gpu": "T4"}, "inputs.model", "no count"),
    ("memory_against", TWO, "inputs.against", "in common"),
    ("memory_against", {**TWO, "job": {"x": 1}}, "inputs.job.x", "unknown key"),
    ("speed_against", {**TWO, "against": {"rank": 0}}, "inputs.against.rank", "greater"),
    ("training_memory", {"size": "7B", "gpus": 3, "split": "tensor"}, "inputs.split", "whole heads"),
    ("training_memory", {"size": "7B", "gpus": 8, "tensor": 3}, "inputs.split", "equal groups"),
    ("training_memory", {"size": "7B", "gpus": 64, "split": "pipeline"}, "inputs.split", "64 stages"),
    (
        "training_hours",
        {"size": "7B", "gpus": 2, "split": "tensor", "method": "qlora4"},
        "inputs.split",
        "quant",
    ),
    ("adapters", {"per": "matrix", "hidden": 10, "answer": "share"}, "inputs.answer", "share"),
    ("use_of_cards", {"hours": 0.01}, "inputs.hours", "one after another"),
    ("jobs_a_day", {"hours": 0.5, "units": 64}, "inputs.units", "48 jobs a day"),
    ("behind_after_failure", {"size": "7B", "checkpoint": "abc"}, "inputs.checkpoint", "duration"),
    ("use_of_cards", {"offer": "h100-mig"}, "strategies.asked", "not sold under this plan"),
    ("speed_against", TWO, "inputs.against", "in common"),
    ("cards_worth", {"size": "7B", "unit": "days"}, "inputs.days_on_one", "days"),
    ("cards_against", NO_RATE, "inputs.of", "nothing is known"),
    (
        "published_between",
        {"paper": "FA4", "since": "2025-01", "until": "2025-12"},
        "inputs.paper",
        "no paper",
    ),
    ("attention_growth", {"size": "7B"}, "inputs.seq_len", "two lengths"),
    ("sum_of_parts", {"parts": [{"name": "x"}]}, "inputs.parts", "a part has"),
]


@pytest.mark.parametrize(("key", "inputs", "where", "says"), WRONG)
def test_wrong_inputs_are_told_where_they_are(
    bench: Bench, key: str, inputs: dict[str, Any], where: str, says: str
) -> None:
    with pytest.raises(InputError) as error:
        computed(key, bench, **inputs)
    problem = error.value.problems[0]
    assert (problem.key or "").startswith(where)
    assert says in str(error.value)
