"""Questions of one's own: listed, kept through a change of mind, and found again through their runs."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.ui import form_lists, form_words, question_store
from sim.ui.question_edits import encoded
from sim.ui.question_store import QUESTIONS, keep_uploaded, start_tree, uploaded
from sim.ui.question_take import _stem
from sim.ui.state import Hand
from sim.ui.told_rules import rule_sentence
from tests.conftest import TWO_JOBS, Outcome

SCRIPTS = Path(__file__).parents[2] / "sim" / "ui" / "scripts"
TRACE = b"id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n"
MORE = encoded([[["strategies", 0, "leases", 0, "count"], 3]])

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(two_jobs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the question `two` below scenarios/."""
    monkeypatch.chdir(two_jobs.parent)
    home = two_jobs.parent / "scenarios"
    home.mkdir()
    (home / "two.yaml").write_text(TWO_JOBS)
    (home / "two.csv").write_bytes(TRACE)
    return two_jobs.parent


def _page(script: str, **address: str) -> AppTest:
    page = AppTest.from_file(str(SCRIPTS / f"{script}.py"), default_timeout=60)
    for name, value in address.items():
        page.query_params[name] = value
    return page.run()


def _keep(name: str, at: int = 0) -> str:
    """An uploaded question of this name, kept `at` seconds after 1970."""
    text = TWO_JOBS.replace("Two jobs, one card", name).encode()
    kept = keep_uploaded("mine.yaml", {"mine.yaml": text, "two.csv": TRACE})
    if at:
        os.utime(QUESTIONS / kept, (at, at))
    return kept


def test_uploaded_questions_stay_in_the_list_the_newest_first() -> None:
    older, newer = _keep("An older one", 86_400), _keep("A newer one", 864_000)
    page = _page("question", question="two")
    assert not page.exception
    listed = page.selectbox(key="question-pick").options
    shown = [title for title in listed if "(own, " in title]
    assert [title.partition(" (own, ")[0] for title in shown] == ["A newer one", "An older one"]
    assert all(re.search(r"\(own, 1970-01-\d\d \d\d:\d\d\)$", title) for title in shown)
    assert [listed.index(title) for title in shown] == [len(listed) - 2, len(listed) - 1]
    page.selectbox(key="question-pick").set_value(older).run()
    assert page.text_input(key="f:strategies.0.name").value == "one card, annual"
    page.selectbox(key="question-pick").set_value("two").run()
    assert any(
        title.startswith("An older one (own, ") for title in page.selectbox(key="question-pick").options
    )
    assert _keep("An older one") == older
    assert uploaded() == (older, newer), "what is uploaded again is the newest"


def test_the_list_holds_a_limit_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_store, "MOST_LISTED", 2)
    kept = [_keep(f"Number {number}", 1000 * (number + 1)) for number in range(3)]
    assert uploaded() == (kept[2], kept[1])
    page = _page("question", question=kept[0])
    chosen = page.selectbox(key="question-pick")
    assert chosen.value == kept[0]
    assert any(title.startswith("Number 0 (own, 1970-01-01") for title in chosen.options), "it is in hand"


def test_picking_another_question_says_where_the_changes_are() -> None:
    page = _page("question", question="two", edits=MORE)
    page.selectbox(key="question-pick").set_value("four-to-eight").run()
    assert not page.exception
    assert [one.value for one in page.toast] == [
        "Your changes to the other question are put aside. The browser's Back brings them back."
    ]
    page.selectbox(key="question-pick").set_value("two").run()
    assert not page.toast, "nothing was changed"


# -- A run is opened with its question -------------------------------------------------------------


@pytest.fixture
def run(fleetsim: Callable[..., Outcome]) -> Callable[..., str]:
    """Compare a file; the name of its run."""

    def compare(file: object, *words: str) -> str:
        told = fleetsim("compare", file, *words, "--format", "json", "--jobs", "1", "--out", "outputs")
        assert told.code == 0, told.err
        return "/".join(Path(json.loads(told.out)["folder"]).parts[-2:])

    return compare


def _parts(run: str, **address: str) -> dict[str, str]:
    """What `Open` puts into the address, for somebody who has the question of `address` in hand."""

    def script(name: str) -> None:
        import streamlit as st

        from sim.ui.run_question import question_parts

        st.json(question_parts(name))

    page = AppTest.from_function(script, args=(run,), default_timeout=60)
    for name, value in address.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    found: dict[str, str] = json.loads(page.json[0].value)
    return found


