"""`fleetsim fit`: does this job fit, how fast is it, and what does a run cost, on each offer?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.catalog import Catalog, load_catalog
from sim.cli.console import print_json
from sim.cli.fit_both import print_both
from sim.cli.fit_text import print_answers
from sim.cli.options import (
    CatalogOption,
    FormatOption,
    OutputFormat,
    PriceOption,
    SetOption,
    read_question,
    refuse_catalog,
)
from sim.errors import InputError, Problem
from sim.model.contract import PriceChoice
from sim.model.scenario import JobClass
from sim.physics.quantities import mean_of
from sim.report.fit_answers import fit_answers, job_of

__all__ = ["fit"]


class Method(StrEnum):
    """Ways to fine-tune."""

    FULL = "full"
    LORA = "lora"
    QLORA4 = "qlora4"
    QLORA8 = "qlora8"


class Targets(StrEnum):
    """Linear layers with adapters."""

    ALL = "all-linear"
    ATTENTION = "attention"
    QKVO = "qkvo"
    QV = "qv"
    MLP = "mlp"


class Attention(StrEnum):
    """Attention kernels."""

    FLASH = "flash"
    EAGER = "eager"


class Loss(StrEnum):
    """Loss kernels."""

    STANDARD = "standard"
    UPCAST = "upcast"
    PLAIN = "plain"
    CHUNKED = "chunked"
    FUSED = "fused"


class PlanName(StrEnum):
    """Contracts by whose price an hour is reckoned."""

    HOURLY = "hourly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    ANNUAL = "annual"


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


def fit(
    context: typer.Context,
    model: Annotated[str | None, typer.Option(metavar="ID", help="Base model of the catalogue.")] = None,
    method: Annotated[
        Method, typer.Option(help="Full fine-tuning, LoRA, or LoRA on a 4- or 8-bit base.")
    ] = Method.LORA,
    rank: Annotated[int, typer.Option(help="LoRA rank.")] = 16,
    targets: Annotated[Targets, typer.Option(help="Linear layers with adapters.")] = Targets.ALL,
    quantisation: Annotated[
        str | None,
        typer.Option(
            help="Format of a 4- or 8-bit base: nf4, nf4dq (default), gptq4, int8 (default), gptq8."
        ),
    ] = None,
    optimizer: Annotated[
        str, typer.Option(help="adamw, adamw_8bit, paged_adamw, paged_adamw_8bit, adafactor, lion, sgd.")
    ] = "adamw",
    checkpointing: Annotated[
        bool, typer.Option("--checkpointing/--no-checkpointing", help="Gradient checkpointing.")
    ] = True,
    attention: Annotated[Attention, typer.Option(help="Attention kernel.")] = Attention.FLASH,
    loss: Annotated[
        Loss, typer.Option(help="Loss kernel: logits copied to 32 bits, or a fused, chunked one.")
    ] = Loss.STANDARD,
    split: Annotated[
        str,
        typer.Option(help="How to divide it: auto, data parallel, zero, zero or data, tensor, pipeline."),
    ] = "auto",
    micro_batch: Annotated[int, typer.Option(help="Samples per card and step.")] = 1,
    seq_len: Annotated[int, typer.Option(help="Longest sample, tokens; memory is checked at it.")] = 2048,
    mean_tokens: Annotated[
        float | None, typer.Option(help="Mean sample before padding, tokens; default: all samples are full.")
    ] = None,
    packed: Annotated[
        bool, typer.Option("--packed", help="Samples are packed, so that nothing is padded.")
    ] = False,
    samples: Annotated[float, typer.Option(help="Samples in the data set.")] = 50_000,
    epochs: Annotated[float, typer.Option(help="Passes over the data set.")] = 3,
    gpus: Annotated[
        str, typer.Option(metavar="N[,N...]", help="Cards: auto (the fewest that fit) or numbers.")
    ] = "auto",
    scenario: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take the job from this scenario instead.")
    ] = None,
    class_: Annotated[
        str | None,
        typer.Option("--class", metavar="NAME", help="Class of that scenario; default: the first."),
    ] = None,
    set_: SetOption = None,
    performance: Annotated[
        str | None,
        typer.Option(help="measured, or vendor (the articles' own hours); default: the scenario's."),
    ] = None,
    both: Annotated[
        bool, typer.Option("--both", help="Show the measured profile and the articles' figures side by side.")
    ] = False,
    plan: Annotated[
        PlanName | None, typer.Option(help="Contract for the price of an hour; default: the list price.")
    ] = None,
    price: PriceOption = None,
    own: CatalogOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Say for each offer of the catalogue whether a job fits, how fast it is and what a run costs.

    Memory is checked on every card by itself: cards never pool it unless the job is split over them.
    """
    _one_source(context, model, scenario, class_, set_)
    refuse_catalog(own, scenario)
    profile = performance
    if scenario is not None:
        question = read_question(scenario, set_, price)
        job, catalog = _class_of(question.scenario.workload.classes, class_, scenario), question.catalog
        profile = question.performance_source if performance is None else performance
    else:
        catalog = load_catalog(own)
        options = {
            "model": model,
            "method": method.value,
            "rank": rank,
            "targets": targets.value,
            "quantisation": quantisation,
            "optimizer": optimizer,
            "checkpointing": checkpointing,
            "attention": attention.value,
            "loss": loss.value,
            "split": split,
            "packed": packed,
            "micro_batch": micro_batch,
            "seq_len": seq_len,
            "mean_tokens": mean_tokens,
            "samples": samples,
            "epochs": epochs,
            "gpus": _counts(gpus),
        }
        job = _job(options, catalog)
    _ordinary(job, scenario)
    ours = "measured" if profile is None or (both and profile == "vendor") else profile
    asked = {"measured": ours, "vendor": "vendor"} if both else {ours: ours}
    level: PriceChoice | None = None if price is None else price.value
    contract = None if plan is None else plan.value
    found = {name: fit_answers(job, catalog, source, level, contract) for name, source in asked.items()}
    if format_ is OutputFormat.JSON:
        offers = {name: [answer.to_json() for answer in answers] for name, answers in found.items()}
        shown = offers if both else offers[ours]
        names = " and ".join(asked.values())
        print_json({"job": job.model_dump(mode="json"), "performance": names, "offers": shown})
    elif both:
        print_both(job, found["measured"], found["vendor"])
    else:
        print_answers(job, found[ours])


