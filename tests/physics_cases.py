"""Job classes, tasks and single cases for the tests of the physics."""

from __future__ import annotations

import functools
from typing import Any

from sim.catalog import Catalog, load_catalog
from sim.model.scenario import JobClass
from sim.physics import FitRow, fit_job
from sim.physics.cases import Case, Cases, cases_of
from sim.physics.constants import load_constants
from sim.physics.memory import MemoryParts, card_memory
from sim.physics.split import ONE_CARD, Layout, Split
from sim.physics.task import Task, task_of
from sim.physics.throughput import step_time


@functools.cache
def catalog() -> Catalog:
    """The shipped catalogue, read once."""
    return load_catalog()


def job(model: str = "llama-2-7b", method: str = "lora", **changes: Any) -> JobClass:
    """A class of 100,000 samples, three epochs: the data set of the source articles."""
    fields = {
        "name": "case",
        "model": model,
        "method": method,
        "samples": 100_000.0,
        "epochs": 3.0,
        "rate": "1/day",
    }
    return JobClass.model_validate({**fields, **changes})


def task(model: str = "llama-2-7b", method: str = "lora", **changes: Any) -> Task:
    """The task of such a class."""
    return task_of(job(model, method, **changes), catalog())


def together(split: Split, link: str = "nvlink") -> Layout:
    """The cards of a split in machines of eight."""
    return Layout(-(-split.cards // 8), min(split.cards, 8), link, "ib")


def case(
    model: str = "llama-2-7b",
    method: str = "lora",
    split: Split = ONE_CARD,
    gpu: str = "A100-80G",
    layout: Layout | None = None,
    **changes: Any,
) -> Case:
    """One job on the cards of a split, in machines of eight with NVLink unless a layout is given."""
    return Case(task(model, method, **changes), split, layout or together(split), catalog().gpus[gpu])


def columns(*cases: Case) -> Cases:
    """The table of some cases."""
    return cases_of(cases)


def parts(
    model: str = "llama-2-7b", method: str = "lora", *, traced: bool = False, **changes: Any
) -> MemoryParts:
    """Peak of one card by part; `traced`: of the tensors alone."""
    table = columns(case(model, method, **changes))
    exact = table.layers > 0 if traced else None
    return card_memory(table, load_constants().memory, traced=exact).parts(0)


def total(model: str = "llama-2-7b", method: str = "lora", **changes: Any) -> float:
    """Peak of one card, GiB."""
    return parts(model, method, **changes).total_gib


def speed(*cases: Case) -> list[float]:
    """Tokens a second of all cards of each case."""
    return [float(value) for value in step_time(columns(*cases), load_constants().speed).tokens_per_s]


def row(offer: str, model: str = "llama-2-7b", method: str = "lora", **changes: Any) -> FitRow:
    """The first row of an offer: one card, or the cards asked for, in one machine where they can."""
    found = fit_job(job(model, method, **{"gpus": 1, **changes}), [catalog().offers[offer]], catalog())
    return found[0]
