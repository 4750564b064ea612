"""The columns of the FOCUS export, version 1.2, as data: names, types, allowed values, how they are filled.

Source: FOCUS specification, tag v1.2 (specification/columns), https://focus.finops.org. The two columns
that version 1.3 puts in the place of ProviderName and PublisherName are written beside them. Columns of
our own begin with `x_`, as the specification asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["BY_NAME", "COLUMNS", "Column", "Kind", "Level"]

Kind = Literal["decimal", "text", "time", "tags"]
"""`decimal`: number with a decimal point; `time`: UTC, `YYYY-MM-DDTHH:mm:ssZ`; `tags`: JSON object."""

Level = Literal["mandatory", "conditional", "recommended", "later", "own"]
"""Of version 1.2; `later`: a column of later versions; `own`: a column of this program."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the file."""

    name: str
    kind: Kind
    level: Level
    about: str
    """What this program puts there."""
    null: bool = True
    """Whether it may be empty."""
    allowed: tuple[str, ...] = ()
    """The only values, where the specification lists them and this program uses them."""


def _mandatory(
    name: str, kind: Kind, about: str, *, null: bool = True, allowed: tuple[str, ...] = ()
) -> Column:
    return Column(name, kind, "mandatory", about, null, allowed)


COLUMNS: tuple[Column, ...] = (
    _mandatory("BilledCost", "decimal", "what the invoice says for the row; 0 for covered time", null=False),
    _mandatory("BillingAccountId", "text", "scenario and strategy, joined by a slash", null=False),
    _mandatory("BillingAccountName", "text", "the same for people", null=False),
    _mandatory("BillingCurrency", "text", "currency of the ledger, ISO 4217", null=False),
    _mandatory("BillingPeriodStart", "time", "first instant of the invoice's month, local", null=False),
    _mandatory("BillingPeriodEnd", "time", "first instant of the next month", null=False),
    _mandatory(
        "ChargeCategory",
        "text",
        "Purchase: prepaid periods, refunds and fees; Usage: time; Tax",
        null=False,
        allowed=("Usage", "Purchase", "Tax", "Credit", "Adjustment"),
    ),
    _mandatory(
        "ChargeClass",
        "text",
        "Correction where a line changes one of an earlier billing period",
        allowed=("Correction",),
    ),
    _mandatory("ChargeDescription", "text", "what the row is, and the rule of the ledger's line"),
    _mandatory("ChargePeriodStart", "time", "of the time that the row stands for", null=False),
    _mandatory("ChargePeriodEnd", "time", "not included", null=False),
    _mandatory("ContractedCost", "decimal", "ContractedUnitPrice x PricingQuantity", null=False),
    _mandatory("EffectiveCost", "decimal", "accrued cost; 0 for purchases, which usage carries", null=False),
    _mandatory("InvoiceIssuerName", "text", "provider of the offer", null=False),
    _mandatory("ListCost", "decimal", "ListUnitPrice x PricingQuantity", null=False),
    _mandatory("PricingQuantity", "decimal", "quantity of PricingUnit; empty for tax"),
    _mandatory("PricingUnit", "text", "Unit-Months or -Years bought, GPU-Hours covered, Unit-Hours hourly"),
    _mandatory("ProviderName", "text", "provider of the offer", null=False),
    _mandatory("PublisherName", "text", "provider of the offer", null=False),
    _mandatory(
        "ServiceCategory",
        "text",
        "Compute; Storage for disks of stopped cards",
        null=False,
        allowed=("Compute", "Storage"),
    ),
    _mandatory("ServiceName", "text", "GPU rental, or GPU disk", null=False),
    Column(
        "ChargeFrequency",
        "text",
        "recommended",
        "One-Time: annual and longer periods, refunds, fees, tax; Recurring: shorter periods; Usage-Based",
        null=False,
        allowed=("One-Time", "Recurring", "Usage-Based"),
    ),
    Column(
        "CommitmentDiscountCategory",
        "text",
        "conditional",
        "Usage: prepaid card-time",
        allowed=("Spend", "Usage"),
    ),
    Column("CommitmentDiscountId", "text", "conditional", "lease and plan: all its periods together"),
    Column("CommitmentDiscountName", "text", "conditional", "offer, plan and lease for people"),
    Column(
        "CommitmentDiscountQuantity",
        "decimal",
        "conditional",
        "purchases: card-hours bought that can be used; usage: card-hours of the row",
    ),
    Column(
        "CommitmentDiscountStatus",
        "text",
        "conditional",
        "Used: a job held the cards; Unused",
        allowed=("Used", "Unused"),
    ),
    Column("CommitmentDiscountType", "text", "conditional", "plan, such as Annual prepay"),
    Column("CommitmentDiscountUnit", "text", "conditional", "GPU-Hours"),
    Column("ConsumedQuantity", "decimal", "conditional", "card-hours rented; empty for purchases and Unused"),
    Column("ConsumedUnit", "text", "conditional", "GPU-Hours; Unit-Months of disks"),
    Column(
        "ContractedUnitPrice",
        "decimal",
        "conditional",
        "agreed price; for covered time the list price, since the plan is the discount",
    ),
    Column("InvoiceId", "text", "recommended", "provider and month of the invoice"),
    Column("ListUnitPrice", "decimal", "conditional", "published price of one PricingUnit"),
    Column(
        "PricingCategory",
        "text",
        "conditional",
        "Committed: covered time; Standard: all else but tax",
        allowed=("Standard", "Dynamic", "Committed", "Other"),
    ),
    Column("PricingCurrency", "text", "conditional", "currency of the ledger", null=False),
    Column("PricingCurrencyContractedUnitPrice", "decimal", "conditional", "as ContractedUnitPrice"),
    Column("PricingCurrencyEffectiveCost", "decimal", "conditional", "as EffectiveCost", null=False),
    Column("PricingCurrencyListUnitPrice", "decimal", "conditional", "as ListUnitPrice"),
    Column("RegionId", "text", "conditional", "site of the offer"),
    Column("RegionName", "text", "conditional", "site of the offer"),
    Column("ResourceId", "text", "conditional", "machine; for purchases and Unused the commitment"),
    Column("ResourceName", "text", "conditional", "the same for people"),
    Column("ResourceType", "text", "conditional", "GPU Machine or Commitment"),
    Column(
        "ServiceSubcategory", "text", "recommended", "Virtual Machines; Block Storage (disks)", null=False
    ),
    Column("SkuId", "text", "conditional", "offer"),
    Column("SkuMeter", "text", "conditional", "what is measured: GPU time or disk"),
    Column("SkuPriceDetails", "tags", "conditional", "plan"),
    Column("SkuPriceId", "text", "conditional", "offer and plan"),
    Column("SubAccountId", "text", "conditional", "team of the job"),
    Column("SubAccountName", "text", "conditional", "team of the job"),
    Column("SubAccountType", "text", "conditional", "Team"),
    Column("Tags", "tags", "conditional", "job, job class and team"),
    Column("ServiceProviderName", "text", "later", "provider of the offer (FOCUS 1.3 and later)", null=False),
    Column("HostProviderName", "text", "later", "provider of the offer (FOCUS 1.3 and later)"),
    Column("x_Lease", "text", "own", "lease of the strategy, or burst", null=False),
    Column("x_LedgerLine", "text", "own", "number of the ledger's line, where it is one"),
    Column("x_Job", "text", "own", "name of the job that held the cards"),
    Column("x_JobClass", "text", "own", "its class"),
    Column(
        "x_UnusedReason",
        "text",
        "own",
        "why no job held the cards",
        allowed=("idle", "down", "away", "reserved", "no card", "after the horizon"),
    ),
    Column("x_CostOutside", "decimal", "own", "cost of time before or after the simulation", null=False),
    Column("x_QuantityOutside", "decimal", "own", "card-hours of that time", null=False),
)
"""In the order of the file."""

BY_NAME: Mapping[str, Column] = {column.name: column for column in COLUMNS}