def _one_source(
    context: typer.Context,
    model: str | None,
    scenario: Path | None,
    class_: str | None,
    changes: list[str] | None,
) -> None:
    """A job comes from options or from a scenario, never from a mixture that nobody can check."""
    for name in JOB_OPTIONS if scenario is not None else ():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            rule = f"the job stands in the scenario: change it there, or by --set workload.classes.0.{name}="
            raise InputError(Problem(rule, key=f"--{name.replace('_', '-')}", value=context.params[name]))
    if scenario is None and changes:
        raise InputError(Problem("--set changes a key of a --scenario", key="--set", value=changes[0]))
    if scenario is not None and model is not None:
        raise InputError(Problem("give either --model or --scenario, not both", key="--model", value=model))
    if scenario is None and class_ is not None:
        raise InputError(Problem("--class names a class of a --scenario", key="--class", value=class_))


def _job(options: dict[str, Any], catalog: Catalog) -> JobClass:
    """The job that the options describe; InputError as for a scenario file, with the option's name."""
    if options["model"] not in catalog.models:
        return job_of(options, catalog)  # which refuses it with the known names
    for name in ("samples", "epochs"):
        if not 0 < options[name] < math.inf:
            raise InputError(Problem("must be a number above 0", key=f"--{name}", value=options[name]))
    for name in ("micro_batch", "seq_len"):
        if options[name] > _LARGEST[name]:
            rule = f"must be at most {_LARGEST[name]:,.0f}"
            raise InputError(Problem(rule, key=f"--{name.replace('_', '-')}", value=options[name]))
    return job_of(options, catalog)


def _ordinary(job: JobClass, scenario: Path | None) -> None:
    """InputError for numbers that no arithmetic is made for."""
    sizes = {
        "micro_batch": job.micro_batch,
        "seq_len": job.seq_len,
        "samples": mean_of(job.samples),
        "epochs": mean_of(job.epochs),
    }
    problems = [
        (name, f"must be at most {_LARGEST[name]:,.0f}", value)
        for name, value in sizes.items()
        if value > _LARGEST[name]
    ]
    problems += [
        ("gpus", f"must be at most {_MOST_CARDS:,} cards", count)
        for count in job.counts
        if count > _MOST_CARDS
    ]
    if problems:
        raise InputError(
            Problem(
                rule,
                None if scenario is None else str(scenario),
                key=f"--{name.replace('_', '-')}" if scenario is None else f"{job.name}.{name}",
                value=value,
            )
            for name, rule, value in problems
        )


def _counts(text: str) -> str | list[int]:
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


def _class_of(classes: Sequence[JobClass], name: str | None, file: Path) -> JobClass:
    known = tuple(job_class.name for job_class in classes)
    if not known:
        raise InputError(Problem("this scenario has no job classes, only recorded jobs", file=str(file)))
    if name is not None and name not in known:
        rule = "the scenario has no class of this name"
        raise InputError(Problem(rule, str(file), key="--class", value=name, known=known))
    return classes[0 if name is None else known.index(name)]
