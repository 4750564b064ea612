"""Keys of contracts in a file: accepted, written back, and refused with their place where they cannot be."""

from __future__ import annotations

import json

import jsonschema
import pytest
from ruamel.yaml import YAML

from sim.catalog import load_catalog
from sim.errors import InputError
from sim.load import dump, load_text
from sim.load_schema import json_schema
from sim.model.contract import Offer, PriceChange
from sim.model.terms import PLAN_MONTHS, ContractTerms, Refund, Stop, Tax, plan_months

HEAD = """
name: keys
start: 2026-01-01
horizon: 120d
workload:
  classes:
    - {name: c, model: qwen-7b, method: lora, mean_tokens: 200, samples: 20000, epochs: 1, rate: 1/day}
"""


def loaded(*leases: str, more: str = ""):
    rows = "".join(f"      - {lease}\n" for lease in leases)
    return load_text(f"{HEAD}{more}strategies:\n  - name: s\n    leases:\n{rows}")


FULL = tuple(
    " ".join(lease.split())
    for lease in """
    {offer: a100-40g-custom, count: 4, plan: monthly, converts: [{at: 2026-02-10, plan: 6-months}],
     prices: [{from: 2026-02-01, price: 2700}], terms: {payment: arrears, pay_shift_days: 10, month: 30-days,
     begins: next-hour, options_discounted: true, refund: {rule: re-rate, grace_days: 5, matched: false,
     part: month, fee: 0.1}, expiry: renew-at-list, renewal_change: 0.05, price_locked: false,
     discounts: {annual: 0.75}, tax: {rate: 0.06, included: false, creditable: true}}}

    {offer: a100-40g-custom, plan: 6-months, start: 2026-03-01, joins: 0, terms: {added: new-term}}

    {offer: h100-mig, plan: hourly, stopped: [{from: 2026-01-05, until: 2026-01-06T12:00}],
     terms: {increment_s: 60, minimum_s: 0, stop: {compute: stops, disk_per_month: 20, restart: ordered,
     restart_s: 600}}}

    {offer: a100-40g-custom, plan: hourly, terms: {hourly_price: 6},
     converts: [{at: 2026-02-01, plan: annual}]}
    """.strip().split("\n\n")
)
COMMON = "exchange: {USD: {rate: 7.1, date: 2026-11-30}}\nterms: {repeat_order: before_discount}\n"


def test_every_key_is_read_and_written_back_the_same():
    question = loaded(*FULL, more=COMMON)
    text = dump(question.scenario)
    again = load_text(text)
    assert again.scenario == question.scenario
    assert dump(again.scenario) == text
    first = again.scenario.strategies[0].leases[0]
    assert first.terms.model_fields_set == question.scenario.strategies[0].leases[0].terms.model_fields_set
    assert "stop" not in first.terms.model_fields_set
    assert str(first.prices[0].since.date()) == "2026-02-01"


def test_a_written_scenario_states_no_term_that_nobody_stated():
    text = dump(loaded("{offer: a100-40g-custom, plan: monthly, terms: {refund: {rule: pro-rata}}}").scenario)
    assert "grace_days" not in text
    assert "price_locked" not in text
    assert "rule: pro-rata" in text


def test_the_schema_knows_every_key():
    rows = "".join(f"      - {lease}\n" for lease in FULL)
    data = YAML(typ="safe").load(f"{HEAD}{COMMON}strategies:\n  - name: s\n    leases:\n{rows}")
    jsonschema.validate(json.loads(json.dumps(data, default=str)), json_schema())


@pytest.mark.parametrize(
    ("plan", "months"),
    [
        ("hourly", 0),
        ("monthly", 1),
        ("quarterly", 3),
        ("annual", 12),
        ("1-month", 1),
        ("6-months", 6),
        ("120-months", 120),
    ],
)
def test_plans_have_a_length(plan, months):
    assert plan_months(plan) == months


@pytest.mark.parametrize(
    "plan", ["weekly", "0-months", "121-months", "6 months", "6-month-s", "-6-months", "", "06-months"]
)
def test_other_words_are_no_plan(plan):
    with pytest.raises(ValueError, match="known names"):
        plan_months(plan)


SHORT = {"CUSTOM": "offer: a100-40g-custom", "MIG": "offer: h100-mig, plan: hourly"}


