"""The page `question`: the answer that is there at once, picking, uploading, links, taking it along."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sim.experiments.compare import compare
from sim.load import load, load_text
from sim.report.save import save
from sim.ui.jobs import jobs
from sim.ui.language import catalogue
from sim.ui.question_edits import encoded
from sim.ui.question_result import decision_words
from sim.ui.question_store import FIRST, QUESTIONS, start_tree
from sim.ui.target_words import status_words
from tests.conftest import TWO_JOBS

ROOT = Path(__file__).parents[2]
PAGE = str(ROOT / "sim" / "ui" / "scripts" / "question.py")
TRACE = b"id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n"
SHORTER = encoded([[["horizon"], "40d"], [["strategies", 0, "leases", 0, "count"], 3]])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small question and the shipped ones."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    (tmp_path / "scenarios" / "two.yaml").write_text(TWO_JOBS)
    (tmp_path / "scenarios" / "two.csv").write_bytes(TRACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _page(**address: str) -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in address.items():
        page.query_params[name] = value
    return page.run()


def _said(page: AppTest) -> str:
    parts = [
        *page.title,
        *page.subheader,
        *page.caption,
        *page.markdown,
        *page.success,
        *page.error,
        *page.info,
    ]
    return "\n".join(str(part.value) for part in (*parts, *page.info, *page.warning)).replace("\\", "")


def test_a_first_visitor_sees_an_answer(folder: Path) -> None:
    """The figures are those of the stored document, which a test of its own holds to the program."""
    page = _page()
    assert not page.exception
    stored = json.loads((ROOT / "sim/ui/worked/four-to-eight/comparison.json").read_text())
    chosen = stored["recommendation"]["strategy"]
    own = next(one["metrics"] for one in stored["strategies"] if one["name"] == chosen)
    sentence = page.success[0].value.replace("\\", "")
    assert sentence.startswith(f"**Rent '{chosen}'**")
    assert f"{own['committed_cost_cny']['mean']:,.0f} CNY" in sentence
    assert f"{own['wait_p95_h']['mean']:.1f} h" in sentence
    assert page.metric[0].label == "Confidence"
    assert "%" in page.metric[0].value
    assert "Stored result of exactly this question: 20 simulated runs" in _said(page)
    assert page.button(key="question-see-all").label == "See the whole comparison"


def test_in_chinese(folder: Path) -> None:
    page = _page(lang="zh")
    assert not page.exception
    assert "建议租用“6 custom cards, annual”" in page.success[0].value.replace("\\", "")
    assert "161,280 元" in page.success[0].value.replace("\\", "")
    assert page.metric[0].label == "把握"


def test_shipped_questions_are_called_by_their_name(folder: Path) -> None:
    """The English words are the files' own names, so that a translation never stands for another question."""
    files = {file.stem: file for file in (ROOT / "scenarios").glob("*.yaml")}
    words = {
        key.removeprefix("shipped."): text
        for key, text in catalogue("en").items()
        if key.startswith("shipped.")
    }
    assert words == {stem: start_tree(file)["name"] for stem, file in files.items()}
    page = _page(lang="zh", question="two")
    in_order = sorted(files, key=lambda stem: (stem != FIRST, stem))
    assert page.selectbox(key="question-pick").options == [
        *(catalogue("zh")[f"shipped.{stem}"] for stem in in_order),
        "Two jobs, one card",
    ]  # fmt: skip


def test_two_files_of_one_name_are_told_apart(folder: Path) -> None:
    """The browser sends back the title that it shows, which would open the other file."""
    text = Path("scenarios/two.yaml").read_text(encoding="utf-8")
    Path("scenarios/two-again.yaml").write_text(text, encoding="utf-8")
    page = _page(question="two")
    shown = page.selectbox(key="question-pick").options
    assert {"Two jobs, one card (two)", "Two jobs, one card (two-again)"} <= set(shown)
    assert len(set(shown)) == len(shown)
    Path("scenarios/two-again.yaml").unlink()


def test_a_changed_example_has_no_stored_answer(folder: Path) -> None:
    page = _page(edits=encoded([[["target", "wait_p95"], "5h"]]))
    assert not page.exception
    assert not page.success
    assert "not been computed yet" in page.info[0].value
    assert page.button(key="question-compute").label == "Compare the strategies"


