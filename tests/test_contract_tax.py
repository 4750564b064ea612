"""Value-added tax and foreign currency, by pencil."""

from datetime import date
from decimal import Decimal

import pytest

from sim.billing.tax import net_and_tax
from sim.errors import InputError
from sim.model.terms import Tax
from tests.billing_cases import BURST, lease, ledger, offer, planned, rental, scenario

D = Decimal


def taxed(rate="0.06", plan="annual", count=1, horizon="365d", **more):
    tax = {"rate": rate, **more.pop("tax", {})}
    return ledger(scenario([lease(count, plan, terms={"tax": tax}, **more)], horizon=horizon))


@pytest.mark.parametrize(
    ("rate", "price", "net", "tax"),
    [
        ("0.06", "26880", "25358.49", "1521.51"),
        ("0.13", "26880", "23787.61", "3092.39"),
        ("0.06", "107520", "101433.96", "6086.04"),
        ("0.13", "7980", "7061.95", "918.05"),
        ("0.06", "0.01", "0.01", "0.00"),
        ("0", "2800", "2800", "0"),
    ],
)
def test_tax_in_the_price_is_taken_out_so_that_both_sum_to_it(rate, price, net, tax):
    assert net_and_tax(D(price), Tax(rate=D(rate))) == (D(net), D(tax))
    assert net_and_tax(-D(price), Tax(rate=D(rate))) == (-D(net), -D(tax))


def test_a_years_contract_with_six_per_cent_in_the_price():
    result = taxed()
    purchase, tax = result.charges
    assert (purchase.billed_cost, tax.billed_cost) == (D("25358.49"), D("1521.51"))
    assert (tax.category, tax.of, tax.cards, tax.recoverable) == ("tax", 0, 0, False)
    assert result.cash == result.accrued == result.committed == D(26880)
    assert purchase.rule.endswith("= 26,880.00; 26,880.00 / 1.06 = 25,358.49 net of tax")
    assert tax.rule == "tax of charge 0, contained in the price: 25,358.49 x 0.06 = 1,521.51"
    assert abs(purchase.unit_price * purchase.quantity - purchase.billed_cost) < D("0.01")
    assert abs(purchase.list_cost - D(33600) / D("1.06")) < D("1e-20")
    assert any("VAT of 6 % is contained in published prices (assumed)" in text for text in result.assumptions)


def test_tax_on_top():
    result = taxed(tax={"included": False})
    assert [c.billed_cost for c in result.charges] == [D(26880), D("1612.80")]
    assert result.accrued == result.cash == D("28492.80")


def test_input_tax_that_comes_back_is_cash_but_no_cost():
    result = taxed(tax={"creditable": True}, horizon="90d")
    purchase, tax = result.charges
    assert (tax.recoverable, tax.accrued_cost, tax.owed_after) == (True, 0, 0)
    assert result.cash == D(26880)
    assert result.committed == D("25358.49")
    assert result.accrued == purchase.accrued_cost == D("6252.78")  # 25,358.49 x 90 / 365 = 6,252.778...
    assert sum(invoice.total for invoice in result.invoices) == D(26880)


def test_tax_accrues_as_its_charge():
    result = taxed(horizon="90d")
    purchase, tax = result.charges
    assert result.accrued == D("6627.95")  # as without tax: 26,880 x 90 / 365
    assert result.committed == D(26880)
    assert (tax.accrues_from, tax.accrues_until) == (purchase.accrues_from, purchase.accrues_until)


def test_the_hours_of_an_invoice_are_taxed_together():
    # 81 lines of 0.0049, together 0.40; 6 % on top of them are 0.02, not nothing a line.
    sold = {
        "h100-mig": offer(
            "h100-mig",
            "17.64",
            unit="hour",
            plans={"hourly": {"multiplier": 1, "increment_s": 1, "minimum_s": 1}},
        )
    }
    records = [rental(1, 1 + 1 / 3600, machine) for machine in range(81)]
    terms = {"tax": {"rate": "0.06", "included": False}}
    result = ledger(scenario(burst=BURST, terms=terms), records, offers=sold)
    assert len(result.charges) == 162
    assert sum(c.billed_cost for c in result.charges if c.category == "tax") == D("0.02")
    assert result.invoices[0].total == D("0.42")


