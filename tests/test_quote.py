"""A quote: the lines of the ledger without a simulation, to the cent, for every plan and rule."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from sim import replication
from sim.catalog import load_catalog
from sim.errors import InputError
from sim.experiments.quote import Asked, asked_question, quote
from sim.load import load_text
from sim.replication import prepare, replicate

CATALOG = load_catalog()
OFFERS = [name for name, offer in CATALOG.offers.items() if offer.currency == "CNY"]
PLANS = ("hourly", "monthly", "quarterly", "annual", "6-months", "24-months")
TERMS = (
    "payment=arrears", "pay_shift_days=-9", "pay_shift_days=45", "month=30-days", "month=mean-month",
    "begins=next-hour", "options_discounted=true", "refund.rule=pro-rata", "refund.rule=re-rate",
    "refund.rule=deposit-less-discounts", "refund.matched=false", "refund.part=hour", "refund.part=exact",
    "refund.grace_days=40", "refund.fee=0.1", "expiry=renew-at-list", "expiry=hourly", "expiry=end",
    "renewal_change=0.07", "renewal_change=-0.05", "price_locked=false", "hourly_price=5.5", "tax.rate=0.06",
    "tax={rate: 0.13, included: false}", "tax={rate: 0.06, included: false, creditable: true}",
    "tax={rate: 0.13, creditable: true}", "stop.disk_per_month=30",
)  # fmt: skip


def simulated(question, strategy=0):
    return replicate(prepare(question), strategy, 0).ledger


@st.composite
def asked(draw) -> Asked:
    offer = CATALOG.offers[draw(st.sampled_from(OFFERS))]
    plans = [plan for plan in PLANS if plan in offer.plans or plan.endswith("months")]
    start = draw(st.dates(date(2024, 1, 1), date(2031, 12, 31)))
    clock = draw(st.sampled_from(("", "", " 10:30", " 23:59:59")))
    return Asked(
        offer=offer.id,
        count=draw(st.integers(1, 5)),
        plan=draw(st.sampled_from(plans)),
        start=f"{start}{clock}",
        months=draw(st.integers(1, 14) | st.integers(15, 40)),
        options=tuple(draw(st.lists(st.sampled_from(sorted(offer.options)), unique=True, max_size=2)))
        if offer.options
        else (),
        repeat_purchase=offer.repeat_purchase is not None and draw(st.booleans()),
        terms=tuple(draw(st.lists(st.sampled_from(TERMS), max_size=4, unique=True))),
        list_price=draw(st.sampled_from((None, None, "3100", "2999.99"))),
        timezone=draw(st.sampled_from((None, "UTC", "America/New_York", "Europe/Berlin"))),
    )


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(asked(), st.sampled_from((None, "low", "mid", "high")))
def test_a_quote_is_the_invoice_of_the_simulated_lease(lease, price):
    try:
        question = asked_question(lease, price, CATALOG)
    except InputError as error:
        event(f"refused: {error.problems[0].rule[:40]}")
        assume(False)
    found = quote(question, 0)
    ledger = simulated(question)
    assert found.ledger == ledger
    # The horizon is long enough: nothing is left to be paid or owed.
    assert ledger.cash == sum(line.billed_cost for line in ledger.charges)
    assert ledger.committed == ledger.accrued
    assert sum(amount for _, amount in found.by_month) == ledger.cash
    assert sum((invoice.total for invoice in ledger.invoices), Decimal(0)) == ledger.cash


LEASES = {
    "co-term": "- {offer: a100-40g-custom, count: 4, plan: annual}\n"
    "- {offer: a100-40g-custom, count: 4, plan: annual, start: 2026-04-01, joins: 0,"
    " terms: {added: co-term}}",
    "new term": "- {offer: a100-40g-custom, count: 4, plan: annual}\n"
    "- {offer: a100-40g-custom, count: 4, plan: annual, start: 2026-04-01, joins: 0}",
    "converted": "- offer: a100-40g-custom\n  plan: hourly\n"
    "  terms: {hourly_price: 5.5, refund: {rule: pro-rata}}\n"
    "  converts: [{at: 2026-02-10, plan: monthly}, {at: 2026-05-01, plan: annual}]",
    "stopped": "- {offer: h100-mig, plan: hourly, stopped: [{from: 2026-01-10, until: 2026-01-20 10:30}],"
    " terms: {stop: {disk_per_month: 30}}}",
    "running": "- {offer: a100-40g-custom, count: 2, plan: quarterly, started: 2025-11-30}",
    "windows": '- {offer: h100-mig, plan: hourly, available: "08:00-20:00", end: "2026-03-05 10:30"}',
    "later prices": "- {offer: a100-40g-custom, plan: monthly, prices: [{from: 2026-03-15, price: 3000}],"
    " terms: {price_locked: false}}",
    "beyond the horizon": "- {offer: a100-40g-custom, plan: monthly}\n"
    "- {offer: a100-40g-custom, plan: annual, start: 2028-01-01}",
    "several": "- {offer: a100-40g-custom, count: 2, plan: monthly, end: 2026-06-10}\n"
    "- {offer: h100-mig, count: 2, plan: hourly, start: 2026-02-01, end: 2026-02-03}\n"
    "- {offer: a100-40g-8x, plan: quarterly, start: 2026-03-31, price: high}\n"
    "- {offer: h100-mig, profile: 3g.40gb, plan: hourly, start: 2026-01-31, end: 2026-02-01}",
}


def scenario(leases: str, horizon: str = "200d", more: str = "") -> str:
    indented = "\n".join(f"      {line}" for line in leases.splitlines())
    return f"""\
