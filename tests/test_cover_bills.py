"""Corners of bills and of what is read from them that a round of changed operators found untested.

`docs/mutants.md` lists the changes. Figures are by pencil, in the comments.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from pydantic import ValidationError

from sim.billing.finance.analysis import analyse
from sim.billing.finance.commitment import poisson
from sim.billing.finance.downside import Ends
from sim.billing.finance.on_demand import on_demand_prices
from sim.billing.finance.outcomes import Way
from sim.billing.finance.presentvalue import years_between
from sim.billing.owning import Owning
from sim.billing.usable import planned_records
from tests.billing_cases import BURST, OFFERS, lease, ledger, offer, planned, rental, scenario

D = Decimal


@pytest.mark.parametrize(
    ("included", "net", "tax"),
    [(False, "166.70", "10.00"), (True, "157.26", "9.44")],
    ids=["on top", "in the price"],
)
def test_tax_of_hours_on_top_is_of_the_price_and_within_it_of_the_rest(included, net, tax) -> None:
    """Ten hours at 16.67 and 6 %: 166.70 x 0.06 = 10.002; 166.70 x 6 / 106 = 9.4358."""
    asked = scenario(burst={**BURST, "price": "low"}, terms={"tax": {"rate": "0.06", "included": included}})
    usage, line = ledger(asked, [rental(1, 11)]).charges
    assert (usage.billed_cost, line.billed_cost) == (D(net), D(tax))


def test_the_line_of_a_disk_has_its_price_a_month() -> None:
    """Two units for 14 of 28 days at 84.00 a month: one unit-month."""
    stops = [{"from": "2026-02-01", "until": "2026-02-15"}]
    asked = scenario(
        [lease(2, "hourly", "h100-mig", stopped=stops, terms={"stop": {"disk_per_month": 84}})], horizon="59d"
    )
    (disk,) = (line for line in planned(asked).charges if line.category == "storage")
    assert (disk.list_unit_price, disk.unit_price, disk.list_cost) == (D(84), D(84), D(84))
    assert (disk.quantity, disk.billed_cost) == (D(1), D("84.00"))


def test_a_way_that_is_dear_again_in_the_last_month_is_cheaper_from_no_month_on() -> None:
    """A year at 0.80 is 9.6 months of list price: cheaper in months 10 to 12; the 13th buys a second year."""
    asked = [scenario([lease(plan=plan)]) for plan in ("monthly", "annual")]
    ways = [Way(str(number), one, one.strategies[0], OFFERS, None, None) for number, one in enumerate(asked)]
    found = {months: analyse(ways, months, D(0)).pairs[0] for months in (12, 13)}
    assert found[12].cheaper_months == found[13].cheaper_months == (10, 11, 12)
    assert (found[12].cheaper_from, found[13].cheaper_from) == (10, None)


@pytest.mark.parametrize("mean", [0.01, 0.5, 4.0, 17.4])
def test_a_poisson_demand_ends_with_the_first_tail_below_a_millionth_of_a_millionth(mean) -> None:
    demand = poisson(mean)
    tail = Fraction(1, 10**12)
    assert 1 - demand.cumulative(demand.most) <= tail < 1 - demand.cumulative(demand.most - 1)


@pytest.mark.parametrize(
    ("key", "allowed", "refused"),
    [
        ("load", ("0", "1"), ("-0.01", "1.01")),
        ("residual", ("0", "1"), ("-0.01", "1.01")),
        ("rate", ("0", "1"), ("-0.01", "1.01")),
        ("pue", ("1", "5"), ("0.99", "5.01")),
        ("life_years", ("0.01", "30"), ("0", "30.1")),
        ("utilisation", ("0.01", "1"), ("0", "1.01")),
        ("power_kw", ("0", "1000000000000"), ("-1", "1000000000001")),
    ],
)
def test_inputs_of_owning_may_stand_at_their_limits(key, allowed, refused) -> None:
    for value in allowed:
        assert getattr(Owning.model_validate({key: value}), key).value == D(value)
    for value in refused:
        with pytest.raises(ValidationError):
            Owning.model_validate({key: value})


def test_hours_after_the_horizon_are_not_billed_though_the_end_is_known() -> None:
    """Rented at 8.5 h and known to go at 15 h; the run ends at 10 h: two hours begun, half of one open."""
    asked = scenario(burst={**BURST, "price": 20}, horizon="10h")
    (line,) = ledger(asked, [rental(8.5, 15)]).charges
    assert (line.quantity, line.billed_cost, line.accrued_cost) == (D(2), D(40), D(30))
    whole = scenario([lease(1, "hourly", "h100-mig", price=1, end="2026-03-01")], horizon="31d")
    assert planned(whole).accrued == 744


@pytest.mark.parametrize(("days", "paid"), [(-5, "2026-01-31"), (0, "2026-01-31"), (5, "2026-02-05")])
def test_hours_are_paid_as_they_are_used_or_later_never_before(days, paid) -> None:
    terms = {"pay_shift_days": days}
    asked = scenario([lease(1, "hourly", "h100-mig", price=1, terms=terms)], horizon="59d", zone="UTC")
    assert f"{planned(asked).charges[0].cash_date:%Y-%m-%d}" == paid


@pytest.mark.parametrize(("days", "months"), [(0, "01"), (-27, "01 02"), (-28, "01 02"), (-29, "01 02 03")])
def test_a_period_paid_when_the_run_ends_is_paid_after_it(days, months) -> None:
    """The run ends with the first of February. March, paid 28 days before its first day, is paid then."""
    asked = scenario([lease(plan="monthly", terms={"pay_shift_days": days})], horizon="31d")
    assert [f"{line.period_start:%m}" for line in planned(asked).charges] == months.split()


def test_the_second_month_of_a_rental_is_cut_at_the_horizon_by_its_own_time() -> None:
    """From 22 h on the last of January: two hours of January, and 1.5 of two begun of February, at 20."""
    asked = scenario(burst={**BURST, "price": 20}, start="2026-01-31", horizon="25.5h", zone="UTC")
    january, february = ledger(asked, [rental(22, None)]).charges
    assert (january.billed_cost, january.accrued_cost) == (D(40), D(40))
    assert (february.billed_cost, february.accrued_cost, february.owed_after) == (D(40), D(30), D(10))
    assert "1h 30min used" in february.rule


@pytest.mark.parametrize("end", ["2026-01-11", "2026-02-11"])
def test_a_lease_by_the_hour_ends_with_its_end(end) -> None:
    """Ten or forty-one days of 24 hours at 1.00, of a run of 59 days."""
    asked = scenario([lease(1, "hourly", "h100-mig", price=1, end=end)], horizon="59d", zone="UTC")
    days = {"2026-01-11": 10, "2026-02-11": 41}[end]
    assert planned(asked).accrued == planned(asked).committed == 24 * days


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({}, "options are not discounted by the plan (assumed, the dearer reading)."),
        ({"options_discounted": False}, "options are not discounted by the plan (as the terms say)."),
        (
            {"options_discounted": True},
            "options are discounted by the plan as the cards are (as the terms say).",
        ),
    ],
)
def test_whether_options_are_discounted_is_assumed_or_stated(terms, words) -> None:
    found = planned(scenario([lease(options=["cpu16"], terms=terms)])).assumptions
    assert [text for text in found if "options are" in text] == [f"a100-40g-custom: {words}"]


def test_prices_that_change_are_changed_with_the_currency() -> None:
    """An offer of 100 USD a month, 110 from February on, and a lease that pays 90 from March on; at 7.1."""
    sold = offer(
        "abroad", 100, currency="USD", price_changes=[{"from": "2026-02-01", "low": 110, "high": 110}]
    )
    asked = scenario(
        [lease(plan="monthly", offer="abroad", prices=[{"from": "2026-03-01", "price": 90}])],
        horizon="90d",
        terms={"price_locked": False},
        exchange={"USD": {"rate": "7.1", "date": "2026-01-01"}},
    )
    assert [line.billed_cost for line in planned(asked, {"abroad": sold}).charges] == [D(710), D(781), D(639)]


def test_an_agreed_price_by_the_hour_is_in_the_currency_of_the_offer() -> None:
    """A month of 100 USD, then hours at 0.20 USD: 710 CNY, and 28 days of 24 hours at 1.42."""
    sold = offer("abroad", 100, currency="USD")
    terms = {"expiry": "hourly", "hourly_price": "0.20"}
    asked = scenario(
        [lease(plan="monthly", offer="abroad", terms=terms)],
        horizon="59d",
        zone="UTC",
        exchange={"USD": {"rate": "7.1", "date": "2026-01-01"}},
    )
    month, hours = planned(asked, {"abroad": sold}).charges
    assert (month.billed_cost, hours.billed_cost) == (D(710), D("954.24"))


@pytest.mark.parametrize(
    ("since", "until", "years"),
    [
        ("2026-01-15", "2026-03-01", Fraction(3, 24)),  # a month, and 14 of the 28 days to 15 March
        ("2026-01-15", "2026-03-15", Fraction(2, 12)),
        ("2026-03-15", "2026-03-01", Fraction(-1, 24)),  # 14 of 28 days back
    ],
)
def test_years_by_months_count_a_part_of_the_month_that_has_begun(since, until, years) -> None:
    assert years_between(datetime.fromisoformat(since), datetime.fromisoformat(until)) == years


def test_later_prices_of_a_lease_are_named_beside_the_published_one() -> None:
    asked = scenario([lease(plan="monthly", prices=[{"from": "2026-02-01", "price": 2700}])], horizon="59d")
    wanted = "lease 0: list price 2,700.00 CNY a month and unit from 2026-02-01 on, as the scenario says."
    assert wanted in planned(asked).assumptions


def test_a_contract_that_begins_as_the_run_ends_is_no_line_though_it_is_paid_early() -> None:
    """A month, then a year from the first of February on, when the run ends. It would be paid nine days
    before, but never before it begins: after the run."""
    change = [{"at": "2026-02-01", "plan": "annual"}]
    asked = scenario([lease(plan="monthly", converts=change, terms={"pay_shift_days": -9})], horizon="31d")
    assert [(line.plan, line.billed_cost) for line in planned(asked).charges] == [("monthly", D(2800))]


def test_a_price_on_demand_says_whether_it_was_asked_for() -> None:
    """A month of an offer by the hour's own price, 2,800 / 720 = 3.888889, or the six that was asked for."""
    asked = scenario([lease(plan="monthly", terms={"expiry": "hourly"})])
    told = {
        price: on_demand_prices(asked, asked.strategies[0], OFFERS, None, price).sentence
        for price in (None, Decimal(6))
    }
    by_offer = on_demand_prices(asked, asked.strategies[0], OFFERS, None, {"a100-40g-custom": D(6)}).sentence
    start = "Committed hours on demand, CNY a card-hour: a100-40g-custom"
    assert told[None] == f"{start} 3.888889"
    assert by_offer == f"{start} 6.00 as asked for"
    assert told[Decimal(6)] == "Committed hours on demand: 6.00 CNY a card-hour, as asked for"


