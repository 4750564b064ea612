"""Traces of every format, invoices, budgets, measured rows, owning: read, or refused with the place."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sim.cli.budget_actual import read_actual
from sim.cli.rows import read_rows
from sim.cli.tco_inputs import read_inputs
from sim.experiments.invoice_file import read_invoice
from sim.load import load_text
from sim.physics.constants import load_constants
from sim.physics.predict import predict_rows
from sim.workload.imports import Settings, import_jobs
from sim.workload.normal import write_trace
from sim.workload.readers import read_trace
from tests.fuzz.bounds import judged
from tests.fuzz.grammar import ODD
from tests.fuzz.pieces import mutated


@pytest.fixture(autouse=True)
def _modest_arrow() -> Iterator[None]:
    """Arrow's usual pool claims a gigabyte of addresses at once, which `bounded` takes for memory."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    yield
    pa.set_memory_pool(before)


SCENARIO = """\
name: Replayed
start: 2026-01-01
horizon: 10d
workload: {trace: {file: jobs.csv}}
strategies: [{name: s, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}]
"""

ROWS: tuple[dict[str, Any], ...] = (
    {"submit_s": 0.0, "gpus": 1, "runtime_s": 60.0, "id": "a", "team": "x", "state": "COMPLETED"},
    {"submit_s": 5.5, "gpus": 2, "runtime_s": 7200.25, "id": "b", "team": "甲", "state": "FAILED"},
    {"submit_s": 90000.0, "gpus": 4, "runtime_s": 30.0, "id": "=c", "team": "", "state": "CANCELLED"},
)
HEAD = tuple(ROWS[0])

WRITTEN = b"2026-01-01T00:00:00Z"


def separated(sign: str) -> bytes:
    lines = [sign.join(HEAD), *(sign.join(str(value) for value in row.values()) for row in ROWS)]
    return "".join(f"{line}\n" for line in lines).encode()


@cache
def parquet() -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([*ROWS]), target)
    return target.getvalue()


def workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append([*row])
    target = io.BytesIO()
    book.save(target)
    return packed(target.getvalue(), lambda _, part: re.sub(rb"20[\d-]{8}T[\d:]{8}Z", WRITTEN, part))


