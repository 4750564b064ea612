"""Edits of a question: that they lead from the start to the end, and what an address may hold."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.load import dump, load, load_text
from sim.ui.question_changes import Change, changes
from sim.ui.question_edits import (
    UNSET,
    decoded,
    edited,
    edits_between,
    encoded,
    value_at,
    with_value,
    yaml_text,
)
from sim.ui.question_store import start_tree

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "scenarios").glob("*.yaml"))

_PLAIN = st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats(0, 1e6) | st.text(max_size=6)
_VALUES = st.recursive(
    _PLAIN,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=3), below, max_size=4),
    max_leaves=12,
)
TREES = st.dictionaries(st.sampled_from("abcd"), _VALUES, max_size=4)


@given(TREES, TREES)
def test_edits_lead_from_any_start_to_any_end_through_an_address(start: Any, end: Any) -> None:
    there = edited(start, decoded(encoded(list(edits_between(start, end)))))
    assert there == end
    assert json.dumps(there) == json.dumps(end) or there == end  # true stays true, 1 stays 1
    assert list(edits_between(end, there)) == []


def test_one_change_is_one_short_edit() -> None:
    start = {"strategies": [{"name": "a", "leases": [{"count": 4}]}, {"name": "b"}]}
    end = with_value(start, ("strategies", 0, "leases", 0, "count"), 8)
    assert list(edits_between(start, end)) == [[["strategies", 0, "leases", 0, "count"], 8]]
    assert len(encoded(list(edits_between(start, end)))) < 80
    assert start["strategies"][0]["leases"] == [{"count": 4}], "the start is left as it was"


def test_values_are_set_made_taken_away_and_appended() -> None:
    assert with_value({}, ("terms", "refund", "rule"), "none") == {"terms": {"refund": {"rule": "none"}}}
    assert with_value({"a": {"b": 1, "c": 2}}, ("a", "b"), UNSET) == {"a": {"c": 2}}
    assert with_value({"a": 1}, ("b", "c"), UNSET) == {"a": 1}, "nothing is made to be taken away"
    assert with_value({"a": [1]}, ("a", 1), 2) == {"a": [1, 2]}
    assert with_value({"a": [1, 2]}, ("a", 0), UNSET) == {"a": [2]}
    assert value_at({"a": [{"b": 3}]}, ("a", 0, "b")) == 3
    assert value_at({"a": [{"b": 3}]}, ("a", 1, "b")) is UNSET
    with pytest.raises(KeyError):
        with_value({"a": [1]}, ("a", 7), 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "%%%",
        "abc",
        encoded([[["a"], 1]])[:-4],
        base64.urlsafe_b64encode(zlib.compress(b"{}")).decode(),
        base64.urlsafe_b64encode(zlib.compress(b"[" * 500_000)).decode(),
        base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000, 9)).decode(),
    ],
    ids=["empty", "no signs", "no zlib", "cut", "no list", "nested without end", "unpacks to 50 MB"],
)
def test_an_address_that_holds_no_edits_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="edits"):
        decoded(text)


@pytest.mark.parametrize(
    "edits", [["a"], [[[], 1]], [[["a", "b"], 1]], [[["l", 9], 1]], [[["a"], 1, 2]], [[[True], 1]]]
)
def test_edits_of_another_question_are_refused(edits: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"edit|place"):
        edited({"a": 1, "l": [1]}, edits)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_question_as_a_tree_and_as_text_is_the_question(file: Path) -> None:
    tree = start_tree(file)
    assert "extends" not in tree
    again = load_text(yaml_text(tree), folder=file.parent)
    assert dump(again.scenario) == dump(load(file).scenario)


def test_words_that_look_like_other_things_stay_words() -> None:
    tree = {
        "a": "no",
        "b": "12:30",
        "c": "1e5",
        "d": "2026-01-01",
        "e": "0x10",
        "f": "null",
        "g": "=1+1",
        "h": "#x",
    }
    from sim.load_tree import read_tree

    assert read_tree(yaml_text(tree), "x").plain() == tree


def test_changes_are_told_by_name() -> None:
    start = {
        "strategies": [{"name": "four", "leases": [{"count": 4}]}, {"name": "eight"}],
        "target": {"on_time": 0.9},
    }
    end = {"strategies": [{"name": "four", "leases": [{"count": 5}]}, {"name": "ten"}, {"name": "new"}]}
    assert list(changes(start, end)) == [
        Change(("strategies", "four", "leases", 0, "count"), 4, 5),
        Change(("strategies", "eight"), {"name": "eight"}, UNSET),
        Change(("strategies", "ten"), UNSET, {"name": "ten"}),
        Change(("strategies", "new"), UNSET, {"name": "new"}),
        Change(("target",), {"on_time": 0.9}, UNSET),
    ]


def test_a_new_name_is_told_as_a_new_name() -> None:
    start = {"classes": [{"name": "a", "rank": 16}, {"name": "b"}]}
    end = {"classes": [{"name": "a2", "rank": 16}, {"name": "b"}]}
    assert list(changes(start, end)) == [Change(("classes", "a", "name"), "a", "a2")]
