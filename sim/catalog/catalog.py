"""Everything known about cards, base models, offers and failures, in one frozen object."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from sim.catalog.reading import Document, read_file, validated
from sim.catalog.slices import slice_cards
from sim.errors import InputError, Problem
from sim.model.base import Strict
from sim.model.contract import Offer
from sim.model.hardware import CardClass, Gpu, LanguageModel, MigProfile

__all__ = [
    "Catalog",
    "Mtbf",
    "Range",
    "Repair",
    "ReliabilityProfile",
    "load_catalog",
    "load_offers",
]


class Mtbf(Strict):
    """Mean time between failures of one kind."""

    hours: float = Field(gt=0)
    """Of a machine for `node` and `network`, of a card for the others."""
    assumed: bool
    """True where no published figure stands behind it."""
    source: str


class LemonRow(Strict):
    """Machines that fail more often than the others."""

    share: float = Field(gt=0, le=1)
    rate: float = Field(ge=1)
    """How much more often than the others they fail."""
    assumed: bool
    source: str


class ReliabilityProfile(Strict):
    """How often things fail, by class of card."""

    name: str
    description: str
    classes: Mapping[CardClass, Mapping[str, Mtbf]]
    """Class -> kind -> mean time; no classes: nothing fails at random."""
    lemons: Mapping[CardClass, LemonRow] = {}
    """Class -> machines that fail more often; used where a scenario asks for the preset."""


class Range(Strict):
    """Seconds, uniform."""

    low: float = Field(ge=0)
    high: float = Field(gt=0)
    assumed: bool
    source: str


class ResetTime(Strict):
    """Log-normal time of a reset."""

    median_min: float = Field(gt=0)
    sigma: float = Field(ge=0)
    assumed: bool
    source: str


class Earliest(Strict):
    """Shortest time of a promised migration, minutes."""

    value: float = Field(gt=0)
    assumed: bool
    source: str


class LateTime(Strict):
    """Log-normal time of a migration that misses its promise."""

    median_h: float = Field(gt=0)
    sigma: float = Field(ge=0)
    cap_h: float = Field(gt=0)
    assumed: bool
    source: str


class MachineShare(Strict):
    """Share of the uncorrectable memory errors that a reset does not mend."""

    share: float = Field(ge=0, le=1)
    assumed: bool
    source: str


class Repair(Strict):
    """How long failures last, and what they hit."""

    detect_s: Range
    reset: ResetTime
    migration_from_min: Earliest
    late: LateTime
    hits_machine: MachineShare
    """Uncorrectable memory errors after which the machine is replaced."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Plain mappings from ids to facts, safe to send to other processes."""

    gpus: Mapping[str, Gpu]
    """Whole cards by id, and their MIG slices as `CARD/PROFILE`."""
    models: Mapping[str, LanguageModel]
    mig_profiles: tuple[MigProfile, ...]
    offers: Mapping[str, Offer]
    reliability: Mapping[str, ReliabilityProfile]
    repair: Repair


ItemT = TypeVar("ItemT", Gpu, LanguageModel, MigProfile, Offer)
_LISTS = ("gpus", "models", "mig_profiles", "offers")


def load_offers(path: Path | Traversable) -> tuple[Offer, ...]:
    """Read the offers of one price list, a YAML file with the key `offers`.

    Raises InputError with file, line and key for an unknown or missing key (source, date, unit and
    currency are required), a price that is not above 0, or an id that stands twice.
    """
    return _items(_document(path), "offers", Offer)


def load_catalog(extra: Path | None = None, base: Catalog | None = None) -> Catalog:
    """The shipped catalogue (or `base`), and over it the user's own entries.

    `extra` is a YAML file, or a folder of them, with any of the keys gpus, models, mig_profiles
    and offers; an entry whose id is known replaces the known one. Raises InputError with file,
    line and key.
    """
    base = _shipped() if base is None else base
    if extra is None:
        return base
    documents = [_document(path) for path in _user_files(extra)]
    profiles = (*base.mig_profiles, *_mig_profiles(documents))
    gpus = {**base.gpus, **_by_id(documents, "gpus", Gpu)}
    whole = {name: gpu for name, gpu in gpus.items() if "/" not in name}
    catalog = replace(
        base,
        gpus={**gpus, **slice_cards(whole, profiles)},
        models={**base.models, **_by_id(documents, "models", LanguageModel)},
        mig_profiles=profiles,
        offers={**base.offers, **_by_id(documents, "offers", Offer)},
    )
    _check_cards(documents, catalog)
    return catalog


