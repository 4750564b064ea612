"""Widgets of single values. Each shows what the question in hand says and writes what is changed into it.

A widget's value is set from the question before every drawing, so that the address alone decides what
is seen; a value that the widget cannot show (a word where a number belongs) is shown as text instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Any

import streamlit as st

from sim.errors import InputError
from sim.load_tree import read_tree
from sim.ui.form_kinds import Field, Kind
from sim.ui.form_units import UNITS, USUAL, UnitForm, as_number, parted_unit, written
from sim.ui.form_words import choice_word, default_word, help_text, label
from sim.ui.language import word
from sim.ui.question_edits import UNSET, KeyPath, yaml_text
from sim.ui.state import put_value

__all__ = ["draw_value", "key_of", "read_scalar", "sync"]

_LARGEST = 2**53
"""Beyond this a browser does not count exactly."""

_DIGITS = "%.16g"
"""Every number below `_LARGEST` as it stands."""


def key_of(path: KeyPath, part: str = "") -> str:
    """The key of a widget: where its value stands in the question."""
    return f"f:{'.'.join(map(str, path))}{part}"


def sync(key: str, value: Any) -> None:
    """Let a widget that is about to be drawn show a value."""
    known = st.session_state.get(key, UNSET)
    if known is UNSET or type(known) is not type(value) or known != value:
        st.session_state[key] = value


def draw_value(
    path: KeyPath,
    field: Field,
    kind: Kind,
    value: Any,
    *,
    title: str | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """The widget of a value of a plain kind; `title` in place of the key's label, `names` of some choices."""
    name = label(field.model, field.key) if title is None else title
    if value is not UNSET and not (kind.holds(value) and _fits(kind, value)):
        _as_text(path, field, name, value)
        return
    match kind.form:
        case "number" | "whole":
            _number(path, field, kind, name, value)
        case "truth":
            _truth(path, field, name, value)
        case "choice":
            _choice(path, field, kind, name, value, names)
        case "duration" | "rate" | "growth" | "tolerance":
            _with_unit(path, field, kind.form, name, value)
        case "date":
            _date(path, field, name, value)
        case "numbers":
            text = "" if value is UNSET else ", ".join(f"{one:.12g}" for one in value)
            _line(path, field, name, text, _numbers)
        case "texts":
            _texts(path, field, kind.options, name, value)
        case "text":
            _line(path, field, name, "" if value is UNSET else value, _plain)
        case _:
            _as_text(path, field, name, value)


def _fits(kind: Kind, value: Any) -> bool:
    """Whether the widget of the kind can show this value."""
    if kind.form in ("number", "whole"):
        return bool(abs(value) < _LARGEST)
    if kind.form in UNITS:
        return parted_unit(kind.form, value) is not None
    if kind.form == "date":
        return _day(value) is not None
    return True


def _number(path: KeyPath, field: Field, kind: Kind, name: str, value: Any) -> None:
    key = key_of(path)
    sync(key, None if value is UNSET else float(value))
    # A box for whole numbers reads 1e9 as 1 and 2.7 as 2, and drops what is beyond its bounds; this one
    # takes what was typed, and the loader says at the field what is wrong with it.
    st.number_input(
        name,
        value=None,
        step=1.0 if kind.form == "whole" else 0.01,
        format=_DIGITS,
        placeholder=default_word(field),
        help=help_text(field),
        key=key,
        on_change=_write,
        args=(path, key, as_number),
    )


def _truth(path: KeyPath, field: Field, name: str, value: Any) -> None:
    key = key_of(path)
    if field.nothing or field.model in ("ContractTerms", "Refund", "Stop", "Tax"):
        # For terms, what is not stated is something else than no: it holds as the offer says.
        sync(key, None if value is UNSET else value)
        st.selectbox(
            name,
            (True, False),
            index=None,
            format_func=lambda one: word("form.yes") if one else word("form.no"),
            placeholder=default_word(field),
            help=help_text(field),
            key=key,
            on_change=_write,
            args=(path, key, _plain),
        )
        return
    sync(key, bool(field.default) if value is UNSET else value)
    st.checkbox(name, help=help_text(field), key=key, on_change=_write, args=(path, key, _plain))


def _choice(path: KeyPath, field: Field, kind: Kind, name: str, value: Any, names: Mapping[str, str]) -> None:
    key = key_of(path)
    options = kind.options if value is UNSET or value in kind.options else (*kind.options, value)
    sync(key, None if value is UNSET else value)
    st.selectbox(
        name,
        options,
        index=0 if field.needed and value is not UNSET else None,
        format_func=lambda one: names.get(one) or choice_word(field.key, one),
        placeholder=default_word(field),
        accept_new_options=kind.loose,
        help=help_text(field),
        key=key,
        on_change=_write,
        args=(path, key, _plain),
    )


