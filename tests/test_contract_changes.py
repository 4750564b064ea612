"""Capacity added in mid term, conversions, and what follows a paid period."""

from decimal import Decimal

import pytest

from tests.billing_cases import lease, ledger, money, offer, planned, scenario

D = Decimal
CO_TERM = {"added": "co-term"}
SOLD = {
    "card": offer(
        "card",
        2800,
        plans={"hourly": 1, "monthly": 1, "quarterly": "0.95", "annual": "0.80"},
        terms={"hourly_price": 5},
    )
}


def spans(result):
    """(from, to, billed) of each line, dates only."""
    return [(f"{c.period_start:%m-%d}", f"{c.period_end:%m-%d}", c.billed_cost) for c in result.charges]


# --- added capacity ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "cost"),
    # 107,520 + 4 x 2,240 x (12 - m)
    [("2026-04-01", 188160), ("2026-07-01", 161280), ("2026-02-01", 206080), ("2026-12-01", 116480)],
)
def test_from_four_to_eight_with_the_same_end(start, cost):
    asked = scenario([lease(4), lease(4, start=start, joins=0, terms=CO_TERM)])
    result = ledger(asked)
    assert result.cash == result.accrued == result.committed == D(cost)
    first, added = result.charges
    assert added.period_end == first.period_end
    assert (added.accrues_from, added.accrues_until) == (added.period_start, first.period_end)


def test_added_in_the_middle_of_a_month_counts_the_days_of_each_month():
    # 11 April to the end of the year: 20/30 + 8 months of 2,240.
    asked = scenario([lease(), lease(start="2026-04-11", joins=0, terms=CO_TERM)])
    line = ledger(asked).charges[1]
    assert line.billed_cost == D("19413.33")
    assert line.rule == (
        "annual, paid in advance for 2026-04-11 to 2027-01-01: 1 unit x (20/30 + 8) months x 2,800.00 list x "
        "0.80 annual = 19,413.333333; to the end of the running period of lease 0"
    )


def test_after_its_first_part_added_capacity_renews_with_the_other():
    # Quarters from 31 January: the second begins 30 April, so that the lease of 15 February runs with it.
    asked = scenario(
        [
            lease(1, "quarterly", start="2026-01-31"),
            lease(1, "quarterly", start="2026-02-15", joins=0, terms=CO_TERM),
        ],
        horizon="2026-08-15",
    )
    lines = ledger(asked).charges
    edges = [(c.lease, f"{c.period_start:%m-%d}", f"{c.period_end:%m-%d}") for c in lines]
    assert edges == [
        ("lease 0", "01-31", "04-30"),
        ("lease 0", "04-30", "07-31"),
        ("lease 0", "07-31", "10-31"),
        ("lease 1", "02-15", "04-30"),
        ("lease 1", "04-30", "07-31"),
        ("lease 1", "07-31", "10-31"),
    ]
    # (14/28 + 1 + 29/30) x 2,800 x 0.95 = 6,561.33
    assert [line.billed_cost for line in lines[3:]] == [D("6561.33"), D(7980), D(7980)]


def test_added_capacity_by_other_months():
    # Months of 30 days: 365 - 100 days of which 260 are in the year of 360: 260 x 24 h / 720 h.
    asked = scenario(
        [
            lease(terms={"month": "30-days"}),
            lease(start="2026-04-11", joins=0, terms={**CO_TERM, "month": "30-days"}),
        ],
        horizon="350d",
    )
    line = ledger(asked).charges[1]
    assert line.billed_cost == D("19413.33")  # 2,240 x 6,240 / 720
    assert "(6,240 h / 720 h) months" in line.rule
    # Months of 365/12 days: 265 days x 12 / 365 x 2,240 = 19,515.62
    asked = scenario(
        [
            lease(terms={"month": "mean-month"}),
            lease(start="2026-04-11", joins=0, terms={**CO_TERM, "month": "mean-month"}),
        ],
    )
    assert ledger(asked).charges[1].billed_cost == D("19515.62")


def test_added_capacity_with_a_term_of_its_own():
    asked = scenario([lease(4), lease(4, start="2026-04-01", joins=0)])
    result = ledger(asked)
    assert result.cash == 2 * D(107520)
    assert any("term of their own (assumed)" in text for text in result.assumptions)


def test_a_lease_can_join_one_that_joined_another():
    asked = scenario(
        [
            lease(),
            lease(start="2026-04-01", joins=0, terms=CO_TERM),
            lease(start="2026-10-01", joins=1, terms=CO_TERM),
        ]
    )
    assert [c.billed_cost for c in ledger(asked).charges] == [D(26880), D(20160), D(6720)]


def test_a_lease_that_begins_with_the_other_pays_whole_periods():
    asked = scenario([lease(), lease(joins=0, terms=CO_TERM)])
    assert [c.billed_cost for c in ledger(asked).charges] == [D(26880)] * 2


# --- conversions ------------------------------------------------------------------------------------


