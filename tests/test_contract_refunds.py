"""What leaving a prepaid period early returns, under each rule, with values worked out on paper.

The table of check values (annual contract of one card, 26,880) and known fault 08 are here.
"""

from decimal import Decimal
from fractions import Fraction

import pytest

from sim.billing.refunds import refund_amount
from sim.model.terms import Refund
from tests.billing_cases import CUSTOM, OPTIONS, lease, ledger, money, offer, scenario

D = Decimal


def left(end, rule="pro-rata", plan="annual", count=1, offers=None, horizon="365d", **more):
    """The bill of a lease from 1 January 2026 that ends early."""
    refund = {"rule": rule, **more.pop("refund", {})}
    terms = {"refund": refund, **more.pop("terms", {})}
    asked = scenario([lease(count, plan, end=end, terms=terms, **more)], horizon=horizon)
    return ledger(asked, **({} if offers is None else {"offers": offers}))


def returned(result):
    return -sum((c.billed_cost for c in result.charges if c.category == "refund"), D(0))


MONTHS = {"part": "month"}


@pytest.mark.parametrize(
    ("end", "refund"),
    # 26,880 - 2,800 n after n months, nothing from the tenth on.
    [
        ("2026-02-01", 24080),
        ("2026-04-01", 18480),
        ("2026-07-01", 10080),
        ("2026-09-01", 4480),
        ("2026-10-01", 1680),
        ("2026-11-01", 0),
        ("2026-12-01", 0),
    ],
)
def test_re_rated_to_monthly_and_deposit_less_discounts_are_the_same(end, refund):
    unmatched = {"matched": False, "part": "month"}
    assert returned(left(end, "re-rate", refund=unmatched)) == D(refund)
    assert returned(left(end, "deposit-less-discounts", refund=MONTHS)) == D(refund)


@pytest.mark.parametrize(
    ("end", "refund"),
    # The discount of the months used: monthly 1, from 3 months on 0.95. 26,880 - n x 2,800 x factor.
    [("2026-03-01", 21280), ("2026-04-01", 18900), ("2026-07-01", 10920), ("2026-12-01", 0)],
)
def test_re_rated_at_the_discount_that_the_months_used_would_have_had(end, refund):
    assert returned(left(end, "re-rate", refund=MONTHS)) == D(refund)


@pytest.mark.parametrize(("end", "refund"), [("2026-04-01", 20160), ("2026-07-01", 13440)])
def test_pro_rata_by_months(end, refund):
    # 26,880 x 9 / 12 and x 6 / 12.
    result = left(end, refund=MONTHS)
    assert returned(result) == D(refund)
    assert result.charges[1].rule == (
        f"refund, the lease ends {end}, pro-rata: 26,880.00 paid x (1 - {int(end[5:7]) - 1} / 12 months) = "
        f"{refund:,}.00"
    )


def test_pro_rata_by_begun_days_hours_or_exactly():
    # Left on 1 April at noon: 90.5 of 365 days. 26,880 x 274 / 365 = 20,178.41 with 91 days begun,
    # 26,880 x (8,760 - 2,172) / 8,760 = 20,215.23 by the hour; half an hour later 2,173 h begun: 20,212.16.
    assert returned(left("2026-04-01T12:00")) == D("20178.41")
    assert returned(left("2026-04-01T12:00", refund={"part": "hour"})) == D("20215.23")
    assert returned(left("2026-04-01T12:30", refund={"part": "hour"})) == D("20212.16")
    # 26,880 x (8,760 - 2,172.5) / 8,760 = 20,213.70
    assert returned(left("2026-04-01T12:30", refund={"part": "exact"})) == D("20213.70")


def test_re_rated_with_a_part_of_a_month():
    # Three months and 10 of 30 days of April, at 0.95: 26,880 - 3 1/3 x 2,660 = 18,013.33.
    assert returned(left("2026-04-11", "re-rate")) == D("18013.33")
    # Months of 30 days: 100 days are 3 1/3 months too, but the year has 360 days.
    assert returned(left("2026-04-11", "re-rate", terms={"month": "30-days"})) == D("18013.33")


def test_a_refund_is_of_what_was_paid_options_and_reduction_included():
    # 3,540 a month with options, less 100 for buying again: 41,280 a year, half of it back.
    more = {"options": list(OPTIONS), "repeat_purchase": True}
    assert returned(left("2026-07-01", refund=MONTHS, **more)) == D(20640)
    # Re-rated: six months at 2,800 x 0.95 + 1,300 - 100 = 3,860; 41,280 - 23,160 = 18,120.
    assert returned(left("2026-07-01", "re-rate", refund=MONTHS, **more)) == D(18120)


def test_a_fee_is_a_line_of_its_own_and_is_not_taken_in_the_grace_days():
    # 13,440 x 0.1
    result = left("2026-07-01", refund={"part": "month", "fee": "0.1", "grace_days": 5})
    assert money(result) == [("purchase", D(26880)), ("refund", D(-13440)), ("fee", D("1344.00"))]
    assert [line.of for line in result.charges] == [None, 0, 0]
    result = left("2026-01-06", refund={"part": "month", "fee": "0.1", "grace_days": 5})
    assert money(result) == [("purchase", D(26880)), ("refund", D(-26880))]
    assert "within 5 days of 2026-01-01" in result.charges[1].rule


