"""Prices that change, other lengths of a plan, where a term is taken from, and when money is paid."""

from decimal import Decimal

import pytest

from tests.billing_cases import BURST, CUSTOM, OFFERS, lease, ledger, money, offer, planned, rental, scenario

D = Decimal

# --- prices over time -------------------------------------------------------------------------------

RISING = {"x": offer("x", 2800, price_changes=[{"from": "2026-03-01", "low": 3000, "high": 3400}])}


@pytest.mark.parametrize(
    ("locked", "price", "billed"),
    [
        (True, "mid", [2800, 2800, 2800, 2800]),
        (False, "mid", [2800, 2800, 3200, 3200]),
        (False, "low", [2800, 2800, 3000, 3000]),
        (False, "high", [2800, 2800, 3400, 3400]),
        (False, 2700, [2700, 2700, 2700, 2700]),
    ],
)
def test_later_list_prices_reach_a_lease_whose_price_is_not_locked(locked, price, billed):
    terms = {"price_locked": locked}
    asked = scenario([lease(1, "monthly", "x", price=price, terms=terms)], horizon="120d")
    assert [c.billed_cost for c in ledger(asked, offers=RISING).charges] == [D(p) for p in billed]


def test_a_lease_that_begins_later_has_the_price_of_its_beginning():
    asked = scenario([lease(1, "monthly", "x", start="2026-03-15")], horizon="90d")
    assert [c.billed_cost for c in ledger(asked, offers=RISING).charges] == [D(3200)]


def test_prices_agreed_for_a_lease_hold_from_their_day_on():
    prices = [{"from": "2026-02-01", "price": 2600}, {"from": "2026-03-02", "price": 2500}]
    asked = scenario([lease(plan="monthly", prices=prices)], horizon="120d")
    assert [c.billed_cost for c in ledger(asked).charges] == [D(2800), D(2600), D(2600), D(2500)]


def test_an_agreed_price_stands_whatever_renewals_do():
    prices = [{"from": "2026-03-01", "price": 2600}]
    asked = scenario([lease(plan="monthly", prices=prices, terms={"renewal_change": "0.1"})], horizon="120d")
    assert [c.billed_cost for c in ledger(asked).charges] == [D(2800), D(3080), D(2600), D(2600)]


def test_hours_cost_what_the_list_says_when_they_begin():
    # 4.00 an hour, 6.00 from 02:00 on: hours begin at 00:30, 01:30, 02:30, 03:30.
    prices = [{"from": "2026-01-01T02:00", "price": 6}]
    asked = scenario(
        [
            lease(
                1,
                "hourly",
                "h100-mig",
                price=4,
                prices=prices,
                start="2026-01-01T00:30",
                end="2026-01-01T04:30",
            )
        ],
        horizon="1d",
    )
    result = planned(asked)
    assert [(c.quantity, c.billed_cost) for c in result.charges] == [(2, D(8)), (2, D(12))]
    assert [i.total for i in result.invoices] == [D(20)]


def test_a_burst_keeps_the_price_of_its_beginning_or_takes_each_hours():
    changes = [{"from": "2026-01-02", "low": 6, "high": 6}]
    for locked, cost in ((True, 16), (False, 20)):
        terms = {"price_locked": locked}
        sold = {
            "h100-mig": offer(
                "h100-mig", 4, unit="hour", plans={"hourly": 1}, price_changes=changes, terms=terms
            )
        }
        # 22:00 to 02:00
        result = ledger(scenario(burst=BURST), [rental(22, 26)], offers=sold)
        assert result.accrued == D(cost)


# --- other lengths of a plan ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "cost"),
    # the factor of the longest plan that it fills: 2-months monthly, 6-months quarterly, 24-months annual
    [("2-months", 5600), ("3-months", 7980), ("6-months", 15960), ("12-months", 26880), ("24-months", 53760)],
)
def test_a_plan_of_other_length_has_the_factor_of_the_longest_that_it_fills(plan, cost):
    result = ledger(scenario([lease(plan=plan)], horizon="40d"))
    assert [c.billed_cost for c in result.charges] == [D(cost)]
    if plan != "2-months":
        assert any(f"{plan} plan at" in text and "assumed" in text for text in result.assumptions)


def test_a_published_factor_for_a_length_goes_before():
    sold = {"x": offer("x", 2800, plans={"monthly": 1, "6-months": "0.90", "annual": "0.8"})}
    assert [
        c.billed_cost for c in ledger(scenario([lease(plan="6-months", offer="x")]), offers=sold).charges
    ] == [
        D(15120),
        D(15120),
    ]


def test_agreed_discounts_go_before_published_ones():
    result = ledger(scenario([lease(terms={"discounts": {"annual": "0.75"}})]))
    assert money(result) == [("purchase", D(25200))]
    assert any("0.75 of the list price (as agreed)" in text for text in result.assumptions)


# --- terms of scenario, offer and lease -------------------------------------------------------------


def test_the_nearest_stated_term_holds():
    sold = {
        "x": offer("x", 2800, terms={"refund": {"rule": "pro-rata", "part": "month"}, "month": "30-days"})
    }
    asked = scenario(
        [
            lease(1, "monthly", "x", terms={"month": "mean-month"}),
            lease(1, "monthly", "x"),
            lease(1, "annual", "x", end="2026-04-01", terms={"refund": {"rule": "none"}}),
        ],
        terms={"month": "calendar"},
        horizon="61d",
    )
    lines = ledger(asked, offers=sold).charges
    second = [f"{c.period_start:%m-%d %H:%M}" for c in lines if c.lease == "lease 0"]
    assert second == ["01-01 00:00", "01-31 10:00", "03-02 20:00"]
    assert [f"{c.period_start:%m-%d}" for c in lines if c.lease == "lease 1"] == ["01-01", "02-01", "03-01"]
    assert [c.category for c in lines if c.lease == "lease 2"] == ["purchase"]


