"""Several strategies at once: corrected, rarely wrong, shown with their rule; ties; limits that can be."""

import dataclasses
import json

import numpy as np
import pytest
from scipy import stats

from sim.experiments.compare import compare
from sim.experiments.comparison_parts import AtOnce
from sim.experiments.metric_interval import bounds_of, metric_interval
from sim.experiments.run_read import comparison_of
from sim.experiments.several import at_once, corrected, paired_p_value, rule_of
from sim.experiments.statistics import mean_interval
from sim.experiments.store import save
from sim.experiments.stored import open_run
from sim.load import load_text
from sim.metrics import METRICS
from sim.report.page import page
from sim.report.tables_parts import no_chance
from tests import made_by_hand as hand

WAIT, MONEY = "wait_p95_h", "committed_cost_cny"


def compared(rows, names, **changes):
    """Strategies with these waits and costs in each replication."""
    table = [
        [{WAIT: wait, MONEY: cost, "jobs_refused": 0.0, "overloaded": 0.0} for wait, cost in one]
        for one in rows
    ]
    return hand.answer(table, names, **changes)


# -- The rules ----------------------------------------------------------------------------------------


def test_p_values_are_those_of_students_paired_test():
    random = np.random.default_rng(1)
    one, base = random.normal(1, 1, 12), random.normal(0.5, 2, 12)
    assert paired_p_value(one, base) == pytest.approx(stats.ttest_rel(one, base).pvalue, rel=1e-12)
    assert paired_p_value([1.0, None, 3.0], [0.0, 1.0, 1.0]) == pytest.approx(
        stats.ttest_1samp([1, 2], 0).pvalue
    )
    assert paired_p_value([1.0], [2.0]) is None
    assert paired_p_value([1.0, 1.0], [1.0, 1.0]) == 1
    assert paired_p_value([2.0, 2.0], [1.0, 1.0]) == 0


def test_holm_by_pencil_with_gaps():
    """0.01 x 3, 0.02 x 2, then the largest so far."""
    found = corrected({WAIT: [0.02, None, 0.01, 0.03]})[WAIT]
    assert found == [pytest.approx(0.04), None, pytest.approx(0.03), pytest.approx(0.04)]


def test_each_against_the_best_of_the_others():
    values = {
        "a": {WAIT: [1.0, 1.1, 0.9, 1.0]},
        "b": {WAIT: [3.0, 3.2, 2.9, 3.0]},
        "c": {WAIT: [1.05, 1.0, 1.0, 0.95]},
    }
    found = {one.strategy: one for one in at_once(values, (WAIT, "absent"), 0.95)}
    assert {name: one.standing for name, one in found.items()} == {"a": "open", "b": "not best", "c": "open"}
    # Of b less a: mean 2.025; Bonferroni over three pairs, t(3) at 1 - 0.05 / 6 = 4.8566, s = 0.05 (by hand).
    wide = mean_interval([2.0, 2.1, 2.0, 2.0], 1 - 0.05 / 3)
    assert found["b"].interval.low == pytest.approx(wide.low)
    assert found["b"].interval.mean == pytest.approx(2.025)
    assert found["a"].interval.mean == pytest.approx(0)
    assert at_once({"a": values["a"]}, (WAIT,), 0.95) == ()
    assert at_once({**values, "d": {WAIT: [1.0, None, None, None]}}, (WAIT,), 0.95) == ()


def test_of_equal_strategies_hardly_ever_one_is_called_best():
    """Six strategies with the same mean: at 95 %, a wrong word about any of them in 5 % of the trials at the
    most; uncorrected intervals to the baseline are wrong in far more."""
    random = np.random.default_rng(11)
    wrong, plain, holm = 0, 0, 0
    trials = 500
    for _ in range(trials):
        shared = random.standard_normal(15)
        values = {str(i): {WAIT: (shared + random.standard_normal(15)).tolist()} for i in range(6)}
        wrong += any(one.standing != "open" for one in at_once(values, (WAIT,), 0.95))
        p = [paired_p_value(values[str(i)][WAIT], values["0"][WAIT]) for i in range(1, 6)]
        plain += min(p) < 0.05
        holm += min(corrected({WAIT: p})[WAIT]) < 0.05
    assert wrong / trials <= 0.06
    assert holm / trials <= 0.06
    assert plain / trials > 0.12


# -- In a comparison ----------------------------------------------------------------------------------

ROWS = [
    [(5.0, 100.0), (5.2, 100.0), (4.9, 100.0), (5.1, 100.0)],
    [(2.0, 150.0), (2.1, 150.0), (1.9, 150.0), (2.0, 150.0)],
    [(4.6, 120.0), (5.3, 120.0), (4.2, 120.0), (5.2, 120.0)],
]
NAMES = ("two", "four", "three")


def test_a_comparison_says_who_is_best_at_what():
    found = compared(ROWS, NAMES, target={"wait_p95": "6h"})
    standing = {(one.strategy, one.metric): one.standing for one in found.at_once}
    assert standing[("two", MONEY)] == "best"
    assert standing[("four", MONEY)] == "not best"
    assert standing[("four", WAIT)] == "best"
    assert "Bonferroni over 3 pairs" in found.at_once_rule
    assert found.at_once_rule == rule_of(3, 0.95)
    differences = {(d.strategy, d.metric): d for d in found.differences}
    assert differences["four", WAIT].p_holm == pytest.approx(2 * differences["four", WAIT].p_value)
    assert no_chance(found, differences["four", WAIT])
    assert not no_chance(found, differences["three", WAIT])
    document = found.to_json()
    assert document["at_once"]["rule"] == found.at_once_rule
    assert {one["standing"] for one in document["at_once"]["strategies"]} >= {"best", "not best"}
    assert json.loads(json.dumps(document)) == document


