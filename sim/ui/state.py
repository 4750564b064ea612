"""What every page shares: the question in hand.

It stands in the address (`question=`, `edits=`), so that a link, a refresh or a walk to another page restores
it: the question is a function of the address and of the files, and of nothing else.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import streamlit as st

from sim.errors import FleetsimError, InputError, Problem
from sim.load import Question, load, load_text
from sim.ui.address import put
from sim.ui.language import say
from sim.ui.question_edits import (
    LONGEST_LINK,
    KeyPath,
    Tree,
    decoded,
    edited,
    edits_between,
    encoded,
    with_value,
    yaml_text,
)
from sim.ui.question_store import (
    FIRST,
    QUESTIONS,
    SCENARIOS,
    file_of,
    keep_edited,
    named_files,
    shown_problem,
    start_tree,
)
from sim.ui.safe import literal
from sim.ui.told_rules import problem_told

__all__ = [
    "SCENARIOS",
    "Draft",
    "Hand",
    "current_draft",
    "edits_part",
    "hand",
    "loaded",
    "open_question",
    "put_tree",
    "put_value",
    "remember",
    "stamp_of",
    "start_of",
]

_STORED = re.compile(r"at-[0-9a-f]{16}")
"""In place of edits that are too long for an address: the name of the file that holds them."""


@dataclass(frozen=True)
class Draft:
    """The question in hand: a shipped one, an uploaded one, or one of these as it was edited.

    `file` is what commands are given; it lies in `scenarios/` where nothing was edited, else in
    `outputs/.questions/` with the files that it names beside it.
    """

    name: str
    file: Path

    @cached_property
    def question(self) -> Question:
        """The question, read by the loader of the command line; raises FleetsimError."""
        return loaded(str(self.file), stamp_of(self.file))


@dataclass(frozen=True)
class Hand:
    """The question as it is being edited, sound or not."""

    name: str
    """Of the start, as in the address."""
    file: Path
    """Of the start."""
    start: Tree
    """What the start says, with the files that it extends."""
    tree: Tree
    """What the question says now."""
    problems: tuple[Problem, ...]
    """What the loader refuses; empty where the question is sound."""
    note: str = ""
    """What of the address could not be read, as a key of the words; empty where all was."""

    @property
    def edited(self) -> bool:
        """Whether it differs from the start."""
        return any(edits_between(self.start, self.tree))  # not `!=`, for which 1 is true

    @property
    def text(self) -> str:
        """The question as a scenario file."""
        return yaml_text(self.tree)

    def draft(self) -> Draft:
        """The question as commands read it; only for a sound one."""
        file = keep_edited(self.text, self.tree, self.file.parent, self.name) if self.edited else self.file
        return Draft(self.name, file)


def hand() -> Hand:
    """The question that the address names and edits, else the worked example."""
    asked = str(st.query_params.get("question", FIRST))
    file = file_of(asked)
    note = "" if file is not None else "question.gone"
    name = asked if file is not None else FIRST
    file = file or file_of(FIRST)
    assert file is not None  # noqa: S101  # the worked example comes with the program
    try:
        start = start_of(file)
    except InputError as error:
        return Hand(name, file, {}, {}, error.problems, note)
    tree, lost = _tree_of(start, str(st.query_params.get("edits", "")) if not note else "")
    problems = _problems(file, tree if any(edits_between(start, tree)) else None)
    return Hand(name, file, start, tree, problems, note or lost)


def _tree_of(start: Tree, text: str) -> tuple[Tree, str]:
    if not text:
        return start, ""
    try:
        if _STORED.fullmatch(text):
            text = (QUESTIONS / f"{text}.edits").read_text(encoding="ascii")
        return edited(start, decoded(text)), ""
    except (ValueError, OSError):
        return start, "question.edits_lost"


def _problems(file: Path, tree: Tree | None) -> tuple[Problem, ...]:
    """What is wrong with the file, or with the tree in its place."""
    try:
        if tree is None:
            named_files(start_of(file), file.parent)
            loaded(str(file), stamp_of(file))
        else:
            named_files(tree, file.parent)
            _checked(yaml_text(tree), str(file.parent), stamp_of(file))
    except InputError as error:
        return tuple(shown_problem(problem, file.parent) for problem in error.problems)
    except FleetsimError as error:
        return (Problem(str(error)),)
    return ()


def current_draft() -> Draft:
    """The question of the address, for a page that works with it; a question with mistakes ends the page."""
    found = hand()
    if found.note:
        st.warning(say(found.note), icon=":material/link_off:")
    if found.problems:
        st.error(say("question.unsound"), icon=":material/error:")
        for problem in found.problems[:10]:
            st.markdown(f"- {literal(problem_told(problem))}")
        st.stop()
    return found.draft()


def open_question(name: str) -> None:
    """Take another question, as it was before any edit; for callbacks."""
    put({"question": name, "edits": ""})


def put_tree(tree: Tree) -> None:
    """Make this the question in hand, as edits of its start; for callbacks."""
    remember("edits", edits_part(hand().start, tree))


def edits_part(start: Tree, tree: Tree) -> str:
    """What the address says of the way from `start` to `tree`; empty where there is none."""
    edits = list(edits_between(start, tree))
    if not edits:
        return ""
    text = encoded(edits)
    if len(text) > LONGEST_LINK:
        name = f"at-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        QUESTIONS.mkdir(parents=True, exist_ok=True)
        (QUESTIONS / f"{name}.edits").write_text(text, encoding="ascii")
        text = name
    return text


def put_value(path: KeyPath, value: Any) -> None:
    """Set one value of the question in hand, or take it away (UNSET); for callbacks."""
    put_tree(with_value(hand().tree, path, value))


def remember(name: str, value: str) -> None:
    """Put a part into the address, or take it away (empty)."""
    put({name: value})


def stamp_of(file: Path) -> tuple[tuple[str, int, int], ...]:
    """What tells the files of a folder from what they were: name, time of change and bytes."""
    below = (one for one in sorted(file.parent.rglob("*")) if one.is_file())
    return tuple((one.name, (stat := one.stat()).st_mtime_ns, stat.st_size) for one in below)[:500]


@st.cache_data(max_entries=32, show_spinner=False)
def _start(file: str, stamp: object) -> Tree:  # noqa: ARG001  # part of the key
    return start_tree(Path(file))


def start_of(file: Path) -> Tree:
    """What a scenario file says, read once as long as it does not change; raises InputError."""
    return _start(str(file), stamp_of(file))


@st.cache_resource(max_entries=8, show_spinner=False)
def loaded(file: str, stamp: object) -> Question:  # noqa: ARG001  # part of the key
    """The question of a file, read once as long as its `stamp` does not change; raises FleetsimError."""
    return load(file)


@st.cache_resource(max_entries=8, show_spinner=False)
def _checked(text: str, folder: str, stamp: object) -> Question:  # noqa: ARG001  # as above
    return load_text(text, folder=Path(folder))
