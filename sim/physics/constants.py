"""The numbers of the physics: read from `constants.yaml`, overridden by a calibration file."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import Field

from sim.catalog.reading import Document, read_yaml, validated
from sim.errors import InputError, Problem
from sim.model.base import Strict

__all__ = [
    "PROFILES",
    "Constants",
    "LinkRates",
    "MemoryConstants",
    "SpeedConstants",
    "StartConstants",
    "constants_for",
    "load_constants",
]

PROFILES = ("measured", "vendor")
"""Performance profiles by name; anything else is the path of a calibration file."""

_Positive = Field(gt=0)


class MemoryConstants(Strict):
    """Bytes and GiB of the memory form; units and sources stand in `constants.yaml`."""

    weight_bytes: float = _Positive
    nf4_bytes: float = _Positive
    int8_bytes: float = _Positive
    kbit_embedding_bytes: float = _Positive
    full_bytes: float = _Positive
    full_zero_bytes: float = _Positive
    gradient_bytes: float = _Positive
    adapter_bytes: float = _Positive
    adapter_gradient_bytes: float = _Positive
    activation_hidden: float = _Positive
    activation_ffn: float = _Positive
    activation_ffn2: float = _Positive
    adapter_hidden: float = _Positive
    adapter_ffn: float = _Positive
    stored_share: float = _Positive
    recomputed_share: float = _Positive
    boundary_bytes: float = _Positive
    logits_bytes: float = _Positive
    fragmentation: float = Field(ge=1)
    overhead_gib: float = Field(ge=0)
    overhead_allocated_gib: float = Field(ge=0)
    gathered_layers: float = Field(ge=0)
    zero_buffers_gib: float = Field(ge=0)


class SpeedConstants(Strict):
    """Shares, factors and seconds of the throughput form."""

    efficiency: float = Field(gt=0, le=1)
    half_hidden: float = Field(ge=0)
    adapter_cost: float = Field(ge=1)
    floor_s_per_layer: float = Field(ge=0)
    floor_adapter: float = Field(ge=1)
    floor_zero: float = Field(ge=1)
    floor_plain: float = Field(gt=0, le=1)
    dequant4: float = Field(ge=0)
    dequant4_bytes: float = _Positive
    dequant8: float = Field(ge=0)
    dequant8_bytes: float = _Positive
    optimizer_bytes: float = Field(ge=0)
    overlap: float = Field(ge=0, le=1)
    zero_traffic: float = Field(ge=0)


class LinkRates(Strict):
    """Effective rate of each link, GB/s (1e9 bytes)."""

    nvlink: float = _Positive
    pcie5: float = _Positive
    pcie4: float = _Positive
    pcie3: float = _Positive
    ib: float = _Positive
    ten_gbe: float = Field(gt=0, alias="10gbe")
    one_gbe: float = Field(gt=0, alias="1gbe")

    def rate(self, link: str) -> float | None:
        """GB/s of a link by its name in the catalogue; None for `none`."""
        value = self.model_dump(by_alias=True).get(link)
        return None if value is None else float(value)


class StartConstants(Strict):
    """Seconds and bytes of starting a job and of saving its state."""

    container_s: float = Field(ge=0)
    imports_s: float = Field(ge=0)
    warm_up_s: float = Field(ge=0)
    model_bytes: float = _Positive
    checkpoint_overhead_s: float = Field(ge=0)
    adapter_checkpoint_bytes: float = _Positive
    full_checkpoint_bytes: float = _Positive


class LengthConstants(Strict):
    """How micro-steps make an optimiser step."""

    accumulation: float = Field(ge=1)


class Constants(Strict):
    """All numbers of the physics."""

    memory: MemoryConstants
    speed: SpeedConstants
    links: LinkRates
    startup: StartConstants
    lengths: LengthConstants


def constants_for(performance: str) -> Constants:
    """The constants of a performance profile: `measured`, `vendor`, or a calibration file's path.

    `vendor` answers with the measured constants too: they serve what the articles leave open,
    such as start-up. Raises InputError with the known names where nothing of the name exists.
    """
    if performance in PROFILES:
        return load_constants()
    path = Path(performance)
    if not path.is_file():
        rule = "performance is a profile or the path of a calibration file that exists"
        raise InputError(Problem(rule, key="performance", value=performance, known=PROFILES))
    return load_constants(path)


def load_constants(path: Path | None = None) -> Constants:
    """The shipped constants, with those of a calibration file in their place where it names any.

    Raises InputError with file, line and key for an unknown key or a value out of bounds.
    """
    document = _shipped()
    merged = {section: _values(keys) for section, keys in document.data.items()}
    if path is not None:
        document = read_yaml(path.read_text("utf-8"), str(path))
        for section, keys in document.data.items():
            if section not in merged:
                rule = "no such section of constants"
                known = tuple(merged)
                raise InputError(Problem(rule, str(path), document.line((section,)), section, section, known))
            merged[section] = {**merged[section], **_values(keys)}
    return validated(Constants, merged, document)


@functools.cache
def _shipped() -> Document:
    name = "constants.yaml"
    return read_yaml(resources.files("sim.physics").joinpath(name).read_text("utf-8"), name)


def _values(keys: Any) -> dict[str, Any]:
    """Strip unit and source: `{value: 2.0, unit: B}` and `2.0` both mean 2.0."""
    if not isinstance(keys, Mapping):
        return {}
    return {
        str(key): entry["value"] if isinstance(entry, Mapping) and "value" in entry else entry
        for key, entry in keys.items()
    }
