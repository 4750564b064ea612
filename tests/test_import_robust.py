"""Whatever a file holds: a clear message or an import that adds up; never a traceback or a hang."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.errors import FleetsimError, InputError
from sim.workload.imports import READERS, Settings, import_jobs
from sim.workload.imports.source import LONGEST_LINE
from sim.workload.normal import write_trace
from sim.workload.readers import read_trace
from tests.import_cases import HEADER, column, imported, sacct_row

FUZZ = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))

SEEDS = (
    "\n".join(
        [HEADER]
        + [sacct_row(f"{n}", "2026-05-04T09:00:00", "2026-05-04T10:00:00", "01:00:00") for n in range(1, 6)]
        + [sacct_row("9_[0-5%2]", "Unknown", "Unknown", "00:00:00", state="PENDING")]
    ),
    "; UnixStartTime: 1772442000\n" + "1 0 5 60 4 -1 -1 4 90 -1 1 3 -1 -1 2 -1 -1 -1\n" * 5,
    "submit_s,gpus,runtime_s,id,team\n0,1,60,a,x\n5,2,70.5,b,y\n",
    "提交时间;GPU数;时长(小时)\n2026/3/2 9:00;4;2,5\n",
    '{"submit_s": 1, "gpus": 2, "runtime_s": 60}\n{"submit_s": 2, "gpus": 1, "runtime_s": 1e3}\n',
)
"""One small file a format."""

PIECES = (
    *("|", ",", "\t", ";", "\n", "\r\n", "\r", '"', "[", "]", "{", "}", "%", "..."),
    *("999999999999999999999", "-1", "1e308", "1e-400", "nan", "inf", "٣", "９", "1_000"),
    *("9999-99-99T99:99:99", "0001-01-01T00:00:00", "9999-12-31T23:59:59", "2026-02-30T00:00:00"),
    *(
        "999999-99:99:99",
        "UNLIMITED",
        "gres/gpu=99999999999",
        "900_[0-9999999]",
        "900_[5-1]",
        "\u2028",
        "\ufeff",
    ),
)
"""What real and malicious files hold."""


def check(file: Path, **options: object) -> None:
    """An import, or one clear error; rows add up, the report is JSON, the trace reads back."""
    try:
        found = import_jobs(file, Settings(**options))  # type: ignore[arg-type]
    except FleetsimError as raised:
        error = raised
    else:
        error = None
    if error is not None:
        assert error.exit_code == 2
        assert str(file) in str(error) or any(problem.key for problem in error.problems)  # type: ignore[attr-defined]
        return
    report, tally = found.report, found.report.tally
    lost = tally.set_aside + sum(tally.merged.values()) + sum(tally.filtered.values())
    assert report.jobs == tally.rows + sum(tally.added.values()) - lost
    assert sum(tally.kinds.values()) >= len(tally.asides)
    json.dumps(report.as_dict(), allow_nan=False)
    target = file.with_suffix(".parquet")
    write_trace(found.jobs, found.about, target)
    if report.replayable:
        assert len(read_trace(target)) == report.replayable


@FUZZ
@given(data=st.binary(max_size=2000), reader=st.sampled_from([None, *READERS]))
def test_random_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, reader: str | None) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "x"
    file.write_bytes(data)
    check(file, format=reader)


@FUZZ
@given(data=st.data())
def test_torn_and_patched_files(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        piece = data.draw(st.sampled_from(PIECES) | st.text(max_size=4))
        text = text[:place] + piece + text[place + cut :]
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]))
    raw = text.encode(encoding, errors="replace")
    raw = raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw
    file = tmp_path_factory.mktemp("fuzz") / "x"
    file.write_bytes(gzip.compress(raw) if data.draw(st.booleans()) else raw)
    zone = data.draw(st.sampled_from([None, "Europe/Berlin"]))
    check(file, timezone=zone, unit=data.draw(st.sampled_from([None, "h"])))


# A fixed time in the head, so that two workers of pytest collect the same cases.
CUT_GZIP = gzip.compress(b"submit_s,gpus,runtime_s\n" + bytes(range(65, 91)) * 400, mtime=0)[:-20]
DAMAGED_GZIP = gzip.compress(SEEDS[2].encode(), mtime=0)[:20] + b"damaged"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "the file is empty"),
        (b"\n\n\n", "the file is empty"),
        (b"a,b\n\x00\x00", "zero byte"),
        (b"a,b\n1,\xff\xff\xff\x81", "no text in UTF-8"),
        ("submit_s,gpus,runtime_s\n0,1,60\n客".encode()[:-1], "cut off"),
        ("任务".encode("utf-16")[:-1], "cut off"),
        (CUT_GZIP, "gzip file"),
        (DAMAGED_GZIP, "gzip file"),
        (b"\x28\xb5\x2f\xfd...", "zstd"),
        (b"\xd0\xcf\x11\xe0...", "save it as .xlsx"),
        (b"PK\x03\x04...", "workbook is damaged"),
        (b"PAR1...", "damaged"),
        (b"submit_s,gpus,runtime_s\n", "no row with a job"),
        (b"submit_s,gpus,runtime_s\n0,x,60\n", "none of 1 rows is a job"),
        (b"submit_s gpus runtime_s\n0 1 60\n", "no format is recognised"),
        (b"submit_s,gpus,gpus,runtime_s\n0,1,1,60\n", "stands twice"),
    ],
)
def test_files_that_are_no_table_of_jobs(tmp_path: Path, data: bytes, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        imported(tmp_path, data)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        import_jobs(tmp_path / "none.csv")
    with pytest.raises(InputError, match="no plain file"):
        import_jobs(tmp_path)


def test_line_numbers_of_wrong_bytes(tmp_path: Path) -> None:
    good = b"submit_s,gpus,runtime_s\n" + b"0,1,60\r\n" * 700_000  # more than one block
    with pytest.raises(InputError) as raised:
        imported(tmp_path, good + b"0,\xff\xff\xff\x81,60\n")
    assert raised.value.problems[0].line == 700_002


def test_a_line_of_100_megabytes_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    with file.open("wb") as stream:
        stream.write(b"submit_s,gpus,runtime_s\n")
        for _ in range(100):
            stream.write(b"1" * 10**6)
    begin = time.monotonic()
    with pytest.raises(InputError, match=f"line is longer than {LONGEST_LINE:,} bytes") as raised:
        import_jobs(file)
    assert raised.value.problems[0].line == 2
    assert time.monotonic() - begin < 10


def test_bombs_are_refused(tmp_path: Path) -> None:
    rows = b"0,1,60\n" * 10**6
    file = tmp_path / "bomb.gz"
    with gzip.open(file, "wb", compresslevel=9) as stream:
        stream.write(b"submit_s,gpus,runtime_s\n")
        for _ in range(30):
            stream.write(rows)
    with pytest.raises(InputError, match="times its size"):
        import_jobs(file)
    book = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<x/>")
        archive.writestr("xl/sharedStrings.xml", b" " * (201 * 2**20))
    with pytest.raises(InputError, match="too large"):
        import_jobs(book)


def test_small_files_with_endless_cells_are_bounded(tmp_path: Path) -> None:
    """A packed file of few bytes whose cells would fill the memory."""
    count = 1000
    columns = {"submit_s": range(count), "gpus": [1] * count, "runtime_s": [60] * count}
    once = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), ["x" * 10**6])  # 1 GB in full
    pq.write_table(pa.table({**columns, "team": once}), tmp_path / "same.parquet", compression="zstd")
    assert set(column(import_jobs(tmp_path / "same.parquet"), "team")) == {"x" * 1000}
    apart = pa.table({**columns, "team": [f"{n}" + "x" * 10**4 for n in range(count)]})
    pq.write_table(apart, tmp_path / "apart.parquet", compression="zstd", use_dictionary=False)
    with pytest.raises(InputError, match="more than 4,096 bytes"):
        import_jobs(tmp_path / "apart.parquet")
    wide = {f"key{n}": 1 for n in range(2000)}
    with pytest.raises(InputError, match="at most 1,000 columns"):
        imported(tmp_path, json.dumps(wide) + "\n")
    with pytest.raises(InputError, match="at most 1,000 columns"):
        imported(tmp_path, ",".join(wide) + "\n")


def test_names_made_to_meet_do_not_take_forever(tmp_path: Path) -> None:
    names = ["a"] * 20_000 + [f"a#{n}" for n in range(2, 20_002)]
    rows = "".join(f"{place},1,60,{name}\n" for place, name in enumerate(names))
    begin = time.monotonic()
    found = imported(tmp_path, f"submit_s,gpus,runtime_s,id\n{rows}")
    assert len(set(column(found, "id"))) == 40_000
    assert time.monotonic() - begin < 30


def test_a_damaged_workbook_and_a_zip_that_is_none(tmp_path: Path) -> None:
    book, file = openpyxl.Workbook(), tmp_path / "t.xlsx"
    book.active.append(["gpus", "runtime_s"])
    book.save(file)
    with pytest.raises(InputError, match="no row with a job"):
        import_jobs(file)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name in list(parts):
        with zipfile.ZipFile(tmp_path / "damaged.xlsx", "w") as archive:
            for other, data in parts.items():
                archive.writestr(other, data[: len(data) // 2] if other == name else data)
        check(tmp_path / "damaged.xlsx")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("jobs.csv", SEEDS[2])
    with pytest.raises(InputError, match="no workbook"):
        import_jobs(tmp_path / "other.zip")


def test_a_quotation_mark_that_never_closes_loses_no_rows_in_silence(tmp_path: Path) -> None:
    rows = "".join(f"{n},1,60,x\n" for n in range(20_000))
    found = imported(tmp_path, f'submit_s,gpus,runtime_s,team\n0,1,60,"open\n{rows}')
    tally = found.report.tally
    assert tally.kinds["quotation marks"] >= 1
    # The rest of a record that grows past the reader's bound is read on; the loss is told with its line.
    assert tally.asides[0].line == 2
    assert found.report.jobs == tally.rows - tally.set_aside > 0


def test_many_rows_set_aside_are_counted_and_not_all_listed(tmp_path: Path) -> None:
    rows = "".join("0,1,soon\n" if n % 2 else "0,1,60\n" for n in range(6000)) + "x,1,60\n"
    found = imported(tmp_path, f"submit_s,gpus,runtime_s\n{rows}")
    document = found.report.as_dict()
    assert document["set_aside_count"] == 3001
    assert len(document["set_aside"]) <= 1000
    assert document["set_aside_by_kind"] == {"duration": 3000, "time": 1}
    assert document["set_aside"][-1]["line"] == 6002  # a rare kind is listed behind a common one


def test_a_large_dump_stays_within_its_bounds(tmp_path: Path) -> None:
    """50,000 rows, a twentieth of the benchmark's (whose bar is 60 s and 1 GB), in a process of its own."""
    from benchmarks.import_speed import dump_lines

    file = tmp_path / "dump.psv"
    file.write_text("\n".join(dump_lines(50_000)), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "benchmarks.import_speed",
        "--measure",
        str(file),
        str(tmp_path / "o.parquet"),
    ]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["rows"] >= 50_000
    assert found["jobs"] > 10_000
    assert found["peak_bytes"] < 0.5e9
