"""Linear layers with 4- or 8-bit weights, from bitsandbytes, filled with random numbers.

The steps are those of transformers when it quantises on loading: the parameter is made from 16-bit
values and quantised when it is moved to its device. Tried on a CPU with bitsandbytes 0.50; on a card
the same calls are made, but that has not been tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim.measure.case import Method

if TYPE_CHECKING:
    import torch

__all__ = ["OUTLIERS", "quantised_linear"]

OUTLIERS = 6.0
"""Activations above this are multiplied in 16 bits by LLM.int8: transformers' default."""


def quantised_linear(
    linear: torch.nn.Linear, method: Method, dtype: torch.dtype, device: str, spread: float
) -> Any:
    """A frozen layer of the same shape on the device: NF4 with double quantisation, or LLM.int8.

    Its weights are random with the standard deviation `spread`.
    """
    import torch

    weight = torch.empty(linear.out_features, linear.in_features, dtype=dtype, device=device)
    weight.normal_(0.0, spread)
    layer = _four_bits(linear, weight) if method == "qlora4" else _eight_bits(linear, weight)
    if linear.bias is not None:
        layer.bias = torch.nn.Parameter(
            torch.zeros(linear.out_features, dtype=dtype, device=device), requires_grad=False
        )
    return layer.requires_grad_(False)


def _four_bits(linear: torch.nn.Linear, weight: torch.Tensor) -> Any:
    import bitsandbytes as bnb

    layer = bnb.nn.Linear4bit(
        linear.in_features,
        linear.out_features,
        bias=linear.bias is not None,
        compute_dtype=weight.dtype,
        compress_statistics=True,
        quant_type="nf4",
        device="meta",
    )
    layer.weight = bnb.nn.Params4bit(
        weight, requires_grad=False, compress_statistics=True, quant_type="nf4", module=layer
    ).to(weight.device)
    return layer


def _eight_bits(linear: torch.nn.Linear, weight: torch.Tensor) -> Any:
    import bitsandbytes as bnb

    layer = bnb.nn.Linear8bitLt(
        linear.in_features,
        linear.out_features,
        bias=linear.bias is not None,
        has_fp16_weights=False,
        threshold=OUTLIERS,
        device="meta",
    )
    # Quantised only on the way from the machine's memory to the card, so it goes there first.
    values = weight.to("cpu")
    layer.weight = bnb.nn.Int8Params(values, requires_grad=False, has_fp16_weights=False).to(weight.device)
    return layer
