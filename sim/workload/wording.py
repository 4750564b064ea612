"""Counts in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, what: str = "job") -> str:
    """`1 job`, `2 jobs`, `1,000 rows`: for words whose plural ends in s."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
