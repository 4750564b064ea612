"""The numbers of the throughput form: shares of peaks, factors, seconds and rates of links.

The defaults are those before any row was seen: recommended values, data sheets, assumptions. The fitted
ones in use stand in `fitted.yaml`. `BASIS` says of each whether published rows fixed it or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from sim.model.base import Strict

__all__ = ["BASIS", "STACK_GROUPS", "Basis", "LinkRates", "SpeedConstants", "stack_group"]

Basis = Literal["fitted", "read off", "assumed", "line rate", "data sheet"]

STACK_GROUPS: Mapping[str, str] = {
    "hf": "hf",
    "hf5": "hf",
    "transformers": "hf",
    "peft": "hf",
    "trl": "hf",
    "ms-swift": "hf",
    "swift": "hf",
    "llama-factory": "hf",
    "llamafactory": "hf",
    "axolotl": "hf",
    "accelerate": "hf",
    "fsdp_qlora": "hf",
    "ds": "hf",
    "deepspeed": "hf",
    "deepspeed-chat": "hf",
    "optimized": "optimized",
    "llm-foundry": "optimized",
    "composer": "optimized",
    "mosaicml": "optimized",
    "megatron": "fused",
    "megatron-lm": "fused",
    "megatron-deepspeed": "fused",
    "nemo": "fused",
    "torchtitan": "fused",
    "gpt-neox": "fused",
    "unsloth": "fused",
}
"""Kind of code of a framework; a name that is not here takes the values that all have in common.

`hf`: runs the modelling code of transformers (unfused norms, rotary embeddings and adapters), whatever the
launcher is called: DeepSpeed, Axolotl, LLaMA-Factory and ms-swift wrap it. `optimized`: llm-foundry, fused
kernels and an attention kernel of its own. `fused`: other training code with fused kernels, written for
throughput: Megatron-LM, NeMo and GPT-NeoX, torchtitan (compiled), Unsloth (hand-written backward); it takes
llm-foundry's efficiency and launches, not its attention. Others (torchtune, litgpt) own plain modelling code
that is sometimes compiled, so they stand between. General knowledge, not fitted.
"""


def stack_group(stack: str) -> str:
    """Group of a framework by its name in any case (`hf`, `optimized`, `fused`); else empty."""
    name = stack.lower().replace(" ", "-").removesuffix("_fp8").removesuffix("-fp8")
    for known in (name, name.replace("_", "-"), name.split("_")[0], name.split("-")[0]):
        if known in STACK_GROUPS:
            return STACK_GROUPS[known]
    return ""


class LinkRates(Strict):
    """Effective rate of each link, GB/s (1e9 bytes), one way.

    Within a machine: what each card sends in a ring. Between machines: what a machine sends.
    """

    nvlink: float = Field(default=230.0, gt=0)
    """Of an A100 (data sheet 300 one way); other cards by `nvlink_scale`."""
    pcie5: float = Field(default=22.0, gt=0)
    pcie4: float = Field(default=11.0, gt=0)
    pcie3: float = Field(default=5.5, gt=0)
    slow: float = Field(default=3.0, gt=0)
    """PCIe of a desktop board: few lanes, through the chipset or the host's memory."""
    ib: float = Field(default=150.0, gt=0)
    """InfiniBand or RoCE of a machine with eight cards; fewer cards have as many fewer adapters."""
    ten_gbe: float = Field(default=1.15, gt=0, alias="10gbe")
    one_gbe: float = Field(default=0.115, gt=0, alias="1gbe")

    def rate(self, link: str) -> float | None:
        """GB/s of a link by its name in the catalogue; None for `none` and unknown names."""
        value = self.model_dump(by_alias=True).get(link)
        return None if value is None else float(value)


