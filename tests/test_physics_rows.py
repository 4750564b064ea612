"""Rows of measurement tables: what their words mean, whoever wrote them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sim.physics.cases import Cases, cases_of
from sim.physics.recipe import LINEARS
from sim.physics.row_cells import MisreadError, number, text
from sim.physics.rows import Row, read_row
from tests.physics_cases import catalog


def line(**cells: Any) -> dict[str, Any]:
    """A row of a run on eight cards, other cells as given."""
    base = {
        "model": "llama-2-70b",
        "method": "full",
        "micro_batch": "1",
        "seq_len": "2048",
        "gpu": "A100-80G",
        "n_gpus": "8",
    }
    return {**base, **cells}


def read(**cells: Any) -> Row:
    return read_row(line(**cells), catalog())


def table(**cells: Any) -> Cases:
    return cases_of([read(**cells).case])


def reason(**cells: Any) -> str:
    with pytest.raises(MisreadError) as caught:
        read(**cells)
    return str(caught.value)


@pytest.mark.parametrize(
    ("words", "cards", "data", "tensor", "pipeline"),
    [
        ("tp8pp4", 64, 2, 8, 4),
        ("TP8 PP4", 32, 1, 8, 4),
        ("TP=8/PP=64/VP=3", 1024, 2, 8, 64),
        ("tp8-pp8", 64, 1, 8, 8),
        ("tp:4, pp:2", 8, 1, 4, 2),
        ("tp_4_pp_2", 8, 1, 4, 2),
        ("TP 4 PP 2 DP 3", 24, 3, 4, 2),
        ("dp4tp2", 8, 4, 2, 1),
        ("t8 p4", 32, 1, 8, 4),
        ("t=8, p=12", 96, 1, 8, 12),
        ("8-way tensor, 4-way pipeline", 32, 1, 8, 4),
        ("8 way tensor parallel and 2 way pipeline parallel", 16, 1, 8, 2),
        ("tensor parallel 8, pipeline parallel 4", 64, 2, 8, 4),
        ("tensor-parallel size 8 pipeline-parallel size 2", 16, 1, 8, 2),
        ("tensor model parallel size of 4", 8, 2, 4, 1),
        ("tensor_parallel=2", 8, 4, 2, 1),
        ("pipeline 4", 8, 2, 1, 4),
        ("PP4", 8, 2, 1, 4),
        ("pp=8", 8, 1, 1, 8),
        ("TP", 8, 1, 8, 1),
        ("tensor parallel", 4, 1, 4, 1),
        ("megatron", 16, 2, 8, 1),
        ("ddp", 8, 8, 1, 1),
        ("none", 8, 8, 1, 1),
        ("", 8, 8, 1, 1),
    ],
)
def test_divisions_in_many_spellings(words: str, cards: int, data: int, tensor: int, pipeline: int) -> None:
    split = read(zero_or_fsdp=words, n_gpus=cards).case.split
    assert (split.data, split.tensor, split.pipeline) == (data, tensor, pipeline)
    assert (split.zero, split.naive, split.offload) == (0, False, False)


@pytest.mark.parametrize(
    ("words", "zero", "offload"),
    [
        ("zero1", 1, False),
        ("ZeRO-1", 1, False),
        ("zero stage 1", 1, False),
        ("distributed optimizer", 1, False),
        ("zero2", 2, False),
        ("ZeRO-2", 2, False),
        ("zero_2", 2, False),
        ("zero-stage-2", 2, False),
        ("fsdp(shard_grad_op)", 2, False),
        ("FSDP SHARD_GRAD_OP", 2, False),
        ("zero2-offload", 2, True),
        ("zero3", 3, False),
        ("ZeRO 3", 3, False),
        ("DeepSpeed ZeRO stage 3", 3, False),
        ("fsdp", 3, False),
        ("FSDP full_shard", 3, False),
        ("zero3-offload", 3, True),
        ("fsdp-offload", 3, True),
        ("FSDP + CPU offload", 3, True),
    ],
)
def test_stages_in_many_spellings(words: str, zero: int, offload: bool) -> None:
    split = read(zero_or_fsdp=words).case.split
    assert (split.data, split.tensor, split.pipeline) == (8, 1, 1)
    assert (split.zero, split.offload) == (zero, offload)


def test_mixtures_of_stages_and_dimensions() -> None:
    assert read(zero_or_fsdp="tp4 zero1").case.split.name == "tensor 4 x zero-1 2"
    assert read(zero_or_fsdp="fsdp tp2").case.split.name == "tensor 2 x zero-3 4"
    # Nothing is sharded over one group; offload to the host works on one card too.
    assert read(zero_or_fsdp="tp8 zero1").case.split.name == "tensor 8"
    assert read(zero_or_fsdp="zero3-offload", n_gpus=1).case.split.offload


def test_a_model_laid_over_the_cards_works_one_stage_at_a_time() -> None:
    for words in ("device_map_mp", "device_map=auto", "device_map"):
        split = read(zero_or_fsdp=words, n_gpus=4).case.split
        assert (split.pipeline, split.naive, split.data) == (4, True, 1)
        assert split.name == "layer split 4"


def test_columns_of_their_own_come_before_words() -> None:
    split = read(tp="4", pp="2.0", zero_or_fsdp="tp8").case.split
    assert (split.tensor, split.pipeline, split.data) == (4, 2, 1)
    split = read(tp=2, n_gpus=8.0).case.split
    assert (split.tensor, split.data) == (2, 4)
    split = read(tp="", pp=float("nan"), zero_or_fsdp="tp2").case.split
    assert (split.tensor, split.pipeline) == (2, 1)


def test_notes_speak_where_the_column_does_not() -> None:
    split = read(notes="pre-training, TP=4, PP=2, batch 512").case.split
    assert (split.tensor, split.pipeline) == (4, 2)
    # A letter and a number in notes could be anything.
    assert read(notes="step 8 of p4d.24xlarge, top5").case.split.name == "data parallel"
    # The heads must divide: 14 heads over eight cards are 2 x 4.
    assert read(model="qwen2.5-0.5b", zero_or_fsdp="tp").case.split.tensor == 2


def test_micro_steps_of_a_pipeline() -> None:
    assert table(zero_or_fsdp="pp4", n_gpus=4, grad_accum="12").accumulation[0] == 12
    # 512 samples, two groups of 4 a micro-step: 64.
    batch = table(zero_or_fsdp="pp4", n_gpus=8, micro_batch="4", notes="global batch size 512")
    assert batch.accumulation[0] == 64
    # Unsaid: enough that the pipeline is mostly full.
    assert table(zero_or_fsdp="pp4", n_gpus=4).accumulation[0] >= 16


@pytest.mark.parametrize(
    ("words", "gpu", "link"),
    [
        ("NVLink(SXM4)", "A100-80G", "nvlink"),
        ("nvswitch", "H100-80G", "nvlink"),
        ("SXM5", "H100-80G", "nvlink"),
        ("PCIe", "RTX3090", "pcie4"),
        ("PCIe4x16 2x RTX 4090, full PCIe4 x16 each", "RTX4090", "pcie4"),
        ("PCIe gen 3", "RTX3090", "pcie3"),
        ("pcie gen5", "H100-80G-PCIe", "pcie5"),
        ("PCIe, no NVLink", "RTX3090", "pcie4"),
        ("slow PCIe board", "RTX3090", "slow"),
        ("", "A100-80G", "nvlink"),
        ("", "RTX4090", "pcie4"),
        ("", "H100-80G-PCIe", "pcie5"),
    ],
)
def test_links_within_a_machine(words: str, gpu: str, link: str) -> None:
    assert read(interconnect=words, gpu=gpu, n_gpus=2).case.layout.link == link


@pytest.mark.parametrize(
    ("words", "network"),
    [
        ("10GbE", "10gbe"),
        ("10 Gbps Ethernet", "10gbe"),
        ("10 Gbit", "10gbe"),
        ("1GbE", "1gbe"),
        ("1 Gbps", "1gbe"),
        ("NVLink; InfiniBand 200 Gbps", "ib"),
        ("100 Gbps", "ib"),
        ("RoCE 1600 Gbps", "ib"),
        ("", "ib"),
    ],
)
def test_networks_between_machines(words: str, network: str) -> None:
    layout = read(interconnect=words, n_gpus=16).case.layout
    assert (layout.machines, layout.per_machine, layout.network) == (2, 8, network)


def test_machines_by_the_notes() -> None:
    assert read(n_gpus=4, notes="2 nodes x 2 GPUs").case.layout.machines == 2
    assert read(n_gpus=4, interconnect="4 machines with 1 card each, 10GbE").case.layout.machines == 4
    assert read(n_gpus=64).case.layout.machines == 8
    assert read(n_gpus=6, notes="2 nodes x 2 GPUs").case.layout.machines == 1  # does not add up


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("A100-SXM4-80GB", "A100-80G"),
        ("NVIDIA A100 80GB", "A100-80G"),
        ("A100-80GB", "A100-80G"),
        ("a100", "A100-80G"),
        ("A100-SXM4-40GB", "A100-40G"),
        ("H100-SXM5-80GB", "H100-80G"),
        ("RTX 3090", "RTX3090"),
        ("NVIDIA GeForce RTX 4090", "RTX4090"),
        ("Tesla T4", "T4"),
        ("T4", "T4"),
        ("L40S", "L40S"),
        ("A10G-24GB", "A10G"),
        ("H100-80G/3g.40gb", "H100-80G/3g.40gb"),
        ("24GB GPU", ""),
        ("TPU v4", ""),
        ("", ""),
    ],
)
def test_cards_in_many_spellings(name: str, card: str) -> None:
    assert table(gpu=name).gpu[0] == card


def test_a_size_alone_says_what_there_is_but_not_how_fast() -> None:
    found = read(gpu="24GB GPU")
    assert found.capacity_gib == pytest.approx(23.4)
    assert found.case.gpu is None
    assert read(gpu="some card").capacity_gib is None
    assert read(gpu="A100-80G").capacity_gib == 79.2


@pytest.mark.parametrize(
    ("words", "layers"),
    [
        ("q,v", ("q", "v")),
        ("q_proj, v_proj", ("q", "v")),
        ("query,value", ("q", "v")),
        ("k,q,v,up,down,gate", ("q", "k", "v", "gate", "up", "down")),
        ("DEFAULT(c_attn / qkv)", ("q", "k", "v")),
        ("c_attn,c_proj,w1,w2", LINEARS),
        ("query_key_value", ("q", "k", "v")),
        ("all-linear", LINEARS),
        ("", LINEARS),
        ("something new", LINEARS),
        ("mlp", ("gate", "up", "down")),
        ("fc1 fc2", ("up", "down")),
    ],
)
def test_targets_in_many_spellings(words: str, layers: tuple[str, ...]) -> None:
    found = table(method="lora", target_modules=words)
    named = {name for name in LINEARS if getattr(found, f"adapt_{name}")[0]}
    if words == "c_attn,c_proj,w1,w2":  # Qwen's own names: everything but what w3 is elsewhere
        assert named >= {"q", "k", "v", "o", "gate", "up"}
    else:
        assert named == set(layers)


def test_heads_and_embeddings_beside_the_adapters() -> None:
    assert table(method="lora", target_modules="all-linear, lm_head").adapt_head[0]
    trained = table(method="lora", target_modules="q_proj, v_proj; modules_to_save: embed_tokens, lm_head")
    assert trained.train_outer[0]
    assert not trained.adapt_head[0]
    assert not table(method="full", target_modules="lm_head").adapt_head[0]


@pytest.mark.parametrize(
    ("word", "forward"),
    [
        ("fp32_upcast", 14),
        ("liger", 2.5),
        ("fused_linear_cross_entropy", 2.5),
        ("chunked", 2.5),
        ("cut-cross-entropy", 2.5),
        ("", 10),
        ("unheard of", 10),
    ],
)
def test_loss_kernels(word: str, forward: float) -> None:
    assert table(loss_kernel=word, micro_batch="4").loss_forward[0] == forward


def test_llm_foundry_has_a_fused_loss_of_its_own() -> None:
    for word in ("", "plain_hf"):
        assert table(stack="optimized", loss_kernel=word).loss_forward[0] == 2.5
    assert table(stack="optimized_fp8").fp8[0]


@pytest.mark.parametrize(
    ("word", "state", "paged"),
    [
        ("adamw", 8, False),
        ("", 8, False),
        ("AdamW8bit", 2, False),
        ("bitsandbytes 8-bit AdamW", 2, False),
        ("paged_adamw_8bit", 2, True),
        ("paged_adamw_32bit", 8, True),
        ("Adafactor", 0.02, False),
        ("SGD", 0, False),
        ("lion", 4, False),
    ],
)
def test_optimisers(word: str, state: float, paged: bool) -> None:
    found = table(method="lora", optimizer=word)  # adapters of 32 bits
    assert (found.state_bytes[0], bool(found.paged[0])) == (state, paged)


@pytest.mark.parametrize(
    ("method", "bits", "fmt", "size"),
    [
        ("qlora4", "4", "nf4", 0.5625),
        ("QLoRA", "", "", 0.516),
        ("lora", "4", "gptq", 0.52),
        ("qlora4", "4", "awq", 0.52),
        ("lora", "8", "", 1.0),
        ("qlora8", "8", "gptq", 1.02),
        ("lora", "16", "", 2.0),
    ],
)
def test_bits_and_formats(method: str, bits: str, fmt: str, size: float) -> None:
    assert table(method=method, bits=bits, quant_fmt=fmt).quant_bytes[0] == pytest.approx(size, abs=1e-3)


@pytest.mark.parametrize(
    ("word", "full", "selective"),
    [
        ("y", True, False),
        ("", True, False),
        ("n", False, False),
        ("False", False, False),
        ("selective", False, True),
    ],
)
def test_checkpointing_in_words(word: str, full: bool, selective: bool) -> None:
    found = table(grad_ckpt=word)
    assert (bool(found.checkpointing[0]), bool(found.selective[0])) == (full, selective)


def test_kinds_of_memory() -> None:
    kinds = {
        "traced(fake tensors)": (True, True),
        "allocated(max)": (False, True),
        "reserved(peak)": (False, False),
    }
    for kind, expected in kinds.items():
        found = read(mem_kind=kind)
        assert (found.traced, found.allocated) == expected
    assert (read().traced, read().allocated) == (False, False)


def test_dimensions_in_a_row_come_before_its_name() -> None:
    shape = {
        "layers": "2",
        "hidden": "64",
        "heads": "4",
        "kv_heads": "2",
        "intermediate": "128",
        "vocab": "1,000",
    }
    found = table(model="mine", **shape)
    # 2 layers of 64 x (2 x 64 + 2 x 32) + 3 x 64 x 128; 2 x 1000 x 64 outside.
    assert found.linear[0] == 2 * (64 * 192 + 3 * 64 * 128)
    assert found.params[0] == found.linear[0] + 128_000
    assert table(model="mine", tied="y", **shape).params[0] == found.linear[0] + 64_000
    assert table(model="meta-llama/Llama-2-70b-hf").layers[0] == 80


def test_what_cannot_be_read_has_its_reason() -> None:
    assert "not in the catalogue" in reason(model="nobody-9b")
    assert "'dora' is not one of full, lora" in reason(method="dora")
    assert "(empty)" in reason(method="")
    assert reason(micro_batch="") == "micro_batch is not given"
    assert reason(seq_len="long") == "seq_len is no number: 'long'"
    assert "n_gpus is no number" in reason(n_gpus="many")
    assert "n_gpus is 0" in reason(n_gpus="0")
    assert "n_gpus is no number" in reason(n_gpus="inf")
    assert "must be at least 1" in reason(seq_len="-5")
    assert "must be at least 1" in reason(micro_batch="0")
    assert "larger than the hidden size" in reason(method="lora", rank="100000")
    assert "rank" in reason(method="lora", rank="-4")
    assert "micro_batch is 0.2" in reason(micro_batch="0.2")
    assert "mean_len is 0" in reason(mean_len="0")


def test_cells_as_text_and_numbers() -> None:
    row = {"a": " x ", "b": None, "c": math.nan, "d": "1,024", "e": "inf", "f": 3}
    assert [text(row, key) for key in "abcg"] == ["x", "", "", ""]
    assert [number(row, key) for key in "adefg"] == [None, 1024.0, None, 3.0, None]
