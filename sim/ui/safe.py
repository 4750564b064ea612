"""Texts of users and of results, made safe to stand on the page; names of folders that may be read."""

from __future__ import annotations

import re

__all__ = ["RUN_NAME", "literal"]

FORMATTING = frozenset("\\`*_{}[]()#+-!$~|<>:")
"""Signs that the page would read as formatting, links, formulas or icons."""

LINKS = re.compile(r"https?(?=://)|www(?=\.)|(?=@)", re.IGNORECASE)
"""Where an address begins that the page would make a link of, whatever is escaped in it."""

JOINER = "\u2060"
"""A sign of no width at which no line breaks; an address with one in it is read as words."""

RUN_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
"""A folder of results inside the output folder: scenario and run id. Nothing else is ever opened."""


def literal(text: object) -> str:
    """The text so that the page shows it as it stands: no formatting, no links."""
    apart = LINKS.sub(rf"\g<0>{JOINER}", str(text))
    return "".join(f"\\{sign}" if sign in FORMATTING else sign for sign in apart)
