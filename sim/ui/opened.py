"""Stored runs as pages open them: checked against their manifest once, then kept at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from sim.errors import FleetsimError
from sim.experiments.stored import StoredRun, open_run
from sim.ui.safe import literal
from sim.ui.told_rules import error_told

__all__ = ["has_tables", "made", "opened"]


def has_tables(folder: Path) -> bool:
    """Whether the folder is that of a run; the worked example that comes with the program has no tables."""
    return (folder / "manifest.json").is_file()


def opened(folder: Path) -> StoredRun | None:
    """The run of a folder below outputs/; None, and said why, where it cannot be opened."""
    if not has_tables(folder):
        return None
    try:
        return _opened(str(folder), (folder / "manifest.json").stat().st_mtime_ns)
    except FleetsimError as error:
        st.error(literal(error_told(error)))
        return None


@st.cache_resource(max_entries=6, show_spinner=False)
def _opened(folder: str, stamp: int) -> StoredRun:  # noqa: ARG001  # part of the key
    return open_run(folder)


def made(build: Callable[[], bytes]) -> Callable[[], bytes]:
    """A download that is built when it is asked for; where it cannot be, the file says why."""

    def data() -> bytes:
        try:
            return build()
        except FleetsimError as error:
            return f"{error}\n".encode()

    return data
