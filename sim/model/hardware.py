"""Cards, MIG slices and base models: facts of data sheets, each with its source."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from sim.model.base import Strict

__all__ = ["CardClass", "Gpu", "LanguageModel", "Link", "MigProfile"]

CardClass = Literal["h100", "a100", "older", "consumer"]
"""Failure class of a card: columns of the failure presets."""

Link = Literal["nvlink", "pcie4", "pcie3", "pcie5", "ib", "10gbe", "1gbe", "none"]
"""How cards talk: within a machine (`nvlink`, `pcie*`) or between machines (`ib`, `10gbe`, `1gbe`)."""


class Gpu(Strict):
    """One kind of card."""

    id: str
    name: str
    memory_gib: float = Field(gt=0)
    """Nominal memory, GiB; what a trace's `memory_gib` is held against."""
    usable_gib: float = Field(gt=0)
    """Memory that a program can have, GiB; what modelled jobs are held against."""
    bandwidth_gb_s: float = Field(gt=0)
    """Memory bandwidth, GB/s (1e9 bytes)."""
    tflops: float = Field(gt=0)
    """Dense 16-bit peak with 32-bit accumulation, TFLOP/s."""
    efficiency: float = Field(gt=0)
    """Share of the peak relative to an A100 (1.0), where the physics has no factor of its own."""
    bf16: bool
    ecc: bool
    mig: int = Field(ge=0)
    """Largest number of MIG instances; 0: no MIG."""
    tdp_w: float = Field(gt=0)
    pcie: Literal["pcie3", "pcie4", "pcie5"]
    pcie_lanes: Literal[8, 16] = 16
    """Lanes of its connector; 16 unless its data sheet has fewer."""
    card_class: CardClass
    source: str
    aliases: tuple[str, ...] = ()
    """Other names of the card: spellings of published tables, drivers and shops."""
    fp8_tflops: float | None = Field(default=None, gt=0)
    """Dense 8-bit floating point peak, TFLOP/s; None: no such arithmetic, or not known."""
    sm_count: int | None = Field(default=None, gt=0)
    """Streaming multiprocessors of the whole card (compute units of other vendors); None: not known."""


class MigProfile(Strict):
    """A MIG slice of a card, by the vendor's listing."""

    gpu: str
    profile: str
    memory_gib: float = Field(gt=0)
    sm_count: int = Field(gt=0)
    compute_slices: int = Field(ge=1, le=7)
    max_instances: int = Field(ge=1, le=7)
    source: str


class LanguageModel(Strict):
    """The architecture of a base model; memory and speed follow from it, never from "7B" alone."""

    id: str
    name: str
    layers: int = Field(gt=0)
    hidden: int = Field(gt=0)
    heads: int = Field(gt=0)
    kv_heads: int = Field(gt=0)
    head_dim: int = Field(gt=0)
    intermediate: int = Field(gt=0)
    """Width inside the feed-forward layer; with several experts the widths of all of them together."""
    ffn_matrices: int = Field(ge=2, le=3)
    vocab: int = Field(gt=0)
    """Vocabulary entries, padded as trained."""
    tied_embeddings: bool
    params: int = Field(gt=0)
    """All parameters."""
    params_linear: int = Field(gt=0)
    """Parameters of linear layers inside the blocks: the part that quantisation shrinks."""
    source: str
    aliases: tuple[str, ...] = ()
    """Other names: keys and model names of published tables, names of repositories."""
    experts: int = Field(default=1, gt=0)
    """Feed-forward experts of a layer, a count; 1: a dense model."""
    experts_per_token: int = Field(default=1, gt=0)
    """Experts that one token passes in a layer, a count."""

    @model_validator(mode="after")
    def _experts_fit(self) -> Self:
        if self.experts_per_token > self.experts:
            msg = "experts_per_token may not be above experts"
            raise ValueError(msg)
        if self.intermediate % self.experts:
            msg = "intermediate is the width of all experts together, a multiple of experts"
            raise ValueError(msg)
        return self

    @property
    def active_linear(self) -> int:
        """Linear parameters of the blocks that one token passes: all but those of the experts left out."""
        idle = self.intermediate // self.experts * (self.experts - self.experts_per_token)
        return self.params_linear - self.layers * self.ffn_matrices * self.hidden * idle
