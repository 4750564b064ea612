"""A workload learned from jobs that were drawn from a known one, and its way through a scenario file."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from sim.errors import InputError
from sim.load import load_text
from sim.model.timed import ArrivalProfile, TimedClass
from sim.streams import Streams
from sim.units import parse_rate
from sim.workload.arrivals import make_clock
from sim.workload.fit import ClassFit, fit_workload
from sim.workload.fit_arrivals import batches_of, fit_arrivals
from sim.workload.fit_text import remarks, scenario_text
from sim.workload.record import Record, record_of
from sim.workload.timed import draw_timed

START = datetime(2026, 1, 5)  # a Monday
HOUR, DAY = 3600.0, 86_400.0
HOURLY = [0.2] * 8 + [2.0] * 10 + [0.6] * 6
WEEKLY = [1.2, 1.2, 1.2, 1.2, 1.2, 0.5, 0.5]
TRUE = TimedClass.model_validate(
    {
        "name": "team",
        "team": "team",
        "rate": "30/day",
        "profile": {"hourly": HOURLY, "weekly": WEEKLY},
        "busy": {"week": 0.3, "day": 0.4, "hour": 0.5},
        "batch_size": {"choice": {"values": [1, 2, 5, 10], "weights": [10, 5, 3, 2]}},
        "gap_s": {"uniform": {"low": 2, "high": 20}},
        "alike": {"kind": 0.8, "runtime": 0.6, "next": 0.4, "size": -0.4, "gap": 0.3},
        "kinds": [
            {"share": 8, "gpus": 1, "runtime_s": {"lognormal": {"median": 900, "sigma": 1.5}}},
            {
                "share": 2,
                "gpus": 4,
                "runtime_s": {"lognormal": {"median": 9000, "sigma": 0.8}},
                "state": "failed",
            },
        ],
    }
)


def drawn(one: TimedClass, days: float, seed: int = 3) -> pd.DataFrame:
    """Jobs of a class from 5 January 2026 on, UTC."""
    length = round(days * DAY * 1e6)
    clock = make_clock(pd.Timestamp(START, tz="UTC").to_pydatetime(), length, pd.Timestamp(0, tz="UTC").tz)
    found = draw_timed(one, clock, length, Streams(seed))
    kinds = [one.kinds[kind] for kind in found.kind.tolist()]
    return pd.DataFrame(
        {
            "submit_s": found.submit_us / 1e6,
            "gpus": [kind.gpus for kind in kinds],
            "runtime_s": found.runtime_us / 1e6,
            "state": [kind.state for kind in kinds],
            "team": one.team,
        }
    )


@pytest.fixture(scope="module")
def learned() -> ClassFit:
    (found,) = fit_workload(record_of(drawn(TRUE, 728), START, length_s=728 * DAY)).classes
    return found


def test_the_rate_and_the_batches_are_found_again(learned: ClassFit) -> None:
    assert parse_rate(learned.timed.rate or "") == pytest.approx(parse_rate("30/day"), rel=0.1)
    assert learned.arrivals.window_s == 30  # gaps are at most 20 s
    sizes = learned.timed.batch_size.choice  # type: ignore[union-attr]
    weights = np.array(sizes.weights) / sum(sizes.weights)
    # two batches may meet, so a few sizes are sums; nearly all are those of the model
    known = dict(zip(sizes.values, weights.tolist(), strict=True))
    assert [known[size] for size in (1, 2, 5, 10)] == pytest.approx([0.5, 0.25, 0.15, 0.1], abs=0.03)


def test_hours_and_weekdays_are_found_again(learned: ClassFit) -> None:
    profile = learned.timed.profile
    assert isinstance(profile, ArrivalProfile)
    true = ArrivalProfile(hourly=tuple(HOURLY), weekly=tuple(WEEKLY)).hours
    assert np.array(profile.hours) == pytest.approx(np.array(true), rel=0.5, abs=0.12)
    assert np.corrcoef(profile.hours, true)[0, 1] > 0.97
    assert learned.arrivals.profile_form == "24 hours x 7 weekdays"


def test_busy_times_are_found_again(learned: ClassFit) -> None:
    busy = learned.timed.busy
    assert (busy.week, busy.day, busy.hour) == pytest.approx((0.3, 0.4, 0.5), abs=0.12)


def test_likeness_is_found_again(learned: ClassFit) -> None:
    alike = learned.timed.alike
    found = (alike.kind, alike.runtime, alike.next, alike.size, alike.gap)
    assert found == pytest.approx((0.8, 0.6, 0.4, -0.4, 0.3), abs=0.08)
    assert alike.day < 0.06
    assert abs(alike.gap_size) < 0.1


def test_cards_states_and_run_times_are_found_again(learned: ClassFit) -> None:
    one, four = learned.timed.kinds
    assert (one.gpus, one.state, four.gpus, four.state) == (1, "done", 4, "failed")
    assert one.share / (one.share + four.share) == pytest.approx(0.8, abs=0.02)
    assert [fit.form for fit in learned.runtimes] == ["1 log-normal", "1 log-normal"]
    for kind, median, sigma in ((one, 900, 1.5), (four, 9000, 0.8)):
        (part,) = kind.runtime_s.mixture.components  # type: ignore[union-attr]
        assert math.log(part.median / median) == pytest.approx(0, abs=0.15)
        assert part.sigma == pytest.approx(sigma, rel=0.07)


def test_the_written_scenario_loads_to_the_same_classes(learned: ClassFit) -> None:
    record = record_of(drawn(TRUE, 60), START, length_s=60 * DAY)
    found = fit_workload(record)
    text = scenario_text(found, "jobs.parquet")
    question = load_text(text)
    assert question.scenario.workload.timed == found.timed
    assert question.scenario.start == START
    assert max(len(line) for line in text.splitlines()) <= 115
    assert "jobs.parquet" in text


def test_people_may_change_the_file() -> None:
    text = scenario_text(fit_workload(record_of(drawn(TRUE, 60), START)), "j")
    changed = load_text(text, ["workload.timed.0.rate=5/day", "workload.timed.0.kinds.0.gpus=2"])
    assert changed.scenario.workload.timed[0].rate == "5/day"
    assert changed.scenario.workload.timed[0].kinds[0].gpus == 2


def frame(rows: list[tuple], columns: str = "submit_s gpus runtime_s team") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


def test_teams_have_classes_of_their_own_and_small_ones_share_one() -> None:
    rows = [(60.0 * i, 1, 100 + i, "large") for i in range(150)]
    rows += [(61.0 * i, 2, 50 + i, f"small-{i % 5}") for i in range(100)]
    found = fit_workload(record_of(frame(rows), START))
    assert [(one.timed.name, one.timed.team, one.jobs) for one in found.classes] == [
        ("large", "large", 150),
        ("others", "", 100),
    ]
    (together,) = fit_workload(record_of(frame(rows), START), by_team=False).classes
    assert (together.timed.name, together.jobs) == ("all", 250)


def test_sweeps_have_a_class_of_their_own() -> None:
    """A batch of 40 short jobs each morning, and a long job every hour."""
    rows = [(DAY * day + 9 * HOUR + n, 1, 60.0 + n, "t") for day in range(60) for n in range(40)]
    rows += [(HOUR * hour + 1800, 2, 7200.0 + hour, "t") for hour in range(60 * 24)]
    found = fit_workload(record_of(frame(rows), START, length_s=60 * DAY))
    single, sweeps = found.timed
    assert (single.name, sweeps.name, single.team, sweeps.team) == ("t", "t, sweeps", "t", "t")
    assert sweeps.batch_size.choice.values == (40,)  # type: ignore[union-attr]
    assert [one.kinds[0].gpus for one in found.timed] == [2, 1]
    assert parse_rate(sweeps.rate or "") == pytest.approx(parse_rate("40/day"))
    assert load_text(scenario_text(found, "j")).scenario.workload.timed == found.timed


def test_a_record_of_one_job_is_a_workload() -> None:
    found = fit_workload(record_of(frame([(5.0, 3, 70.0, "x")]), START, length_s=DAY))
    (one,) = found.timed
    assert (one.kinds[0].gpus, one.rate) == (3, "1/day")
    assert load_text(scenario_text(found, "j")).scenario.workload.timed == found.timed


def test_cut_runs_count_as_longer_than_seen() -> None:
    draws = np.random.default_rng(7)
    submit = np.sort(draws.uniform(0, 30 * DAY, 4000))
    whole = np.exp(11 + draws.standard_normal(4000))  # a median of 17 hours in a window of 30 days
    left = np.maximum(30 * DAY - submit, 1)
    table = pd.DataFrame({"submit_s": submit, "gpus": 1, "runtime_s": np.minimum(whole, left)})
    table["state"] = np.where(whole <= left, "completed", "running")
    found = fit_workload(record_of(table, START, length_s=30 * DAY))
    (kind,) = found.timed[0].kinds
    (part,) = kind.runtime_s.mixture.components  # type: ignore[union-attr]
    assert math.log(part.median) == pytest.approx(11, abs=0.06)
    assert part.sigma == pytest.approx(1, abs=0.05)
    assert any("cut by the end" in line for line in remarks(found))


def test_a_team_that_came_later_begins_later_and_at_its_own_rate() -> None:
    rows = [(3600.0 * i, 1, 60, "early") for i in range(1200)]  # 50 days
    rows += [(30 * DAY + 7200.0 * i, 1, 60, "late") for i in range(240)]  # 20 days, 12 a day
    found = fit_workload(record_of(frame(rows), START, length_s=50 * DAY))
    early, late = found.timed
    assert early.since is None
    assert late.since == datetime(2026, 2, 4)
    assert parse_rate(late.rate or "") == pytest.approx(parse_rate("12/day"), rel=0.01)
    assert any("late" in line and "since" in line for line in remarks(found))


def test_growth_is_found_and_goes_on_only_when_asked() -> None:
    months = 12
    draws = np.random.default_rng(3)
    length = months * 365 / 12 * DAY
    # rate x 1.1 a month: times by inverting the cumulative rate
    level = np.log(1.1) * months
    share = np.sort(draws.random(20_000))
    times = np.log1p(share * np.expm1(level)) / level * length
    found = fit_workload(record_of(pd.DataFrame({"submit_s": times, "gpus": 1, "runtime_s": 60.0}), START))
    assert found.classes[0].arrivals.growth_month == pytest.approx(0.1, abs=0.01)
    assert any("grows by 10 % a month" in line for line in remarks(found))
    assert load_text(scenario_text(found, "j")).scenario.workload.growth is None
    growth = load_text(scenario_text(found, "j", trend=True)).scenario.workload.growth
    assert growth is not None
    assert float(growth.split("%")[0]) == pytest.approx(10, abs=1)


def test_a_steady_record_has_no_trend() -> None:
    times = np.sort(np.random.default_rng(4).uniform(0, 200 * DAY, 5000))
    found = fit_workload(record_of(pd.DataFrame({"submit_s": times, "gpus": 1, "runtime_s": 60.0}), START))
    assert not any("month" in line for line in remarks(found))


def test_batches_are_parted_by_gaps_longer_than_the_window() -> None:
    assert batches_of(np.array([0.0, 5, 10, 41, 71, 71]), 30).tolist() == [0, 0, 0, 1, 1, 1]


def test_an_hour_that_is_fed_by_long_batches_begins_none() -> None:
    """Every batch begins at 9:50 and has a job each 5 minutes: three jobs at 9 o'clock..., two later."""
    rows = [(DAY * day + 9 * 3600 + 3000 + 300 * n, 1, 60, "") for day in range(50) for n in range(5)]
    found = fit_arrivals(record_of(frame(rows), START, length_s=50 * DAY))
    hours = np.array(found.profile.hours).reshape(7, 24).mean(axis=0)
    assert found.window_s == 300
    assert hours[9] / hours.sum() == pytest.approx(1, abs=0.02)