@pytest.mark.parametrize(
    ("leases", "key", "words"),
    [
        (["{CUSTOM, plan: monthly, stopped: [{from: 2026-01-05, until: 2026-01-06}]}"],
         "0.stopped", "only cards by the hour can be stopped"),
        (["{MIG, stopped: [{from: 2026-01-06, until: 2026-01-05}]}"],
         "0.stopped.0", "until must be after from"),
        (["{MIG, stopped: [{from: 2026-01-05, until: 2026-01-07}, {from: 2026-01-06, until: 2026-01-08}]}"],
         "0.stopped", "do not overlap"),
        (["{MIG, start: 2026-02-01, stopped: [{from: 2026-01-05, until: 2026-01-07}]}"],
         "0.stopped.0.from", "after the lease begins, 2026-02-01"),
        (["{MIG, end: 2026-02-01, stopped: [{from: 2026-01-31, until: 2026-02-07}]}"],
         "0.stopped.0.until", "until 2026-02-01"),
        ([("{CUSTOM, plan: monthly, "
           "converts: [{at: 2026-03-01, plan: quarterly}, {at: 2026-02-01, plan: annual}]}")],
         "0.converts", "order of time"),
        (["{CUSTOM, plan: annual, converts: [{at: 2026-03-01, plan: monthly}]}"],
         "0.converts", "leads to a longer plan"),
        (["{CUSTOM, plan: monthly, converts: [{at: 2025-03-01, plan: annual}]}"],
         "0.converts.0.at", "after it begins, 2026-01-01"),
        (["{CUSTOM, plan: monthly, end: 2026-03-01, converts: [{at: 2026-03-01, plan: annual}]}"],
         "0.converts.0.at", "before it ends, 2026-03-01"),
        (["{offer: a100-40g-8x, plan: monthly, converts: [{at: 2026-02-01, plan: weekly}]}"],
         "0.converts.0.plan", "known names"),
        (["{MIG, converts: [{at: 2026-02-01, plan: monthly}]}"],
         "0.converts.0.plan", "not rented under this plan"),
        (["{CUSTOM, plan: hourly}"], "0.plan", "not rented under this plan"),
        (["{CUSTOM, plan: monthly, joins: 0}"], "0.joins", "joins an earlier one"),
        (["{CUSTOM, plan: monthly}", "{CUSTOM, plan: monthly, joins: 1}"], "1.joins", "known: 0"),
        (["{offer: a100-40g-cloud, plan: monthly}", "{CUSTOM, plan: monthly, joins: 0}"],
         "1.joins", "lease 0 is of a100-40g-cloud"),
        (["{MIG}", "{MIG, joins: 0}"], "1.joins", "by the hour have no period"),
        (["{CUSTOM, plan: annual}", "{CUSTOM, plan: monthly, joins: 0, terms: {added: co-term}}"],
         "1.plan", "which then is annual"),
        (["{CUSTOM, plan: monthly, end: 2026-02-01}",
          "{CUSTOM, plan: monthly, start: 2026-03-01, joins: 0, terms: {added: co-term}}"],
         "1.joins", "no paid period that runs on 2026-03-01"),
        (["{CUSTOM, plan: monthly, terms: {added: co-term}}"], "0.terms.added", "joins another"),
        (["{CUSTOM, plan: monthly, terms: {hourly_price: 4}}"], "0.terms.hourly_price", "expiry: hourly"),
        (["{MIG, terms: {hourly_price: 4}}"], "0.terms.hourly_price", "priced by the hour"),
        (["{MIG, terms: {refund: {rule: pro-rata}}}"], "0.terms.refund", "a term of prepaid plans"),
        (["{MIG, terms: {expiry: end}}"], "0.terms.expiry", "a term of prepaid plans"),
        (["{CUSTOM, plan: annual, terms: {stop: {restart: kept}}}"], "0.terms.stop", "by the hour"),
        (["{CUSTOM, plan: annual, terms: {refund: {rule: pro-rata, matched: true}}}"],
         "0.terms.refund.matched", "goes with the rule re-rate"),
        (["{CUSTOM, plan: annual, terms: {refund: {fee: 0.1}}}"], "0.terms.refund.fee", "returns something"),
        (["{CUSTOM, plan: annual, terms: {repeat_order: before_discount}}"],
         "0.terms.repeat_order", "repeat_purchase: true"),
        (["{MIG, terms: {stop: {restart_s: 60}}}"], "0.terms.stop.restart_s", "restart: ordered"),
        (["{CUSTOM, plan: monthly, started: 2025-06-01, terms: {expiry: end}}"],
         "0.started", "the contract ended 2025-07-01"),
        (["{CUSTOM, plan: monthly, prices: [{from: 2026-03-01, price: 1}, {from: 2026-02-01, price: 2}]}"],
         "0.prices", "order of time"),
        (["{CUSTOM, plan: monthly, prices: [{from: 2026-03-01, price: 0}]}"], "0.prices.0.price", "above 0"),
        (["{CUSTOM, plan: monthly, prices: [{price: 5}]}"], "0.prices.0.from", "missing"),
        (["{CUSTOM, plan: monthly, terms: {tax: {included: true}}}"], "0.terms.tax.rate", "missing"),
        (["{CUSTOM, plan: monthly, terms: {tax: {rate: 6}}}"], "0.terms.tax.rate", "below 1"),
        (["{CUSTOM, plan: monthly, terms: {refund: {rule: pro-rata, fee: 2}}}"],
         "0.terms.refund.fee", "at most 1"),
        (["{CUSTOM, plan: monthly, terms: {month: 31-days}}"], "0.terms.month", "30-days"),
        (["{CUSTOM, plan: monthly, terms: {refund: {rule: full}}}"], "0.terms.refund.rule", "pro-rata"),
        (["{CUSTOM, plan: monthly, terms: {expires: end}}"], "0.terms.expires", "did you mean 'expiry'"),
        (["{CUSTOM, plan: monthly, terms: {discounts: {weekly: 0.9}}}"], "0.terms.discounts", "known names"),
    ],
)  # fmt: skip
def test_what_contradicts_is_refused_at_its_place(leases, key, words):
    for word, text in SHORT.items():
        leases = [lease.replace(word, text) for lease in leases]
    with pytest.raises(InputError) as caught:
        loaded(*leases)
    problems = [p for p in caught.value.problems if f"strategies.0.leases.{key}" in str(p.key)]
    assert len(problems) == 1, [str(p) for p in caught.value.problems]
    assert words in str(problems[0])
    assert problems[0].line is not None
    assert problems[0].file == "scenario.yaml"


