"""One long run: warm-up cut off, batches of jobs as the sample; the mean wait is Erlang's."""

import dataclasses
import json

import numpy as np
import pytest

from sim.errors import InputError
from sim.experiments.bounds import erlang_wait
from sim.experiments.compare import compare
from sim.experiments.rebill import rebill
from sim.experiments.run_read import comparison_of
from sim.experiments.runs import Places
from sim.experiments.steady import BATCHED, _neighbours, _set_off
from sim.experiments.stepup import step_up
from sim.experiments.store import save
from sim.experiments.stored import open_run
from sim.experiments.sweep import sweep
from sim.experiments.sweep_axes import Axis, cells
from sim.experiments.vault import Vault
from sim.load import load_text
from sim.metrics import METRICS
from sim.model.experiment import Selection
from sim.report.page import page
from sim.units import HOUR

TEXT = """
name: Queue
start: 2026-01-01
timezone: UTC
horizon: 200d
workload:
  timed: [{name: jobs, rate: 3/h, kinds: [{share: 1, runtime_s: {exponential: {mean: 3600}}}]}]
reliability: {profile: none}
target: {wait_mean: 1h}
strategies:
  - {name: four, leases: [{offer: a100-40g-custom, count: 4, plan: monthly}]}
  - {name: five, leases: [{offer: a100-40g-custom, count: 5, plan: monthly}]}
experiment: {steady_state: {}, seed: 3}
"""


def question(*changes: str):
    return load_text(TEXT, changes)


@pytest.fixture(scope="module")
def found():
    return compare(question())


def test_the_mean_wait_is_erlangs(found):
    """M/M/4 and M/M/5 with 3 busy cards: 0.5094 and 0.1180 hours."""
    for name, cards in (("four", 4), ("five", 5)):
        interval = found.result(name).metrics["wait_mean_h"]
        truth = erlang_wait(3.0, cards, 1.0)[1]
        assert interval.n == 20
        assert interval.low < truth < interval.high
        assert (interval.high - interval.low) / 2 < 0.25 * truth


def test_the_difference_is_paired_over_the_same_jobs(found):
    pair = next(d for d in found.differences if d.metric == "wait_mean_h")
    truth = erlang_wait(3.0, 5, 1.0)[1] - erlang_wait(3.0, 4, 1.0)[1]
    assert pair.interval.low < truth < pair.interval.high
    four, five = (found.result(name).metrics["wait_mean_h"] for name in ("four", "five"))
    apart = np.hypot(four.high - four.mean, five.high - five.mean)
    assert pair.interval.high - pair.interval.mean < apart


@pytest.mark.parametrize("rule", ["{}", "{warm_up: 5d}"])
def test_coverage_over_many_long_runs(rule):
    """Forty runs of M/M/2 at load 0.5: the interval of the mean wait holds the truth in most of them."""
    text = TEXT.replace("rate: 3/h", "rate: 1/h").replace("count: 4", "count: 2").replace("200d", "150d")
    one = text[: text.index("  - {name: five")] + text[text.index("experiment:") :]
    truth, covered = erlang_wait(1.0, 2, 1.0)[1], 0
    for seed in range(40):
        asked = load_text(one, [f"experiment.seed={seed}", f"experiment.steady_state={rule}"])
        interval = compare(asked).result("four").metrics["wait_mean_h"]
        covered += interval.low <= truth <= interval.high
    assert covered >= 34  # of a binomial (40, 0.95), 34 or fewer has a probability of 1.4 %


def test_the_estimate_is_that_of_all_jobs_after_the_warm_up(found):
    """Batches of equally many jobs; what is left over goes to the warm-up."""
    steady = found.steady
    assert steady.by_rule
    assert steady.batches == 20
    run = found.details["four"]
    waits = np.array([record.wait_us for record in run.log.jobs]) / HOUR
    submitted = np.array([job.submit_us for job in run.jobs.jobs])
    after = waits[submitted >= steady.warm_up_us]
    assert steady.jobs == len(after) // 20
    kept = after[len(after) - 20 * steady.jobs :]
    result = found.result("four")
    assert result.mean("wait_mean_h") == pytest.approx(kept.mean(), rel=1e-9)
    assert result.mean("wait_p95_h") == pytest.approx(np.quantile(kept, 0.95), rel=1e-9)
    means = kept.reshape(20, -1).mean(axis=1)
    assert result.values["wait_mean_h"] == pytest.approx(means.tolist(), rel=1e-9)
    quantiles = np.quantile(kept.reshape(20, -1), 0.95, axis=1)
    assert np.std(result.values["wait_p95_h"]) == pytest.approx(quantiles.std(), rel=1e-9)


def test_cash_and_cards_are_those_of_the_one_run(found):
    for name in ("cash_cny", "cost_per_job_cny", "busy_share", "jobs_done", "wait_max_h"):
        interval = found.result("four").metrics[name]
        assert (interval.n, interval.low) == (1, None)
    assert set(BATCHED) <= set(METRICS)
    assert len(found.billables["four"]) == 1