def test_one_press_compares_the_strategies(folder: Path) -> None:
    """A press runs the question as it stands, and the page that it leads to says nothing else to press."""
    many = encoded([[["experiment", "seed"], 12], [["experiment", "replications"], 2000]])
    page = _page(question="two", edits=many)
    page.button(key="question-compute").click().run()
    assert not page.exception
    job = jobs().get(str(page.query_params["job"]))
    assert job is not None
    words = " ".join(job.run.command[3:])
    assert words.startswith("compare outputs/.questions/edit-")
    assert "--seed 12 --replications 2000 --baseline one card, annual" in words
    script = Path(PAGE).with_name("compare.py")
    there = AppTest.from_file(str(script), default_timeout=60)
    for name, value in page.query_params.items():
        there.query_params[name] = value[0] if isinstance(value, list) else value
    there.run()
    assert not there.exception
    at_work = not job.run.ended
    job.run.cancel()
    assert job.run.wait(90)
    assert at_work
    assert not [one for one in there.info if "There is no result" in one.value]


def test_a_finished_run_of_exactly_this_question_is_its_answer(folder: Path) -> None:
    comparison = compare(load("scenarios/two.yaml"))
    save(comparison, Path("outputs"))
    page = _page(question="two")
    # 12 months of one card at 0.80 of 2,800 CNY cost more than one month of two cards: 26,880 and 5,600.
    # In amber: of the annual contract eleven months more are owed than were simulated.
    sentence = page.warning[0].value.replace("\\", "")
    assert not page.success
    assert "Too short a time" in page.warning[1].value
    assert sentence.startswith(
        "**Rent 'two cards, monthly'**: no target is set, and it is the cheapest that keeps up"
    )
    assert "5,600 CNY. 95 of 100 jobs wait at most 0 h." in sentence
    other = _page(question="two", edits=encoded([[["experiment", "seed"], 2]]))
    assert "not been computed yet" in other.info[0].value


def test_the_decision_in_words() -> None:
    def strategy(name: str, cost: float, wait: float, penalty: float = 0.0) -> dict[str, Any]:
        figures = {
            "committed_cost_cny": cost, "cost_with_penalties_cny": cost + penalty, "penalty_cny": penalty,
            "wait_p95_h": wait,
        }  # fmt: skip
        return {"name": name, "metrics": {key: {"mean": value} for key, value in figures.items()}}

    lines = [strategy("a*b", 100, 9), strategy("b", 200, 3), strategy("c", 150, 5)]
    target = [{"metric": "jobs_refused", "limit": 0}, {"metric": "wait_p95_h", "limit": 4}]
    told = decision_words({"recommendation": {"strategy": "b"}, "strategies": lines, "target": target})
    assert told.replace("\\", "") == (
        "**Rent 'b'**: it is the cheapest that meets the target. It commits 200 CNY, and 95 of 100 jobs "
        "wait at most 3.0 h. Cheaper, but not good enough: 'a*b', 'c'."
    )
    assert r"a\*b" in told, "names are never read as Markdown"
    none = decision_words({"recommendation": {"strategy": None}, "strategies": lines, "target": target})
    assert none.startswith("No strategy meets the target.")
    # What is cheaper says what it misses; a line that is met is not named.
    refused = {"metric": "jobs_refused", "unit": "jobs", "rule": "at most", "limit": 0.0, "mean": 8.0}
    in_time = {"metric": "wait_p95_h", "unit": "h", "rule": "at most", "limit": 4.0, "mean": 3.9}
    lines[0]["target"] = {
        "status": "missed",
        "lines": [
            {**refused, "meets": False, "status": "missed"},
            {**in_time, "meets": True, "status": "unsure"},
        ],
    }
    told = decision_words({"recommendation": {"strategy": "b"}, "strategies": lines, "target": target})
    assert told.replace("\\", "").endswith(
        "Cheaper, but not good enough: 'a*b' (Jobs refused: 8 jobs, at most 0 jobs asked), 'c'."
    )
    assert status_words(lines[0]) == "missed: Jobs refused"
    # With penalties, c (150 + 100) is dearer than b.
    lines = [strategy("b", 200, 3), strategy("c", 150, 5, 100)]
    told = decision_words({"recommendation": {"strategy": "b"}, "strategies": lines, "target": target})
    assert "Cheaper" not in told


