"""Cards in Slurm's texts of resources: TRES of all versions and the older gres.

The untyped `gres/gpu=3` is the total and `gres/gpu:a100=2,gres/gpu:h100=1` say of which kinds: the two
are the same cards and are never added. Without an untyped entry the typed ones are summed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sim.workload.trace_rows import MOST_CARDS

__all__ = ["Cards", "cards_of"]


_ENTRY = re.compile(
    r"(?:gres[/:])?gpu(?::(?P<kind>[A-Za-z0-9_.\-/ ]+?))??"
    r"(?:[:=](?P<count>\d{1,18}(?:\.\d+)?)(?P<size>[kKmM]?))?"
    r"(?:\((?:S|IDX):?[^)]*\))?",
    re.ASCII,
)
_SLICE = re.compile(r"(?:^|[_\-])(\d)g\.(\d{1,3})gb", re.ASCII)
_NUMBERED = re.compile(r"\d+=\d+(?:,\d+=\d+)*", re.ASCII)
_SIZES = {"": 1, "k": 2**10, "m": 2**20}
_SHARED = ("gres/shard", "gres/mps", "shard:", "mps:")


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards of one job."""

    count: int | None
    """None: nothing is said; 0: the text names resources, and no card among them."""
    kind: str = ""
    """`a100`, `2 a100 + 1 h100`, a slice `1g.10gb`, or empty where the kind is not said."""
    slice_gib: float | None = None
    """Memory of a MIG slice, from its name."""
    fault: str = ""
    """What does not add up, for the report; `bad: ...` where the text cannot be used."""


def cards_of(text: str) -> Cards:
    """Cards of a TRES text (`cpu=8,gres/gpu=1,gres/gpu:a100=1`) or a gres text (`gpu:v100:4`)."""
    text = text.strip()
    if not text or text.lower() in {"unknown", "none", "n/a", "(null)"}:
        return Cards(None)
    if _NUMBERED.fullmatch(text):
        return Cards(None, fault="resources by number (such as 1001=2): which of them are cards is not said")
    if "=" not in text and ":" not in text and not text.startswith("gpu"):
        return Cards(None, fault="a text of resources that cannot be read")
    untyped: int | None = None
    typed: dict[str, int] = {}
    for entry in re.split(r",(?![^(]*\))", text):
        found = _ENTRY.fullmatch(entry.strip())
        if found is None:
            continue
        number, kind = found["count"], found["kind"]
        if number is None and kind is not None and kind.isdigit():
            number, kind = kind, None
        count = (
            1
            if number is None
            else int(float(number)) * _SIZES[found["size"].lower() if found["size"] else ""]
        )
        if kind is None:
            untyped = max(untyped or 0, count)  # the same total said twice
        elif count:
            typed[kind] = typed.get(kind, 0) + count
    return _together(untyped, typed, text)


def _together(untyped: int | None, typed: dict[str, int], text: str) -> Cards:
    total = sum(typed.values()) if untyped is None else untyped
    if total > MOST_CARDS:
        return Cards(None, fault=f"bad: a job of {total:,} cards; at most {MOST_CARDS:,} are possible")
    fault = ""
    if untyped is not None and sum(typed.values()) > untyped:
        fault = "more typed cards than cards in all"
    if total == 0 and any(word in text for word in _SHARED):
        fault = "asks for shares of a card (shard, mps), counted as no card"
    if len(typed) == 1:
        kind = next(iter(typed))
        found = _SLICE.search(kind)
        return Cards(total, kind, float(found[2]) if found else None, fault)
    names = (f"{count} {kind}" for kind, count in sorted(typed.items(), key=lambda item: (-item[1], item[0])))
    return Cards(total, " + ".join(names), None, fault)
