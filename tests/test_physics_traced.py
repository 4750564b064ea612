"""Allocated memory: peaks of traced models, counts by hand, and what must hold whatever the job."""

from __future__ import annotations

import csv
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim.physics
from sim.catalog import load_catalog
from sim.physics.allocated import AllocatedParts, allocated
from sim.physics.cases import Case, Cases, cases_of
from sim.physics.recipe import Recipe
from sim.physics.rows import read_row
from sim.physics.split import ONE_CARD, Layout
from sim.physics.task import Task

GIB = 2**30
PARTS = (
    "weights",
    "quantisation",
    "adapters",
    "gradients",
    "optimizer",
    "activations",
    "recomputed",
    "logits",
    "gathered",
)
WINDOWS = {
    "loss/lm_head backward": "loss",
    "forward": "forward",
    "last layer recompute+backward": "layer",
    "first layer backward": "first layer",
    "optimizer step": "optimizer step",
}


def one(model: str = "llama-2-7b", method: Any = "lora", rank: int = 16, **changes: Any) -> Cases:
    """A table of one case on one card; changes are fields of the task, the recipe, or columns."""
    task_fields = {"micro_batch": 1, "seq_len": 2048, "checkpointing": True}
    task_fields.update({key: changes.pop(key) for key in list(changes) if key in task_fields})
    names = Recipe.__dataclass_fields__
    recipe = Recipe(**{key: changes.pop(key) for key in list(changes) if key in names})
    chosen = 0 if method == "full" else rank
    task = Task(load_catalog().models[model], method, chosen, **task_fields, recipe=recipe)
    cases = cases_of([Case(task, ONE_CARD, Layout(1, 1))])
    return cases.replace(**changes) if changes else cases


# -- Traced peaks --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def traced() -> tuple[list[dict[str, str]], AllocatedParts]:
    places = (
        Path(sim.physics.__file__).parent / "facts" / "traced_memory.csv",
        Path(__file__).parents[2] / "shared" / "facts" / "traced_memory.csv",
    )
    place = next((place for place in places if place.exists()), None)
    if place is None:
        pytest.skip("the table of traced peaks is not here")
    with place.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    catalog = load_catalog()
    return rows, allocated(cases_of([read_row(row, catalog).case for row in rows]))


@pytest.mark.parametrize("method", ["lora", "qlora4", "full"])
def test_traced_peaks_are_met_by_method(traced, method):
    rows, parts = traced
    chosen = np.array([row["method"] == method for row in rows])
    peaks = np.array([float(row["peak_mem_gib"]) for row in rows])[chosen]
    errors = np.abs(parts.total[chosen] / peaks - 1)
    assert chosen.sum() >= 30
    assert np.median(errors) < 0.0005
    assert errors.max() < 0.003


@pytest.mark.parametrize("column", ["model", "grad_ckpt", "flash_attn", "optimizer", "loss_kernel"])
def test_no_group_of_traced_rows_is_off(traced, column):
    rows, parts = traced
    peaks = np.array([float(row["peak_mem_gib"]) for row in rows])
    names = np.array([row[column] for row in rows])
    for name in set(names):
        mean = np.mean((parts.total / peaks - 1)[names == name])
        assert abs(mean) < 0.001, name


def test_the_moment_of_the_peak_is_the_traced_one(traced):
    rows, parts = traced
    found = [
        (WINDOWS[row["peak_window"]], str(window)) for row, window in zip(rows, parts.window, strict=True)
    ]
    assert [pair for pair in found if pair[0] != pair[1]] == []


def test_traced_weights_are_met(traced):
    rows, parts = traced
    kept = np.array([float(row["weights_gib"]) for row in rows])
    vocab = np.array([float(row["vocab"]) * float(row["hidden"]) for row in rows])
    kbit = np.array([row["kbit_prep"] == "y" for row in rows])
    ends = np.array([row["peak_window"] in ("forward", "loss/lm_head backward") for row in rows])
    # The traced column leaves out the 16-bit copy of the head: it is no weight but lives in these moments.
    copy = np.where(kbit & ends, 2 * vocab / GIB, 0.0)
    assert np.allclose(parts.weights + parts.quantisation - copy, kept, rtol=5e-4)