def _with_unit(path: KeyPath, field: Field, form: UnitForm, name: str, value: Any) -> None:
    """A number and its unit beside it."""
    key, unit_key = key_of(path), key_of(path, ":unit")
    parted = None if value is UNSET else parted_unit(form, value)
    if parted is not None:
        sync(key, parted[0])
        sync(unit_key, parted[1])
    else:
        sync(key, None)
        if unit_key not in st.session_state:
            st.session_state[unit_key] = USUAL[form]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.number_input(
            name,
            value=None,
            step=1.0,
            format="%.10g",
            placeholder=default_word(field),
            help=help_text(field),
            key=key,
            on_change=_write_with_unit,
            args=(path, form),
        )
        st.selectbox(
            word("form.unit_of", name=name),
            UNITS[form],
            format_func=lambda one: word(f"form.unit_{form}_{one}" if one not in ("%", "") else _SHARE[one]),
            label_visibility="collapsed",
            width=130,
            key=unit_key,
            on_change=_write_with_unit,
            args=(path, form),
        )


_SHARE = {"%": "form.unit_share", "": "form.unit_own"}


def _write_with_unit(path: KeyPath, form: UnitForm) -> None:
    number, unit = st.session_state[key_of(path)], st.session_state[key_of(path, ":unit")]
    put_value(path, UNSET if number is None else written(form, number, unit))


def _date(path: KeyPath, field: Field, name: str, value: Any) -> None:
    key = key_of(path)
    sync(key, None if value is UNSET else _day(value))
    st.date_input(
        name,
        value=None,
        min_value=date(1970, 1, 1),
        max_value=date(2199, 12, 31),
        format="YYYY-MM-DD",
        help=help_text(field),
        key=key,
        on_change=_write,
        args=(path, key, lambda day: UNSET if day is None else day.isoformat()),
    )


def _day(value: Any) -> date | None:
    """The day of a text that is a day and no time of it."""
    try:
        found = date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        return None
    return found if found is not None and 1970 <= found.year <= 2199 else None


def _texts(path: KeyPath, field: Field, options: Sequence[str], name: str, value: Any) -> None:
    """A list of choices, or of free texts with a line for each."""
    key = key_of(path)
    items = [] if value is UNSET else [value] if isinstance(value, str) else value
    if options:
        sync(key, list(items))
        st.multiselect(
            name,
            [*options, *(one for one in items if one not in options)],
            format_func=lambda one: choice_word(field.key, one),
            placeholder=default_word(field),
            help=help_text(field),
            key=key,
            on_change=_write,
            args=(path, key, lambda found: list(found) or UNSET),
        )
        return
    sync(key, "\n".join(items))
    st.text_area(
        word("form.a_line_each", name=name),
        placeholder=default_word(field),
        height=80,
        help=help_text(field),
        key=key,
        on_change=_write,
        args=(path, key, _lines),
    )


def _line(path: KeyPath, field: Field, name: str, text: str, read: Callable[[Any], Any]) -> None:
    key = key_of(path)
    sync(key, text)
    st.text_input(
        name,
        placeholder=default_word(field),
        help=help_text(field),
        key=key,
        on_change=_write,
        args=(path, key, read),
    )


def _as_text(path: KeyPath, field: Field, name: str, value: Any) -> None:
    """Anything else, as a file would write it."""
    key = key_of(path, ":yaml")
    if value is UNSET:
        text = ""
    elif isinstance(value, dict | list):
        text = yaml_text({"value": value}).partition("value:")[2].strip("\n").removeprefix(" ")
    else:
        text = str(value)
    sync(key, text)
    show = st.text_area if "\n" in text or len(text) > 80 else st.text_input
    show(name, help=help_text(field), key=key, on_change=_write, args=(path, key, read_scalar))


def _write(path: KeyPath, key: str, read: Callable[[Any], Any]) -> None:
    put_value(path, read(st.session_state[key]))


def _plain(value: Any) -> Any:
    return UNSET if value is None or value == "" else value


def _lines(text: str) -> Any:
    return [line.strip() for line in text.splitlines() if line.strip()] or UNSET


def _numbers(text: str) -> Any:
    """Numbers between commas; what is none stays text, and the loader says so."""
    parts = [part for part in re.split(r"[,;\s，；]+", text) if part]
    if not parts:
        return UNSET
    try:
        return [as_number(float(part)) for part in parts]
    except (ValueError, OverflowError):
        return text


def read_scalar(text: str) -> Any:
    """A piece of YAML as its value; what is none stays text, and the loader says so."""
    if not text.strip():
        return UNSET
    try:
        return read_tree(f"value: {text}" if "\n" not in text else f"value:\n{text}", "form").plain()["value"]
    except InputError:
        return text
