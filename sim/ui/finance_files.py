"""Files for finance, made by the program's own commands: the workbook, cost and usage by FOCUS."""

from __future__ import annotations

import hashlib
from pathlib import Path

import streamlit as st

from sim.experiments.files import slug
from sim.ui.finance_books import pick_strategy
from sim.ui.finance_source import Source
from sim.ui.jobs import OUT
from sim.ui.language import say, word
from sim.ui.parts import pick
from sim.ui.watch import ask, watch

__all__ = ["show_files"]

FILES = OUT / ".files"
MOST_FILES = 40
"""Prepared files that stay on disk."""


def show_files(source: Source) -> None:
    """Draw the section."""
    if source.folder is None:
        st.info(say("finance.files_need_run"), icon=":material/info:")
        return
    st.subheader(say("finance.workbook"))
    st.caption(say("finance.workbook_note"))
    _file(source, "workbook", ["workbook", source.folder], ".xlsx", source.run.replace("/", "-"))
    st.subheader("FOCUS 1.2")
    st.caption(say("finance.focus_note"))
    strategy = pick_strategy(source)
    left, right = st.columns(2)
    grain = pick(left, "finance.grain", ("day", "hour", "month"), "finance_grain", helped=True)
    ending = right.selectbox(
        word("finance.ending"), (".csv", ".parquet"), key="finance_ending", persist_state="session"
    )
    words = ["focus", source.folder, "--strategy", strategy, "--grain", grain]
    _file(source, "focus", words, ending or ".csv", f"focus-{slug(strategy)}-{grain}")


def _file(source: Source, kind: str, words: list[str], ending: str, name: str) -> None:
    """A button that makes the file by a command, then one that downloads it."""
    digest = hashlib.blake2b(" ".join([source.key, *words, ending]).encode(), digest_size=10).hexdigest()
    place = FILES / f"{digest}{ending}"
    job = watch(kind)
    busy = job is not None and not job.run.ended
    if place.is_file():
        st.download_button(
            word(f"finance.download_{kind}"),
            place.read_bytes,
            f"{name}{ending}",
            on_click="ignore",
            icon=":material/download:",
            key=f"finance_download_{kind}",
            type="primary",
        )
    elif not busy and st.button(word(f"finance.make_{kind}"), key=f"finance_make_{kind}"):
        _forget_old()
        ask(kind, word(f"finance.title_{kind}"), *words, "-o", str(place), "--format", "json")
        st.rerun()


def _forget_old() -> None:
    FILES.mkdir(parents=True, exist_ok=True)
    known: list[Path] = sorted(FILES.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in known[MOST_FILES:]:
        old.unlink(missing_ok=True)
