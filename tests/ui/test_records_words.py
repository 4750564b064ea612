"""Sentences of the import in Chinese: remarks, reasons, what looks odd, and why a file is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.errors import InputError
from sim.ui.told_lines import line_told, message_told
from sim.ui.told_rules import rule_told
from sim.ui.workload_files import keep
from sim.ui.workload_wrong import in_form
from sim.workload.imports import import_jobs
from sim.workload.imports.settings import Settings
from tests.conftest import TWO_JOBS, Outcome

PAGE = str(Path(__file__).parents[2] / "sim" / "ui" / "scripts" / "workload.py")

SACCT = """\
JobID|User|State|Submit|Start|End|ElapsedRaw|Timelimit|AllocTRES|JobName
1|ann|COMPLETED|2026-03-02T09:00:00|2026-03-02T09:00:10|2026-03-02T10:00:10|3600|00:10:00|gres/gpu=1|a
2|bob|COMPLETED|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T12:00:00|7200|2-00:00:00|gres/gpu=2|b
2|bob|COMPLETED|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T12:00:00|7200|2-00:00:00|gres/gpu=2|b
3|ann|WHAT|2026-03-03T09:30:00|2026-03-03T09:30:00|2026-03-03T10:00:00|1800|soon|1001=2|c
4|ann|COMPLETED|2026-03-04T11:00:00|never|2026-03-04T10:00:00|1800||gres/gpu=1|d
5|ann|COMPLETED|2026-03-04T11:00:00|2026-03-04T11:00:00|2026-03-04T12:00:00|long||gres/gpu=1|e
6|ann|COMPLETED|2026-03-04T11:00:00|2026-03-04T11:00:00|2026-03-04T11:00:00|0||gres/gpu=1|f
x|ann|COMPLETED|2026-03-04T11:00:00|2026-03-04T11:00:00|2026-03-04T12:00:00|3600||gres/gpu=1|g
7_[1-4%2]|ann|PENDING|2026-03-04T11:00:00|Unknown|Unknown|0||gres/gpu=1|h
8.batch|ann|COMPLETED|2026-03-04T11:00:00|2026-03-04T11:00:00|2026-03-04T12:00:00|3600||gres/gpu=1|i
9|ann|COMPLETED|2026-03-04T11:00:00|2026-03-04T11:00:00|2026-03-04T12:00:00|3600||gres/gpu=99999999|j
"""

TABLE = """\
Submitted,Hours,GPUs,GPU type,Note
2026-03-02 09:00,1.5,2,a100,x
3/2/2026,2,1,a100,x
2026-03-02 10:00,soon,1,v100,x
2026-03-02 11:00,2,many,v100,x
2026-03-02 12:00,2
2026-03-02 13:00,0,1,a100,x
2026-03-02 14:00,"2,5",1,a100,x
"""

JSONL = """\
{"submit_s": 0, "runtime_s": 5, "gpus": 1}
{"submit_s": 0,
[1]
{"submit_s": 9, "runtime_s": 5, "gpus": 1}
"""

SWF = """\
; UnixStartTime: 0
; MaxProcs: 64
; TimeZoneString: Europe/Berlin
1 0 1 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1
2 5 1 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1
3 -7 1 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1
4 9 1 x 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1
"""

CHINESE = re.compile(r"[\u4e00-\u9fff]")
KEPT = re.compile(
    r"'[^']*'|\"[^\"]*\"|--[\w-]+(?: [\w.=:-]+)?|\b(?:card|gpus|runtime|sacct|start|[a-z]+_s)\b"
)
"""What was found, options and fields of a record: they stay."""


def _sentences(path: Path) -> list[str]:
    """All that the report of an import says, but for counts."""
    tally = import_jobs(path, Settings()).report.tally
    words = [*tally.remarks, *tally.kinds, *tally.merged, *tally.added, *tally.filtered, *tally.oddities]
    return [*words, *(one.reason for one in tally.asides)]


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("name", "text", "starts"),
    [
        ("dump.txt", SACCT, ("start is no time", "JobID is no job id", "a job of 99,999,999", "the job 8")),
        ("table.csv", TABLE, ("Taken by the names", "Kinds of cards", "GPUs is no whole", "Numbers in")),
        ("lines.jsonl", JSONL, ("this is no JSON (", "this is no JSON object", "Times are numbers")),
        ("log.swf", SWF, ("The header says MaxProcs", "17 numbers", "the submit time", "field runtime")),
    ],
    ids=["sacct", "csv", "jsonl", "swf"],
)
def test_nothing_english_is_left_of_an_import(
    tmp_path: Path, name: str, text: str, starts: tuple[str, ...]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    said = _sentences(path)
    for start in starts:
        assert any(one.startswith(start) for one in said), (start, said)
    for one in said:
        told = rule_told(one)
        assert CHINESE.search(told) or one == "JSON", (one, told)
        assert not re.search(r"\b[a-z]{4,}\b", KEPT.sub("", told)), (one, told)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a.csv: the file is empty", "a.csv: 文件是空的。"),
        (
            "a b.csv:3: number of cells: 3 cells where the header has 4: x: y",
            "a b.csv:3: 单元格数: 有 3 个单元格，而表头有 4 个：x: y。",
        ),
        (
            "a.csv:2: quotation marks: this is not valid CSV: unexpected end of data",
            "a.csv:2: 引号: 不是有效的 CSV：数据意外结束。",
        ),
        (
            "leases.0.offer: unknown offer (found 'a100'); did you mean 'a100-40g-8x'? known: a, b",
            "leases.0.offer: 没有这个报价。 当前值：'a100'。 是否指 'a100-40g-8x'？ 可选：a, b。",
        ),
        (
            (
                "p.yaml:3: offers.0.currency: a currency is a code of ISO 4217, such as CNY, USD or EUR; "
                "did you mean CNY?"
            ),
            "p.yaml:3: offers.0.currency: 货币用 ISO 4217 代码，如 CNY、USD 或 EUR；是否指 CNY？",
        ),
        ("a.csv:2: nobody has said this before (found 3)", "a.csv:2: nobody has said this before (found 3)"),
    ],
)
def test_a_line_of_a_message_is_read_back(line: str, told: str) -> None:
    assert line_told(line) == told
    assert message_told(f"Error: {line}") == told
    assert message_told(f"Error: 2 problems:\n  - {line}\n  - {line}") == f"{told}\n{told}"


def test_in_english_a_message_stays() -> None:
    text = "Error: 2 problems:\n  - a.csv: the file is empty\n  - b.csv: the file is empty"
    assert message_told(text) == text
    assert line_told("a.csv: the file is empty") == "a.csv: the file is empty"


@pytest.mark.usefixtures("chinese")
def test_every_refusal_of_a_file_is_told(tmp_path: Path) -> None:
    """As the command says it, and with boxes for options."""
    cases = {
        "zip.xlsx": (b"PK\x03\x04nothing", Settings()),
        "old.xls": (b"\xd0\xcf\x11\xe0", Settings()),
        "zero.csv": (b"a,b\n\0,1\n", Settings()),
        "cut.csv.gz": (b"\x1f\x8b\x08\x00", Settings()),
        "diary.txt": (b"dear diary\n", Settings()),
        "named.csv": (b"a,b\n1,2\n", Settings(encoding="utf-9")),
        "no.csv": ("gpus,submit_s,runtime_s\nä,1,2\n".encode("latin-1"), Settings(encoding="utf-8")),
        "sacct.txt": (b"1|ann|COMPLETED|x\n", Settings()),
        "fields.csv": (b"a,b\n1,2\n", Settings(mapping={"when": "a"})),
        "column.csv": (b"a,b\n1,2\n", Settings(mapping={"gpus": "c"})),
        "unit.csv": (b"submit_s,n,long\n1,1,2\n", Settings(mapping={"gpus": "n", "runtime_s": "long"})),
        "zone.csv": (b"gpus,submit_s,runtime_s\n1,1,2\n", Settings(timezone="Mars")),
        "window.csv": (b"gpus,submit_s,runtime_s\n1,1,x\n1,2,y\n", Settings()),
    }  # fmt: skip
    for name, (data, settings) in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(InputError) as refused:
            import_jobs(path, settings)
        for problem in refused.value.problems:
            text = str(problem).replace(f"{tmp_path}/", "")
            told = in_form(line_told(text))
            assert CHINESE.search(told), text
            bare = re.sub(r"当前值：.*|可选：.*|文件的列：.*|'[^']*'", "", told).replace(name, "")
            assert not re.search(r"\b(?:the|is|no|of|not)\b|--", bare), (text, told)


def test_the_chinese_page_shows_an_import_in_chinese(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fleetsim: Callable[..., Outcome]
) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "two.yaml").write_text(TWO_JOBS)
    (tmp_path / "scenarios" / "two.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\n")
    monkeypatch.chdir(tmp_path)
    record = keep("dump.txt", SACCT.encode(), ())
    for step, words in {
        "import": ("import", record.file, "-o", record.jobs),
        "show": ("show", record.jobs),
    }.items():
        (record.folder / f"{step}.json").write_text(fleetsim("workload", *words, "--format", "json").out)
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params.update({"question": "two", "trace": record.digest, "lang": "zh"})
    page.run()
    assert not page.exception
    aside = next(frame.value for frame in page.dataframe if "行号" in frame.value.columns)
    assert dict(zip(aside["类别"], aside["原因"], strict=True)) == {
        "时间": "start 不是时间：'never'",
        "时长": "ElapsedRaw 不是时长：'long'",
        "作业号": "JobID 不是作业号：'x'",
        "缺少作业的步骤": "这个步骤的作业 8 不在导出文件中",
        "卡数": "作业有 99,999,999 张卡；最多 100,000 张",
    }
    odd = next(frame.value for frame in page.dataframe if "例如行号" in frame.value.columns)
    assert "运行超过时限（回放在时限处结束）" in odd["项目"].tolist()
    assert "待运行数组的任务，同时最多运行 2 个：未模拟此限制" in odd["项目"].tolist()
    remarks = [one.value.replace("\\", "") for one in page.markdown if one.value.startswith("- ")]
    assert "- 作业的团队取其 User；可用“团队所在列”指定其他列。" in remarks
    assert "- 本地时间没有时区：按字面读取，不考虑夏令时（“本地时间的时区”可指定）。" in remarks
    assert not [one for one in remarks if re.search(r"\b(?:the|is|of)\b", one)]
    page.toggle(key="trace-how").set_value(True).run()
    assert page.selectbox(key="trace-encoding").label == "文字编码"
