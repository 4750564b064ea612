"""Uncertain inputs in studies: draws that strategies share, luck and doubt apart, nothing simulated twice."""

import dataclasses
import json
import math
from functools import partial

import numpy as np
import pytest

from sim.errors import InputError
from sim.experiments import parallel
from sim.experiments.advice import recommend_fleet
from sim.experiments.again import again, detail
from sim.experiments.candidates import space_of
from sim.experiments.compare import compare
from sim.experiments.drawn_prepare import prepared_like
from sim.experiments.flow import Flow
from sim.experiments.knobs import with_demand
from sim.experiments.knobs_table import knobs_of
from sim.experiments.knobs_turns import flow_of
from sim.experiments.run_read import comparison_of
from sim.experiments.runs import Places, Runs
from sim.experiments.sensitivity import tornado
from sim.experiments.stepup import step_up
from sim.experiments.store import save
from sim.experiments.stored import open_run
from sim.experiments.sweep import sweep
from sim.experiments.sweep_axes import Axis, cells
from sim.experiments.uncertain import TWINS, Drawer, at_base, draw, drawn
from sim.experiments.variance_parts import parts
from sim.experiments.vault import Vault
from sim.load import load_text
from sim.model.experiment import Selection
from sim.replication import prepare, replicate
from sim.report.page import page
from sim.streams import Streams

TEXT = """
name: Unsure
start: 2026-01-01
timezone: UTC
horizon: 20d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {lognormal: {median: 20000, sigma: 0.8}}, rate: 12/day}
target: {wait_p95: 8h}
strategies:
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
  - name: one and burst
    leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 1h}
experiment: {replications: 4, seed: 7}
"""
DEMAND = "uncertain={demand: {uniform: {low: 0.5, high: 1.5}}}"
PRICE = "uncertain={price: {uniform: {low: 0.5, high: 1.5}}}"
BOTH = "uncertain={demand: {uniform: {low: 0.5, high: 1.5}}, price: {uniform: {low: 0.5, high: 1.5}}}"


def question(*changes: str):
    return load_text(TEXT, changes)


def values(comparison, strategy, metric):
    return comparison.result(strategy).values[metric]


def split_of(comparison, strategy, metric):
    return next(
        s for s in comparison.doubt.splits if (s.strategy, s.less, s.metric) == (strategy, None, metric)
    )


# -- Draws --------------------------------------------------------------------------------------------


def test_an_input_has_a_stream_of_its_own():
    alone, beside = question(DEMAND), question(BOTH)
    for number in range(5):
        assert draw(alone, number)["demand"] == draw(beside, number)["demand"]
        assert draw(alone, number) == draw(alone, TWINS + number)
    assert len({draw(alone, number)["demand"] for number in range(50)}) == 50
    assert draw(question(DEMAND, "experiment.seed=8"), 0) != draw(alone, 0)


def test_draws_follow_their_distribution():
    asked = question("uncertain={demand: {triangular: {low: 0.7, mode: 1, high: 1.6}}}")
    found = np.array([draw(asked, number)["demand"] for number in range(3000)])
    # The mean is a third of the sum; the variance is the squares less the products, over 18.
    mean, variance = 1.1, (0.49 + 1 + 2.56 - 0.7 - 1.12 - 1.6) / 18
    assert abs(found.mean() - mean) < 4 * math.sqrt(variance / 3000)
    assert found.var() == pytest.approx(variance, rel=0.1)
    assert 0.7 <= found.min() < found.max() <= 1.6


def test_the_demand_of_a_replication_is_that_of_its_draw():
    """Expected jobs are 20 x 12 times the draw; strategies meet the same ones."""
    comparison = compare(question(DEMAND, "experiment.replications=12"))
    jobs = values(comparison, "two", "jobs_submitted")
    assert jobs == values(comparison, "one and burst", "jobs_submitted")
    for number, found in enumerate(jobs):
        mean = 240 * comparison.doubt.draws[number]["demand"]
        assert abs(found - mean) < 4 * math.sqrt(mean)