name: Many
start: 2026-01-01
horizon: {horizon}
workload: {{classes: [{{name: a, model: qwen-7b, method: lora, samples: 10000, rate: 2/day}}]}}
reliability: {{profile: datacentre}}
strategies:
  - name: one
    leases:
{indented}
{more}"""


@pytest.mark.parametrize("leases", LEASES.values(), ids=LEASES)
@pytest.mark.parametrize("horizon", ["200d", "37d", "2027-01-01"])
def test_a_scenario_is_quoted_as_it_is_billed(leases, horizon):
    question = load_text(scenario(leases, horizon), catalog=CATALOG)
    assert quote(question, 0).ledger == simulated(question)


def test_burst_is_left_out_and_that_is_said():
    more = "    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 0s}\n"
    question = load_text(scenario(LEASES["running"], more=more), catalog=CATALOG)
    found, ledger = quote(question, 0), simulated(question)
    assert any(line.lease == "burst" for line in ledger.charges)
    leases = tuple(line for line in ledger.charges if line.lease != "burst")
    assert found.ledger.charges == leases
    assert found.notes[0].startswith("Burst is not in this quote")


def test_a_quote_never_simulates(monkeypatch, fleetsim):
    def refuse(*_: object) -> None:
        msg = "a quote may not simulate"
        raise AssertionError(msg)

    monkeypatch.setattr(replication.engine, "run", refuse)
    monkeypatch.setattr(replication, "generate", refuse)
    assert fleetsim(*ANNUAL).code == 0


# -- Values by pencil --------------------------------------------------------------------------------

ANNUAL = ("quote", "--offer", "a100-40g-custom", "--plan", "annual", "--start", "2026-01-01", "--months", 12)


@pytest.mark.parametrize(
    ("options", "cash"),
    [
        (["--plan", "annual", "--months", 12], 26_880),
        (["--plan", "annual", "--months", 12, "--count", 4], 107_520),
        (["--plan", "annual", "--months", 8], 26_880),  # no refund: the whole year
        (
            ["--plan", "annual", "--months", 6, "--term", "refund.rule=pro-rata", "--term", "month=30-days"],
            13_440,
        ),
        (["--plan", "annual", "--months", 6, "--term", "refund={rule: re-rate, matched: false}"], 16_800),
        (["--plan", "annual", "--months", 13], 53_760),  # the second year has begun
        (["--plan", "monthly", "--months", 12], 33_600),
        (["--plan", "quarterly", "--months", 3], 7_980),
        (["--plan", "annual", "--months", 12, "--repeat-purchase", "--count", 4], 102_720),  # 4 x 12 x 2,140
        (["--plan", "annual", "--months", 12, "--option", "cpu16", "--option", "ram128"], 38_880),
        (["--plan", "monthly", "--months", 1, "--term", "tax={rate: 0.06, included: false}"], 2_968),
        (["--plan", "monthly", "--months", 1, "--list-price", "3000.5"], 3000.5),
        (
            ["--plan", "monthly", "--months", 12, "--term", "month=30-days"],
            33_600,
        ),  # twelve months of 30 days
    ],
)
def test_known_values(fleetsim, options, cash):
    told = fleetsim(
        "quote", "--offer", "a100-40g-custom", "--start", "2026-01-01", *options, "--format", "json"
    )
    assert told.code == 0, told.err
    document = json.loads(told.out)
    assert document["cash_cny"] == cash
    assert document["accrued_cny"] == cash
    assert sum(line["billed_cny"] for line in document["charges"]) == pytest.approx(cash)
    assert sum(month["paid_cny"] for month in document["cash_by_month"]) == pytest.approx(cash)


@pytest.mark.parametrize(("price", "cash"), [("low", 16.67 * 744), ("mid", 20.835 * 744), ("high", 25 * 744)])
def test_hours_of_a_month_at_each_end_of_the_range(fleetsim, price, cash):
    told = fleetsim(
        "quote", "--offer", "h100-mig", "--plan", "hourly", "--start", "2026-01-01", "--months", 1, "--price",
        price, "--format", "json",
    )  # fmt: skip
    assert json.loads(told.out)["cash_cny"] == pytest.approx(round(cash, 2), abs=0.005)


def test_a_start_on_the_31st_ends_on_the_last_day_of_a_shorter_month():
    lease = Asked("a100-40g-custom", 1, "monthly", "2026-01-31", 3)
    found = quote(asked_question(lease, None, CATALOG), 0)
    assert [line.period_start.date() for line in found.ledger.charges] == [
        date(2026, 1, 31), date(2026, 2, 28), date(2026, 3, 31),
    ]  # fmt: skip
    assert found.ledger.charges[-1].period_end.date() == date(2026, 4, 30)
    assert found.ledger.cash == 8400


def test_a_payment_long_after_the_lease_is_seen():
    terms = ("payment=arrears", "pay_shift_days=60")
    lease = Asked("a100-40g-custom", 1, "annual", "2026-01-01", 12, terms=terms)
    found = quote(asked_question(lease, None, CATALOG), 0)
    (line,) = found.ledger.charges
    assert line.cash_date.replace(tzinfo=None) == datetime(2027, 1, 1) + timedelta(days=60)
    assert found.ledger.cash == 26_880


# -- The command -------------------------------------------------------------------------------------


def test_the_text_shows_lines_with_their_rule_cash_and_assumptions(fleetsim):
    told = fleetsim(*ANNUAL, "--count", 4)
    assert told.code == 0
    text = " ".join(told.out.split())
    assert "2,800.00 list x 0.8 annual = 107,520.00" in text
    assert "2026-01 107,520.00" in text
    assert "Paid 107,520.00" in text
    assert "annual plan at 0.8 of the list price" in text


def test_a_strategy_of_a_scenario_is_quoted(fleetsim, tmp_path):
    file = tmp_path / "many.yaml"
    file.write_text(scenario(LEASES["running"]))
    told = fleetsim("quote", "--scenario", file, "--strategy", "one", "--format", "json")
    document = json.loads(told.out)
    # The quarter from 30 November is paid; 28 February and 30 May begin new ones at 2 x 3 x 2,800 x 0.95.
    assert [line["billed_cny"] for line in document["charges"] if not line["sunk"]] == [15_960, 15_960]
    assert document["cash_cny"] == 31_920
    told = fleetsim("quote", "--scenario", file, "--set", "strategies.0.leases.0.count=4", "--format", "json")
    assert json.loads(told.out)["cash_cny"] == 63_840


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"--offer": "a100-40g-costum"}, ("--offer", "did you mean 'a100-40g-custom'")),
        ({"--plan": "weekly"}, ("--plan", "known")),
        ({"--plan": "hourly"}, ("--plan", "not rented under this plan")),
        ({"--start": "2026-02-30"}, ("--start", "2026-02-30")),
        ({"--count": "0"}, ("--count",)),
        ({"--months": "0"}, ("--months",)),
        ({"--option": "cpu17"}, ("--option", "unknown option", "known: cpu16")),
        ({"--term": "refund.rule=all"}, ("--term refund.rule", "all")),
        ({"--term": "refunds=1"}, ("--term refunds", "refund")),
        ({"--term": "month"}, ("KEY=VALUE",)),
        ({"--list-price": "cheap"}, ("--list-price", "cheap")),
        ({"--list-price": "-3"}, ("--list-price",)),
        ({"--timezone": "Mars/Base"}, ("--timezone", "Mars/Base")),
        ({"--scenario": "x.yaml"}, ("not for both",)),
        ({"--strategy": "x"}, ("--strategy", "--scenario")),
        ({"--months": None}, ("--months", "needs")),
        ({"--offer": "h100-mig/9g.80gb", "--plan": "hourly"}, ("--offer", "MIG profile")),
    ],
)
def test_wrong_options_are_told_by_their_name(fleetsim, changes, told):
    options = {
        "--offer": "a100-40g-custom",
        "--plan": "annual",
        "--start": "2026-01-01",
        "--months": "12",
        **changes,
    }
    arguments = [part for name, value in options.items() if value is not None for part in (name, value)]
    found = fleetsim("quote", *arguments)
    assert found.code == 2
    assert found.out == ""
    text = " ".join(found.err.replace("│", " ").split())
    for part in told:
        assert part in text
    assert "Traceback" not in found.err
