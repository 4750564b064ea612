"""Folders of studies (sweeps and the like), opened again: their document, checked against the manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sim.errors import InputError, Problem
from sim.experiments.run_list import MANIFEST
from sim.experiments.stored_folder import checked, json_document

__all__ = ["study_of"]


def study_of(folder: Path, kind: str) -> dict[str, Any]:
    """The document that the command of this kind printed; InputError where it is missing or altered."""
    place = folder / MANIFEST
    files = json_document(place.read_bytes(), place).get("files")
    name = f"{kind}.json"
    if not isinstance(files, dict) or not isinstance(files.get(name), str):
        rule = "the folder has no document that this version can show; its tables are CSV files"
        raise InputError(Problem(rule, str(folder), value=name))
    return json_document(checked(folder, name, files[name]), folder / name)
