"""The job that `fleetsim fit` is asked about: from options, or a class of a scenario."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from sim.catalog import Catalog
from sim.cli.options import first_given, option_name
from sim.errors import InputError, Problem
from sim.model.scenario import JobClass
from sim.physics.quantities import mean_of
from sim.report.fit_answers import job_of

__all__ = ["class_of", "job_of_options", "refuse_mixture"]

JOB_OPTIONS = (
    "method",
    "rank",
    "targets",
    "quantisation",
    "optimizer",
    "checkpointing",
    "attention",
    "loss",
    "split",
    "micro_batch",
    "seq_len",
    "mean_tokens",
    "packed",
    "samples",
    "epochs",
    "gpus",
)
"""Options that describe the job, which a scenario describes by itself."""

_LARGEST = {"micro_batch": 10**6, "seq_len": 10**9, "samples": 1e15, "epochs": 1e6}
"""Above these no job is meant in earnest, and products would leave what a float holds."""

_MOST_CARDS = 10**6


def refuse_mixture(context: typer.Context, scenario: Path | None, changes: Sequence[str] | None) -> None:
    """InputError where a job is described by options and by a scenario at once: nobody could check which
    of the two counts."""
    given = context.params
    name = None if scenario is None else first_given(context, JOB_OPTIONS)
    if name is not None:
        rule = f"the job stands in the scenario: change it there, or by --set workload.classes.0.{name}="
        raise InputError(Problem(rule, key=option_name(name), value=given[name]))
    if scenario is None and changes:
        raise InputError(Problem("--set changes a key of a --scenario", key="--set", value=changes[0]))
    model, class_ = given["model"], given["class_"]
    if scenario is not None and model is not None:
        raise InputError(Problem("give either --model or --scenario, not both", key="--model", value=model))
    if scenario is None and class_ is not None:
        raise InputError(Problem("--class names a class of a --scenario", key="--class", value=class_))


def job_of_options(options: Mapping[str, Any], catalog: Catalog) -> JobClass:
    """The job that options describe, `gpus` as the text of `--gpus`.

    InputError as for a scenario file, with the option's name.
    """
    counted = {**options, "gpus": _counts(options["gpus"])}
    if options["model"] not in catalog.models:
        return job_of(counted, catalog)  # which refuses it with the known names
    for name in ("samples", "epochs"):
        if not 0 < options[name] < math.inf:
            raise InputError(Problem("must be a number above 0", key=f"--{name}", value=options[name]))
    for name in ("micro_batch", "seq_len"):
        if options[name] > _LARGEST[name]:
            raise InputError(Problem(_at_most(name), key=option_name(name), value=options[name]))
    job = job_of(counted, catalog)
    problems = [Problem(rule, key=option_name(name), value=value) for name, rule, value in _too_large(job)]
    if problems:
        raise InputError(problems)
    return job


def class_of(classes: Sequence[JobClass], name: str | None, file: Path) -> JobClass:
    """The class of this name (None: the first) of the scenario in `file`; InputError where there is none,
    and for one whose numbers are too large."""
    known = tuple(job_class.name for job_class in classes)
    if not known:
        raise InputError(Problem("this scenario has no job classes, only recorded jobs", file=str(file)))
    if name is not None and name not in known:
        rule = "the scenario has no class of this name"
        raise InputError(Problem(rule, str(file), key="--class", value=name, known=known))
    job = classes[0 if name is None else known.index(name)]
    problems = [
        Problem(rule, str(file), key=f"{job.name}.{key}", value=value) for key, rule, value in _too_large(job)
    ]
    if problems:
        raise InputError(problems)
    return job


def _too_large(job: JobClass) -> Iterator[tuple[str, str, float]]:
    """Key, rule and value of each number that no arithmetic is made for."""
    sizes = {
        "micro_batch": job.micro_batch,
        "seq_len": job.seq_len,
        "samples": mean_of(job.samples),
        "epochs": mean_of(job.epochs),
    }
    for name, value in sizes.items():
        if value > _LARGEST[name]:
            yield name, _at_most(name), value
    for count in job.counts:
        if count > _MOST_CARDS:
            yield "gpus", f"must be at most {_MOST_CARDS:,} cards", count


def _at_most(name: str) -> str:
    return f"must be at most {_LARGEST[name]:,.0f}"


def _counts(text: str) -> str | list[int]:
    """`auto`, or the numbers of cards; InputError for anything else."""
    if text == "auto":
        return text
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = [0]
    if min(counts) < 1:
        rule = "cards are auto, a number of at least 1, or such numbers with commas, such as 1,2,4,8"
        raise InputError(Problem(rule, key="--gpus", value=text))
    return counts
