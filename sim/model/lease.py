"""A lease: what is rented, under which plan, and how that changes while it runs.

The docstring under a key is its help text.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from sim.model.base import LARGEST_AMOUNT, Strict
from sim.model.contract import PriceChoice, with_from
from sim.model.terms import ContractTerms, Plan, plan_months
from sim.model.values import LocalTime
from sim.model.windows import Windows

__all__ = ["Conversion", "Lease", "LeasePrice", "Price", "Stopped"]

Price = PriceChoice | Annotated[Decimal, Field(gt=0, le=LARGEST_AMOUNT)]


class Conversion(Strict):
    """A change of a lease's plan while its cards stay."""

    at: LocalTime
    """When it is asked for. Time by the hour is left at once; a prepaid period is left in its middle only
    where there is a refund rule, or in the grace days, else at its end."""
    plan: Plan
    """The new plan, longer than the one before: from hourly to monthly, from monthly to annual."""


class Stopped(Strict):
    """A time in which cards by the hour are stopped: no job runs, compute is not billed (`terms.stop`)."""

    since: LocalTime = Field(alias="from")
    """Local time at which the cards are stopped."""
    until: LocalTime
    """Local time at which they are started again."""

    @model_validator(mode="after")
    def _ordered(self) -> Stopped:
        if self.until <= self.since:
            msg = "cards are started again after they are stopped: until must be after from"
            raise ValueError(msg)
        return self

    @model_serializer(mode="wrap")
    def _named_from(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return with_from(write(self))


class LeasePrice(Strict):
    """List price of a lease from a time on."""

    since: LocalTime = Field(alias="from")
    """Local time from which the price holds."""
    price: Annotated[Decimal, Field(gt=0, le=LARGEST_AMOUNT)]
    """Of one unit, in the offer's own unit of time and currency."""

    @model_serializer(mode="wrap")
    def _named_from(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return with_from(write(self))


class Lease(Strict):
    """Units of one offer, rented under one plan."""

    offer: str
    """What is rented, by its id in the catalogue."""
    count: int = Field(default=1, ge=1)
    """Units of the offer; one unit of an 8-card machine is eight cards."""
    plan: Plan
    """Contract: `hourly`, `monthly`, `quarterly` or `annual`, or another that the offer has."""
    price: Price | None = None
    """`low`, `mid` or `high` of the published range, or a price of one unit in the offer's own
    unit of time and currency; default: mid."""
    prices: tuple[LeasePrice, ...] = ()
    """List prices agreed for later times of this lease; each period, and each increment by the hour, has
    the price that holds when it begins. They go before the offer's `price_changes` and a change of the
    price at renewal."""
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
    terms: ContractTerms = ContractTerms()
    """What was agreed for this lease; what it does not state holds as the scenario, the offer or the
    default says."""
    converts: tuple[Conversion, ...] = ()
    """Changes of the plan, in the order of time."""
    joins: int | None = Field(default=None, ge=0)
    """Number of an earlier lease of the same offer, counted from 0, to which these cards are added. With
    `terms: {added: co-term}` they are billed in proportion to the end of its running period, and with it
    from then on."""
    stopped: tuple[Stopped, ...] = ()
    """Times in which cards by the hour are stopped, in order."""

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

    @field_validator("prices")
    @classmethod
    def _prices_in_order(cls, value: tuple[LeasePrice, ...]) -> tuple[LeasePrice, ...]:
        times = [price.since for price in value]
        if times != sorted(set(times)):
            msg = "prices stand in the order of time, one a moment"
            raise ValueError(msg)
        return value

    @field_validator("converts")
    @classmethod
    def _plans_grow(cls, value: tuple[Conversion, ...], info: ValidationInfo) -> tuple[Conversion, ...]:
        times = [change.at for change in value]
        if times != sorted(set(times)):
            msg = "conversions stand in the order of time, one a moment"
            raise ValueError(msg)
        if "plan" in info.data:
            months = [plan_months(plan) for plan in (info.data["plan"], *(change.plan for change in value))]
            if months != sorted(set(months)):
                msg = "a conversion leads to a longer plan: from hourly to monthly, from monthly to annual"
                raise ValueError(msg)
        return value

    @field_validator("stopped")
    @classmethod
    def _stops_apart(cls, value: tuple[Stopped, ...], info: ValidationInfo) -> tuple[Stopped, ...]:
        if value and plan_months(info.data.get("plan", "hourly")) > 0:
            msg = "only cards by the hour can be stopped; a prepaid period is paid whole"
            raise ValueError(msg)
        if any(later.since < stop.until for stop, later in pairwise(value)):
            msg = "stops stand in the order of time and do not overlap"
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _ends_after_start(self) -> Lease:
        if self.start is not None and self.end is not None and self.end <= self.start:
            msg = f"a lease must end after it starts: end {self.end} is not after start {self.start}"
            raise ValueError(msg)
        return self
