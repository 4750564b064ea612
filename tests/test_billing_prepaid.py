"""Prepaid leases: prices, periods, accrual and what stays owed, with values worked out on paper."""

import re
from decimal import Decimal

import pytest

from sim.errors import InputError
from tests.billing_cases import CUSTOM, H100, OPTIONS, REPEAT, WHOLE, lease, ledger, offer, scenario


def billed(asked, **more):
    return [charge.billed_cost for charge in ledger(asked, **more).charges]


@pytest.mark.parametrize(("count", "cost"), [(1, "26880"), (4, "107520"), (8, "215040")])
def test_a_year_of_custom_cards_in_advance(count, cost):
    result = ledger(scenario([lease(count)]))
    assert [charge.billed_cost for charge in result.charges] == [Decimal(cost)]
    assert result.accrued == result.committed == result.cash == Decimal(cost)


def test_the_line_of_four_cards_can_be_followed_with_a_calculator():
    (line,) = ledger(scenario([lease(4)])).charges
    assert line.rule == (
        "annual, paid in advance for 2026-01-01 to 2027-01-01: "
        "4 units x 12 months x 2,800.00 list x 0.80 annual = 107,520.00"
    )
    assert (line.quantity, line.unit) == (48, "unit-months")
    assert (line.list_unit_price, line.unit_price, line.list_cost) == (2800, 2240, 134400)
    assert (line.category, line.lease, line.provider) == ("purchase", "lease 0", "idc10000")
    assert line.cash_date.isoformat() == line.period_start.isoformat() == "2026-01-01T00:00:00+08:00"
    assert line.period_end.isoformat() == "2027-01-01T00:00:00+08:00"


def test_quarters_at_five_per_cent_off():
    # 3 x 2,800 x 0.95 = 7,980; 2026 has 90 + 91 + 92 + 92 days.
    result = ledger(scenario([lease(plan="quarterly")]))
    assert [charge.billed_cost for charge in result.charges] == [Decimal(7980)] * 4
    days = [(charge.period_end - charge.period_start).days for charge in result.charges]
    assert days == [90, 91, 92, 92]


def test_twelve_months_are_twelve_invoices():
    result = ledger(scenario([lease(plan="monthly")]))
    assert [charge.billed_cost for charge in result.charges] == [Decimal(2800)] * 12
    assert [invoice.month for invoice in result.invoices] == [f"2026-{m:02d}" for m in range(1, 13)]
    assert {invoice.total for invoice in result.invoices} == {Decimal(2800)}


@pytest.mark.parametrize(
    ("machine", "price", "cost"),
    [
        ("a100-40g-8x", "low", 255000),
        ("a100-40g-8x", "high", 357000),
        ("a100-40g-8x", None, 306000),
        ("h100-80g-8x", "low", 816000),
        ("h100-80g-8x", "high", 1224000),
        ("own-8x-a100", "low", 306000),
        ("own-8x-a100", None, 403000),
    ],
)
def test_whole_machines_by_the_year(machine, price, cost):
    asked = lease(offer=machine) if price is None else lease(offer=machine, price=price)
    assert billed(scenario([asked])) == [Decimal(cost)]


def test_the_command_line_replaces_words_and_the_default_but_not_numbers():
    both = scenario(
        [
            lease(offer="a100-40g-8x"),
            lease(offer="a100-40g-8x", price="high"),
            lease(offer="a100-40g-8x", price=10000),
        ]
    )
    assert billed(both, price="low") == [Decimal(255000), Decimal(255000), Decimal(102000)]


def test_a_year_priced_offer_says_so():
    (line,) = ledger(scenario([lease(2, offer="own-8x-a100", price=400000)])).charges
    assert (line.quantity, line.unit, line.unit_price) == (2, "unit-years", 400000)
    assert "2 units x 1 year x 400,000.00 list = 800,000.00" in line.rule


@pytest.mark.parametrize(
    ("repeat", "month"),
    [
        ({}, 8560),  # 4 x (2,800 x 0.80 - 100)
        ({"order": "before_discount"}, 8640),  # 4 x (2,800 - 100) x 0.80
        ({"first_card": False}, 8660),  # 2,240 + 3 x 2,140
    ],
)
def test_three_readings_of_repeat_purchase(repeat, month):
    sold = {"a100-40g-custom": offer(repeat={**REPEAT, **repeat})}
    asked = scenario([lease(4, repeat_purchase=True)])
    assert billed(asked, offers=sold) == [Decimal(month * 12)]
    assert billed(scenario([lease(4)]), offers=sold) == [Decimal(107520)]


