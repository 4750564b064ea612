"""The options of `fleetsim fit`, and of `measure` where they are the same."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "Attention",
    "AttentionOption",
    "BothOption",
    "CheckpointingOption",
    "ClassOption",
    "EpochsOption",
    "GpusOption",
    "Loss",
    "LossOption",
    "MeanTokensOption",
    "Method",
    "MethodOption",
    "MicroBatchOption",
    "ModelOption",
    "OptimizerOption",
    "PackedOption",
    "PerformanceOption",
    "PlanName",
    "PlanOption",
    "QuantisationOption",
    "RankOption",
    "SamplesOption",
    "ScenarioOption",
    "SeqLenOption",
    "SplitOption",
    "Targets",
    "TargetsOption",
]


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


ModelOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ID", help="Base model of the catalogue.")
]
MethodOption: TypeAlias = Annotated[
    Method, typer.Option(help="Full fine-tuning, LoRA, or LoRA on a 4- or 8-bit base.")
]
RankOption: TypeAlias = Annotated[int, typer.Option(help="LoRA rank.")]
TargetsOption: TypeAlias = Annotated[Targets, typer.Option(help="Linear layers with adapters.")]
QuantisationOption: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Format of a 4- or 8-bit base: nf4, nf4dq (default), gptq4, int8 (default), gptq8."),
]
OptimizerOption: TypeAlias = Annotated[
    str, typer.Option(help="adamw, adamw_8bit, paged_adamw, paged_adamw_8bit, adafactor, lion, sgd.")
]
CheckpointingOption: TypeAlias = Annotated[
    bool, typer.Option("--checkpointing/--no-checkpointing", help="Gradient checkpointing.")
]
AttentionOption: TypeAlias = Annotated[Attention, typer.Option(help="Attention kernel.")]
LossOption: TypeAlias = Annotated[
    Loss, typer.Option(help="Loss kernel: logits copied to 32 bits, or a fused, chunked one.")
]
SplitOption: TypeAlias = Annotated[
    str,
    typer.Option(help="How to divide it: auto, data parallel, zero, zero or data, tensor, pipeline."),
]
MicroBatchOption: TypeAlias = Annotated[int, typer.Option(help="Samples per card and step.")]
SeqLenOption: TypeAlias = Annotated[
    int, typer.Option(help="Longest sample, tokens; memory is checked at it.")
]
MeanTokensOption: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Mean sample before padding, tokens; default: all samples are full."),
]
PackedOption: TypeAlias = Annotated[
    bool, typer.Option("--packed", help="Samples are packed, so that nothing is padded.")
]
SamplesOption: TypeAlias = Annotated[float, typer.Option(help="Samples in the data set.")]
EpochsOption: TypeAlias = Annotated[float, typer.Option(help="Passes over the data set.")]
GpusOption: TypeAlias = Annotated[
    str, typer.Option(metavar="N[,N...]", help="Cards: auto (the fewest that fit) or numbers.")
]
ScenarioOption: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Take the job from this scenario instead.")
]
ClassOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--class", metavar="NAME", help="Class of that scenario; default: the first."),
]
PerformanceOption: TypeAlias = Annotated[
    str | None,
    typer.Option(help="measured, or vendor (the articles' own hours); default: the scenario's."),
]
BothOption: TypeAlias = Annotated[
    bool, typer.Option("--both", help="Show the measured profile and the articles' figures side by side.")
]
PlanOption: TypeAlias = Annotated[
    PlanName | None, typer.Option(help="Contract for the price of an hour; default: the list price.")
]