def test_keys_of_the_scenario_are_drawn_as_if_they_were_written():
    asked = question("uncertain={workload.classes.0.rate: {uniform: {low: 6/day, high: 18/day}}}")
    rate = draw(asked, 3)["workload.classes.0.rate"]
    assert rate.endswith("/day")
    plain = question(f"workload.classes.0.rate={rate}")
    assert drawn(asked, 3).question.scenario == plain.scenario
    there = compare(asked).result("two").values["wait_mean_h"][3]
    assert there == replicate(prepare(plain), 0, 3).metrics["wait_mean_h"]


@pytest.mark.parametrize(
    ("text", "strategy", "metric", "turned"),
    [
        ("run_time: {choice: {values: [2, 2]}}", "two", "useful_gpu_h", 2),
        ("discount: {choice: {values: [0, 0]}}", "two", "committed_cost_cny", 1 / 0.95),
        ("price: {choice: {values: [3, 3]}}", "two", "committed_cost_cny", 3),
        ("price_range: {choice: {values: [1, 1]}}", "one and burst", "burst_cost_cny", 25.0 / 20.84),
        (
            "strategies.1.burst.price: {choice: {values: [41.68, 41.68]}}",
            "one and burst",
            "burst_cost_cny",
            2,
        ),
    ],
)
def test_what_an_input_does(text, strategy, metric, turned):
    """A choice between equal values is a known input turned. Quarterly plans are 5 % off, and an hour of a
    slice costs 20.84 CNY at the middle of its range."""
    lone = (f"uncertain={{{text}}}", "experiment.replications=2", "strategies.0.leases.0.plan=quarterly")
    found, plain = compare(question(*lone)), compare(question(*lone[1:]))
    ratio = values(found, strategy, metric)[0] / values(plain, strategy, metric)[0]
    assert ratio == pytest.approx(turned, rel=0.03)


@pytest.mark.parametrize(
    ("text", "asked_again"),
    [
        ("demand: {choice: {values: [2, 2]}}", False),
        ("run_time: {choice: {values: [2, 2]}}", False),
        ("failures: {choice: {values: [2, 2]}}", False),
        ("price: {choice: {values: [2, 2]}}", False),
        ("workload.classes.0.rate: {choice: {values: [2/day, 2/day]}}", False),
        ("workload.classes.0.samples.lognormal.median: {choice: {values: [2, 2]}}", False),
        ("workload.classes.0.epochs: {choice: {values: [2, 2]}}", False),
        ("strategies.0.leases.0.count: {choice: {values: [3, 3]}}", False),
        ("workload.classes.0.mean_tokens: {choice: {values: [200, 200]}}", True),
        ("workload.classes.0.seq_len: {choice: {values: [512, 512]}}", True),
        ("workload.classes.0.length_sigma: {choice: {values: [0.2, 0.2]}}", True),
        ("workload.classes.0.rank: {choice: {values: [4, 4]}}", True),
    ],
)
def test_physics_is_asked_again_only_where_it_answers_otherwise(text, asked_again):
    """What is made ready quickly is what the waist makes ready, to the last digit."""
    asked = question(f"uncertain={{{text}}}")
    drawer = Drawer.of(asked, Flow())
    _, quickly = drawer.ready(1)
    turned = drawn(asked, 1)
    wanted = flow_of(turned, Flow()).prepare(turned.question)
    assert repr(quickly.rates) == repr(wanted.rates)
    assert quickly.plans == wanted.plans
    assert quickly.shapes == wanted.shapes
    assert quickly.question is not drawer.prepared.question
    assert (prepared_like(drawer.prepared, turned.question).rates is drawer.prepared.rates) != asked_again


def test_failures_and_growth():
    month = "{choice: {values: [50%/month, 50%/month]}}"
    text = f"uncertain={{failures: {{choice: {{values: [4, 4]}}}}, growth: {month}}}"
    calm = ("reliability.profile=consumer", "horizon=90d", "experiment.replications=2")
    found, plain = compare(question(text, *calm)), compare(question(*calm))
    assert sum(values(found, "two", "failures")) > 2 * sum(values(plain, "two", "failures"))
    # Growth of 50 % a month over 90 days, 2.96 months: the mean of 1.5^t over them.
    jobs = sum(values(found, "two", "jobs_submitted")) / sum(values(plain, "two", "jobs_submitted"))
    assert jobs == pytest.approx((1.5**2.96 - 1) / math.log(1.5) / 2.96, rel=0.08)


