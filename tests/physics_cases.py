"""Job classes and tasks for the tests of the physics."""

from __future__ import annotations

from typing import Any

from sim.catalog import load_catalog
from sim.model.scenario import JobClass
from sim.physics.task import Task, task_of


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
    return task_of(job(model, method, **changes), load_catalog())
