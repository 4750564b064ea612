"""What holds for every contract: periods tile, lines are invoices are cash, refunds stay below payments."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.billing.contracts import lease_contract
from sim.billing.segments import timeline
from sim.errors import InputError
from sim.model.terms import plan_months
from tests.billing_cases import OPTIONS, REPEAT, offer, planned, scenario

D = Decimal
SOLD = {
    "card": offer(
        "card",
        2800,
        3300,
        plans={"hourly": 1, "monthly": 1, "quarterly": "0.95", "annual": "0.80"},
        repeat=REPEAT,
        options=OPTIONS,
        price_changes=[{"from": "2024-05-05", "low": 2000, "high": 2900}],
        terms={"hourly_price": "4.37"},
    )
}
ZONES = ("UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe")
START = datetime(2024, 1, 1)
MINUTES = 500 * 24 * 60

minutes = st.integers(0, MINUTES)
plans = st.sampled_from(("hourly", "monthly", "quarterly", "annual", "1-month", "2-months", "6-months"))
refunds = st.fixed_dictionaries(
    {
        "rule": st.sampled_from(("none", "pro-rata", "re-rate", "deposit-less-discounts")),
        "grace_days": st.sampled_from((0, 0, 7)),
        "matched": st.booleans(),
        "part": st.sampled_from(("day", "hour", "exact", "month")),
        "fee": st.sampled_from((0, 0, "0.07")),
    }
)
taxes = st.none() | st.fixed_dictionaries(
    {"rate": st.sampled_from(("0.06", "0.13", "0.2")), "included": st.booleans(), "creditable": st.booleans()}
)
terms = st.fixed_dictionaries(
    {
        "month": st.sampled_from(("calendar", "30-days", "mean-month")),
        "payment": st.sampled_from(("advance", "arrears")),
        "pay_shift_days": st.sampled_from((0, 0, -9, 14)),
        "begins": st.sampled_from(("at-once", "next-hour")),
        "refund": refunds,
        "expiry": st.sampled_from(("renew", "renew-at-list", "hourly", "end")),
        "renewal_change": st.sampled_from((0, 0, "0.05", "-0.1")),
        "price_locked": st.booleans(),
        "options_discounted": st.booleans(),
        "increment_s": st.sampled_from((1, 60, 3600)),
        "minimum_s": st.sampled_from((0, 60, 7200)),
        "tax": taxes,
    }
)


@st.composite
def leases(draw):
    """A lease of the card with terms of its own; keys that contradict are left out."""
    begin, plan = draw(minutes), draw(plans)
    found = {"offer": "card", "plan": plan, "count": draw(st.integers(1, 3)), "start": at(begin)}
    if draw(st.booleans()):
        found["end"] = at(begin + draw(st.integers(1, MINUTES)))
    months, moment = plan_months(plan), begin
    changes = []
    for longer in draw(
        st.lists(st.sampled_from(("monthly", "quarterly", "annual")), unique=True, max_size=2)
    ):
        moment += draw(st.integers(1, MINUTES // 3))
        if plan_months(longer) > months and at(moment) < found.get("end", "9"):
            changes.append({"at": at(moment), "plan": longer})
            months = plan_months(longer)
    found["converts"] = changes
    if months and draw(st.booleans()):
        found["options"] = draw(st.lists(st.sampled_from(list(OPTIONS)), unique=True))
        found["repeat_purchase"] = draw(st.booleans())
        if plan == "hourly" and not changes:
            del found["options"], found["repeat_purchase"]
    found["prices"] = draw(st.sampled_from(((), ({"from": "2024-08-01T10:30", "price": 2550},))))
    return found


def at(minute):
    return (START + timedelta(minutes=minute)).isoformat()


@st.composite
def cases(draw, most=2):
    """A scenario of a few leases; terms that hold for all of them stand in the scenario."""
    found = draw(st.lists(leases(), min_size=1, max_size=most))
    horizon = at(draw(st.integers(1, 2 * MINUTES)))
    asked = {"start": "2024-01-01", "zone": draw(st.sampled_from(ZONES)), "horizon": horizon}
    return found, {**asked, "terms": {k: v for k, v in draw(terms).items() if v is not None}}


def billed(case, price=None):
    found, asked = case
    rows = [row if price is None else {**row, "price": price, "prices": ()} for row in found]
    made = scenario(rows, **asked)
    return made, planned(made, SOLD)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_lines_are_invoices_are_cash(case):
    made, result = billed(case)
    real = [c for c in result.charges if not c.sunk]
    assert sum((i.total for i in result.invoices), D(0)) == sum((c.billed_cost for c in real), D(0))
    assert sorted(n for i in result.invoices for n in i.charges) == [c.id for c in real]
    assert result.cash == sum((c.billed_cost for c in real if c.cash_date < result.horizon_end), D(0))
    for invoice in result.invoices:
        lines = [result.charges[number] for number in invoice.charges]
        assert {(f"{c.cash_date:%Y-%m}", c.provider) for c in lines} == {(invoice.month, invoice.provider)}
    assert [c.id for c in result.charges] == list(range(len(result.charges)))
    for line in result.charges:
        assert line.billed_cost == line.billed_cost.quantize(D("0.01"))
        assert line.of is None or line.of < line.id
        assert (line.of is not None) == (line.category in ("refund", "fee", "tax"))
    assert made.currency == result.currency


@settings(max_examples=60, deadline=None)
@given(cases())
def test_every_cost_has_its_place_in_time(case):
    _, result = billed(case)
    for line in result.charges:
        begin, end = line.accrual
        assert begin <= end
        if not line.recoverable and not line.sunk:
            assert line.before_cost + line.accrued_cost + line.owed_after == line.billed_cost
        if end <= result.horizon_end and not line.recoverable and not line.before_cost:
            assert line.accrued_cost == line.billed_cost
        if begin >= result.horizon_end:
            assert line.accrued_cost == 0
    for line in result.charges:
        if line.of is not None:
            assert line.accrual == result.charges[line.of].accrual
    whole = sum((c.billed_cost for c in result.charges if not c.recoverable), D(0))
    assert result.committed == whole


@settings(max_examples=60, deadline=None)
@given(cases())
def test_refunds_and_fees_never_exceed_what_was_paid(case):
    _, result = billed(case)
    for line in result.charges:
        if line.category == "purchase":
            assert line.billed_cost > 0
            back = [c for c in result.charges if c.of == line.id and c.category == "refund"]
            kept = [c for c in result.charges if c.of == line.id and c.category == "fee"]
            assert len(back) <= 1
            for refund in back:
                assert -line.billed_cost <= refund.billed_cost <= 0
                assert sum((c.billed_cost for c in kept), D(0)) <= -refund.billed_cost


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(500, 4000), st.integers(1, 2000))
def test_a_dearer_price_is_never_a_cheaper_bill(case, price, more):
    # Rounding may move each line by half a cent, so a bill that is all but refunded by a cent a line.
    _, cheap = billed(case, price)
    _, dear = billed(case, price + more)
    assert len(cheap.charges) <= len(dear.charges) + 2 * len(cheap.charges)
    assert cheap.committed <= dear.committed + D("0.01") * len(dear.charges)


@settings(max_examples=60, deadline=None)
@given(cases(most=1))
def test_the_pieces_of_a_lease_tile_its_time(case):
    (row,), asked = case
    made = scenario([row], **asked)
    contracts = {0: lease_contract(made, made.strategies[0], 0, SOLD, None)}
    lease = contracts[0].lease
    found = list(timeline(made, contracts, 0, made.horizon_us))
    for before, after in pairwise(found):
        assert before.until == after.start == after.usable_from
        assert before.start < before.until
        assert not before.last
    if found:
        assert found[0].usable_from == lease.start
        end = found[-1].until
        if lease.end is not None and end is not None:
            assert end <= lease.end
        reaches = end is None or made.elapsed_us(end) >= made.horizon_us
        assert reaches or found[-1].last
    for stretch in found:
        if stretch.plan != "hourly":
            assert stretch.end is not None
            assert stretch.until <= stretch.end


@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_bill_is_the_same_each_time(case):
    assert billed(case)[1] == billed(case)[1]


@settings(max_examples=60, deadline=None)
@given(cases(), taxes.filter(lambda tax: tax is not None and tax["included"]))
def test_tax_in_the_price_changes_no_invoice(case, tax):
    found, asked = case
    plain = {key: value for key, value in asked["terms"].items() if key != "tax"}
    without = planned(scenario(found, **{**asked, "terms": plain}), SOLD)
    taxed = planned(scenario(found, **{**asked, "terms": {**plain, "tax": tax}}), SOLD)
    assert [(i.month, i.total) for i in taxed.invoices] == [(i.month, i.total) for i in without.invoices]
    assert taxed.cash == without.cash
    if not tax["creditable"]:
        assert taxed.accrued == without.accrued
        assert taxed.committed == without.committed


@settings(max_examples=40, deadline=None)
@given(cases(most=1), minutes)
def test_a_co_termed_lease_ends_its_first_part_with_the_other(case, begin):
    (row,), asked = case
    plan = row["plan"]
    added = {"offer": "card", "plan": plan, "start": at(begin), "joins": 0, "terms": {"added": "co-term"}}
    row = {**row, "converts": ()}
    try:
        result = planned(scenario([row, added], **asked), SOLD)
    except InputError:
        return  # nothing runs then
    first = [c for c in result.charges if c.lease == "lease 0" and c.category == "purchase"]
    second = [c for c in result.charges if c.lease == "lease 1" and c.category == "purchase"]
    edges = {c.period_end for c in first} | {c.period_start for c in first}
    if second:
        assert second[0].period_end in edges
        assert second[0].quantity <= plan_months(plan) * D("1.1")


def test_the_cases_reach_refunds_conversions_and_fall_backs():
    seen: set[str] = set()

    @settings(max_examples=200, deadline=None, database=None, derandomize=True)
    @given(cases())
    def collect(case):
        _, result = billed(case)
        seen.update(c.category for c in result.charges)
        seen.update("converted" for c in result.charges if "converted" in c.rule)
        seen.update("left" for c in result.charges if "left for a longer plan" in c.rule)
        seen.update("fell back" for c in result.charges if c.plan == "hourly" and "/ 720" in c.rule)

    collect()
    assert seen >= {"purchase", "usage", "refund", "fee", "tax", "converted", "left"}


@pytest.mark.parametrize("zone", ZONES)
def test_the_zones_are_known(zone):
    assert scenario([{"offer": "card", "plan": "monthly"}], zone=zone).zone.key == zone