def test_an_input_that_the_scenario_does_not_have_is_refused():
    with pytest.raises(InputError, match="the scenario has no such input"):
        compare(question("uncertain={discount: {uniform: {low: 0.5, high: 1}}}"))


# -- Luck and doubt -----------------------------------------------------------------------------------


def test_parts_by_pencil():
    """Pairs (1, 2) and (3, 6): within 2.5, of the means 9, so the inputs have (9 - 2.5) / 2."""
    found = parts([1.0, 3.0], [2.0, 6.0])
    assert found.luck == pytest.approx(math.sqrt(2.5))
    assert found.inputs == pytest.approx(math.sqrt(3.25))
    assert found.share == pytest.approx(3.25 / 5.75)
    assert parts([1.0, 3.0], [3.0, 1.0]).inputs == 0
    assert parts([1.0, 3.0], [1.0, 3.0]).share == 1
    assert parts([1.0, 1.0], [1.0, 1.0]).share is None
    with pytest.raises(ValueError, match="two or more"):
        parts([1.0, None], [1.0, 2.0])


def test_parts_are_unbiased_and_their_interval_covers():
    """Doubt with variance 4 and luck with variance 1: shares of 0.8 and 0.2, known in 95 % of the trials."""
    random = np.random.default_rng(5)
    luck, inputs, covered = [], [], 0
    for _ in range(600):
        doubt = 2 * random.standard_normal(20)
        one, other = doubt + random.standard_normal(20), doubt + random.standard_normal(20)
        found = parts(one.tolist(), other.tolist())
        luck.append(found.luck**2)
        inputs.append(found.inputs**2)
        covered += found.low <= 0.8 <= found.high
    assert np.mean(luck) == pytest.approx(1, abs=0.05)
    assert np.mean(inputs) == pytest.approx(4, abs=0.25)
    assert 0.93 <= covered / 600 <= 0.97


def test_a_price_alone_is_no_luck():
    """A fleet of leases costs its price times the draw, and nothing else moves it."""
    comparison = compare(question(PRICE, "experiment.replications=6"))
    base = values(compare(question("experiment.replications=1")), "two", "committed_cost_cny")[0]
    for number, cost in enumerate(values(comparison, "two", "committed_cost_cny")):
        assert cost == pytest.approx(base * comparison.doubt.draws[number]["price"], abs=0.02)
    split = next(
        s for s in comparison.doubt.splits if s.strategy == "two" and s.metric == "committed_cost_cny"
    )
    assert (split.parts.luck, split.parts.share, split.parts.pairs) == (0, 1, 6)
    cost = np.array(values(comparison, "two", "committed_cost_cny"))
    assert split.parts.inputs == pytest.approx(cost.std(ddof=1))
    wait = split_of(comparison, "two", "wait_p95_h")
    assert wait.parts.luck > 0
    assert wait.parts.low == 0


def test_demand_makes_more_doubt_than_luck():
    comparison = compare(question(DEMAND, "experiment.replications=20"))
    split = split_of(comparison, "two", "wait_p95_h")
    assert split.less is None
    assert split.parts.inputs > split.parts.luck > 0
    assert split.low < split.mean < split.high
    apart = [s for s in comparison.doubt.splits if s.less == "two"]
    assert {s.metric for s in apart} == {"committed_cost_cny", "wait_p95_h"}
    assert {s.strategy for s in apart} == {"one and burst"}


def test_intervals_hold_the_doubt():
    """The spread over replications is that of luck and inputs together, as the law of total variance says."""
    number = "experiment.replications=30"
    unsure, sure = compare(question(DEMAND, number)), compare(question(number))

    def width(comparison):
        interval = comparison.result("two").metrics["jobs_submitted"]
        return interval.high - interval.low

    # Jobs: variance 240 by luck, and (240 x 0.2887)^2 by demand.
    ratio = math.sqrt((240 + (240 / math.sqrt(12)) ** 2) / 240)
    assert width(unsure) / width(sure) == pytest.approx(ratio, rel=0.4)


