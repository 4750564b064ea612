"""The tables of the page `fit`, in the words and units of the page's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import pandas as pd

from sim.physics.memory import MemoryParts
from sim.physics.remedies import Remedy
from sim.report.fit_answers import FitAnswer, cheapest_first
from sim.ui.amounts import UNKNOWN, hours, money, number
from sim.ui.language import catalogue, language, word
from sim.ui.names import offer_name
from sim.ui.told import split_name, told

__all__ = ["both_frame", "first_of_each", "offers_frame", "parts_frame", "remedies_frame", "support"]


def first_of_each(answers: Sequence[FitAnswer]) -> list[FitAnswer]:
    """One row an offer: the first that fits, else the first."""
    found: dict[str, FitAnswer] = {}
    for answer in answers:
        known = found.get(answer.offer.id)
        if known is None or (answer.row.fits and not known.row.fits):
            found[answer.offer.id] = answer
    return list(found.values())


def offers_frame(answers: Sequence[FitAnswer]) -> pd.DataFrame:
    """Every offer: cards, memory, time, money, support; what fits first, the cheapest run on top."""
    return pd.DataFrame([_offer(answer) for answer in cheapest_first(answers)])


def _offer(answer: FitAnswer) -> dict[str, str]:
    row = answer.row
    return {
        word("fit.col_offer"): offer_name(answer.offer),
        word("fit.col_gpu"): row.gpu,
        word("fit.col_fits"): _verdict(answer),
        word("fit.col_cards"): number(row.gpus),
        word("fit.col_need"): number(row.total_gib, 1),
        word("fit.col_has"): number(row.usable_gib, 1),
        word("fit.col_run"): hours(row.hours),
        word("fit.col_cost"): money(answer.cost, currency=answer.offer.currency),
        word("fit.col_tokens"): number(row.tokens_per_s),
        word("fit.col_how"): split_name(row.split) if row.fits else told(row.reason),
        word("fit.col_limit"): _named("limit", row.limited_by),
        word("fit.col_memory_support"): support(row.memory_support),
        word("fit.col_support"): support(row.support),
    }


def _verdict(answer: FitAnswer) -> str:
    """Fits, fits with little to spare, or not: by a sign and a word, not by colour."""
    row = answer.row
    if not row.fits:
        return "✗ " + word("fit.no")
    return "✓ " + word("fit.tight" if row.tight else "fit.yes")


def support(tag: str) -> str:
    """How well a figure is supported by measurements, in words."""
    return _named("support", tag)


def _named(kind: str, tag: str) -> str:
    """The translated name of a tag; the tag itself where there is no text for it."""
    if not tag:
        return UNKNOWN
    return catalogue(language()).get(f"fit.{kind}_{tag.replace(' ', '_')}", tag)


def both_frame(measured: Sequence[FitAnswer], vendor: Sequence[FitAnswer]) -> pd.DataFrame:
    """The program's figures beside the articles' own, one row an offer."""
    theirs = {answer.offer.id: answer for answer in first_of_each(vendor)}
    rows = []
    for ours in first_of_each(measured):
        other = theirs[ours.offer.id]
        apart = UNKNOWN
        if ours.row.hours and other.row.hours:
            apart = f"× {ours.row.hours / other.row.hours:.2g}"
        rows.append(
            {
                word("fit.col_offer"): offer_name(ours.offer),
                word("fit.both_cards_ours"): number(ours.row.gpus) if ours.row.fits else word("fit.none"),
                word("fit.both_cards_theirs"): number(other.row.gpus) if other.row.fits else word("fit.none"),
                word("fit.both_gib_ours"): number(ours.row.total_gib, 1),
                word("fit.both_gib_theirs"): number(other.row.total_gib, 1),
                word("fit.both_run_ours"): hours(ours.row.hours),
                word("fit.both_run_theirs"): hours(other.row.hours),
                word("fit.both_cost_ours"): money(ours.cost, currency=ours.offer.currency),
                word("fit.both_cost_theirs"): money(other.cost, currency=other.offer.currency),
                word("fit.both_apart"): apart,
            }
        )
    return pd.DataFrame(rows)


def parts_frame(answers: Sequence[FitAnswer]) -> pd.DataFrame:
    """Memory of one card by part, GiB: a column for each kind and number of cards."""
    columns: dict[str, list[str]] = {
        word("fit.col_part"): [word(f"fit.part_{part.name}") for part in fields(MemoryParts)]
        + [word("fit.part_sum")]
    }
    for answer in answers:
        parts = answer.row.parts
        if parts is None:
            continue
        label = f"{answer.row.gpu} × {answer.row.gpus}"
        cells = [number(getattr(parts, part.name), 1) for part in fields(MemoryParts)]
        columns.setdefault(label, [*cells, number(parts.total_gib, 1)])
    return pd.DataFrame(columns)


def remedies_frame(ladder: Sequence[Remedy]) -> pd.DataFrame:
    """Steps that make the job fit, least harm first; each keeps those above it."""
    return pd.DataFrame(
        [
            {
                word("fit.col_change"): told(step.change),
                word("fit.col_gpu"): step.gpu,
                word("fit.col_cards"): number(step.gpus),
                word("fit.col_need"): number(step.memory_gib, 1),
                word("fit.col_has"): number(step.has_gib, 1),
                word("fit.col_saves"): f"{step.saves_gib:+.1f}",
                word("fit.col_tokens"): number(step.tokens_per_s),
                word("fit.col_fits"): ("✓ " + word("fit.yes")) if step.fits else ("✗ " + word("fit.no")),
                word("fit.col_harm"): told(step.harm),
            }
            for step in ladder
        ]
    )
