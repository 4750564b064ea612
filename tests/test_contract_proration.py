"""Parts of months, periods under each month basis, and dates that are hard: published and pencil values."""

from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from sim.billing.periods import add_months, period_edge, periods
from sim.billing.proration import months_between, months_used, share_used
from sim.billing.rounding import round_cents
from sim.model.terms import Refund
from sim.units import DAY, HOUR
from tests.billing_cases import BURST, lease, ledger, rental, scenario

D = Decimal


def at(text):
    return datetime.fromisoformat(text)


def cost(price, start, end, basis="calendar"):
    return round_cents(price * months_between(at(start), at(end), basis).value)


# --- known fault 02 and published examples ----------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "amount"),
    [
        ("2025-02-26", "2025-03-01", "964.29"),
        ("2024-02-27", "2024-03-01", "931.03"),
        ("2024-02-02", "2024-03-01", "8689.66"),
    ],
)
def test_a_part_of_february_is_divided_by_its_own_days(start, end, amount):
    assert cost(9000, start, end) == D(amount)
    assert cost(9000, start, end) != D("870.97")


def test_huaweis_example_of_a_change_in_mid_month():
    # 18 April 2023, paid to the end of 8 May: 12/30 + 8/31 months of a further 1,750 CNY. The page rounds
    # the months to 0.6581 first and so shows 1,151.67 (of 1,151.675); exactly it is 1,151.61.
    months = months_between(at("2023-04-19"), at("2023-05-09"), "calendar")
    assert months.value == Fraction(12, 30) + Fraction(8, 31)
    assert round(float(months.value), 4) == 0.6581
    assert Fraction("0.6581") * 1750 == Fraction("1151.675")
    assert round_cents(1750 * months.value) == D("1151.61")
    assert months.working == "12/30 + 8/31"


def test_alibabas_example_of_1200_hours():
    # (14,400 - 7,200) / 30 / 24 x 1,200
    assert cost(7200, "2026-03-01", "2026-04-20", "30-days") == D(12000)


def test_tencents_months_of_a_twelfth_of_a_year():
    assert cost(2800, "2026-01-01", "2027-01-01", "mean-month") == D(33600)
    assert cost(2800, "2026-01-01", "2026-02-01", "mean-month") == D("2853.70")  # 31 x 12 / 365


@pytest.mark.parametrize(
    ("start", "end", "value", "working"),
    [
        ("2026-04-01", "2027-01-01", Fraction(9), "9"),
        ("2026-04-11", "2027-01-01", 8 + Fraction(20, 30), "20/30 + 8"),
        ("2026-01-31", "2026-03-02", Fraction(1, 31) + 1 + Fraction(1, 31), "1/31 + 1 + 1/31"),
        ("2026-04-15", "2026-04-15", Fraction(0), "0"),
        ("2026-04-15", "2026-04-15T12:00", Fraction(1, 60), "0.5/30"),
        ("2024-02-29", "2024-03-01", Fraction(1, 29), "1/29"),
        ("2025-12-31T18:00", "2026-01-01", Fraction(1, 124), "0.25/31"),
    ],
)
def test_calendar_months_between(start, end, value, working):
    found = months_between(at(start), at(end), "calendar")
    assert (found.value, found.working) == (value, working)


@pytest.mark.parametrize(
    ("until", "part", "value"),
    [
        ("2026-04-01", "day", Fraction(3)),
        ("2026-04-01T00:00:01", "month", Fraction(4)),
        ("2026-04-01T00:00:01", "day", 3 + Fraction(1, 30)),
        ("2026-04-01T00:00:01", "hour", 3 + Fraction(1, 720)),
        ("2026-04-01T00:00:01", "exact", 3 + Fraction(1, 30 * 86400)),
        ("2026-04-30T23:59", "day", Fraction(4)),
        ("2026-01-01", "month", Fraction(0)),
    ],
)
def test_months_used(until, part, value):
    assert months_used(at("2026-01-01"), at(until), "calendar", part).value == value


def test_months_used_from_the_31st():
    # Anniversaries on 28 February and 31 March: one full month to 28 February, then 3 of 31 days.
    assert months_used(at("2026-01-31"), at("2026-03-03"), "calendar", "day").value == 1 + Fraction(3, 31)


