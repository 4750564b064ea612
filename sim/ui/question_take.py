"""What was changed since the start, and the question to take along: as a file, and as a link."""

from __future__ import annotations

import re

import streamlit as st

from sim.errors import InputError
from sim.ui.form_words import place, shown_value
from sim.ui.language import say, word
from sim.ui.question_changes import changes
from sim.ui.question_store import named_files
from sim.ui.state import Hand, open_question

__all__ = ["show_changes"]

_SHOWN = 200
_EXTENDS = re.compile(r"^\W*extends\W*:", re.MULTILINE)


def show_changes(found: Hand) -> None:
    """A table of changes, and the buttons below it."""
    st.subheader(say("question.changes"))
    rows = [
        {
            word("question.where"): place(one.path, found.tree),
            word("question.before"): shown_value(one.before, str(one.path[-1])),
            word("question.after"): shown_value(one.after, str(one.path[-1])),
        }
        for one in changes(found.start, found.tree)
    ]
    if rows:
        st.dataframe(rows[:_SHOWN], hide_index=True)
        held = str(st.query_params.get("edits", ""))
        here = found.name.startswith("own-") or held.startswith("at-")
        st.caption(say("question.link_here" if here else "question.link_how"))
    else:
        st.caption(say("question.no_changes"))
    with st.container(horizontal=True):
        _downloads(found)
        st.button(
            word("question.undo"),
            icon=":material/undo:",
            disabled=not rows,
            key="question-undo",
            on_click=open_question,
            args=(found.name,),
        )


def _text(found: Hand) -> str:
    """The file as it stands, with its comments, where nothing was edited and it extends no other."""
    if not found.edited:
        try:
            text = found.file.read_text(encoding="utf-8-sig")
        except (OSError, ValueError):
            return found.text
        return found.text if _EXTENDS.search(text) else text
    return found.text


def _stem(found: Hand) -> str:
    """What the file is called: one of the user's own by its name, not by its digest."""
    from sim.experiments.files import slug  # takes half a second to import

    name, title = found.name, found.tree.get("name")
    if name.startswith("own-") and isinstance(title, str) and title:
        name = slug(title)
    return f"{name}-edited" if found.edited else name


def _downloads(found: Hand) -> None:
    """The question as a file that loads again, and the files that it names."""
    stem = _stem(found)
    st.download_button(
        word("question.download"),
        _text(found),
        f"{stem}.yaml",
        "application/yaml",
        icon=":material/download:",
        key="question-download",
        on_click="ignore",
    )
    try:
        names = named_files(found.tree, found.file.parent)
    except InputError:
        return
    for number, name in enumerate(names):
        file = found.file.parent / name
        if file.is_file():
            st.download_button(
                say("question.download_file", name=name),
                file.read_bytes(),
                file.name,
                icon=":material/download:",
                key=f"question-file-{number}",
                on_click="ignore",
            )
