"""Boxes for numbers: what is typed is taken as it stands, or refused below the box in the page's language."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def _script() -> None:
    import streamlit as st

    from sim.ui.boxes import number_box, whole_box

    whole = whole_box("Cards", 1, 4096, 4, key="cards")
    share = number_box("Share", 0.5, 50.0, 5.0, key="share", step=0.5)
    open_ended = whole_box("Runs", 10, None, 200, key="runs")
    fixed = number_box("Fixed", 0.5, 50.0, 7.0, key="fixed", disabled=True)
    st.json({"whole": whole, "share": share, "open": open_ended, "fixed": fixed})


@pytest.mark.parametrize(
    ("key", "typed", "told"),
    [
        ("cards", 1e9, "Must be from 1 to 4,096."),
        ("cards", 2.7, "Must be a whole number."),
        ("cards", -5.0, "Must be from 1 to 4,096."),
        ("cards", 1e300, "Must be from 1 to 4,096."),
        ("share", 0.4, "Must be from 0.5 to 50."),
        ("share", 51.0, "Must be from 0.5 to 50."),
        ("runs", 9.0, "Must be at least 10."),
    ],
)
def test_a_number_that_is_not_taken_is_told_below_its_box(key: str, typed: float, told: str) -> None:
    page = AppTest.from_function(_script, default_timeout=20).run()
    assert not page.error
    page.number_input(key=key).set_value(typed).run()
    assert not page.exception
    assert [one.value.replace("\\", "") for one in page.error] == [told]
    assert page.number_input(key=key).value == typed  # it stands as it was typed


@pytest.mark.parametrize(("key", "name", "typed"), [("cards", "whole", 4096.0), ("runs", "open", 1e9)])
def test_a_number_that_is_taken_is_the_one_that_was_typed(key: str, name: str, typed: float) -> None:
    page = AppTest.from_function(_script, default_timeout=20).run()
    page.number_input(key=key).set_value(typed).run()
    assert not page.error
    assert f'"{name}": {typed:.0f}' in page.json[0].value.replace('":', '": ').replace(":  ", ": ")
    assert '"fixed":7.0' in page.json[0].value.replace(" ", "")


def test_the_sentence_is_in_the_language_of_the_page() -> None:
    page = AppTest.from_function(_script, default_timeout=20)
    page.query_params["lang"] = "zh"
    page.run().number_input(key="cards").set_value(2.7).run()
    assert [one.value for one in page.error] == ["必须是整数。"]