def test_a_link_restores_the_question(folder: Path) -> None:
    page = _page(question="two", edits=SHORTER)
    assert not page.exception
    assert page.number_input(key="f:strategies.0.leases.0.count").value == 3
    rows = page.dataframe[-1].value
    assert rows.to_dict("records") == [
        {"Where": "Length of time simulated", "Before": "30d", "After": "40d"},
        {"Where": "Strategies › one card, annual › Leases › 1 › Units", "Before": "1", "After": "3"},
    ]


@pytest.mark.parametrize(
    "edits", ["nonsense", encoded([[["strategies", 7, "name"], "x"]]), "at-0123456789abcdef"]
)
def test_a_broken_link_is_said_and_the_question_shown(folder: Path, edits: str) -> None:
    page = _page(question="two", edits=edits)
    assert not page.exception
    assert "cannot be read" in page.warning[0].value
    assert page.number_input(key="f:strategies.0.leases.0.count").value == 1


@pytest.mark.parametrize("name", ["../secret", "own-0123456789abcdef", "x/y", "nothing"])
def test_a_question_that_is_not_there(folder: Path, name: str) -> None:
    page = _page(question=name)
    assert not page.exception
    assert "not on this machine" in page.warning[0].value
    assert page.success


def test_picking_another_question_drops_the_edits(folder: Path) -> None:
    page = _page(question="two", edits=SHORTER)
    page.selectbox(key="question-pick").set_value("replay").run()
    assert not page.exception
    assert page.query_params["question"] in ("replay", ["replay"])
    assert "edits" not in page.query_params
    assert page.text_input(key="f:strategies.0.name").value == "4 custom cards"


def test_edits_too_long_for_an_address_are_kept_on_disk(folder: Path) -> None:
    page = _page(question="two")
    page.session_state["question-part"] = "text"
    page.run()
    text = page.text_area(key="question-text").value
    lease = "{offer: a100-40g-custom, plan: monthly}"
    names = [hashlib.sha256(bytes([place])).hexdigest() for place in range(150)]
    lines = "".join(f"- {{name: x{name}, leases: [{lease}]}}\n" for name in names)
    page.text_area(key="question-text").set_value(f"{text.partition('strategies:')[0]}strategies:\n{lines}")
    page.run()
    page.button(key="question-text:take").click().run()
    assert not page.exception
    held = page.query_params["edits"]
    held = held[0] if isinstance(held, list) else held
    assert held.startswith("at-")
    assert (QUESTIONS / f"{held}.edits").is_file()
    again = _page(question="two", edits=held)
    assert len(again.dataframe[0].value) == 150
    assert not again.error


def _upload(page: AppTest, text: str, *others: tuple[str, bytes, str]) -> AppTest:
    page.file_uploader(key="upload-scenario").set_value(("mine.yaml", text.encode(), "text/yaml"))
    if others:
        page.file_uploader(key="upload-files").set_value(list(others))
    page.run()
    return page.button(key="upload-open").click().run()


def test_a_good_upload_becomes_the_question(folder: Path) -> None:
    page = _upload(_page(), TWO_JOBS.replace("Two jobs, one card", "Mine"), ("two.csv", TRACE, "text/csv"))
    assert not page.exception
    assert not page.error
    name = page.query_params["question"]
    name = name[0] if isinstance(name, list) else name
    assert name.startswith("own-")
    assert [path.name for path in QUESTIONS.iterdir()] == [name]
    page.number_input(key="f:strategies.0.leases.0.count").set_value(2).run()
    assert not page.error, "an uploaded question is edited like any other"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            TWO_JOBS.replace("a100-40g-custom", "a100-41g", 1),
            "mine.yaml:11: strategies.0.leases.0.offer: unknown offer",
        ),
        (TWO_JOBS.replace("{file: two.csv}", "{file: /etc/passwd}"), "only files that were uploaded"),
        ("name: [", "mine.yaml"),
        ("#" * 300_000, "at most 256 kB"),
    ],
)
def test_a_bad_upload_is_refused_with_its_line(folder: Path, text: str, told: str) -> None:
    page = _upload(_page(), text, ("two.csv", TRACE, "text/csv"))
    assert not page.exception
    assert told in _said(page)
    assert "question" not in page.query_params
    assert not QUESTIONS.exists() or not list(QUESTIONS.iterdir())


