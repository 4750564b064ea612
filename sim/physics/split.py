"""How a job is divided over its cards, and where those cards stand."""

from __future__ import annotations

from dataclasses import dataclass

from sim.model.contract import Offer

__all__ = ["DATA_PARALLEL", "ONE_CARD", "ZERO3", "Layout", "Split", "joins_units"]


@dataclass(frozen=True, slots=True)
class Split:
    """A job over `cards` = data x tensor x pipeline cards."""

    data: int = 1
    """Groups that work on other samples."""
    tensor: int = 1
    """Cards that share every matrix."""
    pipeline: int = 1
    """Groups of layers one behind the other."""
    zero: int = 0
    """ZeRO stage over the data dimension: 1 shards the optimiser, 2 gradients too, 3 (FSDP) weights too."""
    naive: bool = False
    """A pipeline without micro-batches in flight: one group of layers works at a time."""
    offload: bool = False
    """Sharded state (and weights, in stage 3) kept in host memory."""

    @property
    def cards(self) -> int:
        """Cards in all."""
        return self.data * self.tensor * self.pipeline

    @property
    def name(self) -> str:
        """`one card`, `data parallel`, `zero-3`, or the dimensions, as `tensor 4 x pipeline 2 x data 2`."""
        kind = f"zero-{self.zero}" if self.zero else "data parallel"
        if self.tensor == self.pipeline == 1:
            return "one card" if self.cards == 1 else kind
        parts = []
        if self.tensor > 1:
            parts.append(f"tensor {self.tensor}")
        if self.pipeline > 1:
            parts.append(f"{'layer split' if self.naive else 'pipeline'} {self.pipeline}")
        if self.data > 1:
            parts.append(f"{kind} {self.data}")
        return " x ".join(parts)


ONE_CARD = Split()
"""No division."""


def DATA_PARALLEL(cards: int) -> Split:  # noqa: N802 - reads as the kind it makes
    """The same model on each card."""
    return Split(data=cards)


def ZERO3(cards: int) -> Split:  # noqa: N802
    """Everything sharded over the cards: DeepSpeed ZeRO-3, or FSDP."""
    return Split(data=cards, zero=3)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the cards of a job stand: `machines` machines with `per_machine` cards each."""

    machines: int
    per_machine: int
    link: str = "none"
    """Between the cards of one machine."""
    network: str = "none"
    """Between machines."""

    @property
    def gpus(self) -> int:
        """Cards in all."""
        return self.machines * self.per_machine

    @classmethod
    def on(cls, offer: Offer, gpus: int, spans: bool) -> Layout | None:
        """Cards of an offer: in one machine, or over several; None where that cannot be.

        Over several machines the job may hold any free cards, so the slowest case is taken: as
        many machines as there are cards, unless it fills whole machines.
        """
        if not spans:
            together = gpus == 1 or (gpus <= offer.gpus_per_unit and offer.link != "none")
            return cls(1, gpus, offer.link, offer.network) if together else None
        if gpus < 2 or not joins_units(offer):
            return None
        machines, rest = divmod(gpus, offer.gpus_per_unit)
        if rest or machines < 2:
            return cls(gpus, 1, "none", offer.network)
        return cls(machines, offer.gpus_per_unit, offer.link, offer.network)


def joins_units(offer: Offer) -> bool:
    """Whether one job may use cards of several units of the offer, over its network."""
    return offer.one_site and offer.network != "none"
