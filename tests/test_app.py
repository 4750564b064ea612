"""The page without a browser: what it shows of a question, of a run and of a mistake."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sim.cli.app import SAFE_OPTIONS
from sim.ui.runner import ChildRun, compare_command
from sim.ui.texts import literal
from tests.conftest import TWO_JOBS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def page(two_jobs: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page in a folder with one small question."""
    folder = two_jobs.parent / "scenarios"
    folder.mkdir()
    for file in (two_jobs, two_jobs.with_name("two.csv")):
        file.rename(folder / file.name)
    monkeypatch.chdir(two_jobs.parent)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def _texts(page: AppTest) -> str:
    parts = [*page.title, *page.subheader, *page.caption, *page.markdown, *page.success, *page.error]
    return "\n".join(str(part.value) for part in parts)


def test_shows_the_question_and_no_exception(page: AppTest) -> None:
    page.run()
    assert not page.exception
    assert "Which GPU fleet should be rented?" in _texts(page)
    assert "Two jobs, one card" in _texts(page).replace("\\", "")
    table = page.dataframe[0].value
    assert list(table["Strategy"]) == ["one card, annual", "two cards, monthly"]
    assert page.number_input[0].value == 2
    assert page.number_input[1].value == 1


def test_a_mistake_reads_as_on_the_command_line(page: AppTest) -> None:
    Path("scenarios/two.yaml").write_text(TWO_JOBS.replace("a100-40g-custom", "a100-41g"))
    page.run()
    assert not page.exception
    assert "a100-41g" in page.error[0].value.replace("\\", "")
    assert "known" in page.error[0].value


def test_an_upload_is_read_by_the_same_loader(page: AppTest) -> None:
    page.run()
    page.selectbox[0].select("Files of my own").run()
    trace = Path("scenarios/two.csv").read_bytes()
    page.file_uploader(key="upload_trace").set_value(("two.csv", trace, "text/csv"))
    text = TWO_JOBS.replace("Two jobs, one card", "Uploaded")
    page.file_uploader(key="upload_scenario").set_value(("mine.yaml", text.encode(), "text/yaml"))
    page.run()
    assert not page.exception
    assert "Uploaded" in _texts(page)


def test_runs_the_question_in_a_process_and_shows_the_decision(page: AppTest) -> None:
    page.run()
    page.button[0].click().run()
    child: ChildRun = page.session_state["run"]
    assert child.wait(60)
    page.run()
    assert not page.exception
    assert "'two cards, monthly' is the cheapest strategy" in page.success[0].value.replace("\\", "").lower()
    assert page.metric[0].label == "Confidence in this decision"
    rows: Any = page.dataframe[1].value
    assert list(rows["Committed cost"]) == ["26,880 CNY", "5,600 CNY"]
    assert page.query_params["run"]


def test_a_run_ends_with_a_document_or_a_message(two_jobs: Path) -> None:
    out = two_jobs.parent / "out"
    good = ChildRun(compare_command(two_jobs, out, 2, 1, "mid"), Semaphore(1))
    assert good.wait(60)
    assert (good.done, good.total) == (4, 4)
    assert good.document is not None
    assert Path(good.document["folder"]).is_dir()
    bad = ChildRun(compare_command(two_jobs.with_name("absent.yaml"), out, 2, 1, None), Semaphore(1))
    assert bad.wait(60)
    assert bad.document is None
    assert "absent.yaml" in bad.message


def test_a_run_waits_for_its_turn_and_can_be_stopped() -> None:
    gate = Semaphore(0)
    run = ChildRun([sys.executable, "-c", "import time; time.sleep(60)"], gate)
    assert run.queued
    gate.release()
    while run.queued:
        run.wait(0.05)
    run.cancel()
    assert run.wait(20)
    assert (run.document, run.message) == (None, "Stopped.")


def test_texts_of_users_stay_as_they_are() -> None:
    assert literal("a*b [c](d) :smile: $x$") == r"a\*b \[c\]\(d\) \:smile\: \$x\$"


def test_the_command_and_the_config_file_give_the_same_safe_settings() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    from_file = []
    for section, values in config.items():
        for key, value in values.items():
            for one in value if isinstance(value, list) else [value]:
                text = str(one).lower() if isinstance(one, bool) else str(one)
                from_file.append(f"--{section}.{key}={text}")
    assert sorted(from_file) == sorted(SAFE_OPTIONS)
