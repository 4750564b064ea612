"""`fleetsim workload fit`, `check` and `replay`: documents, texts, files and messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sim.load import load
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture(scope="module")
def jobs_text() -> str:
    draws = np.random.default_rng(11)
    submit = np.sort(draws.uniform(0, 28 * 86_400, 400)).round(1)
    runtime = np.exp(8 + draws.standard_normal(400)).round(1)
    wait = draws.exponential(60, 400).round(1)
    rows = zip(submit.tolist(), runtime.tolist(), wait.tolist(), strict=True)
    lines = [
        f"{s},{1 + (n % 10 == 0)},{r},{w},{'red' if n % 3 else 'blue'},COMPLETED"
        for n, (s, r, w) in enumerate(rows)
    ]
    return "submit_s,gpus,runtime_s,wait_s,team,state\n" + "\n".join(lines) + "\n"


@pytest.fixture
def jobs(tmp_path: Path, jobs_text: str, fleetsim: Command) -> Path:
    (tmp_path / "jobs.csv").write_text(jobs_text)
    out = tmp_path / "jobs.parquet"
    done = fleetsim("workload", "import", tmp_path / "jobs.csv", "-o", out)
    assert done.code == 0, done.err
    return out


def test_fit_writes_a_scenario_that_runs(fleetsim: Command, jobs: Path) -> None:
    out = jobs.with_name("w.yaml")
    done = fleetsim("workload", "fit", jobs, "-o", out, "--start", "2026-03-02", "--format", "json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert (document["jobs"], document["left_out"], document["cut"]) == (400, 0, 0)
    assert {one["name"]: one["jobs"] for one in document["classes"]} == {"red": 266, "blue": 134}
    assert document["out"] == str(out)
    scenario = load(out).scenario
    assert scenario.start.isoformat() == "2026-03-02T00:00:00"
    assert [one.team for one in scenario.workload.timed] == ["red", "blue"]
    assert fleetsim("validate", out).code == 0


def test_fit_says_what_it_found(fleetsim: Command, jobs: Path) -> None:
    done = fleetsim("workload", "fit", jobs, "--one-class")
    assert done.code == 0
    assert "400 jobs in 27.9 days" in done.out
    assert "all" in done.out


def test_check_holds_the_model_against_the_record(fleetsim: Command, jobs: Path) -> None:
    out = jobs.with_name("w.yaml")
    assert fleetsim("workload", "fit", jobs, "-o", out).code == 0
    more = ("--model", out, "--draws", 8, "--cards", 3)
    done = fleetsim("workload", "check", jobs, *more, "--format", "json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    figures = {(line["topic"], line["at"]): line for line in document["figures"]}
    assert figures["jobs", "in all"]["record"] == 400
    assert figures["jobs", "in all"]["low"] < 400 < figures["jobs", "in all"]["high"]
    assert figures["cards", "2 cards"]["record"] == pytest.approx(0.1)
    assert figures["cards", "2 cards"]["off"] == pytest.approx(0, abs=0.01)
    assert document["waits"]["cards"] == 3
    assert document["waits"]["record"]["jobs"] == 400
    assert document["waits"]["every"]["draws"] == 8
    text = fleetsim("workload", "check", jobs, *more)
    assert text.code == 0
    for title in ("Jobs by hour of the day", "Run times", "Variance to mean", "Waits on 3 cards"):
        assert title in text.out
    shown = re.search(r"model, all draws +8 +([\d.]+) +([\d.]+) - ([\d.]+)", text.out)
    assert shown is not None
    every = document["waits"]["every"]  # of another run: the same draws
    assert shown.groups() == tuple(f"{every[key]:.3g}" for key in ("mean_h", "mean_low_h", "mean_high_h"))


def test_replay_shows_recorded_waits_beside_simulated_ones(fleetsim: Command, jobs: Path) -> None:
    charts = jobs.with_name("charts")
    done = fleetsim("workload", "replay", jobs, "--cards", 2, "-o", charts, "--format", "json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["jobs_with_recorded_wait"] == 400
    assert document["distance"]["mean_recorded_h"] == pytest.approx(60 / 3600, rel=0.2)
    assert document["distance"]["mean_simulated_h"] == pytest.approx(document["simulated_h"]["mean"])
    assert 0 < document["distance"]["kolmogorov_smirnov"] <= 1
    assert sorted(path.name for path in charts.iterdir()) == ["waits-over-time.png", "waits.png"]


def test_replay_on_a_fleet_of_a_scenario(fleetsim: Command, jobs: Path) -> None:
    file = jobs.with_name("s.yaml")
    file.write_text(
        "name: t\nstart: 2026-03-02\nhorizon: 60d\nworkload: {trace: {file: jobs.parquet}}\n"
        "reliability: {profile: none}\nstrategies:\n"
        "  - {name: two, leases: [{offer: a100-40g-8x, count: 1, plan: monthly}]}\n"
    )
    done = fleetsim("workload", "replay", jobs, "--scenario", file, "--format", "json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert (document["fleet"], document["jobs"], document["jobs_with_recorded_wait"]) == ("two", 400, 400)


def test_replay_says_what_it_passes_over_and_why(fleetsim: Command, tmp_path: Path) -> None:
    rows = ["0,1,60", "10,0,60", "20,1,0", "30,1,", "40,1,60", "90,1,60", "95,1,60"]
    (tmp_path / "some.csv").write_text("submit_s,gpus,runtime_s\n" + "\n".join(rows) + "\n")
    asked = ("workload", "replay", tmp_path / "some.csv", "--cards", "2", "--until", "50s")
    document = json.loads(fleetsim(*asked, "--format", "json").out)
    assert document["jobs"] == 2
    assert document["passed_over"] == {
        "asks for no card": 1,
        "ran for 0 s": 1,
        "never started: no run time": 1,
        "submitted outside of --since and --until": 2,
    }
    text = " ".join(fleetsim(*asked).out.split())
    assert "2 jobs on 2 cards, fifo" in text
    assert "Passed over, of 7 rows of the file: " in text
    assert "2 submitted outside of --since and --until" in text
    one = fleetsim("workload", "replay", tmp_path / "some.csv", "--cards", "2", "--until", "5s")
    assert "1 job on 2 cards" in one.out


def test_a_replay_of_a_scenario_counts_what_its_horizon_cuts(fleetsim: Command, jobs: Path) -> None:
    file = jobs.with_name("s.yaml")
    file.write_text(
        "name: t\nstart: 2026-03-02\nhorizon: 10d\nworkload: {trace: {file: jobs.parquet}}\n"
        "reliability: {profile: none}\nstrategies:\n"
        "  - {name: two, leases: [{offer: a100-40g-8x, count: 1, plan: monthly}]}\n"
    )
    done = fleetsim("workload", "replay", jobs, "--scenario", file, "--format", "json")
    document = json.loads(done.out)
    assert 50 < document["jobs"] < 400
    (reason,) = document["passed_over"]
    assert reason.startswith("beyond the horizon")
    assert document["passed_over"][reason] == 400 - document["jobs"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "JOBS", "-o", "w.txt"), "the ending of the file's name"),
        (("fit", "JOBS", "--start", "yesterday"), "must be a local date or time"),
        (("fit", "JOBS", "--timezone", "Mars/Base"), "unknown time zone"),
        (("fit", "JOBS", "--since", "40d"), "no job of the record is submitted in this window"),
        (("fit", "JOBS", "--since", "soon"), "--since"),
        (("fit", "none.parquet"), "none.parquet"),
        (("check", "JOBS", "--model", "none.yaml"), "there is no such file"),
        (("check", "JOBS", "--model", "MODEL", "--policy", "luck"), "unknown queue policy"),
        (("check", "JOBS", "--model", "MODEL", "--cards", "1"), "the widest job needs 2 cards"),
        (("check", "JOBS", "--model", "CLASSES"), "no timed classes"),
        (("check", "JOBS", "--model", "LOOP"), "a loop cannot be held against a record"),
        (("replay", "JOBS"), "either --cards, or --scenario"),
        (("replay", "JOBS", "--cards", "1"), "the widest job needs 2 cards"),
        (("replay", "JOBS", "--scenario", "MODEL"), "the scenario replays no trace"),
    ],
)
def test_wrong_input_is_told_and_nothing_is_written(
    fleetsim: Command, jobs: Path, arguments: tuple[str, ...], message: str
) -> None:
    model, classes = jobs.with_name("w.yaml"), jobs.with_name("c.yaml")
    if "MODEL" in arguments:
        assert fleetsim("workload", "fit", jobs, "-o", model).code == 0
    classes.write_text(
        "name: t\nstart: 2026-01-01\nhorizon: 1d\nworkload: {classes: [{name: a, model: qwen-7b, "
        "method: lora, samples: 10, rate: 1/day}]}\nstrategies:\n"
        "  - {name: a, leases: [{offer: a100-40g-custom, plan: monthly}]}\n"
    )
    loop = jobs.with_name("l.yaml")
    loop.write_text(
        "name: t\nstart: 2026-01-01\nhorizon: 1d\nworkload: {timed: [{name: a, loop: {people: 2, think_s: "
        "600}, kinds: [{share: 1, runtime_s: 60}]}]}\nstrategies:\n"
        "  - {name: a, leases: [{offer: a100-40g-custom, plan: monthly}]}\n"
    )
    before = sorted(jobs.parent.iterdir())
    names = {"LOOP": loop, "JOBS": jobs, "MODEL": model, "CLASSES": classes, "w.txt": jobs.with_name("w.txt")}
    names |= {"none.parquet": jobs.with_name("none.parquet"), "none.yaml": jobs.with_name("none.yaml")}
    done = fleetsim("workload", *(names.get(one, one) for one in arguments))
    assert done.code == 2, done.out + done.err
    assert message in done.err
    assert "Traceback" not in done.err
    assert sorted(jobs.parent.iterdir()) == before
