"""The files of a run's folder, opened safely.

Nothing of a folder is run or unpickled. Every file is held against the digest that the manifest
states for it, and no name may lead out of the folder.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from sim.errors import InputError, Problem
from sim.experiments.files import FORMULA_SIGNS
from sim.experiments.store import FORMAT
from sim.load_checks import PERFORMANCES
from sim.load_tree import read_tree
from sim.model.contract import PriceChoice

__all__ = ["checked", "csv_rows", "json_document", "read_manifest", "refuse_strangers"]

MANIFEST = "manifest.json"
NEEDED = (
    *("scenario.yaml", "comparison.json", "ledger.csv", "invoices.csv", "assumptions.csv"),
    *("rentals.parquet", "divisors.parquet", "replications.parquet", "leases.parquet"),
)
LARGEST_DOCUMENT = 64 * 2**20
"""Bytes of a JSON document that are read at most."""
LARGEST_FILE = 8 * 2**30
"""Bytes of a table that are read at most."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run; InputError if the folder is none, is damaged or of another version."""
    place = folder / MANIFEST
    if not place.is_file():
        rule = "this is not the folder of a run: it has no manifest.json; give outputs/SCENARIO/RUN"
        below = sorted(one.parent.name for one in folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else []
        raise InputError(Problem(rule, str(folder), known=tuple(below)))
    if place.stat().st_size > LARGEST_DOCUMENT:
        raise InputError(Problem("the manifest is too large to be one", str(place)))
    manifest = json_document(place.read_bytes(), place)
    version = importlib.metadata.version("fleetsim")
    found = (manifest.get("format"), manifest.get("fleetsim"))
    if found != (FORMAT, version):
        rule = (
            f"the run was written by another version of fleetsim (this is {version}, layout {FORMAT}): "
            "run the comparison again, the scenario is in its scenario.yaml"
        )
        shown = f"{found[1] or 'no version'}, layout {found[0] or 'not stated'}"
        raise InputError(Problem(rule, str(place), key="fleetsim", value=shown))
    for key, holds in _RULES.items():
        if key not in manifest or not holds(manifest[key]):
            raise InputError(Problem("the manifest is damaged here", str(place), key=key))
    for name in manifest["files"]:
        if not _inside(name):
            rule = "a run's files lie in its own folder"
            raise InputError(Problem(rule, str(place), key="files", value=name))
    lacks = [name for name in NEEDED if name not in manifest["files"]]
    if lacks:
        rule = "the run lacks a file that it needs"
        raise InputError(Problem(rule, str(folder), value=name) for name in lacks)
    return manifest


def _inside(name: str) -> bool:
    """Whether a name stays below the folder, on every system."""
    parts = PurePosixPath(name).parts
    return bool(re.fullmatch(r"[\w.()-]+(/[\w.()-]+)?", name)) and not {"..", "."} & {*parts}


def checked(folder: Path, name: str, digest: str, keep: bool = True) -> bytes:
    """The bytes of a file that is what the manifest says; with `keep` False, read in pieces and dropped."""
    path, seen, kept = folder / name, hashlib.sha256(), bytearray()
    try:
        if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
            raise InputError(Problem("the run lacks this file, which its manifest names", str(path)))
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(Problem(f"a file of a run has at most {LARGEST_FILE:,} bytes", str(path)))
        with path.open("rb") as file:
            while piece := file.read(2**20):
                seen.update(piece)
                if keep:
                    kept += piece
    except OSError as error:
        raise InputError(Problem(f"the file cannot be read: {error.strerror}", str(path))) from None
    if seen.hexdigest() != digest:
        rule = "the file is not as the run left it: its digest differs from the one in manifest.json"
        raise InputError(Problem(rule, str(path)))
    return bytes(kept)


def json_document(data: bytes, place: Path) -> dict[str, Any]:
    """The object of a JSON file; InputError if it is none, NaN included."""
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(Problem(f"the file is not a JSON document: {error}", str(place))) from None
    if not isinstance(found, dict):
        raise InputError(Problem("the JSON document must be an object", str(place)))
    return found


def _refuse(word: str) -> None:
    msg = f"{word} is no JSON"
    raise ValueError(msg)


def refuse_strangers(folder: Path, files: Mapping[str, str]) -> None:
    """InputError if the scenario names a file that is not the run's own."""
    place = folder / "scenario.yaml"
    tree = read_tree(place.read_bytes(), str(place))
    for path in (("extends",), ("workload", "trace", "file"), ("performance",), ("catalog",)):
        node = tree.find(path)
        named = None if node is None else node.value
        if (
            node is None
            or named is None
            or named in files
            or (path == ("performance",) and named in PERFORMANCES)
        ):
            continue
        rule = "the scenario of a run names no file but its own"
        raise InputError(Problem(rule, str(place), node.line, ".".join(path), named))


def csv_rows(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file of a run, texts as they were before they were made safe for spreadsheets."""
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return [{name: _plain(cell) for name, cell in row.items()} for row in rows]


def _plain(cell: str) -> str:
    """A text cell without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith((*FORMULA_SIGNS, "'")) else cell


_RULES: Mapping[str, Callable[[Any], bool]] = {
    "run_id": lambda value: isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{12}", value)),
    "baseline": lambda value: isinstance(value, str),
    "price": lambda value: value is None or value in get_args(PriceChoice),
    "files": lambda value: (
        isinstance(value, dict)
        and len(value) < 1000
        and all(isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest) for digest in value.values())
    ),
}
"""Key of the manifest -> what its value must be."""
