"""The rows of the FOCUS export, against figures worked out by hand and a sample that passes the validator."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from sim.billing.focus import focus_rows
from sim.billing.focus_columns import BY_NAME, COLUMNS
from sim.billing.focus_names import priced
from tests.billing_cases import OFFERS
from tests.money_cases import at, charge, job_set, ledger, log, machine, scenario, stay

D = Decimal
SAMPLE = Path(__file__).parents[2] / "shared" / "facts" / "focus_1_2_sample.csv"


def rows_of(asked, book, run, jobs, grain="day", tax="accrued"):
    return [*focus_rows(book, run, jobs, asked, "s", OFFERS, grain, tax)]


def kinds(rows):
    """Category, status or reason, billed, effective and quantity of each row."""
    return [
        (
            row["ChargeCategory"],
            row["CommitmentDiscountStatus"] or row["x_UnusedReason"],
            row["BilledCost"],
            row["EffectiveCost"],
            row["PricingQuantity"],
        )
        for row in rows
    ]


def june():
    """A card for June at 720.00, an hour 1.00; job 0 of team a holds it for the first ten hours."""
    asked = scenario("2026-06-01", "30d")
    line = charge(asked, "720.00", 0, 720, cards=1)
    return asked, line, log(720, [stay(0, [0], 0, 10)], [machine()]), job_set(1, teams=["a"])


def test_a_month_by_hand() -> None:
    asked, line, run, jobs = june()
    rows = rows_of(asked, ledger(asked, line), run, jobs)
    assert kinds(rows) == [
        ("Purchase", None, D(720), D(0), D(1)),
        ("Usage", "Used", D(0), D(10), D(10)),
        ("Usage", "Unused", D(0), D(14), D(14)),
        *[("Usage", "Unused", D(0), D(24), D(24))] * 29,
    ]
    bought, used, unused = rows[:3]
    assert bought["CommitmentDiscountQuantity"] == 720
    assert bought["ChargeFrequency"] == "Recurring"
    assert bought["InvoiceId"] == "idc10000-2026-06"
    # June in Shanghai begins and ends at 16:00 the day before, UTC.
    assert bought["BillingPeriodStart"] == datetime(2026, 5, 31, 16, tzinfo=UTC)
    assert bought["BillingPeriodEnd"] == bought["ChargePeriodEnd"] == datetime(2026, 6, 30, 16, tzinfo=UTC)
    assert used["ChargePeriodStart"] == datetime(2026, 5, 31, 16, tzinfo=UTC)
    assert used["ChargePeriodEnd"] == datetime(2026, 6, 1, 16, tzinfo=UTC)
    assert used["ListUnitPrice"] == used["ContractedUnitPrice"] == 1
    assert used["ListCost"] == 10
    assert used["SubAccountId"] == used["SubAccountName"] == "a"
    assert used["Tags"] == '{"job": "job-0", "job_class": "bot", "team": "a"}'
    assert used["ResourceId"] == "a100-40g-custom/leased/0"
    assert unused["x_UnusedReason"] == "idle"
    assert unused["SubAccountId"] is None
    assert unused["ResourceId"] == bought["CommitmentDiscountId"] == "lease-0/monthly"


def test_by_the_hour_each_hour_is_a_row() -> None:
    asked, line, run, jobs = june()
    rows = rows_of(asked, ledger(asked, line), run, jobs, "hour")
    assert len(rows) == 1 + 720
    assert {row["EffectiveCost"] for row in rows[1:]} == {D(1)}
    assert sum(row["CommitmentDiscountStatus"] == "Used" for row in rows) == 10


def test_a_year_amortises_by_the_hour() -> None:
    """26,880 over 8,760 h is 3.068493 an hour; at list 33,600 it is 3.835616."""
    asked = scenario("2026-01-01", "365d", "UTC")
    line = charge(asked, "26880.00", 0, 8760, cards=1, plan="annual", quantity=12)
    line = replace(line, list_unit_price=D(2800), list_cost=D(33600))
    rows = rows_of(asked, ledger(asked, line), log(8760, [], [machine()]), job_set(0), "hour")
    hours = rows[1:]
    assert len(hours) == 8760
    assert {row["EffectiveCost"] for row in hours} == {D("3.06849315"), D("3.06849316")}
    assert sum(row["EffectiveCost"] for row in hours) == 26880
    assert {row["ListUnitPrice"] for row in hours} == {D("3.83561644")}
    assert rows[0]["ChargeFrequency"] == "One-Time"
    assert (rows[0]["ListCost"], rows[0]["ContractedCost"]) == (33600, 26880)


def test_what_lies_after_the_horizon_stands_with_the_purchase() -> None:
    """Ten of thirty days are simulated: 480.00 and 480 h are outside."""
    asked = scenario("2026-06-01", "10d")
    line = charge(asked, "720.00", 0, 720, cards=1, accrued="240.00")
    rows = rows_of(asked, ledger(asked, line), log(240, [], [machine()]), job_set(0))
    assert (rows[0]["x_CostOutside"], rows[0]["x_QuantityOutside"]) == (D(480), D(480))
    assert sum(row["EffectiveCost"] for row in rows) == 240


@pytest.mark.parametrize(("paid", "wanted"), [("2026-06-16", None), ("2026-07-01", "Correction")])
def test_a_refund_is_a_negative_purchase_and_a_correction_in_another_month(paid, wanted) -> None:
    """720.00 for June, left after 15 days, 360.00 back: 15 days at 24.00."""
    asked = scenario("2026-06-01", "60d")
    bought = charge(asked, "720.00", 0, 360, cards=1)
    back = charge(
        asked, "-360.00", 0, 360, number=1, category="refund", of=0, price=360, paid=at(asked, paid)
    )
    rows = rows_of(asked, ledger(asked, bought, back), log(1440, [], [machine(0, 360)]), job_set(0))
    assert kinds(rows[:2]) == [
        ("Purchase", None, D(720), D(0), D(1)),
        ("Purchase", None, D(-360), D(0), D(-1)),
    ]
    assert rows[1]["ChargeClass"] == wanted
    assert rows[1]["CommitmentDiscountId"] == "lease-0/monthly"
    assert rows[1]["ListUnitPrice"] == 360
    assert {row["EffectiveCost"] for row in rows[2:]} == {D(24)}
    assert len(rows[2:]) == 15


def test_tax_of_a_commitment_is_a_cost_when_its_time_passes_or_when_it_is_billed() -> None:
    """60.00 of tax on two months, 31 and 28 days: 31.53 and 28.47, or 60.00 at once."""
    asked = scenario("2026-01-01", "59d", "UTC")
    net = charge(asked, "1000.00", 0, 1416, cards=1)
    tax = charge(asked, "60.00", 0, 1416, number=1, category="tax", of=0, unit="net price")
    book, run = ledger(asked, net, tax), log(1416, [], [machine()])
    rows = [row for row in rows_of(asked, book, run, job_set(0), "month") if row["ChargeCategory"] == "Tax"]
    assert [(row["BilledCost"], row["EffectiveCost"]) for row in rows] == [
        (D(60), D(0)),
        (D(0), D("31.52542373")),
        (D(0), D("28.47457627")),
    ]
    billed = rows_of(asked, book, run, job_set(0), "month", "billed")
    assert [
        (row["BilledCost"], row["EffectiveCost"]) for row in billed if row["ChargeCategory"] == "Tax"
    ] == [(D(60), D(60))]


def test_tax_that_comes_back_is_billed_and_no_cost() -> None:
    asked = scenario("2026-01-01", "31d", "UTC")
    net = charge(asked, "100.00", 0, 10, category="usage", plan="hourly", lease="burst", machine=0, cards=1)
    tax = charge(
        asked, "6.00", 0, 10, number=1, category="tax", of=0, recoverable=True, accrued="0.00", lease="burst"
    )
    rows = rows_of(asked, ledger(asked, net, tax), log(744, [], [machine(0, 10, lease=-1)]), job_set(0))
    assert [(row["BilledCost"], row["EffectiveCost"]) for row in rows if row["ChargeCategory"] == "Tax"] == [
        (D(6), D(0))
    ]


def test_time_by_the_hour_is_billed_and_effective_alike() -> None:
    """Three begun hours at 20.00 from 21 h on, one job for 1.5 h; the horizon cuts after 2.5 h of them."""
    burst = {"offer": "h100-mig", "max": 1, "rent_when_wait_over": "1h"}
    asked = scenario("2026-01-01", "23h 30min", "UTC", {"burst": burst})
    line = charge(
        asked, "60.00", 21, 24, category="usage", plan="hourly", lease="burst", machine=0, cards=1,
        quantity=3, unit="unit-hours", offer="h100-mig", accrued="50.00",
    )  # fmt: skip
    run = log(
        23.5,
        [stay(0, [0], 21, 22.5, burst=True, offer="h100-mig")],
        [machine(21, None, lease=-1, offer="h100-mig")],
    )
    rows = rows_of(asked, ledger(asked, line), run, job_set(1))
    assert kinds(rows) == [
        ("Usage", None, D(30), D(30), D("1.5")),
        ("Usage", "idle", D(20), D(20), D(1)),
        ("Usage", "after the horizon", D(10), D(0), D("0.5")),
    ]
    assert [row["ListCost"] for row in rows] == [D(30), D(20), D(10)]
    assert rows[2]["x_CostOutside"] == D(10)
    assert {row["PricingCategory"] for row in rows} == {"Standard"}
    assert {row["PricingUnit"] for row in rows} == {"Unit-Hours"}


def test_disks_of_stopped_cards_are_storage() -> None:
    asked = scenario("2026-01-01", "31d", "UTC")
    line = charge(asked, "3.00", 0, 240, category="storage", plan="hourly", quantity="0.5", price=6)
    (row,) = rows_of(asked, ledger(asked, line), log(744), job_set(0))
    assert (row["ServiceCategory"], row["ServiceSubcategory"]) == ("Storage", "Block Storage")
    assert (row["BilledCost"], row["EffectiveCost"], row["ListCost"]) == (D(3), D(3), D(3))
    assert row["SkuId"] == "a100-40g-custom/disk"


def test_gang_jobs_are_a_row_on_each_machine() -> None:
    asked = scenario("2026-06-01", "30d")
    line = charge(asked, "1440.00", 0, 720, cards=2)
    run = log(720, [stay(0, [0, 1], 0, 10)], [machine(number=0), machine(number=1)])
    rows = rows_of(asked, ledger(asked, line), run, job_set(1))
    used = [row for row in rows if row["CommitmentDiscountStatus"] == "Used"]
    assert [(row["ResourceId"][-1], row["EffectiveCost"]) for row in used] == [("0", D(10)), ("1", D(10))]


def test_what_was_paid_before_has_usage_and_no_purchase() -> None:
    asked = scenario("2026-06-01", "15d")
    line = charge(asked, "720.00", -360, 360, cards=1, accrued="360.00", sunk=True)
    rows = rows_of(asked, ledger(asked, line), log(360, [], [machine()]), job_set(0))
    assert {row["ChargeCategory"] for row in rows} == {"Usage"}
    assert sum(row["EffectiveCost"] for row in rows) == 360


@pytest.mark.parametrize(
    ("price", "quantity"),
    [("3.83561644", "0.51234567"), ("20.835", "0.09750824"), ("16.67", "3"), ("0.00000001", "0.00000001")],
)
def test_products_match_in_binary_and_nearly_in_decimal(price: str, quantity: str) -> None:
    found = priced(D(price), D(price), D(quantity), "Hours")
    assert float(found["ListCost"]) == float(price) * float(quantity)
    exact = D(price) * D(quantity)
    assert abs(found["ListCost"] - exact) <= exact * D("1e-15")


MANDATORY = """BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodStart
BillingPeriodEnd ChargeCategory ChargeClass ChargeDescription ChargePeriodStart ChargePeriodEnd
ContractedCost EffectiveCost InvoiceIssuerName ListCost PricingQuantity PricingUnit ProviderName
PublisherName ServiceCategory ServiceName"""
"""FOCUS 1.2, from the specification as the facts list them."""


def test_the_table_has_the_mandatory_columns_and_each_name_once() -> None:
    names = [column.name for column in COLUMNS]
    assert len(set(names)) == len(names) == len(BY_NAME)
    assert {column.name for column in COLUMNS if column.level == "mandatory"} == set(MANDATORY.split())
    assert len(MANDATORY.split()) == 21
    assert {"ServiceProviderName", "HostProviderName"} <= set(names)
    assert all(name.startswith("x_") == (BY_NAME[name].level == "own") for name in names)


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the common facts are not here")
def test_rows_fill_the_columns_that_the_sample_fills() -> None:
    """The sample has a purchase, a used, an unused and an hourly row, and one of tax."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        sample = list(csv.DictReader(file))
    asked, line, run, _ = june()
    hourly = charge(
        asked, "20.00", 0, 1, number=1, category="usage", plan="hourly", lease="burst", machine=0, cards=1,
        unit="unit-hours",
    )  # fmt: skip
    tax = charge(asked, "1.20", 0, 1, number=2, category="tax", of=1, lease="burst", machine=0)
    burst = machine(0, 1, lease=-1, offer="h100-mig")
    stays = [*run.attempts, stay(1, [0], 0, 1, burst=True, offer="h100-mig")]
    run = log(720, stays, [*run.leases, burst])
    rows = rows_of(asked, ledger(asked, line, hourly, tax), run, job_set(2, teams=["a", "a"]))

    def chosen(category, status):
        return next(
            row
            for row in rows
            if (row["ChargeCategory"], row["CommitmentDiscountStatus"]) == (category, status)
        )

    ours = [
        chosen("Purchase", None), chosen("Usage", "Used"), chosen("Usage", "Unused"),
        chosen("Usage", None), chosen("Tax", None),
    ]  # fmt: skip
    # The sample says nothing of jobs, gives every row a team, and has no region or resource of tax.
    free = {"Tags", "SkuPriceDetails", "SubAccountId", "SubAccountName", "SubAccountType", "AvailabilityZone"}
    free |= {"BillingAccountType", "RegionId", "RegionName"}
    for theirs, mine in zip(sample, ours, strict=True):
        filled = {name for name, value in theirs.items() if value} - free
        assert {name for name in theirs if mine.get(name) is not None} - free == filled
        for name in ("ChargeCategory", "PricingCategory", "CommitmentDiscountStatus", "ChargeFrequency"):
            if (mine["ChargeCategory"], name) != ("Purchase", "ChargeFrequency"):
                assert (mine[name] or "") == theirs[name]


def test_the_page_lists_every_column_as_it_is() -> None:
    page = (Path(__file__).parents[1] / "docs" / "focus.md").read_text(encoding="utf-8")
    for column in COLUMNS:
        about = column.about + (f" ({', '.join(column.allowed)})" if column.allowed else "")
        empty = "may be" if column.null else "never"
        assert f"| {column.name} | {column.level} | {column.kind} | {empty} | {about} |" in page
