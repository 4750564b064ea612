"""`fleetsim workload import` and `workload show`: what they print, write and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.workload.describe import describe
from sim.workload.imports import READERS
from sim.workload.normal import open_trace
from tests.conftest import TWO_JOBS, Outcome
from tests.import_cases import HEADER, SHARED, imported, sacct_row

Command = Callable[..., Outcome]
A, B = "2026-05-04T09:00:00", "2026-05-04T10:00:00"

DUMP = "\n".join(
    [
        HEADER,
        sacct_row("1", A, B, "01:00:00", 2),
        sacct_row("1.batch", A, B, "01:00:00", 2),
        sacct_row("2", A, "2026-05-04T12:00:00", "03:00:00", 16),
        "torn|row",
        sacct_row("3_[1-2]", "Unknown", "Unknown", "00:00:00", state="PENDING", submit=B),
        "",
    ]
)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump.psv"
    file.write_text(DUMP)
    return file


def test_json_has_the_agreed_names(fleetsim: Command, dump: Path) -> None:
    out = dump.with_name("jobs.parquet")
    done = fleetsim("workload", "import", dump, "-o", out, "--format", "json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert (document["rows_read"], document["jobs"], document["replayable"]) == (5, 4, 2)
    (aside,) = document["set_aside"]
    assert aside["line"] == 5
    assert aside["reason"] == "2 cells where the dump has 9: torn|row"
    assert document["merged"] == {"steps": 1}
    assert document["added"] == {"tasks of pending arrays": 1}
    assert document["left_out_of_replays"] == {"never started: no run time": 2}
    assert document["card_hours"] == 2 + 48
    with open_trace(out) as trace:
        assert trace.rows == 4


def test_text_tells_rows_and_the_way_on(fleetsim: Command, dump: Path) -> None:
    out = dump.with_name("jobs.parquet")
    done = fleetsim("workload", "import", dump, "-o", out, "--timezone", "Asia/Shanghai")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "rows read 5 set aside -1 steps -1 tasks of pending arrays +1 jobs 4" in text
    assert "5 number of cells 2 cells where the dump has 9: torn|row" in text
    snippet = "start: 2026-05-04T09:00:00, timezone: Asia/Shanghai, workload: {trace: {file: jobs.parquet}}"
    assert snippet in text


def test_strict_writes_nothing(fleetsim: Command, dump: Path) -> None:
    out = dump.with_name("jobs.parquet")
    done = fleetsim("workload", "import", dump, "-o", out, "--strict", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert f"{dump}:5: number of cells" in done.err
    assert sorted(path.name for path in dump.parent.iterdir()) == ["dump.psv"]


def test_a_map_a_unit_and_a_window_on_the_command_line(fleetsim: Command, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("When,Took, x,Cards\n2026-03-02 09:00:00,90,?,2\n2026-03-03 09:00:00,30,?,1\n")
    options = ("--map", "submit_s=When,runtime_s=Took,gpus=Cards", "--unit", "min", "--until", "2026-03-03")
    document = json.loads(fleetsim("workload", "import", file, *options, "--format", "json").out)
    assert (document["rows_read"], document["jobs"], document["card_hours"]) == (2, 1, 3)
    assert document["out"] is None
    assert not list(tmp_path.glob("*.parquet"))


def test_a_fleet_names_jobs_that_are_too_wide(fleetsim: Command, dump: Path) -> None:
    (dump.parent / "two.csv").write_text("submit_s,gpus,runtime_s\n0,1,60\n")
    fleet = dump.parent / "fleet.yaml"
    fleet.write_text(TWO_JOBS.replace("a100-40g-custom, count: 1", "a100-40g-8x, count: 3"))
    done = fleetsim("workload", "import", dump, "--fleet", fleet, "--format", "json")
    suspicious = json.loads(done.out)["suspicious"]
    assert suspicious["wider than the largest leased machine (8 cards)"] == {"count": 1, "lines": [4]}
    assert not any("all cards that one job" in kind for kind in suspicious)  # 24 cards hold 16


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--as", "sakct"), "did you mean 'sacct'"),
        (("--preset", "filly"), "did you mean 'philly'"),
        (("--map", "gpu_count=Cards"), "unknown field"),
        (("--map", "gpus"), "must be FIELD=COLUMN"),
        (("--map", "gpus=A,gpus=B"), "mapped twice"),
        (("--as", "csv", "--map", "none.yaml"), "the map cannot be read"),
        (("--map", "gpus=Cards"), "--map: this option says nothing of a dump of Slurm's sacct"),
        (("--sheet", "Jobs"), "--sheet: this option says nothing"),
        (("--timezone", "Mars"), "no such time zone"),
        (("--from", "yesterday"), "must be a local time"),
        (("--from", "2026-03-01T00:00:00Z"), "without a zone"),
        (("--thin", "1.5"), "above 0 and at most 1"),
        (("--thicken", "0.5"), "above 1 and at most 100"),
        (("--card", "a100=A200"), "unknown card"),
        (("--card", "a100"), "must be KIND=CARD"),
        (("--decimal", ";"), "a point or a comma"),
        (("--team-column", "Groups"), "no such column"),
        (("--team", "nobody"), "no job of this team"),
        (("-o", "jobs.csv"), "known: .parquet"),
    ],
)
def test_wrong_options_are_told(fleetsim: Command, dump: Path, options: tuple[str, ...], rule: str) -> None:
    done = fleetsim("workload", "import", dump, *options)
    assert (done.code, done.out) == (2, "")
    assert rule in done.err
    assert sorted(path.name for path in dump.parent.iterdir()) == ["dump.psv"]


def test_help_names_every_format(fleetsim: Command) -> None:
    help_text = " ".join(fleetsim("workload", "import", "--help").out.split())
    assert "sacct, swf, csv, tsv, jsonl, parquet or excel" in help_text
    assert set(READERS) == {"sacct", "swf", "csv", "tsv", "jsonl", "parquet", "excel"}


def test_a_table_with_names_of_control_signs_drives_no_terminal(fleetsim: Command, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("submit_s,gpus,runtime_s,team\n0,1,60,\x1b[31mred\n0,x\x1b[2J,60,a\n")
    done = fleetsim("workload", "import", file)
    assert done.code == 0
    assert "\x1b" not in done.out


class TestShow:
    def test_figures_by_pencil(self, tmp_path: Path) -> None:
        rows = (
            sacct_row("1", "2026-05-04T09:00:00", "2026-05-04T13:00:00", "04:00:00", 2),  # a Monday
            sacct_row("2", "2026-05-04T10:00:00", "2026-05-04T11:00:00", "01:00:00", 4),
            sacct_row(
                "3", "2026-05-05T09:30:00", "2026-05-05T10:30:00", "01:00:00", 1, submit="2026-05-05T09:00:00"
            ),
        )
        found = imported(tmp_path, "\n".join([HEADER, *rows]))
        figures = describe(found.jobs, found.about)
        assert figures.by_hour[9] == (2, 1.0)
        assert figures.by_hour[10] == (1, 0.5)
        assert [count for count, _ in figures.by_weekday] == [2, 1, 0, 0, 0, 0, 0]
        assert figures.run_times["all"][0] == 3
        assert figures.run_times["all"][1][2] == 1.0  # median of 4, 1 and 1 h
        assert figures.run_times["3-4 cards"][2] == 1.0
        assert figures.widths == {1: (1, 1.0), 2: (1, 8.0), 4: (1, 4.0)}
        assert figures.waits is not None
        assert (figures.waits[0], figures.waits[2]) == (3, pytest.approx(0.5 / 3))
        # 9-10 h: 2 cards; 10-11 h: 6; then 2 again until 13 h.
        assert figures.load["busy"].tolist()[:5] == [2, 6, 2, 2, 0]
        assert figures.load["busy"].sum() == pytest.approx(12 + 0.5, abs=0.51)

    def test_peaks_by_pencil(self, fleetsim: Command, tmp_path: Path) -> None:
        rows = (
            sacct_row("1", "2026-05-04T09:10:00", "2026-05-04T09:25:00", "00:15:00", 4),
            sacct_row("2", "2026-05-04T09:25:00", "2026-05-04T09:55:00", "00:30:00", 6),
            sacct_row("3", "2026-05-04T09:55:00", "2026-05-04T11:10:00", "01:15:00", 1),
            sacct_row("4", "2026-05-04T11:10:00", "2026-05-04T11:20:00", "00:10:00", 3),
        )
        found = imported(tmp_path, "\n".join([HEADER, *rows]))
        load = describe(found.jobs, found.about).load
        # Hours from the first start, 9:10: 15 min of 4, 30 min of 6, 15 min of 1; then 1 to 11:10. What one
        # gives back and the next takes at 9:25 is no 10.
        assert load["from_day"].tolist() == pytest.approx([0, 1 / 24])
        assert load["day"].tolist() == pytest.approx([0.5 / 24, 1.5 / 24])
        assert load["busy"].tolist() == pytest.approx([0.25 * 4 + 0.5 * 6 + 0.25 * 1, 1])
        assert load["busy_peak"].tolist() == [6, 1]
        assert load["asked_peak"].tolist() == [6, 1]
        shown = fleetsim("workload", "show", tmp_path / "dump.txt").out
        table = shown[shown.index("Load over time, cards") :]
        assert "peak" in table
        assert "most" not in table
        assert "0.0 4.2 6.0 4.2 6.0" in " ".join(table.split())  # day, then mean and peak twice

    def test_hours_are_those_of_the_zone(self, tmp_path: Path) -> None:
        row = sacct_row("1", "2026-10-24T23:30:00Z", "2026-10-25T00:30:00Z", "01:00:00")
        later = sacct_row("2", "2026-10-25T12:00:00Z", "2026-10-25T13:00:00Z", "01:00:00")
        found = imported(tmp_path, f"{HEADER}\n{row}\n{later}\n", timezone="Europe/Berlin")
        hours = [hour for hour, (count, _) in enumerate(describe(found.jobs, found.about).by_hour) if count]
        assert hours == [1, 13]  # UTC+2 before the clocks go back, UTC+1 after

    def test_tables_and_charts(self, fleetsim: Command, dump: Path) -> None:
        jobs, charts = dump.with_name("jobs.parquet"), dump.with_name("charts")
        fleetsim("workload", "import", dump, "-o", jobs)
        done = fleetsim("workload", "show", jobs, "-o", charts)
        assert done.code == 0
        for title in ("Submissions by hour", "Run times, h", "Widths", "Load over time, cards"):
            assert title in done.out
        pictures = sorted(path.name for path in charts.iterdir())
        assert pictures == ["arrivals.png", "load.png", "run-times.png", "widths.png"]
        assert all((charts / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
        before = {name: (charts / name).read_bytes() for name in pictures}
        document = json.loads(fleetsim("workload", "show", jobs, "-o", charts, "--format", "json").out)
        assert (document["jobs"], document["replayable"]) == (4, 2)
        assert before == {name: (charts / name).read_bytes() for name in pictures}

    def test_a_dump_is_shown_without_an_import(self, fleetsim: Command, dump: Path) -> None:
        done = fleetsim("workload", "show", dump, "--format", "json")
        assert json.loads(done.out)["widths"]["16"] == {"jobs": 1, "card_hours": 48}

    def test_a_trace_without_dates_or_run_times(self, fleetsim: Command, tmp_path: Path) -> None:
        file = tmp_path / "t.csv"
        file.write_text("submit_s,gpus,runtime_s\n0,1,\n5,2,\n")
        done = fleetsim("workload", "show", file, "-o", tmp_path / "charts")
        assert done.code == 0
        assert "The trace has no dates" in done.out
        assert [path.name for path in (tmp_path / "charts").iterdir()] == ["widths.png"]

    def test_files_that_cannot_be_shown(self, fleetsim: Command, tmp_path: Path) -> None:
        assert fleetsim("workload", "show", tmp_path / "none.parquet").code == 2
        (tmp_path / "x.parquet").write_bytes(b"no")
        done = fleetsim("workload", "show", tmp_path / "x.parquet")
        assert done.code == 2
        assert "Parquet" in done.err
        done = fleetsim("workload", "show", tmp_path / "x.parquet", "-o", tmp_path / "x.parquet")
        assert "charts need a folder" in done.err


@pytest.mark.skipif(not SHARED.is_dir(), reason="the traces are not beside the project")
def test_a_team_of_philly_is_shown_in_full(fleetsim: Command) -> None:
    done = fleetsim("workload", "show", SHARED / "philly/philly_vc_7f04ca.csv", "--format", "json")
    document = json.loads(done.out)
    assert sum(hour["jobs"] for hour in document["submissions_by_hour"]) == 723
    assert sum(day["jobs"] for day in document["submissions_by_weekday"]) == 723
    total = sum(width["card_hours"] for width in document["widths"].values())
    assert total == pytest.approx(164_930.6539, abs=1e-4)


def test_a_single_run_and_a_single_day_are_seen_in_the_charts(tmp_path: Path) -> None:
    """A line of one point is not drawn: its legend would name nothing that one can see."""
    from sim.report.plots_workload import WORKLOAD_CHARTS
    from sim.workload.describe import describe
    from tests.import_cases import imported

    found = imported(tmp_path, "submit_s,gpus,runtime_s\n0,1,3600\n0,8,7200\n", "t.csv")
    told = describe(found.jobs, found.about)
    figure = WORKLOAD_CHARTS["run-times.png"](told, found.jobs)
    assert figure is not None
    (axes,) = figure.axes
    assert [line.get_ydata().tolist() for line in axes.lines] == [[0, 100], [0, 100]]
    assert [text.get_text().split("(")[1] for text in axes.get_legend().get_texts()] == ["1 job)", "1 job)"]
    load = WORKLOAD_CHARTS["load.png"](told, found.jobs)
    assert load is not None
    for line in load.axes[0].lines:
        assert len(line.get_xdata()) > 1 or line.get_marker() == "o"
