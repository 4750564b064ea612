"""The settings of a comparison hold over a walk to another page and back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.ui.compare_form import PRICES, compare_words
from sim.ui.language import catalogue

ROOT = Path(__file__).parents[2]
PRICE = "compare-price-Four cards or eight?"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped questions."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _two_pages() -> None:
    """Script: the page `compare`, or another one."""
    import streamlit as st

    from sim.ui.compare_page import show

    if st.session_state.get("elsewhere"):
        st.title("elsewhere")
    else:
        show()


def test_prices_as_the_question_says_hold_over_a_walk(folder: Path) -> None:
    """A box whose chosen option is None comes back empty; each option is a text."""
    assert all(isinstance(level, str) for level in PRICES)
    assert {f"compare.price_{level}" for level in PRICES} <= set(catalogue("en"))
    page = AppTest.from_function(_two_pages, default_timeout=60).run()
    assert page.selectbox(key=PRICE).value == "own"
    page.number_input[0].set_value(7).run()
    for away in (True, False):
        page.session_state["elsewhere"] = away
        page.run()
        assert not page.exception
    assert page.number_input[0].value == 7
    assert page.selectbox(key=PRICE).value == "own"
    page.selectbox(key=PRICE).set_value("high").run()
    assert page.selectbox(key=PRICE).value == "high"


def test_what_the_question_says_is_no_word_of_the_command() -> None:
    words = compare_words(Path("a.yaml"), replications=2, seed=1, price=None, baseline="b")
    assert "--price" not in words
    assert "own" not in words
