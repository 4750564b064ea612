"""Faults of other tools with calendars, refunds and shares of a bill, each as a case with a pencil answer.

Numbers are those of the project's list of known faults; rows that stand in other files are found through
docs/known-faults.md.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from sim.billing.periods import month_edges
from sim.billing.refunds import refund_amount
from sim.billing.tax import net_and_tax
from sim.model.ledger import Ledger
from sim.model.terms import Refund, Tax
from sim.units import HOUR, spread
from tests.billing_cases import BURST, lease, ledger, money, offer, rental, scenario

D = Decimal
NEW_YORK = "America/New_York"


# 05: the same hour on another invoice, depending on when the account was opened


@pytest.mark.parametrize("opened", ["2023-02-15", "2023-03-20"])
@pytest.mark.parametrize(("zone", "month"), [(NEW_YORK, "2023-04"), ("UTC", "2023-04")])
def test_05_an_hour_after_local_midnight_is_on_the_new_month_whenever_the_account_began(
    opened: str, zone: str, month: str
) -> None:
    # Pool A from before the clock change, pool B from after it; the hour is 04:00Z to 05:00Z of 1 April.
    asked = scenario(burst={**BURST, "price": 7}, zone=zone, start=opened, horizon="2023-06-01")
    begins = datetime.fromisoformat(opened).replace(tzinfo=asked.zone).astimezone(UTC)
    hour = (datetime(2023, 4, 1, 4, tzinfo=UTC) - begins).total_seconds() / 3600
    result = ledger(asked, [rental(hour, hour + 1)])
    assert [(one.month, one.total) for one in result.invoices] == [(month, D("7.00"))]
    # An hour earlier it is still March in New York, and April in UTC.
    before = ledger(asked, [rental(hour - 1, hour)])
    assert [one.month for one in before.invoices] == ["2023-03" if zone == NEW_YORK else "2023-04"]


@pytest.mark.parametrize(
    ("zone", "start", "end", "hours", "cost"),
    [
        (NEW_YORK, "2024-03-01", "2024-04-01", 743, "2972.00"),
        (NEW_YORK, "2024-11-01", "2024-12-01", 721, "2884.00"),
        (NEW_YORK, "2024-03-10", "2024-03-11", 23, "92.00"),
        (NEW_YORK, "2024-11-03", "2024-11-04", 25, "100.00"),
        ("UTC", "2024-03-01", "2024-04-01", 744, "2976.00"),
        ("UTC", "2024-11-01", "2024-12-01", 720, "2880.00"),
        ("UTC", "2024-03-10", "2024-03-11", 24, "96.00"),
        ("UTC", "2024-11-03", "2024-11-04", 24, "96.00"),
    ],
)
def test_05_an_always_on_pool_is_billed_the_hours_that_the_local_calendar_has(
    zone: str, start: str, end: str, hours: int, cost: str
) -> None:
    asked = scenario(burst={**BURST, "price": 4}, zone=zone, start=start, horizon=end)
    result = ledger(asked, [rental(0, None)])
    (line,) = result.charges
    assert (line.quantity, result.accrued, result.committed) == (hours, D(cost), D(cost))


# 08: a refund uses today's price, not the price paid


def october(end: str, **terms: object) -> Ledger:
    """310.00 prepaid for October 2025; from the tenth on the list says 620.00; left at `end`."""
    changes = [{"from": "2025-10-10", "low": 620, "high": 620}]
    asked = scenario(
        [
            lease(
                1, "monthly", "x", end=end,
                terms={"refund": {"rule": "pro-rata"}, "price_locked": False, **terms},
            )
        ],
        start="2025-10-01", horizon="60d",
    )  # fmt: skip
    return ledger(asked, offers={"x": offer("x", 310, price_changes=changes)})


def test_08_the_unused_part_of_the_price_that_was_paid_returns() -> None:
    # 16 of 31 days: 310 x 16 / 31 = 160.00; at the new price it would be 320.00.
    assert money(october("2025-10-16")) == [("purchase", D("310.00")), ("refund", D("-160.00"))]
    # Left on the last day: a day that has begun counts, so nothing is unused.
    assert money(october("2025-10-31T12:00")) == [("purchase", D("310.00"))]


def test_08_a_credit_is_taken_off_and_tax_is_on_the_rest() -> None:
    rule = Refund(rule="pro-rata")
    rest = refund_amount(rule, Fraction(310), Fraction(15, 31), returned_before=Fraction(100))
    assert rest == 60
    net, tax = net_and_tax(-D("60.00"), Tax(rate=D("0.20"), included=False))
    assert (net, tax, net + tax) == (D("-60.00"), D("-12.00"), D("-72.00"))


@pytest.mark.parametrize("days", range(32))
def test_08_all_refunds_of_a_period_together_never_exceed_what_was_paid(days: int) -> None:
    rule, paid, used = Refund(rule="pro-rata"), Fraction(310), Fraction(days, 31)
    for before in (0, 100, 310):
        due = refund_amount(rule, paid, used, returned_before=Fraction(before))
        assert due == max(0, 310 - 10 * days - before)
        assert due + before <= paid


# 09 (c): rounded one by one, the months of a year add up to a cent more


def test_09_the_months_of_a_year_add_up_to_the_year() -> None:
    # 12,000 x hours of the month / 8760, each rounded by itself: 12,000.01. February gives the cent back.
    edges = month_edges(scenario(burst=BURST, start="2025-01-01", zone="UTC"))
    bounds = [0, *(edge // HOUR for edge in edges), 8760]
    hours = [after - before for before, after in pairwise(bounds)]
    assert hours == [24 * days for days in (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)]
    parts = spread(D("12000.00"), hours)
    long, short = D("1019.18"), D("986.30")
    assert parts == [
        long, D("920.54"), long, short, long, short, long, long, short, long, short, long,
    ]  # fmt: skip
    assert 7 * long + 4 * short + D("920.55") == D("12000.01")
    assert sum(parts) == D("12000.00")


# 14: launches that never got capacity show up as cost


def test_14_a_hundred_nodes_cost_what_they_ran_and_not_what_was_waited() -> None:
    sold = {"node": offer("node", "7.824", unit="hour", plans={"hourly": 1})}
    asked = scenario(burst={"offer": "node", "max": 100, "rent_when_wait_over": "0s"}, horizon="6h")
    assert ledger(asked, [], offers=sold).accrued == 0  # 4,051 s of asking would have been 880.42
    start = (4051 + 34) / 3600
    nodes = [
        dataclasses.replace(rental(start, start + 1, machine, ordered_us=4_051_000_000), offer="node")
        for machine in range(100)
    ]
    result = ledger(asked, nodes, offers=sold)
    assert result.accrued == result.committed == D("782.40")
    assert {line.category for line in result.charges} == {"usage"}


# check values of the project's notes on contracts


def test_values_of_one_card_by_the_year_and_by_the_hour() -> None:
    year = ledger(scenario([lease()])).committed
    months = ledger(scenario([lease(plan="monthly")])).committed
    assert (year, months - year) == (D(26880), D(6720))
    # An hour of a month of 720 h, and of 730 h.
    assert (round(months / 12 / 720, 4), round(months / 12 / 730, 4)) == (D("3.8889"), D("3.8356"))
