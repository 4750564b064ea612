"""Verdicts for the page: computed by a child process, kept for this very version of the program."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from sim.ui.language import language, say, word
from sim.ui.studies import keep_view, view
from sim.ui.watch import ask, forget, watch

__all__ = ["Asked", "verdicts"]


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose statements: those of the articles, or of an uploaded file."""

    file: Path | None = None

    def key(self, code: str) -> str:
        """Stands for the statements, the language of this code and all that the verdicts rest on."""
        from sim.experiments.vault import program_digest

        content = b"" if self.file is None else self.file.read_bytes()
        read = [content, program_digest().encode(), code.encode()]
        return "claims-" + hashlib.blake2b(b"\0".join(read), digest_size=8).hexdigest()


def verdicts(asked: Asked) -> Mapping[str, Any] | None:
    """The document of `fleetsim claims`; None while it is being made, or where it could not be."""
    key = asked.key(language())
    kept = view(key)
    if kept is not None:
        return kept
    kind = key
    job = watch(kind)
    if job is None:
        words = ["claims", "--format", "json", "--lang", language()]
        job = ask(kind, word("claims.job"), *words, *([] if asked.file is None else [asked.file]))
        if job is not None:
            st.rerun()
        return None
    document = job.run.document
    if document is not None:
        keep_view(key, document)
        forget(job)
        return document
    if not job.run.ended:
        st.info(say("claims.wait"))
    elif st.button(say("claims.again")):
        forget(job)
        st.rerun()
    return None
