"""The ways to divide a job over the cards of a layout, and those that cannot be, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass

from sim.physics.split import ONE_CARD, Layout, Split
from sim.physics.task import Task

__all__ = ["Impossible", "splits_of"]

_WIDEST_TENSOR = 8
"""Cards that share a matrix at most: wider, every layer waits for a network between machines."""


@dataclass(frozen=True, slots=True)
class Impossible:
    """A division that cannot be."""

    split: Split
    reason: str


def splits_of(task: Task, layout: Layout) -> tuple[tuple[Split, ...], tuple[Impossible, ...]]:
    """Divisions of a task over all cards of a layout, possible and not; the simplest come first.

    Data parallel and the ZeRO stages, tensor, pipeline, and their mixtures; the tensor dimension is a
    power of 2 up to 8. With adapters the stages 1 and 2 shard next to nothing and are left out.
    """
    cards = layout.gpus
    if cards == 1:
        return (ONE_CARD,), ()
    possible: list[Split] = []
    impossible: list[Impossible] = []
    for tensor in _powers(min(cards, _WIDEST_TENSOR)):
        for pipeline in _powers(cards // tensor):
            if cards % (tensor * pipeline):
                continue
            for split in _with_data(task, cards // (tensor * pipeline), tensor, pipeline):
                reason = _why_not(task, split) or _not_allowed(task, split)
                if reason:
                    impossible.append(Impossible(split, reason))
                else:
                    possible.append(split)
    return tuple(possible), tuple(impossible)


def _powers(limit: int) -> list[int]:
    return [1 << step for step in range(limit.bit_length()) if 1 << step <= limit]


def _with_data(task: Task, data: int, tensor: int, pipeline: int) -> list[Split]:
    if data == 1:
        return [Split(1, tensor, pipeline)]
    if tensor * pipeline > 1:
        # Mixed frameworks shard the optimiser over the data dimension and leave weights whole.
        return [Split(data, tensor, pipeline, 1 if task.method == "full" else 0)]
    stages = (0, 1, 2, 3) if task.method == "full" else (0, 3)
    return [Split(data, zero=stage) for stage in stages]


def _why_not(task: Task, split: Split) -> str:
    model = task.model
    if split.tensor > 1 and task.method in ("qlora4", "qlora8"):
        return "quantised matrices are not cut across cards by any common framework"
    if model.heads % split.tensor:
        return f"{model.heads} attention heads do not divide by {split.tensor}"
    if split.pipeline > model.layers:
        return f"{split.pipeline} stages, but the model has {model.layers} layers"
    return ""


def _not_allowed(task: Task, split: Split) -> str:
    """What the job says of its division."""
    group = split.tensor * split.pipeline
    allowed = {
        "auto": True,
        "data parallel": group == 1 and split.zero == 0,
        "zero": group == 1 and split.zero > 0,
        "zero or data": group == 1,
        "tensor": split.pipeline == 1 and split.tensor > 1,
        "pipeline": split.tensor == 1 and split.pipeline > 1,
    }
    return "" if allowed[task.split] else f"the job asks for {task.split}"
