"""Picking a question: one that comes along, or files of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from sim.errors import FleetsimError, InputError
from sim.load_tree import LARGEST_FILE
from sim.ui.language import catalogue, say, word
from sim.ui.question_store import file_of, keep_uploaded, kept_at, shipped, uploaded
from sim.ui.safe import literal
from sim.ui.state import Hand, hand, open_question, start_of
from sim.ui.told_rules import error_told, problem_told

__all__ = ["LARGEST_OTHER", "pick"]

LARGEST_OTHER = 5_000_000
"""Bytes of a file that a scenario names; the server takes no more in one upload."""

_MOST_FILES = 10


def pick(found: Hand) -> None:
    """The box with the questions, and the place to upload one."""
    names = list(dict.fromkeys((*shipped(), *uploaded(), found.name)))
    titles = _told_apart({name: _title(name) for name in names})
    key = "question-pick"
    if st.session_state.get(key) != found.name:
        st.session_state[key] = found.name
    st.selectbox(
        word("question.pick"), names, format_func=titles.__getitem__, key=key, on_change=_open, args=(key,)
    )
    with st.expander(word("question.own"), icon=":material/upload_file:"):
        _upload()


def _told_apart(titles: dict[str, str]) -> dict[str, str]:
    """Titles, with the name of the file behind those that others have too: the browser sends a title back."""
    known = list(titles.values())
    return {name: title if known.count(title) == 1 else f"{title} ({name})" for name, title in titles.items()}


def _open(key: str) -> None:
    if st.session_state[key] is None:
        return
    if hand().edited:
        st.toast(say("question.edits_left"), icon=":material/undo:", duration="long")
    open_question(st.session_state[key])


def _title(name: str) -> str:
    """The question's own name; the file's where it cannot be read. One of the user's with its date."""
    file = file_of(name)
    try:
        title = None if file is None else start_of(file).get("name")
    except InputError:
        title = None
    title = str(title) if isinstance(title, str) and title else name
    if title == catalogue("en").get(f"shipped.{name}"):
        title = word(f"shipped.{name}")  # as it came along; a user's own words are never translated
    if not name.startswith("own-"):
        return title
    when = datetime.fromtimestamp(kept_at(name)).astimezone()  # of the server's machine, as in Runs
    return word("question.uploaded", name=title, when=f"{when:%Y-%m-%d %H:%M}")


def _upload() -> None:
    st.caption(say("question.own_how"))
    scenario = st.file_uploader(word("question.own_scenario"), type=["yaml", "yml"], key="upload-scenario")
    others = st.file_uploader(
        word("question.own_files"),
        type=["csv", "parquet", "yaml", "yml"],
        accept_multiple_files=True,
        key="upload-files",
    )
    st.button(
        word("question.own_open"),
        type="primary",
        disabled=scenario is None,
        key="upload-open",
        on_click=_take,
        args=(scenario, others),
    )
    wrong, of = st.session_state.get("upload-wrong", ((), ""))
    for line in wrong if scenario is not None and of == scenario.file_id else ():
        st.error(literal(line), icon=":material/error:")


def _take(scenario: UploadedFile, others: Sequence[UploadedFile]) -> None:
    """Check what was uploaded, and open it; what is wrong is shown below the button."""
    name = Path(scenario.name).name
    wrong = _too_large(scenario, others)
    if not wrong:
        files = {Path(one.name).name: one.getvalue() for one in (*others, scenario)}
        try:
            open_question(keep_uploaded(name, files))
        except InputError as error:
            wrong = [problem_told(problem) for problem in error.problems]
        except FleetsimError as error:
            wrong = [error_told(error)]
    st.session_state["upload-wrong"] = (wrong, scenario.file_id)


def _too_large(scenario: UploadedFile, others: Sequence[UploadedFile]) -> list[str]:
    limits = [(scenario, LARGEST_FILE), *((one, LARGEST_OTHER) for one in others)]
    found = [
        word(
            "question.too_large", name=one.name, size=f"{one.size / 1000:,.0f}", limit=f"{limit / 1000:,.0f}"
        )
        for one, limit in limits
        if one.size > limit
    ]
    if len(others) > _MOST_FILES:
        found.append(word("question.too_many", limit=_MOST_FILES))
    return found
