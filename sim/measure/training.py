"""The steps themselves, on the clock, with the most memory that they took."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from sim.measure.network import build, half_type, prepare, uses_autocast
from sim.measure.outcome import Done, Order
from sim.units import GIB

if TYPE_CHECKING:
    import torch

__all__ = ["train"]

LEARNING_RATE = 1e-5
"""Any small number: what is learnt from random tokens is thrown away."""


@dataclass(frozen=True, slots=True)
class _Meter:
    """How the device's memory is read, and how to wait until it has done what it was told."""

    wait: Callable[[], None]
    reset: Callable[[], None]
    peak_gib: Callable[[], float | None]
    allocated_gib: Callable[[], float | None]
    kind: str


def train(order: Order) -> Done:
    """Build the model, make the steps, and say how long each took and how much memory they held.

    Memory counts from the finished model on, warm-up steps included. Raises torch's errors, of which
    `is_out_of_memory` of the worker knows the ones that mean a full card.
    """
    import torch

    case, settings = order.case, order.settings
    meter = _meter(settings.device)
    network = prepare(build(order.model, case, settings.device), case)
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=LEARNING_RATE, fused=True if settings.device == "cuda" else None
    )
    meter.reset()
    seconds, losses = [], []
    for tokens in _batches(order):
        meter.wait()
        began = time.perf_counter()
        losses.append(_step(network, optimizer, tokens, order))
        meter.wait()
        seconds.append(time.perf_counter() - began)
    return Done(
        peak_gib=meter.peak_gib(),
        allocated_gib=meter.allocated_gib(),
        mem_kind=meter.kind,
        step_s=tuple(seconds[settings.warmup :]),
        first_loss=float(losses[0]),
        trained_params=sum(weight.numel() for weight in trained),
        versions=_versions(case.quantised),
        remarks=_remarks(order),
    )


def _batches(order: Order) -> Iterator[torch.Tensor]:
    import torch

    shape = (order.case.micro_batch, order.case.seq_len)
    for _ in range(order.settings.warmup + order.settings.steps):
        yield torch.randint(order.model.vocab, shape, device=order.settings.device)


def _step(network: Any, optimizer: torch.optim.Optimizer, tokens: torch.Tensor, order: Order) -> torch.Tensor:
    import torch

    precision: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if uses_autocast(order.case.method):
        device = order.settings.device
        precision = torch.autocast(device, dtype=half_type(device))
    with precision:
        loss = network(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.detach()


def _meter(device: str) -> _Meter:
    import torch

    if device == "cpu":
        return _Meter(_nothing, _nothing, _resident_gib, lambda: None, "cpu(rss)")

    def reset() -> None:
        # What building the model left behind in the allocator is not part of the steps.
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    return _Meter(
        torch.cuda.synchronize,
        reset,
        lambda: torch.cuda.max_memory_reserved() / GIB,
        lambda: torch.cuda.max_memory_allocated() / GIB,
        "reserved(max)",
    )


def _nothing() -> None:
    return


def _resident_gib() -> float | None:
    """The most memory that this process has had, its libraries and the building included, GiB."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / GIB if sys.platform == "darwin" else most * 1024 / GIB


def _versions(quantised: bool) -> dict[str, str]:
    names = ["torch", "transformers", "peft", *(["bitsandbytes"] if quantised else [])]
    return {name: metadata.version(name) for name in names}


def _remarks(order: Order) -> tuple[str, ...]:
    case, device = order.case, order.settings.device
    kind = str(half_type(device)).removeprefix("torch.")
    fused = " fused" if device == "cuda" else ""
    if case.method == "full":
        how = f"all in {kind}, AdamW{fused} with states of that type"
    else:
        how = f"autocast {kind}, float32 adapters, AdamW{fused}"
    remarks = ["random weights and tokens", how]
    if case.quantised:
        remarks.append("embeddings and head in float32")
    if case.attention == "flash":
        remarks.append("attention by torch's scaled_dot_product_attention")
    allocator = {name: os.environ.get(name) for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")}
    return (*remarks, *(f"{name}={value}" for name, value in allocator.items() if value))
