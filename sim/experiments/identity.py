"""What a question reads, whatever its files are called: the same question is known again by it."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

from sim.load import Question
from sim.load_checks import PERFORMANCES
from sim.model.scenario import Scenario

__all__ = ["CATALOG_FILE", "TRACE_FILE", "calibration", "portable", "question_digest", "read_beside"]

TRACE_FILE, CATALOG_FILE = "trace.csv", "catalog.yaml"


def portable(scenario: Scenario) -> Scenario:
    """The scenario with the files that it names beside it, wherever they came from."""
    if scenario.workload.trace is not None:
        trace = scenario.workload.trace.model_copy(update={"file": TRACE_FILE})
        workload = scenario.workload.model_copy(update={"trace": trace})
        scenario = scenario.model_copy(update={"workload": workload})
    if scenario.performance not in PERFORMANCES:
        name = f"calibration{Path(scenario.performance).suffix}"
        scenario = scenario.model_copy(update={"performance": name})
    if scenario.catalog is not None:
        scenario = scenario.model_copy(update={"catalog": CATALOG_FILE})
    return scenario


def calibration(question: Question) -> bytes | None:
    """What the calibration file says; None where a built-in performance profile is used."""
    if question.scenario.performance in PERFORMANCES:
        return None
    return Path(question.performance_source).read_bytes()


def read_beside(question: Question) -> tuple[object, ...]:
    """What stands in the files that the scenario names: recorded jobs, calibration, price list."""
    # Where a row stood in its file changes nothing.
    rows = [repr(dataclasses.replace(row, row=0, line=0)) for row in question.trace]
    return rows, calibration(question), repr(question.catalog)


def question_digest(question: Question) -> str:
    """Hexadecimal digits for the question but for its strategies and what its experiment says beside the
    seed, which studies replace: a study belongs to each question with the same ones."""
    plain = portable(question.scenario).model_dump_json(exclude={"strategies", "experiment"})
    read = plain, *read_beside(question), question.price, question.scenario.experiment.seed
    return hashlib.blake2b(repr(read).encode(), digest_size=8).hexdigest()
