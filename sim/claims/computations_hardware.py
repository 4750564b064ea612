"""Facts of cards, links and disks against each other, by data sheets and the arithmetic of buses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_jobs import Several, card_of, constants
from sim.claims.card_steps import spread, yes
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.model.hardware import Gpu

__all__ = ["HARDWARE"]

_LANE_GT: Mapping[str, float] = {"pcie3": 8.0, "pcie4": 16.0, "pcie5": 32.0}
"""Thousand million transfers a second on one lane. Source: PCI Express base specifications."""
_CODE = 128 / 130
"""Bits of data in those sent. Source: the same."""
_A100_NVLINK = 600.0
"""GB/s both ways: 12 links of 50 GB/s. Source: NVIDIA A100 data sheet."""
_TF32 = ("A100-40G", "A100-80G", "A100-40G-PCIe", "A100-80G-PCIe")
"""Cards whose TF32 rate is half of the 16-bit one. Source: NVIDIA A100 data sheet, 156 and 312."""
_SHADERS = ("RTX3090", "RTX3090Ti", "RTX3080-10G")
"""Cards whose 32-bit shaders run at half of the 16-bit rate. Source: NVIDIA GA102 whitepaper, 35.6 and 71."""
_PAPERS: Mapping[str, str] = {
    "FlashAttention": "2205.14135",
    "FlashAttention-2": "2307.08691",
    "FlashAttention-3": "2407.08608",
    "LoRA": "2106.09685",
    "QLoRA": "2305.14314",
}
"""Number on arXiv of the paper of a method; the first four digits are year and month."""
Quantity = Literal["bandwidth", "bf16", "fp8", "tf32", "fp32", "memory"]
_UNIT: Mapping[str, str] = {"bandwidth": "GB/s", "memory": "GB"}


def quantity(card: Gpu, what: Quantity) -> float:
    """A figure of a card's data sheet. InputError where the card has none."""
    found = {
        "bandwidth": card.bandwidth_gb_s,
        "memory": card.memory_gib,
        "bf16": card.tflops,
        "fp8": card.fp8_tflops,
        "tf32": card.tflops / 2 if card.id in _TF32 else None,
        "fp32": card.tflops / 2 if card.id in _SHADERS else None,
    }[what]
    if found is None:
        rule = f"nothing is known of {what} on this card"
        raise InputError(Problem(rule, key="inputs.of", value=card.id))
    return found


class _Card(Strict):
    gpu: str
    of: Quantity


class _Two(Strict):
    card: _Card
    against: _Card
    answer: Literal["times", "more"] = "times"


