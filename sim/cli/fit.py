"""`fleetsim fit`: does this job fit, how fast is it, and what does a run cost, on each offer?"""

from __future__ import annotations

from collections.abc import Mapping

import typer

from sim.catalog import load_catalog
from sim.cli.console import print_json
from sim.cli.fit_both import print_both
from sim.cli.fit_job import class_of, job_of_options, refuse_mixture
from sim.cli.fit_options import (
    Attention,
    AttentionOption,
    BothOption,
    CheckpointingOption,
    ClassOption,
    EpochsOption,
    GpusOption,
    Loss,
    LossOption,
    MeanTokensOption,
    Method,
    MethodOption,
    MicroBatchOption,
    ModelOption,
    OptimizerOption,
    PackedOption,
    PerformanceOption,
    PlanOption,
    QuantisationOption,
    RankOption,
    SamplesOption,
    ScenarioOption,
    SeqLenOption,
    SplitOption,
    Targets,
    TargetsOption,
)
from sim.cli.fit_text import print_answers
from sim.cli.options import (
    CatalogOption,
    FormatOption,
    OutputFormat,
    PriceOption,
    SetOption,
    price_choice,
    read_question,
    refuse_catalog,
)
from sim.model.scenario import JobClass
from sim.report.fit_answers import FitAnswer, fit_answers

__all__ = ["fit"]


def fit(
    context: typer.Context,
    model: ModelOption = None,
    method: MethodOption = Method.LORA,
    rank: RankOption = 16,
    targets: TargetsOption = Targets.ALL,
    quantisation: QuantisationOption = None,
    optimizer: OptimizerOption = "adamw",
    checkpointing: CheckpointingOption = True,
    attention: AttentionOption = Attention.FLASH,
    loss: LossOption = Loss.STANDARD,
    split: SplitOption = "auto",
    micro_batch: MicroBatchOption = 1,
    seq_len: SeqLenOption = 2048,
    mean_tokens: MeanTokensOption = None,
    packed: PackedOption = False,
    samples: SamplesOption = 50_000,
    epochs: EpochsOption = 3,
    gpus: GpusOption = "auto",
    scenario: ScenarioOption = None,
    class_: ClassOption = None,
    set_: SetOption = None,
    performance: PerformanceOption = None,
    both: BothOption = False,
    plan: PlanOption = None,
    price: PriceOption = None,
    own: CatalogOption = None,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Say for each offer of the catalogue whether a job fits, how fast it is and what a run costs.

    Memory is checked on every card by itself: cards never pool it unless the job is split over them.
    """
    refuse_mixture(context, scenario, set_)
    refuse_catalog(own, scenario)
    if scenario is not None:
        question = read_question(scenario, set_, price)
        job, catalog = class_of(question.scenario.workload.classes, class_, scenario), question.catalog
        performance = question.performance_source if performance is None else performance
        stated = question.scenario
    else:
        catalog = load_catalog(own)
        options = {
            "model": model, "method": method.value, "rank": rank, "targets": targets.value,
            "quantisation": quantisation, "optimizer": optimizer, "checkpointing": checkpointing,
            "attention": attention.value, "loss": loss.value, "split": split, "packed": packed,
            "micro_batch": micro_batch, "seq_len": seq_len, "mean_tokens": mean_tokens, "samples": samples,
            "epochs": epochs, "gpus": gpus,
        }  # fmt: skip
        job, stated = job_of_options(options, catalog), None
    level = price_choice(price)
    contract = None if plan is None else plan.value
    asked = _asked(performance, both)
    found = {
        name: fit_answers(job, catalog, source, level, contract, stated) for name, source in asked.items()
    }
    _show(job, found, asked, both, format_)


def _asked(performance: str | None, both: bool) -> dict[str, str]:
    """Name of each performance profile that is asked for -> what is read for it, ours first."""
    ours = "measured" if performance is None or (both and performance == "vendor") else performance
    return {"measured": ours, "vendor": "vendor"} if both else {ours: ours}


def _show(
    job: JobClass,
    found: Mapping[str, list[FitAnswer]],
    asked: Mapping[str, str],
    both: bool,
    format_: OutputFormat,
) -> None:
    ours = next(iter(found))
    if format_ is OutputFormat.JSON:
        offers = {name: [answer.to_json() for answer in answers] for name, answers in found.items()}
        shown = offers if both else offers[ours]
        names = " and ".join(asked.values())
        print_json({"job": job.model_dump(mode="json"), "performance": names, "offers": shown})
    elif both:
        print_both(job, found["measured"], found["vendor"])
    else:
        print_answers(job, found[ours])
