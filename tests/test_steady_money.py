"""The money of one long run: batch means of the cost a day, held against closed forms."""

import dataclasses
import math
from datetime import timedelta
from decimal import Decimal

import pytest
from scipy.stats import t as student

from sim.experiments.compare import compare
from sim.experiments.steady_money import BATCHED_MONEY, money_batches
from sim.load import load_text
from sim.metrics import METRICS
from sim.units import DAY
from tests.test_steady_state import TEXT as QUEUE

PRICE, DAYS, WARM_UP = 20, 60, 4

# A job of 55 minutes is sent to a card of its own at once and paid with one hour, for a card takes no further
# job in its last five minutes but to run on into another paid hour. So the cost is 20 CNY times the jobs,
# which are Poisson with mean 24 a day.
POISSON = f"""
name: Burst
start: 2026-01-01
timezone: UTC
horizon: {DAYS}d
workload:
  timed: [{{name: jobs, rate: 1/h, kinds: [{{share: 1, runtime_s: 3300}}]}}]
reliability: {{profile: none}}
strategies:
  - name: hours
    leases: []
    burst: {{offer: h100-mig, max: 50, rent_when_wait_over: 0min, release_after_idle: 1min, price: {PRICE},
             delay: {{median: 1s, sigma: 0}}, stock_out: {{probability: 0}}}}
experiment: {{steady_state: {{warm_up: {WARM_UP}d}}, seed: 3}}
"""
EXPECTED = PRICE * 24 * DAYS


def test_the_interval_of_a_poisson_cost_covers_it_and_has_its_width():
    """A period of L days has cost 20 N, N Poisson with mean 24 L: the cost a day has variance 400 x 24/L."""
    covered, halves, runs = 0, [], 12
    for seed in range(runs):
        result = compare(load_text(POISSON, [f"experiment.seed={seed}"])).result("hours")
        jobs = result.metrics["jobs_submitted"].mean
        interval = result.metrics["committed_cost_cny"]
        assert interval.n == 20
        # One hour a job, but for the minute that a job runs past the hour of the card it was handed on to.
        assert interval.mean == pytest.approx(PRICE * jobs, rel=0.002)
        covered += interval.low <= EXPECTED <= interval.high
        halves.append((interval.high - interval.low) / 2)
    assert covered >= 9  # of a binomial (12, 0.95), 8 or fewer has a probability of 0.2 %
    deviation = PRICE * DAYS * math.sqrt(24 / ((DAYS - WARM_UP) / 20))
    wanted = float(student.ppf(0.975, 19)) * deviation / math.sqrt(20)
    # A variance of 20 values is known to 32 %, the mean width of 12 runs to some 5 %.
    assert sum(halves) / runs == pytest.approx(wanted, rel=0.15)


def test_fixed_leases_have_an_interval_without_width():
    """Months have 28 to 31 days, so the cost a day varies, and yet nothing about it is luck."""
    found = compare(load_text(QUEUE))
    for name, cards in (("four", 4), ("five", 5)):
        interval = found.result(name).metrics["committed_cost_cny"]
        # 200 days from 1 January begin seven months of 2,800 CNY.
        assert (interval.mean, interval.low, interval.high, interval.n) == (*[cards * 2800 * 7] * 3, 20)
    assert found.steady.alike_cost == {"four": None, "five": None}
    assert "fixed leases alone have an interval without width" in found.notes[0]
    pair = next(one for one in found.differences if one.metric == "committed_cost_cny")
    assert (pair.interval.low, pair.interval.high) == (19600, 19600)


@pytest.fixture(scope="module")
def burst():
    """A question with a lease beside cards by the hour, and its one run."""
    lease = "leases: [{offer: a100-40g-custom, count: 1, plan: annual}]"
    text = POISSON.replace("leases: []", lease).replace("0min", "20min")
    question = load_text(text)
    return question, compare(question).details["hours"]


def test_periods_by_pencil(burst):
    """Bursts of 560 CNY in the first of eight weeks and 1,120 in the third, on a lease that is known."""
    question, run = burst
    ledger = run.ledger
    leases = [one for one in ledger.charges if one.lease != "burst"]
    example = next(one for one in ledger.charges if one.lease == "burst")
    begin = question.scenario.local_time(WARM_UP * DAY)

    def charge(week: int, cost: Decimal):
        start = begin + timedelta(weeks=week)
        later = start.replace(hour=5)
        changes = {"period_start": start, "period_end": later, "accrues_from": start, "accrues_until": later}
        return dataclasses.replace(example, **changes, accrued_cost=cost, billed_cost=cost)

    bursts = [charge(0, Decimal("560.00")), charge(2, Decimal("1120.00"))]
    made = dataclasses.replace(ledger, charges=(*leases, *bursts))
    metrics = {**run.metrics, "cost_cny": 5000.0, "burst_cost_cny": 1680.0, "committed_cost_cny": 9000.0}
    rows = money_batches(
        question, 0, dataclasses.replace(run, ledger=made, metrics=metrics), WARM_UP * DAY, 8
    )
    # A week stands for 60 / 7 of the run; the mean of eight weeks is 210.
    steps = [(cost - 210) * 60 / 7 for cost in (560, 0, 1120, 0, 0, 0, 0, 0)]
    for name, whole in (("cost_cny", 5000), ("burst_cost_cny", 1680), ("committed_cost_cny", 9000)):
        assert [row[name] for row in rows] == pytest.approx([whole + step for step in steps])
    monthly = METRICS["cost_per_month_cny"].unit
    assert monthly == "CNY/month"
    months = [row["cost_per_month_cny"] - run.metrics["cost_per_month_cny"] for row in rows]
    assert months == pytest.approx([step * (365 / 12) / 60 for step in steps])
    assert all(row["penalty_cny"] == run.metrics["penalty_cny"] for row in rows)


def test_penalties_are_of_the_period_in_which_jobs_come():
    """Every job is late by its deadline of a second, at 10 CNY each: the penalty is Poisson as well."""
    jobs_ = """
  classes:
    - {name: late, model: qwen-7b, method: lora, mean_tokens: 300, samples: 1000, rate: 24/day, deadline: 1s}
"""
    text = POISSON.replace("leases: []", "leases: [{offer: a100-40g-custom, count: 3, plan: monthly}]")
    text = text[: text.index("    burst:")] + text[text.index("experiment:") :]
    head, tail = text[: text.index("\n  timed:")], text[text.index("\nreliability") :]
    result = compare(load_text(head + jobs_ + tail[1:], ["target.late_cost=10"])).result("hours")
    jobs = result.metrics["jobs_late"].mean
    interval = result.metrics["penalty_cny"]
    assert interval.mean == pytest.approx(10 * jobs)
    assert interval.n == 20
    assert interval.low < 10 * 24 * DAYS < interval.high
    both, cost = result.metrics["cost_with_penalties_cny"], result.metrics["committed_cost_cny"]
    assert cost.low == cost.high
    assert both.high - both.low == pytest.approx(interval.high - interval.low)


def test_they_are_metrics_in_money():
    assert all("CNY" in METRICS[name].unit for name in BATCHED_MONEY)
