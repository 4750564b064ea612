"""Laws of a whole scenario: prices, the order of strategies, the seed 0."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from itertools import pairwise
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from sim.billing.accrual import accruals
from sim.errors import InputError
from sim.experiments.compare import compare
from sim.load import Question, load_text
from sim.load_uncertain import plain
from sim.model.contract import PriceChoice
from sim.replication import Prepared, RunResult, prepare, replicate
from tests.properties.laws_kit import few_or_many, tried
from tests.properties.money_worlds import CATALOG, run_of, worlds

SMALL = """\
name: Small
start: 2026-01-01
horizon: 10d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, mean_tokens: 300, rate: 6/day,
       samples: {exponential: {mean: 20000}}}
strategies:
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
experiment: {replications: 2}
"""


def loaded(tree: Any) -> Question:
    """The question of plain values; not every change makes one."""
    try:
        return load_text(json.dumps(tree, default=str), catalog=CATALOG)
    except InputError:
        assume(False)
        raise


def ran(question: Question, strategy: int = 0) -> RunResult:
    try:
        return replicate(prepare(question), strategy, 0)
    except InputError:
        assume(False)
        raise


def a_dearer_price_is_never_a_cheaper_bill(world: Prepared, factor: float) -> None:
    """Every price that a scenario may state, times a factor above 1, from the same run."""
    tree = plain(world.question.scenario)
    for lease in tree["strategies"][0]["leases"]:
        offer = CATALOG.offers[lease["offer"]]
        lease["price"] = float(offer.price.high)
    before = ran(loaded(tree))
    for lease in tree["strategies"][0]["leases"]:
        lease["price"] = round(lease["price"] * factor, 2)
    after = ran(loaded(tree))
    assert before.log == after.log  # no run reads a price
    assert after.ledger.accrued >= before.ledger.accrued
    if any("started" in lease for lease in tree["strategies"][0]["leases"]):
        return  # a refund of what was paid before the start is larger where the price was
    assert after.ledger.committed >= before.ledger.committed
    invoiced = [sum((one.total for one in run.ledger.invoices), Decimal(0)) for run in (before, after)]
    assert invoiced[1] >= invoiced[0]


@few_or_many(20, 1000)
def test_a_dearer_price_is_never_a_cheaper_bill(examples: int) -> None:
    tried(a_dearer_price_is_never_a_cheaper_bill, examples, worlds(), st.sampled_from([1.01, 1.5, 4.0]))


def the_low_end_is_never_dearer_than_the_high(world: Prepared) -> None:
    """The ends of published price ranges, whatever terms stand between a price and a bill."""
    levels: tuple[PriceChoice, ...] = ("low", "mid", "high")
    runs = [ran(dataclasses.replace(world.question, price=level)) for level in levels]
    for cheap, dear in pairwise(runs):
        assert cheap.log == dear.log
        assert cheap.ledger.accrued <= dear.ledger.accrued
        if all(lease.started is None for lease in world.question.scenario.strategies[0].leases):
            assert cheap.ledger.committed <= dear.ledger.committed  # else a refund is larger, as above


@few_or_many(6, 500)
def test_the_low_end_is_never_dearer_than_the_high(examples: int) -> None:
    tried(the_low_end_is_never_dearer_than_the_high, examples, worlds())


def the_ledger_is_its_parts(world: Prepared) -> None:
    """Invoices and accrued lines are the charges, each once; sums are exact."""
    run = run_of(world)
    ledger = run.ledger
    invoiced = [number for invoice in ledger.invoices for number in invoice.charges]
    assert len(invoiced) == len(set(invoiced))
    by_id = {charge.id: charge for charge in ledger.charges}
    assert len(by_id) == len(ledger.charges)
    for invoice in ledger.invoices:
        assert invoice.total == sum((by_id[number].billed_cost for number in invoice.charges), Decimal(0))
        assert invoice.total == round(invoice.total, 2)
    for grain in ("hour", "day", "month"):
        parts = accruals(ledger, world.question.scenario, grain)
        inside = sum((one.amount for one in parts if one.period != "after the horizon"), Decimal(0))
        assert inside == ledger.accrued


@few_or_many(12, 1000)
def test_the_ledger_is_its_parts(examples: int) -> None:
    tried(the_ledger_is_its_parts, examples, worlds())


def the_order_of_strategies_changes_nothing(first: Prepared, second: Prepared) -> None:
    """Two strategies of one question, in either order."""
    tree, other = plain(first.question.scenario), plain(second.question.scenario)
    two = [{**tree["strategies"][0], "name": "a"}, {**other["strategies"][0], "name": "b"}]
    forth, back = loaded({**tree, "strategies": two}), loaded({**tree, "strategies": two[::-1]})
    for place in (0, 1):
        one, again = ran(forth, place), ran(back, 1 - place)
        assert one.strategy == again.strategy
        assert (one.jobs, one.log, one.metrics) == (again.jobs, again.log, again.metrics)
        assert one.ledger == again.ledger


@few_or_many(12, 1000)
def test_the_order_of_strategies_changes_nothing(examples: int) -> None:
    tried(the_order_of_strategies_changes_nothing, examples, worlds(), worlds())


def test_seed_0_is_a_seed() -> None:
    """It is neither the default nor the absence of one, wherever it is given."""
    written = load_text(SMALL.replace("replications: 2", "replications: 2, seed: 0"))
    usual = load_text(SMALL)
    assert usual.scenario.experiment.seed != 0
    in_file, given, default = compare(written), compare(usual, seed=0), compare(usual)
    assert (in_file.seed, given.seed) == (0, 0)
    waits = [found.strategies[0].values["wait_mean_h"] for found in (in_file, given, default)]
    assert waits[0] == waits[1] != waits[2]
    prepared = prepare(usual)
    assert replicate(prepared, 0, 0, seed=0).log == replicate(prepare(written), 0, 0).log
    assert replicate(prepared, 0, 0, seed=0).log != replicate(prepared, 0, 0).log
