"""Peak memory of one card, part by part: weights, training state, activations, logits, overhead."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sim.physics.constants import MemoryConstants
from sim.physics.task import DATA_PARALLEL, ZERO3, Split, Task
from sim.units import GIB

__all__ = ["MemoryParts", "peak_memory"]


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """The parts of a card's peak memory, GiB each."""

    weights: float
    """Base model, this card's share of it."""
    quantisation: float
    """Embeddings and head kept in 32 bits beside a quantised base."""
    optimizer: float
    """Trained adapters or master weights, and the optimiser's moments."""
    gradients: float
    activations: float
    """Layer inputs kept for the backward pass, and the layer at work."""
    logits: float
    """Output over the vocabulary and its gradient: often the peak."""
    sharding: float
    """Layers gathered and buffers held when the model is divided over cards."""
    overhead: float
    """CUDA context and workspace."""

    @property
    def total_gib(self) -> float:
        """Sum of the parts, GiB."""
        return float(sum(getattr(self, part.name) for part in fields(self)))


def peak_memory(
    task: Task, split: Split, gpus: int, constants: MemoryConstants, *, allocated: bool = False
) -> MemoryParts:
    """Peak memory of each of `gpus` cards, GiB, with samples that fill `seq_len`.

    `allocated` asks for what the framework allocates instead of what the card must hold.
    Source: form and constants fitted to published peaks, `constants.yaml`.
    """
    shards = gpus if split == ZERO3 else 1
    weights, quantisation = _weights(task, constants)
    optimizer, gradients = _state(task, split, constants)
    activations, logits = _activations(task, constants)
    # Sources that give allocated memory see no fragmentation of the reserved pool.
    factor = 1.0 if allocated else constants.fragmentation
    return MemoryParts(
        weights=weights / shards / GIB,
        quantisation=quantisation / shards / GIB,
        optimizer=optimizer / shards / GIB,
        gradients=gradients / shards / GIB,
        activations=factor * activations / GIB,
        logits=factor * logits / GIB,
        sharding=_sharding(task, split, gpus, constants) / GIB,
        overhead=constants.overhead_allocated_gib if allocated else constants.overhead_gib,
    )


def _weights(task: Task, constants: MemoryConstants) -> tuple[float, float]:
    """Bytes of the base at 16 bits or quantised, and what k-bit preparation adds to the rest."""
    model = task.model
    if task.method in ("full", "lora"):
        return constants.weight_bytes * model.params, 0.0
    linear = constants.nf4_bytes if task.method == "qlora4" else constants.int8_bytes
    base = linear * model.params_linear + constants.weight_bytes * task.outer_params
    return base, (constants.kbit_embedding_bytes - constants.weight_bytes) * task.outer_params


def _state(task: Task, split: Split, constants: MemoryConstants) -> tuple[float, float]:
    """Bytes of trained copies with their moments, and of gradients."""
    trained = task.trained_params
    if task.method == "full":
        whole = constants.full_zero_bytes if split == ZERO3 else constants.full_bytes
        gradients = constants.gradient_bytes * trained
        state = (whole - constants.weight_bytes) * trained - gradients
    else:
        gradients = constants.adapter_gradient_bytes * trained
        state = constants.adapter_bytes * trained - gradients
    # Data parallel keeps a second copy of the gradients in the buckets that it sums over cards.
    return state, gradients * (2.0 if split == DATA_PARALLEL else 1.0)


def _activations(task: Task, constants: MemoryConstants) -> tuple[float, float]:
    """Bytes of layer activations and of logits at the moment of the peak."""
    model, tokens = task.model, task.micro_batch * task.seq_len
    ffn = constants.activation_ffn if model.ffn_matrices == 3 else constants.activation_ffn2
    layer = constants.activation_hidden * model.hidden + ffn * model.intermediate
    if task.method != "full":
        share = 1.0 if task.adapted == "all" else 0.5
        layer += share * (
            constants.adapter_hidden * model.hidden + constants.adapter_ffn * model.intermediate
        )
    logits = tokens * constants.logits_bytes * model.vocab
    if not task.checkpointing:
        return constants.stored_share * layer * tokens * model.layers, logits
    kept = constants.boundary_bytes * model.hidden * model.layers * tokens
    working = constants.recomputed_share * layer * tokens
    # The logits are gone before the first layer is computed again: the larger of the two counts.
    return (kept, logits) if logits >= working else (kept + working, 0.0)


def _sharding(task: Task, split: Split, gpus: int, constants: MemoryConstants) -> float:
    """Bytes of the layers gathered ahead, the gathered embeddings and the buffers of ZeRO-3."""
    if split != ZERO3 or gpus < 2:
        return 0.0
    weights, quantisation = _weights(task, constants)
    outer = constants.weight_bytes * task.outer_params + quantisation
    linear = weights - constants.weight_bytes * task.outer_params
    gathered = constants.gathered_layers * linear / task.model.layers
    return (1 - 1 / gpus) * (gathered + outer) + constants.zero_buffers_gib * GIB
