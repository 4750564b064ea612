"""What is trained and on how many cards: the two things that memory and speed follow from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sim.catalog import Catalog
from sim.errors import InputError, Problem
from sim.model.contract import Offer
from sim.model.hardware import LanguageModel, Link
from sim.model.scenario import JobClass, Method

__all__ = [
    "DATA_PARALLEL",
    "ONE_CARD",
    "ZERO3",
    "Layout",
    "Split",
    "Task",
    "adapter_params",
    "joins_units",
    "task_of",
]

Split = Literal["one card", "data parallel", "zero-3"]
"""How a job is divided over its cards."""

ONE_CARD: Split = "one card"
DATA_PARALLEL: Split = "data parallel"
ZERO3: Split = "zero-3"


@dataclass(frozen=True, slots=True)
class Task:
    """A fine-tuning job without its data set: model, method and the shape of one micro-step."""

    model: LanguageModel
    method: Method
    rank: int
    micro_batch: int
    seq_len: int
    checkpointing: bool
    adapted: Literal["all", "attention", "qv"] = "all"
    """Layers with adapters; job classes adapt all linear layers."""

    @property
    def trained_params(self) -> float:
        """Parameters that are trained: all of them, or those of the adapters."""
        return float(self.model.params) if self.method == "full" else adapter_params(self)

    @property
    def outer_params(self) -> int:
        """Parameters of embeddings and head: what quantisation leaves as it is."""
        return self.model.params - self.model.params_linear

    @property
    def layer_params(self) -> float:
        """Linear parameters of one layer."""
        return self.model.params_linear / self.model.layers


def adapter_params(task: Task) -> float:
    """LoRA parameters: the sum of rank x (inputs + outputs) over the adapted linear layers."""
    model = task.model
    queries, values = model.heads * model.head_dim, model.kv_heads * model.head_dim
    both = (model.hidden + queries) + (model.hidden + values)
    shapes = {
        "qv": both,
        "attention": both + (model.hidden + values),
        "all": both
        + (model.hidden + values)
        + (queries + model.hidden)
        + model.ffn_matrices * (model.hidden + model.intermediate),
    }
    return float(task.rank * model.layers * shapes[task.adapted])


def task_of(job_class: JobClass, catalog: Catalog) -> Task:
    """The task of a job class. Raises InputError with the known names for an unknown base model."""
    if job_class.model not in catalog.models:
        rule = "model is a base model of the catalogue"
        known = tuple(catalog.models)
        raise InputError(Problem(rule, key=f"{job_class.name}.model", value=job_class.model, known=known))
    return Task(
        model=catalog.models[job_class.model],
        method=job_class.method,
        rank=job_class.rank,
        micro_batch=job_class.micro_batch,
        seq_len=job_class.seq_len,
        checkpointing=job_class.checkpointing,
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the cards of a job stand: `machines` machines with `per_machine` cards each."""

    machines: int
    per_machine: int
    link: Link = "none"
    """Between the cards of one machine."""
    network: Link = "none"
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
    """Whether one job may use cards of several units of the offer: never of cards by the hour."""
    return offer.form not in ("mig", "public") and offer.network != "none"
