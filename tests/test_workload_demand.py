"""Another demand from one trace: windows, teams, thinning, thickening, shuffling."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.load import load
from sim.model.work import Trace
from sim.streams import Streams
from sim.units import DAY, HOUR, SECOND, WEEK
from sim.workload.demand import asked_rows
from sim.workload.readers import TraceRow

LINES = [(0, "a"), (3600, "b"), (86_400, "a"), (90_000, ""), (700_000, "b")]


def rows(count: int = 2000, step: int = 1800 * SECOND) -> tuple[TraceRow, ...]:
    return tuple(TraceRow(i + 1, i + 2, f"job-{i}", i * step, 1, 60 * SECOND + i) for i in range(count))


def asked(given: tuple[TraceRow, ...], seed: int = 1, **keys: object) -> list[TraceRow]:
    return list(asked_rows(Trace.model_validate({"file": "t.csv", **keys}), given, Streams(seed)))


def test_a_trace_as_it_is() -> None:
    given = rows(5)
    assert asked_rows(Trace(file="t.csv"), given, Streams(1)) is given


def test_a_window_counts_from_its_beginning() -> None:
    found = asked(rows(10), since="1h", until="2h 30min")  # half-open: 1 h, 1.5 h, 2 h
    assert [(row.name, row.submit_us) for row in found] == [
        ("job-2", 0), ("job-3", HOUR // 2), ("job-4", HOUR)
    ]  # fmt: skip


def test_thinning_keeps_its_share_and_a_larger_scale_keeps_the_jobs_of_a_smaller_one() -> None:
    given = rows()
    few, more = (asked(given, scale=scale) for scale in (0.3, 0.7))
    assert len(few) == pytest.approx(600, abs=4 * 20.5)  # sqrt(2000 x 0.3 x 0.7) = 20.5
    assert len(more) == pytest.approx(1400, abs=4 * 20.5)
    assert {row.name for row in few} < {row.name for row in more}
    assert few == asked(given, scale=0.3)
    assert few != asked(given, seed=2, scale=0.3)


def test_which_jobs_stay_does_not_depend_on_the_window() -> None:
    given = rows()
    whole = {row.name for row in asked(given, scale=0.5)}
    part = {row.name for row in asked(given, scale=0.5, since="10d", until="20d")}
    inside = {row.name for row in given if 10 * DAY <= row.submit_us < 20 * DAY}
    assert part == whole & inside


def test_thickening_adds_copies_at_the_same_hour_and_weekday_of_another_week() -> None:
    given = rows()  # 1000 hours: five whole weeks and 160 hours
    found = asked(given, scale=2.5)
    counts = Counter(row.name.split("+")[0] for row in found)
    assert set(counts.values()) == {2, 3}
    assert len(found) == pytest.approx(5000, abs=4 * 22.4)
    own = {row.name: row.submit_us for row in given}
    for row in found:
        name, _, copy = row.name.partition("+")
        if copy:
            assert (row.submit_us - own[name]) % WEEK == 0
            assert row.submit_us != own[name]
            assert 0 <= row.submit_us < 5 * WEEK
        else:
            assert row.submit_us == own[name]
    assert [row.submit_us for row in found] == sorted(row.submit_us for row in found)


def test_copies_of_a_short_record_move_by_days_or_anywhere() -> None:
    days = asked(rows(240), scale=2)  # five days
    own = {row.name: row.submit_us for row in rows(240)}
    moved = [row.submit_us - own[row.name[:-2]] for row in days if row.name.endswith("+1")]
    assert len(moved) == 240
    assert all(shift % DAY == 0 and shift for shift in moved)
    hours = asked(rows(24), scale=2)
    assert all(0 <= row.submit_us <= 23 * HOUR // 2 for row in hours)


def test_shuffled_arrivals_keep_times_and_jobs_and_part_them() -> None:
    given = rows()
    found = asked(given, shuffle=True)
    assert [row.submit_us for row in found] == [row.submit_us for row in given]
    assert {row.name: row.runtime_us for row in found} == {row.name: row.runtime_us for row in given}
    stayed = sum(a.name == b.name for a, b in zip(found, given, strict=True))
    assert stayed < 10  # one on average


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"{submit},1,600,{team}" for submit, team in LINES]
    (tmp_path / "jobs.csv").write_text("submit_s,gpus,runtime_s,team\n" + "\n".join(lines) + "\n")
    return tmp_path


def scenario(folder: Path, trace: str) -> Path:
    file = folder / "s.yaml"
    file.write_text(
        f"name: t\nstart: 2026-01-01\nhorizon: 30d\nworkload: {{trace: {{file: jobs.csv{trace}}}}}\n"
        "strategies:\n  - {name: a, leases: [{offer: a100-40g-custom, plan: monthly}]}\n"
    )
    return file


def test_teams_are_chosen_by_name(folder: Path) -> None:
    question = load(scenario(folder, ", teams: [b]"))
    trace = question.scenario.workload.trace
    assert trace is not None
    found = asked_rows(trace, question.trace, Streams(1))
    assert [row.submit_us for row in found] == [3600 * SECOND, 700_000 * SECOND]


@pytest.mark.parametrize(
    ("trace", "rule", "key"),
    [
        (", teams: [c]", "no job of the trace belongs to this team", "workload.trace.teams.0"),
        (", since: 9d", "no job of the trace is submitted in this window", "workload.trace"),
        (", since: 2d, until: 1d", "until must come after since", "workload.trace.until"),
        (", scale: 0", "must be above 0.0", "workload.trace.scale"),
        (", teams: []", "teams must name at least one team", "workload.trace.teams"),
    ],
)
def test_a_wrong_demand_is_told(folder: Path, trace: str, rule: str, key: str) -> None:
    with pytest.raises(InputError) as raised:
        load(scenario(folder, trace))
    assert [(problem.rule, problem.key) for problem in raised.value.problems] == [(rule, key)]
