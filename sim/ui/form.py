"""Forms of the question, made from the model: a mapping, a list of mappings, a random quantity, a choice.

Nothing here knows a key of the model but `form_layout`, which says what is shown first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from sim.ui.form_base import Form, draw_problems
from sim.ui.form_examples import example, example_value, spread_example
from sim.ui.form_fields import draw_value, key_of, sync
from sim.ui.form_kinds import Field, Kind, fields_of
from sim.ui.form_layout import PRIMARY
from sim.ui.form_lists import draw_list, draw_map
from sim.ui.form_offers import UNKNOWN_OFFER, own_offers
from sim.ui.form_prices import draw_price_note, is_price, price_example, price_title
from sim.ui.form_words import choice_word, default_word, help_text, label
from sim.ui.language import say, word
from sim.ui.question_edits import UNSET, KeyPath, value_at
from sim.ui.safe import literal
from sim.ui.state import put_value

__all__ = ["draw_field", "draw_model"]

_PLAIN = frozenset(
    ("text", "number", "whole", "truth", "choice", "duration", "rate", "growth", "tolerance", "date")
) | {"numbers", "yaml", "either"}
"""Kinds whose widget takes little room: three of them stand side by side."""
_SPREADS = (
    "lognormal",
    "exponential",
    "uniform",
    "triangular",
    "geometric",
    "choice",
    "mixture",
    "quantiles",
)
_COLUMNS = 3


def draw_model(form: Form, path: KeyPath, model: str, keys: Iterable[str] | None = None) -> None:
    """The keys of a mapping: what people use most, what is stated, and the rest on demand.

    With `keys` these alone, all of them.
    """
    fields = fields_of(model)
    stated = value_at(form.tree, path)
    stated = stated if isinstance(stated, dict) else {}
    if keys is not None:
        _fields(form, path, [fields[key] for key in keys if key in fields])
        return
    first = PRIMARY.get(model, tuple(fields))
    at_once = [field for field in fields.values() if field.key in first or field.key in stated]
    at_once.sort(key=lambda field: first.index(field.key) if field.key in first else len(first))
    rest = [field for field in fields.values() if field not in at_once and field.key != "extends"]
    _fields(form, path, at_once)
    for key in stated:
        if key not in fields:
            draw_problems(form, (*path, key))
    more = word("form.more", number=len(rest))
    if rest and st.toggle(more, key=key_of(path, ":more"), persist_state="session"):
        _fields(form, path, rest)


def _fields(form: Form, path: KeyPath, fields: Sequence[Field]) -> None:
    """Small fields side by side, then the larger ones, each group in order."""
    small = [field for field in fields if field.kind.form in _PLAIN]
    for begin in range(0, len(small), _COLUMNS):
        row = small[begin : begin + _COLUMNS]
        for column, field in zip(st.columns(_COLUMNS), row, strict=False):
            with column:
                draw_field(form, (*path, field.key), field)
        for field in row:
            if field.kind.form == "either":
                _own_values(form, (*path, field.key), field)
    for field in fields:
        if field.kind.form not in _PLAIN:
            draw_field(form, (*path, field.key), field)


def draw_field(form: Form, path: KeyPath, field: Field) -> None:
    """One key: its widget, or the form of what it holds, and what is wrong with it."""
    value = value_at(form.tree, path)
    value = UNSET if value is None else value
    match field.kind.form:
        case "model":
            _section(form, path, field, value)
        case "models":
            draw_list(form, path, field, value, draw_model)
        case "map":
            draw_map(form, path, field, value, draw_model)
        case "either":
            _either(form, path, field, value)
        case _:
            _plain_value(form, path, field, value)
            draw_problems(form, path)
            if field.key == "offer" and any(one.rule == UNKNOWN_OFFER for one in form.problems_at(path)):
                st.info(say("form.own_offer", place=word("question.prices")), icon=":material/sell:")


def _plain_value(form: Form, path: KeyPath, field: Field, value: Any) -> None:
    """One widget; of an offer with those of the question's own price list, of a price with its unit."""
    kind, names = field.kind, {}
    if field.key == "offer" and kind.loose:
        names = {name: f"{offer.name} ({name})" for name, offer in own_offers(form.tree, form.home).items()}
        kind = replace(kind, options=(*names, *(one for one in kind.options if one not in names)))
    title = price_title(form, path) if is_price(field) else None
    draw_value(path, field, kind, value, title=title, names=names)
    if is_price(field):
        draw_price_note(form, path, value)


