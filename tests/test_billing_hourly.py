"""Cards by the hour: increments, minimum, months, cash and rounding, with values worked out on paper."""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from sim.billing.periods import month_edges
from sim.billing.rounding import apportion
from sim.units import HOUR, MINUTE, spread
from tests.billing_cases import BURST, OFFERS, lease, ledger, offer, rental, scenario


def burst(records, price=None, horizon="365d", zone="Asia/Shanghai", start="2026-01-01", **terms):
    """A ledger of a strategy that only bursts, with one list price an hour."""
    sold = OFFERS
    if terms:
        hourly = {"multiplier": 1, **terms}
        sold = {"h100-mig": offer("h100-mig", price or 4, unit="hour", plans={"hourly": hourly})}
    wish = {**BURST, **({} if price is None or terms else {"price": price})}
    asked = scenario(burst=wish, horizon=horizon, zone=zone, start=start)
    return ledger(asked, records, offers=sold)


@pytest.mark.parametrize(("price", "cost"), [("low", "16.67"), (None, "20.84"), ("high", "25.00")])
def test_one_burst_hour(price, cost):
    # The middle of 16.67 to 25 is 20.835, rounded up at the half cent.
    result = burst([rental(10, 11, machine=3)], price)
    assert result.accrued == result.committed == result.cash == Decimal(cost)
    (line,) = result.charges
    assert (line.category, line.lease, line.plan, line.unit) == ("usage", "burst", "hourly", "unit-hours")
    assert line.quantity == 1
    assert line.rule.startswith("machine 3: 1h used, 1 x 1h begun = 1 h x ")


def test_the_price_of_the_command_line_reaches_the_burst():
    asked = scenario(burst={**BURST, "price": "low"})
    assert ledger(asked, [rental(0, 1)], price="high").accrued == Decimal(25)
    assert ledger(scenario(burst={**BURST, "price": 19}), [rental(0, 1)], price="high").accrued == Decimal(19)


def test_begun_increments_are_billed_and_the_minimum():
    assert burst([rental(0, 1.5)], 4).accrued == Decimal(8)
    assert burst([rental(0, 1.5)], 4, increment_s=60, minimum_s=60).accrued == Decimal(6)
    assert burst([rental(0, 0.25)], 4, increment_s=60, minimum_s=1800).accrued == Decimal(2)
    assert burst([rental(0, 0.25)], 4, increment_s=1, minimum_s=0).accrued == Decimal(1)
    # A minimum of 90 min in steps of an hour is two steps.
    assert burst([rental(0, 0.5)], 4, minimum_s=5400).accrued == Decimal(8)


