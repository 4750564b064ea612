"""A contract that runs already, and slices of a card: money to the cent, by pencil."""

from datetime import datetime
from decimal import Decimal

import pytest
from pydantic import ValidationError

from sim.catalog import load_catalog
from sim.catalog.slices import slice_offer, slices_sold
from sim.model.scenario import Scenario
from tests.billing_cases import OFFERS, lease, ledger, rental, scenario

D = Decimal


def lines(bill):
    """(period, billed, accrued, owed after, sunk) of each charge."""
    return [
        (
            f"{charge.period_start:%Y-%m-%d}..{charge.period_end:%Y-%m-%d}",
            charge.billed_cost,
            charge.accrued_cost,
            charge.owed_after,
            charge.sunk,
        )
        for charge in bill.charges
    ]


def test_a_year_that_runs_already_is_paid_and_the_next_one_falls_due_on_its_anniversary():
    # 12 x 2,800 x 0.80 = 26,880 a year. 151 of the first year's 365 days lie in 2026:
    # 26,880 x 151 / 365 = 11,120.22; 214 of the second's: 15,759.78, and 11,120.22 after the horizon.
    bill = ledger(scenario([lease(started="2025-06-01")]))
    assert lines(bill) == [
        ("2025-06-01..2026-06-01", D("26880.00"), D("11120.22"), D("0.00"), True),
        ("2026-06-01..2027-06-01", D("26880.00"), D("15759.78"), D("11120.22"), False),
    ]
    assert bill.accrued == D("26880.00")
    assert bill.committed == D("38000.22")
    assert bill.cash == D("26880.00")
    assert [(invoice.month, invoice.total) for invoice in bill.invoices] == [("2026-06", D("26880.00"))]


def test_the_line_says_what_is_sunk_and_the_assumptions_say_since_when():
    bill = ledger(scenario([lease(started="2025-06-01")]))
    assert bill.charges[0].rule == (
        "annual, paid before the scenario for 2025-06-01 to 2026-06-01: 1 unit x 12 months x 2,800.00 list "
        "x 0.80 annual = 26,880.00; 151d of 365d usable in the horizon; the rest is sunk, nothing of it is "
        "paid or owed again"
    )
    assert any("lease 0: the contract runs since 2025-06-01" in text for text in bill.assumptions)


def test_anniversaries_are_counted_from_the_contracts_own_first_day():
    # Months from 31 December: to 31 January (31 days, 30 of them in January), then to 28 February
    # (28 days, 1 in the horizon). 2,800 x 30 / 31 = 2,709.68; 2,800 / 28 = 100.
    bill = ledger(scenario([lease(plan="monthly", started="2025-12-31")], horizon="31d"))
    assert lines(bill) == [
        ("2025-12-31..2026-01-31", D("2800.00"), D("2709.68"), D("0.00"), True),
        ("2026-01-31..2026-02-28", D("2800.00"), D("100.00"), D("2700.00"), False),
    ]
    assert (bill.committed, bill.cash) == (D("5509.68"), D("2800.00"))


def test_a_running_period_longer_than_the_horizon_owes_nothing_after_it():
    # a year of 365 days, of which the 30 of the horizon accrue: 26,880 x 30 / 365 = 2,209.32
    bill = ledger(scenario([lease(started="2025-06-01")], horizon="30d"))
    assert lines(bill) == [("2025-06-01..2026-06-01", D("26880.00"), D("2209.32"), D("0.00"), True)]
    assert (bill.committed, bill.cash, bill.invoices) == (D("2209.32"), D(0), ())


def test_a_contract_that_runs_already_and_ends_is_spread_over_its_usable_days():
    # usable 1 June to 1 March, 273 days, 59 of them in the horizon: 26,880 x 59 / 273 = 5,809.23
    bill = ledger(scenario([lease(started="2025-06-01", end="2026-03-01")]))
    assert lines(bill) == [("2025-06-01..2026-06-01", D("26880.00"), D("5809.23"), D("0.00"), True)]


@pytest.mark.parametrize("started", ["2026-01-01", "2025-01-01", "2022-01-01"])
def test_a_contract_with_its_anniversary_at_the_start_is_as_a_new_one(started):
    assert lines(ledger(scenario([lease(started=started)]))) == lines(ledger(scenario([lease()])))


def test_only_the_period_that_runs_at_the_start_is_a_line():
    bill = ledger(scenario([lease(plan="monthly", started="2023-03-15")], horizon="1d"))
    assert [line[0] for line in lines(bill)] == ["2025-12-15..2026-01-15"]


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"started": "2025-06-01", "start": "2026-02-01"}, "has no start within the scenario"),
        ({"started": "2025-06-01", "plan": "hourly", "offer": "h100-mig"}, "have no paid period"),
    ],
)
def test_what_cannot_run_already_is_refused(more, rule):
    with pytest.raises(ValidationError, match=rule) as refused:
        scenario([lease(**more)])
    assert refused.value.errors()[0]["loc"] == ("strategies", 0, "leases", 0, "started")


def sliced(profile: str):
    """The h100-mig of the test's price list, as a slice."""
    whole = OFFERS["h100-mig"].model_copy(update={"gpu": "H100-80G", "form": "mig"})
    found = slice_offer(whole, slices_sold(whole, load_catalog().mig_profiles)[profile])
    return {**OFFERS, found.id: found}


def of_slice(profile: str, **more) -> Scenario:
    return scenario([{"offer": "h100-mig", "plan": "hourly", "profile": profile, **more}], horizon="2d")


def hours_of(profile: str, hours: int):
    record = rental(0, hours, lease=0)
    object.__setattr__(record, "offer", f"h100-mig/{profile}")
    return [record]


@pytest.mark.parametrize(
    ("profile", "price", "cost"),
    [
        ("7g.80gb", "20.835", "208.35"),  # the whole card: the middle of 16.67 and 25
        ("3g.40gb", "8.9293", "89.29"),  # 3/7 of the ends: 7.1443 and 10.7143
        ("1g.10gb", "2.9764", "29.76"),  # 1/7: 2.3814 and 3.5714
    ],
)
def test_a_slice_costs_its_share_of_the_compute_slices(profile, price, cost):
    bill = ledger(of_slice(profile), hours_of(profile, 10), offers=sliced(profile))
    (charge,) = bill.charges
    assert charge.offer == f"h100-mig/{profile}"
    assert charge.list_unit_price == D(price)
    assert charge.billed_cost == D(cost)
    assert any("its share of the compute slices (assumed)" in text for text in bill.assumptions)


def test_a_lease_that_gives_the_price_of_a_slice_assumes_no_share():
    bill = ledger(of_slice("3g.40gb", price=9), hours_of("3g.40gb", 10), offers=sliced("3g.40gb"))
    assert bill.charges[0].billed_cost == D("90.00")
    assert not any("compute slices" in text for text in bill.assumptions)


def test_the_running_contract_is_dated_in_local_time():
    bill = ledger(scenario([lease(started="2025-06-01T08:00")]))
    assert bill.charges[0].period_start.replace(tzinfo=None) == datetime(2025, 6, 1, 8)
