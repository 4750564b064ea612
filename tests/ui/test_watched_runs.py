"""A comparison at work or just ended, as pages other than the one that asked for it see it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.ui.jobs import LOOKING_S, Job, jobs
from tests.conftest import Outcome

SCRIPTS = Path(__file__).parents[2] / "sim" / "ui" / "scripts"
ASLEEP = (sys.executable, "-S", "-c", "import time; time.sleep(120)")


@pytest.fixture
def file(two_jobs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The question `two` below scenarios/."""
    monkeypatch.chdir(two_jobs.parent)
    home = Path("scenarios")
    home.mkdir()
    for name in ("two.yaml", "two.csv"):
        (home / name).write_bytes(
            (two_jobs.parent / (two_jobs.name if name == "two.yaml" else name)).read_bytes()
        )
    return home / "two.yaml"


@pytest.fixture
def at_work(file: Path) -> Iterator[Job]:
    """A comparison of the question that does not end, asked with other settings than the question's."""
    words = ["compare", str(file), "--seed", "7", "--replications", "5", "--price", "low"]
    words += ["--baseline", "two cards, monthly", "--until", "wait_p95_h=3%", "--most", "90"]
    job = jobs().submit("compare", "Two jobs", [*ASLEEP, *words])
    yield job
    job.run.cancel()
    assert job.run.wait(30)


def _page(script: str, **address: str) -> AppTest:
    page = AppTest.from_file(str(SCRIPTS / f"{script}.py"), default_timeout=60)
    for name, value in address.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def _settings(page: AppTest) -> dict[str, object]:
    boxes = [*page.number_input, *page.selectbox, *page.button_group]
    return {box.label: box.value for box in boxes}


def test_a_new_window_shows_what_the_command_at_work_was_asked_with(at_work: Job) -> None:
    page = _page("compare", question="two", job=at_work.id)
    found = _settings(page)
    assert found["Replications"] == 5
    assert found["Seed"] == 7
    assert found["Prices"] == "low"
    assert "two cards, monthly" in found.values()
    assert "until" in found.values()
    assert {3.0, 90} <= set(found.values())
    page.number_input[0].set_value(9).run()
    assert page.number_input[0].value == 9, "what is typed holds"


def test_another_question_begins_with_its_own_settings(at_work: Job) -> None:
    found = _settings(_page("compare", question="four-to-eight", job=at_work.id))
    assert found["Replications"] == 20
    assert found["Prices"] == "own"
    assert "two cards, monthly" not in found.values()


def test_stop_says_when_others_follow_the_run(at_work: Job) -> None:
    told = [one.value for one in _page("compare", question="two", job=at_work.id).caption]
    assert not any("Other windows" in text for text in told)
    assert at_work.others("a window elsewhere") == 1
    page = _page("compare", question="two", job=at_work.id)
    assert any("Other windows that follow this run: 1" in one.value for one in page.caption)
    assert "also for others" in page.button(key=f"stop-{at_work.id}").help


def test_a_window_that_was_closed_is_not_counted(at_work: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.ui.jobs.time.monotonic", lambda: 1000.0)
    at_work.others("closed since")
    monkeypatch.setattr("sim.ui.jobs.time.monotonic", lambda: 1000.0 + LOOKING_S)
    assert at_work.others("here") == 0


# -- Ended while one was on another page -----------------------------------------------------------


@pytest.fixture
def ended(file: Path, fleetsim: Callable[..., Outcome]) -> tuple[Job, str]:
    """A comparison that has ended, with other settings than the question's, and the name of its run."""
    told = fleetsim("compare", file, "--seed", "7", "--format", "json", "--jobs", "1", "--out", "outputs")
    assert told.code == 0, told.err
    folder = json.loads(told.out)["folder"]
    say = f"import json; print(json.dumps({{'folder': {folder!r}}}))"
    job = jobs().submit("compare", "Two jobs", [sys.executable, "-S", "-c", say])
    assert job.run.wait(60)
    return job, "/".join(Path(folder).parts[-2:])


def test_finance_takes_the_run_that_has_just_ended(ended: tuple[Job, str]) -> None:
    job, run = ended
    page = AppTest.from_file(str(SCRIPTS / "finance.py"), default_timeout=60)
    page.query_params["question"], page.query_params["job"] = "two", job.id
    page.session_state["finance_part"] = "files"
    page.run()
    assert not page.exception
    assert page.query_params["run"] in (run, [run])
    assert "job" not in page.query_params
    assert page.button(key="finance_make_workbook")
    assert not any("made from a finished run" in one.value for one in page.info)


def test_finance_waits_for_a_run_at_work(at_work: Job) -> None:
    page = _page("finance", question="two", job=at_work.id)
    assert page.button(key=f"stop-{at_work.id}"), "its progress, which draws the page anew at the end"


def test_a_run_that_ended_elsewhere_does_not_take_the_place_of_an_opened_one(ended: tuple[Job, str]) -> None:
    job, run = ended
    page = _page("runs", question="two", job=job.id)
    assert page.query_params["run"] in (run, [run])
    assert "job" not in page.query_params
