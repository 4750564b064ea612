"""The parts of a question, each with its form."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from sim.errors import InputError
from sim.load_tree import read_tree
from sim.ui.form import draw_field, draw_model
from sim.ui.form_base import Form, draw_problems
from sim.ui.form_kinds import field_of
from sim.ui.form_lists import add_entry, chosen_entry, entry_buttons
from sim.ui.form_words import choice_word, label
from sim.ui.language import say, word
from sim.ui.question_edits import value_at
from sim.ui.question_prices import offer_prices
from sim.ui.safe import literal
from sim.ui.state import Hand, put_tree
from sim.ui.told_rules import problem_told

__all__ = ["PARTS", "draw_part"]

LEASES_WIDTH = 400
"""Pixels: two leases of one strategy stand in a row, and the table would cut the second."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "strategies": ("strategies",),
    "workload": ("workload",),
    "terms": ("terms", "exchange"),
    "reliability": ("reliability", "checkpoint"),
    "target": ("target",),
    "experiment": ("experiment", "uncertain"),
    "general": ("name", "start", "horizon", "timezone", "performance", "catalog"),
    "text": (),
}
"""Part -> the keys of a scenario that its form shows."""


def draw_part(form: Form, found: Hand, part: str) -> None:
    """The form of one part."""
    if part == "text":
        _text(found)
    elif part == "strategies":
        _strategies(form)
    elif part == "workload":
        draw_problems(form, ("workload",))
        draw_model(form, ("workload",), "Workload")
    elif part == "general":
        draw_model(form, (), "Scenario", PARTS[part])
        offer_prices(form)
    else:
        for key in PARTS[part]:
            draw_field(form, (key,), field_of("Scenario", key))
    if part == "target" and not found.problems:
        st.caption(say("question.target_how"))


def _strategies(form: Form) -> None:
    """A table of all, and the form of one."""
    path = ("strategies",)
    draw_problems(form, path)
    items = value_at(form.tree, path)
    if not isinstance(items, list) or not items:
        st.button(
            word("question.add_strategy"), on_click=add_entry, args=(path, "Strategy"), key="f:strategies:add"
        )
        return
    st.dataframe(
        [_row(item) for item in items],
        hide_index=True,
        column_config={label("Strategy", "leases"): st.column_config.Column(width=LEASES_WIDTH)},
    )
    left, right = st.columns((2, 1), vertical_alignment="bottom")
    with left:
        picked = chosen_entry(form, path, word("question.strategy"), items)
    with right:
        st.button(
            word("question.add_strategy"),
            icon=":material/add:",
            key="f:strategies:add",
            on_click=add_entry,
            args=(path, "Strategy"),
        )
    draw_problems(form, (*path, picked))
    draw_model(form, (*path, picked), "Strategy")
    entry_buttons(path, picked, items, word("form.one_strategies"))
    offer_prices(form)


def _row(strategy: object) -> dict[str, str]:
    """One strategy in few words, as far as it can be read."""
    found = strategy if isinstance(strategy, dict) else {}
    leases = found.get("leases")
    rented = [_rented(one) for one in leases if isinstance(one, dict)] if isinstance(leases, list) else []
    burst = found.get("burst")
    hourly = ""
    if isinstance(burst, dict):
        hourly = word("question.up_to", number=burst.get("max", ""), offer=burst.get("offer", ""))
    return {
        word("question.strategy"): str(found.get("name", "")),
        label("Strategy", "leases"): "; ".join(rented),
        label("Strategy", "burst"): hourly,
        label("Strategy", "policy"): choice_word("policy", str(found.get("policy", "fifo"))),
    }


def _rented(lease: Mapping[str, object]) -> str:
    plan = choice_word("plan", str(lease.get("plan", "")))
    until = [f"{word(f'question.{key}')} {lease[key]}" for key in ("start", "end") if lease.get(key)]
    return ", ".join((f"{lease.get('count', 1)} x {lease.get('offer', '')}", plan, *until))


def _text(found: Hand) -> None:
    """The question as a file, to be changed as text."""
    st.caption(say("question.text_how"))
    key = "question-text"
    if st.session_state.get(f"{key}:of") != found.text:
        st.session_state[key] = st.session_state[f"{key}:of"] = found.text
    st.text_area(word("question.text"), height=480, key=key)
    st.button(word("question.text_take"), type="primary", key=f"{key}:take", on_click=_take, args=(key,))
    wrong, of = st.session_state.get(f"{key}:wrong", ((), ""))
    for line in wrong if of == st.session_state[key] else ():
        st.error(literal(line), icon=":material/error:")


def _take(key: str) -> None:
    text = st.session_state[key]
    try:
        tree = read_tree(text, word("question.text"))
    except InputError as error:
        st.session_state[f"{key}:wrong"] = ([problem_told(problem) for problem in error.problems], text)
        return
    put_tree(tree.plain())
