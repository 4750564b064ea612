"""Every term that touches a bill is told with its basis, and none that does not."""

import pytest

from tests.billing_cases import BURST, OFFERS, lease, offer, planned, scenario

RISING = offer(
    "x", 2800, plans={"monthly": 1}, price_changes=[{"from": "2026-03-01", "low": 3000, "high": 3000}]
)
SOLD = {**OFFERS, "x": RISING}
HOURLY = {"plan": "hourly", "offer": "h100-mig", "price": 4}
STOP = [{"from": "2026-02-01", "until": "2026-02-03"}]


def told(*leases, burst=None, horizon="200d", **more):
    return planned(scenario(list(leases), burst=burst, horizon=horizon, **more), SOLD).assumptions


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({}, "anniversary of the contract's beginning to the next, local time (assumed)."),
        ({"terms": {"month": "calendar"}}, "to the next, local time (as the terms say)."),
        ({"terms": {"month": "30-days"}}, "A billing month has 30 days (as the terms say)."),
        ({"terms": {"month": "mean-month"}}, "A billing month has 365 / 12 days (as the terms say)."),
        ({}, "Prepaid periods are paid on their first day (assumed)."),
        ({"terms": {"payment": "arrears"}}, "Prepaid periods are paid at their end (as the terms say)."),
        ({"terms": {"pay_shift_days": -9}}, "paid 9 days before their first day (as the terms say)."),
        ({"terms": {"payment": "arrears", "pay_shift_days": 10}}, "paid 10 days after their end"),
        ({}, "No refund: a prepaid period is owed whole once it has begun"),
        ({"terms": {"refund": {"rule": "none"}}}, "its cards are usable (as the terms say)."),
        ({"terms": {"refund": {"grace_days": 7}}}, "All returns within 7 days of the beginning."),
        (
            {"terms": {"refund": {"rule": "pro-rata"}}},
            "what was paid returns (as the terms say); used time is counted in begun days (assumed), without",
        ),
        (
            {"terms": {"refund": {"rule": "re-rate", "part": "exact", "fee": "0.1"}}},
            "exactly (as the terms say), 10 % of it are kept as a fee (as the terms say)",
        ),
        ({"terms": {"refund": {"rule": "deposit-less-discounts"}}}, "less the discount received"),
        ({}, "A lease without an end renews unchanged, at the same price, at each anniversary (assumed)."),
        ({"terms": {"expiry": "hourly"}}, "costs the monthly list price / 720 h (assumed)."),
        (
            {"terms": {"expiry": "hourly", "hourly_price": 4}},
            "costs 4.00 a unit and hour (as the terms say).",
        ),
        (
            {"terms": {"expiry": "renew-at-list"}},
            "renews without the plan's discount, at the same price (as the",
        ),
        ({"terms": {"expiry": "end"}}, "A lease ends with its paid period (as the terms say)."),
        ({"terms": {"renewal_change": "0.05"}}, "renews at a price that changes by 5 % each time"),
        ({"offer": "x"}, "A contract keeps the list price of its beginning (assumed)."),
        (
            {"offer": "x", "terms": {"price_locked": False}},
            "has the list price of the day on which it begins (as",
        ),
        ({"start": "2026-01-01T09:30"}, "Billing begins at once, also within an hour (assumed)."),
        ({"terms": {"begins": "next-hour"}}, "Billing begins at the next full hour"),
        (
            {"converts": [{"at": "2026-02-10", "plan": "6-months"}]},
            "when the paid period ends: nothing returns",
        ),
        ({}, "no VAT line is added or taken out (assumed)."),
        (
            {"terms": {"tax": {"rate": "0.13", "included": False}}},
            "on top of published prices (as the terms say) and does not come back (assumed).",
        ),
        (
            {**HOURLY, "stopped": STOP},
            "disks cost 0.00 CNY a unit and month (assumed), and the cards are kept (assumed).",
        ),
        (
            {**HOURLY, "stopped": STOP, "terms": {"stop": {"restart": "ordered"}}},
            "they are back 30min after it (assumed).",
        ),
        (HOURLY, "increments of 1h, at least 1h a rental (assumed)"),
        (
            {**HOURLY, "terms": {"increment_s": 60}},
            "increments of 1min (as the terms say), at least 1h a rental (assumed)",
        ),
    ],
)
def test_a_term_is_told_with_its_basis(asked, sentence):
    made = {"count": 1, "plan": "monthly", **asked}
    found = [text for text in told(lease(**made)) if sentence in text]
    assert len(found) == 1


def test_capacity_that_joins_says_how():
    first = lease(plan="annual")
    own = told(first, lease(plan="annual", start="2026-03-01", joins=0))
    assert "lease 1: added cards have a term of their own (assumed)." not in own
    assert "Added cards have a term of their own (assumed)." in own
    together = told(first, lease(plan="annual", start="2026-03-01", joins=0, terms={"added": "co-term"}))
    assert any("billed in proportion to the end of the running period" in text for text in together)


def test_what_does_not_touch_the_bill_is_not_told():
    hours = " ".join(told(lease(**HOURLY)))
    for absent in (
        "billing month",
        "Prepaid",
        "refund",
        "renews",
        "stopped",
        "Added",
        "720",
        "keeps the list",
    ):
        assert absent not in hours
    months = " ".join(told(lease(plan="monthly", end="2026-03-01")))
    for absent in ("increments", "stopped", "720", "Added", "renews", "longer plan", "full hour"):
        assert absent not in months


def test_leases_with_other_terms_are_named():
    texts = told(lease(plan="monthly"), lease(plan="monthly", terms={"month": "30-days"}), burst=BURST)
    assert "lease 0: a billing month runs from one calendar anniversary" in " ".join(texts)
    assert "lease 1: a billing month has 30 days (as the terms say)." in texts
    assert "Prepaid periods are paid on their first day (assumed)." in texts


def test_a_long_row_of_leases_is_cut():
    leases = [lease(plan="monthly", terms={"month": "30-days"}) for _ in range(9)]
    texts = told(*leases, lease(plan="monthly"))
    assert "lease 0, lease 1, lease 2, lease 3, lease 4 and 4 more: a billing month has 30 days" in " ".join(
        texts
    )


def test_terms_of_the_scenario_count_as_stated():
    texts = told(lease(plan="monthly"), terms={"month": "calendar", "payment": "advance"})
    assert "Prepaid periods are paid on their first day (as the terms say)." in texts
    assert any("local time (as the terms say)" in text for text in texts)


def test_a_word_in_capitals_keeps_them_behind_the_name_of_a_lease():
    taxed = lease(terms={"tax": {"rate": "0.06"}})
    found = told(taxed, lease(count=2))
    assert any(": VAT of 6 % is" in text for text in found)
    assert any(": prices are taken as published" in text for text in found)
