"""The pinned lock: complete, within the bounds of pyproject.toml, every file with a digest."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)


def _lock() -> str:
    return (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_the_lock_keeps_to_the_bounds() -> None:
    pins = {canonicalize_name(name): Version(version) for name, version in PIN.findall(_lock())}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for text in project["dependencies"]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)]), text


def test_every_dependency_has_both_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    # Types for mypy follow the packages that they describe; time zones are data and have no interface.
    free = {"fleetsim", "pandas-stubs", "types-openpyxl", "scipy-stubs", "tzdata"}
    for text in (line for group in groups for line in group):
        wanted = Requirement(text)
        signs = {item.operator for item in wanted.specifier}
        assert wanted.name in free or {">=", "<"} <= signs, text


def test_every_file_of_the_lock_has_a_digest_and_no_address() -> None:
    blocks = re.split(r"^(?=[A-Za-z0-9._-]+==)", _lock(), flags=re.MULTILINE)[1:]
    assert len(blocks) > 40
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"https?://|--index-url|--find-links /", _lock().split("\n", 2)[2])
