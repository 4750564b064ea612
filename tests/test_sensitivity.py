"""Sensitivity: inputs turn what they say, flips and Sobol indices of planted functions are found."""

import csv
import dataclasses
import json
from datetime import datetime
from decimal import Decimal

import pytest

from sim.catalog import load_catalog
from sim.errors import InputError, RunError
from sim.experiments.compare import compare
from sim.experiments.knobs_table import KNOBS, knobs_of, turned_by, with_ranges
from sim.experiments.knobs_turns import Turned, end_after, flow_of, months_of, turn_end
from sim.experiments.runs import Flow, Places
from sim.experiments.sensitivity import tornado
from sim.experiments.sensitivity_doubt import doubt, drawn
from sim.experiments.sensitivity_sobol import sobol
from sim.experiments.sensitivity_store import Study
from sim.experiments.vault import Vault
from sim.load import Question, load, load_text
from sim.replication import prepare
from sim.report.plots_sensitivity import render
from sim.streams import Streams
from sim.units import HOUR
from sim.workload import generate
from tests.made_by_hand import OFFER, Prepared, run, scenario

TEXT = """
name: Small
start: 2026-01-01
horizon: 40d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {lognormal: {median: 20000, sigma: 0.8}}, rate: 12/day}
  growth: 2%/month
strategies:
  - {name: annual, leases: [{offer: a100-40g-custom, count: 2, plan: annual}]}
  - {name: machine, leases: [{offer: a100-40g-8x, count: 1, plan: monthly}]}
experiment: {replications: 2, seed: 7}
"""


def knob(question, name):
    return next(one for one in knobs_of(question) if one.name == name)


def turned(question, **values):
    return turned_by(question, knobs_of(question), values)


def cost(asked: Turned, strategy: str) -> float | None:
    found = compare(asked.question, replications=1, flow=flow_of(asked, Flow()))
    return found.result(strategy).mean("committed_cost_cny")


