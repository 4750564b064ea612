"""Boxes for numbers that say what is wrong with a number, below themselves, in the page's language.

A box of streamlit with bounds drops what lies beyond them and says nothing, and one for whole numbers reads
1e9 as 1 and 2.7 as 2. These take what was typed and judge it here.
"""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.ui.language import say

__all__ = ["number_box", "whole_box"]

DIGITS = "%.16g"
"""Every number that a browser counts exactly, as it stands."""


def number_box(
    label: str,
    least: float,
    most: float | None,
    default: float,
    *,
    key: str,
    place: DeltaGenerator | None = None,
    step: float = 1.0,
    about: str | None = None,
    disabled: bool = False,
    whole: bool = False,
) -> float | None:
    """The number in a box that begins with `default`; None, and said why, where it is not a sound one.

    `key` names the box for the whole visit: its number holds on other pages and in the other language.
    `about` is the help at its label.
    """
    with place if place is not None else nullcontext():
        value = st.number_input(
            label,
            value=float(default),
            step=float(step),
            format=DIGITS,
            key=key,
            help=about,
            disabled=disabled,
            persist_state="session",
        )
        if disabled:
            return float(default)
        wrong = _wrong(value, least, most, whole)
        if wrong:
            st.error(wrong, icon=":material/error:")
            return None
    return value


def whole_box(
    label: str,
    least: int,
    most: int | None,
    default: int,
    *,
    key: str,
    place: DeltaGenerator | None = None,
    step: int = 1,
    about: str | None = None,
    disabled: bool = False,
) -> int | None:
    """As `number_box`, for a whole number."""
    value = number_box(
        label, least, most, default,
        key=key, place=place, step=step, about=about, disabled=disabled, whole=True,
    )  # fmt: skip
    return None if value is None else int(value)


def _wrong(value: float, least: float, most: float | None, whole: bool) -> str:
    """What is wrong with a number, safe as Markdown; empty where nothing is."""
    if whole and value != int(value):
        return say("form.must_be_whole")
    if most is not None and not least <= value <= most:
        return say("form.must_be_between", least=f"{least:,.16g}", most=f"{most:,.16g}")
    if value < least:
        return say("form.must_be_more", least=f"{least:,.16g}")
    return ""
