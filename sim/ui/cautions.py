"""What a comparison warns of: one box a kind, and first of all a time too short to compare contracts in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import streamlit as st

from sim.ui.amounts import hours
from sim.ui.language import say, word
from sim.ui.metric_words import figure
from sim.ui.safe import literal
from sim.ui.told import in_words, told

__all__ = ["TOO_SHORT", "assumed", "show_cautions", "show_too_short", "too_short"]

TOO_SHORT = "short horizon"
"""Kind of the warning that money stays owed after the simulated time."""

NO_NAMES: Mapping[str, str] = MappingProxyType({})


def too_short(document: Mapping[str, Any]) -> bool:
    """Whether the time is too short for the decision: a strategy in question owes much after it.

    One that misses the target is out, whatever it costs.
    """
    out = {one["name"] for one in document["strategies"] if one.get("target", {}).get("status") == "missed"}
    return any(one["kind"] == TOO_SHORT and one["strategy"] not in out for one in _warnings(document))


def show_too_short(
    document: Mapping[str, Any], names: Mapping[str, str] = NO_NAMES, beside: str = ""
) -> None:
    """The box for right below the decision; nothing where the time is long enough.

    `names` says what a strategy is called on the page; `beside` is said first, whatever the document says.
    """
    found = {one["strategy"] for one in _warnings(document) if one["kind"] == TOO_SHORT}
    parts = [beside] if beside else []
    if found:
        lines = [_owed(one, names) for one in document["strategies"] if one["name"] in found]
        time = hours(document["horizon_h"])
        parts.append("\n".join([say("compare.too_short", time=time), "", *lines]))
    if parts:
        st.warning("\n\n".join([*parts, say("compare.lengthen")]), icon=":material/hourglass_bottom:")


def _owed(strategy: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """What a strategy owes after the time, beside what it costs within it; an item of a list."""
    within = strategy["metrics"]["cost_cny"]["mean"]
    return "- " + say(
        "compare.owed",
        name=names.get(strategy["name"], strategy["name"]),
        after=figure(strategy["metrics"]["committed_cost_cny"]["mean"] - within, "CNY"),
        within=figure(within, "CNY"),
    )


def show_cautions(document: Mapping[str, Any], names: Mapping[str, str] = NO_NAMES) -> None:
    """One box for each other kind of warning, with the strategies to which it applies."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for one in _warnings(document):
        if one["kind"] != TOO_SHORT:
            kinds.setdefault(one["kind"], []).append(one)
    for found in kinds.values():
        lines = _lines(found, names)
        text = lines[0].removeprefix("- ") if len(lines) == 1 else "\n".join(lines)
        st.warning(text, icon=":material/warning:")


def assumed(lines: Sequence[str]) -> None:
    """The assumptions of a comparison, to be opened."""
    with st.expander(word("compare.assumptions", number=len(lines))):
        st.markdown("\n".join(f"- {literal(told(text))}" for text in lines))


def _warnings(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Those of the document; the trimmed one of the worked example may have none."""
    found: Sequence[Mapping[str, Any]] = document.get("warnings", ())
    return found


def _lines(found: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> list[str]:
    """One item of a list for each sentence, with all strategies of which it is said."""
    said: dict[str, list[str]] = {}
    for one in found:
        name = one["strategy"]
        said.setdefault(one["text"], []).extend([names.get(name, name)] if name else [])
    return [
        "- "
        + (f"**{literal(word('compare.name_gap').join(who))}**: " if who else "")
        + literal(in_words(text, names))
        for text, who in said.items()
    ]
