"""A charge as a row of a table and back, without loss: every field of `Charge` is a column by itself.

Times are ISO 8601 with their offset. A time of day that exists twice, or not at all, when clocks
change keeps its wall time and its offset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Literal
from zoneinfo import ZoneInfo

from sim.model.ledger import Charge, Ledger

__all__ = ["CHARGE_COLUMNS", "charge_of", "charge_row", "local_time"]

Kind = Literal["text", "int", "bool", "decimal"]

_NAMES = {"id": "charge"}
"""Field -> column, where they differ."""
_KINDS: Mapping[str, Kind] = {"int": "int", "bool": "bool", "Decimal": "decimal"}
"""Type of a field, as written in its class -> kind of its column; times and words are text."""
_FIELDS = {field.name: str(field.type) for field in dataclasses.fields(Charge)}


def _kind(annotation: str) -> Kind:
    return _KINDS.get(annotation.removesuffix(" | None"), "text")


CHARGE_COLUMNS: tuple[tuple[str, Kind], ...] = (
    *((_NAMES.get(name, name), _kind(annotation)) for name, annotation in _FIELDS.items()),
    ("owed_after", "decimal"),
    ("currency", "text"),
)
"""Name and kind of each column: the fields of `Charge` in their order, and what follows from them."""


def charge_row(charge: Charge, ledger: Ledger) -> tuple[Any, ...]:
    """The cells of a charge, in the order of `CHARGE_COLUMNS`."""
    cells = (getattr(charge, name) for name in _FIELDS)
    return (
        *(cell.isoformat() if isinstance(cell, datetime) else cell for cell in cells),
        charge.owed_after,
        ledger.currency,
    )


def charge_of(cells: Mapping[str, str], zone: ZoneInfo) -> Charge:
    """The charge of a row of text cells; an empty cell is None where the field may be, else empty text.

    Raises ValueError for a cell that is not of its kind, KeyError for a missing column.
    """
    found: dict[str, Any] = {}
    for name, annotation in _FIELDS.items():
        cell = cells[_NAMES.get(name, name)]
        if annotation.endswith(" | None") and cell == "":
            found[name] = None
            continue
        kind = annotation.removesuffix(" | None")
        read = _READERS.get(kind)
        found[name] = local_time(cell, zone) if kind == "datetime" else read(cell) if read else cell
    return Charge(**found)


def local_time(text: str, zone: ZoneInfo) -> datetime:
    """An ISO 8601 time with offset as a local time of this zone, the wall time kept.

    Raises ValueError if it is none, or if the zone never has this offset at that time.
    """
    read = datetime.fromisoformat(text)
    for fold in (0, 1):
        local = read.replace(tzinfo=zone, fold=fold)
        if local.utcoffset() == read.utcoffset():
            return local
    msg = f"the time has another offset than {zone.key}"
    raise ValueError(msg)


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        msg = "not a number"
        raise ValueError(msg)
    return number


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        msg = "neither true nor false"
        raise ValueError(msg)
    return text == "true"


_READERS: Mapping[str, Callable[[str], Any]] = {"int": int, "Decimal": _decimal, "bool": _truth}
