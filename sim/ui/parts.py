"""Pieces that pages share: a page in parts, and a choice of one of a few names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.errors import FleetsimError
from sim.ui.language import word
from sim.ui.safe import literal
from sim.ui.told_rules import error_told

__all__ = ["pick", "show_part"]

T = TypeVar("T")
S = TypeVar("S", bound=str)


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
        st.error(literal(error_told(error)))


def pick(place: DeltaGenerator, text: str, names: Sequence[S], key: str, *, helped: bool = False) -> S:
    """One of a few names, the first unasked, from a box that remembers it for the visit.

    The box is called by the text `<text>`, a name by `<text>_<name>`; `<text>_help` is shown where `helped`.
    """
    picked = place.selectbox(
        word(text),
        names,
        key=key,
        format_func=lambda one: word(f"{text}_{one}"),
        help=word(f"{text}_help") if helped else None,
        persist_state="session",
    )
    return names[0] if picked is None else picked