def _is_answered(run: str, parts: dict[str, str]) -> bool:
    """Whether Compare shows the run as the answer to the question in the address."""
    page = _page("compare", run=run, **{name: text for name, text in parts.items() if text})
    assert not page.exception
    return not any("result below" in one.value or "not of" in one.value for one in page.warning)


def test_a_run_opens_a_question_of_the_list(run: Callable[..., str]) -> None:
    name = run("scenarios/two.yaml", "--seed", "5", "--replications", "2", "--price", "low")
    assert _parts(name) == {"question": "two", "edits": ""}
    assert not _is_answered(name, {}), "the worked example is another question"
    assert _is_answered(name, _parts(name))
    own = _keep("Mine")
    assert _parts(run(question_store.file_of(own)), question="two") == {"question": own, "edits": ""}


def test_a_run_of_an_edited_question_opens_the_edits(run: Callable[..., str]) -> None:
    _page("compare", question="two", edits=MORE)  # which keeps the edited question
    (edited,) = QUESTIONS.glob("edit-*/scenario.yaml")
    name = run(edited)
    assert _parts(name) == {"question": "two", "edits": MORE}
    assert _is_answered(name, _parts(name))
    other = encoded([[["horizon"], "40d"]])
    assert _parts(name, question="two", edits=MORE)["edits"] == MORE
    assert _parts(name, question="two", edits=other)["edits"] == MORE


def test_a_run_whose_question_has_gone_opens_what_it_keeps(run: Callable[..., str], folder: Path) -> None:
    """The scenario on disk says something else by now, so the run's own one is taken, with its jobs."""
    name = run("scenarios/two.yaml", "--set", "strategies.0.leases.0.count=7")
    parts = _parts(name)
    assert parts["question"].startswith("own-")
    file = question_store.file_of(parts["question"])
    assert file is not None
    assert start_tree(file)["strategies"][0]["leases"][0]["count"] == 7
    assert _is_answered(name, parts)
    shutil.rmtree(folder / "outputs" / name)
    assert _parts(name) == {}


# -- What it is called -----------------------------------------------------------------------------


def test_its_file_has_its_name_and_not_its_digest() -> None:
    """AppTest cannot read the name of a download: it is asked of the function that makes it."""
    own = question_store.file_of(_keep("Own cards, 2 months"))
    two = question_store.file_of("two")
    assert own is not None
    assert two is not None
    tree = start_tree(own)
    assert _stem(Hand(own.parent.name, own, tree, tree, ())) == "own-cards-2-months"
    edited = {**tree, "name": "租卡"}
    assert _stem(Hand(own.parent.name, own, tree, edited, ())) == "租卡-edited"
    assert _stem(Hand("two", two, tree, tree, ())) == "two"


def test_a_message_keeps_the_id_of_an_offer_as_it_is_written() -> None:
    assert rule_sentence("rtx3090-24g-cloud is not rented under this plan").startswith("rtx3090-24g-cloud is")
    assert rule_sentence("mine is not rented under this plan").startswith("mine is")
    assert rule_sentence("must be at least 1") == "Must be at least 1."
    lease = {"offer": "rtx3090-24g-cloud", "count": 1, "plan": "hourly"}
    page = _page("question", question="two", edits=encoded([[["strategies", 0, "leases", 0], lease]]))
    told = [one.value.replace("\\", "") for one in page.error]
    assert any(one.startswith("rtx3090-24g-cloud is not rented under this plan") for one in told), told


def test_a_link_of_a_deleted_run_promises_nothing_below() -> None:
    told = _page("compare", question="two", run="two-jobs-one-card/0123456789ab").warning[0].value
    assert told.startswith("The link names a result that is not on this machine")
    assert "once it has been run" in told


@pytest.mark.usefixtures("chinese")
def test_mistakes_in_a_file_of_ones_own_are_told_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (form_lists, form_words):  # the test names options of boxes outside of the page, too
        monkeypatch.setattr(module, "language", lambda: "zh")
    page = _page("question", question="two", lang="zh")
    wrong = TWO_JOBS.replace("horizon:", "horizn:").encode()
    page.file_uploader(key="upload-scenario").set_value(("mine.yaml", wrong, "application/yaml"))
    page.run()
    page.button(key="upload-open").click().run()
    assert not page.exception
    told = "\n".join(str(one.value) for one in page.error).replace("\\", "")
    assert "horizn: 没有这个键。" in told
    assert "horizon: 缺少这个键，它没有默认值。" in told
    assert "unknown" not in told