def test_a_plan_without_a_run_has_nobody_on_its_cards_and_none_down() -> None:
    asked = scenario([lease(2, "monthly")], horizon="31d")
    records = list(planned_records(asked, asked.strategies[0], OFFERS))
    assert [(one.machine, one.busy_card_us, one.down_card_us, one.reserved_card_us) for one in records] == [
        (0, 0, 0, 0),
        (1, 0, 0, 0),
    ]


@pytest.mark.parametrize("month", [12, 13])
def test_an_early_end_is_before_the_full_time(month) -> None:
    with pytest.raises(ValueError, match="an early end is before month 12, the full time"):
        Ends.early({3: Fraction(1, 4), month: Fraction(1, 4)}, 12)
    assert Ends.early({11: Fraction(1, 4)}, 12).chances == {11: Fraction(1, 4), 12: Fraction(3, 4)}


def test_the_chance_of_an_early_end_at_which_two_ways_cost_the_same() -> None:
    """A year costs 26,880 whenever it ends; months 33,600, or 16,800 after six. With a chance q of six months
    26,880 = 33,600 (1 - q) + 16,800 q: q = 0.4, whichever stands first."""
    asked = {plan: scenario([lease(plan=plan)]) for plan in ("annual", "monthly")}
    ways = [Way(name, one, one.strategies[0], OFFERS, None, None) for name, one in asked.items()]
    ends = Ends.early({6: Fraction(1, 10)}, 12)
    for order in (ways, ways[::-1]):
        (pair,) = analyse(order, 12, D(0), ends=ends).pairs
        assert pair.even == {6: Fraction(2, 5)}


def test_the_price_of_a_disk_is_in_the_currency_of_the_offer() -> None:
    """28 USD a month for 14 of the 28 days of February, at 7.1: 99.40 CNY."""
    sold = offer("abroad", 3, unit="hour", plans={"hourly": 1}, currency="USD")
    stops = [{"from": "2026-02-01", "until": "2026-02-15"}]
    asked = scenario(
        [lease(1, "hourly", "abroad", stopped=stops, terms={"stop": {"disk_per_month": 28}})],
        horizon="59d",
        exchange={"USD": {"rate": "7.1", "date": "2026-01-01"}},
    )
    (disk,) = (line for line in planned(asked, {"abroad": sold}).charges if line.category == "storage")
    assert disk.billed_cost == D("99.40")
