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
from sim.model.values import Duration, Horizon, LocalTime
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
Share = Annotated[float, Field(ge=0, le=1)]
Price = PriceChoice | Annotated[Decimal, Field(gt=0)]


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
