"""The numbers of the physics: read from `constants.yaml`, overridden by a calibration file."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import Field

from sim.catalog.reading import Document, read_file, read_yaml, validated
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.physics.memory_constants import MemoryConstants
from sim.physics.speed_constants import SpeedConstants

__all__ = [
    "PROFILES",
    "Constants",
    "FitRecord",
    "HostConstants",
    "StartConstants",
    "constants_for",
    "load_constants",
]

PROFILES = ("measured", "vendor")
"""Performance profiles by name; anything else is the path of a calibration file."""

_Positive = Field(gt=0)


class HostConstants(Strict):
    """What a host can prepare and read."""

    tokens_per_core_s: float = _Positive
    """Tokens a second that one processor core reads, cuts and collates."""
    bytes_per_token: float = _Positive
    """Bytes read from the data disk for one token."""


class StartConstants(Strict):
    """Seconds and bytes of starting a job and of saving its state."""

    container_s: float = Field(ge=0)
    imports_s: float = Field(ge=0)
    warm_up_s: float = Field(ge=0)
    model_bytes: float = _Positive
    checkpoint_overhead_s: float = Field(ge=0)
    adapter_checkpoint_bytes: float = _Positive
    full_checkpoint_bytes: float = _Positive


class FitRecord(Strict):
    """When and on what the fitted constants were found."""

    date: date
    memory_rows: int = Field(ge=0)
    speed_rows: int = Field(ge=0)
    memory_median: float = Field(ge=0)
    """Median absolute relative error of the fitted rows."""
    memory_p90: float = Field(ge=0)
    """90th percentile of it."""
    speed_median: float = Field(ge=0)
    speed_p90: float = Field(ge=0)


class Constants(Strict):
    """All numbers of the physics."""

    memory: MemoryConstants
    speed: SpeedConstants
    host: HostConstants
    startup: StartConstants
    fit: FitRecord | None = None
    """Of the shipped constants, or of the calibration file that overrides them."""


def constants_for(performance: str) -> Constants:
    """The constants of a performance profile: `measured`, `vendor`, or a calibration file's path.

    `vendor` answers with the measured constants too: they serve what the articles leave open,
    such as start-up. Raises InputError with the known names where nothing of the name exists.
    """
    if performance in PROFILES:
        return load_constants()
    path = Path(performance)
    if not _is_file(path):
        rule = "performance is a profile or the path of a calibration file that exists"
        raise InputError(Problem(rule, key="performance", value=performance, known=PROFILES))
    return load_constants(path)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long, a loop of links
        return False


def load_constants(path: Path | None = None) -> Constants:
    """The shipped constants, with those of a calibration file in their place where it names any.

    Raises InputError with file, line and key for an unknown key or a value out of bounds.
    """
    merged, document = _shipped()
    if path is None:
        return _default()
    document = read_file(path, str(path))
    known = tuple(Constants.model_fields)
    for section, keys in document.data.items():
        if section not in known:
            rule = "no such section of constants"
            raise InputError(Problem(rule, str(path), document.line((section,)), section, section, known))
        merged = {**merged, section: _merged(merged.get(section), _values(keys))}
    return validated(Constants, merged, document)


@functools.cache
def _default() -> Constants:
    merged, document = _shipped()
    return validated(Constants, merged, document)


@functools.cache
def _shipped() -> tuple[Mapping[str, Any], Document]:
    """What is typed with its source or assumed, and over it what was fitted."""
    merged: Any = {"speed": SpeedConstants().model_dump(by_alias=True)}
    for name in ("constants.yaml", "fitted.yaml"):
        document = read_yaml(resources.files("sim.physics").joinpath(name).read_text("utf-8"), name)
        merged = _merged(merged, _values(document.data))
    return merged, document


def _merged(base: Any, over: Any) -> Any:
    """Mappings key by key, anything else replaced."""
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    return {**base, **{key: _merged(base.get(key), value) for key, value in over.items()}}


def _values(entry: Any) -> Any:
    """Strip unit and source, at any depth: `{value: 2.0, unit: B}` and `2.0` both mean 2.0."""
    if not isinstance(entry, Mapping):
        return entry
    if "value" in entry:
        return entry["value"]
    return {str(key): _values(value) for key, value in entry.items()}
