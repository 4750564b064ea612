"""Indicators of a run: its ledger and its card-time, each figure by pencil."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from sim.billing.finance.on_demand import OnDemand, on_demand_prices
from sim.billing.finance.run_indicators import run_indicators
from sim.billing.focus import focus_rows
from sim.experiments.again import detail
from sim.experiments.indicators import indicators_of
from sim.load import load_text
from sim.units import HOUR
from tests.billing_cases import OFFERS, offer
from tests.money_cases import charge, failure, ledger, log, machine, scenario, stay

D = Decimal
NONE = OnDemand({}, "")


def at(price) -> OnDemand:
    return OnDemand({"lease 0": Fraction(str(price))}, "")


def month_of(used_h, price=NONE, useful_h=None):
    """A card of 2,800 CNY for 730 h, used for the first hours."""
    asked = scenario(horizon="730h")
    book = ledger(asked, charge(asked, "2800", 0, 730, cards=1))
    lost = 0 if useful_h is None else used_h - useful_h
    stays = [stay(0, [0], 0, used_h, lost=lost)] if used_h else []
    return run_indicators(book, log(730, stays, [machine()]), asked, price)


def test_a_card_that_is_used_at_23_percent() -> None:
    """2,800 / (0.23 x 730 h) = 16.68 CNY an hour; 77 % of the money for nothing."""
    found = month_of(167.9, at(5))
    assert round(found.used_hour, 1) == D("16.7")
    assert found.utilisation == D("0.23")
    assert found.coverage == 1
    assert found.waste == D("2156.00")
    # 2,800 instead of 167.9 x 5 = 839.50: 3.3353 times as much.
    assert round(found.savings_rate, 4) == D("-2.3353")
    # 2,800 / (730 x 5) = 76.7 %: at 560 h both cost 2,800.
    assert round(found.break_even_utilisation, 4) == D("0.7671")
    assert month_of(560, at(5)).savings_rate == 0


def test_hours_that_were_lost_are_used_and_not_useful() -> None:
    found = month_of(140, useful_h=100)
    assert (found.used_hour, found.useful_hour) == (20, 28)


def test_a_fully_used_lease() -> None:
    found = month_of(730, at(8))
    assert (found.utilisation, found.coverage, found.waste) == (1, 1, 0)
    assert round(found.used_hour, 4) == D("3.8356")
    assert found.savings_rate == 1 - D(2800) / 5840
    assert found.contracted_savings_rate == 0


def test_a_fully_idle_lease() -> None:
    found = month_of(0, at(8))
    assert (found.utilisation, found.waste) == (0, D("2800.00"))
    assert (found.used_hour, found.useful_hour, found.coverage, found.savings_rate) == (None,) * 4
    assert found.break_even_utilisation == D(2800) / 5840


@pytest.mark.parametrize(("hourly", "hours"), [("25", 112), ("16.666667", 168)])
def test_break_even_utilisation_of_the_articles(hourly, hours) -> None:
    """112 to 168 h a month beside an H100 by the hour (12,000 / 720 to 25 CNY)."""
    assert float(month_of(0, at(hourly)).break_even_utilisation * 730) == pytest.approx(hours, abs=1e-4)


def a_mix():
    """Two cards for 100 h at 600.00: job 0 has 100 h of them, job 1 has 50 h; 10 h of the rest are down.
    A burst card for 100 h at 5.00 an hour, all used; another for 20 h, of which 10 are used."""
    asked = scenario(horizon="100h", strategy={"leases": [{"offer": "a100-40g-custom", "plan": "monthly"}]})
    usage = {"lease": "burst", "category": "usage", "plan": "hourly", "cards": 1, "offer": "h100-mig"}
    book = ledger(
        asked,
        charge(asked, "600", 0, 100, cards=2),
        charge(asked, "500", 0, 100, number=1, machine=0, quantity=100, **usage),
        charge(asked, "100", 20, 40, number=2, machine=1, quantity=20, **usage),
    )
    stays = [
        stay(0, [0], 0, 100),
        stay(1, [1], 0, 50),
        stay(2, [0], 0, 100, burst=True, offer="h100-mig"),
        stay(3, [1], 20, 30, burst=True, offer="h100-mig"),
    ]
    machines = [
        machine(),
        machine(number=1),
        machine(0, 100, lease=-1, offer="h100-mig"),
        machine(20, 40, lease=-1, number=1, offer="h100-mig"),
    ]
    return asked, book, log(100, stays, machines, [failure(60, 70, number=1)])


def test_a_mix_with_burst() -> None:
    asked, book, run = a_mix()
    found = run_indicators(book, run, asked, at(6))
    # Used: 100 + 50 + 100 + 10; all of it costs 1,200.
    assert (found.used_us, found.cost) == (260 * HOUR, D("1200"))
    assert found.used_hour == D(1200) / 260
    assert found.coverage == D(150) / 260
    assert (found.utilisation, found.committed_us) == (D("0.75"), 200 * HOUR)
    # 50 unused committed hours at 3.00: idle burst hours are no commitment, and no waste of one.
    assert found.wasted == {"idle": D("120.00"), "down": D("30.00")}
    assert found.waste == D("150.00")
    # On demand: 150 h at 6.00, 110 h by the hour at 5.00 as before.
    assert found.on_demand_cost == 1450
    assert found.savings_rate == 1 - D(1200) / 1450
    # By plan alone nothing was saved: no discount.
    assert (found.contracted, found.effective) == (D("1200.00"), D("1200"))
    assert found.break_even_utilisation == D("0.5")


def test_nothing_committed() -> None:
    asked, book, run = a_mix()
    book = ledger(asked, *book.charges[1:])
    run = log(100, [one for one in run.attempts if one.burst], [one for one in run.leases if one.lease < 0])
    found = run_indicators(book, run, asked, NONE)
    assert (found.coverage, found.utilisation, found.waste) == (0, None, 0)
    assert found.savings_rate == 1 - D(600) / 550  # ten hours were rented and not used
    assert found.break_even_utilisation is None


def test_each_committed_hour_is_wasted_at_its_own_price() -> None:
    """100 h at 1.00, used, then 100 h at 9.00, not used: 900 are wasted, not half of 1,000."""
    asked = scenario(horizon="200h")
    book = ledger(
        asked, charge(asked, "100", 0, 100, cards=1), charge(asked, "900", 100, 200, number=1, cards=1)
    )
    found = run_indicators(book, log(200, [stay(0, [0], 0, 100)], [machine()]), asked, NONE)
    assert (found.utilisation, found.waste) == (D("0.5"), D("900.00"))


def test_tax_and_refunds_belong_to_their_commitment() -> None:
    """1,000 + 60 tax - 100 back for 100 h, half of them used: 480 wasted; tax that comes back is no cost."""
    asked = scenario(horizon="100h")
    lines = [
        charge(asked, "1000", 0, 100, cards=1),
        charge(asked, "60", 0, 100, number=1, category="tax", of=0),
        charge(asked, "-100", 0, 100, number=2, category="refund", of=0),
    ]
    run = log(100, [stay(0, [0], 0, 50)], [machine()])
    found = run_indicators(ledger(asked, *lines), run, asked, at(12))
    assert (found.committed_cost, found.waste, found.used_hour) == (D(960), D("480.00"), D("19.2"))
    assert found.committed_us == 100 * HOUR
    # Without tax: (1,000 - 900) / 1,000.
    assert found.contracted_savings_rate == D("0.1")
    assert found.break_even_utilisation == D("0.8")


# -- The price on demand ------------------------------------------------------------------------------


def prices(terms=None, asked=None, **lease):
    question = scenario(
        strategy={"leases": [{"offer": "a100-40g-custom", "plan": "annual", "terms": terms or {}, **lease}]}
    )
    return on_demand_prices(question, question.strategies[0], OFFERS, None, asked)


def test_an_offer_by_the_month_has_no_price_on_demand() -> None:
    found = prices()
    assert found.prices == {"lease 0": None}
    assert "a100-40g-custom cannot be rented by the hour" in found.sentence
    assert found.cost({"lease 0": D(10)}) is None
    assert found.cost({"lease 0": D(0)}) == 0
    assert month_of(10, found).savings_rate is None


@pytest.mark.parametrize(
    ("tax", "price"),
    [
        (None, D(6)),
        ({"rate": "0.2"}, D(6)),
        ({"rate": "0.2", "creditable": True}, D(5)),
        ({"rate": "0.2", "included": False}, D("7.2")),
        ({"rate": "0.2", "included": False, "creditable": True}, D(6)),
    ],
)
def test_own_price_by_the_hour_as_a_cost(tax, price) -> None:
    terms = {"hourly_price": 6, **({} if tax is None else {"tax": tax})}
    assert prices(terms).prices == {"lease 0": price}


def test_a_price_that_is_asked_for_goes_first() -> None:
    found = prices({"hourly_price": 6}, asked=D("4.5"))
    assert found.prices == {"lease 0": D("4.5")}
    assert found.sentence == "Committed hours on demand: 4.50 CNY a card-hour, as asked for"


def test_prices_by_offer() -> None:
    leases = [{"offer": "a100-40g-custom", "plan": "annual"}, {"offer": "box", "plan": "monthly"}]
    question = scenario(strategy={"leases": leases})
    offers = {**OFFERS, "box": offer("box", 30000, gpus=8)}
    found = on_demand_prices(question, question.strategies[0], offers, None, {"box": D("5.5")})
    assert found.prices == {"lease 0": None, "lease 1": D("5.5")}
    assert "box 5.50 as asked for" in found.sentence
    assert "a100-40g-custom cannot be rented by the hour" in found.sentence
    # Only leases with hours need a price.
    assert found.cost({"lease 0": D(0), "lease 1": D(4)}) == 22


def test_a_contract_that_falls_back_to_hours_has_their_price() -> None:
    """2,800 CNY a month over 720 h where no price by the hour is stated."""
    assert prices({"expiry": "hourly"}).prices == {"lease 0": Fraction(2800, 720)}


def test_the_price_of_a_machine_is_per_card() -> None:
    offers = {"box": offer("box", 30000, gpus=8, terms={"hourly_price": 40})}
    question = scenario(strategy={"leases": [{"offer": "box", "plan": "monthly"}]})
    assert on_demand_prices(question, question.strategies[0], offers).prices == {"lease 0": 5}


# -- A real run ---------------------------------------------------------------------------------------

SMALL = """\
name: small
start: 2026-01-10
horizon: 60d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, samples: 20000, rate: 12/day}
reliability: {profile: datacentre}
terms: {tax: {rate: 0.06}}
strategies:
  - name: mix
    leases:
      - offer: a100-40g-custom
        plan: quarterly
        started: 2025-12-01
        terms: {expiry: hourly, hourly_price: 9}
      - {offer: a100-40g-custom, plan: annual, end: 2026-02-20, terms: {refund: {rule: re-rate}}}
      - {offer: h100-mig, plan: hourly, start: 2026-01-20, end: 2026-01-22}
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 10min}
experiment: {replications: 1}
"""


def test_a_run_agrees_with_its_focus_rows() -> None:
    """The export is another program: used and unused hours, waste and contracted cost are read off it."""
    made = detail(load_text(SMALL), 0)
    run, question = made.run, made.question
    found = indicators_of(made, D(9))
    rows = [
        row
        for row in focus_rows(run.ledger, run.log, run.jobs, question.scenario, "mix", made.prepared.offers)
        if row["ChargeCategory"] == "Usage"
    ]

    def total(column, **wanted):
        return sum(
            (row[column] for row in rows if all(row[key] == value for key, value in wanted.items())), D(0)
        )

    status = "CommitmentDiscountStatus"
    used = total("CommitmentDiscountQuantity", **{status: "Used"})
    assert round(D(found.covered_us) / HOUR, 4) == round(used, 4) > 100
    unused = total("CommitmentDiscountQuantity", **{status: "Unused"})
    assert round(D(found.committed_us) / HOUR, 4) == round(used + unused, 4)
    taxed = D("1.06")  # contained in prices, a row of its own: the waste has its part
    assert abs(found.waste - total("EffectiveCost", **{status: "Unused"}) * taxed) < 1
    assert abs(found.effective - total("EffectiveCost")) < D("0.01")
    late = sum((row["ContractedCost"] for row in rows if row["x_UnusedReason"] == "after the horizon"), D(0))
    assert abs(found.contracted - total("ContractedCost") + late) < D("0.01")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, "utf-8")
    return path


def test_costs_shows_them(small, fleetsim) -> None:
    done = fleetsim("costs", small, "--on-demand", "9", "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    shown = document["indicators"]
    assert shown["effective_hour_used"]["unit"] == "CNY/card-h"
    assert shown["effective_hour_used"]["value"] == pytest.approx(
        document["accrued_cny"] / shown["used_card_h"], abs=1e-9
    )
    assert shown["commitment_utilisation"]["value"] == pytest.approx(
        shown["covered_card_h"] / shown["committed_card_h"]
    )
    assert shown["effective_savings_rate"]["value"] == pytest.approx(
        1 - document["accrued_cny"] / shown["on_demand_cny"]
    )
    assert sum(shown["waste_by_state_cny"].values()) == pytest.approx(shown["waste"]["value"])
    text = " ".join(fleetsim("costs", small, "--by", "month").out.split())
    assert "Indicators" in text
    assert "CNY/card-h" in text
    assert "a100-40g-custom cannot be rented by the hour" in text
    assert "--on-demand gives a price" in text


def test_average_and_marginal_cost_are_told_apart_in_a_sentence(small, fleetsim) -> None:
    text = " ".join(fleetsim("costs", small, "--by", "job").out.split())
    (said,) = [one for one in text.split(". ") if "Average cost" in one]
    assert "what the card-hours that a job held cost" in said
    assert "marginal cost is what nobody would have paid without the job" in said


def test_costs_takes_prices_by_offer(small, fleetsim) -> None:
    done = fleetsim("costs", small, "--on-demand", "a100-40g-custom=9", "--format", "json")
    by_offer = json.loads(done.out)["indicators"]
    assert by_offer["on_demand"].endswith("a100-40g-custom 9.00 as asked for")
    for_all = json.loads(fleetsim("costs", small, "--on-demand", "9", "--format", "json").out)["indicators"]
    assert by_offer["on_demand_cny"] == for_all["on_demand_cny"]


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ("0", "must be a price of a card-hour above 0"),
        ("-1", "must be a price of a card-hour above 0"),
        ("cheap", "must be a price of a card-hour above 0"),
        ("a100-40g-custom=", "must be a price of a card-hour above 0"),
        ("a100=5", "leases no such offer"),
        ("h100-mig=5,h100-mig=6", "stands once"),
    ],
)
def test_a_price_is_above_nothing(small, fleetsim, price, said) -> None:
    done = fleetsim("costs", small, "--on-demand", price)
    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())
