"""Scenario files of every kind of wrongness: an answer or a located message, never anything else."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sim.catalog import load_catalog
from sim.load import Question, dump, load_text
from sim.load_tree import read_tree
from sim.replication import prepare, replicate
from sim.units import DAY
from sim.workload.arrivals import clock_of, expected_jobs
from tests.fuzz.bounds import judged
from tests.fuzz.grammar import Grammar
from tests.fuzz.pieces import mutated

FOLDER = Path(__file__).parents[2] / "scenarios"
RICH = """\
name: Rich
start: 2026-01-30
timezone: America/New_York
horizon: 12d
terms: {tax: {rate: 0.06, included: true}}
workload:
  growth: 20%/year
  classes:
    - {name: bot, model: qwen-7b, method: lora, mean_tokens: 220, rate: 5/day, deadline: 6h, team: a,
       samples: {lognormal: {median: 20000, sigma: 1}}, profile: office-hours}
    - {name: two, model: qwen-7b, method: lora, samples: 3000, rate: 2/day, gpus: [1, 2], priority: 2}
reliability:
  profile: datacentre
  events: [{at: 30h, kind: node, offer: a100-40g-custom, machine: 0, card: 0, down: 3h}]
checkpoint: {every: young, cost: 30s}
target: {wait_p95: 8h, on_time: 0.9}
strategies:
  - name: windows
    policy: easy
    leases:
      - {offer: a100-40g-custom, count: 1, plan: monthly, end: 2026-02-20, available: "08:00-20:00"}
      - {offer: h100-mig, count: 1, plan: hourly, start: "2026-02-03 10:30", end: "2026-02-05 00:10"}
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 30min, release_after_idle: 15min}
  - name: annual
    leases: [{offer: a100-40g-custom, count: 3, plan: annual, started: 2025-07-31, reserve: 1}]
experiment: {replications: 3, seed: 0, warm_up: 1d}
uncertain:
  strategies.0.leases.0.count: {choice: {values: [1, 2]}}
  growth: {uniform: {low: 1%/month, high: 5%/month}}
"""
MOST_JOBS = 300


@cache
def seeds() -> tuple[bytes, ...]:
    """Good files to start from: one that uses many keys, and those that are shipped."""
    return (RICH.encode(), *(file.read_bytes() for file in sorted(FOLDER.glob("*.yaml"))))


@cache
def trees() -> tuple[Any, ...]:
    return tuple(read_tree(text, "seed").plain() for text in seeds())


def asked(text: str | bytes) -> None:
    """Load; what loads is written out and loads again to the same; and a short one is run once."""
    question = load_text(text, catalog=load_catalog(), folder=FOLDER)
    again = load_text(dump(question.scenario), catalog=load_catalog(), folder=FOLDER)
    assert again.scenario == question.scenario
    if short(question):
        prepared = prepare(question)
        for strategy in range(len(question.scenario.strategies)):
            replicate(prepared, strategy, 0)


def short(question: Question) -> bool:
    """Whether a run is small enough for the 5 s."""
    scenario = question.scenario
    arriving = [*scenario.workload.classes, *scenario.workload.timed]
    units = sum(lease.count for strategy in scenario.strategies for lease in strategy.leases)
    closed_or_recorded = scenario.workload.trace or any(one.loop is not None for one in arriving)
    if closed_or_recorded or units > 200 or scenario.horizon_us > 100 * DAY:
        return False
    clock = clock_of(scenario)
    return sum(expected_jobs(one, clock) for one in arriving) < MOST_JOBS


def as_text(tree: Any) -> str:
    """JSON is YAML, but for surrogates and the words of numbers that are none."""
    text = json.dumps(tree, ensure_ascii=False, default=str)
    return text.replace("-Infinity", "-.inf").replace("Infinity", ".inf").replace("NaN", ".nan")


def from_grammar(number: int) -> str:
    """A file from the schema alone (one in four), or a good one with a few places turned."""
    random = Random(f"grammar {number}")
    grammar = Grammar(number, random.choice([0.0, 0.02, 0.2]))
    if number % 4 == 0:
        return as_text(grammar.scenario())
    return as_text(grammar.turned(random.choice(trees()), random.choice([1, 1, 2, 6])))


def from_bytes(number: int) -> bytes:
    random = Random(f"bytes {number}")
    return mutated(random.choice(seeds()), random, random.choice([1, 2, 8]))


def run_cases(make: Any, numbers: range) -> Counter[str]:
    found: Counter[str] = Counter()
    for number in numbers:
        text = make(number)
        found[judged(lambda text=text: asked(text), f"number {number}:\n{text!r}")] += 1
    return found


@pytest.mark.parametrize("make", [from_grammar, from_bytes])
def test_scenarios(make: Any) -> None:
    found = run_cases(make, range(100))
    assert min(found["answered"], found["refused"]) >= 5, found  # or the cases are all alike


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
@pytest.mark.parametrize("make", [from_grammar, from_bytes])
def test_ten_thousand_scenarios(make: Any, part: int) -> None:
    run_cases(make, range(100 + 250 * part, 350 + 250 * part))