def test_one_replication_says_what_was_drawn_and_no_more():
    comparison = compare(question(DEMAND, "experiment.replications=1"))
    assert comparison.doubt.splits == ()
    assert comparison.doubt.pairs == 0
    assert comparison.doubt.inputs[0].key == "demand"


def test_without_uncertain_inputs_nothing_changes():
    plain, base = question(), at_base(question(DEMAND))
    assert plain.scenario == base.scenario
    assert at_base(plain) is plain
    comparison = compare(plain)
    assert comparison.doubt is None
    assert comparison.to_json()["uncertain"] is None


# -- Kept runs, workers -------------------------------------------------------------------------------


@pytest.fixture
def counted():
    made: list[tuple[int, int]] = []

    def run(prepared, strategy, number, seed):
        made.append((strategy, number))
        return replicate(prepared, strategy, number, seed)

    return made, Flow(prepare, run)


def test_kept_runs_are_read_and_prices_simulate_nothing(tmp_path, counted):
    made, flow = counted
    vault = Vault(tmp_path)
    first = compare(question(BOTH), flow=flow, vault=vault)
    assert sorted(made) == sorted((s, n + t) for s in range(2) for n in range(4) for t in (0, TWINS))
    again_ = compare(question(BOTH), flow=flow, vault=vault)
    assert len(made) == 16
    assert again_.to_json() == first.to_json() == compare(question(BOTH)).to_json()
    # Only the price is another: billed anew.
    compare(
        question(BOTH.replace("price: {uniform: {low: 0.5", "price: {uniform: {low: 0.8")),
        flow=flow,
        vault=vault,
    )
    assert len(made) == 16
    # Known demand: other runs. A price alone: these very runs, and twins.
    compare(question(), flow=flow, vault=vault)
    assert len(made) == 24
    compare(question(PRICE), flow=flow, vault=vault)
    assert len(made) == 32
    assert {number for _, number in made[24:]} == {TWINS + n for n in range(4)}


def test_the_same_bytes_from_any_number_of_workers(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "SERIAL_BELOW_S", 0.0)
    one, two = compare(question(BOTH), workers=1), compare(question(BOTH), workers=2, vault=Vault(tmp_path))
    assert one.to_json() == two.to_json()
    folders = [save(one, tmp_path / "a"), save(two, tmp_path / "b")]
    for file in folders[0].iterdir():
        if file.name != "manifest.json":
            assert file.read_bytes() == (folders[1] / file.name).read_bytes(), file.name


# -- Other commands -----------------------------------------------------------------------------------


def test_a_stored_run_is_read_shown_and_made_again(tmp_path, fleetsim):
    comparison = compare(question(BOTH))
    folder = save(comparison, tmp_path)
    stored = open_run(folder)
    found = comparison_of(stored)
    assert found.doubt == dataclasses.replace(comparison.doubt, draws=(), twins={})
    html = page(stored).html
    assert "Luck and doubt about inputs" in html
    assert "uniform from 0.5 to 1.5" in html
    lines = (folder / "inputs.csv").read_text().splitlines()
    assert lines[0] == "replication,input,value"
    assert lines[1] == f"0,demand,{draw(question(BOTH), 0)['demand']}"
    assert len(lines) == 9
    assert len((folder / "doubt.csv").read_text().splitlines()) == 1 + 6
    assert again(stored, 0).run.ledger.charges == stored.ledger("two").charges
    twins = (folder / "twins.csv").read_text().splitlines()
    assert len(twins) == 1 + 2 * 4
    assert twins[0].startswith("strategy,replication,cost_cny,")


def test_one_run_has_the_inputs_of_its_replication():
    comparison = compare(question(BOTH))
    for number in (0, 3):
        metrics = detail(question(BOTH), 1, number).run.metrics
        assert (
            metrics["committed_cost_cny"] == values(comparison, "one and burst", "committed_cost_cny")[number]
        )
    other = detail(question(BOTH), 1, 0, seed=9).run
    assert other.metrics == detail(question(BOTH, "experiment.seed=9"), 1, 0).run.metrics


