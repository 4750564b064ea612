"""People who wait for each run, against closed forms of the machine-repair model, in 99 % intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sim.load import load_text
from sim.replication import prepare, replicate
from sim.units import HOUR
from tests.theory.means import assert_mean

DAYS = 100
WARM_UP = 5


def machine_repair(people: int, think: float, service: float, cards: int) -> tuple[float, float]:
    """Throughput and mean wait of M/M/c//N: a birth-death chain (Feller 1950; Kleinrock 1975, 3.8)."""
    weights = [1.0]
    for there in range(1, people + 1):
        arrivals, ends = (people - there + 1) / think, min(there, cards) / service
        weights.append(weights[-1] * arrivals / ends)
    shares = np.array(weights) / sum(weights)
    number = np.arange(people + 1)
    throughput = float(((people - number) / think * shares).sum())
    return throughput, float((np.maximum(number - cards, 0) * shares).sum()) / throughput


def test_the_closed_form_gives_known_values() -> None:
    # One person never waits, and makes a run each think + service.
    assert machine_repair(1, 2, 1, 1) == pytest.approx((1 / 3, 0))
    # Two persons and one card, think 1, service 1: states 0, 1, 2 with weights 1, 2, 2.
    assert machine_repair(2, 1, 1, 1) == pytest.approx((0.8, 0.5))
    # As many cards as people: nobody waits.
    assert machine_repair(5, 2, 1, 5) == pytest.approx((5 / 3, 0))
    # So many people that the card never rests: X = 1, and N = X (think + wait + service).
    assert machine_repair(60, 2, 1, 1) == pytest.approx((1, 57))


SCENARIO = """\
name: closed
start: 2026-01-05
horizon: {days}d
reliability: {{profile: none}}
workload:
  timed:
    - name: people
      loop: {{people: {people}, think_s: {{exponential: {{mean: {think_s}}}}}}}
      kinds: [{{share: 1, runtime_s: {{exponential: {{mean: 3600}}}}}}]
strategies:
  - name: s
    leases: [{{offer: a100-40g-custom, count: {cards}, plan: monthly}}]
experiment: {{warm_up: {warm_up}d}}
"""


@pytest.mark.parametrize(
    ("people", "think_h", "cards"), [(2, 1, 1), (6, 2, 2), (20, 3, 4)], ids=["2 on 1", "6 on 2", "20 on 4"]
)
def test_throughput_and_wait_of_people_who_wait_for_their_runs(
    people: int, think_h: float, cards: int
) -> None:
    throughput, wait = machine_repair(people, think_h, 1, cards)
    text = SCENARIO.format(days=DAYS, people=people, think_s=3600 * think_h, cards=cards, warm_up=WARM_UP)
    prepared = prepare(load_text(text))
    made, waited = [], []
    for number in range(15):
        run = replicate(prepared, 0, number)
        submits = np.array([job.submit_us for job in run.jobs.jobs]) / HOUR
        made.append((submits >= WARM_UP * 24).sum() / (DAYS - WARM_UP) / 24)
        waited.append(run.metrics["wait_mean_h"])
        assert math.isclose(run.metrics["jobs_submitted"], len(submits))
        assert run.metrics["overloaded"] == 0
    assert_mean(np.array(made), throughput, 0.02)
    assert_mean(np.array(waited), wait)
