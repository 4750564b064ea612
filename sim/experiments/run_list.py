"""The runs below a folder of results: which there are, which of them are damaged, and which one is meant.

A list reads manifests and the documents with the decision, not the tables: it is quick with hundreds of
runs, and a run of an older version is named in it although it cannot be opened any more.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.experiments.store import FORMAT
from sim.experiments.stored_folder import LARGEST_DOCUMENT, checked, json_document

__all__ = [
    "COMPARISONS",
    "LATEST",
    "MANIFEST",
    "NAMES",
    "Listed",
    "find_run",
    "listed",
    "runs_below",
    "sound_run",
]

LATEST = "latest"
"""What stands for the newest run that is whole."""

MANIFEST = "manifest.json"

NAMES = re.compile(r"([a-z]+-)?[0-9a-f]{12}")
"""Names of folders that are runs or studies."""

COMPARISONS = ("comparison", "recommendation", "step-up", "rebilled")
"""Kinds that hold a comparison, with its ledgers and tables."""

_MARKS = {"recommendation.json": "recommendation", "stepup.json": "step-up"}
"""File that only one kind of run has -> the kind."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One folder below the results, as far as it can be read."""

    folder: Path
    id: str
    """Name of the folder: twelve hexadecimal digits, after `sweep-` and the like for studies."""
    scenario: str
    """Name of the scenario; of the folder where the manifest does not say it."""
    kind: str
    """comparison, recommendation, step-up, rebilled, or a study such as sweep; `unknown` where damaged."""
    finished: str
    """When, UTC; empty where not known."""
    replications: int | None
    """Of each strategy; None for a study or where not known."""
    recommended: str | None
    """Strategy to rent; None where none meets the target, for a study, or where not known."""
    version: str
    """Of fleetsim that wrote it."""
    state: str
    """`whole`, `other version` (it can be listed and deleted, not opened), or `damaged`."""
    problem: str
    """What is damaged; empty where nothing is."""

    def to_json(self) -> dict[str, Any]:
        """One row of the document of `fleetsim runs list --format json`."""
        return {
            "id": self.id,
            "scenario": self.scenario,
            "kind": self.kind,
            "finished": self.finished or None,
            "replications": self.replications,
            "recommended": self.recommended,
            "version": self.version or None,
            "state": self.state,
            "problem": self.problem or None,
            "folder": self.folder.as_posix(),
        }


def runs_below(out: Path) -> list[Listed]:
    """Every run below a folder of results, the newest first, the damaged last. InputError if it is none."""
    if not out.is_dir():
        raise InputError(Problem("this is no folder of results", key="--out", value=str(out)))
    found = [listed(folder) for folder in _folders(out)]
    found.sort(key=lambda run: run.id)
    found.sort(key=lambda run: run.finished, reverse=True)
    return sorted(found, key=lambda run: run.state == "damaged")


def listed(folder: Path) -> Listed:
    """What can be said of one folder; never an error."""
    try:
        place = folder / MANIFEST
        if not place.is_file() or place.is_symlink():
            return _damaged(folder, "it has no manifest.json")
        if place.stat().st_size > LARGEST_DOCUMENT:
            return _damaged(folder, "its manifest is too large to be one")
        manifest = json_document(place.read_bytes(), place)
        return _read(folder, manifest)
    except InputError as error:
        return _damaged(folder, "; ".join(problem.rule for problem in error.problems))
    except OSError as error:
        return _damaged(folder, f"it cannot be read: {error.strerror}")


def find_run(text: str, out: Path, kinds: Collection[str] | None = None) -> Path:
    """The folder that is meant: a folder, an id or its beginning below `out`, or `latest`.

    `kinds` are those of which the newest is `latest`; None: of any kind. Raises InputError with the
    runs it might be where none or several are meant.
    """
    folder = Path(text)
    if folder.is_dir():
        return folder
    runs = runs_below(out)
    if text == LATEST:
        whole = [run for run in runs if run.state == "whole" and (kinds is None or run.kind in kinds)]
        if not whole:
            raise InputError(Problem("there is no run that can be opened", key="--out", value=str(out)))
        return whole[0].folder
    named = [run for run in runs if run.id.startswith(text)] if text else []
    exact = [run for run in named if run.id == text]
    if len(exact or named) == 1:
        return (exact or named)[0].folder
    if named:
        rule = f"{len(named)} runs begin like this: write more of the id"
        raise InputError(Problem(rule, value=text, known=tuple(_named(run) for run in named)))
    rule = f"there is no such folder, and no run of this id below {out}"
    raise InputError(Problem(rule, value=text, known=tuple(run.id for run in runs[:20])))