def test_ten_tenths_of_an_hour_are_one_hour():
    # Known fault 38: in floating point ten times 0.1 h is not 1 h.
    end = sum([HOUR // 10] * 10)
    assert burst([rental(0, end / HOUR)], 4).charges[0].quantity == 1
    assert burst([rental(0, (end + 1) / HOUR)], 4).charges[0].quantity == 2


def test_an_order_that_found_nothing_and_the_time_of_waiting_cost_nothing():
    # Known fault 14: no record, no charge; 34 s from order to usable are not billed.
    assert burst([]).charges == ()
    granted = rental(2, 3, ordered_us=2 * HOUR - 34_000_000)
    assert burst([granted], "7.824").committed == Decimal("7.82")


def test_down_time_is_paid():
    assert burst([rental(0, 10, down_card_us=4 * HOUR)], 4).accrued == Decimal(40)


@pytest.mark.parametrize(
    ("zone", "start", "horizon", "hours"),
    [
        ("America/New_York", "2024-03-01", "2024-04-01", 743),
        ("America/New_York", "2024-11-01", "2024-12-01", 721),
        ("America/New_York", "2024-03-10", "2024-03-11", 23),
        ("America/New_York", "2024-11-03", "2024-11-04", 25),
        ("UTC", "2024-03-01", "2024-04-01", 744),
        ("UTC", "2024-11-01", "2024-12-01", 720),
        ("UTC", "2024-03-10", "2024-03-11", 24),
    ],
)
def test_always_on_across_clock_changes(zone, start, horizon, hours):
    # Known fault 05, at 4.00 an hour.
    result = burst([rental(0, None)], 4, zone=zone, start=start, horizon=horizon)
    (line,) = result.charges
    assert (line.quantity, result.accrued, result.cash) == (hours, 4 * hours, 4 * hours)


@pytest.mark.parametrize(
    ("zone", "start"),
    [("America/New_York", "2023-02-15"), ("America/New_York", "2023-03-20")],
)
def test_an_hour_is_on_the_invoice_of_its_local_month(zone, start):
    # Known fault 05: 2023-04-01 04:00Z is local midnight; before the clock change or after, April.
    asked = scenario(burst={**BURST, "price": 7}, zone=zone, start=start, horizon="2023-06-01")
    (edge, _) = month_edges(asked)[-2:]
    hour = edge / HOUR
    invoices = ledger(asked, [rental(hour, hour + 1)]).invoices
    assert [(invoice.month, invoice.total) for invoice in invoices] == [("2023-04", Decimal(7))]
    invoices = ledger(asked, [rental(hour - 1, hour)]).invoices
    assert [(invoice.month, invoice.total) for invoice in invoices] == [("2023-03", Decimal(7))]


def test_a_rental_over_a_month_boundary_is_two_charges():
    # January has 744 h. From hour 740.5 to 748.5: increments begin at 740.5 ... 743.5 and 744.5 ... 747.5.
    result = burst([rental(740.5, 748.5)], 4)
    first, second = result.charges
    assert (first.quantity, second.quantity) == (4, 4)
    assert first.period_end == second.period_start
    assert [(i.month, i.total) for i in result.invoices] == [
        ("2026-01", Decimal(16)),
        ("2026-02", Decimal(16)),
    ]
    assert first.cash_date.isoformat() == "2026-01-31T23:59:59.999999+08:00"
    assert second.cash_date.isoformat() == "2026-02-01T04:29:59.999999+08:00"


def test_the_horizon_cuts_a_rental_but_not_its_last_increment():
    # 10 h horizon, rental from 7.25 h on: 2.75 h inside, three increments begun, 12.00 owed.
    result = burst([rental(7.25, None)], 4, horizon="10h")
    (line,) = result.charges
    assert (line.quantity, line.billed_cost) == (3, Decimal(12))
    assert line.accrued_cost == Decimal(11)
    assert line.owed_after == Decimal(1)
    assert result.cash == Decimal(12)  # an increment is paid as it begins
    assert line.cash_date == result.horizon_end - timedelta(microseconds=1)
    # Known to end at 10.1 h: the 12.00 spread over 2.85 usable hours, 2.75 of them inside.
    (line,) = burst([rental(7.25, 10.1)], 4, horizon="10h").charges
    assert (line.billed_cost, line.accrued_cost) == (Decimal(12), Decimal("11.58"))
    assert burst([rental(10, None)], 4, horizon="10h").charges == ()


def test_a_minimum_that_outlasts_the_horizon_stays_owed():
    (line,) = burst([rental(9, None)], 4, horizon="10h", minimum_s=4 * 3600).charges
    assert (line.billed_cost, line.accrued_cost, line.owed_after) == (Decimal(16), Decimal(4), Decimal(12))
    # Handed back inside the horizon, all of it has been used up.
    (line,) = burst([rental(8, 9)], 4, horizon="10h", minimum_s=4 * 3600).charges
    assert (line.billed_cost, line.accrued_cost) == (Decimal(16), Decimal(16))


def test_a_minimum_over_a_month_end_is_paid_when_the_rental_ends():
    result = burst([rental(743, 743.5)], 4, minimum_s=3 * 3600)
    assert [(line.quantity, line.accrued_cost) for line in result.charges] == [
        (1, Decimal(4)),
        (2, Decimal(8)),
    ]
    assert [(invoice.month, invoice.total) for invoice in result.invoices] == [("2026-01", Decimal(12))]


def test_three_cards_for_a_thousand_hours():
    # Known fault 40: 3,000.00 with either reading of the end, 2,997.00 an hour earlier.
    asked = {"plan": "hourly", "offer": "h100-mig", "count": 3, "price": 1}
    for hours, cost in ((1000, 3000), (999, 2997)):
        records = [rental(0, None, machine, lease=0) for machine in range(3)]
        result = ledger(scenario([asked], horizon=f"{hours}h"), records)
        assert result.accrued == result.committed == result.cash == Decimal(cost)


def test_hourly_and_prepaid_and_burst_side_by_side():
    asked = scenario([lease(), lease(offer="h100-mig", plan="hourly", price=10)], burst=BURST, horizon="31d")
    records = [
        rental(0, None, 0, lease=0),  # a prepaid machine: billed from the contract, not from its record
        rental(5, 7, 0, lease=1),
        rental(5, 7, 1, lease=-1),
    ]
    lines = ledger(asked, records).charges
    assert [(line.id, line.lease, line.billed_cost) for line in lines] == [
        (0, "lease 0", Decimal(26880)),
        (1, "lease 1", Decimal(20)),
        (2, "burst", Decimal("41.67")),
    ]


def test_tiny_lines_sum_to_the_rounded_total():
    # Known fault 09 (a): 81 x 0.0049 = 0.3969 is 0.40: 40 lines of a cent, 41 of nothing.
    records = [rental(1, 1 + 1 / 3600, machine) for machine in range(81)]
    result = burst(records, "17.64", increment_s=1, minimum_s=1)
    amounts = [line.billed_cost for line in result.charges]
    assert result.committed == result.invoices[0].total == Decimal("0.40")
    assert (amounts.count(Decimal("0.01")), amounts.count(Decimal("0.00"))) == (40, 41)
    # Known fault 09 (b).
    assert apportion([Fraction(100, 3)] * 3) == [Decimal("33.34"), Decimal("33.33"), Decimal("33.33")]


def test_a_year_spread_over_its_months_sums_to_the_year():
    # Known fault 09 (c): 12,000 by the hours of 2025's months.
    edges = month_edges(scenario(burst=BURST, start="2025-01-01", zone="UTC"))
    bounds = [0, *(edge // HOUR for edge in edges), 8760]
    parts = spread(Decimal("12000.00"), [b - a for a, b in pairwise(bounds)])
    assert sum(parts) == Decimal(12000)
    assert parts[0] == Decimal("1019.18")
    assert parts[1] == Decimal("920.54")
    assert parts[3] == Decimal("986.30")


def test_every_ledger_sums_to_its_invoices_and_cash_precedes_the_end():
    asked = scenario(
        [lease(3), lease(2, "monthly", start="2026-01-31"), lease(offer="h100-mig", plan="hourly")],
        burst=BURST,
        horizon="100d",
    )
    records = [rental(17 * k + 0.3, 17 * k + 0.3 + (k % 9) * 0.71 + 0.01, k) for k in range(130)]
    records += [rental(100, None, 0, lease=1), rental(100, None, 0, lease=2)]
    result = ledger(asked, records)
    assert sum(invoice.total for invoice in result.invoices) == result.committed
    on_invoices = sorted(number for invoice in result.invoices for number in invoice.charges)
    assert on_invoices == [line.id for line in result.charges]
    for line in result.charges:
        assert line.billed_cost == line.billed_cost.quantize(Decimal("0.01"))
        assert 0 <= line.accrued_cost <= line.billed_cost
        assert line.cash_date < result.horizon_end
        assert line.cash_date.tzinfo is not None
        assert abs(line.billed_cost - line.unit_price * line.quantity) < Decimal("0.01")


def test_assumptions_about_hours():
    result = burst([])
    text = " ".join(result.assumptions)
    assert "20.835 CNY a hour" not in text
    assert "20.835 CNY an hour and unit, the middle of the published range 16.67 to 25.00" in text
    assert "whole increments of 1h, at least 1h a rental" in text
    assert "No refund" not in text
    assert "anniversary" not in text


def test_minutes_of_use_are_shown():
    (line,) = burst([rental(0, 250 * MINUTE / HOUR)], 4).charges
    assert (
        line.rule == "machine 0: 4h 10min used, 5 x 1h begun = 5 h x 4.00 list = 20.00, on the invoice 20.00"
    )