class TestKnobs:
    def test_the_inputs_of_a_question(self):
        question = load_text(TEXT)
        found = {one.name: (one.low, one.base, one.high) for one in knobs_of(question)}
        assert list(found) == list(KNOBS)
        assert found["price_range"] == (0, 0.5, 1)
        assert found["growth"] == (0, 2, 5)
        assert found["end"][1] == pytest.approx(1 + 9 / 28)  # 40 days: January and 9 days of February
        for one in knobs_of(question):
            assert one.low <= one.base <= one.high
            assert one.why
            assert one.unit

    def test_what_a_question_does_not_have(self, two_jobs):
        names = [one.name for one in knobs_of(load(two_jobs))]
        # One price, no class that grows, no failures; 30 days are less than a month.
        assert names == ["price", "discount", "demand", "run_time"]

    def test_an_agreed_price_has_no_published_range(self):
        agreed = load_text(TEXT, ["strategies.1.leases.0.price=26000"])
        assert "price_range" not in [one.name for one in knobs_of(agreed)]
        assert knob(load_text(TEXT, ["strategies.1.leases.0.price=low"]), "price_range").base == 0

    def test_the_base_of_the_price_range_is_the_end_that_is_paid(self):
        question = dataclasses.replace(load_text(TEXT), price="high")
        assert knob(question, "price_range").base == 1

    def test_nothing_turned_is_the_question_itself(self):
        question = load_text(TEXT)
        assert turned(question, price=1.0, growth=2.0).question is question

    @pytest.mark.parametrize("factor", [0.5, 0.9, 1.1, 3])
    def test_price_moves_the_cost_in_exact_proportion(self, two_jobs, factor):
        # 12 x 2,800 x 0.80 = 26,880 for a year of one card; two cards for a month 5,600.
        asked = turned(load(two_jobs), price=factor)
        assert cost(asked, "one card, annual") == pytest.approx(26880 * factor, abs=1e-6)
        assert cost(asked, "two cards, monthly") == pytest.approx(5600 * factor, abs=1e-6)

    def test_price_moves_agreed_prices_too(self, two_jobs):
        question = load(two_jobs, ["strategies.0.leases.0.price=2500"])
        assert cost(turned(question, price=1.1), "one card, annual") == pytest.approx(26400)

    def test_the_place_in_the_published_range(self):
        # One 8-card machine costs 25,000 to 35,000 a month; 40 days are two months.
        for place, month in ((0.0, 25000), (0.5, 30000), (1.0, 35000), (0.25, 27500)):
            assert cost(turned(load_text(TEXT), price_range=place), "machine") == 2 * month

    def test_half_the_discount(self, two_jobs):
        # 20 % off becomes 10 % off, 30 % off, nothing off.
        for factor, share in ((0.5, 0.9), (1.5, 0.7), (0.0, 1.0)):
            asked = turned(load(two_jobs), discount=factor)
            assert cost(asked, "one card, annual") == pytest.approx(12 * 2800 * share)
            assert cost(asked, "two cards, monthly") == 5600

    def test_an_agreed_discount_is_turned(self, two_jobs):
        question = load(two_jobs, ["strategies.0.leases.0.terms={discounts: {annual: 0.7}}"])
        assert cost(turned(question, discount=0.5), "one card, annual") == pytest.approx(12 * 2800 * 0.85)

    def test_demand_doubles_the_arrivals(self):
        question = load_text(TEXT, ["workload.growth=0%/month"])
        counts = [
            len(generate(asked.scenario, (), Streams(7, 0)).jobs)
            for asked in (question, turned(question, demand=2.0).question)
        ]
        # 480 and 960 are expected, Poisson: four deviations are 88 and 124.
        assert abs(counts[0] - 480) < 88
        assert abs(counts[1] - 960) < 124

    def test_growth(self):
        assert turned(load_text(TEXT), growth=5.0).question.scenario.workload.growth == "5.000000%/month"

    def test_twice_the_running_time_doubles_the_wait(self, two_jobs):
        # One card, two jobs of an hour at once: the second waits an hour, or two; on average half of it.
        question = load(two_jobs)
        for factor, wait in ((1.0, 0.5), (2.0, 1.0), (0.5, 0.25)):
            asked = turned(question, run_time=factor)
            found = compare(asked.question, replications=1, flow=flow_of(asked, Flow()))
            assert found.result("one card, annual").mean("wait_mean_h") == pytest.approx(wait)

    def test_twice_the_failures_halve_the_mean_times(self):
        question = load_text(TEXT)
        before = prepare(question).plans[0].pools[0].failures
        after = flow_of(turned(question, failures=2.0), Flow()).prepare(question).plans[0].pools[0].failures
        assert before.mtbf_us["node"] == 50_000 * HOUR
        assert {kind: mean * 2 for kind, mean in after.mtbf_us.items()} == pytest.approx(before.mtbf_us)

    def test_months_are_those_of_the_calendar(self):
        year = load_text(TEXT, ["horizon=365d"]).scenario
        assert months_of(year) == 12
        assert end_after(year, 6) == datetime(2026, 7, 1)
        assert end_after(year, 1.5) == datetime(2026, 2, 15)
        odd = load_text(TEXT, ["start=2026-01-31", "horizon=2026-02-28"]).scenario
        assert months_of(odd) == 1

    def test_an_early_end_leaves_the_year_owed(self):
        question = load_text(TEXT, ["horizon=365d"])
        asked = turn_end(Turned(question), 6)
        assert asked.question.scenario.horizon_us == 181 * 24 * HOUR
        assert cost(asked, "annual") == 2 * 26880
        assert cost(asked, "machine") == 6 * 30000

    @pytest.mark.parametrize(
        ("ranges", "message"),
        [
            ({"demnad": (0.5, 2)}, "not among those of the scenario .found 'demnad'.; did you mean 'demand'"),
            ({"demand": (2, 3)}, "must hold the base, 1 times"),
            ({"demand": (0, 3)}, "at least 0.01"),
            ({"price_range": (0, 2)}, "at least 0 and at most 1"),
            ({"end": (1, 40)}, "at most 1.32"),
            ({"demand": (1, 1)}, "must hold the base"),
        ],
    )
    def test_ranges_that_cannot_be(self, ranges, message):
        with pytest.raises(InputError, match=message):
            with_ranges(knobs_of(load_text(TEXT)), ranges)