def test_from_hours_to_months_to_a_year():
    # 240 h at 5, a month at 2,800 (11 January to 11 February, renewed until 11 March), then 26,880.
    asked = scenario(
        [
            lease(
                plan="hourly",
                offer="card",
                converts=[
                    {"at": "2026-01-11", "plan": "monthly"},
                    {"at": "2026-02-20", "plan": "annual"},
                ],
            )
        ]
    )
    result = planned(asked, SOLD)
    assert sorted(spans(result)) == [
        ("01-01", "01-11", D(1200)),
        ("01-11", "02-11", D(2800)),
        ("02-11", "03-11", D(2800)),
        ("03-11", "03-11", D(26880)),
    ]
    rules = [c.rule for c in result.charges]
    assert any("converted from monthly" in rule for rule in rules)
    assert any("converted from hourly" in rule for rule in rules)
    # The year runs to 11 March 2027: 70 of its 365 days lie after the horizon.
    year = next(c for c in result.charges if c.plan == "annual")
    assert year.accrued_cost == D("21798.58")  # 26,880 x 296 / 365 = 21,798.575
    assert result.committed == D(1200 + 5600 + 26880)


def test_a_conversion_takes_effect_at_once_where_the_rest_is_refunded():
    # Left on 15 February: 14 of 28 days return, 1,400.
    terms = {"refund": {"rule": "pro-rata"}}
    asked = scenario([lease(plan="monthly", converts=[{"at": "2026-02-15", "plan": "annual"}], terms=terms)])
    assert spans(ledger(asked)) == [
        ("01-01", "02-01", D(2800)),
        ("02-01", "03-01", D(2800)),
        ("02-15", "03-01", D(-1400)),
        ("02-15", "02-15", D(26880)),
    ]
    assert "left for a longer plan" in ledger(asked).charges[1].rule


def test_a_conversion_at_a_periods_end_needs_no_refund():
    asked = scenario([lease(plan="monthly", converts=[{"at": "2026-03-01", "plan": "quarterly"}])])
    plans = [(c.plan, f"{c.period_start:%m-%d}") for c in ledger(asked).charges]
    assert plans == [
        ("monthly", "01-01"),
        ("monthly", "02-01"),
        ("quarterly", "03-01"),
        ("quarterly", "06-01"),
        ("quarterly", "09-01"),
        ("quarterly", "12-01"),
    ]


def test_a_conversion_in_the_grace_days_returns_the_month():
    terms = {"refund": {"grace_days": 7}}
    asked = scenario([lease(plan="monthly", converts=[{"at": "2026-01-05", "plan": "annual"}], terms=terms)])
    assert money(ledger(asked)) == [("purchase", D(2800)), ("refund", D(-2800)), ("purchase", D(26880))]


# --- what follows a paid period ---------------------------------------------------------------------


def test_a_contract_ends_with_its_period():
    asked = scenario([lease(plan="quarterly", terms={"expiry": "end"})])
    result = planned(asked)
    assert money(result) == [("purchase", D(7980))]
    assert result.committed == D(7980)


def test_a_contract_renews_at_list_price():
    asked = scenario([lease(plan="quarterly", terms={"expiry": "renew-at-list"})])
    result = ledger(asked)
    assert [c.billed_cost for c in result.charges] == [D(7980), D(8400), D(8400), D(8400)]
    assert result.charges[1].rule.startswith("quarterly at list price, paid in advance for 2026-04-01")
    assert "x 0.95" not in result.charges[1].rule


def test_a_contract_falls_back_to_hours():
    # 90 days for 7,980, then 275 days of 24 h at 2,800 / 720.
    asked = scenario([lease(2, "quarterly", terms={"expiry": "hourly"})])
    result = planned(asked)
    purchase, *hours = result.charges
    assert purchase.billed_cost == 2 * D(7980)
    assert len(hours) == 2 * 9
    # Two cards a month: 5,600 for 720 h (4 months), 5,786.67 for 744 h (5 months), each invoice rounded.
    assert sum(c.billed_cost for c in hours) == D("51333.35")
    first = hours[0]
    assert f"{first.period_start:%Y-%m-%d}" == "2026-04-01"
    assert "720 h x 2,800.00 list / 720 = 2,800.00" in first.rule
    assert any("monthly list price / 720 h (assumed)" in text for text in result.assumptions)


def test_the_price_of_the_fall_back_may_be_agreed():
    asked = scenario([lease(plan="monthly", terms={"expiry": "hourly", "hourly_price": 4}, end="2026-02-11")])
    result = planned(asked)
    assert [c.billed_cost for c in result.charges] == [D(2800), D(960)]  # 240 h


def test_options_stay_when_a_contract_falls_back_to_hours():
    terms = {"expiry": "hourly"}
    asked = scenario([lease(plan="monthly", options=["cpu16"], terms=terms, end="2026-02-11")])
    # 240 h x (2,800 + 400) / 720 = 1,066.67
    assert [c.billed_cost for c in planned(asked).charges] == [D(3200), D("1066.67")]


@pytest.mark.parametrize(
    ("change", "prices"),
    [
        ("0.05", ["2800.00", "2940.00", "3087.00", "3241.35"]),  # 2,800 x 1.05 ^ k
        ("-0.1", ["2800.00", "2520.00", "2268.00", "2041.20"]),
    ],
)
def test_a_price_changes_at_each_renewal(change, prices):
    asked = scenario([lease(plan="monthly", terms={"renewal_change": change})], horizon="120d")
    result = ledger(asked)
    assert [c.billed_cost for c in result.charges] == [D(price) for price in prices]
    assert f"2,800.00 x {1 + D(change)} ^ 2 after renewals" in result.charges[2].rule