@pytest.mark.parametrize(
    ("terms", "month"),
    [
        ({}, 8560),
        ({"repeat_order": "before_discount"}, 8640),
        ({"repeat_first_card": False}, 8660),
        ({"repeat_order": "before_discount", "repeat_first_card": False}, 8720),
    ],
)
def test_the_vendors_open_questions_are_parameters_of_lease_and_scenario(terms, month):
    # Four cards: 4 x 2,800 x 0.8 = 8,960, less 100 for four or three cards, before or after the discount.
    for asked in (
        scenario([lease(4, repeat_purchase=True, terms=terms)]),
        scenario([lease(4, repeat_purchase=True)], terms=terms),
    ):
        assert ledger(asked).accrued == D(month * 12)


def test_options_may_be_discounted():
    options = ["cpu16", "ram128", "disk1t"]
    for discounted, month in ((False, 3540), (True, 3280)):
        result = ledger(scenario([lease(options=options, terms={"options_discounted": discounted})]))
        assert money(result) == [("purchase", D(month * 12))]
    assert "(1 unit x 12 months x 2,800.00 list + 1 unit x 12 months x 1,300.00 options) x 0.80 annual" in (
        result.charges[0].rule
    )


# --- payment ----------------------------------------------------------------------------------------


def test_in_arrears_and_days_later():
    asked = scenario([lease(plan="monthly", terms={"payment": "arrears"})], horizon="90d")
    result = ledger(asked)
    assert [f"{c.cash_date:%m-%d}" for c in result.charges] == ["02-01", "03-01", "04-01"]
    assert (result.cash, result.accrued, result.committed) == (D(5600), D(8400), D(8400))
    assert "paid in arrears" in result.charges[0].rule
    asked = scenario(
        [lease(plan="monthly", terms={"payment": "arrears", "pay_shift_days": 10})], horizon="90d"
    )
    result = ledger(asked)
    assert [f"{c.cash_date:%m-%d}" for c in result.charges] == ["02-11", "03-11", "04-11"]
    assert (result.cash, result.committed) == (D(5600), D(8400))


def test_renewals_paid_days_before_the_period_begins():
    # The first period is paid on its first day; that of 1 April is paid on 23 March, inside the horizon.
    asked = scenario([lease(plan="monthly", terms={"pay_shift_days": -9})], horizon="90d")
    result = ledger(asked)
    assert [f"{c.cash_date:%m-%d}" for c in result.charges] == ["01-01", "01-23", "02-20", "03-23"]
    assert result.cash == result.committed == D(11200)
    assert result.accrued == D(8400)
    assert result.charges[-1].owed_after == D(2800)


def test_a_running_contract_in_arrears_owes_what_was_used_before_but_counts_only_its_own_share():
    # 16 December to 16 January, paid on the 16th: 15 of 31 days in January. 2,800 x 15 / 31 = 1,354.84.
    asked = scenario(
        [lease(plan="monthly", started="2025-12-16", terms={"payment": "arrears"})], horizon="15d"
    )
    (line,) = ledger(asked).charges
    assert (line.sunk, line.billed_cost) == (False, D(2800))
    assert (line.accrued_cost, line.before_cost, line.owed_after) == (D("1354.84"), D("1445.16"), D(0))
    assert ledger(asked).committed == D("1354.84")


def test_hours_can_be_paid_days_later():
    asked = scenario([lease(1, "hourly", "h100-mig", price=1, terms={"pay_shift_days": 10})], horizon="59d")
    result = planned(asked)
    assert [(i.month, i.total) for i in result.invoices] == [("2026-02", D(744)), ("2026-03", D(672))]
    assert result.cash == D(744)


def test_the_offers_here_have_no_terms_of_their_own():
    assert not CUSTOM.terms.model_fields_set
    assert not any(one.terms.model_fields_set for one in OFFERS.values())


# --- offers priced by the year ----------------------------------------------------------------------


def test_an_offer_priced_by_the_year_is_billed_and_added_in_parts_of_it():
    # 306,000 a year; from 11 April on (20/30 + 8) / 12 of it: 221,000.
    own = {"offer": "own-8x-a100", "price": "low"}
    joined = lease(start="2026-04-11", joins=0, terms={"added": "co-term"}, **own)
    whole, part = ledger(scenario([lease(**own), joined])).charges
    assert (whole.billed_cost, whole.unit, whole.quantity) == (D(306000), "unit-years", 1)
    assert part.billed_cost == D(221000)
    assert "1 unit x (20/30 + 8) / 12 years x 306,000.00 list = 221,000.00" in part.rule
    two = ledger(scenario([lease(plan="24-months", **own)])).charges[0]
    assert (two.billed_cost, two.quantity) == (D(612000), 2)


def test_a_year_priced_contract_falls_back_to_hours_of_its_year():
    # 306,000 / 8,640 an hour, 240 hours after a year.
    terms = {"expiry": "hourly"}
    asked = scenario([lease(offer="own-8x-a100", price="low", terms=terms, end="2027-01-11")], horizon="400d")
    assert [c.billed_cost for c in planned(asked).charges] == [D(306000), D(8500)]
