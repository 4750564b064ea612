"""When a study has replications enough: half-widths by pencil, and choices where the doubt is."""

import numpy as np
import pytest

from sim.errors import InputError
from sim.experiments.until import Precision, Shortfall, next_number, shortfalls
from sim.model.experiment import Experiment
from tests import made_by_hand as hand
from tests.test_selection import PLANTED
from tests.test_vault import TEXT, question

MANY = 400


class Numbers(list):
    """A table of metrics that is made as it is asked for, keyed by strategy and replication."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __getitem__(self, strategy):
        return Row(strategy, self.make)


class Row:
    def __init__(self, strategy, make):
        self.strategy, self.make = strategy, make

    def __getitem__(self, replication):
        generator = np.random.default_rng([replication, 1])
        own = np.random.default_rng([replication, 2, self.strategy])
        return self.make(self.strategy, generator.standard_normal(), own.standard_normal())


def compared(make, names, **experiment):
    asked = hand.scenario(names, experiment=experiment, target={"wait_p95": "4h"})
    question = hand.Question(asked, (), hand.load_catalog())
    return hand.compare(question, flow=hand.Flow(hand.Prepared, hand.Replay(Numbers(make))))


def test_pencil_half_widths():
    # Waits 10, 12, 14: s = 2, t(2) = 4.3027, half-width 4.9683. Differences 1, 1, 4: s = 1.7321, 4.3027.
    samples = {
        "base": [hand_sample("base", n, value) for n, value in enumerate([10.0, 12.0, 14.0])],
        "other": [hand_sample("other", n, value) for n, value in enumerate([11.0, 13.0, 18.0])],
    }
    found = shortfalls(samples, "base", [Precision("wait_p95_h", 0.1, True)], 0.95)
    texts = {(one.strategy, one.difference): (one.half_width, one.allowed) for one in found}
    assert texts["base", False] == (pytest.approx(4.9683, abs=1e-4), pytest.approx(1.2))
    assert texts["other", True] == (pytest.approx(4.3027, abs=1e-4), pytest.approx(1.2))
    assert texts["other", False][1] == pytest.approx(1.4)
    assert shortfalls(samples, "base", [Precision("wait_p95_h", 10.0, False)], 0.95) == []


def hand_sample(name, number, wait):
    class One:
        strategy, replication, metrics = name, number, {"wait_p95_h": wait}

    return One()


def test_the_next_number_follows_the_square_of_the_excess():
    twice = [Shortfall("wait_p95_h", "a", False, 1.3, 1.0)]
    assert next_number(100, twice, 1000) == 169
    assert next_number(100, [Shortfall("wait_p95_h", "a", False, 9.0, 1.0)], 1000) == 200
    assert next_number(100, twice, 120) == 120
    assert next_number(100, [], 1000) == 100
    assert next_number(2, [Shortfall("wait_p95_h", "a", False, None, 0.0)], 1000) == 4


def test_until_stops_when_every_interval_is_narrow_enough():
    def make(strategy, shared, own):
        wait = 10.0 - 3 * strategy + shared + 0.2 * own
        return {"wait_p95_h": wait, "committed_cost_cny": 100.0, "jobs_refused": 0.0}

    found = compared(
        make,
        ("two", "four"),
        replications=5,
        until={"half_width": {"wait_p95_h": "2%", "committed_cost_cny": 1}},
    )
    # Standard deviation 1.02 and means 10 and 7: 2 % of 7 is 0.14, so about (1.96 x 1.02 / 0.14)^2 = 204.
    assert 120 <= found.replications <= 330
    for result in found.strategies:
        interval = result.metrics["wait_p95_h"]
        assert (interval.high - interval.low) / 2 <= 0.02 * interval.mean
    assert f"Stopped at {found.replications} replications: every half-width" in found.notes[0]


def test_until_stops_at_its_budget_and_says_what_is_too_wide():
    def make(strategy, shared, own):
        return {"wait_p95_h": 10.0 + own, "committed_cost_cny": 100.0, "jobs_refused": 0.0}

    found = compared(
        make, ("two", "four"), replications=5, until={"half_width": {"wait_p95_h": "0.1%"}, "most": 40}
    )
    assert found.replications == 40
    assert "Stopped at the budget of 40 replications; still too wide: " in found.notes[0]


def test_select_spends_replications_where_the_doubt_is():
    right, costs, waits, _, wait_sd = PLANTED["nearly the limit"]

    def make(strategy, shared, own):
        return {
            "committed_cost_cny": 1000 * costs[strategy],
            "wait_p95_h": waits[strategy] + wait_sd[strategy] * (0.8 * shared + 0.6 * own),
            "jobs_refused": 0.0,
        }

    names = tuple(f"fleet {number}" for number in range(len(costs)))
    found = compared(make, names, select={"target_zone": "10%", "most": 400})
    assert found.recommendation.strategy == names[right]
    counts = [result.metrics["wait_p95_h"].n for result in found.strategies]
    assert max(counts) == counts[1] or max(counts) == counts[2]
    assert counts[3:] == [10] * 5  # asleep while a cheaper one is in doubt
    assert sum(counts) == int(found.notes[0].split(" runs in all")[0].split()[-1])
    differences = {d.strategy: d.interval.n for d in found.differences if d.metric == "wait_p95_h"}
    assert differences[names[7]] == 10  # over the replications that both have


def test_select_through_the_engine_decides_as_many_replications_do():
    from sim.experiments.compare import compare

    fixed = compare(question("experiment.replications=60"))
    chosen = compare(question("experiment.select={most: 60}"))
    assert chosen.recommendation.strategy == fixed.recommendation.strategy


def test_one_rule_only():
    with pytest.raises(ValueError, match="stops by one rule"):
        Experiment.model_validate({"until": {"half_width": {"wait_p95_h": "5%"}}, "select": {}})


@pytest.mark.parametrize("width", ["0", "-5%", "5 per cent", "nan", ""])
def test_a_width_that_is_none(width):
    with pytest.raises(ValueError, match="a tolerance is a percentage such as 5%"):
        Experiment.model_validate({"until": {"half_width": {"wait_p95_h": width}}})


def test_an_unknown_metric_is_named():
    with pytest.raises(InputError, match=r"experiment\.until\.half_width: this is no metric .*'waits'"):
        compare_unknown()


def compare_unknown():
    from sim.experiments.compare import compare

    return compare(question("experiment.until={half_width: {waits: 5%}}"))


class TestCommand:
    @pytest.mark.usefixtures("no_charts")
    def test_until_select_and_their_limit(self, fleetsim, tmp_path):
        file = tmp_path / "small.yaml"
        file.write_text(TEXT)
        done = fleetsim("compare", file, "--select", "--most", "12", "--out", tmp_path / "out")
        assert done.code == 0
        assert "runs in all" in done.out
        narrow = fleetsim(
            "compare", file, "--until", "committed_cost_cny=50%", "--out", tmp_path / "out", "--jobs", "1"
        )
        assert narrow.code == 0
        assert "every half-width asked for is reached" in " ".join(narrow.out.split())

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                ("--until", "wait=5%"),
                "--until: the half-width of an interval is asked of a metric (found 'wait')",
            ),
            (("--until", "wait_p95_h=wide"), "a tolerance is a percentage such as 5%"),
            (("--until", "wait_p95_h=5%", "--select"), "an experiment stops by one rule"),
            (("--most", "50"), "--most: it is a limit for --until or --select"),
            (("--cluster", "nonsense"), "--cluster: no scheduler answers"),
        ],
    )
    def test_options_that_cannot_be(self, fleetsim, tmp_path, options, message):
        file = tmp_path / "small.yaml"
        file.write_text(TEXT)
        refused = fleetsim("compare", file, *options, "--out", tmp_path / "out")
        assert refused.code == 2
        assert message in " ".join(refused.err.split())
        assert not (tmp_path / "out").exists()
