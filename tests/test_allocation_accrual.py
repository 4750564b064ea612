"""Cash by date, cost by hour, and the prepaid balance between them, against figures worked out by hand."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.billing.accrual import AFTER, accruals, cash_and_cost
from sim.billing.shares import divide, in_cents
from tests.money_cases import at, charge, ledger, scenario

D = Decimal


def test_a_year_over_its_months_by_hours() -> None:
    """Known fault 09 (c): seven months at 1,019.18, four at 986.30, February at 920.54: 12,000.00."""
    asked = scenario("2025-01-01", "365d", "UTC")
    book = ledger(asked, charge(asked, "12000.00", 0, 8760))
    parts = [one.amount for one in accruals(book, asked, "month")]
    assert parts == [
        *(D("1019.18"), D("920.54"), D("1019.18"), D("986.30"), D("1019.18"), D("986.30")),
        *(D("1019.18"), D("1019.18"), D("986.30"), D("1019.18"), D("986.30"), D("1019.18")),
    ]
    assert sum(parts) == D("12000.00")


@pytest.mark.parametrize(("grain", "count"), [("hour", 720), ("day", 30), ("month", 1)])
def test_every_grain_sums_to_the_line(grain, count) -> None:
    asked = scenario("2026-06-01", "30d")
    book = ledger(asked, charge(asked, "1000.01", 0, 720))
    parts = [one.amount for one in accruals(book, asked, grain)]
    assert len(parts) == count
    assert sum(parts) == D("1000.01")
    assert max(parts) - min(parts) <= D("0.01")


def test_a_day_of_twenty_three_hours_costs_less() -> None:
    """Known fault 05: 743 h of March 2024 in New York; the 10th has 23 of them."""
    asked = scenario("2024-03-01", "743h", "America/New_York")
    book = ledger(asked, charge(asked, "2972.00", 0, 743))
    parts = {one.period: one.amount for one in accruals(book, asked, "day")}
    assert parts["2024-03-10"] == D("92.00")
    assert parts["2024-03-09"] == parts["2024-03-11"] == D("96.00")
    assert sum(parts.values()) == D("2972.00")


def test_cash_cost_and_balance_of_a_year_paid_in_advance() -> None:
    """26,880 for 2026, 90 days simulated: 31 + 28 + 31 days accrue, 275 days stay prepaid."""
    asked = scenario("2026-01-01", "90d", "UTC")
    line = charge(asked, "26880.00", 0, 8760, accrued="6627.95")  # 26,880 x 90 / 365
    rows = cash_and_cost(ledger(asked, line), asked)
    assert [(row.period, row.cash, row.accrued, row.balance) for row in rows] == [
        ("2026-01", D("26880.00"), D("2282.96"), D("24597.04")),  # 6,627.95 x 31 / 90 = 2,282.961
        ("2026-02", D("0.00"), D("2062.03"), D("22535.01")),  # x 28 / 90 = 2,062.029
        ("2026-03", D("0.00"), D("2282.96"), D("20252.05")),
        (AFTER, D("0.00"), D("20252.05"), D("0.00")),
    ]


def test_a_refund_spreads_over_the_time_of_its_purchase() -> None:
    """Known fault 08: 310.00 for October, left after 15 days, 160.00 come back: 10.00 a day."""
    asked = scenario("2025-10-01", "31d", "UTC")
    bought = charge(asked, "310.00", 0, 360)
    back = charge(
        asked, "-160.00", 0, 360, number=1, category="refund", of=0, paid=at(asked, "2025-10-16"), price=160
    )
    days: dict[str, Decimal] = {}
    for one in accruals(ledger(asked, bought, back), asked, "day"):
        days[one.period] = days.get(one.period, D(0)) + one.amount
    assert days == {f"2025-10-{day:02}": D("10.00") for day in range(1, 16)}
    (october, after) = cash_and_cost(ledger(asked, bought, back), asked)
    assert (october.cash, october.accrued, october.balance) == (D("150.00"), D("150.00"), D("0.00"))
    assert after.balance == 0


def test_paid_in_arrears_is_owed_meanwhile() -> None:
    """Two months of 100.00, each paid when it is over: the second one after the horizon."""
    asked = scenario("2026-01-01", "59d", "UTC")
    first = charge(asked, "100.00", 0, 744, paid=at(asked, "2026-02-01"))
    second = charge(asked, "100.00", 744, 1416, number=1, paid=at(asked, "2026-03-01"))
    rows = cash_and_cost(ledger(asked, first, second), asked)
    assert [(row.cash, row.accrued, row.balance) for row in rows] == [
        (D("0.00"), D("100.00"), D("-100.00")),
        (D("100.00"), D("100.00"), D("-100.00")),
        (D("100.00"), D("0.00"), D("0.00")),
    ]


def test_what_was_paid_before_opens_the_balance_and_recoverable_tax_stands_apart() -> None:
    asked = scenario("2026-01-01", "31d", "UTC")
    sunk = charge(asked, "120.00", -744, 744, accrued="60.00", sunk=True)
    net = charge(asked, "100.00", 0, 744, number=1)
    tax = charge(
        asked,
        "6.00",
        0,
        744,
        number=2,
        category="tax",
        of=1,
        recoverable=True,
        accrued="0.00",
        unit="net price",
    )
    (january, after) = cash_and_cost(ledger(asked, sunk, net, tax), asked)
    assert (january.cash, january.recoverable, january.accrued) == (D("106.00"), D("6.00"), D("160.00"))
    assert january.balance == after.balance == D("0.00")


def test_time_before_the_scenario_that_is_paid_in_it_opens_as_a_debt() -> None:
    """A month from 17 December, 31.00, paid on 17 January: 15 of its 31 days were before."""
    asked = scenario("2026-01-01", "31d", "UTC")
    line = charge(
        asked, "31.00", -360, 384, accrued="16.00", before_cost=D("15.00"), paid=at(asked, "2026-01-17")
    )
    (january, after) = cash_and_cost(ledger(asked, line), asked)
    assert (january.cash, january.accrued, january.balance) == (D("31.00"), D("16.00"), D("0.00"))
    assert after.balance == 0


def test_three_equal_parts_of_a_hundred() -> None:
    """Known fault 09 (b)."""
    assert divide(10000, [1, 1, 1]) == [3334, 3333, 3333]
    assert divide(-10000, [1, 1, 1]) == [-3334, -3333, -3333]
    assert divide(5, [0, 0]) == [5, 0]
    assert divide(0, []) == []
    with pytest.raises(ValueError, match="nobody"):
        divide(1, [])


@given(st.integers(-(10**12), 10**12), st.lists(st.integers(0, 10**15), min_size=1, max_size=50))
def test_parts_sum_to_the_whole_and_are_next_to_their_share(amount: int, weights: list[int]) -> None:
    parts = divide(amount, weights)
    assert sum(parts) == amount
    total = sum(weights)
    if total:
        for part, weight in zip(parts, weights, strict=True):
            assert abs(part - Fraction(amount * weight, total)) < 1


@given(st.lists(st.integers(-(10**14), 10**14), max_size=50))
def test_cents_sum_to_the_rounded_total(units: list[int]) -> None:
    parts = in_cents(units)
    assert abs(Fraction(sum(units), 10**6) - sum(parts)) <= Fraction(1, 2)
    assert all(abs(Fraction(unit, 10**6) - part) < 1 for unit, part in zip(units, parts, strict=True))
