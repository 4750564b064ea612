"""Verdicts for the page: those on the articles come with the program, others a child process computes.

What was computed is kept for this very version of the program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from sim.ui.language import language, say, word
from sim.ui.shown import WORKED
from sim.ui.studies import keep_view, view
from sim.ui.watch import ask, forget, watch

__all__ = ["article_verdicts", "claims_words", "own_verdicts", "worked_claims"]


def claims_words(code: str) -> list[str]:
    """The command that judges the articles' claims, in the language of this code; a file may follow."""
    return ["claims", "--format", "json", "--lang", code]


def worked_claims(code: str) -> Path:
    """The verdicts on the articles that come with the program, made by `python -m sim.ui.worked_studies`."""
    return WORKED.with_name(f"claims-{code}.json")


def article_verdicts() -> Mapping[str, Any]:
    """The document of `fleetsim claims` about the articles, in the page's language."""
    return _stored(language())


@st.cache_resource
def _stored(code: str) -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(worked_claims(code).read_text(encoding="utf-8"))
    return found


def _key(file: Path) -> str:
    """Stands for the statements of the file, the language and all that verdicts rest on."""
    from sim.experiments.vault import program_digest

    read = [file.read_bytes(), program_digest().encode(), language().encode()]
    return "claims-" + hashlib.blake2b(b"\0".join(read), digest_size=8).hexdigest()


def own_verdicts(file: Path) -> Mapping[str, Any] | None:
    """The document about statements of one's own; None while it is being made, or where it could not be."""
    key = _key(file)
    kept = view(key)
    if kept is not None:
        return kept
    job = watch(key)
    if job is None:
        job = ask(key, word("claims.job"), *claims_words(language()), file)
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