# -- Counts by hand ------------------------------------------------------------------------------


def test_lora_by_hand():
    # Llama-2-7B, rank 16 on all linear layers, 2048 tokens, checkpointing: the loss is the peak.
    # Weights: 2 x 6,738,149,376. A layer's adapters: 16 x (4 x 8192 + 3 x 15,104) = 1,249,280; x 32 layers.
    parts = allocated(one(optimizer="adamw_fused"))
    assert parts.window[0] == "loss"
    assert parts.weights[0] * GIB == pytest.approx(13_476_298_752)
    assert parts.adapters[0] * GIB == pytest.approx(4 * 39_976_960)
    assert parts.optimizer[0] * GIB == pytest.approx(8 * 39_976_960)
    # Layer inputs 2 x 4096 x 32 = 262,144 a token, last norm 4 x 4096 = 16,384; mask 2048 x 2048;
    # rotary tables 2048 x 128 x 4.
    assert parts.activations[0] * GIB == pytest.approx(2048 * (262_144 + 16_384) + 4_194_304 + 1_048_576)
    assert parts.logits[0] * GIB == pytest.approx(12 * 32_000 * 2048)
    assert parts.total[0] == pytest.approx(15_318_122_496 / GIB)


def test_full_by_hand():
    # 2 bytes weight, 2 gradient, 4 moments; at the end stands the gradient of the embeddings' output,
    # 2 x 4096 x 2048.
    fused = allocated(one(method="full", optimizer="adamw_fused"))
    assert fused.window[0] == "first layer"
    assert fused.total[0] * GIB == pytest.approx(8 * 6_738_149_376 + 16_777_216)
    # The foreach form makes a temporary as large as the weights: 10 bytes a parameter.
    each = allocated(one(method="full", optimizer="adamw_foreach"))
    assert each.window[0] == "optimizer step"
    assert each.total[0] * GIB == pytest.approx(10 * 6_738_149_376)


def test_kept_without_checkpointing_by_hand():
    # Llama-2-7B, rank 16: a layer keeps 24 h + 8 f + 4 kv = 98,304 + 88,064 + 16,384 = 202,752 bytes a token,
    # 14 r = 224 for the inside of the adapters, 4 x 32 = 128 for attention: 203,104. The first layer's norm
    # (4 h) is not kept, the last one's (4 h) is. Rotary tables 1,048,576.
    parts = allocated(one(checkpointing=False))
    assert parts.activations[0] * GIB == pytest.approx(2048 * 32 * 203_104 + 1_048_576)
    # 16-bit copies of the adapters stay for the backward pass: 2 x 39,976,960.
    assert parts.recomputed[0] * GIB == pytest.approx(79_953_920)


def test_zero_stages_by_hand():
    # Full in 16 bits over 8 cards, P = 6,738,149,376 parameters.
    params = 6_738_149_376
    found = {
        stage: allocated(one(method="full", optimizer="adamw_fused", data=8, zero=stage))
        for stage in range(4)
    }
    state = {stage: parts.optimizer[0] * GIB / params for stage, parts in found.items()}
    assert state == pytest.approx({0: 4, 1: 0.5, 2: 0.5, 3: 0.5})
    weights = {stage: parts.weights[0] * GIB / params for stage, parts in found.items()}
    assert weights == pytest.approx({0: 2, 1: 2, 2: 2, 3: 0.25})
    # Plain data parallelism: gradients and once more their buckets.
    assert found[0].gradients[0] * GIB == pytest.approx(4 * params)
    # Two layers of 202,375,168 parameters with 262,144,000 of embeddings and head, 2 bytes, seven eighths.
    assert found[3].gathered[0] * GIB == pytest.approx(7 / 8 * 2 * (2 * 202_375_168 + 262_144_000))