def test_a_bad_rate_is_refused():
    for text, words in (
        ("{usd: {rate: 7, date: 2026-11-30}}", "exchange"),
        ("{USD: {rate: 0, date: 2026-11-30}}", "above 0"),
    ):
        with pytest.raises(InputError, match=words):
            loaded("{offer: a100-40g-custom, plan: monthly}", more=f"exchange: {text}\n")


# --- terms over terms -------------------------------------------------------------------------------


def test_stated_terms_go_before_others_down_to_the_last_key():
    offer = ContractTerms(refund=Refund(rule="pro-rata", grace_days=5), month="30-days", tax=Tax(rate="0.13"))
    lease = ContractTerms(refund=Refund(part="hour"), price_locked=False)
    found = lease.over(offer)
    assert found.refund == Refund(rule="pro-rata", grace_days=5, part="hour")
    assert (found.month, found.price_locked, found.expiry) == ("30-days", False, "renew")
    assert found.states("refund.rule")
    assert found.states("tax.rate")
    assert not found.states("tax.included")
    assert not found.states("stop.disk_per_month")
    assert not found.states("expiry")
    assert ContractTerms().over(offer) == offer
    assert offer.over(ContractTerms()).model_fields_set == {"refund", "month", "tax"}


def test_a_default_that_is_stated_goes_before_another_value():
    offer = ContractTerms(refund=Refund(rule="pro-rata"), stop=Stop(restart="ordered"))
    lease = ContractTerms(refund=Refund(rule="none"), stop=Stop(restart="kept"))
    assert lease.over(offer).refund.rule == "none"
    assert lease.over(offer).stop.restart == "kept"


def test_what_is_stated_shows_so_that_runs_have_ids_of_their_own():
    stated = ContractTerms(refund=Refund(rule="none"))
    assert repr(stated) == "ContractTerms(refund=Refund(rule='none'))"
    assert repr(ContractTerms()) == "ContractTerms()"


def test_the_named_plans_are_those_of_the_table():
    assert {plan: plan_months(plan) for plan in PLAN_MONTHS} == {"monthly": 1, "quarterly": 3, "annual": 12}


def test_price_changes_of_an_offer_are_in_order():
    whole = load_catalog().offers["a100-40g-custom"].model_dump()
    change = [{"from": "2026-03-01", "low": 1, "high": 2}, {"from": "2026-02-01", "low": 1, "high": 2}]
    with pytest.raises(ValueError, match="in the order of their days"):
        Offer.model_validate({**whole, "price_changes": change})
    with pytest.raises(ValueError, match="high may not be below"):
        PriceChange.model_validate({"from": "2026-03-01", "low": 2, "high": 1})
    good = Offer.model_validate({**whole, "price_changes": change[:1]})
    assert Offer.model_validate(good.model_dump()) == good
