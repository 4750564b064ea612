"""The page `timeline`: its bars by pencil and against the metrics, its thinning, its choices."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from sim.ui.jobs import jobs
from sim.ui.language import catalogue
from sim.ui.timeline_charts import Window, failure_table, gantt, gantt_table
from sim.ui.timeline_data import MOST_BARS, STATES, Trace, binned, level, read_trace, thinned
from sim.ui.timeline_page import _csv
from tests.conftest import Outcome

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "sim" / "ui" / "scripts" / "timeline.py")


def test_two_jobs_on_one_card_by_pencil(two_jobs: Path, fleetsim: Callable[..., Outcome]) -> None:
    file = two_jobs.with_name("events.parquet")
    told = fleetsim("run", two_jobs, "--strategy", "one card, annual", "--events", file)
    assert told.code == 0, told.err
    trace = read_trace(file)
    assert trace.cards == (("a100-40g-custom", False, 0),)
    assert (trace.end_h, trace.jobs) == (720.0, 2)
    shown = trace.bars[["state", "begin", "end"]].values.tolist()
    # Recorded jobs have no start-up of their own: work from 0 to 1 h, from 1 to 2 h, then nothing.
    assert shown == [["work", 0.0, 1.0], ["work", 1.0, 2.0], ["free", 2.0, 720.0]]
    assert trace.bars["name"].tolist()[:2] == ["a", "b"]
    # b waits from 0 to 1 h.
    assert trace.waiting.values.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert trace.burst.empty
    assert trace.failures.empty


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, dict[str, float]]:
    """Sixty days with failures and cards by the hour, and the metrics of that run."""
    from sim.experiments.events import Events, write_events
    from sim.load import load
    from sim.replication import prepare, replicate

    changes = ["horizon=60d", "experiment.warm_up=0d", "reliability.profile=used"]
    question = load(ROOT / "scenarios" / "four-to-eight.yaml", changes)
    names = [strategy.name for strategy in question.scenario.strategies]
    result = replicate(prepare(question), names.index("4 custom cards, annual, MIG burst"), 1, None)
    file = tmp_path_factory.mktemp("trace") / "events.parquet"
    write_events(Events(result, question.scenario), file)
    return read_trace(file), {name: value for name, value in result.metrics.items() if value is not None}


def test_bars_sum_to_the_metrics(rich: tuple[Trace, dict[str, float]]) -> None:
    trace, metrics = rich
    bars = trace.bars
    hours = ((bars["end"] - bars["begin"]) * bars["height"]).groupby(bars["state"]).sum()
    assert metrics["failures"] > 0
    assert metrics["burst_gpu_h"] > 0
    assert metrics["lost_gpu_h"] > 0
    for state, metric in (("free", "idle"), ("down", "down"), ("lost", "lost"), ("start", "startup")):
        assert hours.get(state, 0.0) == pytest.approx(metrics[f"{metric}_gpu_h"], rel=1e-9), state
    busy = hours["work"] + hours["start"] + hours["lost"]
    assert busy == pytest.approx(metrics["busy_gpu_h"], rel=1e-9)
    assert len(trace.failures) >= metrics["failures"]  # that of a machine stands at each of its cards


def test_the_queue_and_the_hourly_cards_are_those_of_the_metrics(
    rich: tuple[Trace, dict[str, float]],
) -> None:
    trace, metrics = rich

    def area(steps: pd.DataFrame) -> float:
        return float((steps["number"] * np.diff([*steps["at"], trace.end_h])).sum())

    assert area(trace.waiting) / trace.end_h == pytest.approx(metrics["queue_mean"], rel=1e-9)
    assert area(trace.burst) == pytest.approx(metrics["burst_gpu_h"], rel=1e-9)
    assert trace.waiting["number"].min() == 0


def test_shares_of_time_lose_nothing(rich: tuple[Trace, dict[str, float]]) -> None:
    trace, _ = rich
    rows = list(range(len(trace.cards)))
    whole = binned(trace.bars, rows, 0.0, trace.end_h, 37)
    exact = (trace.bars["end"] - trace.bars["begin"]) * trace.bars["height"]
    for state in STATES:
        drawn = (whole["end"] - whole["begin"])[whole["state"] == state].sum()
        assert drawn == pytest.approx(exact[trace.bars["state"] == state].sum(), rel=1e-9, abs=1e-9)
    # Nothing is drawn outside of its part, and no two blocks of a card lie over each other.
    assert (whole["end"] <= whole["part_end"] + 1e-6).all()
    own = whole[whole["row"] == 0].sort_values("begin")
    assert (own["begin"].to_numpy()[1:] >= own["end"].to_numpy()[:-1] - 1e-6).all()
    # A window that cuts bars counts the part of them inside.
    part = binned(trace.bars, [0], 10.0, 20.0, 1)
    ours = trace.bars[(trace.bars["row"] == 0)]
    inside = (ours["end"].clip(upper=20.0) - ours["begin"].clip(lower=10.0)).clip(lower=0)
    assert (part["end"] - part["begin"]).sum() == pytest.approx(inside.sum(), rel=1e-9)


def test_a_level_by_pencil() -> None:
    found = level(np.array([0.0, 1.0, 1.0]), np.array([2.0, 3.0, 1.5]))
    assert found.values.tolist() == [[0.0, 1.0], [1.0, 3.0], [1.5, 2.0], [2.0, 1.0], [3.0, 0.0]]
    # One that ends as another begins changes nothing.
    assert level(np.array([0.0, 1.0]), np.array([1.0, 2.0])).values.tolist() == [[0.0, 1.0], [2.0, 0.0]]


def test_thinned_steps_keep_every_peak() -> None:
    rng = np.random.default_rng(5)
    begins = np.sort(rng.uniform(0, 1000, 5000))
    steps = level(begins, begins + rng.exponential(3, 5000))
    few, cut = thinned(steps, 100.0, 900.0, 50)
    assert cut
    assert len(few) == 51
    for position in range(50):
        begin = 100 + 16 * position
        standing = steps[steps["at"] <= begin]["number"].iloc[-1]
        inside = steps[(steps["at"] > begin) & (steps["at"] < begin + 16)]["number"].max()
        assert few["number"].iloc[position] == max(standing, inside)
    all_of_them, cut = thinned(steps, 100.0, 101.0, 600)
    assert not cut
    assert all_of_them["at"].iloc[0] == 100.0
    assert all_of_them["number"].iloc[0] == steps[steps["at"] <= 100]["number"].iloc[-1]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, list[tuple[float, bool, str]]]:
    """Cards of one offer both leased and by the hour, which fail often; each failure as the engine has it."""
    from sim.experiments.events import Events, write_events
    from sim.load import load
    from sim.replication import prepare, replicate

    strategy = 3  # four custom cards, and slices of an H100 by the hour
    changes = ["horizon=120d", "experiment.warm_up=0d", "reliability.profile=used"]
    changes += [f"reliability.{key}=20d" for key in ("gpu_fatal", "gpu_reset", "node")]
    lease = f"strategies.{strategy}.leases.0"
    changes += [f"{lease}.offer=h100-mig", f"{lease}.plan=hourly", f"{lease}.count=2"]
    question = load(ROOT / "scenarios" / "four-to-eight.yaml", changes)
    assert question.scenario.strategies[strategy].burst is not None
    result = replicate(prepare(question), strategy, 0, None)
    file = tmp_path_factory.mktemp("broken") / "events.parquet"
    write_events(Events(result, question.scenario), file)
    told = [(one.at_us / 3.6e9, one.burst, one.kind) for one in result.log.failures]
    return read_trace(file), sorted(told)


def test_failures_stand_at_leased_or_hourly_cards_as_the_engine_says(
    broken: tuple[Trace, list[tuple[float, bool, str]]],
) -> None:
    trace, told = broken
    assert {hourly for _, hourly, _ in told} == {False, True}
    # Both kinds count their cards from 0: number and offer alone do not tell them apart.
    assert {("h100-mig", False, 0), ("h100-mig", True, 0)} <= set(trace.cards)
    found = zip(trace.failures["at"], trace.failures["hourly"], trace.failures["cause"], strict=True)
    assert sorted({(at, bool(hourly), str(cause)) for at, hourly, cause in found}) == told
    for row, hourly in zip(trace.failures["row"], trace.failures["hourly"], strict=True):
        assert trace.cards[row][1] == hourly


@pytest.mark.parametrize("both", [True, False])
def test_failures_are_told_apart_by_shape_colour_and_words(
    broken: tuple[Trace, list[tuple[float, bool, str]]], both: bool
) -> None:
    trace, _ = broken
    window = Window(datetime(2026, 1, 1), 0.0, trace.end_h)
    rows = [row for row, card in enumerate(trace.cards) if both or not card[1]]
    table, _ = gantt_table(trace, rows, window)
    spec = gantt(trace, table, rows, window).to_dict()
    marks = [layer for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    names = ["Failure, leased card", "Failure, card by the hour"][: len(marks)]
    assert len(marks) == (2 if both else 1)
    for mark in marks:
        for channel in ("shape", "fill"):
            scale = mark["encoding"][channel]["scale"]
            assert scale["domain"] == names
            assert len(set(scale["range"])) == len(names)
        assert "kind" in [one["field"] for one in mark["encoding"]["tooltip"]]
    csv = _csv(table, failure_table(trace, rows, window))
    of_state = csv["State"].value_counts()
    assert of_state["Failure, leased card"] == (~trace.failures["hourly"].astype(bool)).sum()
    assert of_state.get("Failure, card by the hour", 0) == (trace.failures["hourly"].sum() if both else 0)


def test_the_page_makes_the_run_and_draws_it(two_jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = two_jobs.parent / "scenarios"
    folder.mkdir()
    for file in (two_jobs, two_jobs.with_name("two.csv")):
        file.rename(folder / file.name)
    monkeypatch.chdir(two_jobs.parent)
    page = AppTest.from_file(SCRIPT, default_timeout=60)
    page.query_params["question"], page.query_params["lang"] = "two", "zh"
    page.run()
    assert not page.exception
    texts = catalogue("zh")
    assert page.title[0].value == texts["timeline.title"]
    job = jobs().get(page.query_params["job"])
    assert job is not None
    assert job.run.wait(120)
    assert job.run.state == "done", job.run.message
    page.run()
    assert not page.exception
    assert "job" not in page.query_params
    charts = page.get("vega_lite_chart")
    assert len(charts) == 2  # cards and queue; nothing is rented by the hour
    assert texts["timeline.state_work"] in json.dumps(json.loads(charts[0].proto.spec), ensure_ascii=False)
    # Another strategy is another run.
    page.selectbox[0].select("two cards, monthly").run()
    other = jobs().get(page.query_params["job"])
    assert other is not None
    assert "two cards, monthly" in other.run.command
    other.run.cancel()
    assert other.run.wait(30)


def test_ten_thousand_jobs_are_thinned_in_a_second() -> None:
    rng = np.random.default_rng(1)
    parts = []
    for row in range(8):
        edges = np.sort(rng.uniform(0, 8760, 2501))
        states = np.where(np.arange(2500) % 2 == 0, "work", "free")
        parts.append(pd.DataFrame({"row": row, "begin": edges[:-1], "end": edges[1:], "state": states}))
    bars = pd.concat(parts, ignore_index=True).assign(height=1.0)
    assert (bars["state"] == "work").sum() == 10_000
    began = time.process_time()
    found = binned(bars, range(8), 0.0, 8760.0, MOST_BARS // 24)
    assert time.process_time() - began < 1.5
    assert len(found) <= 2 * MOST_BARS