def test_a_refund_and_its_fee_are_taxed_too():
    # 13,440 back of 26,880: net 12,679.25 and tax 760.75; the fee of 1,344: 1,267.92 and 76.08.
    terms = {
        "tax": {"rate": "0.06"},
        "refund": {"rule": "pro-rata", "part": "month", "fee": "0.1"},
    }
    result = ledger(scenario([lease(end="2026-07-01", terms=terms)]))
    lines = [(c.category, c.of, c.billed_cost) for c in result.charges]
    assert lines == [
        ("purchase", None, D("25358.49")),
        ("refund", 0, D("-12679.25")),
        ("fee", 0, D("1267.92")),
        ("tax", 0, D("1521.51")),
        ("tax", 1, D("-760.75")),
        ("tax", 2, D("76.08")),
    ]
    assert result.cash == result.accrued == D(14784)


def test_only_taxed_leases_are_taxed():
    asked = scenario([lease(), lease(terms={"tax": {"rate": "0.13"}})])
    lines = [(c.lease, c.category, c.billed_cost) for c in ledger(asked).charges]
    assert lines == [
        ("lease 0", "purchase", D(26880)),
        ("lease 1", "purchase", D("23787.61")),
        ("lease 1", "tax", D("3092.39")),
    ]
    texts = ledger(asked).assumptions
    assert any(text.startswith("lease 0: prices are taken as published") for text in texts)


# --- currency ---------------------------------------------------------------------------------------

USD = {"exchange": {"USD": {"rate": "7.1", "date": "2026-11-30"}}}
ABROAD = {
    "x": offer(
        "x", 400, 500, plans={"monthly": 1, "annual": "0.8"}, currency="USD",
        repeat={"per_card_month": 10}, options={"disk": {"description": "disk", "per_month": 20}},
    ),
    "h100-mig": offer("h100-mig", 3, unit="hour", plans={"hourly": 1}, currency="USD"),
}  # fmt: skip


def test_prices_are_turned_at_the_dated_rate():
    # 450 USD x 7.1 = 3,195 CNY; a year at 0.8: 30,672.
    result = ledger(scenario([lease(1, "annual", "x")], **USD), offers=ABROAD)
    (line,) = result.charges
    assert result.currency == "CNY"
    assert (line.list_unit_price, line.billed_cost) == (D("3195.0"), D("30672.00"))
    assert line.rule.endswith("; 450.00 USD x 7.1 = 3,195.00 CNY list, rate of 2026-11-30")
    assert any("turned at 7.1 CNY for one, the rate of 2026-11-30" in text for text in result.assumptions)


def test_every_amount_is_turned():
    # (500 x 0.8 + 20 - 10) x 12 x 7.1 = 34,932
    more = {"options": ["disk"], "repeat_purchase": True, "price": 500}
    result = ledger(scenario([lease(1, "annual", "x", **more)], **USD), offers=ABROAD)
    assert result.accrued == D("34932.00")
    # later prices of the lease: 400 USD from February on
    prices = [{"from": "2026-02-01", "price": 400}]
    result = ledger(scenario([lease(1, "monthly", "x", prices=prices)], horizon="59d", **USD), offers=ABROAD)
    assert [c.billed_cost for c in result.charges] == [D("3195.00"), D("2840.00")]
    # 10 h in a burst at 3 USD, or at 2 as the scenario says
    for price, cost in ((None, "213.00"), (2, "142.00")):
        wish = BURST if price is None else {**BURST, "price": price}
        assert ledger(scenario(burst=wish, **USD), [rental(0, 10)], offers=ABROAD).accrued == D(cost)
    # falls back to 1 USD an hour after a month: 240 h
    terms = {"expiry": "hourly", "hourly_price": 1}
    asked = scenario([lease(1, "monthly", "x", end="2026-02-11", terms=terms)], **USD)
    assert [c.billed_cost for c in planned(asked, ABROAD).charges] == [D("3195.00"), D("1704.00")]


def test_a_currency_without_a_rate_is_refused_with_what_to_write():
    for asked in (scenario([lease(1, "annual", "x")]), scenario(burst=BURST)):
        with pytest.raises(InputError) as caught:
            ledger(asked, offers=ABROAD)
        (problem,) = caught.value.problems
        assert problem.key is not None
        assert problem.key.endswith(".offer")
        assert "exchange: {USD: {rate: 7.1, date: 2026-11-30}}" in problem.rule


def test_the_rate_is_dated():
    asked = scenario([lease(1, "annual", "x")], **USD)
    assert asked.exchange["USD"].date == date(2026, 11, 30)
