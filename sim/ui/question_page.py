"""The page `question`: pick a question, see its answer, change it in forms, take it along."""

from __future__ import annotations

import streamlit as st

from sim.ui.form_base import Form
from sim.ui.form_words import place
from sim.ui.language import say, word
from sim.ui.question_parts import PARTS, draw_part
from sim.ui.question_pick import pick
from sim.ui.question_result import show_result
from sim.ui.question_take import show_changes
from sim.ui.safe import literal
from sim.ui.state import Hand, hand
from sim.ui.told_rules import rule_sentence

__all__ = ["show"]

_SHOWN = 20
"""Mistakes that are listed; the forms show each at its field as well."""


def show() -> None:
    """Draw the page."""
    st.title(say("question.title"))
    found = hand()
    if found.note:
        st.warning(say(found.note), icon=":material/link_off:")
    pick(found)
    if found.problems:
        _mistakes(found)
    else:
        show_result(found.draft())
    if not found.tree:
        return
    st.subheader(say("question.change"))
    st.caption(say("question.change_how"))
    form = Form.of(found)
    wrong = {str(problem.key or "").partition(".")[0] for problem in found.problems}
    part = st.segmented_control(
        word("question.part"),
        list(PARTS),
        default="strategies",
        required=True,
        format_func=lambda one: _part_word(one, wrong),
        key="question-part",
        persist_state="session",
    )
    draw_part(form, found, part or "strategies")
    show_changes(found)


def _part_word(part: str, wrong: set[str]) -> str:
    """A part's name, marked where something in it is wrong."""
    return word(f"question.part_{part}") + (" ⚠" if wrong & set(PARTS[part]) else "")


def _mistakes(found: Hand) -> None:
    """Everything that is wrong, with the place of each in words."""
    st.error(say("question.mistakes", number=len(found.problems)), icon=":material/error:")
    for problem in found.problems[:_SHOWN]:
        path = tuple(int(step) if step.isdigit() else step for step in (problem.key or "").split(".") if step)
        where = place(path, found.tree) if path else ""
        line = f":{problem.line}" if problem.line and not found.edited else ""
        at = f"{problem.file or ''}{line}" if not found.edited else ""
        text = rule_sentence(problem.rule, ": ".join(filter(None, (at, where))))
        value = "" if problem.value is None else word("form.found", value=problem.value)
        known = "" if not problem.known else word("form.known", names=", ".join(problem.known[:12]))
        st.markdown(f"- {literal(' '.join(filter(None, (text, value, known))))}")
