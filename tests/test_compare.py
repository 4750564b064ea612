"""The decision, its confidence and its document, on metrics put there by hand."""

from __future__ import annotations

import json
import math
from functools import partial

import pytest

from sim.errors import InputError, RunError
from sim.experiments.decision import pareto_front
from sim.experiments.parallel import run_tasks
from sim.experiments.statistics import NEEDS_TWO
from tests import made_by_hand as hand

TARGET = {"wait_p95": "4h"}


def row(cost, wait=1.0, refused=0.0, **more):
    return {"committed_cost_cny": cost, "cost_cny": cost, "wait_p95_h": wait, "jobs_refused": refused, **more}


def rows(cost, waits, **more):
    return [row(cost, wait, **more) for wait in waits]


def test_the_cheapest_that_meets_the_target_is_recommended():
    found = hand.answer(
        [rows(100.0, [9, 10, 11]), rows(200.0, [1, 2, 3]), rows(300.0, [0, 0, 0])],
        ("four", "eight", "ten"),
        target=TARGET,
    )
    assert [result.meets_target for result in found.strategies] == [False, True, True]
    assert found.recommendation.strategy == "eight"
    assert found.recommendation.nearest is None
    assert found.recommendation.reason == (
        "'eight' is the cheapest strategy that meets the target, at 200 CNY committed and a 95th percentile "
        "of wait of 2.0 h; the cheaper 'four' (100 CNY) does not: the 95th percentile of wait is 10.0 h, "
        "at most 4.0 h is asked."
    )
    # Student's t(2) with standard error 0.577: "eight" has a true mean of at most 4 h with probability
    # P(t < 3.464) = 0.963, "four" with P(t < -10.39) = 0.0046; the same luck drives both.
    assert found.recommendation.confidence == pytest.approx(0.963 - 0.0046, abs=0.01)


def test_equal_cost_goes_to_the_first_in_the_file():
    found = hand.answer([rows(200.0, [1, 2]), rows(200.0, [0, 1])], target=TARGET)
    assert found.recommendation.strategy == "four"
    # only a true mean wait of "four" above 4 h would change that: t(1) above 2.5 / 0.5
    assert found.recommendation.confidence == pytest.approx(0.5 + math.atan(5) / math.pi, abs=0.012)


def test_confidence_is_half_where_the_mean_lies_on_the_limit():
    # mean wait 4 h, limit 4 h: the true mean is as likely above as below, and then "eight" is chosen
    found = hand.answer([rows(100.0, [0, 8]), rows(200.0, [1, 1])], target=TARGET)
    assert found.recommendation.strategy == "four"
    # 4,000 draws of probability 1/2: three standard errors are 0.024
    assert found.recommendation.confidence == pytest.approx(0.5, abs=0.024)


def test_confidence_counts_the_money_with_student_tails():
    # Costs 10 and 30: mean 20, standard error 10, one degree of freedom. It is below 21 with the
    # probability that Student's t(1) is below 0.1: 1/2 + atan(0.1) / pi = 0.5317.
    found = hand.answer([[row(10.0), row(30.0)], [row(21.0), row(21.0)]], target=TARGET)
    assert found.recommendation.strategy == "four"
    assert found.recommendation.confidence == pytest.approx(0.5 + math.atan(0.1) / math.pi, abs=0.024)


def test_confidence_knows_that_strategies_share_their_luck():
    # The first is cheaper by 1 in every replication, however dear the replication is.
    costs = [100.0, 300.0, 500.0]
    found = hand.answer([[row(cost) for cost in costs], [row(cost + 1) for cost in costs]], target=TARGET)
    assert found.recommendation.confidence == 1.0


def test_none_meets_and_the_nearest_is_named():
    # the larger share of runs that met the target comes first, then the smaller excess
    table = [
        rows(100.0, [9, 9], target_met_share=0.0),
        rows(300.0, [6, 6], target_met_share=0.0),
        rows(200.0, [5, 5], target_met_share=0.0),
    ]
    found = hand.answer(table, ("four", "eight", "ten"), target=TARGET)
    assert found.recommendation.strategy is None
    assert found.recommendation.nearest == "ten"
    assert found.recommendation.reason.startswith("none meets the target; 'ten' comes nearest")
    assert found.recommendation.confidence == 1.0
    table[0] = [row(100.0, 0.0, target_met_share=1.0), row(100.0, 99.0, target_met_share=0.0)]
    assert hand.answer(table, ("four", "eight", "ten"), target=TARGET).recommendation.nearest == "four"