def test_states_of_many_schedulers_are_known_and_others_are_told() -> None:
    rows = [(1.0, 1, 5, "COMPLETED"), (2.0, 1, 5, "CANCELLED by 1000"), (3.0, 1, 5, "TIMEOUT"),
            (4.0, 1, 5, "RUNNING"), (5.0, 1, 5, "Pass")]  # fmt: skip
    record = record_of(frame(rows, "submit_s gpus runtime_s state"), START)
    assert record.columns.state.tolist() == ["done", "cancelled", "failed", "done", "done"]
    assert record.columns.complete.tolist() == [True, True, True, False, True]
    with pytest.raises(InputError) as raised:
        record_of(frame([(1.0, 1, 5, "exploded")], "submit_s gpus runtime_s state"), START)
    assert (raised.value.problems[0].value, raised.value.problems[0].rule) == (
        "exploded", "unknown state of a job"
    )  # fmt: skip


def test_rows_without_a_run_are_left_out_and_counted() -> None:
    rows = [(1.0, 1, 5, ""), (2.0, 1, None, ""), (3.0, 0, 5, ""), (4.0, 1, 0, "")]
    record = record_of(frame(rows), START)
    assert (len(record), record.left_out) == (1, 3)
    with pytest.raises(InputError, match="no job"):
        record_of(frame(rows[1:]), START)
    with pytest.raises(InputError, match="runtime_s is missing"):
        record_of(frame(rows).drop(columns="runtime_s"), START)


def test_a_window_of_a_record() -> None:
    record = record_of(frame([(3600.0 * i, 1, 5, "") for i in range(48)]), START)
    part: Record = record.between(DAY, None)
    assert (len(part), part.submit_s[0], part.start) == (24, 0, datetime(2026, 1, 6))
    assert part.length_s == pytest.approx(record.length_s - DAY)
    with pytest.raises(InputError, match="no job of the record"):
        record.between(10 * DAY, None)


def test_without_a_complete_run_nothing_is_learned() -> None:
    record = record_of(frame([(1.0, 1, 5, "running")], "submit_s gpus runtime_s state"), START)
    with pytest.raises(InputError, match="no run of these jobs is complete"):
        fit_workload(replace(record, length_s=DAY))
