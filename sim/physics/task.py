"""What is trained and on how many cards: the two things that memory and speed follow from."""

from __future__ import annotations

from dataclasses import dataclass, field

from sim.catalog import Catalog
from sim.errors import InputError, Problem
from sim.model.hardware import LanguageModel
from sim.model.work import JobClass, Method, SplitKind
from sim.physics.recipe import TARGETS, Recipe

__all__ = ["Task", "adapter_params", "adapter_sides", "task_of"]


@dataclass(frozen=True, slots=True)
class Task:
    """A fine-tuning job without its data set: model, method and the shape of one micro-step."""

    model: LanguageModel
    method: Method
    rank: int
    micro_batch: int
    seq_len: int
    checkpointing: bool
    recipe: Recipe = field(default_factory=Recipe)
    """How the training code goes about it."""
    split: SplitKind = "auto"
    """How it may be divided over cards."""


def adapter_params(task: Task) -> float:
    """LoRA parameters: the sum of rank x (inputs + outputs) over the adapted linear layers."""
    return task.rank * adapter_sides(task)


def adapter_sides(task: Task) -> float:
    """Sum of inputs and outputs over the adapted linear layers of all blocks; of every expert."""
    model = task.model
    hidden, each = model.hidden * model.experts, model.intermediate
    queries, values = model.heads * model.head_dim, model.kv_heads * model.head_dim
    sides = {
        "q": model.hidden + queries,
        "k": model.hidden + values,
        "v": model.hidden + values,
        "o": queries + model.hidden,
        "gate": hidden + each if model.ffn_matrices == 3 else 0,
        "up": hidden + each,
        "down": hidden + each,
    }
    return float(model.layers * sum(sides[name] for name in task.recipe.targets))


def task_of(job_class: JobClass, catalog: Catalog) -> Task:
    """The task of a job class. Raises InputError for an unknown base model or too large a rank."""
    if job_class.model not in catalog.models:
        rule = "model is a base model of the catalogue"
        known = tuple(catalog.models)
        raise InputError(Problem(rule, key=f"{job_class.name}.model", value=job_class.model, known=known))
    hidden = catalog.models[job_class.model].hidden
    if job_class.method != "full" and job_class.rank > hidden:
        rule = f"rank is at most the hidden size of {job_class.model}, {hidden}"
        raise InputError(Problem(rule, key=f"{job_class.name}.rank", value=str(job_class.rank)))
    return Task(
        model=catalog.models[job_class.model],
        method=job_class.method,
        rank=job_class.rank,
        micro_batch=job_class.micro_batch,
        seq_len=job_class.seq_len,
        checkpointing=job_class.checkpointing,
        recipe=Recipe(
            targets=TARGETS[job_class.targets],
            attention=job_class.attention,
            loss=job_class.loss,
            optimizer=job_class.optimizer,
            quantisation=job_class.quantisation or "",
            master=job_class.precision == "mixed",
            master_copy=job_class.precision == "mixed",
            master_if_sharded=job_class.precision == "auto",
            accumulation=float(job_class.accumulation),
        ),
        split=job_class.split,
    )
