"""Base models and cards by the names that published tables, repositories and drivers give them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from sim.catalog.catalog import Catalog
from sim.model.hardware import Gpu, LanguageModel

__all__ = ["find_gpu", "find_model", "plain_gpu_name", "plain_model_name"]

ItemT = TypeVar("ItemT", bound=Gpu | LanguageModel)

_TUNED = frozenset({"chat", "instruct", "base", "hf", "it", "pt", "deduped"})
"""Words after the name of a base model that leave its architecture as it is."""
_EDITION = re.compile(r"v\d+(\.\d+)*|\d+k")
"""An edition such as v0.1, or a length of context such as 32k."""
_VENDORS = frozenset({"nvidia", "geforce", "tesla", "quadro", "rtx", "amd", "instinct", "intel", "habana"})
_FILLERS = frozenset({"gpu", "generation", "mig", "slice"})
_KINDS = frozenset({"hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "gddr6x", "gddr7"})
"""Kinds of memory, which go with the card."""
_SLICE = re.compile(r"\d+g\.\d+gb(\+me)?")
"""Profile of a MIG slice, such as 3g.40gb."""
_MEMORY = re.compile(r"(\d+)(g|gb|gib)")
_MEMORY_APART = re.compile(r"\b(\d+) +(g|gb|gib)\b")
_RTX = re.compile(r"rtx(?=a?\d)")
_VERSION_POINT = re.compile(r"\.(?=\d+-\d)")
_SOCKET = re.compile(r"sxm\d")


def find_model(name: str, catalog: Catalog) -> LanguageModel | None:
    """The base model that a table means by `name`; None where none, or more than one, answers to it.

    An id, an alias and the display name count as they stand. Otherwise capitals, punctuation, the
    organisation before a slash and words such as chat or v0.1 make no difference.
    """
    return _find(name, catalog.models.values(), plain_model_name)


def find_gpu(name: str, catalog: Catalog) -> Gpu | None:
    """The card that a table means by `name`; None where none, or more than one, answers to it.

    An id, an alias and the display name count as they stand. Otherwise capitals, punctuation, the
    place of the memory size and words such as NVIDIA, GeForce or RTX make no difference. A memory
    size alone, such as "24GB GPU", names no card.
    """
    return _find(name, catalog.gpus.values(), plain_gpu_name)


@functools.lru_cache(maxsize=10_000)
def plain_model_name(name: str) -> str:
    """The letters and digits of the name of a base model: "meta-llama/Llama-2-7b-hf" is "llama2-7b".

    A decimal point stays, and a hyphen where numbers meet: Qwen2.5-7B and Qwen2-57B are not one.
    """
    words = re.split(r"[^a-z0-9.]+", name.casefold().rpartition("/")[2].strip())
    kept = [word for word in words[:1] if word != "meta"]
    kept += [word for word in words[1:] if word not in _TUNED and not _EDITION.fullmatch(word)]
    return re.sub(r"(?<=\d) (?=\d)", "-", " ".join(kept)).replace(" ", "")


@functools.lru_cache(maxsize=10_000)
def plain_gpu_name(name: str) -> str:
    """The letters and digits of the name of a card: "A100-SXM4-80GB" is "a100sxm-80g".

    The memory comes last, and after it the profile of a MIG slice.
    """
    folded = name.casefold()
    profile = _SLICE.search(folded)
    spaced = re.sub(r"[^a-z0-9]+", " ", _SLICE.sub(" ", folded))
    kept, memory = "", ""
    for word in _MEMORY_APART.sub(r"\1\2", spaced).split():
        if size := _MEMORY.fullmatch(word):
            memory = f"-{size[1]}g"
        elif word not in _VENDORS | _FILLERS | _KINDS:
            kept += "sxm" if _SOCKET.fullmatch(word) else _RTX.sub("", word)
    if not kept:
        return ""
    return f"{kept}{memory}/{profile[0]}" if profile else f"{kept}{memory}"


def _find(name: str, items: Iterable[ItemT], plain: Callable[[str], str]) -> ItemT | None:
    exact: list[ItemT] = []
    alike: list[ItemT] = []
    wanted = plain(name)
    for item in items:
        names = (item.id, *item.aliases, item.name)
        if item.id == name:
            return item
        if name in names:
            exact.append(item)
        elif wanted and any(wanted in _forms(plain(known)) for known in names):
            alike.append(item)
    found = exact or alike
    return found[0] if len(found) == 1 else None


@functools.lru_cache(maxsize=10_000)
def _forms(form: str) -> tuple[str, str]:
    """A plain name, and as some tables write it: 2_5 for the 2.5 of a version, never for that of a size."""
    return form, _VERSION_POINT.sub("-", form)
