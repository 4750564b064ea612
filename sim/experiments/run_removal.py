"""Runs deleted, and kept replications cleared away: nothing but what this program wrote, and only on request.

A folder is taken out of the way in one step before it is emptied, so that nobody meets half a run.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem, RunError
from sim.experiments.run_list import MANIFEST, NAMES
from sim.experiments.stored_folder import LARGEST_DOCUMENT, json_document
from sim.experiments.vault import FOLDER

__all__ = ["Held", "delete", "kept_runs", "removable"]

_KEPT = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}/(\d+\.(json|damaged)|\.\d+\.json-[0-9a-f]{12})")
"""Names of files below the folder of kept replications."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a folder holds."""

    folder: Path
    files: int
    size: int
    """Bytes."""

    def to_json(self) -> dict[str, Any]:
        """For documents; bytes."""
        return {"folder": self.folder.as_posix(), "files": self.files, "bytes": self.size}


def removable(folder: Path, out: Path) -> Held:
    """What deleting a run would take away.

    Raises InputError unless the folder is a run that lies below `out` and holds nothing but its own
    files: no `..` and no link on the way or inside, a manifest that names every file.
    """
    shown = str(folder)
    if ".." in folder.parts:
        raise InputError(Problem("a run is named without ..", value=shown))
    # `realpath`, for it bears links that lead in a circle; they are refused as links below
    base = Path(os.path.realpath(out))
    place = Path(os.path.realpath(folder))
    inside = place.parent.parent == base and not folder.is_symlink() and not folder.parent.is_symlink()
    if not inside:
        rule = f"only folders SCENARIO/RUN below {out} are deleted, and no links"
        raise InputError(Problem(rule, value=shown))
    if not NAMES.fullmatch(place.name):
        raise InputError(Problem("this is not the name of a run", value=shown))
    named = {*_named(place, shown), MANIFEST}
    found = dict(_files(place))
    strange = sorted(name for name in found if name not in named)
    if strange:
        rule = "the folder holds something that the run did not write; take it away first"
        raise InputError(Problem(rule, shown, value=strange[0]))
    return Held(folder, len(found), sum(found.values()))


def kept_runs(out: Path) -> Held:
    """What the folder of finished replications below `out` holds; nothing where there is none.

    Raises InputError where it is a link or holds what the program did not write.
    """
    folder = out / FOLDER
    if not out.is_dir():
        raise InputError(Problem("this is no folder of results", key="--out", value=str(out)))
    if folder.is_symlink():
        raise InputError(Problem("the folder is a link, which is not followed", value=str(folder)))
    if not folder.exists():
        return Held(folder, 0, 0)
    found = dict(_files(folder))
    strange = sorted(name for name in found if not _KEPT.fullmatch(name))
    if strange:
        rule = "the folder holds something that the program did not write; take it away first"
        raise InputError(Problem(rule, str(folder), value=strange[0]))
    return Held(folder, len(found), sum(found.values()))


def delete(held: Held) -> None:
    """Delete a folder that was looked at, and the folder of its scenario if that is empty now.

    Raises RunError where something cannot be deleted.
    """
    folder = held.folder
    aside = folder.with_name(f".{folder.name.lstrip('.')}-{os.getpid()}-{uuid.uuid4().hex[:12]}")
    try:
        folder.rename(aside)
        shutil.rmtree(aside)
        if not folder.name.startswith(".") and not any(folder.parent.iterdir()):
            folder.parent.rmdir()
    except FileNotFoundError as error:
        msg = f"{folder} is not there any more"
        raise RunError(msg) from error
    except OSError as error:
        msg = f"{folder} cannot be deleted: {error.strerror}"
        raise RunError(msg) from error


def _named(folder: Path, shown: str) -> set[str]:
    """The files that the manifest of a run names; InputError where it is none."""
    place = folder / MANIFEST
    if not place.is_file() or place.is_symlink() or place.stat().st_size > LARGEST_DOCUMENT:
        raise InputError(Problem("this is not the folder of a run: it has no manifest.json", shown))
    manifest = json_document(place.read_bytes(), place)
    files = manifest.get("files")
    own = isinstance(manifest.get("fleetsim"), str) and isinstance(files, dict)
    if not own or manifest.get("run_id", folder.name) != folder.name:
        rule = "this manifest is not that of the run whose name the folder has"
        raise InputError(Problem(rule, str(place)))
    return set(files) if isinstance(files, dict) else set()


def _files(folder: Path, above: str = "") -> Iterator[tuple[str, int]]:
    """Every file below a folder with its size, bytes; a link, whatever it leads to, is a file of its own."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{above}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path), f"{name}/")
            elif entry.is_symlink():
                yield f"{name} (a link)", 0
            else:
                yield name, entry.stat(follow_symlinks=False).st_size
