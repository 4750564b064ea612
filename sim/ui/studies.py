"""Results of studies about the question in hand, found again below outputs/: the newest of each kind.

A study belongs to a question where its manifest names the question's file, that file has not been
changed since, and all that it read is the same but for strategies and replications, which studies make
themselves (`question_digest`). Answers of short commands that write no folder are kept in `outputs/.views/`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from sim.load import Question
from sim.ui.jobs import OUT, sim_command
from sim.ui.question_store import QUESTIONS
from sim.ui.runner import ChildRun
from sim.ui.shown import WORKED, worked_run
from sim.ui.state import Draft

__all__ = [
    "Found",
    "asked_with",
    "identity",
    "is_worked",
    "keep_view",
    "latest",
    "take_view",
    "view",
    "worked",
]

VIEWS = OUT / ".views"
MOST_VIEWS = 200
"""Answers of short commands that stay on disk."""

LARGEST = 64 * 1024 * 1024
"""Bytes of a document that are read at most."""

FILES: Mapping[str, str] = {
    "recommend": "recommendation.json",
    "stepup": "stepup.json",
    "sensitivity": "sensitivity.json",
    "sweep": "sweep.json",
}
"""Command -> the file that only its folders have."""


@dataclass(frozen=True)
class Found:
    """A study that answers the question in hand."""

    name: str
    """Folder below outputs/; empty where it came with the program."""
    document: dict[str, Any]
    finished: str
    """When, as in its manifest; empty where it came with the program."""


def latest(file: Path, question: Question, command: str) -> Found | None:
    """The newest study of this command about the question of this file; None where there is none."""
    from sim.experiments.files import slug  # takes half a second to import

    home, mine = OUT / slug(question.scenario.name), _digest(_key(question), question)
    found: list[tuple[str, Path]] = []
    for place in home.glob(f"*/{FILES[command]}"):
        manifest = _json(str(place.with_name("manifest.json")), _stamp(place.with_name("manifest.json")))
        if manifest is not None and _is_about(manifest, file) and manifest.get("question") == mine:
            found.append((str(manifest.get("finished", "")), place))
    for finished, place in sorted(found, reverse=True):
        document = _json(str(place), _stamp(place))
        if document is not None:
            return Found(f"{home.name}/{place.parent.name}", document, finished)
    return None


def worked(draft: Draft, name: str) -> dict[str, Any] | None:
    """A study that came with the program, where the question is the worked example as it came."""
    place = WORKED / f"{name}.json"
    return _json(str(place), _stamp(place)) if place.is_file() and is_worked(draft) else None


def is_worked(draft: Draft) -> bool:
    """Whether this is the worked example, unchanged."""
    return worked_run(identity(draft)) is not None


def identity(draft: Draft) -> str:
    """The run id that a comparison of this question has: another question has another one."""
    return _id(_key(draft.question), draft.question)


@st.cache_data(max_entries=16, show_spinner=False)
def _id(key: str, _question: Question) -> str:  # noqa: ARG001  # what it is known by
    import importlib.metadata

    from sim.experiments.store import id_of

    names = [strategy.name for strategy in _question.scenario.strategies]
    return id_of(_question, names[0], importlib.metadata.version("fleetsim"))


def asked_with(run: ChildRun, words: Sequence[str]) -> bool:
    """Whether a command of the queue was asked for with these words."""
    begin = len(sim_command()) if words else 0
    return list(run.command)[begin : begin + len(words)] == list(words)


def view(key: str) -> dict[str, Any] | None:
    """The kept answer of a short command; None where there is none."""
    place = _view(key)
    return _json(str(place), _stamp(place)) if place.is_file() else None


def keep_view(key: str, document: Mapping[str, Any]) -> None:
    """Keep the answer of a short command, whole or not at all."""
    VIEWS.mkdir(parents=True, exist_ok=True)
    place = _view(key)
    fresh = place.with_suffix(".part")
    fresh.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    fresh.replace(place)
    kept = sorted(VIEWS.glob("*.json"), key=lambda one: one.stat().st_mtime, reverse=True)
    for old in kept[MOST_VIEWS:]:
        old.unlink(missing_ok=True)


def take_view(key: str, run: ChildRun | None) -> dict[str, Any] | None:
    """The kept answer, or that of the command that has just ended, which is then kept."""
    if run is not None and run.ended and run.document is not None:
        known = view(key)
        if known is None:
            keep_view(key, run.document)
            return run.document
        return known
    return view(key)


def _view(key: str) -> Path:
    return VIEWS / f"{hashlib.blake2b(key.encode(), digest_size=10).hexdigest()}.json"


def _is_about(manifest: Mapping[str, Any], file: Path) -> bool:
    """Whether the study was made of this file, as the file is now."""
    if manifest.get("file") != str(file):
        return False
    if file.is_relative_to(QUESTIONS):
        return True  # its name says what is in it
    try:
        made = datetime.fromisoformat(str(manifest["started"])).timestamp()
        return file.stat().st_mtime <= made + 1  # the manifest has whole seconds
    except (KeyError, ValueError, OSError):
        return False


def _key(question: Question) -> str:
    """What a question is known by while the page runs: its text, and when its files were changed last."""
    trace = question.scenario.workload.trace
    files = [question.catalog_source, Path(question.performance_source)]
    if trace is not None and question.folder is not None:
        files.append(question.folder / trace.file)
    stamps = [(str(file), _stamp(file)) for file in files if file is not None]
    return json.dumps([question.scenario.model_dump(mode="json"), question.price, stamps], sort_keys=True)


@st.cache_data(max_entries=64, show_spinner=False)
def _digest(key: str, _question: Question) -> str:  # noqa: ARG001  # what it is known by
    from sim.experiments.identity import question_digest

    return question_digest(_question)


@st.cache_data(max_entries=48, show_spinner=False)
def _json(file: str, stamp: object) -> dict[str, Any] | None:  # noqa: ARG001  # as above
    try:
        if Path(file).stat().st_size > LARGEST:
            return None
        document = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def _stamp(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
