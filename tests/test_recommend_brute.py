"""`recommend` on the shipped question of four cards or eight, against trying every fleet."""

from pathlib import Path

import pytest

from sim.experiments.candidates import candidates, space_of
from sim.experiments.compare import compare
from sim.experiments.runs import Places, Runs
from sim.experiments.search import Search
from sim.experiments.vault import Vault
from sim.load import load
from sim.model.experiment import Selection

FILE = Path(__file__).parents[1] / "scenarios" / "four-to-eight.yaml"


def searched(tmp_path, cards, *changes, rule=None, burst="as-is"):
    """What the search finds, what trying everything finds, and the runs that each asked for."""
    question = load(FILE, changes)
    plans, policies = ("monthly", "annual"), ("fifo", "easy")
    space = space_of(question, cards, plans=plans, policies=policies, burst=burst)
    asked, options = candidates(question, space)
    vault = Vault(tmp_path)  # plans of one fleet share their runs
    found = Search(Runs.of(asked, Places(vault=vault)), options, rule or Selection()).run()
    every = compare(asked, vault=vault)
    tried = len(options) * every.replications
    return found, every, tried


def test_a_month_of_it(tmp_path):
    changes, rule = ("horizon=30d", "experiment.replications=4"), Selection(most=12)
    found, every, tried = searched(tmp_path, (4, 6), *changes, rule=rule, burst="none")
    assert found.brute == tried == 2 * 2 * 2 * 4
    assert found.winner.name == every.recommendation.strategy


@pytest.mark.long
def test_the_whole_question(tmp_path):
    """104 options of 20 replications; the search needs 175 runs. Takes half an hour."""
    found, every, tried = searched(tmp_path, range(1, 13))
    assert found.brute == tried == 2080
    assert found.winner.name == every.recommendation.strategy == "6 x a100-40g-custom, annual, fifo"
    assert found.simulated <= tried / 3
    # Nothing that meets the target costs less, and what costs as much is the same fleet under EASY.
    meets = {
        one.name: round(one.mean("committed_cost_cny"), 2) for one in every.strategies if one.meets_target
    }
    cheapest = [name for name, cost in meets.items() if cost == min(meets.values())]
    assert cheapest == ["6 x a100-40g-custom, annual, fifo", "6 x a100-40g-custom, annual, easy"]
