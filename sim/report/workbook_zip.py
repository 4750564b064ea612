"""The zip file of a workbook: no time of writing in it, and the value of each formula beside it.

openpyxl writes formulas without values; a reader that does not calculate would show nothing.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

__all__ = ["WorkbookArchive"]

_ZIP_TIME = (2000, 1, 1, 0, 0, 0)
_FORMULA = re.compile(rb'<c r="([A-Z]+[0-9]+)"([^>]*)><f>(.*?)</f><v\s*(?:/>|></v>)')
_ROW_END = b"</row>"
_PIECE = 1 << 20


class WorkbookArchive(zipfile.ZipFile):
    """A zip file without times of writing, which puts the values of formulas beside them."""

    def __init__(self, path: Path, values: Mapping[str, Mapping[str, Decimal | int]]) -> None:
        super().__init__(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True)
        self._values = values

    def writestr(self, zinfo_or_arcname: Any, data: Any, *_: Any, **__: Any) -> None:
        """Write a member that is held in memory."""
        super().writestr(_info(str(zinfo_or_arcname)), data)

    def write(self, filename: Any, arcname: Any = None, *_: Any, **__: Any) -> None:
        """Write a member from a file of the disk."""
        name = str(arcname or filename).lstrip("/")
        values = self._values.get(name, {})
        with Path(filename).open("rb") as source, self.open(_info(name), "w", force_zip64=True) as target:
            for piece in (
                _with_values(source.read, values) if values else iter(lambda: source.read(_PIECE), b"")
            ):
                target.write(piece)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _ZIP_TIME)
    info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, 0o600 << 16, 3
    return info


def _with_values(read: Callable[[int], bytes], values: Mapping[str, Decimal | int]) -> Iterator[bytes]:
    """A sheet with the value of each formula behind it, piece by piece, cut between rows."""

    def put(match: re.Match[bytes]) -> bytes:
        place, style, formula = match.groups()
        value = f"{values[place.decode()]:f}".encode()
        return b'<c r="%b"%b><f>%b</f><v>%b</v>' % (place, style, formula, value)

    rest = b""
    while piece := read(_PIECE):
        whole, end, rest = (rest + piece).rpartition(_ROW_END)
        yield (_FORMULA.sub(put, whole) if b"<f>" in whole else whole) + end
    yield rest
