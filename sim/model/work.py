"""What arrives, as a scenario writes it: classes of jobs, recorded jobs. Docstrings are help texts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from sim.model.base import Strict
from sim.model.values import Duration, Growth, Quantity, Rate
from sim.units import MINUTE

__all__ = [
    "ArrivalProfile",
    "Attention",
    "EndPreset",
    "JobClass",
    "JobEnds",
    "Loss",
    "Method",
    "Name",
    "Optimizer",
    "Precision",
    "Quantisation",
    "SplitKind",
    "Targets",
    "Trace",
    "Workload",
]

Name = Annotated[str, Field(min_length=1, max_length=200)]
Method = Literal["full", "lora", "qlora4", "qlora8"]
Targets = Literal["all-linear", "attention", "qkvo", "qv", "mlp"]
Quantisation = Literal["nf4", "nf4dq", "gptq4", "int8", "gptq8"]
Precision = Literal["auto", "pure", "mixed"]
Optimizer = Literal[
    "adamw", "adamw_fused", "adamw_8bit", "paged_adamw", "paged_adamw_8bit", "adafactor", "lion", "sgd"
]
Attention = Literal["flash", "eager"]
Loss = Literal["standard", "upcast", "plain", "chunked"]
SplitKind = Literal["auto", "data parallel", "zero", "zero or data", "tensor", "pipeline"]


EndPreset = Literal[
    "acme_seren",
    "acme_kalos",
    "philly",
    "helios",
    "helios_venus",
    "helios_earth",
    "helios_saturn",
    "helios_uranus",
    "small_team",
]
"""Clusters whose final states of jobs are published; `small_team` is assumed."""


class ArrivalProfile(Strict):
    """How arrivals rise and fall over the day and the week, local time; averages are normalised to 1."""

    hourly: tuple[Annotated[float, Field(ge=0)], ...] = Field(min_length=24, max_length=24)
    """Factors of the hours 0 to 23."""
    weekly: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        default=(1, 1, 1, 1, 1, 1, 1), min_length=7, max_length=7
    )
    """Factors of Monday to Sunday."""

    @model_validator(mode="after")
    def _some_arrivals(self) -> ArrivalProfile:
        if not any(self.hourly) or not any(self.weekly):
            msg = "at least one hourly and one weekly factor must be above 0"
            raise ValueError(msg)
        return self


class JobEnds(Strict):
    """How submissions of jobs end before their work is done, not by the hardware (shares by count)."""

    cancelled: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of submissions that the user stops, after a part of the run that is drawn uniformly."""
    failed: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of submissions that fail by an error of their own, and lose their work."""
    early: Annotated[float, Field(ge=0, le=1)] = 0.7
    """Share of these failures that come soon after the start, uniformly within `within`; the others
    come anywhere in the run (assumed)."""
    within: Duration = 10 * MINUTE
    """Running time within which early failures come."""
    retried: Annotated[float, Field(ge=0, le=1)] = 0.6
    """Probability that a failed job is submitted again, from the beginning (assumed)."""
    retries: int = Field(default=3, ge=0, le=20)
    """New submissions at most; each is drawn with the same shares as the first."""
    pause: Duration = 8 * MINUTE
    """Time to the new submission: median, log-normal (assumed)."""
    sigma: Annotated[float, Field(ge=0, le=5)] = 1.0
    """Spread of the pause (assumed)."""

    @model_validator(mode="after")
    def _at_most_all(self) -> JobEnds:
        if self.cancelled + self.failed > 1:
            msg = "cancelled and failed are shares of the same jobs and add up to at most 1"
            raise ValueError(msg)
        return self


class JobClass(Strict):
    """Jobs of one kind that arrive at random."""

    name: Name
    model: str
    """Base model, by its id in the catalogue."""
    method: Method
    """`full`, `lora`, `qlora4` (4-bit base) or `qlora8` (8-bit base)."""
    rank: int = Field(default=16, ge=1, le=1_000_000)
    """LoRA rank."""
    targets: Targets = "all-linear"
    """Linear layers with adapters: `all-linear`, `attention` (query, key, value), `qkvo`, `qv` or `mlp`."""
    quantisation: Quantisation | None = None
    """Format of a quantised base; default `nf4dq` (double quantisation) for 4 bits, `int8` for 8 bits."""
    precision: Precision = "auto"
    """Full fine-tuning: `pure` 16-bit training, `mixed` with a 32-bit master copy; `auto` is mixed where
    the state is sharded over cards and pure elsewhere."""
    optimizer: Optimizer = "adamw"
    """Optimiser, by the size of its state: `adamw`, `adamw_8bit`, `paged_adamw`, `paged_adamw_8bit`, ..."""
    attention: Attention = "flash"
    """Attention kernel: `flash` (or any that never stores the scores) or `eager`."""
    loss: Loss = "standard"
    """Loss kernel: `standard` (logits copied to 32 bits), `upcast` (older, larger), `plain` (16 bits all
    through) or `chunked` (fused cross-entropy)."""
    accumulation: int = Field(default=1, ge=1, le=1_000_000)
    """Micro-steps between two optimiser steps."""
    split: SplitKind = "auto"
    """How a job may be divided over several cards: `auto` takes the fastest way that fits; `data parallel`,
    `zero` (the stages 1 to 3, FSDP), `tensor`, `pipeline`, or `zero or data` (what PEFT users have)."""
    micro_batch: int = Field(default=1, ge=1, le=1_000_000)
    """Samples per card and step."""
    seq_len: int = Field(default=2048, ge=1, le=1_000_000_000)
    """Longest sample, tokens; longer ones are cut."""
    mean_tokens: float | None = Field(default=None, gt=0)
    """Mean length of a sample before padding, tokens; default: every sample fills `seq_len`."""
    length_sigma: float = Field(default=0.6, ge=0, le=3)
    """Spread of sample lengths: standard deviation of the logarithm (assumed)."""
    packed: bool = False
    """Whether samples are packed one behind the other, so that nothing is padded."""
    checkpointing: bool = True
    """Gradient checkpointing: less memory, some more compute."""
    samples: Quantity
    """Samples in the data set."""
    epochs: Quantity = 1.0
    """Passes over the data set."""
    gpus: Literal["auto"] | Annotated[int, Field(ge=1)] | tuple[Annotated[int, Field(ge=1)], ...] = "auto"
    """Cards: `auto` is the smallest number that fits; or a number; or a list of numbers."""
    spans: bool = True
    """Whether the cards of one job may stand in several machines."""
    rate: Rate
    """Jobs per unit of time, averaged over a week."""
    profile: Literal["flat", "office-hours"] | ArrivalProfile = "flat"
    """`flat`, `office-hours`, or hourly and weekly factors."""
    batch_size: Quantity = 1.0
    """Jobs that arrive together."""
    deadline: Duration | None = None
    """Time allowed from submission to end; a job that ends later is late, and runs on."""
    limit: Duration | None = None
    """Time limit of a run; a job past it is killed."""
    priority: int = 0
    """Larger is more urgent; used by the policy `priority`."""
    team: str = ""
    ends: EndPreset | JobEnds | None = None
    """Jobs that users cancel, or that fail by an error of their own: shares, or the name of a preset;
    default: none."""

    @field_validator("gpus")
    @classmethod
    def _some_counts(cls, value: object) -> object:
        if isinstance(value, tuple) and (not value or len(set(value)) != len(value)):
            msg = "a list of card counts holds at least one number and none twice"
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _formats_fit_the_method(self) -> JobClass:
        bits = {"qlora4": ("nf4", "nf4dq", "gptq4"), "qlora8": ("int8", "gptq8")}.get(self.method, ())
        if self.quantisation is not None and self.quantisation not in bits:
            known = ", ".join(bits) or "none: only qlora4 and qlora8 have a quantised base"
            msg = f"quantisation {self.quantisation} does not go with method {self.method}; formats: {known}"
            raise ValueError(msg)
        return self

    @property
    def counts(self) -> tuple[int, ...]:
        """The card counts allowed, in the order written; empty for `auto`."""
        if self.gpus == "auto":
            return ()
        return (self.gpus,) if isinstance(self.gpus, int) else self.gpus


class Trace(Strict):
    """Recorded jobs with their run times."""

    file: str
    """CSV with the columns submit_s, gpus, runtime_s and optionally id, memory_gib, team, deadline_s,
    priority, gpu, limit_s; looked for beside the scenario."""
    runtime_gpu: str | None = None
    """Card on which the run times were measured; without it they hold on any card."""
    spans: bool = True
    """Whether the cards of one job may stand in several machines."""
    restart: Duration = 2 * MINUTE
    """Time to start a job again after an interruption (assumed); the first start is part of runtime_s."""


class Workload(Strict):
    """What arrives: classes of jobs, or recorded jobs, or both."""

    classes: tuple[JobClass, ...] = ()
    growth: Growth | None = None
    """Growth of the rates of all classes, compounded continuously from the start."""
    trace: Trace | None = None

    @model_validator(mode="after")
    def _something(self) -> Workload:
        if not self.classes and self.trace is None:
            msg = "a workload has classes, or a trace, or both"
            raise ValueError(msg)
        names = [job_class.name for job_class in self.classes]
        if len(set(names)) != len(names):
            msg = "every class needs a name of its own"
            raise ValueError(msg)
        return self