def test_grace_days_return_everything_and_end_to_the_day():
    for rule in ("none", "pro-rata", "re-rate"):
        assert returned(left("2026-01-06", rule, refund={"grace_days": 5})) == D(26880)
    assert returned(left("2026-01-06T00:01", "none", refund={"grace_days": 5})) == D(0)
    # They count from the beginning of the contract: the second month is not in grace.
    assert returned(left("2026-02-03", "none", plan="monthly", refund={"grace_days": 5})) == D(0)


def test_the_price_paid_returns_not_todays():
    # Known fault 08 (a): 310 for October 2025, list price 620 from the tenth, returned after 15 days.
    changes = [{"from": "2025-10-10", "low": 620, "high": 620}]
    sold = {"x": offer("x", 310, price_changes=changes)}
    terms = {"refund": {"rule": "pro-rata"}, "price_locked": False}
    asked = scenario(
        [lease(1, "monthly", "x", end="2025-10-16", terms=terms)], start="2025-10-01", horizon="60d"
    )
    assert money(ledger(asked, offers=sold)) == [("purchase", D("310.00")), ("refund", D("-160.00"))]
    # (c) Tax of 20 % on top: 72.00 for a refund of 60.00, so 192.00 for 160.00.
    taxed = {**terms, "tax": {"rate": "0.2", "included": False}}
    asked = scenario(
        [lease(1, "monthly", "x", end="2025-10-16", terms=taxed)], start="2025-10-01", horizon="60d"
    )
    lines = ledger(asked, offers=sold).charges
    assert sum(line.billed_cost for line in lines if line.of in (1, 3) or line.id == 1) == D("-192.00")
    # Returned at the end of the last day: nothing.
    asked = scenario(
        [lease(1, "monthly", "x", end="2025-10-31T23:00", terms=terms)], start="2025-10-01", horizon="60d"
    )
    assert money(ledger(asked, offers=sold)) == [("purchase", D("310.00"))]


def test_a_credit_given_before_is_taken_off():
    # Known fault 08 (b): 160.00 less 100.00; and never below nothing, never above what was paid.
    rule, used = Refund(rule="pro-rata"), Fraction(15, 31)
    assert refund_amount(rule, Fraction(310), used) == 160
    assert refund_amount(rule, Fraction(310), used, returned_before=Fraction(100)) == 60
    assert refund_amount(rule, Fraction(310), used, returned_before=Fraction(200)) == 0
    assert refund_amount(rule, Fraction(310), Fraction(1)) == 0
    assert refund_amount(Refund(rule="re-rate"), Fraction(310), used, consumed=Fraction(-5)) == 310


def test_refund_and_purchase_are_spread_over_the_time_of_use():
    # Half of a year is paid in the end, 13,440, over 181 days; the horizon of 90 days has 90 / 181 of it:
    # 26,880 x 90 / 181 = 13,365.75 and -6,682.87 or so (a cent by the largest remainder).
    result = left("2026-07-01", refund=MONTHS, horizon="90d")
    purchase, refund = result.charges
    assert purchase.accrual == refund.accrual
    assert purchase.accrued_cost == D("13365.75")
    assert refund.accrued_cost in (D("-6682.87"), D("-6682.88"))
    # The refund comes after the horizon: paid 26,880 so far, committed to 13,440 in the end.
    assert result.cash == D(26880)
    assert result.committed == D(13440)
    assert refund.owed_after == refund.billed_cost - refund.accrued_cost
    assert refund.cash_date.isoformat() == "2026-07-01T00:00:00+08:00"


def test_a_refund_in_the_horizon_is_cash():
    result = left("2026-07-01", refund=MONTHS)
    assert result.cash == result.accrued == result.committed == D(13440)
    assert [(invoice.month, invoice.total) for invoice in result.invoices] == [
        ("2026-01", D(26880)),
        ("2026-07", D(-13440)),
    ]


def test_only_the_running_period_is_refunded():
    # Monthly cards left on 16 February: 13 of 28 days return, of February alone. 2,800 x 13 / 28 = 1,300.
    result = left("2026-02-16", plan="monthly")
    assert money(result) == [("purchase", D(2800)), ("purchase", D(2800)), ("refund", D(-1300))]
    assert result.charges[2].of == 1


def test_a_lease_that_ends_with_its_period_returns_nothing():
    assert money(left("2027-01-01", "re-rate")) == [("purchase", D(26880))]


def test_a_contract_that_was_paid_before_the_scenario_returns_cash_inside():
    # Paid 1 July 2025, left on 1 April 2026 after 9 of 12 months: 26,880 x 3 / 12 = 6,720 comes back.
    terms = {"refund": {"rule": "pro-rata", "part": "month"}}
    result = ledger(scenario([lease(started="2025-07-01", end="2026-04-01", terms=terms)]))
    purchase, refund = result.charges
    assert (purchase.sunk, refund.sunk) == (True, False)
    assert result.cash == refund.billed_cost == D(-6720)
    # 274 days of use, 90 of them in 2026: 26,880 x 90 / 274 = 8,829.20; of the refund 2,207.30.
    assert purchase.accrued_cost == D("8829.20")
    assert refund.accrued_cost == D("-2207.30")
    assert refund.before_cost == D("-4512.70")
    assert purchase.owed_after == refund.owed_after == 0
    assert result.committed == D("6621.90")


def test_without_a_rule_nothing_returns_and_the_line_says_so():
    result = ledger(scenario([lease(end="2026-07-01")], horizon="365d"), offers={CUSTOM.id: CUSTOM})
    assert money(result) == [("purchase", D(26880))]
    assert "no refund" in result.charges[0].rule
    assert any("No refund" in text and "(assumed)" in text for text in result.assumptions)