def demand_of(prepared: Prepared) -> float:
    """Demand as a multiple of the 3 jobs a day of the scenario made by hand."""
    return float(prepared.question.scenario.workload.classes[0].rate.partition("/")[0]) / 3


def price_of(prepared: Prepared) -> float:
    return float(prepared.question.catalog.offers[OFFER].price.low / Decimal(2800))


def by_hand(costs):
    """A question whose strategies cost what `costs` says, with a little luck of their own."""

    def replicate(prepared, strategy, replication, seed):
        luck = (replication % 2) - 0.5
        metrics = {
            "committed_cost_cny": costs[strategy](prepared) + luck,
            "wait_p95_h": 1.0,
            "jobs_refused": 0.0,
            "overloaded": 0.0,
        }
        return run(prepared.question.scenario, strategy, replication, metrics, shift_us=replication)

    return Question(scenario(), (), load_catalog()), Flow(Prepared, replicate)


def rows(question, *names):
    return tuple(one for one in knobs_of(question) if one.name in names)


class TestTornado:
    def test_bars_and_flip_of_a_planted_line(self):
        """Four costs 1,000 + 500 times the demand, eight 1,600: the same at 1.2 times the demand."""
        question, flow = by_hand([lambda p: 1000 + 500 * demand_of(p), lambda p: 1600.0])
        found = tornado(question, rows(question, "demand", "price"), None, 4, Places(), flow)
        assert (found.decision, found.strategy, found.rival) == ("four", "four", "eight")
        bars = {bar.knob.name: bar for bar in found.bars}
        assert [bars["demand"].low.mean, found.base.mean, bars["demand"].high.mean] == pytest.approx(
            [1350, 1500, 1650]
        )
        assert [bars["demand"].difference_low.mean, bars["demand"].difference_high.mean] == pytest.approx(
            [-250, 50]
        )
        assert [bar.knob.name for bar in found.bars] == ["demand", "price"]
        (flip,) = found.flips
        assert (flip.knob.name, flip.decision, flip.end) == ("demand", "eight", 1.3)
        assert flip.before <= 1.2 <= flip.after
        assert flip.after - flip.before == pytest.approx(0.3 / 64)
        document = Study(found, None).to_json()
        assert document["never_flips"] == ["price"]
        json.dumps(document, allow_nan=False)

    def test_prices_are_found_more_finely(self):
        """Four costs 1,000 times the price level, eight 1,050: the same at 1.05."""
        question, flow = by_hand([lambda p: 1000 * price_of(p), lambda p: 1050.0])
        (flip,) = tornado(question, rows(question, "price"), None, 4, Places(), flow).flips
        assert flip.before <= 1.05 <= flip.after
        assert flip.after - flip.before == pytest.approx(0.1 / 256)

    def test_a_flip_far_from_the_base(self):
        question, flow = by_hand([lambda p: 1000 * demand_of(p), lambda p: 1500.0 - 750 * (1 - demand_of(p))])
        # 1000 d < 750 + 750 d up to d = 3; eight is never cheaper below 1.3.
        found = tornado(question, rows(question, "demand"), None, 2, Places(), flow)
        assert found.flips == ()
        wide = with_ranges(rows(question, "demand"), {"demand": (0.5, 5.0)})
        (flip,) = tornado(question, wide, None, 2, Places(), flow).flips
        assert flip.value == pytest.approx(3, abs=4 / 64)

    def test_the_same_from_one_and_two_workers(self, monkeypatch, tmp_path):
        monkeypatch.setattr("sim.experiments.parallel.SERIAL_BELOW_S", 0.0)
        question = load_text(TEXT, ["horizon=5d", "strategies.1.leases.0.offer=a100-40g-custom"])
        knobs = rows(question, "price", "demand", "run_time", "failures")
        studies = [Study(tornado(question, knobs, None, 2, Places(workers)), None) for workers in (1, 2)]
        assert studies[0].to_json() == studies[1].to_json()
        assert studies[0].study_id == studies[1].study_id
        assert render(studies[0]) == render(studies[1])


