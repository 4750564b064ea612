"""Offers and plans: what can be rented and on which terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from sim.model.base import LARGEST_AMOUNT, Strict
from sim.model.currencies import checked
from sim.model.hardware import Link
from sim.model.terms import PLAN_MONTHS, ContractTerms, Plan, plan_months

__all__ = [
    "MigrationTerms",
    "PLAN_MONTHS",
    "Offer",
    "OptionPrice",
    "Plan",
    "PlanTerms",
    "PriceBand",
    "PriceChange",
    "PriceChoice",
    "PriceUnit",
    "RepeatPurchase",
    "plan_months",
    "with_from",
]

PriceUnit = Literal["hour", "month", "year"]
PriceChoice = Literal["low", "mid", "high"]


def with_from(written: dict[str, Any]) -> dict[str, Any]:
    """The field `since` under the name that files use, `from`, which is no name in Python."""
    return {("from" if key == "since" else key): value for key, value in written.items()}


class PriceChange(Strict):
    """List price of an offer from a day on, in the unit of its `price`."""

    since: date = Field(alias="from")
    """First day of this price."""
    low: Decimal = Field(gt=0, le=LARGEST_AMOUNT)
    high: Decimal = Field(gt=0, le=LARGEST_AMOUNT)

    @model_validator(mode="after")
    def _ordered(self) -> PriceChange:
        if self.high < self.low:
            msg = "price high may not be below price low"
            raise ValueError(msg)
        return self

    @model_serializer(mode="wrap")
    def _named_from(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return with_from(write(self))


class PriceBand(Strict):
    """List price of one unit of the offer, as published: a figure or a range."""

    unit: PriceUnit
    low: Decimal = Field(gt=0, le=LARGEST_AMOUNT)
    high: Decimal = Field(gt=0, le=LARGEST_AMOUNT)

    @model_validator(mode="after")
    def _ordered(self) -> PriceBand:
        if self.high < self.low:
            msg = "price high may not be below price low"
            raise ValueError(msg)
        return self

    def pick(self, choice: PriceChoice) -> Decimal:
        """The price at the low end, the middle or the high end of the range, currency per unit."""
        if choice == "mid":
            return (self.low + self.high) / 2
        return self.low if choice == "low" else self.high


class PlanTerms(Strict):
    """How one plan prices the list price, and how it bills."""

    multiplier: Decimal = Field(default=Decimal(1), gt=0, le=1)
    """Factor on the list price (0.80 = 20 % off); stated, or what `price` makes of the list price."""
    price: Decimal | None = Field(default=None, gt=0, le=LARGEST_AMOUNT)
    """In place of the factor: price of one unit for one period of the plan, such as of a year."""
    assumed: bool = False
    """True where the source does not state the factor."""
    increment_s: int = Field(default=3600, gt=0)
    """Hourly plan only: time is billed in whole increments, seconds."""
    minimum_s: int = Field(default=3600, ge=0)
    """Hourly plan only: shortest time billed for a rental, seconds."""

    @model_validator(mode="after")
    def _one_price(self) -> PlanTerms:
        if ("multiplier" in self.model_fields_set) == (self.price is not None):
            msg = "a plan has a factor on the list price (multiplier) or the price of its period (price)"
            raise ValueError(msg)
        return self

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """What names stored runs: a price that is not stated leaves it as it was."""
        return [(key, value) for key, value in super().__repr_args__() if (key, value) != ("price", None)]

    def at(self, plan: Plan, listed: PriceBand) -> PlanTerms:
        """The same with the factor that its price makes of the list price; ValueError where it makes none."""
        if self.price is None:
            return self
        if plan == "hourly" or listed.unit == "hour":
            msg = (
                f"{plan}: only a paid period of an offer by the month or year has a price; by the hour it is "
                "the offer's own price, or terms: {hourly_price: 2.1} of an offer by the month"
            )
            raise ValueError(msg)
        if listed.low != listed.high:
            msg = f"{plan}: a price of its own needs one list price, low and high alike"
            raise ValueError(msg)
        whole = listed.low * plan_months(plan) / (12 if listed.unit == "year" else 1)
        if self.price > whole:
            msg = f"{plan}: its price may not be above that of the same time at the list price, {whole:,}"
            raise ValueError(msg)
        return self.model_copy(update={"multiplier": self.price / whole})


class OptionPrice(Strict):
    """An option added to a unit, such as more CPU cores."""

    description: str
    per_month: Decimal = Field(gt=0, le=LARGEST_AMOUNT)
    """Currency per unit of the offer and month."""


class RepeatPurchase(Strict):
    """Reduction for buying again on one account."""

    per_card_month: Decimal = Field(gt=0, le=LARGEST_AMOUNT)
    """Currency per card and month."""
    order: Literal["after_discount", "before_discount"] = "after_discount"
    first_card: bool = True
    """Whether the first card of the lease gets the reduction too."""


class MigrationTerms(Strict):
    """The provider's promise to move a failed machine."""

    within_s: int = Field(default=600, ge=0)
    """Time within which the promise says the machine works again, seconds."""
    kept: float = Field(default=0.9, ge=0, le=1)
    """Probability that the promise is kept (assumed: no audit of any provider is published)."""


