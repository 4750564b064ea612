"""The tables of the page `claims`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sim.ui.language import catalogue, language, word
from sim.ui.told import unit_name, with_units
from sim.ui.working_words import worked

__all__ = ["VERDICTS", "claims_frame", "kind_name", "steps_frame", "verdict_name"]

VERDICTS: Mapping[str, str] = {
    "holds": "holds",
    "holds only if": "only_if",
    "wrong": "wrong",
    "contradicts": "contradicts",
    "cannot be checked": "cannot",
}
"""Verdict of the document -> key of its text."""

SIGNS: Mapping[str, str] = {
    "holds": "✓",
    "holds only if": "◐",
    "wrong": "✗",
    "contradicts": "≠",
    "cannot be checked": "?",
}


def verdict_name(verdict: str) -> str:
    """A verdict with its sign, so that no colour is needed to tell it."""
    return f"{SIGNS[verdict]} {word(f'claims.verdict_{VERDICTS[verdict]}')}"


def kind_name(kind: str) -> str:
    """A kind of statement in the page's language."""
    return catalogue(language()).get(f"claims.kind_{kind}", kind)


def claims_frame(claims: Sequence[Mapping[str, Any]], articles: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a statement: what is said, what was computed, the verdict and why."""
    numbers = {article["key"]: str(place) for place, article in enumerate(articles, start=1)}
    return pd.DataFrame(
        [
            {
                word("claims.col_id"): claim["id"],
                word("claims.col_verdict"): verdict_name(claim["verdict"]),
                word("claims.col_statement"): claim["statement"],
                word("claims.col_stated"): _stated(claim["value"]),
                word("claims.col_computed"): _computed(claim["computed"]),
                word("claims.col_reason"): with_units(
                    " ".join(filter(None, (claim["condition"], claim["reason"])))
                ),
                word("claims.col_kind"): kind_name(claim["kind"]),
                word("claims.col_article"): numbers.get(claim["article"], claim["article"]),
            }
            for claim in claims
        ]
    )


def steps_frame(steps: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """The working, a line a step."""
    return pd.DataFrame(
        [
            {
                word("claims.col_step"): str(number),
                word("claims.col_do"): worked(step["text"]),
                word("claims.col_get"): worked(step["value"]),
            }
            for number, step in enumerate(steps, start=1)
        ]
    )


def _stated(value: Mapping[str, Any] | None) -> str:
    return "" if value is None else _span(value["low"], value["high"], value["unit"])


def _computed(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    if found["low"] is None:
        return word("claims.true" if found["holds"] else "claims.false")
    return _span(found["low"], found["high"], found["unit"])


def _span(low: float, high: float | None, unit: str) -> str:
    from sim.claims.working import shown  # takes a while to import, and other pages do without

    named = unit_name(unit)
    return shown(low, named) if high is None or low == high else f"{shown(low)} – {shown(high, named)}"