def test_a_shipped_file_with_a_mistake_is_told_as_on_the_command_line(folder: Path) -> None:
    Path("scenarios/two.yaml").write_text(TWO_JOBS.replace("count: 1", "count: none"))
    page = _page(question="two")
    assert not page.exception
    told = _said(page)
    assert "two.yaml:11: Strategies › one card, annual › Leases › 1 › Units: must be a whole number." in told
    assert "Found: none." in told


def test_a_file_that_is_no_yaml_can_still_be_left(folder: Path) -> None:
    Path("scenarios/two.yaml").write_text("name: [")
    page = _page(question="two")
    assert not page.exception
    assert "two.yaml" in _said(page)
    page.selectbox(key="question-pick").set_value("replay").run()
    assert not page.exception
    assert not page.error


def test_other_pages_stop_at_a_question_with_mistakes(folder: Path) -> None:
    def other() -> None:
        import streamlit as st

        from sim.ui.state import current_draft

        st.title(current_draft().question.scenario.name)

    page = AppTest.from_function(other, default_timeout=60)
    page.query_params["question"] = "two"
    page.query_params["edits"] = SHORTER
    page.run()
    assert page.title[0].value == "Two jobs, one card"
    page.query_params["edits"] = encoded([[["horizon"], "soon"]])
    page.run()
    assert not page.title
    assert not page.exception
    assert "has mistakes" in page.error[0].value
    assert "a horizon is a duration" in _said(page)


def test_what_commands_are_given_is_the_question_as_edited(folder: Path) -> None:
    def other() -> None:
        import streamlit as st

        from sim.ui.state import current_draft

        st.text(str(current_draft().file))

    page = AppTest.from_function(other, default_timeout=60)
    page.query_params["question"] = "two"
    page.query_params["edits"] = SHORTER
    page.run()
    file = Path(page.text[0].value)
    assert file.parent.parent == QUESTIONS
    found = load(file)
    assert found.scenario.strategies[0].leases[0].count == 3
    assert len(found.trace) == 2
    again = load_text(file.read_text(), folder=folder / "scenarios")
    assert again.scenario == found.scenario


@pytest.mark.parametrize(
    ("part", "edit"),
    [
        ("strategies", [["strategies"], "abc"]),
        ("strategies", [["strategies"], []]),
        ("strategies", [["strategies", 0], None]),
        ("strategies", [["strategies", 0, "leases"], {"a": 1}]),
        ("strategies", [["strategies", 0, "leases", 0, "count"], 10**30]),
        ("strategies", [["strategies", 0, "leases", 0, "start"], "9999-99-99"]),
        ("workload", [["workload"], 5]),
        ("workload", [["workload", "classes"], [{"name": "x", "samples": {"lognormal": 5}}, None]]),
        ("reliability", [["reliability"], {"events": [[]], "lemons": True, "nonsense": {}}]),
        ("experiment", [["experiment"], {"until": {"half_width": [1]}, "seed": None}]),
        ("general", [["name"], ["a"]]),
    ],
)
def test_a_question_of_any_shape_is_shown_and_its_mistakes_told(
    folder: Path, part: str, edit: list[Any]
) -> None:
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["question"], page.query_params["edits"] = "two", encoded([edit])
    page.session_state["question-part"] = part
    page.run()
    assert not page.exception
    assert "cannot be computed yet" in page.error[0].value
    page.button(key="question-undo").click().run()
    assert not page.error


def test_what_is_downloaded_keeps_its_comments_and_loads_again(folder: Path) -> None:
    """AppTest cannot read a download button: its text is asked of the function that fills it."""

    def other(name: str, edits: str) -> None:
        import streamlit as st

        from sim.ui.question_take import _text
        from sim.ui.state import hand

        st.query_params["question"] = name
        if edits:
            st.query_params["edits"] = edits
        st.code(_text(hand()))

    def text_of(name: str, edits: str = "") -> str:
        page = AppTest.from_function(other, args=(name, edits), default_timeout=60).run()
        assert not page.exception
        return str(page.code[0].value) + "\n"

    scenarios = folder / "scenarios"
    assert text_of("replay").startswith("# yaml-language-server")
    assert "# Last month's jobs again" in text_of("replay")
    flat = text_of("annual-or-monthly-8-months")
    assert "extends" not in flat
    again = load_text(flat, folder=scenarios)
    assert again.scenario == load(scenarios / "annual-or-monthly-8-months.yaml").scenario
    changed = load_text(text_of("two", SHORTER), folder=scenarios)
    assert changed.scenario.strategies[0].leases[0].count == 3