def test_refusals_beyond_the_target_do_not_meet_it():
    table = [rows(100.0, [1, 1], refused=2.0), rows(200.0, [1, 1])]
    found = hand.answer(table, target=TARGET)
    assert found.recommendation.strategy == "eight"
    assert "it refuses 2 jobs a run (at most 0)" in found.recommendation.reason
    assert hand.answer(table, target={**TARGET, "refused": 2}).recommendation.strategy == "four"


def test_without_a_target_no_refusals_and_a_stable_queue():
    table = [rows(100.0, [1, 1], overloaded=1.0), rows(200.0, [1, 1], overloaded=0.0)]
    found = hand.answer(table)
    assert [result.meets_target for result in found.strategies] == [False, True]
    assert "queue is overloaded" in found.recommendation.reason
    assert any(warning.kind == "overloaded" and warning.strategy == "four" for warning in found.warnings)
    assert any("No target is given" in line for line in found.assumptions)


def test_status_is_unsure_where_the_interval_straddles_the_limit():
    # waits 3 and 4: mean 3.5, half-width 12.7 * 0.5 = 6.4 h
    found = hand.answer([rows(100.0, [3, 4]), rows(200.0, [1, 1])], target=TARGET)
    assert (found.strategies[0].meets_target, found.strategies[0].status) == (True, "unsure")
    assert (found.strategies[1].meets_target, found.strategies[1].status) == (True, "met")
    assert any(warning.kind == "unsure" for warning in found.warnings)


def test_a_share_on_time_must_be_at_least_the_target():
    table = [rows(100.0, [1, 1], on_time_share=0.9), rows(200.0, [1, 1], on_time_share=0.96)]
    found = hand.answer(table, target={"on_time": 0.95})
    assert found.recommendation.strategy == "eight"
    assert "the share of jobs on time is 90.0 %, at least 95.0 % is asked" in found.recommendation.reason


def test_a_line_that_no_job_counts_towards_stands_in_nobodys_way():
    table = [rows(100.0, [1, 1], on_time_share=None), rows(200.0, [1, 1], on_time_share=None)]
    found = hand.answer(table, target={"on_time": 0.95})
    assert found.recommendation.strategy == "four"
    assert any(warning.kind == "not judged" for warning in found.warnings)


def test_differences_are_paired_and_to_the_baseline():
    table = [[row(1.0, wait) for wait in (10, 100, 1000)], [row(1.0, wait) for wait in (11, 102, 1003)]]
    found = hand.answer(table)
    wait = next(d for d in found.differences if d.metric == "wait_p95_h")
    assert (wait.strategy, wait.baseline, wait.interval.mean) == ("eight", "four", 2)
    assert wait.interval.high == pytest.approx(2 + 2.4841, abs=5e-5)
    other = hand.answer(table, baseline="eight")
    wait = next(d for d in other.differences if d.metric == "wait_p95_h")
    assert (wait.strategy, wait.baseline, wait.interval.mean) == ("four", "eight", -2)


def test_pareto_front():
    points = [(1, 9), (2, 5), (3, 5), (2, 5), (9, 1), (9, 2), None]
    assert pareto_front(points) == [True, True, False, True, True, False, False]


def test_pareto_leaves_out_who_refuses_and_who_has_no_wait():
    table = [rows(1.0, [0, 0], refused=1.0), rows(9.0, [5, 5]), rows(5.0, [None, None])]
    found = hand.answer(table, ("four", "eight", "ten"))
    assert [result.pareto for result in found.strategies] == [False, True, False]
    assert "refuses jobs" in found.strategies[0].pareto_note


def test_money_owed_after_the_horizon_asks_for_a_longer_one():
    much = [{**row(111.0), "cost_cny": 100.0}] * 2
    little = [{**row(110.0), "cost_cny": 100.0}] * 2
    found = hand.answer([much, little])
    assert [warning.strategy for warning in found.warnings if warning.kind == "short horizon"] == ["four"]


