"""What every folder of results says of itself: the program that wrote it, and a digest of every file."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["digests", "machine", "write_json"]

PACKAGES = ("numpy", "scipy", "simpy", "pandas", "pyarrow", "matplotlib", "joblib", "pydantic", "ruamel.yaml")
"""Packages whose versions can change a figure or a file."""


def machine() -> dict[str, Any]:
    """Python, the platform and the packages that made the files."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
    }


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file in the folder, hexadecimal, by its path there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_json(document: Mapping[str, Any], path: Path) -> None:
    """A document as JSON, UTF-8; ValueError for a number that is NaN or infinite."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
