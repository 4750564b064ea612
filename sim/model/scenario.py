"""The scenario: the question, as read from a YAML file. The docstring under a key is its help text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator, model_validator

from sim.model.base import Strict
from sim.model.contract import Plan, PriceChoice
from sim.model.values import Duration, Growth, Horizon, LocalTime, Quantity, Rate
from sim.units import MINUTE, Micros

__all__ = [
    "ArrivalProfile",
    "Burst",
    "Checkpoint",
    "Delay",
    "Experiment",
    "FailureEvent",
    "JobClass",
    "Lease",
    "Method",
    "Migration",
    "Reliability",
    "Scenario",
    "StockOut",
    "Strategy",
    "Target",
    "Trace",
    "Workload",
]

Method = Literal["full", "lora", "qlora4", "qlora8"]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Share = Annotated[float, Field(ge=0, le=1)]
Price = PriceChoice | Annotated[Decimal, Field(gt=0)]


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


class JobClass(Strict):
    """Jobs of one kind that arrive at random."""

    name: Name
    model: str
    """Base model, by its id in the catalogue."""
    method: Method
    """`full`, `lora`, `qlora4` (4-bit base) or `qlora8` (8-bit base)."""
    rank: int = Field(default=16, ge=1)
    """LoRA rank; all linear layers are adapted."""
    micro_batch: int = Field(default=1, ge=1)
    """Samples per card and step."""
    seq_len: int = Field(default=2048, ge=1)
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

    @field_validator("gpus")
    @classmethod
    def _some_counts(cls, value: object) -> object:
        if isinstance(value, tuple) and (not value or len(set(value)) != len(value)):
            msg = "a list of card counts holds at least one number and none twice"
            raise ValueError(msg)
        return value

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


class Migration(Strict):
    """The provider's promise to move a failed machine."""

    within: Duration | None = None
    """Time within which the promise says the machine works again; default: as the offer says."""
    kept: Share | None = None
    """Probability that the promise is kept; default: as the offer says (assumed there: no audit of
    any provider is published)."""


class FailureEvent(Strict):
    """A failure at a known time, beside the random ones."""

    at: Duration
    """Time from the scenario's start."""
    kind: Literal["gpu_reset", "gpu_fatal", "node", "network"] = "node"
    offer: str
    """Whose machine fails; strategies without this offer are not hit."""
    machine: int = Field(default=0, ge=0)
    """Ordinal of the machine among those of the offer, from 0."""
    card: int = Field(default=0, ge=0)
    """Card of that machine, from 0."""
    down: Duration | None = None
    """Time until it works again; default: drawn as for a random failure."""


class Reliability(Strict):
    """How often cards and machines fail, and what then happens."""

    profile: str = "datacentre"
    """Preset in the catalogue, by card class; `none`: no random failures."""
    migration: Migration = Migration()
    data_disk: Literal["kept", "lost"] = "lost"
    """Whether checkpoints and base models survive the move to another machine (assumed lost:
    only snapshots of the system disk are promised)."""
    gpu_fatal: Duration | None = None
    """Mean time between fatal failures of a card; default: from the profile."""
    gpu_reset: Duration | None = None
    """Mean time between failures of a card that a reset mends; default: from the profile."""
    node: Duration | None = None
    """Mean time between failures of a machine; default: from the profile."""
    network: Duration | None = None
    """Mean time between network or storage failures that stop a machine; default: from the profile."""
    events: tuple[FailureEvent, ...] = ()
    """Failures at known times."""


class Checkpoint(Strict):
    """When jobs save their state."""

    every: Duration | Literal["never"] = 20 * MINUTE
    """Work between two checkpoints, or `never`."""
    cost: Duration | None = None
    """Time that one takes; default: by the size of the state and the rate of the disk."""


class Target(Strict):
    """The service that a strategy must give to be recommended."""

    wait_mean: Duration | None = None
    wait_p95: Duration | None = None
    """95th percentile of the time in the queue."""
    on_time: Share | None = None
    """Share of jobs with a deadline that meet it."""
    refused: int = Field(default=0, ge=0)
    """Jobs that may be refused."""