def test_refusals_are_told_with_their_reason():
    found = hand.answer([rows(1.0, [1, 1]), rows(2.0, [1, 1])])
    (refusal,) = found.strategies[0].refusals
    assert (refusal.job_class, refusal.reason, refusal.jobs) == ("bot", "needs 3.5 GiB more", 1.0)


def test_document_holds_the_agreed_names_and_no_nan():
    table = [[row(5.0, None, slowdown_p95=math.nan, useful_share=math.inf)], [row(6.0)]]
    document = hand.answer(table, target=TARGET).to_json()

    def refuse(name):
        raise AssertionError(name)

    assert json.loads(json.dumps(document, allow_nan=False), parse_constant=refuse) == document
    assert document["scenario"] == "Made by hand"
    assert (document["seed"], document["replications"]) == (7, 1)
    first = document["strategies"][0]
    cost = first["metrics"]["committed_cost_cny"]
    assert (cost["mean"], cost["low"], cost["high"], cost["n"]) == (5.0, None, None, 1)
    assert cost["reason"] == NEEDS_TWO
    assert first["metrics"]["wait_p95_h"]["mean"] is None
    assert first["metrics"]["slowdown_p95"]["mean"] is None
    assert {"name", "metrics", "meets_target", "pareto"} <= first.keys()
    assert {"strategy", "baseline", "metric", "mean", "low", "high"} <= document["differences"][0].keys()
    assert document["recommendation"]["confidence"] is None
    assert {"strategy", "reason", "confidence"} <= document["recommendation"].keys()
    assert document["price"] is None


def test_only_replication_0_keeps_its_jobs():
    found = hand.answer([rows(1.0, [1, 2, 3]), rows(2.0, [1, 2, 3])])
    assert [(name, run.replication) for name, run in found.details.items()] == [("four", 0), ("eight", 0)]
    # waits 0, 0 and 4 h: the middle is 0, the largest 4, each replication has its own
    quantiles = found.strategies[0].wait_quantiles_h
    assert len(quantiles) == 3
    assert (quantiles[0][0], quantiles[0][100], quantiles[0][-1]) == (0.0, 0.0, 4.0)


def test_equal_random_numbers_in_all_replications_are_an_error():
    with pytest.raises(RunError, match="the same in all 2 replications"):
        hand.answer([rows(1.0, [1, 2]), rows(2.0, [1, 2])], alike=True)


def test_equal_figures_alone_are_told_but_no_error():
    found = hand.answer([rows(1.0, [1, 1]), rows(2.0, [1, 1])])
    assert any(warning.kind == "no spread" for warning in found.warnings)


def test_one_replication_may_have_any_random_numbers():
    assert hand.answer([[row(1.0)], [row(2.0)]], alike=True).replications == 1


@pytest.mark.parametrize(
    ("replications", "seed", "baseline", "workers", "key"),
    [
        (0, 1, None, 1, "--replications"),
        (2, -1, None, 1, "--seed"),
        (2, 1, "nine", 1, "--baseline"),
        (2, 1, None, 0, "--jobs"),
    ],
)
def test_options_out_of_range_are_refused(replications, seed, baseline, workers, key):
    question = hand.Question(hand.scenario(), (), hand.load_catalog())
    flow = hand.Flow(hand.Prepared, hand.Replay([[row(1.0)] * 2] * 2))
    with pytest.raises(InputError) as refused:
        hand.compare(question, replications, seed, baseline, workers, flow=flow)
    assert refused.value.problems[0].key == key


def test_progress_counts_every_run():
    seen = []
    question = hand.Question(hand.scenario(), (), hand.load_catalog())
    flow = hand.Flow(hand.Prepared, hand.Replay([rows(1.0, [1, 2]), rows(2.0, [1, 2])]))
    hand.compare(question, 2, progress=lambda done, total, note="": seen.append((done, total)), flow=flow)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_tasks_in_processes_give_the_same_in_the_same_order():
    tasks, seen = list(range(25)), []
    power = partial(pow, 2)
    found = run_tasks(
        power, tasks, 2, lambda done, total: seen.append((done, total)), probe=1, serial_below_s=-1.0
    )
    assert found == [2**number for number in tasks]
    assert found == run_tasks(power, tasks, 1)
    assert seen[-1] == (25, 25)
