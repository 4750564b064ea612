"""What the pages of studies share: the button that starts one, its progress, and where a result came from."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from sim.ui.language import say
from sim.ui.state import Draft
from sim.ui.studies import Found, latest, worked
from sim.ui.watch import ask, watch

__all__ = ["origin", "result_of", "start_button"]


def result_of(draft: Draft, command: str, shipped: str) -> Found | None:
    """The newest result about the question in hand, else that of the worked example."""
    found = latest(draft.file, draft.question, command)
    if found is not None:
        return found
    document = worked(draft, shipped)
    return None if document is None else Found("", document, "")


def start_button(
    kind: str, title: str, words: Sequence[str], label: str, missing: str, found: Found | None
) -> None:
    """The button that asks for a study, or the progress of the one that runs or waits.

    `missing` is the text that says, where there is no result yet, what to press. Used within no form.
    """
    job = watch(kind)
    if job is not None and not job.run.ended:
        return
    if st.button(label, type="primary" if found is None else "secondary", key=f"{kind}_start"):
        ask(kind, title, *words)
        st.rerun()
    if found is None:
        st.info(say(missing), icon=":material/search:")


def origin(found: Found) -> str:
    """A sentence that says where the result came from."""
    if not found.name:
        return say("sensitivity.shipped")
    return say("sensitivity.stored", name=found.name, when=found.finished[:16].replace("T", " "))
