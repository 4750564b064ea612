"""The address of the page: what it keeps from page to page, and the one way to change it.

Each change of the address is a step in the history of the browser, and its button Back shows the page as
it was one step before. So what changes together is written together, and nothing of it is held elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

__all__ = ["KEPT", "put", "walking"]

KEPT = ("lang", "question", "edits", "run", "job", "trace")
"""Parts of the address that hold while one walks through the pages."""


def put(parts: Mapping[str, str]) -> None:
    """Write parts of the address in one step; an empty one is taken out of it."""
    now = st.query_params.to_dict()
    after = {name: text for name, text in {**now, **parts}.items() if text or name not in parts}
    if after != now:
        st.query_params.from_dict(after)


def walking() -> dict[str, str]:
    """The parts that a link to another page carries."""
    return {name: st.query_params[name] for name in KEPT if name in st.query_params}