def _section(form: Form, path: KeyPath, field: Field, value: Any) -> None:
    """A mapping below a mapping; one that may be absent has a switch."""
    name = label(field.model, field.key)
    if field.nothing:
        key = key_of(path, ":on")
        sync(key, value is not UNSET)
        st.toggle(
            name, help=help_text(field), key=key, on_change=_switch, args=(path, field, dict(form.tree))
        )
        draw_problems(form, path)
        if value is UNSET:
            return
        with st.container(border=True):
            draw_model(form, path, field.kind.model)
        return
    with st.container(border=True):
        st.markdown(f"**{literal(name)}**", help=help_text(field))
        draw_problems(form, path)
        draw_model(form, path, field.kind.model)


def _switch(path: KeyPath, field: Field, tree: dict[str, Any]) -> None:
    on = st.session_state[key_of(path, ":on")]
    put_value(path, example(field.kind.model, tree) if on else UNSET)


def _either(form: Form, path: KeyPath, field: Field, value: Any) -> None:
    """A choice of what the value is, then the value where it is a plain one."""
    now = _variant_of(field, value)
    if value is not UNSET and now is None:
        draw_value(path, field, Kind("yaml"), value)
        draw_problems(form, path)
        return
    variants = _variants(field.kind)
    key, name = key_of(path, ":kind"), label(field.model, field.key)
    sync(key, now)
    st.selectbox(
        name,
        list(variants),
        index=0 if field.needed and now is not None else None,
        format_func=lambda one: _variant_word(field.key, one),
        placeholder=default_word(field),
        help=help_text(field),
        key=key,
        on_change=_choose,
        args=(path, field, form),
    )
    kind = None if now is None else variants[now]
    if kind is not None and kind.form not in ("choice", "model"):
        title = price_title(form, path) if is_price(field) else None
        draw_value(path, field, kind, value, title=title or word("form.value_of", name=name))
        if is_price(field):
            draw_price_note(form, path, value)
    draw_problems(form, path)


def _own_values(form: Form, path: KeyPath, field: Field) -> None:
    """The form of a value that is a mapping, below the row in which it was chosen."""
    now = _variant_of(field, value_at(form.tree, path))
    kind = None if now is None else _variants(field.kind)[now]
    if now is None or kind is None or kind.form != "model":
        return
    with st.container(border=True):
        st.markdown(f"**{literal(label(field.model, field.key))}**")
        if now in _SPREADS:
            draw_model(form, (*path, now), _shape(now))
            draw_problems(form, (*path, now))
            draw_model(form, path, "Distribution", ("min", "max"))
        else:
            draw_model(form, path, kind.model)


def _variant_of(field: Field, value: Any) -> str | None:
    """Which of its variants a value is; None for none of them."""
    known = _variants(field.kind).items() if value is not UNSET and value is not None else ()
    return next((name for name, kind in known if _is(name, kind, value)), None)


def _variants(kind: Kind) -> dict[str, Kind]:
    """What a value may be: each option of a choice, and each other kind by its form."""
    found: dict[str, Kind] = {}
    for branch in kind.branches:
        if branch.form == "choice":
            found.update(dict.fromkeys(branch.options, branch))
        elif branch.model == "Distribution":
            found.update(dict.fromkeys(_SPREADS, branch))
        else:
            found[f"#{branch.form}"] = branch
    return found


def _is(name: str, kind: Kind, value: Any) -> bool:
    if kind.form == "choice":
        return bool(value == name)
    if kind.model == "Distribution":
        return isinstance(value, dict) and name in value
    return kind.holds(value)


def _variant_word(key: str, name: str) -> str:
    if name.startswith("#"):
        return word(f"form.as_{name[1:]}")
    return word(f"form.spread_{name}") if name in _SPREADS else choice_word(key, name)


def _shape(name: str) -> str:
    """The model of a kind of random quantity."""
    return fields_of("Distribution")[name].kind.model


def _choose(path: KeyPath, field: Field, form: Form) -> None:
    """Write a value of the kind that was chosen, as near to the one before as can be."""
    name = st.session_state[key_of(path, ":kind")]
    if name is None:
        put_value(path, UNSET)
        return
    kind = _variants(field.kind)[name]
    if kind.form == "choice":
        put_value(path, name)
    elif kind.model == "Distribution" or (name == "#number" and "lognormal" in _variants(field.kind)):
        put_value(path, spread_example(name.removeprefix("#"), _middle(value_at(form.tree, path))))
    elif is_price(field):
        put_value(path, price_example(form, path))
    else:
        put_value(path, example_value(kind, form.tree, field.key))


def _middle(value: Any) -> float:
    """About where a quantity lies."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    below = (
        next((one for one in value.values() if isinstance(one, dict)), {}) if isinstance(value, dict) else {}
    )
    for key in ("median", "mode", "mean", "high"):
        found = below.get(key)
        if isinstance(found, int | float):
            return float(found)
    return 1.0
