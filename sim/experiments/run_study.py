"""Folders of studies (sweeps and the like), opened again: their document, checked against the manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.experiments.run_list import MANIFEST
from sim.experiments.stored_folder import LARGEST_DOCUMENT, checked, json_document

__all__ = ["STUDIES", "StoredStudy", "open_study", "study_of"]

STUDIES = ("sweep", "sensitivity")
"""Kinds of studies, by the names of their documents."""

_CHART = re.compile(r"charts/[\w.()-]+\.png")


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """One study as its command left it."""

    folder: Path
    kind: str
    manifest: Mapping[str, Any]
    document: Mapping[str, Any]
    """What the command printed with `--format json`."""

    @property
    def charts(self) -> tuple[str, ...]:
        """Names of the files with charts."""
        return tuple(name for name in sorted(self.manifest["files"]) if _CHART.fullmatch(name))

    def read(self, name: str) -> bytes:
        """The bytes of one file, as the manifest says; InputError where it is missing or altered."""
        files = self.manifest["files"]
        if name not in files:
            raise InputError(Problem("the study has no such file", str(self.folder), value=name))
        return checked(self.folder, name, files[name])


def open_study(folder: Path, kind: str) -> StoredStudy:
    """Open the folder of a study of this kind; InputError where it is none or was altered."""
    place = folder / MANIFEST
    if place.stat().st_size > LARGEST_DOCUMENT:
        raise InputError(Problem("the manifest is too large to be one", str(place)))
    manifest = json_document(place.read_bytes(), place)
    files, name = manifest.get("files"), f"{kind}.json"
    if not isinstance(files, dict) or not isinstance(files.get(name), str):
        rule = "the folder has no document that this version can show; its tables are CSV files"
        raise InputError(Problem(rule, str(folder), value=name))
    return StoredStudy(
        folder, kind, manifest, json_document(checked(folder, name, files[name]), folder / name)
    )


def study_of(folder: Path, kind: str) -> dict[str, Any]:
    """The document that the command of this kind printed; InputError where it is missing or altered."""
    return dict(open_study(folder, kind).document)