class Offer(Strict):
    """One thing that can be rented: a card in a node of its own, a machine, a MIG instance."""

    id: str
    name: str
    provider: str
    gpu: str
    """Card id in the catalogue."""
    gpus_per_unit: int = Field(ge=1)
    """Cards in one unit; `count` of a lease counts units."""
    form: Literal["node", "machine", "cloud", "mig", "public", "owned"]
    vcpu: int | None = None
    """CPU cores (or virtual CPUs) of one unit; null where the source is silent."""
    ram_gb: int | None = None
    disks: str = ""
    site: str = ""
    wan_mbps: float = Field(gt=0)
    """Public network of one unit, Mbit/s; base models are fetched over it."""
    disk_read_gb_s: float = Field(gt=0)
    """Read rate of the unit's data disk, GB/s (1e9 bytes)."""
    link: Link
    """Between the cards of one unit."""
    network: Link
    """Between units."""
    speed_noise: float = Field(default=0.0, ge=0, le=1)
    """Spread of the running time from job to job by noisy neighbours (standard deviation of its
    logarithm); 0 for machines of one's own."""
    migration: MigrationTerms = MigrationTerms()
    price: PriceBand
    price_changes: tuple[PriceChange, ...] = ()
    """Later list prices, by the day from which each holds; the lease's terms say whom they reach."""
    plans: Mapping[Plan, PlanTerms]
    options: Mapping[str, OptionPrice] = {}
    repeat_purchase: RepeatPurchase | None = None
    terms: ContractTerms = ContractTerms()
    """What the provider publishes about its contracts; what it does not state is assumed."""
    currency: str
    """Code of ISO 4217."""
    status: str
    """How firm the price is: official, estimate, derived, market range."""
    source: str
    date: date
    """Day on which the price was read."""
    assumptions: tuple[str, ...] = ()
    """What the source does not say and the program assumes."""
    notes: str = ""

    @field_validator("plans")
    @classmethod
    def _factors(cls, plans: Mapping[Plan, PlanTerms], info: ValidationInfo) -> Mapping[Plan, PlanTerms]:
        listed = info.data.get("price")
        return plans if listed is None else {plan: terms.at(plan, listed) for plan, terms in plans.items()}

    @field_validator("currency")
    @classmethod
    def _known_currency(cls, value: str) -> str:
        return checked(value)

    @property
    def one_site(self) -> bool:
        """Whether a job may use cards of several units: not of MIG instances, nor of instances of a public
        cloud, of which nothing says that they stand beside each other."""
        return self.form not in ("mig", "public")

    @model_validator(mode="after")
    def _prices_in_order(self) -> Offer:
        days = [change.since for change in self.price_changes]
        if days != sorted(set(days)):
            msg = "price changes stand in the order of their days, one a day"
            raise ValueError(msg)
        return self
