"""Real steps of a tiny model on the CPU, in a process of their own as the command makes them."""

from __future__ import annotations

import gc
import importlib.util
import math
import weakref
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sim.catalog import load_catalog
from sim.measure import Case, Done, Order, RowFile, Settings, find_card, measure, run_case
from sim.model.hardware import LanguageModel

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]

VOCAB = 101
TINY = {
    "id": "tiny",
    "name": "Tiny",
    "layers": 2,
    "hidden": 64,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 16,
    "intermediate": 128,
    "ffn_matrices": 3,
    "vocab": VOCAB,
    "tied_embeddings": False,
    # 2 x (64x64 + 2 x 64x32 + 64x64 + 3 x 64x128) in the blocks, 2 x 101x64 outside.
    "params": 73_728 + 12_928,
    "params_linear": 73_728,
    "source": "made up",
}
NORMS = (2 * 2 + 1) * 64
"""Two norms a layer and one at the end, which the catalogue leaves out."""

LORA_4 = 8192
"""Rank 4 x 2 layers x ((64+64) + 2 (64+32) + (64+64) + 3 (64+128)), all linear layers."""


def tiny(**changes: Any) -> LanguageModel:
    return LanguageModel.model_validate({**TINY, **changes})


def order(model: LanguageModel, **fields: Any) -> Order:
    shape = {"model": model.id, "rank": 4, "seq_len": 32, "micro_batch": 2}
    return Order(
        case=Case.model_validate({**shape, **fields}), model=model, settings=Settings(device="cpu", steps=2)
    )


def run(model: LanguageModel, **fields: Any) -> Done:
    outcome = run_case(order(model, **fields))
    assert isinstance(outcome, Done), outcome
    assert len(outcome.step_s) == 2
    assert min(outcome.step_s) > 0
    # Random weights know nothing: every token is as likely as every other.
    assert outcome.first_loss == pytest.approx(math.log(VOCAB), abs=0.1)
    assert outcome.mem_kind == "cpu(rss)"
    assert outcome.peak_gib is None or 0.1 < outcome.peak_gib < 4
    return outcome


@pytest.mark.parametrize("checkpointing", [True, False])
def test_lora_trains_the_adapters_only(checkpointing: bool) -> None:
    assert run(tiny(), method="lora", checkpointing=checkpointing).trained_params == LORA_4


@pytest.mark.parametrize("checkpointing", [True, False])
def test_full_trains_everything(checkpointing: bool) -> None:
    done = run(tiny(), method="full", checkpointing=checkpointing)
    assert done.trained_params == tiny().params + NORMS


def test_adapters_on_queries_and_values_and_kept_scores() -> None:
    done = run(tiny(), targets="qv", attention="eager")
    # Rank 4 x 2 layers x ((64+64) + (64+32)).
    assert done.trained_params == 1792


def test_a_feed_forward_layer_of_two_matrices_with_tied_embeddings() -> None:
    done = run(tiny(ffn_matrices=2, tied_embeddings=True), method="full")
    # One matrix a layer and one embedding less; norms with a bias.
    assert done.trained_params == 73_728 - 2 * 64 * 128 + VOCAB * 64 + 2 * NORMS


@pytest.mark.parametrize("method", ["qlora4", "qlora8"])
def test_adapters_on_a_quantised_base(method: str) -> None:
    pytest.importorskip("bitsandbytes")
    assert run(tiny(), method=method).trained_params == LORA_4


def test_cases_become_rows_and_are_not_measured_twice(tmp_path: Path) -> None:
    card = find_card("cpu", None)
    file = tmp_path / "rows.csv"
    orders = [order(tiny(), method="lora"), order(tiny(), method="full")]

    def again() -> list[str]:
        entries = measure(orders, card, RowFile(file), run_case, lambda _: None, date.today)
        return [entry.what for entry in entries]

    assert again() == ["done", "done"]
    assert again() == ["known", "known"]
    first, second = RowFile(file).rows
    assert (first["gpu"], first["fit_mem"], first["method"], second["method"]) == ("CPU", "0", "lora", "full")
    tokens, step = float(first["tokens_per_s_total"]), float(first["s_per_iter"])
    assert tokens == pytest.approx(2 * 32 / step, rel=1e-3)
    assert "torch" in first["notes"]


