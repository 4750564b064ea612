"""What every page shares: the question in hand, and the run whose results are shown.

Both stand in the address (`question=`, `edits=`, `run=`), so that a link, a refresh or a walk to another
page restores them: the question is a function of the address and of the files, and of nothing else.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import streamlit as st

from sim.errors import FleetsimError, InputError, Problem
from sim.load import Question, load, load_text
from sim.ui.address import put
from sim.ui.jobs import OUT
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
from sim.ui.safe import RUN_NAME, literal

__all__ = [
    "SCENARIOS",
    "Draft",
    "Hand",
    "Shown",
    "current_draft",
    "hand",
    "named_run",
    "open_question",
    "put_tree",
    "put_value",
    "remember",
    "run_of",
    "shown_run",
    "start_of",
    "worked_run",
]

WORKED = Path(__file__).parent / "worked" / FIRST
"""Answers about the worked example that come with the program."""

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
        return _loaded(str(self.file), _stamp(self.file))


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
        file = keep_edited(self.text, self.tree, self.file.parent) if self.edited else self.file
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
            _loaded(str(file), _stamp(file))
        else:
            named_files(tree, file.parent)
            _checked(yaml_text(tree), str(file.parent), _stamp(file))
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
            st.markdown(f"- {literal(problem)}")
        st.stop()
    return found.draft()


def open_question(name: str) -> None:
    """Take another question, as it was before any edit; for callbacks."""
    put({"question": name, "edits": ""})


def put_tree(tree: Tree) -> None:
    """Make this the question in hand, as edits of its start; for callbacks."""
    edits = list(edits_between(hand().start, tree))
    if not edits:
        remember("edits", "")
        return
    text = encoded(edits)
    if len(text) > LONGEST_LINK:
        name = f"at-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        QUESTIONS.mkdir(parents=True, exist_ok=True)
        (QUESTIONS / f"{name}.edits").write_text(text, encoding="ascii")
        text = name
    remember("edits", text)


def put_value(path: KeyPath, value: Any) -> None:
    """Set one value of the question in hand, or take it away (UNSET); for callbacks."""
    put_tree(with_value(hand().tree, path, value))


def remember(name: str, value: str) -> None:
    """Put a part into the address, or take it away (empty)."""
    put({name: value})


def _stamp(file: Path) -> tuple[tuple[str, int, int], ...]:
    """What tells the files of a folder from what they were: name, time of change and bytes."""
    below = (one for one in sorted(file.parent.rglob("*")) if one.is_file())
    return tuple((one.name, (stat := one.stat()).st_mtime_ns, stat.st_size) for one in below)[:500]


@st.cache_data(max_entries=32, show_spinner=False)
def _start(file: str, stamp: object) -> Tree:  # noqa: ARG001  # part of the key
    return start_tree(Path(file))


def start_of(file: Path) -> Tree:
    """What a scenario file says, read once as long as it does not change; raises InputError."""
    return _start(str(file), _stamp(file))


@st.cache_resource(max_entries=8, show_spinner=False)
def _loaded(file: str, stamp: object) -> Question:  # noqa: ARG001  # part of the key
    return load(file)


@st.cache_resource(max_entries=8, show_spinner=False)
def _checked(text: str, folder: str, stamp: object) -> Question:  # noqa: ARG001  # as above
    return load_text(text, folder=Path(folder))


@dataclass(frozen=True)
class Shown:
    """A stored comparison: its folder below outputs/, and its document (comparison.json)."""

    name: str
    folder: Path
    document: dict[str, Any]


def shown_run() -> Shown | None:
    """The run that the address names; None where there is none that can be read."""
    return _run(str(st.query_params.get("run", "")))


def named_run() -> Shown | None:
    """As `shown_run`, and says so where the address names a run that is not there any more."""
    found = shown_run()
    if found is None and st.query_params.get("run"):
        st.warning(say("compare.run_gone"), icon=":material/link_off:")
    return found


def _run(name: str) -> Shown | None:
    file = OUT / name / "comparison.json"
    if RUN_NAME.fullmatch(name) is None or not file.is_file():
        return None
    document = _document(str(file), file.stat().st_mtime_ns)
    return None if document is None else Shown(name, file.parent, document)


@st.cache_data(max_entries=16, show_spinner=False)
def _document(file: str, stamp: int) -> dict[str, Any] | None:  # noqa: ARG001  # as above
    try:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def run_of(draft: Draft) -> Shown | None:
    """A finished comparison of exactly this question by this version of the program, if one is stored."""
    folder, run = _run_id(str(draft.file), _stamp(draft.file))
    found = _run(f"{folder}/{run}")
    return found if found is not None else worked_run(run)


@st.cache_data(max_entries=64, show_spinner=False)
def _run_id(file: str, stamp: object) -> tuple[str, str]:
    """Where a comparison of a scenario file is kept below outputs/: folder and run id."""
    from sim.experiments.files import slug  # these take half a second to import
    from sim.experiments.store import id_of

    question = _loaded(file, stamp)
    baseline = question.scenario.strategies[0].name
    run = id_of(question, baseline, importlib.metadata.version("fleetsim"))
    return slug(question.scenario.name), run


def worked_run(run: str) -> Shown | None:
    """The comparison of the worked example that comes with the program, if its run id is this one.

    Only its document is stored (`comparison.json`), not the tables; a test holds it to the program.
    """
    made: Mapping[str, Any] | None = _document(str(WORKED / "made.json"), 0)
    document = _document(str(WORKED / "comparison.json"), 0)
    if made is None or document is None or made.get("run") != run:
        return None
    return Shown(f"{FIRST}/{run}", WORKED, document)
