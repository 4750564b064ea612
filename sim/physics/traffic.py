"""Seconds that cards talk to each other: weights, gradients, tensor-parallel sums, pipeline stages.

Ranks are laid on the cards as training code does: the tensor dimension innermost (neighbouring cards), then
data, pipeline stages outermost. What crosses machines shares their network; within a machine every card
sends over its own link. Both happen at once in a ring, so the slower of the two counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sim.physics.cases import Cases, Floats, Names
from sim.physics.speed_constants import SpeedConstants

__all__ = ["Placement", "Traffic", "by_name", "link_rates", "placement_of", "traffic_of"]

_NICS = 8.0
"""Cards of the machine that `ib` is the rate of: one network adapter a card."""


@dataclass(frozen=True, slots=True)
class Placement:
    """How many cards of a group stand in one machine, and over how many machines it spreads."""

    tensor_in: Floats
    tensor_out: Floats
    data_in: Floats
    data_out: Floats
    stages_cross: Floats
    """1 where neighbouring stages stand in different machines, else 0."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Seconds as if nothing else ran: all but `gradients` a micro-step, that an optimiser step."""

    gather: Floats
    gradients: Floats
    tensor: Floats
    pipeline: Floats


def placement_of(cases: Cases) -> Placement:
    """Where the dimensions of the division cross machines, from the cards of a machine."""
    cards = np.maximum(cases.per_machine, 1.0)
    tensor_in = np.minimum(cases.tensor, cards)
    data_in = np.minimum(cases.data, np.maximum(1.0, cards // tensor_in))
    crossing = (cases.pipeline > 1) & (cases.tensor * cases.data * cases.pipeline > cards)
    return Placement(
        tensor_in=tensor_in,
        tensor_out=np.ceil(cases.tensor / tensor_in),
        data_in=data_in,
        data_out=np.ceil(cases.data / data_in),
        stages_cross=crossing.astype(np.float64),
    )


def link_rates(cases: Cases, constants: SpeedConstants) -> tuple[Floats, Floats]:
    """Bytes a second of a card within its machine, and of a machine on the network; 0 where there is none."""
    link = by_name(cases.link, lambda name: constants.links.rate(name) or 0.0)
    scale = by_name(cases.gpu, lambda name: constants.nvlink_scale.get(name, 1.0))
    link = np.where(cases.link == "nvlink", link * scale, link)
    network = by_name(cases.network, lambda name: constants.links.rate(name) or 0.0)
    adapters = np.minimum(1.0, cases.per_machine / _NICS)
    network = np.where(cases.network == "ib", network * adapters, network)
    return link * 1e9, network * 1e9


def traffic_of(cases: Cases, constants: SpeedConstants) -> Traffic:
    """Seconds of each kind of traffic. Source: volumes of ring collectives; rates from the constants."""
    place = placement_of(cases)
    link, network = link_rates(cases, constants)
    groups = np.maximum(1.0, cases.per_machine / place.data_in)  # data groups with cards in one machine
    sharded = cases.tensor * cases.pipeline
    grads = gradient_bytes(cases) * cases.trained / sharded
    weights = weight_bytes(cases) / sharded

    def round_of(moved: Floats) -> Floats:
        """One gather or scatter over the data dimension of `moved` bytes a card holds when whole."""
        share = moved * (cases.data - 1) / cases.data
        within = _over(np.where(place.data_in > 1, share, 0.0), link)
        between = _over(np.where(place.data_out > 1, share * groups, 0.0), network)
        return np.maximum(within, between)

    shards_weights, shards_grads = cases.zero == 3, cases.zero >= 2
    gathers = np.where(shards_weights, constants.zero_gathers, 0.0)
    scatter = np.where(shards_grads, 1.0, 0.0)
    # Stage 2 hands the updated weights round once a step; stages 0 and 1 sum (scatter and gather).
    summed = np.where(shards_grads, 0.0, 2.0)
    updated = np.where((cases.zero == 2), np.minimum(weights, 2 * cases.trained / sharded), 0.0)
    # Offloaded shards come from the host's memory before they are gathered.
    brought = np.where(cases.offload & shards_weights, weights / cases.data, 0.0)
    fetched = gathers * brought / (constants.host_gb_s * 1e9)
    return Traffic(
        gather=round_of(gathers * weights + scatter * grads) + fetched,
        gradients=round_of(summed * grads + updated),
        tensor=_tensor(cases, place, link, network),
        pipeline=_pipeline(cases, place, link, network),
    )


def gradient_bytes(cases: Cases) -> Floats:
    """Bytes of a gradient as it is sent: 32 bits where trained weights are 32-bit alone."""
    full = np.where(cases.master & ~cases.master_copy, 4.0, 2.0)
    return np.where(cases.full, full, cases.adapter_bytes)


def weight_bytes(cases: Cases) -> Floats:
    """Bytes of all weights as they are gathered: 16 bits, or packed linear layers."""
    return np.asarray(cases.linear * cases.quant_bytes + 2.0 * cases.outer)


def _tensor(cases: Cases, place: Placement, link: Floats, network: Floats) -> Floats:
    """Sums of activations in every layer: two forward, two backward, two where it is computed again."""
    sums = np.where(cases.checkpointing, 6.0, 4.0) * cases.layers / cases.pipeline
    size = cases.micro_batch * cases.length * cases.hidden * 2.0
    share = sums * size * 2.0 * (cases.tensor - 1) / cases.tensor
    within = _over(np.where(place.tensor_in > 1, share, 0.0), link)
    between = _over(np.where(place.tensor_out > 1, share, 0.0), network)
    return np.maximum(within, between)


def _pipeline(cases: Cases, place: Placement, link: Floats, network: Floats) -> Floats:
    """Activations to the next stage and their gradients back."""
    size = np.where(cases.pipeline > 1, 2.0 * cases.micro_batch * cases.length * cases.hidden * 2.0, 0.0)
    crosses = place.stages_cross > 0
    # All data groups of a machine send at once through its network.
    between = _over(np.where(crosses, size * place.data_in, 0.0), network)
    return np.where(crosses, between, _over(np.where(crosses, 0.0, size), link))


def _over(size: Floats, rate: Floats) -> Floats:
    """Seconds of moving bytes at a rate: 0 for nothing, infinite without a link."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size > 0, size / rate, 0.0)


def by_name(names: Names, value: Callable[[str], float]) -> Floats:
    """A number for each name, asked once a name that occurs."""
    known, rows = np.unique(names, return_inverse=True)
    return np.array([value(str(name)) for name in known], dtype=np.float64)[rows]
