"""Choosing a question: a shipped scenario, or files of one's own."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from sim.errors import FleetsimError
from sim.load import Question, load
from sim.ui.texts import literal
from sim.units import format_duration

__all__ = ["Choice", "choose_question", "show_question"]

LARGEST_BYTES = 256 * 1024
"""Largest scenario that is accepted; a question of a person is a few kB."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question that was read, and the file that it stands in."""

    file: Path
    question: Question


FIRST = "four to eight"
"""The question that a first visitor sees."""


def choose_question(folder: Path) -> Choice | None:
    """Let the user pick a file of the folder or upload one; None with a message where there is none.

    Read by the same loader as on the command line, so that errors read the same.
    """
    shipped = {path.stem.replace("-", " "): path for path in sorted(folder.glob("*.yaml"))}
    own = "Files of my own"
    names = [*shipped, own]
    asked = st.query_params.get("question", "")
    shown = next((name for name in (asked, FIRST) if name in names), names[0])
    picked = st.selectbox("Question", names, names.index(shown))
    if picked is not None and picked != asked:
        st.query_params["question"] = picked
    file = _uploaded() if picked == own or picked is None else shipped[picked]
    if file is None:
        return None
    try:
        return Choice(file, load(file))
    except FleetsimError as error:
        st.error(literal(str(error)))
        return None


def show_question(question: Question) -> None:
    """What is asked: strategies, target, length."""
    scenario = question.scenario
    st.subheader(literal(scenario.name))
    rows = [
        {
            "Strategy": strategy.name,
            "Queue": strategy.policy,
            "Leases": "; ".join(f"{item.count} x {item.offer_id}, {item.plan}" for item in strategy.leases),
            "By the hour": f"up to {burst.max} x {burst.offer_id}" if (burst := strategy.burst) else "",
        }
        for strategy in scenario.strategies
    ]
    st.dataframe(rows, hide_index=True)
    target = scenario.target
    wishes = (
        []
        if target is None
        else [f"{key}: {value}" for key, value in _target(target.model_dump(mode="json"))]
    )
    length = format_duration(scenario.horizon_us)
    st.caption(literal(f"{length} from {scenario.start:%Y-%m-%d}. Target: {', '.join(wishes) or 'none'}."))


def _target(values: dict[str, object]) -> list[tuple[str, object]]:
    return [(key.replace("_", " "), value) for key, value in values.items() if value is not None]


def _uploaded() -> Path | None:
    """The uploaded scenario, stored in a folder of this session, with its trace beside it."""
    scenario = st.file_uploader("Scenario (YAML)", type=["yaml", "yml"], key="upload_scenario")
    trace = st.file_uploader(
        "Recorded jobs (CSV), if the scenario names them", type=["csv"], key="upload_trace"
    )
    if scenario is None:
        st.info("Choose a scenario file to go on.")
        return None
    if scenario.size > LARGEST_BYTES:
        st.error(f"This file has {scenario.size:,} bytes; a scenario may have at most {LARGEST_BYTES:,}.")
        return None
    if "uploads" not in st.session_state:
        st.session_state.uploads = _Uploads()
    folder = st.session_state.uploads.folder
    if trace is not None:
        _store(trace, folder)
    return _store(scenario, folder)


class _Uploads:
    """A folder that lasts as long as the session that made it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fleetsim-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def _store(upload: UploadedFile, folder: Path) -> Path:
    path = folder / Path(upload.name).name
    path.write_bytes(upload.getvalue())
    return path
