"""Final states of jobs: one small vocabulary for the words of all schedulers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sim.workload.imports.fields import words

__all__ = ["UNFINISHED", "UNKNOWN", "state_of"]

UNKNOWN = "unknown"

UNFINISHED = ("running", "suspended", "pending")
"""States of jobs that were not over when the dump was made."""


@cache
def _by_word() -> Mapping[str, str]:
    return {word: state for state, listed in words("states").items() for word in listed}


def state_of(cell: str) -> str | None:
    """The state of a cell such as `COMPLETED`, `CANCELLED by 1000`, `CANCELLED+`, `OUT_OF_ME+`; None for
    a word that no scheduler here uses."""
    word, known = cell.strip().lower(), _by_word()
    if word.startswith("cancelled by"):
        return "cancelled"
    if word.endswith("+"):
        stem = word[:-1]
        found = (
            {known[long] for long in known if len(long) > 4 and long.startswith(stem)}
            if len(stem) > 3
            else set()
        )
        return found.pop() if len(found) == 1 else known.get(stem)
    return known.get(word)
