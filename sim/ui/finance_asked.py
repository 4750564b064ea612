"""Answers of the finance page that a command must be asked for, kept once they are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from sim.ui.language import say
from sim.ui.studies import asked_with, take_view
from sim.ui.watch import ask, watch

__all__ = ["answer_of"]


def answer_of(kind: str, key: str, words: Sequence[str], label: str, title: str) -> dict[str, Any] | None:
    """The kept answer of a command; a button that asks for it where there is none, and its progress."""
    name = f"{key} {' '.join(words)}"
    job = watch(kind)
    run = job.run if job is not None and asked_with(job.run, words) else None
    document = take_view(name, run)
    if document is None and (run is None or run.ended):
        if st.button(label, key=f"finance_ask_{kind}", type="primary"):
            ask(kind, title, *words)
            st.rerun()
        st.caption(say(f"finance.ask_{kind}_note"))
    return document