class TestSobol:
    def test_shares_of_a_planted_sum(self):
        """1,000 times the demand (0.7 to 1.3) and 4,000 times the price (0.9 to 1.1): uniform inputs have
        variances of 600^2 / 12 and 800^2 / 12, so the shares are 0.36 and 0.64; failures have none."""
        costs = lambda p: 1000 * demand_of(p) + 4000 * price_of(p)  # noqa: E731
        question, flow = by_hand([costs, lambda p: 9000.0])
        knobs = rows(question, "demand", "price", "growth")
        found = tornado(question, knobs, None, 2, Places(), flow)
        indices = sobol(found, knobs, 64, Places(), flow)
        assert indices.points == 64 * 5
        for one in indices.results:  # the rival is constant: the difference has the same shares
            shares = {index.knob.name: index for index in one.inputs}
            for name, share in (("demand", 0.36), ("price", 0.64), ("growth", 0.0)):
                assert shares[name].first == pytest.approx(share, abs=0.06), name
                assert shares[name].total == pytest.approx(share, abs=0.06), name
            assert one.deviation == pytest.approx((1e6 / 12) ** 0.5, rel=0.05)
        assert indices.results[0].mean == pytest.approx(5000, rel=0.01)
        assert indices.results[1].mean == pytest.approx(-4000, rel=0.01)
        again = sobol(found, knobs, 64, Places(), flow)
        assert again == indices

    def test_what_nothing_moves_has_no_shares(self):
        question, flow = by_hand([lambda p: 1000.0, lambda p: 1000.0 + demand_of(p)])
        knobs = rows(question, "demand")
        found = tornado(question, knobs, None, 2, Places(), flow)
        own, apart = sobol(found, knobs, 8, Places(), flow).results
        assert own.inputs == ()
        assert len(apart.inputs) == 1

    def test_a_metric_that_is_not_always_defined(self):
        question, flow = by_hand([lambda p: 1000.0, lambda p: 1000.0])
        knobs = rows(question, "demand")
        found = tornado(question, knobs, None, 2, Places(), flow)
        with pytest.raises(RunError, match="not defined at some of the points"):
            sobol(dataclasses.replace(found, metric="on_time_share"), knobs, 4, Places(), flow)


class TestDoubt:
    def test_luck_and_inputs_of_a_planted_sum(self):
        """1,000 times the demand (0.7 to 1.3) has the deviation 600 / sqrt(12) = 173; luck is half a yuan."""
        question, flow = by_hand([lambda p: 1000 * demand_of(p), lambda p: 1200.0])
        knobs = rows(question, "demand")
        found = tornado(question, knobs, None, 2, Places(), flow)
        spread, steady = doubt(found, knobs, 400, Places(), flow).spreads
        assert spread.luck.mean == pytest.approx(1000)
        assert spread.luck_deviation == pytest.approx(0.5, rel=0.01)
        assert spread.input_deviation == pytest.approx(173, rel=0.06)
        assert (spread.low, spread.high) == pytest.approx((730, 1270), abs=25)
        assert spread.mean == pytest.approx(1000, abs=35)  # four deviations of the mean of 400
        # It is cheapest while the demand is below 1.2: five of six draws, give or take four deviations.
        assert spread.cheapest == pytest.approx(5 / 6, abs=0.075)
        assert spread.cheapest + steady.cheapest == 1
        assert (steady.input_deviation, steady.low) == (0, pytest.approx(1199.5))

    def test_draws_depend_on_seed_replication_and_name_alone(self):
        question = load_text(TEXT)
        both, one = knobs_of(question), rows(question, "price")
        assert drawn(both, 7, 3)["price"] == drawn(one, 7, 3)["price"]
        assert drawn(one, 7, 3) != drawn(one, 7, 4)
        assert drawn(one, 7, 3) != drawn(one, 8, 3)
        for knob_ in both:
            assert knob_.low <= drawn(both, 7, 0)[knob_.name] <= knob_.high

    def test_a_real_question_and_its_kept_runs(self, tmp_path):
        question = load_text(TEXT, ["horizon=5d"])
        knobs = rows(question, "price", "demand")
        places = Places(vault=Vault(tmp_path))
        found = tornado(question, knobs, None, 2, places)
        first = doubt(found, knobs, 4, places)
        assert doubt(found, knobs, 4, Places()) == first
        annual = next(one for one in first.spreads if one.strategy == "annual")
        prices = [drawn(knobs, 7, number)["price"] for number in range(4)]
        assert annual.mean == pytest.approx(2 * 26880 * sum(prices) / 4, abs=0.02)
        assert annual.luck_deviation == 0