def packed(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """The archive with its parts changed, and no time of this day in it: the same case has the same bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), change(name, old.read(name)))
    return target.getvalue()


@cache
def excel() -> bytes:
    return workbook([HEAD, *(tuple(row.values()) for row in ROWS)])


SACCT = (
    b"JobID|User|Submit|Start|End|Elapsed|State|AllocTRES|Account\n"
    b"1|u|2026-03-01T09:00:00|2026-03-01T09:05:00|2026-03-01T10:05:00|01:00:00|COMPLETED|gres/gpu=2|t\n"
    b"1.batch|u|2026-03-01T09:00:00|2026-03-01T09:05:00|2026-03-01T10:05:00|01:00:00|COMPLETED|gres/gpu=2|t\n"
    b"2_[0-3%2]|u|2026-03-01T09:00:00|Unknown|Unknown|00:00:00|PENDING||t\n"
    b"3|u|2026-03-01T11:00:00|2026-03-01T11:05:00|2026-03-02T11:05:00|1-00:00:00|TIMEOUT|gres/gpu:a100=4|t\n"
)

TRACES: dict[str, Callable[[], bytes]] = {
    "sacct": lambda: SACCT,
    "swf": lambda: b"; UnixStartTime: 1772442000\n" + b"1 0 5 60 4 -1 -1 4 90 -1 1 3 -1 -1 2 -1 -1 -1\n" * 4,
    "csv": lambda: separated(","),
    "tsv": lambda: separated("\t"),
    "jsonl": lambda: "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in ROWS).encode(),
    "parquet": parquet,
    "excel": excel,
}
"""Format of import -> a good file of it."""

TITLES = {"excel": "jobs.xlsx"}
"""Names that a format needs; others are recognised by their content."""


def imported(file: Path) -> None:
    """Recognised by its content, written in the normal form, read back."""
    found = import_jobs(file, Settings())
    target = file.with_name("normal.parquet")
    write_trace(found.jobs, found.about, target)
    if found.report.replayable:
        assert len(read_trace(target)) == found.report.replayable
    json.dumps(found.report.as_dict(), allow_nan=False)


def replayed(file: Path) -> None:
    load_text(SCENARIO.replace("jobs.csv", file.name), folder=file.parent)


def predicted(file: Path) -> None:
    predict_rows(read_rows(file).rows, constants())


@cache
def constants() -> Any:
    return load_constants()


MEASURED = (
    b"model,method,micro_batch,seq_len,gpu,n_gpus,rank,grad_ckpt,optimizer,flash_attn,mean_len,peak_mem_gib\n"
    b"qwen-7b,lora,1,1024,A100-40G,1,16,y,adamw,y,300,21.5\n"
    b"llama-13b,qlora4,2,2048,RTX3090-24G,2,8,n,paged_adamw_8bit,n,,\n"
)

INVOICE = (
    b"provider,month,offer,quantity,unit price,amount\n"
    b"idc10000,2026-01,a100-40g-custom,2,2800.00,5600.00\n"
    b"idc10000,2026-02,a100-40g-custom,2,2800.00,5600.00\n"
    b",,,,total,11200.00\n"
)

ACTUAL = b"line,card_hours,cost\nA100,1200.5,9800.00\nH100,40,800\nA100,10,81.5\n"

OWNING = b"""\
preset: illustration
owning: {capital: 800000, cards: 8, life_years: 4, residual: 0.1, power_price: 0.8}
"""

TRACE = b"""\
submit_s,gpus,runtime_s,id,memory_gib,team,deadline_s,priority
0,1,60,a,12.5,x,3600,0
5.5,2,7200.25,b,,y,,3
90000,1,30,=c,0.5,,60,-1
"""

OTHERS: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
    "trace of a scenario": ("jobs.csv", TRACE, replayed),
    "invoice": ("invoice.csv", INVOICE, read_invoice),
    "actual costs": ("actual.csv", ACTUAL, read_actual),
    "measured rows": ("rows.csv", MEASURED, predicted),
    "owning": ("owning.yaml", OWNING, lambda file: read_inputs(file, None, ())),
}
"""Other files of users -> name, a good one, and who reads it."""


def odd_cell(random: Random) -> str:
    value = random.choice([*ODD, "2026/3/1 9:00", "1-00:00:00", "4294967296", "1e5", "9" * 30])
    return str(value).encode("utf-8", "replace").decode()


def turned(data: bytes, name: str, random: Random) -> bytes:
    """A file with other bytes, or with other cells; packed ones are packed again."""
    if name == "excel" and random.random() < 0.7:
        return other_sheet(data, random)
    if name == "parquet" and random.random() < 0.7:
        return other_table(random)
    if name not in ("excel", "parquet") and random.random() < 0.5:
        text = data.decode()
        for _ in range(random.choice([1, 1, 3])):
            words = [word for word in text.replace(",", " ").replace("|", " ").split() if word]
            text = text.replace(random.choice(words or ["x"]), odd_cell(random), 1)
        data = text.encode("utf-8", "replace")
    else:
        data = mutated(data, random, random.choice([1, 2, 6]))
    return gzip.compress(data, mtime=0) if random.random() < 0.1 else data


def other_sheet(data: bytes, random: Random) -> bytes:
    """Other cells, or other bytes in one of the parts of the archive."""
    if random.random() < 0.5:
        rows: list[list[Any]] = [[*HEAD], *([*row.values()] for row in ROWS)]
        for _ in range(random.choice([1, 2, 5])):
            row = random.choice(rows)
            value = odd_cell(random)
            row[random.randrange(len(row))] = "".join(sign for sign in value if sign.isprintable())[:9000]
        return workbook(rows)
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        chosen = random.choice(old.namelist())
    return packed(data, lambda name, part: mutated(part, random, 2) if name == chosen else part)


def other_table(random: Random) -> bytes:
    """A sound Parquet file with columns of other kinds, other names, or none."""
    columns = {name: [row[name] for row in ROWS] for name in HEAD}
    odd: Sequence[Sequence[Any]] = (
        [None, None, None], [True, False, None], [b"\xff", b"", None], [[1], [], None],
        [{"a": 1}, None, None],
        [float("nan"), float("inf"), 1e300], [-1, 0, 2**63 - 1], ["", "x", None], [1.5, 2.5, 3.5],
    )  # fmt: skip
    for _ in range(random.choice([1, 1, 2])):
        name = random.choice(HEAD)
        if random.random() < 0.2:
            columns.pop(name, None)
        else:
            columns[random.choice([name, name, "left_out", "gpu", "deadline_s", ""])] = [*random.choice(odd)]
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


def run_cases(
    file: Path, name: str, data: bytes, call: Callable[[Path], Any], numbers: range
) -> Counter[str]:
    found: Counter[str] = Counter()
    for number in numbers:
        made = turned(data, name, Random(f"{name} {number}"))
        file.write_bytes(made)
        found[judged(lambda: call(file), f"{name} {number}:\n{made[:3000]!r}")] += 1
    return found


@pytest.mark.parametrize("name", TRACES)
def test_traces(name: str, tmp_path: Path) -> None:
    file, data = tmp_path / TITLES.get(name, "jobs"), TRACES[name]()
    file.write_bytes(data)
    assert judged(lambda: imported(file), data) == "answered"
    found = run_cases(file, name, data, imported, range(12))
    assert found["refused"] >= 1, found


@pytest.mark.long
@pytest.mark.parametrize("name", TRACES)
def test_a_thousand_traces(name: str, tmp_path: Path) -> None:
    found = run_cases(tmp_path / TITLES.get(name, "jobs"), name, TRACES[name](), imported, range(12, 1012))
    assert min(found["answered"], found["refused"]) >= 20, found


@pytest.mark.parametrize("name", OTHERS)
def test_other_files(name: str, tmp_path: Path) -> None:
    title, data, call = OTHERS[name]
    file = tmp_path / title
    file.write_bytes(data)
    assert judged(lambda: call(file), data) == "answered"
    found = run_cases(file, name, data, call, range(25))
    assert found["refused"] >= 2, found


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_a_thousand_other_files(name: str, tmp_path: Path) -> None:
    title, data, call = OTHERS[name]
    found = run_cases(tmp_path / title, name, data, call, range(25, 1025))
    assert min(found["answered"], found["refused"]) >= 20, found
