"""The scenario: the question, as read from a YAML file. The docstring under a key is its help text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationInfo, field_validator, model_validator

from sim.model.base import Strict
from sim.model.contract import Plan, PriceChoice
from sim.model.reliability import Checkpoint, FailureEvent, Migration, Reliability, Share
from sim.model.values import Duration, Horizon, LocalTime
from sim.model.windows import Windows
from sim.model.work import ArrivalProfile, JobClass, Method, Trace, Workload
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

Name = Annotated[str, Field(min_length=1, max_length=200)]
Positive = Annotated[Duration, Field(gt=0)]
Price = PriceChoice | Annotated[Decimal, Field(gt=0)]


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
    available: Windows | None = None
    """Times of the day, or a list of them, in which jobs may use the cards: `08:00-20:00`, over
    midnight `20:00-08:00`, on some days only `mon-fri 08:00-20:00`. Outside of them the cards serve
    something else; jobs on them save and wait again. Default: always."""
    reserve: int | None = Field(default=None, ge=0)
    """Cards of the lease, all its units together, that no job ever gets; default: none."""
    reliability: str | None = None
    """Profile of the catalogue for these cards; goes before the scenario's profile and mean times."""
    profile: str | None = None
    """MIG slice, such as 3g.40gb, where the offer sells parts of a card: `count` then counts slices."""
    started: LocalTime | None = None
    """When a contract that already runs began, before the scenario: the period running at its start
    is paid; default: the contract begins with the lease."""

    @property
    def offer_id(self) -> str:
        """Id of what is rented: the offer, or its slice."""
        return self.offer if self.profile is None else f"{self.offer}/{self.profile}"

    @field_validator("started")
    @classmethod
    def _runs_already(cls, value: datetime | None, info: ValidationInfo) -> datetime | None:
        if value is not None and info.data.get("start") is not None:
            msg = "a contract that already runs has no start within the scenario"
            raise ValueError(msg)
        if value is not None and info.data.get("plan") == "hourly":
            msg = "only contracts paid by the period can run already; cards by the hour have no paid period"
            raise ValueError(msg)
        return value

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
    profile: str | None = None
    """MIG slice, such as 3g.40gb, where the offer sells parts of a card: `max` then counts slices."""
    delay: Delay = Delay()
    stock_out: StockOut = StockOut()

    @property
    def offer_id(self) -> str:
        """Id of what is rented: the offer, or its slice."""
        return self.offer if self.profile is None else f"{self.offer}/{self.profile}"


class Strategy(Strict):
    """A way to serve the workload: which leases, which queue policy, and when more."""

    name: Name
    policy: str = "fifo"
    """Queue policy."""
    placement: str = "best-fit"
    """Which cards a job takes among those that hold it."""
    aging: Positive | None = None
    """Policy `priority`: wait that is worth one step of priority; default: none is."""
    half_life: Positive | None = None
    """Policy `fair`: time in which past use of cards counts half; default: 7 days (assumed)."""
    look_ahead: int | None = Field(default=None, ge=1, le=10_000)
    """Policy `conservative`: waiting jobs that have a reservation, the others wait without one;
    default: 100 (assumed)."""
    preempt: bool = False
    """Policy `priority`: whether a job that fits nowhere may interrupt jobs of lower priority, which
    save their state and wait again in their old place."""
    preempt_after: Duration | None = None
    """With `preempt`: time that a job runs undisturbed; default: 2 hours (assumed)."""
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
