"""What the source articles claim of the offers that a run uses, recomputed with the run's own catalogue."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from sim.claims.bench import Bench
from sim.claims.check import check_claims
from sim.claims.read import load_claims
from sim.claims.verdict import VERDICTS, Judged, span
from sim.experiments.stored import StoredRun
from sim.experiments.wording import plain
from sim.replication import used_offers
from sim.report.page_html import Html, element, join, listed, table

__all__ = ["claims_part", "concerns"]


def claims_part(run: StoredRun) -> Html:
    """A table of the statements that do not simply hold, the others folded; nothing where none concern it."""
    offers = {name.partition("/")[0] for name in used_offers(run.question)}
    found = load_claims()
    kept = tuple(claim for claim in found.claims if concerns(claim.inputs, offers))
    if not kept:
        return Html()
    others = {claim.id: claim for claim in found.claims}
    asked = dataclasses.replace(found, claims=kept, others=others)
    judged = check_claims(asked, Bench(catalog=run.question.catalog), strict=False)
    counts = [(name, sum(one.verdict == name for one in judged)) for name in VERDICTS]
    said = ", ".join(f"{name}: {number}" for name, number in counts if number)
    told = (
        f"{len(judged)} statements of the source articles concern the offers of this run; recomputed at its "
        f"prices they are judged: {said}. The working of each: fleetsim claims --explain ID."
    )
    rows = [_row(one) for one in judged if one.verdict != "holds"]
    parts: list[object] = [element("p", told)]
    if rows:
        columns = ("claim", "statement", "computed", "verdict", "why")
        parts.append(table("Statements to be read with care", columns, rows, texts=range(5), stacked=True))
    holding = [f"{one.claim.id}: {one.claim.statement.en}" for one in judged if one.verdict == "holds"]
    if holding:
        summary = element("summary", f"{len(holding)} that hold")
        parts.append(element("details", summary, listed(plain(text) for text in holding)))
    return join(parts)


def _row(one: Judged) -> tuple[str, ...]:
    computed = "" if one.working is None else span(one.working)
    return (
        one.claim.id,
        plain(one.claim.statement.en),
        computed,
        plain(one.said("en")),
        plain(one.reason.en),
    )


def concerns(inputs: Any, offers: Collection[str]) -> bool:
    """Whether the inputs of a statement name one of these offers, at any depth."""
    if isinstance(inputs, str):
        return inputs in offers
    if isinstance(inputs, Mapping):
        return any(concerns(value, offers) for value in inputs.values())
    return isinstance(inputs, list | tuple) and any(concerns(value, offers) for value in inputs)
