"""Where the scenarios that come with the program lie: in the package, or beside it in a checkout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sim.errors import RunError

__all__ = ["shipped_files", "shipped_scenarios"]

_PACKAGE = Path(__file__).parent
_PLACES = (_PACKAGE / "scenarios", _PACKAGE.parent / "scenarios")
"""A wheel carries them inside the package; in a checkout they stand at the top."""


def shipped_scenarios() -> Path:
    """The folder of the shipped scenarios; RunError where an installation lacks it."""
    for place in _PLACES:
        if (place / "four-to-eight.yaml").is_file():
            return place
    msg = "this installation of fleetsim has no scenarios; install it anew, or use those of the source"
    raise RunError(msg)


def shipped_files() -> Iterator[tuple[Path, Path]]:
    """Each shipped file and its name below the folder: scenarios, their schema, their traces."""
    folder = shipped_scenarios()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.relative_to(folder)
