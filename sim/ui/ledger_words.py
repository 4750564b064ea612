"""The rule of a line of the ledger in the page's language: how its amount comes about."""

from __future__ import annotations

from sim.ui.language import language
from sim.ui.phrases import phrased

__all__ = ["line_rule"]


def line_rule(text: str) -> str:
    """The rule with its phrases in the page's language (`words/*/ledger.yaml`); figures stay in place."""
    return text if language() == "en" else phrased(text, "ledger", language())
