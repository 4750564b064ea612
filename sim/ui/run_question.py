"""Which question a stored run answers: whether it is this one, and how to take it in hand again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from sim.errors import FleetsimError, InputError
from sim.experiments.store import id_of
from sim.load import Question, load, load_text
from sim.ui.opened import has_tables
from sim.ui.question_edits import Tree, yaml_text
from sim.ui.question_store import (
    file_of,
    keep_uploaded,
    named_files,
    shipped,
    start_of_edited,
    start_tree,
    uploaded,
)
from sim.ui.shown import Shown, run_named
from sim.ui.state import edits_part, hand, loaded, stamp_of, start_of

__all__ = ["answers", "question_parts"]

_SCENARIO = "scenario.yaml"


def answers(question: Question, shown: Shown) -> bool:
    """Whether the run answers this question, whatever its replications, seed, price level and baseline."""
    if not has_tables(shown.folder):
        return shown.name.rpartition("/")[2] == id_of(
            question, question.scenario.strategies[0].name, str(shown.document["version"])
        )
    try:
        run = _ran(str(shown.folder), (shown.folder / "manifest.json").stat().st_mtime_ns)
    except (FleetsimError, OSError):
        return False
    document = shown.document
    scenario = question.scenario.model_copy(update={"experiment": run.scenario.experiment})
    asked = dataclasses.replace(question, scenario=scenario, price=document["price"])
    return shown.folder.name == id_of(asked, str(document["baseline"]), str(document["version"]))


@st.cache_resource(max_entries=8, show_spinner=False)
def _ran(folder: str, stamp: int) -> Question:  # noqa: ARG001  # part of the key
    return load(Path(folder) / _SCENARIO)


def question_parts(run: str) -> dict[str, str]:
    """Parts of the address that take the question of a run in hand (`SCENARIO/RUN`); none where it has none.

    The question in hand, one of the list, or an edit of one of them, where the run answers it: its own
    settings and comments hold then. Else the scenario that the run keeps, as a question of one's own.
    """
    shown = run_named(run)
    if shown is None:
        return {}
    for name, tree in _candidates(shown):
        try:
            file = file_of(name)
            if file is not None and answers(_question(file, tree), shown):
                return {"question": name, "edits": "" if tree is None else edits_part(start_of(file), tree)}
        except FleetsimError:
            continue
    try:
        kept = start_tree(shown.folder / _SCENARIO)
        names = (_SCENARIO, *named_files(kept, shown.folder))
        files = {name: (shown.folder / name).read_bytes() for name in names}
        return {"question": keep_uploaded(_SCENARIO, files), "edits": ""}
    except (FleetsimError, OSError):
        return {}


def _question(file: Path, tree: Tree | None) -> Question:
    """The question of a file, or of the tree that it became; raises FleetsimError."""
    if tree is None:
        return loaded(str(file), stamp_of(file))
    return load_text(yaml_text(tree), folder=file.parent)


def _candidates(shown: Shown) -> Iterator[tuple[str, Tree | None]]:
    """Questions that the run may answer: the name of the start, and the tree where it is an edited one."""
    now = hand()
    if not now.problems:
        yield now.name, now.tree if now.edited else None
    title = str(shown.document["scenario"])
    for name in (*shipped(), *uploaded()):
        if _title(name) == title:
            yield name, None
    edited = _file_of(shown)
    if start := start_of_edited(edited):
        try:
            yield start, start_tree(edited)
        except InputError:
            return


def _file_of(shown: Shown) -> Path:
    """The file of which the run was made, as its manifest says."""
    try:
        manifest = json.loads((shown.folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Path()
    return Path(str(manifest.get("file") or ""))


def _title(name: str) -> object:
    try:
        return None if (file := file_of(name)) is None else start_of(file).get("name")
    except InputError:
        return None