class SpeedConstants(Strict):
    """Shares, factors and seconds of the throughput form."""

    efficiency: float = Field(default=0.80, gt=0, le=1)
    """Share of the 16-bit peak that wide matrix products reach on an A100."""
    half_width: float = Field(default=200.0, ge=0)
    """Width of a card's part of a matrix at which half of that is reached."""
    peak_share: float = Field(default=0.9, gt=0, le=1)
    """No product runs above this share of a card's peak, whatever the factors say."""
    attention_efficiency: float = Field(default=0.5, gt=0, le=1)
    """Share of the 16-bit peak of an A100 that the attention kernel reaches."""
    activation_traffic: float = Field(default=2.5, ge=0)
    """Bytes moved to and from the card's memory a pass, as a multiple of the stored activations."""
    adapter_traffic: float = Field(default=10.0, ge=0)
    """Bytes moved a pass for each input and output of an adapted layer, a token; 16-bit adapters half."""
    fp8_gain: float = Field(default=1.45, ge=1)
    """Rate of linear layers in 8-bit floating point over 16 bits, on cards that have it."""
    cards: Mapping[str, float] = {
        "H100-80G": 0.85,
        "RTX3090": 1.1,
        "RTX4090": 1.1,
        "A6000": 1.1,
        "L40S": 0.75,
        "RTX6000Ada": 0.75,
        "A10": 0.6,
        "T4": 0.45,
    }
    """Share of the peak relative to an A100 by card, traffic with its memory apart; others take the
    catalogue's `efficiency`. Assumed but for the first three: a card of 70 W (T4), 150 W (A10) or 350 W
    (L40S, a 4090's chip with twice its printed peak) cannot hold the clock that its peak is printed for."""
    cards_like: Mapping[str, str] = {
        "H100-80G-PCIe": "H100-80G",
        "H100-94G-NVL": "H100-80G",
        "H800-80G": "H100-80G",
        "GH200-96G": "H100-80G",
        "H200": "H100-80G",
        "RTX3060-12G": "RTX3090",
        "RTX3080-10G": "RTX3090",
        "RTX3090Ti": "RTX3090",
        "RTX4060Ti-16G": "RTX4090",
        "RTX4080": "RTX4090",
        "RTX4070Ti": "RTX4090",
        "RTX5090": "RTX4090",
        "A40": "A6000",
        "A5000": "A6000",
        "A4000": "A6000",
    }
    """Cards with the chip, or one of its generation, of a card in `cards`. Slices follow their card."""
    attention_cards: Mapping[str, float] = {"H100-80G": 0.6}
    """The same of the attention kernel, which Hopper uses less well; others as in `cards`."""
    attention_stacks: Mapping[str, float] = {"optimized": 0.6}
    """Factor on the attention kernel by group of frameworks: llm-foundry's runs with ALiBi in Triton."""
    stacks: Mapping[str, float] = {"hf": 1.0, "optimized": 1.05}
    """Factor on both efficiencies by framework, or group of them (`STACK_GROUPS`); others 1."""

    floor_s_per_layer: float = Field(default=0.0034, ge=0)
    """Seconds of launching the kernels of a layer in a checkpointed micro-step."""
    floor_plain: float = Field(default=0.75, gt=0, le=1)
    """Factor on it without checkpointing: three of four passes."""
    floor_adapter: float = Field(default=0.5, ge=0)
    """Share more with adapters on all linear layers."""
    floor_fused: float = Field(default=0.6, gt=0, le=1)
    """Factor on it for frameworks with fused kernels (groups `optimized` and `fused`)."""
    floor_zero: float = Field(default=3.5, ge=1)
    """Factor on it where weights are gathered layer by layer (ZeRO-3, FSDP)."""

    dequantise: Mapping[str, float] = {"nf4": 7.5, "gptq4": 8.7, "int8": 9.6, "gptq8": 9.6}
    """Time of unpacking a weight over that of reading it packed and writing it in 16 bits."""
    optimizer_cost: float = Field(default=1.5, ge=0)
    """Time of the optimiser over that of reading and writing weights, gradients and state once."""
    host_gb_s: float = Field(default=10.0, gt=0)
    """Rate at which offloaded state and weights are worked on and brought to a card, GB/s."""

    zero_gathers: float = Field(default=2.0, ge=1)
    """Gathers of all weights in a micro-step of ZeRO-3/FSDP: for the forward and for the backward pass."""
    overlap: float = Field(default=0.53, ge=0, le=1)
    """Share of the shorter of work and traffic that the longer does not hide."""
    links: LinkRates = LinkRates()
    nvlink_scale: Mapping[str, float] = {
        "H100-80G": 1.5,
        "H200": 1.5,
        "GH200-96G": 1.5,
        "H20": 1.5,
        "B200": 3.0,
        "H800-80G": 0.67,
        "A800-80G": 0.67,
        "V100-16G": 0.5,
        "V100-32G": 0.5,
        "A30": 0.33,
        "RTX3090": 0.1875,
        "RTX3090Ti": 0.1875,
        "RTX2080Ti": 0.167,
        "A6000": 0.1875,
        "A5000": 0.1875,
        "A40": 0.1875,
    }
    """NVLink of a card over that of an A100 (600 GB/s, both ways) by the data sheets; others 1."""


BASIS: Mapping[str, Basis] = {
    "efficiency": "fitted",
    "half_width": "fitted",
    "peak_share": "assumed",
    "attention_efficiency": "fitted",
    "activation_traffic": "fitted",
    "adapter_traffic": "fitted",
    "fp8_gain": "fitted",
    "cards": "assumed",
    "cards.H100-80G": "fitted",
    "cards.RTX3090": "fitted",
    "cards.RTX4090": "fitted",
    "cards_like": "assumed",
    "attention_cards": "fitted",
    "attention_stacks": "fitted",
    "stacks": "fitted",
    "floor_s_per_layer": "fitted",
    "floor_plain": "assumed",
    "floor_adapter": "fitted",
    "floor_fused": "fitted",
    "floor_zero": "fitted",
    "dequantise": "assumed",
    "dequantise.gptq4": "fitted",
    "dequantise.nf4": "read off",
    "dequantise.gptq8": "read off",
    "optimizer_cost": "assumed",
    "host_gb_s": "assumed",
    "zero_gathers": "assumed",
    "overlap": "fitted",
    "links.nvlink": "fitted",
    "links.pcie5": "assumed",
    "links.pcie4": "fitted",
    "links.pcie3": "assumed",
    "links.slow": "fitted",
    "links.ib": "fitted",
    "links.10gbe": "line rate",
    "links.1gbe": "line rate",
    "nvlink_scale": "data sheet",
}
"""Where each value comes from, by name; a key of a mapping that is not here has the basis of the mapping.

Fitted: to published rows with a spread around a value from before (`speed_fit.BEFORE`); a value that rows
hardly move (`half_width`, `links.nvlink`, `links.ib`) stays near that. `nf4` and `gptq8` follow from
differences of ms-swift's published samples a second between 16 bits, GPTQ and bitsandbytes."""
