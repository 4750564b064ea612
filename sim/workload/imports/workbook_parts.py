"""What every reader of .xlsx files asks before it opens one, and what openpyxl raises for a damaged one."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import ParseError

from sim.errors import InputError, Problem

__all__ = ["BROKEN", "workbook_parts"]

BROKEN = (
    *(zipfile.BadZipFile, ParseError, zlib.error, OSError, EOFError, NotImplementedError),
    *(KeyError, ValueError, TypeError, AttributeError, IndexError, RuntimeError),
)
"""What openpyxl raises for a workbook that is damaged or none; all of it is told to the user."""


def workbook_parts(file: Path | IO[bytes], name: str) -> list[zipfile.ZipInfo]:
    """The parts of a workbook, whose sizes unpacked are known before anything is unpacked.

    Raises InputError for what is no zip archive, and for one that is no workbook.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(Problem(f"the workbook is damaged: {error}", name)) from None
    if "[Content_Types].xml" not in {part.filename for part in parts}:
        raise InputError(Problem("this is a zip archive and no workbook: unpack it first", name))
    return parts
