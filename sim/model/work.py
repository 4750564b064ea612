"""What arrives, as a scenario writes it: classes of jobs, recorded jobs. Docstrings are help texts."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from sim.model.base import LARGEST_AMOUNT, Strict
from sim.model.ends import EndPreset, JobEnds
from sim.model.loops import Loop
from sim.model.sharing_keys import BusyShare
from sim.model.timed import ArrivalProfile, Holidays, Name, TimedClass, check_arrivals
from sim.model.values import Duration, Growth, LocalTime, Quantity, Rate
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
    "Penalty",
    "Precision",
    "Quantisation",
    "SplitKind",
    "Targets",
    "Trace",
    "Workload",
]

Method = Literal["full", "lora", "qlora4", "qlora8"]
Targets = Literal["all-linear", "attention", "qkvo", "qv", "mlp"]
Quantisation = Literal["nf4", "nf4dq", "gptq4", "int8", "gptq8"]
Precision = Literal["auto", "pure", "mixed"]
Optimizer = Literal[
    "adamw", "adamw_fused", "adamw_8bit", "paged_adamw", "paged_adamw_8bit", "adafactor", "lion", "sgd"
]
Attention = Literal["flash", "eager"]
Loss = Literal["standard", "upcast", "plain", "chunked", "fused"]
Penalty = Annotated[Decimal, Field(ge=0, le=LARGEST_AMOUNT)]
"""An amount of the scenario's currency that is on no invoice."""
SplitKind = Literal["auto", "data parallel", "zero", "zero or data", "tensor", "pipeline"]


class JobClass(Strict):
    """Jobs of one kind that arrive at random."""

    name: Name
    """What the class is called in tables."""
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
    through), `chunked` (16-bit logits, a chunk at a time copied) or `fused` (head and loss in one kernel)."""
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
    rate: Rate | None = None
    """Jobs per unit of time, averaged over a week."""
    at: tuple[LocalTime, ...] | None = Field(default=None, min_length=1, max_length=10_000)
    """Campaigns: local times at which one batch each arrives; in place of `rate`."""
    loop: Loop | None = None
    """People who submit the next run after looking at the last, or campaigns of such runs."""
    profile: Literal["flat", "office-hours"] | ArrivalProfile = "flat"
    """`flat`, `office-hours`, or hourly and weekly factors."""
    batch_size: Quantity = 1.0
    """Jobs that arrive together."""
    deadline: Duration | None = None
    """Time allowed from submission to end; a job that ends later is late, and runs on."""
    limit: Duration | None = None
    """Time limit of a run; a job past it is killed."""
    late_cost: Penalty | None = None
    """What a job that misses its deadline costs once, in the scenario's currency; it counts when strategies
    are ranked. Default: as the target says."""
    late_cost_per_hour: Penalty | None = None
    """What each hour past the deadline costs; default: as the target says."""
    refused_cost: Penalty | None = None
    """What a refused job costs; default: as the target says."""
    priority: int = 0
    """Larger is more urgent; used by the policy `priority`."""
    demand: BusyShare | None = None
    """Busy share of a card by one job of the class alone on it; read where cards are shared."""
    team: str = ""
    """Whose jobs they are; read by the policy `fair` and by costs by team."""
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
    def _arrives_somehow(self) -> JobClass:
        check_arrivals(self.rate, self.at, self.loop, self.batch_size, self.profile)
        return self

    @model_validator(mode="after")
    def _formats_fit_the_method(self) -> JobClass:
        bits = {"qlora4": ("nf4", "nf4dq", "gptq4"), "qlora8": ("int8", "gptq8")}.get(self.method, ())
        if self.quantisation is not None and self.quantisation not in bits:
            known = ", ".join(bits) or "none: only qlora4 and qlora8 have a quantised base"
            msg = f"quantisation {self.quantisation} does not go with method {self.method}; formats: {known}"
            raise ValueError(msg)
        return self

    @property
    def jobs_a_batch(self) -> Quantity:
        """Jobs of a batch, or of a campaign in a loop."""
        return self.batch_size if self.loop is None or self.loop.runs is None else self.loop.runs

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
    priority, gpu, limit_s, demand, state; or Parquet, as `fleetsim workload import` writes it; looked for
    beside the scenario. A job whose state is failed or cancelled runs its recorded time, and is not done."""
    runtime_gpu: str | None = None
    """Card on which the run times were measured; without it they hold on any card."""
    spans: bool = True
    """Whether the cards of one job may stand in several machines."""
    restart: Duration = 2 * MINUTE
    """Time to start a job again after an interruption (assumed); the first start is part of runtime_s."""
    since: Duration = 0
    """Jobs submitted earlier in the trace are left out, and times count from here."""
    until: Duration | None = None
    """Jobs submitted at or after this time of the trace are left out."""
    teams: tuple[str, ...] | None = None
    """Only the jobs of these teams; default: all."""
    scale: Annotated[float, Field(gt=0, le=100)] = 1.0
    """Demand relative to the record: at 0.7 each job stays with probability 0.7; at 1.5 half of the jobs
    have a copy, at the same hour and weekday of another week."""
    shuffle: bool = False
    """Whether the times of submission are dealt out anew among the jobs."""
    demand: BusyShare | None = None
    """Busy share of a card by one recorded job alone on it, where its row has none; read where cards are
    shared."""

    @model_validator(mode="after")
    def _a_window(self) -> Trace:
        if self.until is not None and self.until <= self.since:
            msg = "until must come after since"
            raise ValueError(msg)
        if self.teams is not None and not self.teams:
            msg = "teams must name at least one team"
            raise ValueError(msg)
        return self

    @property
    def as_recorded(self) -> bool:
        """Whether all jobs of the file are replayed at their own times."""
        plain = self.since == 0 and self.until is None and self.teams is None
        return plain and self.scale == 1 and not self.shuffle


class Workload(Strict):
    """What arrives: classes of jobs, jobs known by their run times, recorded jobs, or several of these."""

    classes: tuple[JobClass, ...] = ()
    """Kinds of jobs that arrive at random."""
    timed: tuple[TimedClass, ...] = Field(default=(), max_length=1000)
    """Classes of jobs that are known by their run times alone."""
    preset: str | None = None
    """Timed classes of a published cluster; the loader writes them out in its place."""
    rate: Rate | None = None
    """With a preset: jobs per unit of time in all its classes."""
    growth: Growth | None = None
    """Growth of the rates of all classes, compounded continuously from the start."""
    holidays: Holidays | None = None
    """Days on which fewer jobs of the classes arrive."""
    trace: Trace | None = None
    """Recorded jobs that are replayed."""

    @model_validator(mode="after")
    def _something(self) -> Workload:
        if not (self.classes or self.timed or self.preset) and self.trace is None:
            msg = "a workload has classes, timed classes, a preset or a trace, or several of these"
            raise ValueError(msg)
        if (self.preset is None) != (self.rate is None):
            msg = "preset and rate go together: a preset has no rate of its own"
            raise ValueError(msg)
        names = [job_class.name for job_class in self.classes]
        if len(set(names)) != len(names):
            msg = "every class needs a name of its own"
            raise ValueError(msg)
        if len({*names, *(one.name for one in self.timed)}) != len(names) + len(self.timed):
            msg = "every timed class needs a name of its own, which no class has"
            raise ValueError(msg)
        return self