def test_pipeline_by_hand():
    # 32 layers over 4 stages: 8 layers each. The first stage holds 4 micro-batches of layer inputs,
    # 4 x 8 x 2 x 4096 bytes a token, beside 1,048,576 of rotary tables and 4,194,304 of mask.
    parts = allocated(one(pipeline=4, accumulation=8, vocab=1000, seq_len=2048))
    assert parts.window[0] in ("layer", "first layer")
    assert parts.activations[0] * GIB == pytest.approx(2048 * 4 * 8 * 8192 + 5_242_880, rel=0.15)
    layers = allocated(one(pipeline=4, accumulation=8, naive=True, vocab=1000))
    assert layers.activations[0] < parts.activations[0] / 2


def test_selective_recomputation_keeps_34_bytes_a_hidden_unit():
    # A GPT: h 4096, f 16,384, as many keys as queries: 34 x 4096 = 139,264 bytes a token and layer. The
    # batch is large, so that the peak is where all layers are kept; a last norm of 8 x 4096 may stand too.
    shape = {"intermediate": 16_384, "ffn_matrices": 2, "kv_heads": 32}
    gpt = one(method="full", checkpointing=False, micro_batch=64, **shape).replace(selective=True)
    parts = allocated(gpt)
    assert parts.window[0] == "loss"
    assert parts.activations[0] * GIB == pytest.approx(64 * 2048 * (32 * 139_264 + 32_768), rel=0.001)


# -- Properties ----------------------------------------------------------------------------------


def shape_of(layers: int, heads: int, group: int, ratio: float, vocab: int, matrices: int, tied: bool) -> Any:
    hidden, kv_heads = 128 * heads, heads // group
    ffn = round(hidden * ratio)
    linear = layers * hidden * (2 * 128 * (heads + kv_heads) + matrices * ffn)
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": kv_heads,
        "head_dim": 128,
        "intermediate": ffn,
        "ffn_matrices": matrices,
        "vocab": vocab,
        "tied": tied,
        "linear": linear,
        "active_linear": linear,
        "params": linear + vocab * hidden * (1 if tied else 2),
    }


shapes = st.builds(
    shape_of,
    layers=st.integers(4, 96),
    heads=st.sampled_from([8, 16, 32, 64]),
    group=st.sampled_from([1, 4, 8]),
    ratio=st.sampled_from([2.6875, 3.5, 4.0, 5.3]),
    vocab=st.sampled_from([1000, 32_000, 152_064]),
    matrices=st.sampled_from([2, 3]),
    tied=st.booleans(),
)


@st.composite
def jobs(draw: st.DrawFn) -> Cases:
    """One case of any method and recipe, on one card."""
    method = draw(st.sampled_from(["lora", "qlora4", "qlora8", "full"]))
    targets = draw(
        st.lists(st.sampled_from(["q", "k", "v", "o", "gate", "up", "down"]), min_size=1, unique=True)
    )
    recipe = {
        "targets": tuple(targets),
        "attention": draw(st.sampled_from(["flash", "eager"])),
        "loss": draw(st.sampled_from(["standard", "upcast", "plain", "chunked"])),
        "optimizer": draw(st.sampled_from(["adamw", "adamw_foreach", "adamw_8bit", "sgd"])),
        "kbit_prep": draw(st.booleans()),
        "adapter_bytes": draw(st.sampled_from([2.0, 4.0])),
        "autocast": draw(st.booleans()),
        "master": draw(st.booleans()),
        "master_copy": draw(st.booleans()),
        "dropout": draw(st.booleans()),
        "accumulation": draw(st.sampled_from([1.0, 8.0])),
    }
    sizes = {
        "micro_batch": draw(st.integers(1, 8)),
        "seq_len": draw(st.sampled_from([128, 512, 2048, 16_384])),
    }
    cases = one(
        method=method,
        rank=draw(st.sampled_from([1, 8, 64])),
        checkpointing=draw(st.booleans()),
        **sizes,
        **recipe,
    )
    return cases.replace(**draw(shapes))


