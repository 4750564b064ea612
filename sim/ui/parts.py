"""A page in parts: a row of choices, and below it the part that is picked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from sim.errors import FleetsimError
from sim.ui.language import word
from sim.ui.safe import literal

__all__ = ["show_part"]

T = TypeVar("T")


def show_part(page: str, parts: Mapping[str, Callable[[T], None]], subject: T) -> None:
    """Draw the picked part of a page, the first one unasked; an error of the program is said in its words.

    Texts are `<page>.part` and `<page>.part_<name>`.
    """
    first = next(iter(parts))
    picked = st.segmented_control(
        word(f"{page}.part"),
        list(parts),
        default=first,
        required=True,
        key=f"{page}_part",
        format_func=lambda one: word(f"{page}.part_{one}"),
        label_visibility="collapsed",
        persist_state="session",
    )
    try:
        parts[picked or first](subject)
    except FleetsimError as error:
        st.error(literal(str(error)))
