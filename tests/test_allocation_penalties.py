"""What late and refused jobs cost where the scenario says so, and how that changes the ranking."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from sim.billing.penalties import has_penalties, penalties
from sim.experiments.compare import compare
from sim.experiments.vault import Vault
from sim.load import load_text
from sim.model.job import JobSet
from sim.model.records import JobRecord
from tests.made_by_hand import answer
from tests.money_cases import hour, job_record, job_set, log, scenario

D = Decimal


def asked(target=None, **keys):
    """A day with one class `bot`."""
    bot = {"name": "bot", "model": "qwen-7b", "method": "lora", "samples": 1000, "rate": "3/day"}
    return scenario(workload={"classes": [{**bot, **keys}]}, target=target)


def one_job(
    state: str, end: float | None, deadline: float | None = 4
) -> tuple[JobSet, tuple[JobRecord, ...]]:
    return job_set(1, deadlines=[deadline]), (job_record(0, state, end),)


def cost(question, state, end, deadline=4) -> Decimal:
    jobs, records = one_job(state, end, deadline)
    found = penalties(log(24, jobs=records), jobs, question)
    return found[0].cost if found else D(0)


@pytest.mark.parametrize(
    ("state", "end", "expected"),
    [
        ("done", 4, "0"),  # on the deadline is on time
        ("done", 6.5, "125.00"),  # 100 and 2.5 h at 10
        ("running", None, "300.00"),  # 100 and 20 h to the horizon
        ("waiting", None, "300.00"),
        ("killed", 3, "300.00"),  # its result never comes
        ("cancelled", 6, "0"),
        ("failed", 6, "0"),
        ("refused", 0, "500.00"),
    ],
)
def test_by_hand(state, end, expected) -> None:
    question = asked(late_cost=100, late_cost_per_hour=10, refused_cost=500)
    assert cost(question, state, end) == D(expected)


def test_a_third_of_an_hour_is_rounded_once() -> None:
    assert cost(asked(late_cost_per_hour=10), "done", 4 + 1 / 3) == D("3.33")


def test_no_deadline_is_never_late_and_a_deadline_beyond_the_horizon_is_not_judged() -> None:
    question = asked(late_cost=100, late_cost_per_hour=10)
    assert cost(question, "done", 20, None) == 0
    assert cost(question, "waiting", None, 24) == 0
    assert cost(question, "waiting", None, 23) == D("110.00")


def test_a_refused_job_with_a_deadline_is_late_where_nothing_else_is_said() -> None:
    assert cost(asked(late_cost=100), "refused", 0) == D("100.00")
    assert cost(asked(late_cost=100), "refused", 0, None) == 0
    assert cost(asked(late_cost=100, refused_cost=0), "refused", 0) == 0


def test_the_target_holds_where_a_class_says_nothing() -> None:
    target = {"late_cost": 7, "refused_cost": 9}
    assert cost(asked(target), "done", 5) == D("7.00")
    assert cost(asked(target, late_cost=1), "done", 5) == D("1.00")
    assert cost(asked(target, late_cost=1), "refused", 0) == D("9.00")


def test_recorded_jobs_have_the_costs_of_the_target() -> None:
    jobs, records = one_job("done", 5)
    question = scenario(target={"late_cost": 7})
    assert penalties(log(24, jobs=records), jobs, question)[0].cost == D("7.00")
    assert penalties(log(24, jobs=records), jobs, question)[0].late_us == hour(1)


def test_nothing_is_asked_where_nothing_is_said() -> None:
    assert not has_penalties(asked())
    assert not has_penalties(asked(late_cost=0))
    assert has_penalties(asked({"refused_cost": 1}))


def metrics(committed: float, penalty: float) -> dict[str, float]:
    return {
        "committed_cost_cny": committed,
        "cost_cny": committed,
        "penalty_cny": penalty,
        "cost_with_penalties_cny": committed + penalty,
        "wait_p95_h": 1.0,
        "jobs_refused": 0.0,
        "overloaded": 0.0,
        "target_met_share": 1.0,
    }


TABLE = [[metrics(100, 80), metrics(100, 81)], [metrics(150, 0), metrics(150, 1)]]


def test_strategies_are_ranked_by_committed_cost_and_penalties_only_where_there_are_any() -> None:
    plain = answer(TABLE)
    assert plain.recommendation.strategy == "four"
    assert any("ranked by committed cost: what" in text for text in plain.assumptions)
    priced = answer(TABLE, target={"refused": 0, "late_cost": 40})
    assert priced.recommendation.strategy == "eight"
    assert "150 CNY committed and in penalties" in priced.recommendation.reason
    assert any("committed cost and penalties" in text for text in priced.assumptions)


def test_penalties_are_the_same_from_kept_runs_and_under_other_prices(tmp_path: Path) -> None:
    """One card for jobs that come faster than it is: most are late, and it stays so at any price."""
    question = load_text(BUSY)
    first = compare(question, vault=Vault(tmp_path))
    again = compare(question, vault=Vault(tmp_path))
    dearer = compare(replace(question, price="high"), vault=Vault(tmp_path))
    (result,) = first.strategies
    penalty, whole = result.mean("penalty_cny"), result.mean("cost_with_penalties_cny")
    assert penalty
    assert whole == pytest.approx((result.mean("committed_cost_cny") or 0) + penalty, abs=0.005)
    assert again.strategies[0].values == result.values
    other = dearer.strategies[0]
    assert other.values["penalty_cny"] == result.values["penalty_cny"]
    assert other.mean("cost_with_penalties_cny") == pytest.approx(
        (other.mean("committed_cost_cny") or 0) + penalty, abs=0.005
    )
    assert (other.mean("committed_cost_cny") or 0) > (result.mean("committed_cost_cny") or 0)


BUSY = """
name: busy
start: 2026-01-01
horizon: 20d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, samples: 60000, rate: 6/day, deadline: 3h,
       late_cost_per_hour: 2}
target: {refused: 0}
strategies:
  - name: one machine
    leases: [{offer: a100-40g-8x, plan: monthly}]
experiment: {replications: 3}
"""
