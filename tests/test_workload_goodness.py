"""Goodness: figures by pencil, waits by pencil, and the models of real traces against their records."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sim.experiments.model_waits import FACTOR, compare_waits, dealt_anew
from sim.experiments.replay import Replay, compared, replay_on_cards
from sim.experiments.waits import cards_for, wait_figures, waits_on
from sim.model.timed import TimedClass
from sim.report.plots_replay import render_replay
from sim.streams import Streams
from sim.workload.fit import fit_workload
from sim.workload.goodness import Line, Sample, goodness, sample_of
from sim.workload.record import Record, record_of

TRACES = Path(__file__).parents[2] / "shared" / "traces" / "philly"
START = datetime(2026, 1, 5)
HOUR, DAY = 3600.0, 86_400.0


def record(rows: list[tuple[float, int, float]], length_s: float, **columns: list) -> Record:
    frame = pd.DataFrame(rows, columns=["submit_s", "gpus", "runtime_s"])
    return record_of(frame.assign(**columns), START, length_s=length_s)


def lines(found: tuple[Line, ...], topic: str) -> Iterator[Line]:
    return (line for line in found if line.topic == topic)


STEADY = TimedClass.model_validate(
    {"name": "a", "rate": "48/day", "kinds": [{"share": 1, "gpus": 2, "runtime_s": 1800}]}
)


def test_figures_of_a_record_by_pencil() -> None:
    # 00:30 two cards for an hour; 00:45 one card for 15 min; 02:00 four cards past the end at 03:00
    rows = [(0.5 * HOUR, 2, HOUR), (0.75 * HOUR, 1, 900.0), (2 * HOUR, 4, 5 * HOUR)]
    found = goodness(record(rows, 3 * HOUR), [STEADY], draws=2)
    values = {(line.topic, line.at): line.record for line in found}
    assert [values["jobs", f"hour {hour}"] for hour in range(3)] == [2, 0, 1]
    assert [values["load", f"hour {h}"] for h in range(4)] == pytest.approx([2 * 0.5 + 0.25, 1, 4, 0])
    assert values["load", "on average"] == pytest.approx((1.25 + 1 + 4) / 3)
    assert values["run time", "50 %"] == 3600
    assert [values["cards", f"{n} cards"] for n in (1, 2, 4)] == pytest.approx([1 / 3] * 3)
    # counts in 10 min of 18 slots: 1, 1, 1 -> mean 1/6, variance 1/6 - 1/36
    assert values["dispersion", "10 min"] == pytest.approx((1 / 6 - 1 / 36) / (1 / 6))


def test_figures_of_a_model_in_closed_form() -> None:
    rows = [(1800.0 * i, 2, 1800.0) for i in range(48 * 28)]
    found = goodness(record(rows, 28 * DAY), [STEADY], draws=300)
    jobs = {line.at: line for line in lines(found, "jobs")}
    assert jobs["in all"].model == pytest.approx(48 * 28, abs=4 * jobs["in all"].error)
    assert jobs["in all"].error == pytest.approx((48 * 28 / 300) ** 0.5, rel=0.2)  # Poisson
    assert jobs["hour 7"].model == pytest.approx(56, rel=0.05)
    load = next(lines(found, "load"))
    assert (load.record, load.model) == pytest.approx((2, 2), rel=0.02)  # 2 an hour x 2 cards x 0.5 h
    dispersion = next(lines(found, "dispersion"))
    assert dispersion.record < 1  # a clockwork
    assert dispersion.model == pytest.approx(1, rel=0.02)
    run_times = list(lines(found, "run time"))
    assert [line.model for line in run_times] == pytest.approx([1800] * len(run_times), rel=0.006)


def test_waits_by_pencil() -> None:
    # two cards: 0-4 h on both; then one hour each, in order: waits 3, 2 and 2 h
    sample = Sample(np.array([0, 1, 2, 3.0]) * HOUR, np.array([2, 1, 1, 1]), np.array([4, 1, 1, 1.0]) * HOUR)
    hours = waits_on(sample, 2)
    assert hours.tolist() == [0, 3, 2, 2]
    figures = wait_figures(hours)
    assert (figures.mean_h, figures.waited) == (1.75, 0.75)
    assert figures.p95_h == pytest.approx(np.quantile([0, 3, 2, 2], 0.95))


def test_cards_for_a_load() -> None:
    assert cards_for(4.9, 0.65, 1) == 8
    assert cards_for(4.9, 0.65, 16) == 16


def test_run_times_dealt_anew_stay_among_jobs_of_as_many_cards() -> None:
    sample = Sample(np.arange(100.0), np.repeat([1, 8], 50), np.arange(100.0) + 1)
    dealt = dealt_anew(sample, Streams(1))
    assert sorted(dealt.runtime_s[:50]) == list(range(1, 51))
    assert sorted(dealt.runtime_s[50:]) == list(range(51, 101))
    assert dealt.runtime_s.tolist() != sample.runtime_s.tolist()


def test_a_replay_on_the_recorded_fleet_repeats_its_waits() -> None:
    draws = np.random.default_rng(3)
    submit = np.sort(draws.uniform(0, 20 * DAY, 900))
    rows = [(float(s), 1, float(r)) for s, r in zip(submit, draws.exponential(5 * HOUR, 900), strict=True)]
    truth = waits_on(sample_of(record(rows, 20 * DAY)), 10) * HOUR
    assert truth.max() > 0
    past = record(rows, 20 * DAY, wait_s=truth.tolist())
    same = compared(replay_on_cards(past, 10, "fifo"))
    assert same is not None
    assert (same.kolmogorov_smirnov, same.wasserstein_h) == pytest.approx((0, 0), abs=1e-9)
    assert same.spearman == pytest.approx(1)
    fewer = compared(replay_on_cards(past, 9, "fifo"))
    assert fewer is not None
    assert fewer.wasserstein_h > 0.1
    assert fewer.mean_simulated_h > same.mean_simulated_h


def test_distances_of_waits_by_pencil() -> None:
    # two of four jobs wait an hour longer than recorded: shares differ by a half, the mean shift is 0.5 h
    replay = Replay("f", np.arange(5.0), np.array([0, 0, 1, 1, 7.0]), np.array([0, 0, 0, 0, np.nan]))
    found = compared(replay)
    assert found is not None
    assert found.jobs == 4
    assert (found.kolmogorov_smirnov, found.wasserstein_h) == pytest.approx((0.5, 0.5))
    assert found.spearman is None
    charts = render_replay(replay)
    assert set(charts) == {"waits.png", "waits-over-time.png"}
    assert all(picture.startswith(b"\x89PNG") for picture in charts.values())


def test_without_recorded_waits_there_is_no_distance() -> None:
    replay = Replay("f", np.array([0.0, 1]), np.array([0.0, 1]), np.array([np.nan, np.nan]))
    assert compared(replay) is None
    assert render_replay(replay)


def philly(name: str) -> Record:
    frame = pd.read_csv(TRACES / name, parse_dates=["submit_time"])
    begin = frame["submit_time"].min()
    columns = {
        "submit_s": (frame["submit_time"] - begin).dt.total_seconds(),
        "gpus": frame["num_gpus"],
        "runtime_s": frame["duration_s"],
        "team": frame["vc"],
    }
    return record_of(pd.DataFrame(columns), begin.to_pydatetime())


real = pytest.mark.skipif(not TRACES.is_dir(), reason="the traces are not beside the project")


def hold(found: tuple[Line, ...], jobs: int) -> None:
    """The bars: counts by hour, run times and cards within 10 %, variance to mean of counts within 25 %.

    Hours with less than one job in a hundred are passed over; the random error of the draws is allowed.
    """
    for line in lines(found, "jobs"):
        if line.record >= 0.01 * jobs:
            assert abs(line.model - line.record) <= 0.1 * line.record + 2 * line.error, line
    for topic in ("run time", "cards"):
        for line in lines(found, topic):
            assert line.model == pytest.approx(line.record, rel=0.1), line
    ten_minutes = next(lines(found, "dispersion"))
    assert ten_minutes.model == pytest.approx(ten_minutes.record, rel=0.25)


@real
def test_the_model_of_one_team_repeats_its_record_and_its_waits() -> None:
    team = philly("philly_vc_ed69ec.csv")
    classes = fit_workload(team).timed
    hold(goodness(team, classes, draws=150), len(team))
    waits = compare_waits(team, classes, draws=100)
    assert (waits.cards, waits.record.jobs) == (8, 1137)
    assert 0.6 < waits.load < 0.7
    assert waits.like is not None
    assert waits.repeated, (waits.factors, FACTOR)
    assert waits.within_range == (True, True)


@real
def test_the_model_of_a_whole_cluster_repeats_its_record() -> None:
    cluster = philly("philly_all_82k.csv.gz")
    assert len(cluster) == 82_247
    found = goodness(cluster, fit_workload(cluster).timed, draws=16)
    hold(found, len(cluster))