def test_what_is_frozen_and_in_which_type() -> None:
    import torch

    from sim.measure.network import build, prepare

    made = order(tiny(), method="lora")
    network = prepare(build(made.model, made.case, "cpu"), made.case)
    types = {(weight.requires_grad, weight.dtype) for weight in network.parameters()}
    assert types == {(True, torch.float32), (False, torch.bfloat16)}
    values = network.base_model.model.model.layers[1].self_attn.o_proj.base_layer.weight.float()
    assert float(values.std()) == pytest.approx(0.02, rel=0.1)


@pytest.mark.skipif(importlib.util.find_spec("bitsandbytes") is None, reason="needs bitsandbytes")
def test_four_bits_are_a_quarter_of_sixteen_and_stand_in_the_blocks_only() -> None:
    import torch

    from sim.measure.network import build, prepare

    made = order(tiny(), method="qlora4")
    network = prepare(build(made.model, made.case, "cpu"), made.case)
    packed = [weight for weight in network.parameters() if weight.dtype == torch.uint8]
    assert sum(weight.numel() for weight in packed) == tiny().params_linear // 2
    # Embeddings and head are made 32-bit by the usual preparation.
    assert network.get_output_embeddings().weight.dtype == torch.float32
    assert network.get_input_embeddings().weight.dtype == torch.float32


@pytest.mark.parametrize(
    ("fields", "peak_gib"),
    [
        ({"model": "llama-2-7b"}, 14.2669),
        ({"model": "llama-2-7b", "micro_batch": 4}, 18.0697),
        ({"model": "llama-3-8b"}, 18.8982),
        ({"model": "llama-2-7b", "method": "full"}, 50.2209),
    ],
)
def test_the_steps_hold_the_memory_that_was_traced_elsewhere(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], peak_gib: float
) -> None:
    """Real sizes without their storage: the peaks of another program's trace of the same libraries."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from sim.measure.network import build, prepare
    from sim.measure.training import _batches, _step

    monkeypatch.setattr(torch.nn.Module, "_apply", _apply)
    case = Case.model_validate(fields)
    made = Order(
        case=case, model=load_catalog().models[case.model], settings=Settings(device="cpu", steps=1, warmup=1)
    )
    with FakeTensorMode(allow_non_fake_inputs=True), live_bytes() as live:
        network = prepare(build(made.model, made.case, "cpu"), made.case)
        trained = [weight for weight in network.parameters() if weight.requires_grad]
        optimizer = torch.optim.AdamW(trained, lr=1e-5, fused=True)
        gc.collect()
        live.peak = live.now
        for tokens in _batches(made):
            _step(network, optimizer, tokens, made)
    assert live.peak / 2**30 == pytest.approx(peak_gib, abs=0.001)


def _apply(module: Any, change: Any, recurse: bool = True) -> Any:
    """torch's own refuses tensors without storage that somebody else refers to."""
    import torch

    for child in module.children() if recurse else ():
        child._apply(change)
    with torch.no_grad():
        for name, weight in list(module.named_parameters(recurse=False)):
            module._parameters[name] = torch.nn.Parameter(change(weight), weight.requires_grad)
        for name, buffer in list(module.named_buffers(recurse=False)):
            module._buffers[name] = change(buffer)
    return module


def live_bytes() -> Any:
    """Counts the bytes of all tensors that live, in blocks of 512 as the allocator of a card has them."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map_only

    class Counter(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.now = self.peak = 0
            self.sizes: dict[int, int] = {}

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            tree_map_only(torch.Tensor, self.add, out)
            return out

        def add(self, tensor: Any) -> None:
            storage = tensor.untyped_storage()
            if tensor.device.type == "cpu" and storage._cdata not in self.sizes:
                self.sizes[storage._cdata] = -(-storage.nbytes() // 512) * 512
                self.now += self.sizes[storage._cdata]
                self.peak = max(self.peak, self.now)
                weakref.finalize(storage, self.drop, storage._cdata)

        def drop(self, key: int) -> None:
            self.now -= self.sizes.pop(key)

    return Counter()


@pytest.mark.parametrize("model", load_catalog().models.values(), ids=lambda model: str(model.id))
def test_every_model_is_built_with_the_parameters_of_the_catalogue(model: LanguageModel) -> None:
    import torch

    from sim.measure.network import skeleton

    if model.experts > 1:
        pytest.skip("models with experts cannot be measured")
    network = skeleton(model, Case(model=model.id), torch.bfloat16)
    matrices = {name: weight for name, weight in network.named_parameters() if weight.dim() == 2}
    assert sum(weight.numel() for weight in matrices.values()) == model.params
    assert sum(w.numel() for name, w in matrices.items() if ".layers." in name) == model.params_linear