@functools.cache
def _shipped() -> Catalog:
    data = resources.files("sim.catalog")
    price_lists = sorted(
        (entry for entry in data.joinpath("offers").iterdir() if entry.name.endswith(".yaml")),
        key=lambda entry: entry.name,
    )
    documents = [_document(entry) for entry in (data / "gpus.yaml", data / "models.yaml", *price_lists)]
    profiles, repair = _reliability(_document(data / "reliability.yaml"))
    gpus, slices = _by_id(documents, "gpus", Gpu), _mig_profiles(documents)
    catalog = Catalog(
        gpus={**gpus, **slice_cards(gpus, slices)},
        models=_by_id(documents, "models", LanguageModel),
        mig_profiles=slices,
        offers=_by_id(documents, "offers", Offer),
        reliability=profiles,
        repair=repair,
    )
    _check_cards(documents, catalog)
    return catalog


def _mig_profiles(documents: Iterable[Document]) -> tuple[MigProfile, ...]:
    return tuple(item for document in documents for item in _items(document, "mig_profiles", MigProfile))


def _user_files(extra: Path) -> list[Path]:
    try:
        if extra.is_dir():
            return sorted(extra.glob("*.yaml"))
        found = extra.is_file()
    except (OSError, ValueError):  # a name too long, a folder that may not be looked into
        found = False
    if not found:
        raise InputError(Problem("the catalogue file does not exist", str(extra)))
    return [extra]


def _document(path: Path | Traversable) -> Document:
    return read_file(path, str(path) if isinstance(path, Path) else path.name)


def _items(document: Document, key: str, kind: type[ItemT]) -> tuple[ItemT, ...]:
    """The entries of one list of a document, each validated; all problems in one error."""
    problems = [
        Problem("unknown key", document.name, document.line((name,)), name, name, _LISTS)
        for name in document.data
        if name not in _LISTS
    ]
    entries = document.data.get(key) or []
    if not isinstance(entries, list):
        problems.append(Problem("this key holds a list", document.name, document.line((key,)), key))
        entries = []
    found: list[ItemT] = []
    ids: set[str] = set()
    for position, entry in enumerate(entries):
        try:
            item = validated(kind, entry, document, (key, position))
        except InputError as error:
            problems.extend(error.problems)
            continue
        if not isinstance(item, MigProfile):
            if item.id in ids:
                line = document.line((key, position))
                problems.append(
                    Problem("this id stands twice", document.name, line, f"{key}.{position}.id", item.id)
                )
            ids.add(item.id)
        found.append(item)
    if problems:
        raise InputError(problems)
    return tuple(found)


def _by_id(documents: Iterable[Document], key: str, kind: type[ItemT]) -> dict[str, ItemT]:
    """Entries of all documents; later ones replace earlier ones of the same id."""
    return {
        str(getattr(item, "id", "")): item for document in documents for item in _items(document, key, kind)
    }


def _check_cards(documents: Iterable[Document], catalog: Catalog) -> None:
    """Every offer and MIG slice names a card of the catalogue."""
    known = tuple(catalog.gpus)
    problems = [
        Problem(
            "the card is not in the catalogue",
            document.name,
            document.line((key, position, "gpu")),
            f"{key}.{position}.gpu",
            entry["gpu"],
            known,
        )
        for document in documents
        for key in ("offers", "mig_profiles")
        for position, entry in enumerate(document.data.get(key) or [])
        if entry["gpu"] not in catalog.gpus
    ]
    if problems:
        raise InputError(problems)


def _reliability(document: Document) -> tuple[dict[str, ReliabilityProfile], Repair]:
    profiles: Mapping[str, Any] = document.data["profiles"]
    named = {
        name: validated(ReliabilityProfile, {"name": name, **profile}, document, ("profiles", name))
        for name, profile in profiles.items()
    }
    return named, validated(Repair, document.data["repair"], document, ("repair",))
