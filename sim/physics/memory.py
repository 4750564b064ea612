"""What a card must hold at the peak: allocated bytes by part, and what the framework adds to them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from sim.physics.allocated import AllocatedParts, allocated
from sim.physics.cases import Cases, Flags, Floats, Names
from sim.physics.memory_constants import MemoryConstants, StackMemory
from sim.units import GIB

__all__ = ["CardMemory", "MemoryParts", "card_memory", "stack_columns"]

_RAGGED_FROM = 2048.0
"""Tokens of a micro-step from which samples of many lengths break up the pool more and more."""


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """The parts of one card's peak memory, GiB each."""

    weights: float
    """Base model, this card's share of it."""
    quantisation: float
    """Embeddings, head and residual stream kept in 32 bits beside a quantised base."""
    adapters: float
    gradients: float
    optimizer: float
    """Master weights and the optimiser's moments."""
    activations: float
    """Kept for the backward pass."""
    recomputed: float
    """The layer at work: computed again or differentiated."""
    logits: float
    """Output over the vocabulary and its gradient: often the peak."""
    gathered: float
    """Layers gathered and buffers held when the model is divided over cards."""
    fragmentation: float
    """What the allocator's pool and the kernels hold above the bytes allocated."""
    context: float
    """CUDA context, libraries and the framework's fixed buffers."""

    @property
    def total_gib(self) -> float:
        """Sum of the parts, GiB."""
        return float(sum(getattr(self, part.name) for part in fields(self)))


@dataclass(frozen=True, slots=True)
class CardMemory:
    """The parts of each case, GiB; columns of shape (n,)."""

    allocated: AllocatedParts
    buffers: Floats
    """Of DeepSpeed, and whole weights left beside a shard."""
    fragmentation: Floats
    context: Floats

    @property
    def total(self) -> Floats:
        """Sum of the parts, GiB."""
        return np.asarray(self.allocated.total + self.buffers + self.fragmentation + self.context)

    def parts(self, row: int) -> MemoryParts:
        """The parts of one case."""
        own = self.allocated
        return MemoryParts(
            weights=float(own.weights[row]),
            quantisation=float(own.quantisation[row]),
            adapters=float(own.adapters[row]),
            gradients=float(own.gradients[row]),
            optimizer=float(own.optimizer[row]),
            activations=float(own.activations[row]),
            recomputed=float(own.recomputed[row]),
            logits=float(own.logits[row]),
            gathered=float(own.gathered[row] + self.buffers[row]),
            fragmentation=float(self.fragmentation[row]),
            context=float(self.context[row]),
        )


def card_memory(
    cases: Cases,
    constants: MemoryConstants,
    *,
    reported: Flags | None = None,
    traced: Flags | None = None,
) -> CardMemory:
    """Peak memory of each case, GiB a card, with samples that fill `seq_len`.

    What the card must hold; for rows of `reported` what the framework would report as allocated, for
    rows of `traced` the tensors alone. Source: structure of traced models, factors fitted to published
    peaks (`constants.yaml`).
    """
    own = allocated(cases)
    none = np.zeros(len(cases), dtype=bool)
    exact = none if traced is None else traced
    as_reported = none if reported is None else reported
    state, working, fixed, more = stack_columns(cases.stack, constants)
    ragged = np.maximum(1.0, cases.tokens / _RAGGED_FROM) ** constants.ragged_slope
    fixed = fixed + constants.context_gib + np.where(cases.bits < 16, more, 0.0)
    apart = (cases.bits < 16) & (cases.zero == 3) & (cases.data > 1) & ~cases.deepspeed
    fixed = fixed + np.where(apart, constants.sharded_quantised_gib, 0.0)
    talking = 1.0 * (cases.data > 1) + (cases.tensor > 1) + ((cases.pipeline > 1) & ~cases.naive)
    fixed = fixed + constants.link_gib * talking
    listed = constants.allocated
    state = np.where(exact, 1.0, np.where(as_reported, listed.state, state))
    working = np.where(exact, 1.0, np.where(as_reported, listed.working, working))
    fixed = np.where(exact, 0.0, np.where(as_reported, listed.fixed_gib, fixed))
    lasting = own.weights + own.quantisation + own.adapters + own.gradients + own.optimizer
    passing = own.activations + own.recomputed + own.logits + own.gathered
    passing = passing + np.where(exact, 0.0, _outputs(cases, constants))
    loose = (state - 1.0) * lasting + working * passing - (own.total - lasting)
    buffers = np.where(exact, 0.0, _deepspeed(cases, constants) + _copies(cases, constants))
    # A pool broken up by many lengths fills the card, and gives back what it does not need.
    wanted = working * passing * np.where(cases.ragged & ~exact, constants.ragged * ragged - 1.0, 0.0)
    room = cases.usable_gib - (own.total + loose + fixed + buffers)
    loose = loose + np.minimum(wanted, np.where(np.isnan(room), np.inf, np.maximum(room, 0.0)))
    return CardMemory(own, buffers, loose, fixed)


def _outputs(cases: Cases, constants: MemoryConstants) -> Floats:
    """GiB of the results of quantised layers that stay where nothing is computed again."""
    wide = cases.heads * cases.head_dim + 2 * cases.kv + 2 * cases.hidden
    wide = wide + (cases.ffn_matrices - 1) * cases.intermediate
    kept = constants.quantised_output_bytes * wide * cases.tokens * cases.layers / GIB
    kept = kept / (cases.tensor * cases.pipeline)
    return np.where((cases.bits < 16) & ~cases.checkpointing, kept, 0.0)


def stack_columns(names: Names, constants: MemoryConstants) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each framework: factors on state and working memory, fixed GiB, GiB more with a quantised base."""
    found, where = np.unique(names, return_inverse=True)
    stacks: list[StackMemory] = [constants.stack(str(name)) for name in found]
    rows = [(stack.state, stack.working, stack.fixed_gib, stack.quantised_gib) for stack in stacks]
    state, working, fixed, quantised = np.array(rows, dtype=float).reshape(-1, 4).T[:, where]
    return state, working, fixed, quantised


def _deepspeed(cases: Cases, constants: MemoryConstants) -> Floats:
    """GiB of DeepSpeed's buffers: 32-bit gradients of its shard, and those of its stage 3."""
    shards = np.where(cases.zero >= 2, cases.data, 1.0) * cases.tensor * cases.pipeline
    gradients = constants.deepspeed_bytes * cases.trained / shards / GIB
    whole = 2.0 * cases.params / (cases.tensor * cases.pipeline) / GIB
    buffers = np.minimum(constants.zero3_gib, constants.zero3_share * whole)
    found = gradients + np.where(cases.zero == 3, buffers, 0.0)
    return np.where(cases.deepspeed, found, 0.0)


def _copies(cases: Cases, constants: MemoryConstants) -> Floats:
    """GiB of whole weights that a framework leaves on each card beside its shard."""
    found, where = np.unique(cases.stack, return_inverse=True)
    shares = np.array([constants.sharded_copy.get(str(name), 0.0) for name in found])[where]
    sharded = (cases.zero == 3) & (cases.data > 1)
    return np.where(sharded, shares * 2.0 * cases.params / GIB, 0.0)