def test_a_given_warm_up_is_taken_as_it_is():
    given = compare(question("experiment.steady_state={warm_up: 10d, batches: 10}"))
    assert (given.steady.warm_up_us, given.steady.by_rule, given.steady.batches) == (240 * HOUR, False, 10)
    assert given.result("four").metrics["wait_mean_h"].n == 10
    assert "warm-up of 240 h (given), then 10 batches" in given.notes[0]


def test_figures_of_batches_are_set_off_to_the_whole():
    rows = [{"wait_p95_h": 1.0, "target_met_share": 0.0}, {"wait_p95_h": 3.0, "target_met_share": 1.0}]
    found = _set_off(rows, {"wait_p95_h": 2.5, "target_met_share": 1.0})
    assert [row["wait_p95_h"] for row in found] == [1.5, 3.5]
    assert [row["target_met_share"] for row in found] == [0.0, 1.0]
    assert _set_off([{"on_time_share": None}], {"on_time_share": None}) == [{"on_time_share": None}]


def test_neighbours_that_are_alike_are_said():
    assert _neighbours([1.0, 2.0, 3.0]) == 0  # steps -1, 0, 1
    assert _neighbours([1.0, -1.0] * 10) == pytest.approx(-0.95)
    assert _neighbours([2.0, 2.0]) is None
    assert _neighbours([98000.1] * 20) is None
    heavy = compare(question("workload.timed.0.rate=3.9/h", "horizon=20d"))
    marks = [mark for mark in heavy.warnings if mark.kind in ("batches", "warm-up")]
    assert any("alike" in mark.text or "MSER-5" in mark.text for mark in marks)


def test_too_few_jobs_are_said_and_have_no_interval():
    few = compare(question("horizon=2d"))
    assert few.steady.jobs == 0
    assert few.result("four").metrics["wait_mean_h"].low is None
    texts = " ".join(mark.text for mark in few.warnings)
    assert "fewer than 200 jobs" in texts
    first = compare(question("horizon=1d"))
    assert any("MSER-5 finds no end" in mark.text for mark in first.warnings)
    assert first.steady.warm_up_us == 12 * HOUR


def test_growth_has_no_steady_state():
    grown = compare(question("workload.growth=5%/month", "horizon=60d"))
    assert any("no steady state" in mark.text for mark in grown.warnings)


@pytest.mark.usefixtures("no_charts")
def test_it_is_said_in_every_output(found, tmp_path, fleetsim):
    file = tmp_path / "queue.yaml"
    file.write_text(TEXT)
    done = fleetsim("compare", file, "--out", tmp_path / "out", "--jobs", "1", "--set", "horizon=60d")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "60d from 2026-01-01, 20 batches of one run a strategy, seed 3" in text
    assert "mean of 20 batches of one run [95 % interval]" in text
    assert "Steady state of one run of each strategy: warm-up of" in text
    assert "those of the 20 batches, that lead to the same decision" in text
    assert "No warm-up" not in text
    assert "one replication" not in text
    document = found.to_json()["steady_state"]
    assert document["batches"] == 20
    assert document["warm_up_by"] == "MSER-5"
    assert set(document["correlation_of_neighbours"]) == {"four", "five"}
    json.dumps(document, allow_nan=False)
    stored = open_run(save(found, tmp_path / "runs"))
    assert comparison_of(stored).steady.jobs == found.steady.jobs
    assert "20 batches of one run of each strategy" in page(stored).html
    with pytest.raises(InputError, match="steady_state: the intervals of one long run stand on its jobs"):
        rebill(stored, ["strategies.0.leases.0.plan=annual"])


def test_kept_runs_give_the_same(tmp_path):
    asked = question("horizon=60d")
    first, again = compare(asked, vault=Vault(tmp_path)), compare(asked, vault=Vault(tmp_path), workers=2)
    assert first.to_json() == again.to_json() == compare(asked).to_json()


def test_a_sweep_of_steady_states(tmp_path):
    axes = [Axis("workload.timed.0.rate", ("2/h", "3/h"))]
    spanned = cells(axes, False, lambda more: question("horizon=60d", *more))
    made = sweep(question("horizon=60d"), axes, spanned, Places(vault=Vault(tmp_path)))
    assert made.filled.asked == 4
    assert made.counted == "20 batches of one run"
    wanted = compare(spanned[1].question).result("four").metrics["wait_mean_h"]
    assert made.cells[1].interval(0, "wait_mean_h") == wanted


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("experiment={steady_state: {batches: 5}}", "at least 10"),
        ("experiment={steady_state: {warm_up: soon}}", "auto, or a duration"),
        ("experiment={steady_state: {warm_up: 300d}}", "warm-up must be shorter"),
        ("experiment={steady_state: {}, warm_up: 2d}", "a warm-up of its own"),
        ("experiment={steady_state: {}, select: {}}", "one rule"),
        ("experiment={steady_state: {batch: 20}}", "unknown key"),
    ],
)
def test_what_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        question(change)


def test_replications_do_not_go_with_one_run():
    with pytest.raises(InputError, match="set its batches instead"):
        compare(question(), replications=5)
    with pytest.raises(InputError, match="leave steady_state to fleetsim compare"):
        step_up(question(), "four", "five", Selection(), Places())
    assert dataclasses.is_dataclass(Places())