def cards_against(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """A figure of one card's data sheet over one of another's."""
    asked = read_inputs(_Two, inputs)
    steps, values, sources = [], [], []
    for one in (asked.card, asked.against):
        card = card_of(one.gpu, bench)
        values.append(quantity(card, one.of))
        sources.append(f"gpus.yaml: {card.id} ({card.source})")
        steps.append(Step(f"{card.name}, {one.of}", shown(values[-1], _UNIT.get(one.of, "TFLOP/s"))))
    ratio = values[0] / values[1]
    found, unit, text = ratio, "x", f"Times: {values[0]:,.5g} / {values[1]:,.5g}"
    if asked.answer == "more":
        found, unit, text = 100 * (ratio - 1), "%", f"More: {values[0]:,.5g} / {values[1]:,.5g} - 1"
    steps.append(Step(text, shown(found, unit, 2)))
    note = "Printed peaks; training reaches a part of them."
    return Working(found, found, unit, tuple(steps), (note,), tuple(dict.fromkeys(sources)))


class _Link(Strict):
    link: Literal["pcie3", "pcie4", "pcie5", "nvlink"]
    lanes: int = Field(default=16, ge=1, le=16)
    both_ways: bool = False
    """PCIe: the sum of both directions. NVLink is always given so."""
    gpu: Annotated[tuple[str, ...], Several] = ("A100-40G",)
    """Cards with NVLink."""


def link_rate(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """GB/s of a bus or of a card's NVLink."""
    asked = read_inputs(_Link, inputs)
    if asked.link == "nvlink":
        cards = [card_of(name, bench) for name in asked.gpu]
        rates = [_nvlink(card) for card in cards]
        steps = [
            Step(f"NVLink of {card.name}, both ways: 600 GB/s x {rate / _A100_NVLINK:g}", shown(rate, "GB/s"))
            for card, rate in zip(cards, rates, strict=True)
        ]
        low, high = spread(rates)
        source = "sim/physics/speed_constants.py: nvlink_scale, by the data sheets"
        return Working(low, high, "GB/s", tuple(steps), (), (source,))
    lane = _LANE_GT[asked.link]
    one = lane * asked.lanes * _CODE / 8
    text = f"One way: {asked.lanes} lanes x {lane:g} GT/s x 128/130 / 8 bits"
    steps = [Step(text, shown(one, "GB/s", 2))]
    found = one * (2 if asked.both_ways else 1)
    if asked.both_ways:
        steps.append(Step(f"Both ways: 2 x {one:.2f} GB/s", shown(found, "GB/s", 2)))
    return Working(found, found, "GB/s", tuple(steps), (), ("PCI Express base specifications",))


def _nvlink(card: Gpu) -> float:
    """GB/s both ways; 0 where the card has none."""
    scale = constants().speed.nvlink_scale.get(card.id)
    if scale is None:
        scale = 1.0 if card.id in ("A100-40G", "A100-80G") else 0.0
    return scale * _A100_NVLINK


class _Has(Strict):
    gpu: str
    says: bool
    """Whether the statement says that the card has one."""


def has_nvlink(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether a card has NVLink, against what is stated."""
    asked = read_inputs(_Has, inputs)
    card = card_of(asked.gpu, bench)
    rate = _nvlink(card)
    steps = (
        Step(f"NVLink of {card.name}, both ways", shown(rate, "GB/s")),
        Step("It has NVLink", yes(rate > 0)),
    )
    source = "sim/physics/speed_constants.py: nvlink_scale, by the data sheets"
    return Working(None, None, "", steps, (), (source,), holds=(rate > 0) == asked.says)


class _Lanes(Strict):
    gpu: str


def pcie_lanes(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """PCIe lanes of a card, by its data sheet."""
    card = card_of(read_inputs(_Lanes, inputs).gpu, bench)
    lanes = card.pcie_lanes
    steps = (Step(f"{card.name}: {card.pcie.upper()}, lanes of the card", f"{lanes} lanes"),)
    note = "A desktop board may give a card fewer lanes than it has, where several stand in it."
    return Working(lanes, lanes, "lanes", steps, (note,), (f"gpus.yaml: {card.id}; data sheet",))


class _Raid(Strict):
    drives: int = Field(ge=1, le=64)
    bus: Annotated[tuple[Literal["pcie3", "pcie4", "pcie5"], ...], Several] = ("pcie3", "pcie4")
    """Of each drive, four lanes."""


def striped_read(inputs: Mapping[str, Any], _: Bench) -> Working:
    """GB/s that striped NVMe drives can read: what their buses carry."""
    asked = read_inputs(_Raid, inputs)
    steps, rates = [], []
    for bus in asked.bus:
        one = _LANE_GT[bus] * 4 * _CODE / 8
        rates.append(asked.drives * one)
        steps.append(
            Step(f"{bus.upper()}: 4 lanes x {_LANE_GT[bus]:g} GT/s x 128/130 / 8", f"{one:.2f} GB/s")
        )
        steps.append(Step(f"{asked.drives} drives x {one:.2f} GB/s", shown(rates[-1], "GB/s", 1)))
    low, high = spread(rates)
    note = "Striping adds the rates of the drives, and each drive reads as fast as its bus carries."
    return Working(low, high, "GB/s", tuple(steps), (note,), ("PCI Express base specifications",))


class _Date(Strict):
    paper: str
    since: str = Field(pattern=r"^\d{4}-\d{2}$")
    until: str = Field(pattern=r"^\d{4}-\d{2}$")
    """Months between which the statement dates it."""


def published_between(inputs: Mapping[str, Any], _: Bench) -> Working:
    """Whether a method was first published within some months, by the number of its paper."""
    asked = read_inputs(_Date, inputs)
    number = _PAPERS.get(asked.paper)
    if number is None:
        rule = "no paper of this name is known"
        raise InputError(Problem(rule, key="inputs.paper", value=asked.paper, known=tuple(_PAPERS)))
    month = f"20{number[:2]}-{number[2:4]}"
    holds = asked.since <= month <= asked.until
    steps = (
        Step(f"arXiv {number}: its first four digits are year and month", month),
        Step(f"Between {asked.since} and {asked.until}", yes(holds)),
        Step(f"{asked.paper} was published in", month),
    )
    return Working(None, None, "", steps, (), (f"arXiv {number}",), holds=holds)


HARDWARE: Mapping[str, Computation] = {
    "cards_against": cards_against,
    "link_rate": link_rate,
    "has_nvlink": has_nvlink,
    "pcie_lanes": pcie_lanes,
    "striped_read": striped_read,
    "published_between": published_between,
}
"""Computations from data sheets."""
