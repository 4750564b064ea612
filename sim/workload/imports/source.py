"""A dump as text: compression and encoding recognised, read in blocks, bounded in every direction.

The file is read twice, in blocks: once to find the encoding (byte order mark, else strict UTF-8, else the
Western code page where the bytes say so, else GB18030, else refused; a few Chinese words in UTF-8 also
decode as GB18030, to wrong signs, so the order matters), and once for its rows.
Nothing here holds more than a block and a line.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sim.errors import InputError, Problem
from sim.workload.western import WESTERN, is_western

__all__ = ["ENCODINGS", "LONGEST_LINE", "Source", "open_source"]

BLOCK = 4 * 2**20
"""Bytes read at a time."""
LONGEST_LINE = 2**20
"""Bytes of a line at most; a real dump has a few hundred."""
MOST_RATIO = 200
"""A file that unpacks to more than this many times its size is refused; dumps pack 5 to 30 times."""
FREE_BYTES = 64 * 2**20
"""Unpacked size up to which the ratio is not looked at."""

ENCODINGS = (
    *("utf-8", "utf-16", "gb18030", "big5", "shift_jis", "euc_kr"),
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "latin-1"),
)
"""Encodings that may be named; a byte order mark of UTF-8 is nothing of the first cell."""
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_REFUSED = (
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls): save it as .xlsx or CSV"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first"),
    (b"BZh", "packed with bzip2: unpack it first"),
    (b"\xfd7zXZ", "packed with xz: unpack it first"),
    (b"%PDF", "a PDF: export the table as CSV"),
    (b"\x89PNG", "a picture"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of text, or of a table format that brings its own reader."""

    path: Path
    kind: str
    """`text`, `parquet` or `zip` (a spreadsheet), by the first bytes."""
    packed: bool = False
    """Whether it is compressed with gzip."""
    encoding: str = ""
    """Encoding of a text."""

    @property
    def name(self) -> str:
        """The file as messages show it."""
        return str(self.path)

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Blocks of whole lines without their ends, each with the number of its first line, from 1.

        Line ends are LF, CRLF or CR. Raises InputError where the file cannot be read on.
        """
        decoder = codecs.getincrementaldecoder(self.encoding)(errors="strict")
        newlines = io.IncrementalNewlineDecoder(decoder, translate=True)
        number, rest = 1, ""
        for block in _blocks(self.path, self.packed):
            pieces = (rest + newlines.decode(block)).split("\n")
            rest = pieces.pop()
            if pieces:
                yield number, pieces
                number += len(pieces)
        pieces = (rest + newlines.decode(b"", final=True)).split("\n")
        if pieces[-1] == "":
            pieces.pop()
        if pieces:
            yield number, pieces

    def head(self, count: int = 200) -> list[str]:
        """The first lines, at most `count`."""
        for _, lines in self.lines():
            return lines[:count]
        return []


def open_source(path: Path, encoding: str | None = None) -> Source:
    """Look at a file: what it is and, for text, in which encoding; `encoding` names it, one of `ENCODINGS`.

    Raises InputError where it is not there, not text, not in the encoding named, cut off, far too large once
    unpacked, or has a line longer than `LONGEST_LINE`.
    """
    if encoding is not None and encoding.lower() not in ENCODINGS:
        raise InputError(Problem("unknown encoding", key="--encoding", value=encoding, known=ENCODINGS))
    start = _start(path)
    if not start:
        raise InputError(Problem("the file is empty", str(path)))
    packed = start.startswith(b"\x1f\x8b")
    if packed:
        start = next(_blocks(path, packed=True), b"")
    if start.startswith(b"PAR1") and not packed:
        return Source(path, "parquet")
    if start.startswith(b"PK\x03\x04") and not packed:
        return Source(path, "zip")
    for magic, what in _REFUSED:
        if start.startswith(magic):
            raise InputError(Problem(f"this is no table of jobs but {what}", str(path)))
    found = (
        _encoding(path, packed, start) if encoding is None else _named(path, packed, start, encoding.lower())
    )
    return Source(path, "text", packed, found)


def _start(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise InputError(
                Problem("this is no plain file; a file with a table of jobs is needed", str(path))
            )
        with path.open("rb") as stream:
            return stream.read(4096)
    except FileNotFoundError:
        raise InputError(Problem("the file does not exist", str(path))) from None
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(Problem(f"the file cannot be read: {what}", str(path))) from None


def _encoding(path: Path, packed: bool, start: bytes) -> str:
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            wrong = _scan(path, packed, encoding)
            if wrong is None:
                return encoding
            rule = f"the file begins as {encoding.upper()} and is not {encoding.upper()} here"
            raise InputError(Problem(rule, str(path), wrong))
    wrong = _scan(path, packed, "utf-8")
    if wrong is None:
        return "utf-8"
    if is_western(_blocks(path, packed)):
        _scan(path, packed, WESTERN)
        return WESTERN
    if _scan(path, packed, "gb18030") is None:
        return "gb18030"
    rule = (
        "the file is no text in UTF-8, UTF-16 (with its mark), GB18030 or cp1252 (--encoding NAME names "
        "another); the first wrong byte is here"
    )
    raise InputError(Problem(rule, str(path), wrong))


def _named(path: Path, packed: bool, start: bytes, encoding: str) -> str:
    """The encoding that the user names; InputError with the first line that is not in it."""
    if encoding == "utf-8" and start.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    wrong = _scan(path, packed, encoding)
    if wrong is None:
        return encoding
    raise InputError(Problem(f"the file is not {encoding} here", str(path), wrong, "--encoding", encoding))


def _scan(path: Path, packed: bool, encoding: str) -> int | None:
    """Line of the first byte that the encoding does not have; None where all is well.

    Bounds are held on the way: zero bytes and endless lines are refused.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors="strict")
    line, length = 1, 0
    for block in _blocks(path, packed, LONGEST_LINE):
        if encoding != "utf-16" and b"\0" in block:
            at = line + _ends(block[: block.index(b"\0")])
            raise InputError(Problem("there is a zero byte: this is no text", str(path), at))
        try:
            decoder.decode(block)
        except UnicodeDecodeError as error:
            return line + _ends(block[: max(0, error.start)])
        length = _longest(path, block, line, length)
        line += _ends(block)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        if encoding.startswith("utf"):
            rule = "the file ends in the middle of a sign: it was cut off"
            raise InputError(Problem(rule, str(path), line)) from None
        return line
    return None


