"""Verdicts on claims as a JSON document, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from sim.claims.model import Also, Article, Claim, Language
from sim.claims.verdict import ABOUT, VERDICTS, Judged
from sim.claims.working import Working
from sim.experiments.files import harmless

__all__ = ["COLUMNS", "as_csv", "as_json"]


def as_json(
    judged: Sequence[Judged], articles: Mapping[str, Article], language: Language, chart: str | None
) -> dict[str, Any]:
    """The document of `fleetsim claims --format json`; numbers in the unit beside them."""
    named = {one.claim.article for one in judged}
    return {
        "language": language,
        "about_tolerance": ABOUT,
        "articles": [
            {"key": key, "title": article.title.said(language), "file": article.file}
            for key, article in articles.items()
            if key in named
        ],
        "counts": {name: sum(one.verdict == name for one in judged) for name in VERDICTS},
        "claims": [_claim(one, language) for one in judged],
        "chart": chart,
    }


def _claim(one: Judged, language: Language) -> dict[str, Any]:
    claim = one.claim
    return {
        "id": claim.id,
        "article": claim.article,
        "place": claim.place,
        "kind": claim.kind,
        "statement": claim.statement.said(language),
        "value": _value(claim),
        "computation": claim.computation,
        "inputs": dict(claim.inputs),
        "also": [{"value": _value(part), "computation": part.computation} for part in claim.also],
        "computed": None if one.working is None else _computed(one.working),
        "verdict": one.verdict,
        "condition": None if one.condition is None else one.condition.said(language),
        "computed_under_condition": None if one.under is None else _computed(one.under),
        "reason": one.reason.said(language),
        "contradicts": list(one.contradicts),
        "assumptions": [text.said(language) for text in claim.conditions] + list(one.assumptions),
        "steps": _steps(one.working),
        "sources": [] if one.working is None else list(one.working.sources),
        "note": None if claim.note is None else claim.note.said(language),
    }


def _value(claim: Claim | Also) -> dict[str, Any] | None:
    value = claim.value
    if value is None:
        return None
    high = value.low if value.high is None else value.high
    return {"low": float(value.low), "high": float(high), "unit": value.unit, "states": claim.meant}


def _computed(working: Working) -> dict[str, Any]:
    return {
        "low": working.low,
        "high": working.high,
        "unit": working.unit,
        "holds": working.holds,
        "model_error": working.error,
    }


def _steps(working: Working | None) -> list[dict[str, str]]:
    return [] if working is None else [{"text": step.text, "value": step.value} for step in working.steps]


COLUMNS = (
    "id", "article", "place", "kind", "statement", "stated_low", "stated_high", "states", "unit",
    "computation", "computed_low", "computed_high", "verdict", "condition", "reason", "contradicts",
)  # fmt: skip


def as_csv(judged: Sequence[Judged], language: Language) -> str:
    """One row a claim; texts that a spreadsheet would take for a formula are made harmless."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in judged:
        row = _claim(one, language)
        value, computed = row["value"] or {}, row["computed"] or {}
        cells = [
            row["id"], row["article"], row["place"], row["kind"], row["statement"], value.get("low"),
            value.get("high"), value.get("states"), value.get("unit"), row["computation"],
            computed.get("low"), computed.get("high"), row["verdict"], row["condition"], row["reason"],
            " ".join(row["contradicts"]),
        ]  # fmt: skip
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()