def test_a_difference_that_alone_is_no_chance_may_be_one_among_many():
    """Mean 1 and s = 1.5275 over 10 pairs: p = 0.068 -> with s = 1.35, p = 0.043, and twice that by Holm."""
    steps = np.array([1.0] * 10) + 1.35 * np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1]) * np.sqrt(0.9)
    rows = [
        [(5.0, 100.0)] * 10,
        [(5.0 + step, 100.0) for step in steps],
        [(5.0 + step, 100.0) for step in steps[::-1] * 0.1 + (np.arange(10) - 4.5)],
    ]
    found = compared(rows, NAMES)
    one = next(d for d in found.differences if (d.strategy, d.metric) == ("four", WAIT))
    assert one.interval.low > 0
    assert one.p_value < 0.05 < one.p_holm
    assert not no_chance(found, one)


def test_a_tie_is_said():
    tied = [ROWS[0], ROWS[1], [(4.0, 150.0)] * 4]
    found = compared(tied, NAMES, target={"wait_p95": "4.5h"})
    assert found.recommendation.strategy == "four"
    assert "A tie: 'three' meets it at the same cost, to the cent; the first in the file" in (
        found.recommendation.reason
    )
    assert "tie" not in compared(ROWS, NAMES, target={"wait_p95": "6h"}).recommendation.reason
    # One that costs the same and misses the target is no tie.
    missed = compared(tied, NAMES, target={"wait_p95": "3h"})
    assert "tie" not in missed.recommendation.reason


# -- Limits that can be ------------------------------------------------------------------------------


def test_the_interval_of_a_wait_does_not_begin_below_zero():
    values = [0.0, 0.0, 0.1, 2.0]
    assert mean_interval(values).low < 0
    found = metric_interval(WAIT, values)
    assert found.low == 0
    assert found.high == mean_interval(values).high
    shares = [1.0, 1.0, 0.99, 0.8]
    assert mean_interval(shares).high > 1
    assert metric_interval("busy_share", shares).high == 1
    assert metric_interval(MONEY, [-10.0, 1.0]) == mean_interval([-10.0, 1.0])


def test_every_metric_that_cannot_be_negative_is_known():
    free = {name for name in METRICS if bounds_of(name)[0] < 0}
    assert all("CNY" in METRICS[name].unit for name in free)
    assert bounds_of("on_time_share") == (0, 1)
    assert bounds_of("no such metric") == (-np.inf, np.inf)


def test_cutting_costs_no_coverage():
    """Skewed waits near 0: the mean is not negative, so what is cut off never held it."""
    random = np.random.default_rng(3)
    truth, whole, cut = 0.2, 0, 0
    for _ in range(400):
        values = (random.gamma(0.2, 1.0, 8)).tolist()
        one, other = mean_interval(values), metric_interval(WAIT, values)
        whole += one.low <= truth <= one.high
        cut += other.low <= truth <= other.high
        assert other.low >= 0
    assert cut == whole


# -- Shown --------------------------------------------------------------------------------------------

TEXT = """
name: Three fleets
start: 2026-01-01
timezone: UTC
horizon: 20d
workload:
  timed: [{name: jobs, rate: 2/h, kinds: [{share: 1, runtime_s: {exponential: {mean: 3600}}}]}]
reliability: {profile: none}
target: {wait_p95: 4h}
strategies:
  - {name: three, leases: [{offer: a100-40g-custom, count: 3, plan: monthly}]}
  - {name: four, leases: [{offer: a100-40g-custom, count: 4, plan: monthly}]}
  - {name: four again, leases: [{offer: a100-40g-custom, count: 4, plan: monthly}]}
experiment: {replications: 5, seed: 2}
"""


@pytest.mark.usefixtures("no_charts")
def test_text_and_page_name_the_rule(tmp_path, fleetsim):
    file = tmp_path / "three.yaml"
    file.write_text(TEXT)
    done = fleetsim("compare", file, "--out", tmp_path / "out", "--jobs", "1")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "Several strategies at once" in text
    assert "comparisons with the best (Hsu, 1984) at 95 % for all 3 strategies at once" in text
    assert "by Holm's rule" in text
    fleets = [
        {"name": str(n), "leases": [{"offer": "a100-40g-custom", "count": n, "plan": "monthly"}]}
        for n in (3, 4)
    ]
    less = ("--set", f"strategies={json.dumps(fleets)}", "--replications", "2")
    two = fleetsim("compare", file, "--out", tmp_path / "out", "--jobs", "1", *less)
    assert two.code == 0, two.err
    assert "Several strategies at once" not in two.out
    comparison = compare(load_text(TEXT))
    stored = open_run(save(comparison, tmp_path / "other"))
    again = comparison_of(stored)
    assert again.at_once == comparison.at_once
    assert [dataclasses.replace(d) for d in again.differences] == list(comparison.differences)
    html = page(stored).html
    assert "Several strategies at once" in html
    assert "Holm" in html


def test_the_noun_writes_what_it_is():
    one = AtOnce("a", WAIT, mean_interval([1.0, 2.0]), "open")
    assert one.to_json("h")["standing"] == "open"
    assert one.to_json("h")["unit"] == "h"
