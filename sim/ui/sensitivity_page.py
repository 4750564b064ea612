"""The page `sensitivity`: which fleet is the cheapest and why the others lost; what the decision hangs on."""

from __future__ import annotations

import streamlit as st

from sim.ui.language import question_name, say
from sim.ui.parts import show_part
from sim.ui.recommend_view import show_recommendation
from sim.ui.sensitivity_view import show_sensitivity
from sim.ui.state import current_draft

__all__ = ["show"]

PARTS = {"fleet": show_recommendation, "tornado": show_sensitivity}


def show() -> None:
    """Draw the page."""
    st.title(say("sensitivity.title"))
    draft = current_draft()
    st.caption(say("sensitivity.intro", name=question_name(draft.question.scenario.name)))
    show_part("sensitivity", PARTS, draft)
