"""The statements about cards: all there, judged as by hand or with a reason, in time."""

from __future__ import annotations

import csv
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import pytest

from sim.claims.bench import Bench
from sim.claims.check import check_claims
from sim.claims.model import Claim, Language
from sim.claims.read import load_claims
from sim.claims.reviewed import counterpart, load_review
from sim.claims.verdict import Judged
from sim.cli.claims_json import as_json
from sim.ui.claims_work import worked_claims

KINDS = ("memory", "speed", "scaling", "utilisation", "reliability")
SEEDS = Path(__file__).parents[2] / "shared" / "facts" / "seed_claims.csv"


@pytest.fixture(scope="module")
def every() -> tuple[Judged, ...]:
    claims = load_claims()
    started = time.perf_counter()
    found = check_claims(claims)
    assert time.perf_counter() - started < 60
    return found


@pytest.fixture(scope="module")
def judged(every: tuple[Judged, ...]) -> dict[str, Judged]:
    return {one.claim.id: one for one in every if one.claim.kind in KINDS}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_verdicts_that_come_with_the_page_are_these(
    every: tuple[Judged, ...], language: Language
) -> None:
    """Where this fails after a change of claims, catalogue or physics: `python -m sim.ui.worked_studies
    claims-en claims-zh` makes them anew."""
    stored = json.loads(worked_claims(language).read_text(encoding="utf-8"))
    made = json.loads(json.dumps(as_json(every, load_claims().articles, language, None)))
    assert _rounded(stored) == _rounded(made)


def _rounded(value: Any) -> Any:
    """With ten significant digits: the last bits differ between builds of NumPy."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def test_every_row_of_the_seeds_is_there(judged: dict[str, Judged]) -> None:
    if not SEEDS.exists():
        pytest.skip("the facts are not on this machine")
    with SEEDS.open(encoding="utf-8-sig") as file:
        rows = {row["id"]: row for row in csv.DictReader(file) if row["kind"] in KINDS}
    assert len(rows) == 119
    assert {name for name in judged if not name.endswith("b")} == rows.keys()
    assert all(judged[name].claim.kind == row["kind"] for name, row in rows.items())
    must = {name for name, row in rows.items() if row["verdict"] in ("wrong", "contradicted_by_other_seed")}
    quality = {"S0-071", "S1-010", "S1-012", "S1-050"}  # the accuracy of a trained model is in no physics
    assert {name for name in must if judged[name].working is None} == quality
    assert all(judged[name].verdict == "contradicts" for name in quality)
    assert sum(one.working is not None for one in judged.values()) >= 110


def test_a_verdict_that_differs_from_the_reviewer_has_a_reason(judged: dict[str, Judged]) -> None:
    review = load_review()
    for name, one in judged.items():
        if (word := review.verdicts.get(name)) is not None:  # statements that no reviewer listed have none
            assert counterpart(one, word) or review.reasons.get(name), name


def test_both_languages_are_written(judged: dict[str, Judged]) -> None:
    for one in judged.values():
        claim: Claim = one.claim
        for words in (claim.statement, claim.cannot, claim.note, claim.reviewer_differs, *claim.conditions):
            if words is not None:
                assert words.en.isascii(), claim.id
                assert any("\u4e00" <= letter <= "\u9fff" for letter in words.zh), claim.id


def test_each_working_can_be_followed(judged: dict[str, Judged]) -> None:
    for name, one in judged.items():
        if one.working is not None:
            assert one.working.steps, name
            assert all(step.text and step.value for step in one.working.steps), name
            assert one.working.sources or one.claim.computation in ("tiers_above_weights", "sum_of_parts"), (
                name
            )


EXPECTED = {
    "S0-011": "holds",  # 7 x 2
    "S0-012": "holds",  # 70 x 2
    "S0-016": "wrong",  # July 2024
    "S0-029": "wrong",  # 35 GB over four cards
    "S0-037": "wrong",  # one process shards nothing
    "S0-059": "wrong",  # 14 + 15 + 0.5
    "S0-060": "wrong",
    "S0-064": "holds",  # 1979 / 312
    "S1-003": "wrong",  # 120 below 140
    "S1-005": "wrong",  # 35 GB into 24
    "S1-014": "holds only if",
    "S1-024": "wrong",  # 156 / 35.5
    "S1-031": "wrong",  # weights alone are 32 GiB a card
    "S1-044": "wrong",
    "S1-059": "wrong",  # 8.4 million x 2 bytes
    "S1-066": "wrong",  # 4.2 million
    "S1-067": "holds",
    "S2-005": "wrong",  # 7 x 8
    "S2-009": "holds",
    "S2-015": "wrong",
    "S2-041": "holds",  # 1 / 8
    "S2-059": "wrong",  # 13 x 0.5
    "S2-052": "wrong",  # 26 + 8
}
"""Verdicts that a pencil gives."""


@pytest.mark.parametrize(("name", "verdict"), EXPECTED.items())
def test_verdicts_by_pencil(judged: dict[str, Judged], name: str, verdict: str) -> None:
    assert judged[name].verdict == verdict


def test_a_changed_card_changes_what_rests_on_it(judged: dict[str, Judged]) -> None:
    bench = Bench()
    small = bench.catalog.gpus["H100-80G"].model_copy(update={"fp8_tflops": 1000.0})
    catalog = dataclasses.replace(bench.catalog, gpus={**bench.catalog.gpus, "H100-80G": small})
    claims = load_claims()
    again = {one.claim.id: one for one in check_claims(claims, Bench(catalog=catalog))}
    assert judged["S0-064"].verdict == "holds"
    assert again["S0-064"].verdict == "wrong"
    assert again["S0-011"].verdict == "holds"
