"""The numbers that stand between allocated bytes and what a card must hold."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from sim.model.base import Strict

__all__ = ["MemoryConstants", "StackMemory"]


class StackMemory(Strict):
    """What a framework adds to the bytes that a step allocates."""

    state: float = Field(gt=0, le=100)
    """Factor on weights, gradients and optimiser state."""
    working: float = Field(gt=0, le=100)
    """Factor on activations, logits and gathered shards: the pool's fragmentation, kernels' workspace."""
    fixed_gib: float = Field(ge=0, le=1000)
    """GiB besides: the framework's own buffers."""
    quantised_gib: float = Field(default=0.5, ge=0, le=1000)
    """GiB more with a quantised base: workspace of its kernels and what loading leaves in the pool."""


class MemoryConstants(Strict):
    """Factors and GiB of the memory form; sources and errors stand in `constants.yaml`."""

    common: StackMemory
    """A framework that no published row is from."""
    stacks: Mapping[str, StackMemory] = {}
    """By framework, shrunk towards `common` in the fit."""
    context_gib: float = Field(ge=0, le=1000)
    """CUDA context and libraries: on the card, but not among allocated bytes."""
    link_gib: float = Field(ge=0)
    """Buffers of the collectives, for each dimension over which cards talk."""
    sharded_quantised_gib: float = Field(ge=0, le=1000)
    """More where FSDP shards a quantised base: layers gathered and unpacked beside each other."""
    quantised_output_bytes: float = Field(ge=0)
    """Bytes a token and output of a quantised layer that stay without checkpointing."""
    ragged: float = Field(ge=1)
    """Factor on `working` where samples of many lengths break up the pool."""
    ragged_slope: float = Field(ge=0)
    """Exponent by which that grows with the tokens of a micro-step over 2048."""
    allocated: StackMemory
    """What a framework reports as allocated, against the structure alone."""
    sharded_copy: Mapping[str, float] = {}
    """By framework: share of the whole 16-bit weights that stays on each card beside its shard."""
    deepspeed_bytes: float = Field(ge=0)
    """Bytes a trained parameter that DeepSpeed adds for its 32-bit gradients."""
    zero3_gib: float = Field(ge=0)
    """Buffers of DeepSpeed ZeRO-3, GiB; never more than `zero3_share` of the 16-bit weights."""
    zero3_share: float = Field(ge=0)
    extrapolated_reserve: float = Field(default=0.03, ge=0, lt=1)
    """Share of a card kept free in planning where memory is extrapolated."""

    def stack(self, name: str) -> StackMemory:
        """Of a framework by name; `common` where it is unknown."""
        return self.stacks.get(name, self.common)
