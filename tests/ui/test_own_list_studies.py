"""Studies of a question with a price list of its own are found again, and not after a price has changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.load import load
from sim.ui.studies import latest
from tests.conftest import Outcome
from tests.price_lists import QUOTE

Command = Callable[..., Outcome]

QUESTION = """\
name: own list
start: 2026-01-05
horizon: 14d
catalog: prices/mine.yaml
workload: {trace: {file: jobs.csv, runtime_gpu: A100-40G}}
reliability: {profile: none}
target: {wait_p95: 6h}
strategies:
  - {name: one, leases: [{offer: mine, count: 1, plan: monthly}]}
  - {name: two, leases: [{offer: mine, count: 2, plan: monthly}]}
experiment: {replications: 2, seed: 1}
"""
JOBS = "id,submit_s,gpus,runtime_s\n" + "".join(f"{i},{i * 7200},1,7000\n" for i in range(40))
STUDIES = {
    "recommend": ["recommend", "--cards", "1..2", "--most", "10"],
    "stepup": ["stepup", "--most", "10"],
    "sensitivity": ["sensitivity", "--replications", "1", "--range", "demand=0.9..1.1"],
    "sweep": ["sweep", "--vary", "target.wait_p95=4h,6h", "--replications", "1"],
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The question beside its list and its jobs, written a while ago."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios" / "prices").mkdir(parents=True)
    _price(1000)
    question = Path("scenarios/own.yaml")
    (tmp_path / "scenarios" / "jobs.csv").write_text(JOBS)
    question.write_text(QUESTION)
    os.utime(question, (1e9, 1e9))
    return question


def _price(price: int) -> None:
    offer = QUOTE.format(
        id="mine", unit="month", price=price, currency="CNY", plans="{monthly: {multiplier: 1}}"
    )
    Path("scenarios/prices/mine.yaml").write_text(f"offers:\n{offer}")


@pytest.mark.parametrize("command", list(STUDIES))
def test_a_study_is_found_until_a_price_changes(command: str, file: Path, fleetsim: Command) -> None:
    assert latest(file, load(file), command) is None
    name, *words = STUDIES[command]
    done = fleetsim(name, str(file), *words, "--jobs", "1")
    assert done.code == 0, done.err
    found = latest(file, load(file), command)
    assert found is not None
    assert found.name.startswith("own-list/")
    _price(1001)
    assert latest(file, load(file), command) is None
    _price(1000)
    assert latest(file, load(file), command) is not None
