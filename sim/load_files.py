"""Files that a scenario names: whether they are there, and what lies beside them; never an error.

A name may be too long for the system, hold signs that no name may have, or lead through a folder that
may not be looked into: then there is no such file.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["beside", "is_file", "real"]


def is_file(path: Path) -> bool:
    """Whether this is a file that can be seen."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def beside(path: Path, ending: str = "") -> list[Path]:
    """What lies in the folder of a path and has this ending, sorted; nothing where it cannot be seen."""
    try:
        return sorted(path.parent.glob(f"*{ending}"))
    except (OSError, ValueError):
        return []


def real(path: Path) -> str:
    """The path without links; as it is where it cannot be followed."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)