def _longest(path: Path, block: bytes, line: int, before: int) -> int:
    """Length of the last, unfinished line; InputError where the one that ends here is too long.

    A block is no longer than the longest line, so that no line within it can be.
    """
    ends = [place for place in (block.find(b"\n"), block.find(b"\r")) if place >= 0]
    if before + min(ends, default=len(block)) > LONGEST_LINE:
        rule = f"this line is longer than {LONGEST_LINE:,} bytes: this is no table of jobs"
        raise InputError(Problem(rule, str(path), line))
    end = max(block.rfind(b"\n"), block.rfind(b"\r"))
    return before + len(block) if end < 0 else len(block) - end - 1


def _ends(data: bytes) -> int:
    """Line ends: LF, CRLF and CR (a CRLF torn by the block's end counts twice, in messages only)."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def _blocks(path: Path, packed: bool, size: int = BLOCK) -> Iterator[bytes]:
    """The bytes of a file, unpacked, block by block; InputError where that ends badly."""
    try:
        with path.open("rb") as raw:
            stream: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=raw) if packed else raw
            total = 0
            while block := stream.read(size):
                total += len(block)
                if packed and total > FREE_BYTES and total > MOST_RATIO * max(1, raw.tell()):
                    rule = (
                        f"the file unpacks to more than {MOST_RATIO} times its size: this is no table of jobs"
                    )
                    raise InputError(Problem(rule, str(path)))
                yield block
    except EOFError:
        raise InputError(Problem("the gzip file ends too early: it was cut off", str(path))) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(Problem(f"the gzip file is damaged: {error}", str(path))) from None
    except OSError as error:
        raise InputError(Problem(f"the file cannot be read: {error.strerror or error}", str(path))) from None
