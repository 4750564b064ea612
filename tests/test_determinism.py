"""The same seed gives the same bytes, twice and from any number of real worker processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.experiments import parallel
from sim.experiments.compare import compare
from sim.load import load

SCENARIO = Path(__file__).parents[1] / "scenarios" / "four-to-eight.yaml"
SHORT = ("horizon=20d", "experiment.warm_up=0s", "experiment.replications=4")


def test_one_worker_or_two_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SERIAL_BELOW_S", 0.0)  # two workers are used, however short the work
    question = load(SCENARIO, SHORT)
    texts = [json.dumps(compare(question, workers=workers).to_json()) for workers in (1, 2, 1)]
    assert texts[0] == texts[1] == texts[2]


def test_the_first_replications_of_more_are_the_same() -> None:
    few = compare(load(SCENARIO, (*SHORT, "experiment.replications=2")))
    many = compare(load(SCENARIO, SHORT))
    for short, long in zip(few.strategies, many.strategies, strict=True):
        assert short.values["wait_mean_h"] == long.values["wait_mean_h"][:2]
        assert len(set(long.values["wait_mean_h"])) == 4