class Lease(Strict):
    """Units of one offer, rented under one plan."""

    offer: str
    count: int = Field(default=1, ge=1)
    """Units of the offer; one unit of an 8-card machine is eight cards."""
    plan: Plan
    price: Price | None = None
    """`low`, `mid` or `high` of the published range, or a price of one unit in the offer's own
    unit of time; default: mid."""
    start: LocalTime | None = None
    """Default: the scenario's start."""
    end: LocalTime | None = None
    """Not included; default: renewed unchanged at each anniversary."""
    options: tuple[str, ...] = ()
    """Options of the offer, such as cpu16."""
    repeat_purchase: bool = False
    """Ask for the reduction for buying again."""
    data_disk: Literal["kept", "lost"] | None = None
    """Overrides reliability.data_disk for these cards."""

    @model_validator(mode="after")
    def _ends_after_start(self) -> Lease:
        if self.start is not None and self.end is not None and self.end <= self.start:
            msg = f"a lease must end after it starts: end {self.end} is not after start {self.start}"
            raise ValueError(msg)
        return self


class Delay(Strict):
    """From ordering a card by the hour to using it: log-normal (assumed)."""

    median: Duration = 3 * MINUTE
    sigma: float = Field(default=0.7, ge=0, le=5)


class StockOut(Strict):
    """An order may find nothing (assumed)."""

    probability: Annotated[float, Field(ge=0, lt=1)] = 0.1
    retry_mean: Duration = 30 * MINUTE
    """Mean time to the next try, exponential."""


class Burst(Strict):
    """Cards rented by the hour when the oldest job has waited too long."""

    offer: str
    max: int = Field(ge=1)
    """Units at most at one time."""
    rent_when_wait_over: Duration
    release_after_idle: Duration = 15 * MINUTE
    """Idle time after which a unit is handed back at the end of its paid increment."""
    price: Price | None = None
    delay: Delay = Delay()
    stock_out: StockOut = StockOut()


class Strategy(Strict):
    """A way to serve the workload: which leases, which queue policy, and when more."""

    name: Name
    policy: str = "fifo"
    """Queue policy."""
    leases: tuple[Lease, ...] = ()
    burst: Burst | None = None

    @model_validator(mode="after")
    def _some_cards(self) -> Strategy:
        if not self.leases and self.burst is None:
            msg = "a strategy has leases, or burst, or both"
            raise ValueError(msg)
        return self


class Experiment(Strict):
    """How often the question is simulated, and with which random numbers."""

    replications: int = Field(default=30, ge=1, le=100_000)
    seed: int = Field(default=42, ge=0)
    warm_up: Duration = 0
    """Jobs submitted before this time are left out of service metrics; money is never cut."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95


class Scenario(Strict):
    """A question to the simulator."""

    extends: str | None = None
    """Another scenario file that this one changes: mappings are merged, lists are replaced."""
    name: Name
    start: LocalTime
    timezone: str = "Asia/Shanghai"
    """IANA name."""
    horizon: Horizon
    currency: Literal["CNY"] = "CNY"
    performance: str = "measured"
    """`measured` (fitted to published measurements) or `vendor` (the articles' own hours)."""
    workload: Workload
    reliability: Reliability = Reliability()
    checkpoint: Checkpoint = Checkpoint()
    target: Target | None = None
    strategies: tuple[Strategy, ...] = Field(min_length=1)
    experiment: Experiment = Experiment()

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            msg = "a timezone is an IANA name, such as Asia/Shanghai, UTC or Europe/Berlin"
            raise ValueError(msg) from None
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        if self.horizon_us <= 0:
            msg = "the horizon must be longer than 0 and end after the start"
            raise ValueError(msg)
        names = [strategy.name for strategy in self.strategies]
        if len(set(names)) != len(names):
            msg = "every strategy needs a name of its own"
            raise ValueError(msg)
        if self.experiment.warm_up >= self.horizon_us:
            msg = "the warm-up must be shorter than the horizon"
            raise ValueError(msg)
        return self

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of all local times."""
        return ZoneInfo(self.timezone)

    @property
    def start_instant(self) -> datetime:
        """The start as an instant, UTC."""
        return self.start.replace(tzinfo=self.zone).astimezone(UTC)

    @property
    def horizon_us(self) -> Micros:
        """Length of the horizon, elapsed microseconds."""
        return self.elapsed_us(self.horizon) if isinstance(self.horizon, datetime) else self.horizon

    def elapsed_us(self, local: datetime) -> Micros:
        """Elapsed time from the start to a local time, across changes of daylight time."""
        instant = local.replace(tzinfo=self.zone).astimezone(UTC)
        return (instant - self.start_instant) // timedelta(microseconds=1)

    def local_time(self, elapsed_us: Micros) -> datetime:
        """The local time, with zone, of an elapsed time."""
        return (self.start_instant + timedelta(microseconds=elapsed_us)).astimezone(self.zone)

    def strategy(self, name: str) -> Strategy:
        """The strategy of this name; KeyError with the known names."""
        by_name: Mapping[str, Strategy] = {strategy.name: strategy for strategy in self.strategies}
        return by_name[name]
