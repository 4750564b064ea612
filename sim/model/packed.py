"""Records kept as packed bytes: a tenth of the memory of objects, read back as the rows they were.

A million jobs are a million rows of about ninety bytes, not a million tuples of numbers. The rows
of the public types (`JobRecord`, `Attempt`) are made when somebody asks for one; who needs a whole
column gets it as an array.
"""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from operator import eq
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

__all__ = ["Codes", "Layout", "Packed", "Rows"]

Row = TypeVar("Row")

_KINDS = {"q": np.int64, "d": np.float64, "i": np.int32, "B": np.uint8, "?": np.bool_}
"""Kinds of numbers in a row: eight bytes (whole, broken), four bytes, one byte, a flag."""


class Codes(dict[str, int]):
    """Texts and their numbers; a new text gets the next one. Texts that repeat are kept once."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


class Layout:
    """The numbers of a row, in the order in which they lie in memory: the widest first."""

    def __init__(self, **kinds: str) -> None:
        widths = [struct.calcsize(kind) for kind in kinds.values()]
        if widths != sorted(widths, reverse=True):
            msg = "the widest numbers of a row must come first: else padding would lie between them"
            raise ValueError(msg)
        self.pack = struct.Struct("@" + "".join(kinds.values()))
        self.dtype = np.dtype([(name, _KINDS[kind]) for name, kind in kinds.items()])
        self.size = self.pack.size


class Rows(Sequence[Row]):
    """Rows that are made when they are asked for; equal to any sequence of the same rows."""

    @abstractmethod
    def _row(self, at: int) -> Row:
        """The row at a place from 0."""

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        places = range(len(self))[place]
        return self._row(places) if isinstance(places, int) else tuple(map(self._row, places))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


class Packed(Rows[Row]):
    """Rows of one layout, as arrays of bytes."""

    layout: Layout

    def __init__(self, rows: npt.NDArray[np.void]) -> None:
        self._rows = rows

    @abstractmethod
    def _read(self, values: tuple[Any, ...]) -> Row:
        """The public row of the numbers of one."""

    def column(self, name: str) -> npt.NDArray[Any]:
        """One column as an array of its own, in the order of the rows; see `layout` for the names."""
        return np.ascontiguousarray(self._rows[name])

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return map(self._read, self.layout.pack.iter_unpack(self._bytes()))

    def _row(self, at: int) -> Row:
        return self._read(self.layout.pack.unpack_from(self._bytes(), at * self.layout.size))

    def _bytes(self) -> memoryview:
        return self._rows.view(np.uint8).data
