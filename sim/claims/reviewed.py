"""A reviewer's verdicts on the shipped claims, and why the computed ones differ where they do."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal, get_args

from sim.catalog.reading import read_yaml, validated
from sim.claims.read import load_claims
from sim.claims.verdict import Judged
from sim.model.base import Strict

__all__ = ["REVIEW_WORDS", "Review", "ReviewWord", "counterpart", "load_review"]

ReviewWord = Literal["consistent", "depends", "wrong", "contradicted", "unverifiable"]
REVIEW_WORDS: tuple[str, ...] = get_args(ReviewWord)

_COUNTERPARTS: Mapping[str, str] = {
    "consistent": "holds",
    "depends": "holds only if",
    "wrong": "wrong",
    "unverifiable": "cannot be checked",
}


class _File(Strict):
    verdicts: Mapping[str, ReviewWord]


@dataclass(frozen=True, slots=True)
class Review:
    """What was judged by hand."""

    verdicts: Mapping[str, ReviewWord]
    """Claim -> the reviewer's word."""
    reasons: Mapping[str, str]
    """Claim -> why the computed verdict is another (`reviewer_differs` of the claim)."""


def counterpart(one: Judged, word: str) -> bool:
    """Whether a computed verdict says what the reviewer said.

    A contradiction is a property beside the verdict: agreed where the claim names one.
    """
    if word == "contradicted":
        return bool(one.contradicts)
    return _COUNTERPARTS[word] == one.verdict


@functools.cache
def load_review() -> Review:
    """The reviewer's verdicts, and the reasons that stand at the claims. InputError where one is wrong."""
    entry = resources.files("sim.claims") / "review" / "verdicts.yaml"
    document = read_yaml(entry.read_text("utf-8"), entry.name)
    found = validated(_File, dict(document.data), document)
    reasons = {
        claim.id: claim.reviewer_differs.en
        for claim in load_claims().claims
        if claim.reviewer_differs is not None
    }
    return Review(found.verdicts, reasons)