divisions = st.sampled_from(
    [
        {},
        {"data": 8},
        {"data": 8, "zero": 2},
        {"data": 8, "zero": 3},
        {"data": 8, "zero": 3, "offload": True},
        {"tensor": 4},
        {"pipeline": 4},
        {"pipeline": 4, "naive": True},
        {"tensor": 8, "pipeline": 8, "data": 4, "zero": 1},
    ]
)


@settings(max_examples=150, deadline=None)
@given(jobs(), divisions)
def test_parts_are_finite_never_negative_and_sum_to_the_total(cases, division):
    parts = allocated(cases.replace(**division))
    values = [getattr(parts, name)[0] for name in PARTS]
    assert np.isfinite(values).all()
    assert min(values) >= 0
    assert parts.total[0] == pytest.approx(sum(values))
    assert parts.window[0] in WINDOWS.values()


@settings(max_examples=150, deadline=None)
@given(jobs(), divisions, st.integers(2, 5))
def test_longer_samples_and_larger_batches_never_take_less(cases, division, times):
    cases = cases.replace(**division)
    base = allocated(cases).total[0]
    assert allocated(cases.replace(seq_len=times * cases.seq_len)).total[0] >= base * (1 - 1e-12)
    assert allocated(cases.replace(micro_batch=times * cases.micro_batch)).total[0] >= base * (1 - 1e-12)


@settings(max_examples=150, deadline=None)
@given(jobs())
def test_checkpointing_never_takes_more(cases):
    on, off = (allocated(cases.replace(checkpointing=value)).total[0] for value in (True, False))
    assert on <= off * (1 + 1e-12)


@settings(max_examples=50, deadline=None)
@given(shapes)
def test_fewer_bits_make_smaller_weights(shape):
    four, eight, sixteen = (
        allocated(one(method=method).replace(**shape)).weights[0] for method in ("qlora4", "qlora8", "lora")
    )
    assert four < eight < sixteen


@settings(max_examples=150, deadline=None)
@given(jobs(), st.sampled_from([1, 2, 3]))
def test_more_cards_of_a_sharded_job_never_take_more(cases, stage):
    totals = [allocated(cases.replace(zero=stage, data=data)).total[0] for data in (1, 2, 4, 64)]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(totals))


@settings(max_examples=150, deadline=None)
@given(jobs())
def test_a_higher_stage_never_takes_more_state(cases):
    found = [allocated(cases.replace(zero=stage, data=8)) for stage in range(4)]
    state = [parts.weights[0] + parts.adapters[0] + parts.optimizer[0] for parts in found]
    assert state[1] <= state[0] * (1 + 1e-12) or found[1].window[0] == "optimizer step"
    assert state[3] <= state[0] * (1 + 1e-12)


@settings(max_examples=150, deadline=None)
@given(jobs(), st.booleans())
def test_more_cards_in_a_line_never_take_more(cases, naive):
    cases = cases.replace(accumulation=1, naive=naive)
    for way in ("tensor", "pipeline"):
        found = [allocated(cases.replace(**{way: cards})) for cards in (1, 2, 4)]
        for earlier, later in pairwise(found):
            assert later.total[0] <= earlier.total[0] * (1 + 1e-12)
            assert later.weights[0] <= earlier.weights[0] * (1 + 1e-12)


def test_a_hundred_thousand_cases_are_quick():
    table = one().take(np.zeros(100_000, dtype=np.intp)).replace(seq_len=np.arange(1, 100_001))
    allocated(table.take(np.arange(100)))
    begin = time.perf_counter()
    parts = allocated(table)
    # A second leaves room for a busy machine; it takes a quarter of one alone.
    assert time.perf_counter() - begin < 1.5
    assert (np.diff(parts.total) >= 0).all()
