"""Forms of lists of mappings (leases, classes, events) and of mappings by name (discounts, rates)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import streamlit as st

from sim.ui.form_base import Form, draw_problems
from sim.ui.form_examples import example, example_value, named_copy
from sim.ui.form_fields import draw_value, key_of
from sim.ui.form_kinds import Field, Kind, field_of
from sim.ui.form_prices import is_price, price_example
from sim.ui.form_words import choice_word, help_text, label
from sim.ui.language import catalogue, language, word
from sim.ui.question_edits import UNSET, KeyPath, value_at
from sim.ui.safe import literal
from sim.ui.state import hand, put_value

__all__ = ["add_entry", "chosen_entry", "copy_entry", "draw_list", "draw_map", "entry_buttons"]

DrawModel: TypeAlias = Callable[[Form, KeyPath, str], None]
"""How the form of an entry is drawn: at this path, a mapping of this model."""

_AT_ONCE = 3
"""Entries that are shown together; of a longer list one is picked."""

_NAMES = {
    "discounts": ("monthly", "quarterly", "annual"),
    "half_width": ("wait_mean_h", "wait_p95_h", "committed_cost_cny", "on_time_share"),
    "exchange": ("USD", "EUR", "HKD"),
    "uncertain": ("demand", "growth", "run_time", "failures", "price_range", "price", "discount"),
}
"""Names that are likely in a mapping by name."""


def draw_list(form: Form, path: KeyPath, field: Field, value: Any, draw: DrawModel) -> None:
    """The entries of a list, with buttons to add, copy and remove."""
    items = value if isinstance(value, list) else []
    name = label(field.model, field.key)
    st.markdown(f"**{literal(name)}**", help=help_text(field))
    draw_problems(form, path)
    if value is not UNSET and not field.kind.holds(value):
        draw_value(path, field, Kind("yaml"), value)
        return
    places = range(len(items))
    if len(items) > _AT_ONCE:
        picked = chosen_entry(form, path, name, items)
        places = range(picked, picked + 1)
    for place in places:
        with st.container(border=True):
            draw_problems(form, (*path, place))
            draw(form, (*path, place), field.kind.model)
            entry_buttons(path, place, items, _one_of(field.key, name))
    st.button(
        word("form.add_to", name=_one_of(field.key, name)),
        icon=":material/add:",
        key=key_of(path, ":add"),
        on_click=add_entry,
        args=(path, field.kind.model, form),
    )


def _one_of(key: str, name: str) -> str:
    """What one entry of a list is called."""
    return catalogue(language()).get(f"form.one_{key}", name)


def chosen_entry(form: Form, path: KeyPath, name: str, items: list[Any]) -> int:
    """Which entry of a list is shown: picked in a box, the first at the beginning; wrong ones are marked."""
    key = key_of(path, ":entry")
    picked = st.session_state.get(key, 0)
    # Set anew each time: the browser sends back the name that it shows, and entries may be renamed.
    st.session_state[key] = picked if isinstance(picked, int) and 0 <= picked < len(items) else 0
    titles = [_title(item, place) for place, item in enumerate(items)]
    names = [
        f"{title} ({place + 1})" if titles.count(title) > 1 else title for place, title in enumerate(titles)
    ]
    names = [f"{title} ⚠" if form.wrong_below((*path, place)) else title for place, title in enumerate(names)]
    return st.selectbox(
        name, range(len(items)), format_func=names.__getitem__, key=key, persist_state="session"
    )


def _title(entry: Any, place: int) -> str:
    own = entry.get("name") if isinstance(entry, dict) else None
    return str(own) if isinstance(own, str) and own else word("form.entry", number=place + 1)


def entry_buttons(path: KeyPath, place: int, items: list[Any], name: str) -> None:
    """Copy and remove an entry, whose kind is called `name`."""
    with st.container(horizontal=True):
        st.button(
            word("form.copy", name=name),
            icon=":material/content_copy:",
            key=key_of((*path, place), ":copy"),
            on_click=copy_entry,
            args=(path, place),
        )
        st.button(
            word("form.remove_one", name=name),
            icon=":material/delete:",
            key=key_of((*path, place), ":remove"),
            disabled=len(items) == 1 and path == ("strategies",),
            on_click=remove_entry,
            args=(path, place),
        )


def _items(path: KeyPath) -> list[Any]:
    found = value_at(hand().tree, path)
    return found if isinstance(found, list) else []


def add_entry(path: KeyPath, model: str, form: Form | None = None) -> None:
    """Append a new entry, with a name of its own where it has one, and show it; a price is the list price."""
    items = _items(path)
    made = example(model, hand().tree)
    for key in made:
        if form is not None and is_price(field_of(model, key)):
            made[key] = price_example(form, (*path, len(items), key))
    _with_new(path, items, named_copy(made, items))


def copy_entry(path: KeyPath, place: int) -> None:
    """Append a copy of an entry, and show it."""
    items = _items(path)
    if place < len(items):
        _with_new(path, items, named_copy(items[place], items))


def _with_new(path: KeyPath, items: list[Any], entry: Any) -> None:
    put_value(path, [*items, entry])
    st.session_state[key_of(path, ":entry")] = len(items)


def remove_entry(path: KeyPath, place: int) -> None:
    """Take an entry away."""
    items = _items(path)
    put_value(path, [one for number, one in enumerate(items) if number != place] or UNSET)
    st.session_state[key_of(path, ":entry")] = max(0, place - 1)


def draw_map(form: Form, path: KeyPath, field: Field, value: Any, draw: DrawModel) -> None:
    """Values by name: a row or form a name, and a box for another name."""
    entries = value if isinstance(value, dict) else {}
    name = label(field.model, field.key)
    st.markdown(f"**{literal(name)}**", help=help_text(field))
    draw_problems(form, path)
    kind = field.kind.branches[0]
    for one in entries:
        at = (*path, one)
        with st.container(border=kind.form == "model"):
            if kind.form == "model":
                st.markdown(f"**{literal(choice_word(field.key, one))}**")
                draw(form, at, kind.model)
            else:
                inner = Field(field.model, field.key, kind, False, False, None, "")
                draw_value(at, inner, kind, entries[one], title=literal(choice_word(field.key, one)))
            draw_problems(form, at)
            st.button(word("form.remove"), key=key_of(at, ":remove"), on_click=put_value, args=(at, UNSET))
    key = key_of(path, ":new")
    st.selectbox(
        word("form.add_to", name=name),
        [one for one in _NAMES.get(field.key, ()) if one not in entries],
        index=None,
        format_func=lambda one: choice_word(field.key, one),
        placeholder=word("form.add_name"),
        accept_new_options=True,
        key=key,
        on_change=_add_name,
        args=(path, kind, key),
    )


def _add_name(path: KeyPath, kind: Kind, key: str) -> None:
    name = st.session_state[key]
    if name:
        put_value((*path, str(name)), example_value(kind, hand().tree))
    st.session_state[key] = None