def sound_run(text: str, out: Path, kinds: Collection[str] | None = None) -> Path:
    """`find_run`, but for damaged runs: InputError with what is wrong.

    A folder is taken as it is, for it may have been copied or renamed; whoever opens it checks it.
    """
    folder = find_run(text, out, kinds)
    if not Path(text).is_dir():
        run = listed(folder)
        if run.state == "damaged":
            raise InputError(Problem(f"the run is damaged: {run.problem}", str(folder)))
    return folder


def _named(run: Listed) -> str:
    return f"{run.id} ({run.scenario})"


def _folders(out: Path) -> Iterator[Path]:
    """Folders two floors below, which is where runs lie; hidden ones are half written or kept runs."""
    for above in _seen(out):
        for folder in _seen(above):
            if NAMES.fullmatch(folder.name) or (folder / MANIFEST).exists():
                yield folder


def _seen(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        names = sorted(
            entry.name
            for entry in entries
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        )
        return [folder / name for name in names]
    return []


def _read(folder: Path, manifest: Mapping[str, Any]) -> Listed:
    files = manifest.get("files")
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files):
        return _damaged(folder, "its manifest names no files")
    kind = _kind(manifest, files)
    if manifest.get("run_id", folder.name) != folder.name:
        return _damaged(folder, "its manifest is that of another run", manifest, kind)
    missing = [name for name in sorted(files) if not _is_own_file(folder, name)]
    if missing:
        return _damaged(folder, f"it lacks {missing[0]}", manifest, kind)
    version = importlib.metadata.version("fleetsim")
    same = manifest.get("fleetsim") == version
    if kind in COMPARISONS:
        same = same and manifest.get("format") == FORMAT
    recommended = None
    if kind in COMPARISONS:
        name = "comparison.json"
        if name not in files:
            return _damaged(folder, f"it lacks {name}", manifest, kind)
        if (folder / name).stat().st_size > LARGEST_DOCUMENT:
            return _damaged(folder, f"{name} is too large to be one", manifest, kind)
        document = json_document(checked(folder, name, str(files[name])), folder / name)
        decision = document.get("recommendation")
        recommended = decision.get("strategy") if isinstance(decision, dict) else None
    state = "whole" if same else "other version"
    return _entry(folder, manifest, kind, state, recommended=_text(recommended) or None)


def _kind(manifest: Mapping[str, Any], files: Mapping[str, Any]) -> str:
    own = next((kind for name, kind in _MARKS.items() if name in files), None)
    if own is not None:
        return own
    if "rebilled_from" in manifest:
        return "rebilled"
    return _text(manifest.get("kind")) or "comparison"


def _is_own_file(folder: Path, name: str) -> bool:
    path = folder / name
    try:
        return path.is_file() and path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        return False


def _damaged(
    folder: Path, problem: str, manifest: Mapping[str, Any] | None = None, kind: str = "unknown"
) -> Listed:
    return _entry(folder, manifest or {}, kind, "damaged", problem)


def _entry(
    folder: Path,
    manifest: Mapping[str, Any],
    kind: str,
    state: str,
    problem: str = "",
    recommended: str | None = None,
) -> Listed:
    number = manifest.get("replications")
    return Listed(
        folder=folder,
        id=folder.name,
        scenario=_text(manifest.get("scenario")) or folder.parent.name,
        kind=kind,
        finished=_text(manifest.get("finished")),
        replications=number if isinstance(number, int) and not isinstance(number, bool) else None,
        recommended=recommended,
        version=_text(manifest.get("fleetsim")),
        state=state,
        problem=problem,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
