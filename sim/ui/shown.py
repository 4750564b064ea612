"""The run whose results are shown: the one that the address names (`run=`), else the question's own."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from sim.ui.compare_form import KIND
from sim.ui.jobs import OUT
from sim.ui.language import say
from sim.ui.question_store import FIRST
from sim.ui.safe import RUN_NAME
from sim.ui.state import Draft, loaded, stamp_of
from sim.ui.watch import followed, forget

__all__ = ["WORKED", "Shown", "named_run", "run_named", "run_of", "take_over", "worked_run"]

WORKED = Path(__file__).parent / "worked" / FIRST
"""Answers about the worked example that come with the program."""


@dataclass(frozen=True)
class Shown:
    """A stored comparison: its folder below outputs/, and its document (comparison.json)."""

    name: str
    folder: Path
    document: dict[str, Any]


def named_run() -> Shown | None:
    """The run that the address names; None, and said so, where it names one that is not there any more.

    A comparison of the address that has ended since becomes the run of the address, on whichever page.
    """
    take_over()
    name = str(st.query_params.get("run", ""))
    found = run_named(name)
    if found is None and name:
        st.warning(say("compare.run_gone"), icon=":material/link_off:")
    return found


def take_over() -> None:
    """Make a comparison that has ended since the run of the address; nothing where there is none."""
    job = followed(KIND)
    if job is not None and job.run.ended and job.run.folder is not None:
        forget(job, job.run.folder)


def run_named(name: str) -> Shown | None:
    """The stored comparison of this name, `SCENARIO/RUN` below outputs/; None where there is none."""
    file = OUT / name / "comparison.json"
    if RUN_NAME.fullmatch(name) is None or not file.is_file():
        return None
    document = _document(str(file), file.stat().st_mtime_ns)
    return None if document is None else Shown(name, file.parent, document)


@st.cache_data(max_entries=16, show_spinner=False)
def _document(file: str, stamp: int) -> dict[str, Any] | None:  # noqa: ARG001  # part of the key
    try:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def run_of(draft: Draft) -> Shown | None:
    """A finished comparison of exactly this question by this version of the program, if one is stored."""
    folder, run = _run_id(str(draft.file), stamp_of(draft.file))
    found = run_named(f"{folder}/{run}")
    return found if found is not None else worked_run(run)


@st.cache_data(max_entries=64, show_spinner=False)
def _run_id(file: str, stamp: object) -> tuple[str, str]:
    """Where a comparison of a scenario file is kept below outputs/: folder and run id."""
    from sim.experiments.files import slug  # these take half a second to import
    from sim.experiments.store import id_of

    question = loaded(file, stamp)
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