def test_repeat_purchase_counts_cards_not_units():
    # 8 cards x 100 off 30,000 x 0.85 = 25,500 a month.
    assert billed(scenario([lease(offer="a100-40g-8x", repeat_purchase=True)])) == [Decimal(24700 * 12)]


def test_options_are_not_discounted():
    # 2,800 x 0.80 + 400 + 600 + 300 = 3,540 a month, not 4,100 x 0.80 = 3,280.
    result = ledger(scenario([lease(options=list(OPTIONS))]))
    assert [charge.billed_cost for charge in result.charges] == [Decimal(3540 * 12)]
    assert result.charges[0].list_unit_price == 4100
    assert any("options are not discounted" in text for text in result.assumptions)


@pytest.mark.parametrize(("start", "cost"), [("2026-04-01", 208320), ("2026-07-01", 174720)])
def test_from_four_to_eight_with_monthly_cards(start, cost):
    # 107,520 + (12 - m) x 4 x 2,800 for m = 3 and 6.
    result = ledger(scenario([lease(4), lease(4, "monthly", start=start)]))
    assert result.cash == result.accrued == result.committed == Decimal(cost)


def test_the_31st_is_clamped_and_comes_back():
    # Known fault 01: 28 + 31 + 30 + 31 days, 4 x 3,100.
    asked = scenario([lease(plan="monthly", price=3100, end="2023-05-31")], start="2023-01-31", zone="UTC")
    result = ledger(asked)
    edges = [(f"{c.period_start:%m-%d}", f"{c.period_end:%m-%d}") for c in result.charges]
    assert edges == [("01-31", "02-28"), ("02-28", "03-31"), ("03-31", "04-30"), ("04-30", "05-31")]
    assert sum((c.period_end - c.period_start).days for c in result.charges) == 120
    assert len(result.invoices) == 4
    assert result.committed == Decimal(12400)


def test_a_leap_day_start_keeps_to_the_end_of_february():
    asked = scenario([lease(end="2028-02-29")], start="2024-02-29", horizon="2029-01-01", zone="UTC")
    starts = [f"{charge.period_start:%Y-%m-%d}" for charge in ledger(asked).charges]
    assert starts == ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28"]


def test_anniversaries_keep_the_wall_time_when_clocks_change():
    asked = scenario([lease(plan="monthly")], start="2026-03-01T09:00", horizon="90d", zone="Europe/Berlin")
    lines = ledger(asked).charges
    assert [c.period_start.isoformat() for c in lines] == [
        "2026-03-01T09:00:00+01:00",
        "2026-04-01T09:00:00+02:00",
        "2026-05-01T09:00:00+02:00",
    ]
    assert (lines[1].cash_date - lines[0].cash_date).total_seconds() == 31 * 86400  # wall time
    # 90 days are 2,160 elapsed hours. March to April is 743 h (clocks go forward), April to May 720 h,
    # so 697 of the 744 h of the third period are inside.
    assert lines[2].accrued_cost == Decimal("2623.12")  # 2,800 x 697 / 744 = 2,623.118...


def test_a_lease_that_ends_inside_a_period_owes_it_whole():
    # Usable to 1 March (59 days), horizon after it: all of the year accrues in 59 days.
    result = ledger(scenario([lease(end="2026-03-01")], horizon="90d"))
    assert result.accrued == result.committed == Decimal(26880)
    assert "the lease ends 2026-03-01, no refund" in result.charges[0].rule
    # Horizon inside the usable time: 31 of 59 days.
    result = ledger(scenario([lease(end="2026-03-01")], horizon="31d"))
    assert result.accrued == Decimal("14123.39")  # 26,880 x 31 / 59 = 14,123.389...
    assert result.committed == result.cash == Decimal(26880)


def test_an_annual_contract_over_ninety_days_owes_the_rest():
    result = ledger(scenario([lease()], horizon="90d"))
    assert result.accrued == Decimal("6627.95")  # 26,880 x 90 / 365 = 6,627.945...
    (line,) = result.charges
    assert line.owed_after == Decimal("20252.05")
    assert line.accrued_cost + line.owed_after == line.billed_cost == Decimal(26880)
    assert result.cash == Decimal(26880)
    assert "90d of 365d usable in the horizon" in line.rule


def test_a_period_that_begins_at_the_end_of_the_horizon_is_not_owed():
    # 31 days of January, half-open: the period of 1 February begins outside.
    assert billed(scenario([lease(plan="monthly")], horizon="31d")) == [Decimal(2800)]
    assert billed(scenario([lease(plan="monthly")], horizon="31d 1us")) == [Decimal(2800), Decimal(2800)]
    assert billed(scenario([lease(), lease(start="2026-02-01")], horizon="31d")) == [Decimal(26880)]
    assert billed(scenario([lease(), lease(start="2027-02-01")], horizon="31d")) == [Decimal(26880)]


