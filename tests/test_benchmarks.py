"""The benchmarks run and say what they should; how fast anything is here is not looked at."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.__main__ import arguments, effort_of, main
from benchmarks.engine import others, rows, swf, timing, worlds
from benchmarks.engine.accasim_rows import _checked
from benchmarks.engine.report import as_json, as_page, as_table, line_as_json
from benchmarks.engine.rows import ROWS, Line, Options, Skipped
from benchmarks.engine.timing import FLOOR, Effort, take_turns, timeout_us
from sim.decisions.policies import POLICIES
from sim.units import HOUR, SECOND

TINY = Effort(divide=2_000, rounds=1, verdict=False, timeouts=2_000)
FEW_CARDS = dict.fromkeys(POLICIES, (64, 20_000))
"""Cards and jobs of the overload row; its thousand cards take longer to set up than the jobs to run."""
ABOUT = {
    "date": "2026-01-01",
    "machine": "two cores",
    "python": "3.11",
    "simpy": "4",
    "rounds": 5,
    "divide": 1,
}


NO_SEARCH = SimpleNamespace(collect=lambda: 0, freeze=lambda: None, unfreeze=lambda: None)
"""In place of `gc`: times are not looked at here, and a search goes through all that tests have made."""


@pytest.fixture(autouse=True)
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (timing, others):
        monkeypatch.setattr(module, "gc", NO_SEARCH)


@cache
def lines_of(name: str) -> tuple[Line | Skipped, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "SLOW", FEW_CARDS)
        return tuple(ROWS[name].measure(Options(TINY)))


@pytest.mark.parametrize("name", list(ROWS))
def test_the_smallest_size_of_every_row(name: str) -> None:
    lines = lines_of(name)
    assert lines
    for line in lines:
        assert line.row == name
        if isinstance(line, Line):
            assert len(line.values) == TINY.rounds
            assert all(value > 0 for value in line.values)
        data = line_as_json(line, verdict=False)
        assert json.loads(json.dumps(data)) == data


def test_every_target_of_the_engine_has_its_line() -> None:
    targets = {
        (line.row, line.target, line.unit)
        for name in ("small", "thousand", "large", "growth", "mm8")
        for line in lines_of(name)
        if isinstance(line, Line)
    }
    assert {
        ("small", 8.0, "x timeout"),
        ("thousand", 13.0, "x timeout"),
        ("large", 20.0, "x timeout"),
        ("large", 600.0, "MB"),
        ("growth", 1.5, "x 200 jobs"),
        ("mm8", 0.7, "x Ciw"),
        ("mm8", 1.3, "x process a job"),
    } <= targets


@pytest.mark.parametrize("name", ["accasim", "accasim-files"])
def test_without_accasim_its_row_says_how_to_get_it(name: str) -> None:
    (line,) = lines_of(name)
    assert isinstance(line, Skipped)
    assert "pip install accasim" in line.why


@pytest.mark.parametrize(
    ("median", "target", "at_least", "met"),
    [(7.9, 8.0, False, True), (8.1, 8.0, False, False), (30.0, 25.0, True, True), (3.0, 25.0, True, False)],
)
def test_a_verdict_is_about_the_median(median: float, target: float, at_least: bool, met: bool) -> None:
    line = Line("small", "case", "x", [0.1, median, 1e9], target, at_least)
    assert line_as_json(line, verdict=True)["met"] is met
    assert line_as_json(line, verdict=False)["met"] is None


def test_no_verdict_at_other_sizes_or_with_few_rounds() -> None:
    assert effort_of(arguments([])).verdict
    assert effort_of(arguments(["--rounds", "7"])).verdict
    assert not effort_of(arguments(["--quick"])).verdict
    assert not effort_of(arguments(["--rounds", "4"])).verdict
    assert not effort_of(arguments(["--divide", "2"])).verdict


def test_contenders_take_turns() -> None:
    turns: list[str] = []

    def contender(name: str) -> float:
        turns.append(name)
        return 1.0

    effort = Effort(1, 3, verdict=False, timeouts=1_000)
    samples = take_turns({"a": lambda: contender("a"), "b": lambda: contender("b")}, effort)
    assert turns == ["a", "b"] * 3
    assert samples.ratios("a", "b") == [1.0, 1.0, 1.0]
    assert len(samples.us[FLOOR]) == 3


def test_the_timeout_takes_some_time() -> None:
    assert 0 < timeout_us(2_000) < 1_000


def test_the_textbook_model_and_the_engine_agree_job_by_job() -> None:
    # Jobs of 1 h at 0 h, 0.5 h and 0.6 h on one card start at 0 h, 1 h and 2 h.
    submits, runs = np.array([0.0, 0.5, 0.6]), np.ones(3)
    records = others.process_a_job(submits, runs, 1)
    assert [started for _, started, _ in sorted(records)] == [0.0, 1.0, 2.0]
    log = worlds.queue(1, submits, runs).run()
    assert [record.start_us for record in log.jobs] == [0, HOUR, 2 * HOUR]


@pytest.mark.parametrize("load", [0.7, 1.3])
def test_all_jobs_of_a_fleet_end(load: float) -> None:
    world = worlds.fleet(32, 400, load=load)
    log = world.run()
    assert len(log.jobs) == 400
    assert {record.state for record in log.jobs} == {"done"}
    assert log.failures
    sizes = [world.jobs.shapes[job.shape].gpus[0] for job in world.jobs.jobs]
    assert set(sizes) == set(worlds.GANGS)


def test_the_jobs_for_accasim_are_whole_seconds() -> None:
    world = worlds.whole_seconds(64, 200)
    assert all(job.submit_us % SECOND == 0 and job.work % SECOND == 0 for job in world.jobs.jobs)
    assert not world.run().failures


def test_from_a_workload_file_to_a_file_of_started_jobs(tmp_path: Path) -> None:
    # Eight cards. The second job waits for the first to end, and the third, which needs all, for both.
    file, out = tmp_path / "jobs.swf", tmp_path / "stays.csv"
    line = "{} {} -1 {} {} -1 -1 {} {} -1 1 1 1 1 1 1 -1 -1\n"
    jobs = [(1, 0, 100, 8), (2, 10, 50, 1), (3, 20, 30, 8)]
    file.write_text("".join(line.format(job, at, run, cards, cards, run) for job, at, run, cards in jobs))
    swf.simulate(file, 8, out)
    with out.open() as rows:
        found = [(r["job"], r["start_s"], r["end_s"], r["ended"], r["cards"]) for r in csv.DictReader(rows)]
    everything = "0 1 2 3 4 5 6 7"
    assert found == [
        ("1", "0.0", "100.0", "done", everything),
        ("2", "100.0", "150.0", "done", "0"),
        ("3", "150.0", "180.0", "done", everything),
    ]


def test_a_world_is_the_same_by_way_of_a_file(tmp_path: Path) -> None:
    world = worlds.whole_seconds(64, 200, load=1.1)
    file = tmp_path / "jobs.swf"
    swf.write_swf(world, file)
    seconds, waits = swf.fleetsim_waits(file, 64)
    assert seconds > 0
    assert waits == {record.job + 1: record.wait_us // SECOND for record in world.run().jobs}
    assert max(waits.values()) > 0


def test_a_line_of_accasims_plan() -> None:
    line = "17;1;1970-01-12 23:59:50__4;1#3;1#__1970-01-13 00:01:00;1970-01-13 00:02:00;2;2;NA;60;"
    assert swf._accasim_wait(line) == (17, 70)


def test_a_run_with_other_waits_is_no_measurement() -> None:
    assert _checked(lambda: (2.0, {1: 0, 2: 5}), {1: 0, 2: 5})() == 1e6
    with pytest.raises(RuntimeError, match="not the same runs"):
        _checked(lambda: (2.0, {1: 0, 2: 6}), {1: 0, 2: 5})()


def test_table_page_and_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        line_as_json(
            Line("small", "fifo", "x timeout", [6.0, 7.0, 9.0], 8.0, us_per_job={"fifo": 9.0, FLOOR: 1.3}),
            verdict=True,
        ),
        line_as_json(Skipped("accasim", "fifo", "not here"), verdict=True),
    ]
    document = as_json(lines, ABOUT)
    table = as_table(document["lines"])
    assert "7 x timeout" in table
    assert "skipped" in table
    page = as_page(document)
    assert "| small: fifo | ≤ 8 | 7 x timeout | 6 to 9 | yes |" in page
    assert "1 of 1 targets are met." in page
    assert "Not measured here: fifo (not here)." in page
    file = tmp_path / "figures.json"
    file.write_text(json.dumps(document))
    main(["--from", str(file)])
    assert capsys.readouterr().out.strip() == table
    main(["--list"])
    assert "mm8:" in capsys.readouterr().out
