"""Lines, invoices, cash, cost and card-time agree in every run; so do the rows of the FOCUS export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sim.billing.accrual import accruals
from sim.billing.allocation import SHARING, Sharing, allocate
from sim.billing.focus import TAX_RULES, TaxRule, focus_rows
from sim.billing.focus_columns import COLUMNS
from sim.billing.focus_names import Row
from sim.billing.grains import GRAINS, Grain
from sim.billing.identities import broken_identities
from sim.billing.placing import root
from sim.model.ledger import Ledger
from sim.replication import Prepared, RunResult
from tests.properties.money_worlds import run_of, worlds

ZERO = Decimal(0)
OFTEN = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


@OFTEN
@given(worlds(), st.sampled_from(SHARING))
def test_the_three_identities_hold_in_every_run(world: Prepared, sharing: Sharing) -> None:
    run, scenario = run_of(world), world.question.scenario
    assert broken_identities(run.ledger, run.log, scenario) == ()
    parts = accruals(run.ledger, scenario, "day")
    inside = sum((one.amount for one in parts if one.period != "after the horizon"), ZERO)
    assert inside == run.ledger.accrued
    result = allocate(run.ledger, run.log, run.jobs, scenario, sharing)
    jobs = sum((job.total for job in result.jobs), ZERO)
    assert jobs + sum(result.unused.values(), ZERO) + result.no_cards == run.ledger.accrued
    marginal = sum((job.marginal for job in result.jobs), ZERO) + result.burst_unused
    burst = sum((charge.accrued_cost for charge in run.ledger.charges if charge.lease == "burst"), ZERO)
    assert marginal == burst
    assert run.metrics["penalty_cny"] is not None
    assert all(job.penalty == 0 or job.ended != "done" or run.metrics["jobs_late"] for job in result.jobs)


@OFTEN
@given(worlds(), st.sampled_from(GRAINS[1:]), st.sampled_from(TAX_RULES))
def test_the_focus_rows_keep_the_rules(world: Prepared, grain: Grain, tax: TaxRule) -> None:
    run = run_of(world)
    rows = rows_of(world, run, grain, tax)
    for row in rows:
        well_formed(row)
        as_its_kind(row, tax)
    billed_as_invoiced(rows, run.ledger)
    paid_as_used(rows, run.ledger)
    owed = sum((c.owed_after + c.before_cost for c in run.ledger.charges if not c.sunk), ZERO)
    if tax == "accrued":
        assert total(rows, "EffectiveCost") == run.ledger.accrued
        assert total(rows, "x_CostOutside") == owed
    if not any(charge.category == "tax" for charge in run.ledger.charges):
        jobs_as_allocated(rows, run, world)


def rows_of(world: Prepared, run: RunResult, grain: Grain, tax: TaxRule) -> list[Row]:
    scenario = world.question.scenario
    return [
        *focus_rows(run.ledger, run.log, run.jobs, scenario, run.strategy, world.offers, grain, tax),
    ]


def number(row: Row, column: str) -> Decimal:
    value = row[column]
    assert isinstance(value, Decimal), column
    return value


def total(rows: list[Row], column: str, chosen: Callable[[Row], bool] = lambda _: True) -> Decimal:
    return sum((number(row, column) for row in rows if chosen(row)), ZERO)


def well_formed(row: Row) -> None:
    """Every column once, of its type, with an allowed value."""
    kinds = {"decimal": Decimal, "text": str, "tags": str, "time": datetime}
    assert list(row) == [column.name for column in COLUMNS]
    for column in COLUMNS:
        value = row[column.name]
        assert value is not None or column.null, column.name
        assert value is None or isinstance(value, kinds[column.kind]), column.name
        assert value is None or not column.allowed or value in column.allowed, column.name
        assert value != "", column.name
        if isinstance(value, datetime):
            assert value.tzinfo is UTC
            assert value.microsecond == 0


def as_its_kind(row: Row, tax: TaxRule) -> None:
    """Rules 1, 2, 4 and 5 of the facts, and what is empty in which kind of row."""
    category, quantity = row["ChargeCategory"], row["PricingQuantity"]
    assert (quantity is None) == (category == "Tax")
    for cost, price in (("ListCost", "ListUnitPrice"), ("ContractedCost", "ContractedUnitPrice")):
        unit = row[price]
        assert (unit is None) == (category == "Tax")
        if isinstance(unit, Decimal) and isinstance(quantity, Decimal):
            assert unit >= 0
            assert float(number(row, cost)) == float(unit) * float(quantity)
            assert abs(number(row, cost) - unit * quantity) <= abs(unit * quantity) * Decimal("1e-14")
    if category == "Purchase":
        assert number(row, "EffectiveCost") == 0
        assert row["PricingCategory"] == "Standard"
        assert row["ResourceId"] == row["CommitmentDiscountId"] is not None
        assert row["ChargeFrequency"] != "Usage-Based"
        assert row["CommitmentDiscountStatus"] is None
        assert (row["CommitmentDiscountQuantity"] is None) == (row["ChargeClass"] == "Correction")
        assert (row["CommitmentDiscountUnit"] is None) == (row["ChargeClass"] == "Correction")
    if row["CommitmentDiscountStatus"] is not None:
        assert category == "Usage"
        assert number(row, "BilledCost") == 0
        assert row["PricingCategory"] == "Committed"
        unused = row["CommitmentDiscountStatus"] == "Unused"
        assert (row["ConsumedQuantity"] is None) == unused
        assert (row["ResourceId"] == row["CommitmentDiscountId"]) == unused
        assert (row["x_Job"] is None) == unused == (row["x_UnusedReason"] is not None)
    elif category == "Usage":
        assert row["ConsumedQuantity"] is not None
        assert row["CommitmentDiscountId"] is None
    if category == "Tax":
        assert row["SkuId"] is row["SkuPriceId"] is row["PricingCategory"] is None
        if tax == "billed":
            assert number(row, "EffectiveCost") == number(row, "BilledCost")


def billed_as_invoiced(rows: list[Row], ledger: Ledger) -> None:
    invoices = {f"{invoice.provider}-{invoice.month}": invoice.total for invoice in ledger.invoices}
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        found[str(row["InvoiceId"])] += number(row, "BilledCost")
    assert {name: amount for name, amount in found.items() if amount or name in invoices} == invoices


def paid_as_used(rows: list[Row], ledger: Ledger) -> None:
    """Rule 3: for each commitment, effective cost of its usage = what was paid for it; and so the hours."""
    charges = {charge.id: charge for charge in ledger.charges}
    sunk: dict[str, Decimal] = defaultdict(Decimal)
    hours: dict[str, bool] = {}
    for charge in ledger.charges:
        origin = root(charge, charges)
        if origin.category == "purchase" and charge.category != "tax":
            name = f"{origin.lease}/{origin.plan}".replace(" ", "-")
            sunk[name] += charge.accrued_cost if charge.sunk else ZERO
            hours[name] = hours.get(name, True) and not charge.sunk
    for name, before in sunk.items():
        mine = [row for row in rows if row["CommitmentDiscountId"] == name]
        paid = total(mine, "BilledCost", lambda row: row["ChargeCategory"] == "Purchase")
        outside = total(mine, "x_CostOutside", lambda row: row["ChargeCategory"] == "Purchase")
        used = total(mine, "EffectiveCost", lambda row: row["CommitmentDiscountStatus"] == "Used")
        unused = total(mine, "EffectiveCost", lambda row: row["CommitmentDiscountStatus"] == "Unused")
        assert used + unused == paid - outside + before
        if hours[name]:
            bought = [row for row in mine if row["ChargeCategory"] == "Purchase" and not row["ChargeClass"]]
            asked = total(bought, "CommitmentDiscountQuantity") - total(bought, "x_QuantityOutside")
            there = total(mine, "PricingQuantity", lambda row: row["ChargeCategory"] == "Usage")
            assert abs(asked - there) <= Decimal("1e-6")


def jobs_as_allocated(rows: list[Row], run: RunResult, world: Prepared) -> None:
    """The rows of a job cost what the allocation says, to the cent."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        found[str(row["x_Job"])] += number(row, "EffectiveCost")
    for job in allocate(run.ledger, run.log, run.jobs, world.question.scenario).jobs:
        assert abs(found[job.name] - job.direct) < Decimal("0.05")
