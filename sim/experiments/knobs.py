"""Turning one number of a question, for searches and sensitivity: demand, speed, failures, prices.

Each function gives the question as it would be; nothing is changed in place.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TypeVar

from sim.load import Question
from sim.model.timed import TimedClass
from sim.model.work import JobClass, Workload

__all__ = ["with_demand", "with_workload"]

Arriving = TypeVar("Arriving", JobClass, TimedClass)


def with_demand(question: Question, factor: float) -> Question:
    """The question with so many times the jobs: rates of classes, and the scale of a trace.

    Campaigns (batches at stated times) are events of their own and stay as they are.
    """
    workload = question.scenario.workload
    changes: dict[str, object] = {
        "classes": tuple(_faster(one, factor) for one in workload.classes),
        "timed": tuple(_faster(one, factor) for one in workload.timed),
    }
    if workload.trace is not None:
        changes["trace"] = workload.trace.model_copy(update={"scale": workload.trace.scale * factor})
    return with_workload(question, workload.model_copy(update=changes))


def with_workload(question: Question, workload: Workload) -> Question:
    """The question with another workload."""
    scenario = question.scenario.model_copy(update={"workload": workload})
    return dataclasses.replace(question, scenario=scenario)


def _faster(one: Arriving, factor: float) -> Arriving:
    return one if one.rate is None else one.model_copy(update={"rate": _rate(one.rate, factor)})


def _rate(text: str, factor: float) -> str:
    """`6/day` times 1.5 is `9/day`."""
    number, unit = re.split(r"\s*/\s*", text.strip(), maxsplit=1)
    return f"{float(number) * factor:.12g}/{unit}"