def test_the_share_of_a_period_never_exceeds_it():
    start, end = at("2026-01-01"), at("2026-02-01")
    for part in ("day", "hour", "exact", "month"):
        rule = Refund(rule="pro-rata", part=part)
        used, text, _ = share_used(
            start, end, at("2026-01-31T23:30"), (743 * HOUR + HOUR // 2, 31 * DAY), "calendar", rule
        )
        assert used == (Fraction(1487, 1488) if part == "exact" else 1)
        assert " / " in text


# --- month bases ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("basis", "edges"),
    [
        ("calendar", ["01-31 00:00", "02-28 00:00", "03-31 00:00", "04-30 00:00"]),
        ("30-days", ["01-31 00:00", "03-02 00:00", "04-01 00:00", "05-01 00:00"]),
        ("mean-month", ["01-31 00:00", "03-02 10:00", "04-01 20:00", "05-02 06:00"]),
    ],
)
def test_periods_under_each_month(basis, edges):
    asked = scenario([lease(plan="monthly", start="2026-01-31", terms={"month": basis})], horizon="122d")
    lines = ledger(asked).charges
    assert [f"{c.period_start:%m-%d %H:%M}" for c in lines][:4] == edges
    for before, after in pairwise(lines):
        assert before.period_end == after.period_start


def test_twelve_mean_months_are_365_days():
    assert period_edge(at("2026-01-01"), 12, "mean-month") == at("2027-01-01")
    assert period_edge(at("2024-01-01"), 12, "mean-month") == at("2024-12-31")
    assert period_edge(at("2026-01-01"), 12, "30-days") == at("2026-12-27")


# --- hard dates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "months", "day"),
    [
        ("2023-01-31", 1, "2023-02-28"),
        ("2024-01-31", 1, "2024-02-29"),
        ("2023-01-31", 3, "2023-04-30"),
        ("2024-02-29", 12, "2025-02-28"),
        ("2024-02-29", 48, "2028-02-29"),
        ("2023-12-31", 2, "2024-02-29"),
        ("2026-08-31T23:59:59", 1, "2026-09-30T23:59:59"),
        ("2099-11-30", 3, "2100-02-28"),
    ],
)
def test_anniversaries(start, months, day):
    assert add_months(at(start), months) == at(day)


def test_a_quarter_from_the_30th_of_november_over_a_leap_february():
    asked = scenario([lease(plan="quarterly")], start="2023-11-30", horizon="2024-12-01")
    starts = [f"{c.period_start:%Y-%m-%d}" for c in ledger(asked).charges]
    assert starts == ["2023-11-30", "2024-02-29", "2024-05-30", "2024-08-30", "2024-11-30"]


def test_a_year_across_a_leap_day_accrues_over_366_days():
    asked = scenario([lease()], start="2023-07-01", horizon="2024-01-01")
    (line,) = ledger(asked).charges
    assert line.accrued_cost == D("13513.44")  # 26,880 x 184 / 366 = 13,513.442...


@pytest.mark.parametrize(
    "zone", ["America/New_York", "Europe/Berlin", "Asia/Shanghai", "UTC", "Australia/Sydney"]
)
def test_a_month_of_a_clock_change_costs_a_month(zone):
    asked = scenario([lease(plan="monthly")], start="2024-03-01", horizon="2025-03-01", zone=zone)
    result = ledger(asked)
    assert [c.billed_cost for c in result.charges] == [D(2800)] * 12
    assert result.accrued == D(33600)
    assert all(f"{c.period_start:%d %H:%M}" == "01 00:00" for c in result.charges)


def test_a_refund_over_a_clock_change_counts_days_not_hours():
    # Berlin, 16 to 31 March 2026 has an hour less; 15 of 31 days used, 16 return: 3,100 x 16 / 31 = 1,600.
    terms = {"refund": {"rule": "pro-rata"}}
    asked = scenario(
        [lease(plan="monthly", price=3100, end="2026-03-16", terms=terms)],
        start="2026-03-01",
        horizon="31d",
        zone="Europe/Berlin",
    )
    assert [c.billed_cost for c in ledger(asked).charges] == [D(3100), D(-1600)]
    # By the hour: 360 of 743 h used: 3,100 x 383 / 743 = 1,597.98.
    terms = {"refund": {"rule": "pro-rata", "part": "hour"}}
    asked = scenario(
        [lease(plan="monthly", price=3100, end="2026-03-16", terms=terms)],
        start="2026-03-01",
        horizon="31d",
        zone="Europe/Berlin",
    )
    assert [c.billed_cost for c in ledger(asked).charges] == [D(3100), D("-1597.98")]