def test_text_and_document(fleetsim, tmp_path):
    file = tmp_path / "unsure.yaml"
    file.write_text(TEXT + "uncertain:\n  demand: {uniform: {low: 0.5, high: 1.5}, source: a poll}\n"
                    "  run_time: {validation: true}\n")  # fmt: skip
    done = fleetsim("compare", file, "--out", tmp_path / "out", "--jobs", "1")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    for words in (
        "Luck and doubt about inputs",
        "4 pairs of runs",
        "spread by luck",
        "law of total variance",
    ):
        assert words in text
    assert "Uncertain demand: uniform from 0.5 to 1.5, times the jobs (a poll)." in text
    assert "errors of measured rows" in text
    document = json.loads(
        fleetsim("compare", file, "--out", tmp_path / "out", "--jobs", "1", "--format", "json").out
    )["uncertain"]
    assert document["inputs"][0]["source"] == "a poll"
    assert document["pairs"] == 4
    assert {one["unit"] for one in document["splits"]} == {"CNY", "h"}


def test_sensitivity_turns_known_inputs_over_the_ranges_that_the_scenario_gives():
    asked = question(
        "uncertain={demand: {uniform: {low: 0.5, high: 1.5}}, price: {choice: {values: [1.2, 1.4]}}}"
    )
    knobs = {knob.name: knob for knob in knobs_of(asked)}
    assert (knobs["demand"].low, knobs["demand"].high) == (0.55, 1.45)
    assert (knobs["price"].low, knobs["price"].high) == (1, 1.4)
    assert "5 % to 95 % of what the scenario says" in knobs["demand"].why
    assert knobs["run_time"].low == 0.88
    found = tornado(asked, [knobs["price"]], None, 2, Places())
    assert "stand at their base here: demand, price" in found.notes[0]
    plain = compare(question(), replications=2)
    assert found.base.mean == plain.result(found.strategy).mean("committed_cost_cny")


def test_a_sweep_of_uncertain_inputs_is_that_of_its_comparisons(tmp_path):
    axes = [Axis("workload.classes.0.rate", ("6/day", "12/day"))]
    spanned = cells(axes, False, lambda more: question(DEMAND, *more))
    places = Places(vault=Vault(tmp_path))
    found = sweep(question(DEMAND), axes, spanned, places)
    assert found.filled.asked == found.filled.simulated == 2 * 2 * 4 * 2
    for cell, place in zip(spanned, found.cells, strict=True):
        wanted = compare(cell.question).result("two").metrics["wait_p95_h"]
        assert place.interval(0, "wait_p95_h") == wanted


def test_searches_draw_inputs_but_for_keys_of_strategies(tmp_path):
    owned = "uncertain={strategies.0.leases.0.price: {uniform: {low: 20, high: 30}}}"
    rule = Selection()
    with pytest.raises(InputError, match="strategies of its own"):
        recommend_fleet(question(owned), space_of(question(owned), [1, 2]), rule, Places())
    with pytest.raises(InputError, match="strategies of its own"):
        step_up(question(owned), "two", "one and burst", rule, Places())


def test_the_headroom_is_over_drawn_rates():
    """Twice the demand of a drawn rate is the drawn rate twice, whichever is turned first."""

    asked = question("uncertain={workload.classes.0.rate: {uniform: {low: 6/day, high: 18/day}}}")
    runs = Runs.of(asked, Places(), turn=partial(with_demand, factor=2.0))
    (sample,) = runs.ask([(0, 1)])
    rate = float(draw(asked, 1)["workload.classes.0.rate"].removesuffix("/day"))
    plain = replicate(prepare(question(f"workload.classes.0.rate={2 * rate:.12g}/day")), 0, 1)
    assert sample.metrics["jobs_submitted"] == plain.metrics["jobs_submitted"]


def test_streams_of_inputs_are_none_of_those_of_jobs():
    asked = question(DEMAND)
    share = Streams(7, 2).generator("uncertain", "demand").random()
    assert draw(asked, 2)["demand"] == pytest.approx(0.5 + share)