class TestCommand:
    def sensitivity(self, fleetsim, tmp_path, *options):
        file = tmp_path / "small.yaml"
        file.write_text(TEXT.replace("40d", "10d"))
        return fleetsim("sensitivity", file, "--out", tmp_path / "out", "--jobs", "1", *options)

    def test_text_json_and_files(self, fleetsim, tmp_path):
        options = ("--replications", "1", "--sobol", "2", "--draws", "2", "--range", "demand=0.5..1.5")
        text = self.sensitivity(fleetsim, tmp_path, *options)
        assert text.code == 0, text.err
        assert "Where the decision flips" in text.out
        assert "Sobol indices" in text.out
        assert "Luck and doubt about inputs" in text.out
        document = json.loads(self.sensitivity(fleetsim, tmp_path, *options, "--format", "json").out)
        demand = next(one for one in document["inputs"] if one["input"] == "demand")
        assert (demand["low"], demand["high"], demand["why"]) == (0.5, 1.5, "given with --range")
        (folder,) = (tmp_path / "out").glob("small/sensitivity-*")
        assert folder.name == f"sensitivity-{document['study']}"
        with (folder / "tornado.csv").open(newline="") as file:
            table = {(row["input"], row["end"]): row for row in csv.DictReader(file)}
        # Two cards for a year: 2 x 26,880, and a tenth more or less.
        assert [float(table["price", end]["mean"]) for end in ("low", "base", "high")] == pytest.approx(
            [48384, 53760, 59136] if document["strategy"] == "annual" else [27000, 30000, 33000]
        )
        for name in (
            "flips.csv",
            "sobol.csv",
            "drawn_inputs.csv",
            "charts/tornado.png",
            "charts/sobol.png",
            "manifest.json",
        ):
            assert (folder / name).is_file(), name

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--metric", "cost"), "--metric: this is no metric (found 'cost')"),
            (("--range", "demand"), "--range: a range is written INPUT=LOW..HIGH"),
            (("--range", "speed=1..2"), "--range: this input is not among those of the scenario"),
            (("--range", "demand=2..3"), "--range: the range must hold the base, 1 times"),
            (("--range", "demand=0.5..2", "--range", "demand=0.5..3"), "--range: this input is given twice"),
            (("--draws", "1"), "--draws: inputs are drawn in 2 or more replications"),
            (("--sobol", "12"), "--sobol: the number of base samples is a power of two"),
            (("--set", "horizon=x"), "--set: horizon"),
        ],
    )
    def test_what_cannot_be_asked(self, fleetsim, tmp_path, options, message):
        refused = self.sensitivity(fleetsim, tmp_path, *options)
        assert refused.code == 2
        assert message in " ".join(refused.err.split())
        assert not (tmp_path / "out").exists()
