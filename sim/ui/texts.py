"""Texts of users and of results, made safe to stand on the page."""

from __future__ import annotations

__all__ = ["literal"]

FORMATTING = frozenset("\\`*_{}[]()#+-!$~|<>:")
"""Signs that the page would read as formatting, links, formulas or icons."""


def literal(text: object) -> str:
    """The text so that the page shows it as it stands."""
    return "".join(f"\\{sign}" if sign in FORMATTING else sign for sign in str(text))
