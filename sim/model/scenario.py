"""The scenario: the question, as read from a YAML file. The docstring under a key is its help text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, field_validator, model_validator

from sim.model.base import Strict
from sim.model.experiment import Experiment
from sim.model.lease import Conversion, Lease, LeasePrice, Price, Stopped
from sim.model.reliability import Checkpoint, FailureEvent, Migration, Reliability, Share
from sim.model.sharing_keys import Sharing
from sim.model.terms import ContractTerms
from sim.model.uncertain import Uncertain
from sim.model.values import Duration, Horizon, LocalTime
from sim.model.work import ArrivalProfile, JobClass, Method, Name, Penalty, Trace, Workload
from sim.units import MINUTE, Micros

__all__ = [
    "ArrivalProfile",
    "Burst",
    "Checkpoint",
    "Conversion",
    "Delay",
    "ExchangeRate",
    "Experiment",
    "FailureEvent",
    "JobClass",
    "Lease",
    "LeasePrice",
    "Method",
    "Migration",
    "Reliability",
    "Scenario",
    "Sharing",
    "StockOut",
    "Stopped",
    "Strategy",
    "Target",
    "Trace",
    "Workload",
]

Positive = Annotated[Duration, Field(gt=0)]


class Target(Strict):
    """The service that a strategy must give to be recommended."""

    wait_mean: Duration | None = None
    """Largest mean time in the queue."""
    wait_p95: Duration | None = None
    """95th percentile of the time in the queue."""
    on_time: Share | None = None
    """Share of jobs with a deadline that meet it."""
    refused: int = Field(default=0, ge=0)
    """Jobs that may be refused."""
    late_cost: Penalty | None = None
    """What a job that misses its deadline costs once, whatever the class, in the scenario's currency;
    also a refused job with a deadline, where no `refused_cost` holds. Default: nothing."""
    late_cost_per_hour: Penalty | None = None
    """What each hour past a deadline costs, up to the horizon for jobs not done; default: nothing."""
    refused_cost: Penalty | None = None
    """What a refused job costs; default: nothing."""


class Delay(Strict):
    """From ordering a card by the hour to using it: log-normal (assumed)."""

    median: Duration = 3 * MINUTE
    """Median, log-normal."""
    sigma: float = Field(default=0.7, ge=0, le=5)
    """Spread: standard deviation of the logarithm (assumed)."""


class StockOut(Strict):
    """An order may find nothing (assumed)."""

    probability: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Share of orders that find nothing."""
    retry_mean: Duration = 30 * MINUTE
    """Mean time to the next try, exponential."""


class Burst(Strict):
    """Cards rented by the hour when the oldest job has waited too long: as many units as that job needs,
    which never uses leased cards beside them, nor several MIG instances or instances of a public cloud."""

    offer: str
    """What is rented by the hour, by its id in the catalogue."""
    max: int = Field(ge=1)
    """Units at most at one time."""
    rent_when_wait_over: Duration
    """A card is ordered once a job has waited this long."""
    release_after_idle: Duration = 15 * MINUTE
    """Idle time after which a unit is handed back at the end of its paid increment."""
    price: Price | None = None
    """`low`, `mid` or `high` of the published range, or a price of one unit and hour."""
    profile: str | None = None
    """MIG slice, such as 3g.40gb, where the offer sells parts of a card: `max` then counts slices."""
    delay: Delay = Delay()
    """Time from the order to a card that works."""
    stock_out: StockOut = StockOut()
    """How often an order finds nothing."""

    @property
    def offer_id(self) -> str:
        """Id of what is rented: the offer, or its slice."""
        return self.offer if self.profile is None else f"{self.offer}/{self.profile}"


class Strategy(Strict):
    """A way to serve the workload: which leases, which queue policy, and when more."""

    name: Name
    """What the strategy is called in tables and charts."""
    policy: str = "fifo"
    """Queue policy: who starts first. `fifo` first come first served, `priority` largest priority, `edf`
    earliest deadline, `fair` the team with the least recent use: the first in line holds all behind it.
    `sjf` shortest time limit first, and passes over what does not fit now. `easy` and `conservative` first
    come first served, and others pass where they delay no reservation. Where a job has no time limit, `sjf`
    and reservations count with its expected run time, as if users knew it."""
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
    sharing: Sharing | None = None
    """Several jobs on one leased card; default: a card has one job."""
    leases: tuple[Lease, ...] = ()
    """What is rented, and under which contract."""
    burst: Burst | None = None
    """Cards by the hour that are added while jobs wait; default: none."""

    @model_validator(mode="after")
    def _some_cards(self) -> Strategy:
        if not self.leases and self.burst is None:
            msg = "a strategy has leases, or burst, or both"
            raise ValueError(msg)
        return self


class ExchangeRate(Strict):
    """What one unit of another currency is worth on a day."""

    rate: Annotated[Decimal, Field(gt=0, le=10**6)]
    """Units of the scenario's currency for one of the other."""
    date: date
    """Day of the rate; it holds for the whole scenario."""


class Scenario(Strict):
    """A question to the simulator."""

    extends: str | None = None
    """Another scenario file that this one changes: mappings are merged, lists are replaced."""
    catalog: str | None = Field(default=None, min_length=1, max_length=300)
    """Your own price list beside the scenario: YAML with `offers`, and `gpus`, `models` or `mig_profiles` if
    need be; an entry with a shipped id takes its place. Default: the shipped catalogue."""
    name: Name
    """What the question is called; names its folder of results."""
    start: LocalTime
    """Local date and time at which the run begins."""
    timezone: str = "Asia/Shanghai"
    """IANA name."""
    horizon: Horizon
    """How long the run lasts, such as `90d`, or the local date at which it ends."""
    currency: Literal["CNY"] = "CNY"
    """Currency of all amounts."""
    exchange: Mapping[Annotated[str, Field(pattern="^[A-Z]{3}$")], ExchangeRate] = {}
    """Dated rates of other currencies, such as `USD: {rate: 7.1, date: 2026-11-30}`; offers in another
    currency need one."""
    terms: ContractTerms = ContractTerms()
    """Contract terms of all leases and of burst, where a lease does not state its own."""
    performance: str = "measured"
    """`measured` (fitted to published measurements) or `vendor` (the articles' own hours)."""
    workload: Workload
    """The jobs that arrive."""
    reliability: Reliability = Reliability()
    """How often cards and machines fail, and what follows."""
    checkpoint: Checkpoint = Checkpoint()
    """How often running jobs save their state, and what that costs."""
    target: Target | None = None
    """What the fleet must achieve; default: nothing is asked, and the cheapest wins."""
    strategies: tuple[Strategy, ...] = Field(min_length=1)
    """Fleets that are compared."""
    experiment: Experiment = Experiment()
    """How many runs, with which seed, and when they are enough."""
    uncertain: Mapping[str, Uncertain] | None = Field(default=None, min_length=1, max_length=100)
    """What nobody knows for sure: a key such as workload.classes.0.rate, or one of price_range, price,
    discount, demand, growth, run_time, failures -> its distribution. Drawn once a replication, the same
    for all strategies; default: everything is known."""

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
        steady = self.experiment.steady_state
        if steady is not None and steady.warm_up != "auto" and steady.warm_up >= self.horizon_us:
            msg = "the steady state's warm-up must be shorter than the horizon"
            raise ValueError(msg)
        if steady is not None and self.uncertain is not None:
            msg = "uncertain inputs need replications: steady_state makes one run, with one draw of them"
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
        """The strategy of this name; KeyError where there is none."""
        return {strategy.name: strategy for strategy in self.strategies}[name]
