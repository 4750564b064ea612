"""Mistakes are said at their fields: names that stand twice, blank names, numbers below 0."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.ui.form_units import parted_unit, written
from sim.ui.question_edits import encoded
from sim.units import parse_duration, parse_rate

ROOT = Path(__file__).parents[2]
PAGE = str(ROOT / "sim" / "ui" / "scripts" / "question.py")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped questions."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _page(edits: list[object], part: str = "strategies", **address: str) -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["edits"] = encoded(edits)
    for name, value in address.items():
        page.query_params[name] = value
    page.session_state["question-part"] = part
    page.run()
    assert not page.exception
    return page


def _errors(page: AppTest) -> list[str]:
    return [str(one.value).replace("\\", "") for one in page.error]


def test_a_name_that_stands_twice_is_marked_at_both_fields(folder: Path) -> None:
    """The loader names the second of the two; the form shows the first, which was changed."""
    page = _page([[["strategies", 0, "name"], "8 custom cards, annual"]])
    assert "Every strategy needs a name of its own." in _errors(page)
    picker = page.selectbox(key="f:strategies:entry")
    assert picker.options[:3] == [
        "8 custom cards, annual (1) ⚠", "8 custom cards, annual (2) ⚠", "one 8-card machine, annual",
    ]  # fmt: skip
    picker.set_value(1).run()
    assert "Every strategy needs a name of its own." in _errors(page)
    page.selectbox(key="f:strategies:entry").set_value(2).run()
    assert "Every strategy needs a name of its own." not in _errors(page)


def test_what_is_wrong_in_an_entry_is_marked_where_it_is_picked(folder: Path) -> None:
    page = _page([[["strategies", 4, "leases", 0, "count"], -1]])
    marked = [one for one in page.selectbox(key="f:strategies:entry").options if "⚠" in one]
    assert marked == ["6 custom cards, annual ⚠"]


@pytest.mark.parametrize("name", [" ", "\u3000", "\u200b"])
def test_a_name_that_nobody_sees_is_refused_at_its_field(folder: Path, name: str) -> None:
    page = _page([[["strategies", 0, "name"], name]])
    assert "A name needs at least one sign that can be seen." in _errors(page)
    assert not page.success


def test_a_length_of_time_below_0_keeps_its_box(folder: Path) -> None:
    page = _page([[["target", "wait_p95"], "-1h"]], "target")
    assert page.number_input(key="f:target.wait_p95").value == -1
    assert "A duration may not be below 0." in _errors(page)
    page = _page([[["horizon"], "-5d"]], "general")
    assert page.number_input(key="f:horizon").value == -5
    assert "A horizon must be longer than 0." in _errors(page)


def test_in_chinese(folder: Path) -> None:
    page = _page([[["target", "wait_p95"], "-1h"]], "target", lang="zh")
    assert "时长不能小于 0。" in _errors(page)


@pytest.mark.parametrize(
    ("form", "text", "parts"),
    [("duration", "-1.5h", (-1.5, "h")), ("rate", "-6/day", (-6, "day")), ("tolerance", "-5%", (-5, "%"))],
)
def test_numbers_below_0_are_parted_and_written_back(form: str, text: str, parts: tuple[float, str]) -> None:
    assert parted_unit(form, text) == parts
    assert written(form, *parts) == text


@pytest.mark.parametrize("text", ["-1h", " - 1h 30min", "--2d"])
def test_a_duration_below_0_is_said_to_be_one(text: str) -> None:
    with pytest.raises(ValueError, match="may not be below 0"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["-", "-h", "-1", "1h -2h", "-" * 100_000 + "x"])
def test_what_is_no_duration_at_all(text: str) -> None:
    with pytest.raises(ValueError, match="a duration is a number with a unit"):
        parse_duration(text)


def test_a_rate_below_0_is_said_to_be_one() -> None:
    with pytest.raises(ValueError, match="a rate may not be below 0"):
        parse_rate("-6/day")