def test_a_lease_of_one_second():
    # A whole period is owed; all of it accrues in that second.
    result = ledger(scenario([lease(plan="monthly", end="2026-01-01T00:00:01")]))
    assert result.accrued == result.cash == D(2800)
    # Exactly used: 2,800 x (1 - 1 / 2,678,400 s) = 2,799.998955 returns, rounded to 2,800.00.
    terms = {"refund": {"rule": "pro-rata", "part": "exact"}}
    result = ledger(scenario([lease(plan="monthly", end="2026-01-01T00:00:01", terms=terms)]))
    assert [c.billed_cost for c in result.charges] == [D(2800), D("-2800.00")]
    # By the hour: one increment of an hour, or of a second: 7.20 / 3,600 = 0.002, nothing to pay.
    second = [rental(0, 1 / 3600)]
    assert ledger(scenario(burst={**BURST, "price": "7.2"}), second).accrued == D("7.20")


def test_a_lease_of_three_years():
    asked = scenario([lease(end="2029-01-01")], horizon="2029-01-01")
    result = ledger(asked)
    assert [c.billed_cost for c in result.charges] == [D(26880)] * 3
    assert result.accrued == result.committed == D(80640)
    asked = scenario([lease(plan="36-months", end="2029-01-01")], horizon="2029-01-01")
    result = ledger(asked)
    assert [c.billed_cost for c in result.charges] == [D(80640)]
    assert (result.charges[0].period_end - result.charges[0].period_start).days == 365 * 2 + 366
    # A monthly lease of three years, left on its last day but one.
    asked = scenario([lease(plan="monthly", end="2028-12-31")], horizon="2029-01-01")
    assert ledger(asked).accrued == D(36 * 2800)


def test_a_term_across_a_year_is_split_by_days():
    # 1 October 2026 to 1 October 2027: 92 days in 2026, 273 in 2027.
    asked = scenario([lease(start="2026-10-01")])
    (line,) = ledger(asked).charges
    assert line.accrued_cost == D("6775.23")  # 26,880 x 92 / 365 = 6,775.232...
    assert line.owed_after == D("20104.77")


def test_billing_from_the_next_full_hour():
    terms = {"begins": "next-hour"}
    asked = scenario([lease(plan="monthly", start="2026-01-01T09:20", terms=terms)], horizon="31d")
    (line,) = ledger(asked).charges
    assert f"{line.period_start:%m-%d %H:%M}..{line.period_end:%m-%d %H:%M}" == "01-01 10:00..02-01 10:00"
    assert f"{line.accrues_from:%H:%M}" == "09:20"
    # 744 h from 10:00 and 40 min before; 734 h and 40 min in the horizon: 2,800 x 734.667 / 744.667.
    assert line.accrued_cost == D("2762.40")
    on_the_hour = scenario([lease(plan="monthly", start="2026-01-01T09:00", terms=terms)], horizon="31d")
    assert f"{ledger(on_the_hour).charges[0].period_start:%H:%M}" == "09:00"


def test_hours_from_the_next_full_hour():
    # 00:30 to 02:30 is billed from 01:00: two hours begun; 00:10 to 00:40 is over before billing begins.
    result = ledger(scenario(burst={**BURST, "price": 4}, terms={"begins": "next-hour"}), [rental(0.5, 2.5)])
    (line,) = result.charges
    assert (line.quantity, line.billed_cost) == (2, D(8))
    assert (f"{line.period_start:%H:%M}", f"{line.accrues_from:%H:%M}") == ("01:00", "00:30")
    early = scenario(burst={**BURST, "price": 4}, terms={"begins": "next-hour"})
    assert ledger(early, [rental(1 / 6, 2 / 3)]).charges == ()
    assert ledger(early, [rental(1 / 6, 1)]).charges == ()


def test_periods_can_be_listed_by_themselves():
    asked = scenario([lease()], horizon="61d")
    found = [
        (period.start_us // DAY, period.end_us // DAY)
        for period in periods(asked, asked.start, 1, 61 * DAY, "30-days")
    ]
    assert found == [(0, 30), (30, 60), (60, 90)]