def test_each_working_gives_the_amount_of_its_line():
    sold = {"x": offer("x", 2500, 3333, repeat={**REPEAT, "order": "before_discount"}, options=OPTIONS)}
    asked = scenario(
        [
            lease(3, plan, "x", repeat_purchase=asks, options=options, price=price)
            for plan in ("monthly", "quarterly", "annual")
            for asks in (False, True)
            for options in ([], ["cpu16", "disk1t"])
            for price in ("low", "mid", 2799.99)
        ]
    )
    lines = ledger(asked, offers=sold).charges
    assert len(lines) == 12 * (12 + 4 + 1)
    for line in lines:
        working, result = re.sub(r"^[^:]*: |,|;.*", "", line.rule).split(" = ")
        sum_ = re.sub(r"[a-z]{2,}", "", working).replace(" x ", " * ")
        assert eval(re.sub(r"[\d.]+", r"Decimal('\g<0>')", sum_)) == Decimal(result)
        assert abs(line.billed_cost - Decimal(result)) <= Decimal("0.005")


def test_only_assumptions_that_apply_are_listed():
    texts = " ".join(ledger(scenario([lease(plan="monthly", end="2026-12-01")])).assumptions)
    assert "calendar anniversary" in texts
    assert "No refund" in texts
    assert "no VAT line" in texts
    assert "no reduction for repeat purchase" in texts
    for absent in ("monthly plan at", "options", "range", "increments", "renews"):
        assert absent not in texts
    texts = " ".join(ledger(scenario([lease(offer="a100-40g-8x", repeat_purchase=True)])).assumptions)
    assert "30,000.00 CNY a month and unit, the middle of the published range 25,000.00 to 35,000.00" in texts
    assert "annual plan at 0.85 of the list price (as the source states)" in texts
    assert "taken after the discount, the first card included (assumed)" in texts
    assert "renews unchanged" in texts
    guess = offer("guess", plans={"annual": {"multiplier": "0.8", "assumed": True}})
    texts = " ".join(ledger(scenario([lease(offer="guess")]), offers={"guess": guess}).assumptions)
    assert "(assumed, the source does not state it)" in texts


@pytest.mark.parametrize(
    ("asked", "key", "words"),
    [
        (lease(plan="hourly"), "plan", "not sold under this plan"),
        (lease(offer="h100-mig"), "plan", "known: hourly"),
        (lease(offer="a100-40g-8x", plan="quarterly"), "plan", "known: monthly, annual"),
        (lease(offer="nothing"), "offer", "known: a100-40g-8x"),
        (lease(options=["cpu17"]), "options", "did you mean 'cpu16'"),
        (lease(offer="h100-80g-8x", repeat_purchase=True), "repeat_purchase", "no reduction"),
        (lease(price=125, repeat_purchase=True), "repeat_purchase", "something to pay"),
        (lease(start="2025-12-31"), "start", "before the scenario"),
        (lease(offer="h100-mig", plan="hourly", repeat_purchase=True), "repeat_purchase", "by the month"),
        (lease(offer="h100-mig", plan="hourly", options=["cpu16"]), "options", "by the month"),
    ],
)
def test_a_contract_that_cannot_be_is_refused_with_its_place(asked, key, words):
    with pytest.raises(InputError) as caught:
        ledger(scenario([lease(), asked]))
    (problem,) = caught.value.problems
    assert problem.key == f"strategies.s.leases.1.{key}"
    assert words in str(problem)


def test_all_wrong_leases_are_told_at_once():
    with pytest.raises(InputError) as caught:
        ledger(scenario([lease(plan="hourly"), lease(offer="no")], burst={**BURST_ON_CUSTOM}))
    assert [problem.key for problem in caught.value.problems] == [
        "strategies.s.leases.0.plan",
        "strategies.s.leases.1.offer",
        "strategies.s.burst.offer",
    ]


BURST_ON_CUSTOM = {"offer": CUSTOM.id, "max": 1, "rent_when_wait_over": "1h"}


def test_a_month_priced_offer_is_not_billed_by_the_hour():
    odd = offer("odd", plans={"hourly": 1, "monthly": 1})
    with pytest.raises(InputError, match="priced by the month"):
        ledger(scenario([lease(offer="odd", plan="hourly")]), offers={"odd": odd})


def test_the_offers_used_here_are_those_of_the_price_list():
    assert (CUSTOM.price.low, WHOLE.price.high, H100.price.high) == (2800, 35000, 120000)
