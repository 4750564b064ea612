"""A record that cannot be read: each reason by itself, in the words of the form, and the way on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.ui.told_lines import parted
from sim.ui.workload_files import keep, stored
from sim.ui.workload_wrong import in_form
from tests.conftest import TWO_JOBS

PAGE = str(Path(__file__).parents[2] / "sim" / "ui" / "scripts" / "workload.py")
STRANGE = b"when,width,length\n2026-10-01 08:00,2,5\n2026-10-01 09:00,1,3\n"
"""Three columns whose names say nothing that the import knows."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small question."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "two.yaml").write_text(TWO_JOBS)
    (tmp_path / "scenarios" / "two.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _page(**address: str) -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in {"question": "two", **address}.items():
        page.query_params[name] = value
    return page.run()


def _ended(page: AppTest) -> AppTest:
    """Draw the page again until the import has ended, one way or the other."""
    for _ in range(240):
        assert not page.exception, page.exception
        if page.error or page.metric:
            return page
        time.sleep(0.25)
        page.run()
    pytest.fail("the import did not end")


def test_reasons_stand_apart_and_the_form_is_the_way_on(folder: Path) -> None:
    """The record is read in the end, from the copy on the server: nothing has to be uploaded again."""
    page = _ended(_page(trace=keep("strange.csv", STRANGE, ()).digest))
    told = page.error[0].value.replace("\\", "")
    assert told.splitlines()[0] == "The record could not be read (2 messages)."
    listed = [line for line in told.splitlines() if line.startswith("- strange.csv:1: ")]
    assert len(listed) == 2
    assert "how many cards a job had; name it, as in 'Columns': gpus=COLUMN" in listed[0]
    assert "--" not in told
    assert "problems" not in told
    fields = next(one.value for one in page.caption if "stands for what a column holds" in one.value)
    assert "`gpus` is how many cards a job had" in fields
    assert "`submit_s`" not in fields, "only what the messages ask for"
    keys = [button.key for button in page.button]
    assert "workload-start-import" not in keys, "the same would fail again"
    assert not page.toggle(key="trace-how").value
    page.button(key="workload-say-how").click().run()
    assert page.toggle(key="trace-how").value
    assert page.expander[0].proto.expanded
    assert any("strange.csv is read once more" in one.value.replace("\\", "") for one in page.caption)
    page.text_input(key="trace-map").set_value("submit_s=when,gpus=width,runtime_s=length:h").run()
    page.selectbox(key="trace-zone").set_value("UTC").run()
    page = _ended(page.button(key="trace-import").click().run())
    assert not page.error
    assert {one.label: one.value for one in page.metric}["Jobs"] == "2"
    digest = page.query_params["trace"]
    record = stored(digest[0] if isinstance(digest, list) else digest)
    assert record is not None
    assert record.file.read_bytes() == STRANGE
    assert not page.expander[0].proto.expanded


def test_in_chinese_reasons_are_told_and_the_boxes_have_their_chinese_names(folder: Path) -> None:
    page = _ended(_page(lang="zh", trace=keep("strange.csv", STRANGE, ()).digest))
    assert page.error[0].value.replace("\\", "").splitlines() == [
        "记录无法读取（2 条说明）。",
        "",
        (
            "- strange.csv:1: 没有一列说明作业的卡数；请指定，如“列对应”：gpus=列名；"
            "文件的列：when, width, length。"
        ),
        (
            "- strange.csv:1: 没有一列说明作业运行多久；请指定，如“列对应”：runtime_s=列名 "
            "（或 start_s 与 end_s）；文件的列：when, width, length。"
        ),
    ]
    assert page.button(key="workload-say-how").label == "指定读取方式"


def test_one_message_is_no_list(folder: Path) -> None:
    page = _ended(_page(trace=keep("empty.csv", b"", ()).digest))
    assert page.error[0].value.replace("\\", "") == "empty.csv: the file is empty"


def test_problems_are_told_apart() -> None:
    assert parted("Error: a.csv: it is bad") == ["a.csv: it is bad"]
    assert parted("Error: 1,200 problems:\n  - a.csv:1: it - is bad\n  - a.csv:2: worse") == [
        "a.csv:1: it - is bad",
        "a.csv:2: worse",
    ]
    assert parted("The command ended with code -9 and said nothing.") == [
        "The command ended with code -9 and said nothing."
    ]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("say it by --unit s (or min, h, d)", "say it by 'Unit of times': s (or min, h, d)"),
        ("taken as they stand (--timezone NAME).", "taken as they stand ('Time zone of local times': NAME)."),
        ("(--dates day-first or month-first)", "('Dates such as 3/2/2026': day-first or month-first)"),
        ("--decimal ,", "'Numbers are written with a decimal comma'"),
        ("Use --map if that is wrong.", "Use 'Columns' if that is wrong."),
        ("as in --card a100=A100-40G.", "as in 'What a recorded kind of card is': a100=A100-40G."),
        ("another column is named by --team-column.", "another column is named by 'Column with the team'."),
        ("cp1252 (--encoding NAME names another)", "cp1252 ('Encoding of a text': NAME names another)"),
        ("it has no box (--seed NUMBER names one)", "it has no box (--seed NUMBER names one)"),
        ("a date--as written--stays", "a date--as written--stays"),
    ],
)
def test_options_are_said_as_boxes(said: str, shown: str) -> None:
    assert in_form(said) == shown
