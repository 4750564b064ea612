"""Names of base models and cards: spellings of published tables lead to one entry, never to a wrong one."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from pydantic import ValidationError

from sim.catalog import load_catalog
from sim.catalog.names import find_gpu, find_model, plain_gpu_name, plain_model_name

CATALOG = load_catalog()
FACTS = Path(__file__).parents[2] / "shared" / "facts"
needs_facts = pytest.mark.skipif(not FACTS.is_dir(), reason="the published facts are not beside the checkout")

MODEL_NAMES = {
    "qwen18": "qwen-1.8b",
    "Qwen-1.8B": "qwen-1.8b",
    "qwen-1_8b-chat": "qwen-1.8b",
    "Qwen/Qwen1.5-7B-Chat": "qwen-7b",
    "qwen1-7b": "qwen-7b",
    "qwen25_1_5": "qwen2.5-1.5b",
    "Qwen/Qwen2.5-7B-Instruct": "qwen2.5-7b",
    "qwen2_5-7b": "qwen2.5-7b",
    "Qwen2-72B": "qwen2.5-72b",
    "Qwen3-8B-Base": "qwen3-8b",
    "meta-llama/Llama-2-7b-chat-hf": "llama-2-7b",
    "llama_2_7b": "llama-2-7b",
    "Llama 2 13 B": "llama-2-13b",
    "huggyllama/llama-7b": "llama-7b",
    "LLaMA-33B": "llama-30b",
    "meta-llama/Meta-Llama-3-8B-Instruct": "llama-3-8b",
    "Llama 3.1 8B": "llama-3-8b",
    "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF": "llama-3-70b",
    "yi-34b-chat": "yi-34b",
    "openbuddy-zephyr-7b-chat": "mistral-7b",
    "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b",
    "mixtral8x7b": "mixtral-8x7b",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "mixtral-8x7b",
    "chatglm3-6b-32k": "chatglm3-6b",
    "baichuan2-13b-chat": "baichuan-13b",
    "microsoft/phi-1_5": "phi-1.5",
    "Phi-3-mini-4k-instruct": "phi-3-mini",
    "StableLM Alpha 3 B": "stablelm-alpha-3b",
    "tiny-llama": "tinyllama-1.1b",
    "Falcon 40 B": "falcon-40b",
    "google/gemma-2-9b-it": "gemma-2-9b",
    "gemma-2b": "gemma-2b",
    "MPT-30b": "mpt-30b",
    "bigscience/bloomz-7b1": "bloom-7b1",
    "EleutherAI/pythia-1.4b-deduped": "pythia-1.4b",
    "EleutherAI/gpt-j-6B": "gpt-j-6b",
    "facebook/opt-6.7b": "opt-6.7b",
    "gpt2": "gpt2-small",
    "GPT-3 175B": "gpt-3-175b",
    "GPT 22B": "megatron-gpt-22b",
    "NeMo GPT 40B": "megatron-gpt-39.1b",
    "MT-NLG 530B": "megatron-gpt-529.6b",
    "GPT 1T": "megatron-gpt-1008b",
    "RedPajama-7B": "redpajama-7b",
}
NO_MODEL = (
    "",
    "7B",
    "14B",
    "chat",
    "Qwen2-57B",
    "Qwen 257B",
    "GPT-3 6B",
    "bigscience/T0_3B",
    "bigscience/mt0-xxl",
)

GPU_NAMES = {
    "A100-SXM4-80GB": "A100-80G",
    "NVIDIA A100-SXM4-80GB": "A100-80G",
    "A100-80GB": "A100-80G",
    "A100 80GB": "A100-80G",
    "NVIDIA A100 80GB PCIe": "A100-80G-PCIe",
    "A100-SXM4-40GB": "A100-40G",
    "a100-40gb": "A100-40G",
    "A100-PCIE-40GB": "A100-40G-PCIe",
    "H100-SXM5-80GB": "H100-80G",
    "H100 SXM": "H100-80G",
    "H100-80GB-HBM3": "H100-80G",
    "NVIDIA H100 80GB HBM3": "H100-80G",
    "H100 PCIe": "H100-80G-PCIe",
    "H100 NVL": "H100-94G-NVL",
    "H200-SXM5-141GB": "H200",
    "A100-80G MIG 3g.40gb": "A100-80G/3g.40gb",
    "H100-80G/1g.10gb+me": "H100-80G/1g.10gb+me",
    "A10G-24GB": "A10G",
    "A10-24GB": "A10",
    "T4-16GB": "T4",
    "Tesla T4": "T4",
    "Tesla V100-SXM2-16GB": "V100-16G",
    "V100-PCIE-32GB": "V100-32G-PCIe",
    "Tesla V100S-PCIE-32GB": "V100S-32G",
    "RTX 3090": "RTX3090",
    "NVIDIA GeForce RTX 3090": "RTX3090",
    "GeForce RTX 3090 Ti": "RTX3090Ti",
    "rtx-4090": "RTX4090",
    "RTX 4060 Ti 16GB": "RTX4060Ti-16G",
    "NVIDIA RTX A6000": "A6000",
    "NVIDIA RTX 6000 Ada Generation": "RTX6000Ada",
    "AMD Instinct MI300X": "MI300X",
    "Habana Gaudi2": "Gaudi2",
}
NO_GPU = ("", "24GB GPU", "40GB+ GPU", "GPU", "3g.40gb", "A100", "V100", "RTX 4090 Laptop GPU", "RTX 4060 Ti")

PUBLISHED_BILLIONS = {
    "qwen-1.8b": 1.84,
    "qwen1.5-32b": 32.5,
    "qwen2.5-0.5b": 0.49,
    "qwen2.5-1.5b": 1.54,
    "qwen2.5-3b": 3.09,
    "qwen2.5-7b": 7.62,
    "qwen3-0.6b": 0.6,
    "qwen3-4b": 4.0,
    "qwen3-8b": 8.2,
    "qwen3-14b": 14.8,
    "qwen3-32b": 32.8,
    "llama-7b": 6.7,
    "llama-13b": 13.0,
    "llama-30b": 32.5,
    "llama-65b": 65.2,
    "llama-3-8b": 8.03,
    "llama-3-70b": 70.6,
    "yi-9b": 8.83,
    "mistral-7b": 7.24,
    "mistral-nemo-12b": 12.2,
    "mistral-small-22b": 22.2,
    "mistral-small-24b": 23.6,
    "mixtral-8x7b": 46.7,
    "mixtral-8x22b": 140.6,
    "phi-3-medium": 14.0,
    "phi-4": 14.7,
    "gemma-2-2b": 2.61,
    "gemma-2-9b": 9.24,
    "gemma-2-27b": 27.2,
    "gemma-3-1b": 1.0,
    "stablelm-3b-4e1t": 2.795,
    "stablelm-2-1.6b": 1.644,
    "smollm2-135m": 0.135,
    "smollm2-1.7b": 1.71,
    "falcon3-7b": 7.46,
    "deepseek-7b": 6.91,
    "deepseek-coder-33b": 33.3,
    "internlm2-7b": 7.74,
    "internlm2-20b": 19.86,
    "glm-4-9b": 9.4,
    "pythia-1b": 1.012,
    "pythia-6.9b": 6.857,
    "pythia-12b": 11.846,
    "gpt-neox-20b": 20.55,
    "gpt-j-6b": 6.05,
    "opt-6.7b": 6.66,
    "opt-30b": 29.97,
    "opt-66b": 65.7,
    "bloom-560m": 0.559,
    "bloom-7b1": 7.069,
    "bloom-176b": 176.25,
    "gpt2-small": 0.124,
    "gpt2-medium": 0.355,
    "gpt2-large": 0.774,
    "gpt2-xl": 1.558,
    "gpt-3-175b": 174.6,
    "megatron-gpt-7.5b": 7.5,
    "megatron-gpt-18.4b": 18.4,
    "megatron-gpt-22b": 22.0,
    "megatron-gpt-76.1b": 76.1,
    "megatron-gpt-145.6b": 145.6,
    "megatron-gpt-529.6b": 529.6,
    "megatron-gpt-1008b": 1008.0,
    "nemotron-4-15b": 15.6,
    "nemotron-4-340b": 341.0,
}
"""Parameters of model cards and papers, 1e9."""


def rows(name: str) -> list[dict[str, str]]:
    with (FACTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("name", "wanted"), MODEL_NAMES.items())
def test_a_spelling_of_a_model_leads_to_it(name: str, wanted: str) -> None:
    found = find_model(name, CATALOG)
    assert found is not None
    assert found.id == wanted


@pytest.mark.parametrize(("name", "wanted"), GPU_NAMES.items())
def test_a_spelling_of_a_card_leads_to_it(name: str, wanted: str) -> None:
    found = find_gpu(name, CATALOG)
    assert found is not None
    assert found.id == wanted


def test_a_name_that_says_too_little_leads_nowhere() -> None:
    assert [name for name in NO_MODEL if find_model(name, CATALOG)] == []
    assert [name for name in NO_GPU if find_gpu(name, CATALOG)] == []


def test_no_two_entries_answer_to_one_name() -> None:
    kinds = (
        (CATALOG.models, plain_model_name, find_model),
        (CATALOG.gpus, plain_gpu_name, find_gpu),
    )
    for items, plain, find in kinds:
        owners: dict[str, set[str]] = {}
        for item in items.values():
            for name in (item.id, item.name, *item.aliases):
                owners.setdefault(plain(name), set()).add(item.id)
                for spelling in (name, name.upper(), name.replace("-", " ")):
                    found = find(spelling, CATALOG)
                    assert found is item, (spelling, item.id)
        assert {name: ids for name, ids in owners.items() if len(ids) > 1 or not name} == {}


@needs_facts
def test_every_published_architecture_is_in_the_catalogue() -> None:
    columns = ("layers", "hidden", "heads", "kv_heads", "head_dim")
    for row in rows("architectures.csv"):
        model = find_model(row["key"], CATALOG)
        assert model is not None, row["key"]
        assert row["key"] in model.aliases
        assert [getattr(model, column) for column in columns] == [int(row[column]) for column in columns]
        assert (model.vocab, model.params) == (int(row["vocab(padded)"]), int(row["params_by_formula"]))
        # The table gives the width of one expert, the catalogue that of all of them.
        assert model.intermediate == model.experts * int(row["intermediate"])


@needs_facts
@pytest.mark.parametrize("table", ["measurements.csv", "traced_memory.csv"])
def test_the_names_of_the_measurements_are_known(table: str) -> None:
    for row in rows(table):
        if not row["arch"]:
            continue
        model = find_model(row["arch"], CATALOG)
        assert model is not None, row["arch"]
        assert find_model(row["model"], CATALOG) is model, row["model"]
    cards = {row["gpu"] for row in rows(table)}
    assert all(find_gpu(name, CATALOG) is None for name in cards if name == "" or name.endswith(" GPU"))
    assert all(find_gpu(name, CATALOG) for name in cards if name and not name.endswith(" GPU"))


@pytest.mark.parametrize(("name", "billions"), PUBLISHED_BILLIONS.items())
def test_a_model_has_its_published_size(name: str, billions: float) -> None:
    assert CATALOG.models[name].params == pytest.approx(billions * 1e9, rel=0.02)


def test_all_parameters_are_embeddings_and_linear_layers() -> None:
    for model in CATALOG.models.values():
        embeddings = model.vocab * model.hidden * (1 if model.tied_embeddings else 2)
        router = model.layers * model.hidden * model.experts if model.experts > 1 else 0
        expected = model.params_linear + embeddings + router
        assert model.params == pytest.approx(expected, rel=1e-5), model.id


def test_a_token_passes_two_of_eight_experts() -> None:
    mixtral, mistral = CATALOG.models["mixtral-8x7b"], CATALOG.models["mistral-7b"]
    outside = mixtral.params - mixtral.params_linear
    assert mixtral.active_linear + outside == pytest.approx(12.9e9, rel=0.01)
    assert CATALOG.models["mixtral-8x22b"].active_linear == pytest.approx(38.7e9, rel=0.01)
    assert mistral.active_linear == mistral.params_linear


def test_experts_that_cannot_be_are_refused() -> None:
    mixtral = CATALOG.models["mixtral-8x7b"].model_dump()
    for wrong in ({"experts_per_token": 9}, {"experts": 0}, {"intermediate": 14337}):
        with pytest.raises(ValidationError):
            type(CATALOG.models["mixtral-8x7b"]).model_validate({**mixtral, **wrong})


@needs_facts
def test_cards_have_the_figures_of_the_data_sheets() -> None:
    facts = {row["gpu"]: row for row in rows("gpus.csv")}
    for name in (
        "T4",
        "RTX 2080Ti",
        "RTX 3090",
        "RTX 4090",
        "A100 40G SXM4",
        "A100 40G PCIe",
        "A100 80G SXM4",
        "A100 80G PCIe",
        "H100 80G SXM5",
        "H100 80G PCIe",
        "H200 SXM",
        "L40S",
        "H20",
        "RTX A6000",
        "RTX 6000 Ada",
    ):
        row, card = facts[name], find_gpu(name, CATALOG)
        assert card is not None, name
        assert card.memory_gib == float(row["memory_gb_nominal"])
        assert card.usable_gib == float(row["usable_gib_approx"])
        assert card.bandwidth_gb_s == float(row["bandwidth_gb_s"])
        assert card.tflops == float(row["fp16_bf16_dense_tflops_fp32acc"])
        assert card.tdp_w == float(row["tdp_w"])
        if row["fp8_dense_tflops"]:
            assert card.fp8_tflops == float(row["fp8_dense_tflops"].split()[0])


def test_an_efficiency_that_nobody_measured_says_so() -> None:
    known = ("assumed", "fitted", "efficiency as the", "A100 data sheet")
    whole = [card for card in CATALOG.gpus.values() if "/" not in card.id]
    assert [card.id for card in whole if not any(words in card.source for words in known)] == []


def test_multiprocessors_and_8_bit_peaks_are_in_range() -> None:
    known = {"A100-80G": 108, "H100-80G": 132, "H100-80G-PCIe": 114, "RTX3090": 82, "RTX4090": 128, "T4": 40}
    assert {name: CATALOG.gpus[name].sm_count for name in known} == known
    for card in CATALOG.gpus.values():
        if card.fp8_tflops is not None:
            assert card.tflops <= card.fp8_tflops <= 2.1 * card.tflops, card.id
