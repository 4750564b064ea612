"""Names, times and prices of the rows of the FOCUS export: what a row says besides its cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from sim.billing.cardtime import NOBODY
from sim.billing.focus_columns import COLUMNS
from sim.billing.periods import add_months
from sim.billing.rounding import as_decimal
from sim.billing.shares import PLACES, UNIT, money
from sim.model.contract import Offer
from sim.model.job import JobSet
from sim.model.ledger import Charge, Ledger
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.units import Micros

__all__ = ["Namer", "Row", "Value", "finished", "priced"]

Value: TypeAlias = str | datetime | Decimal | None

Row: TypeAlias = dict[str, Value]
"""Column -> value; every column of `COLUMNS` once."""

HALF_A_YEAR = timedelta(days=180)
"""Prepaid periods longer than this are bought once, shorter ones again and again."""

EXACT = Context(prec=60)


def priced(listed: Decimal, agreed: Decimal, quantity: Decimal, unit: str) -> Row:
    """Prices, quantity, and the costs that are their products.

    The products match in binary floating point too, because the official validator multiplies so: where
    the nearest double of the exact product is another one than the product of the doubles, the digits of
    the latter are written. They differ by less than one part in 10**15.
    """
    listed, agreed, quantity = (value.quantize(UNIT) for value in (listed, agreed, quantity))
    return {
        "ListUnitPrice": listed,
        "ContractedUnitPrice": agreed,
        "PricingQuantity": quantity,
        "PricingUnit": unit,
        "ListCost": _product(listed, quantity),
        "ContractedCost": _product(agreed, quantity),
    }


def finished(row: Row) -> Row:
    """The row with the amounts in the currency of the prices, which is that of the ledger."""
    for name in ("ContractedUnitPrice", "EffectiveCost", "ListUnitPrice"):
        row[f"PricingCurrency{name}"] = row[name]
    return row


def _product(price: Decimal, quantity: Decimal) -> Decimal:
    exact = EXACT.multiply(price, quantity)
    binary = float(price) * float(quantity)
    return exact if float(exact) == binary else Decimal(repr(binary))


class Namer:
    """What the rows of one run have in common, and how its charges, machines and jobs are called."""

    def __init__(
        self,
        ledger: Ledger,
        log: RunLog,
        jobs: JobSet,
        scenario: Scenario,
        strategy: str,
        offers: Mapping[str, Offer],
    ) -> None:
        self.ledger, self.log, self.jobs, self.scenario, self.offers = ledger, log, jobs, scenario, offers
        self._account = f"{scenario.name}/{strategy}", f"{scenario.name}: {strategy}"
        # What many rows share is made once.
        self._users: dict[int, Row] = {}
        self._bases: dict[int, Row] = {}
        self._months: dict[tuple[int, int, str], Row] = {}
        self._hours: dict[tuple[int, ...], Decimal] = {}

    # --- rows -------------------------------------------------------------------------------------

    def billed(self, charge: Charge, category: str) -> Row:
        """The row of a line of the ledger as the invoice has it."""
        row = self._base(charge, charge.period_start, charge.period_end) | self.invoiced(charge)
        row["ChargeCategory"] = category
        row["BilledCost"] = charge.billed_cost
        row["ChargeDescription"] = f"{charge.lease}, {charge.plan}, {charge.category}: {charge.rule}"
        if category == "Tax":
            row |= self.as_tax(charge)
        return row

    def usage(self, charge: Charge, start_us: Micros, end_us: Micros) -> Row:
        """A row of time that a line of the ledger pays for."""
        row = self._base(charge, self.scenario.local_time(start_us), self.scenario.local_time(end_us))
        row |= self._month(self.scenario.local_time(start_us), charge.provider)
        row["ChargeCategory"], row["ChargeFrequency"] = "Usage", "Usage-Based"
        row["ChargeDescription"] = f"{charge.lease}, {charge.plan}: time of {self._offer_name(charge)}"
        return row

    def invoiced(self, charge: Charge) -> Row:
        """Billing period and invoice of a line."""
        return {**self._month(charge.cash_date, charge.provider), "x_LedgerLine": str(charge.id)}

    def as_tax(self, charge: Charge) -> Row:
        """What makes a row one of tax: it has no product and no price."""
        empty = ("SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "PricingCategory")
        text = f"{charge.lease}, {charge.plan}, tax: "
        text += charge.rule if charge.category == "tax" else "of the time that passes"
        return {
            **dict.fromkeys(empty),
            "ChargeCategory": "Tax",
            "ChargeFrequency": "One-Time",
            "ChargeDescription": text,
        }

    def of_commitment(self, origin: Charge, *, resource: bool) -> Row:
        """The commitment that a prepaid period belongs to; also as the resource, if asked for."""
        name = f"{self._offer_name(origin)}, {origin.plan}, {origin.lease}"
        row: Row = {
            "CommitmentDiscountCategory": "Usage",
            "CommitmentDiscountId": self.commitment(origin),
            "CommitmentDiscountName": name,
            "CommitmentDiscountType": f"{origin.plan.capitalize()} prepay",
        }
        if resource:
            row |= {
                "ResourceId": self.commitment(origin),
                "ResourceName": name,
                "ResourceType": "Commitment",
            }
        return row

    def resource(self, charge: Charge, record: int = NOBODY) -> Row:
        """The machine of a record, or of a line."""
        if record != NOBODY:
            lease = self.log.leases[record]
            pool, machine = "hourly" if lease.lease < 0 else "leased", str(lease.machine)
        else:
            pool = "hourly" if charge.lease == "burst" else "leased"
            machine = charge.lease if charge.machine is None else str(charge.machine)
        return {
            "ResourceId": f"{charge.offer}/{pool}/{machine}".replace(" ", "-"),
            "ResourceName": f"{self._offer_name(charge)}, {pool}, machine {machine}",
            "ResourceType": "GPU Machine",
        }

    def user(self, reason: str, job: int) -> Row:
        """The job that held the cards, or why none did."""
        if reason:
            return {"x_UnusedReason": reason}
        if job not in self._users:
            self._users[job] = self._user(job)
        return self._users[job]

    def _user(self, job: int) -> Row:
        found = self.jobs.jobs[job]
        shape = self.jobs.shapes[found.shape]
        job_class = shape.job_class or shape.name
        tags = {"job": found.name, "job_class": job_class, "team": found.team}
        row: Row = {"x_Job": found.name, "x_JobClass": job_class, "Tags": _json(tags)}
        if found.team:
            row |= {"SubAccountId": found.team, "SubAccountName": found.team, "SubAccountType": "Team"}
        return row

    # --- names and prices ---------------------------------------------------------------------------

    def commitment(self, origin: Charge) -> str:
        """Id of the commitment that a prepaid period belongs to: all periods of a lease under one plan."""
        return f"{origin.lease}/{origin.plan}".replace(" ", "-")

    def correction(self, charge: Charge, origin: Charge) -> str | None:
        """`Correction` for a line that changes one of a month that is billed already."""
        later = self._bounds(charge.cash_date)[0] > self._bounds(origin.cash_date)[0]
        return "Correction" if later and not origin.sunk else None

    def is_long(self, charge: Charge) -> bool:
        """Whether a prepaid period is bought once rather than again and again."""
        return charge.period_end - charge.period_start > HALF_A_YEAR

    def unit(self, charge: Charge) -> str:
        """The unit of a line as the specification writes units: `Unit-Months`."""
        words = re.findall("[A-Za-z][A-Za-z0-9]*", charge.unit.title()) or ["Units"]
        return "-".join(words) if len(words) == 2 else " ".join(words)

    def list_hour(self, charges: Iterable[Charge]) -> Decimal:
        """List price of a card-hour of prepaid periods: over all the hours of the period."""
        charges = list(charges)
        key = tuple(charge.id for charge in charges)
        if key not in self._hours:
            self._hours[key] = self._list_hour(charges)
        return self._hours[key]

    def _list_hour(self, charges: Iterable[Charge]) -> Decimal:
        total = Fraction(0)
        for charge in charges:
            span = charge.period_end.astimezone(UTC) - charge.period_start.astimezone(UTC)
            if charge.cards and span:
                hours = Fraction(span // timedelta(microseconds=1), 3_600_000_000)
                total += Fraction(charge.list_cost) / (charge.cards * hours)
        return as_decimal(total).quantize(UNIT)

    # --- inside ---------------------------------------------------------------------------------------

    def _base(self, charge: Charge, start: datetime, end: datetime) -> Row:
        if charge.id not in self._bases:
            self._bases[charge.id] = self._common(charge)
        row = dict(self._bases[charge.id])
        row["ChargePeriodStart"], row["ChargePeriodEnd"] = _second(start), _second(end, up=True)
        return row

    def _common(self, charge: Charge) -> Row:
        offer = self.offers.get(charge.offer)
        site = offer.site if offer is not None and offer.site else None
        disk = charge.category == "storage"
        row: Row = dict.fromkeys(column.name for column in COLUMNS)
        row |= dict.fromkeys(
            ("InvoiceIssuerName", "ProviderName", "PublisherName", "ServiceProviderName", "HostProviderName"),
            charge.provider,
        )
        row |= {
            "BillingAccountId": self._account[0],
            "BillingAccountName": self._account[1],
            "BillingCurrency": self.ledger.currency,
            "PricingCurrency": self.ledger.currency,
            "ServiceCategory": "Storage" if disk else "Compute",
            "ServiceName": "GPU disk" if disk else "GPU rental",
            "ServiceSubcategory": "Block Storage" if disk else "Virtual Machines",
            "RegionId": site,
            "RegionName": site,
            "SkuId": f"{charge.offer}/disk" if disk else charge.offer,
            "SkuMeter": "Disk time" if disk else "GPU time",
            "SkuPriceDetails": _json({"plan": charge.plan}),
            "SkuPriceId": f"{charge.offer}/{'disk' if disk else charge.plan}",
            "x_Lease": charge.lease,
            "x_CostOutside": money(0, PLACES),
            "x_QuantityOutside": money(0, PLACES),
        }
        return row

    def _offer_name(self, charge: Charge) -> str:
        offer = self.offers.get(charge.offer)
        return charge.offer if offer is None else offer.name

    def _month(self, moment: datetime, provider: str) -> Row:
        local = moment.astimezone(self.scenario.zone)
        key = local.year, local.month, provider
        if key not in self._months:
            start, end = self._bounds(moment)
            self._months[key] = {
                "BillingPeriodStart": _second(start),
                "BillingPeriodEnd": _second(end),
                "InvoiceId": f"{provider}-{local:%Y-%m}",
            }
        return self._months[key]

    def _bounds(self, moment: datetime) -> tuple[datetime, datetime]:
        """The month of a moment in the scenario's calendar."""
        local = moment.astimezone(self.scenario.zone).replace(tzinfo=None, fold=0)
        first = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        zone = self.scenario.zone
        return first.replace(tzinfo=zone), add_months(first, 1).replace(tzinfo=zone)


def _second(moment: datetime, *, up: bool = False) -> datetime:
    """The moment in UTC, at a whole second."""
    utc = moment.astimezone(UTC)
    whole = utc.replace(microsecond=0)
    return whole + timedelta(seconds=1) if up and whole < utc else whole


def _json(tags: Mapping[str, str]) -> str:
    return json.dumps({key: value for key, value in tags.items() if value}, ensure_ascii=False)
