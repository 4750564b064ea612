"""Speed, padding and traffic: closed forms, published anchors, physical bounds."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.catalog import load_catalog
from sim.model.hardware import Link
from sim.model.values import Distribution
from sim.physics import FitRow, fit_job
from sim.physics.constants import load_constants
from sim.physics.lengths import cut_mean, lengths_of, padded_mean
from sim.physics.quantities import mean_of
from sim.physics.task import DATA_PARALLEL, ONE_CARD, ZERO3, Layout
from sim.physics.throughput import step_time
from tests.physics_cases import job, task

CONSTANTS = load_constants()
CATALOG = load_catalog()
NORMAL = statistics.NormalDist()


def row(offer: str, model: str, method: str = "lora", **changes: object) -> FitRow:
    """The row of one card, or of the cards asked for, in one machine where they fit in one."""
    rows = fit_job(job(model, method, **{"gpus": 1, **changes}), [CATALOG.offers[offer]])
    return rows[0]


def test_qwen_7b_on_an_a100_is_as_fast_as_published() -> None:
    found = row("a100-80g-8x", "qwen-7b", rank=64)
    assert found.tokens_per_s == pytest.approx(3151, rel=0.15)
    assert found.support == "measured"
    # 100,000 samples of 2048 tokens, three epochs, at 3151 tokens a second.
    assert found.hours == pytest.approx(54, rel=0.15)


def test_short_samples_are_where_the_articles_hours_come_from() -> None:
    short = row("a100-80g-8x", "qwen-7b", mean_tokens=200, micro_batch=4)
    packed = row("a100-80g-8x", "qwen-7b", mean_tokens=200, micro_batch=4, packed=True)
    assert short.hours is not None
    assert packed.hours is not None
    assert 4 < packed.hours < 6
    assert packed.hours < short.hours < 10


def test_cards_stand_in_the_published_order_and_ratio() -> None:
    speed = {
        offer: row(offer, "qwen-7b", rank=8).tokens_per_s or 0.0
        for offer in ("h100-mig", "a100-40g-custom", "rtx3090-24g-cloud")
    }
    assert speed["h100-mig"] / speed["a100-40g-custom"] == pytest.approx(2.1, rel=0.1)
    assert speed["rtx3090-24g-cloud"] == pytest.approx(1190, rel=0.15)


def test_four_bits_cost_more_the_shorter_the_samples() -> None:
    def slower(length: int) -> float:
        lora = row("a100-80g-8x", "qwen-7b", seq_len=length, rank=64).tokens_per_s or 0.0
        return lora / (row("a100-80g-8x", "qwen-7b", "qlora4", seq_len=length, rank=64).tokens_per_s or 0.0)

    assert slower(256) == pytest.approx(2.5, rel=0.25)
    assert slower(2048) == pytest.approx(1.37, rel=0.1)
    assert slower(8192) == pytest.approx(1.07, rel=0.05)


def test_eight_bits_are_slower_than_four() -> None:
    four, eight = (
        row("a100-80g-8x", "qwen-7b", method).tokens_per_s or 0.0 for method in ("qlora4", "qlora8")
    )
    assert eight < four


def test_launches_set_the_floor_of_short_samples() -> None:
    times = [
        step_time(
            task("qwen-1.8b", rank=64, seq_len=n),
            n,
            CATALOG.gpus["A100-80G"],
            Layout(1, 1),
            ONE_CARD,
            CONSTANTS,
        )
        for n in (128, 256)
    ]
    assert times[0].limited_by == "launch"
    # Published: 1.0 s for eight micro-steps, at 256 as at 512 tokens.
    assert times[1].total_s == pytest.approx(1.0 / 8, rel=0.15)
    assert times[0].total_s == pytest.approx(times[1].total_s, rel=0.15)


def test_72b_over_four_cards_with_nvlink() -> None:
    found = row("a100-80g-8x", "qwen-72b", gpus=4, rank=64)
    assert (found.split, found.spans) == (ZERO3, False)
    assert found.tokens_per_s == pytest.approx(1434, rel=0.15)


def test_70b_over_10gbe_crawls() -> None:
    layout = Layout(4, 1, "none", "10gbe")
    card = CATALOG.gpus["A100-40G"]
    step = step_time(task("llama-2-70b"), 2048, card, layout, ZERO3, CONSTANTS)
    # 2.25 x 138 GB x 3/4 at 1.15 GB/s.
    assert step.traffic_s == pytest.approx(2.25 * 2 * 68.975e9 * 0.75 / 1.15e9, rel=1e-4)
    assert step.limited_by == "network"
    assert 4 * 2048 / step.total_s == pytest.approx(36, rel=0.15)


def test_adapters_are_light_on_the_network() -> None:
    layout = Layout(2, 1, "none", "10gbe")
    step = step_time(task("llama-2-7b"), 2048, CATALOG.gpus["A100-40G"], layout, DATA_PARALLEL, CONSTANTS)
    assert step.traffic_s == pytest.approx(2 * 4 * 39_976_960 / 2 / 1.15e9)


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from(sorted(CATALOG.models)),
    method=st.sampled_from(["full", "lora", "qlora4", "qlora8"]),
    card=st.sampled_from(sorted(CATALOG.gpus)),
    length=st.integers(1, 16384),
    batch=st.integers(1, 64),
)
def test_no_card_beats_its_peak(model: str, method: str, card: str, length: int, batch: int) -> None:
    gpu = CATALOG.gpus[card]
    what = task(model, method, micro_batch=batch, seq_len=length)
    step = step_time(what, length, gpu, Layout(1, 1), ONE_CARD, CONSTANTS)
    # Forward, backward to the inputs, and the repeated forward: 6 operations a weight and token.
    least = 6 * what.model.params_linear * batch * length / (gpu.tflops * 1e12)
    assert step.total_s >= least


@settings(max_examples=40, deadline=None)
@given(
    model=st.sampled_from(["qwen-1.8b", "llama-2-13b", "llama-2-70b"]),
    split=st.sampled_from([DATA_PARALLEL, ZERO3]),
    machines=st.integers(2, 8),
)
def test_a_slower_link_is_never_faster(model: str, split: str, machines: int) -> None:
    links: list[Link] = ["nvlink", "ib", "pcie5", "pcie4", "pcie3", "10gbe", "1gbe"]
    times = [
        step_time(
            task(model),
            1024,
            CATALOG.gpus["A100-40G"],
            Layout(machines, 1, "none", link),
            DATA_PARALLEL if split == DATA_PARALLEL else ZERO3,
            CONSTANTS,
        ).total_s
        for link in links
    ]
    assert times == sorted(times)


def test_cards_without_a_link_never_finish() -> None:
    layout = Layout(2, 1, "none", "none")
    step = step_time(task(), 2048, CATALOG.gpus["T4"], layout, DATA_PARALLEL, CONSTANTS)
    assert math.isinf(step.total_s)


def test_lengths_without_a_mean_fill_the_sample() -> None:
    full = lengths_of(job(seq_len=777, micro_batch=4))
    assert (full.useful, full.padded, full.per_slot) == (777, 777, 1)
    packed = lengths_of(job(seq_len=1000, mean_tokens=200, length_sigma=0, packed=True))
    assert (packed.useful, packed.padded, packed.per_slot) == (200, 1000, 5)


def test_a_mean_that_is_never_cut_stays() -> None:
    assert cut_mean(200, 0.6, 1e9) == pytest.approx(200)
    assert cut_mean(200, 0, 150) == 150
    assert cut_mean(1e9, 0.6, 2048) == pytest.approx(2048)


@pytest.mark.parametrize("sigma", [0.1, 0.6, 1.5])
def test_the_longer_of_two_has_a_closed_form(sigma: float) -> None:
    # For two log-normals alike, E max = 2 m Phi(sigma / sqrt 2).
    expected = 2 * 200 * NORMAL.cdf(sigma / math.sqrt(2))
    assert padded_mean(200, sigma, 1e12, 2) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    mean=st.floats(10, 5000),
    sigma=st.floats(0, 3),
    limit=st.integers(16, 8192),
    batch=st.integers(1, 64),
)
def test_padding_lies_between_the_mean_and_the_limit(
    mean: float, sigma: float, limit: int, batch: int
) -> None:
    useful, padded = cut_mean(mean, sigma, limit), padded_mean(mean, sigma, limit, batch)
    assert useful - 1e-6 * limit <= padded <= limit + 1e-9
    assert padded <= padded_mean(mean, sigma, limit, batch + 1) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("shape", "mean"),
    [
        ({"lognormal": {"median": 100, "sigma": 1.0}}, 100 * math.exp(0.5)),
        ({"lognormal": {"mean": 100, "sigma": 1.0}, "min": 0, "max": 1e12}, 100),
        ({"exponential": {"mean": 10}, "max": 10}, 10 * (1 - math.exp(-1))),
        ({"exponential": {"mean": 10}, "min": 10}, 10 + 10 * math.exp(-1)),
        ({"uniform": {"low": 0, "high": 10}, "min": 5}, 6.25),
        ({"uniform": {"low": 2, "high": 2}}, 2),
        ({"triangular": {"low": 0, "mode": 5, "high": 10}}, 5),
        ({"triangular": {"low": 0, "mode": 0, "high": 3}, "max": 1}, 1 - 8 / 27 + 0 + 8 / 27 - 8 / 27),
        ({"geometric": {"mean": 2}, "max": 2}, 1.5),
        ({"geometric": {"mean": 4}}, 4),
        ({"choice": {"values": [1, 5], "weights": [3, 1]}}, 2),
        ({"choice": {"values": [1, 5]}, "min": 2, "max": 4}, 3),
    ],
)
def test_means_of_cut_distributions(shape: dict[str, object], mean: float) -> None:
    assert mean_of(Distribution.model_validate(shape)) == pytest.approx(mean, rel=1e-9)


def test_a_number_is_its_own_mean() -> None:
    assert mean_of(7.0) == 7.0
