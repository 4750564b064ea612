"""Files that appear whole or not at all, whatever ends the program that writes them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from sim.errors import RunError

__all__ = ["followed", "is_device", "lives", "whole_file", "write_whole"]


@contextlib.contextmanager
def whole_file(path: Path, what: str, choose: str) -> Iterator[Path]:
    """A draft beside `path`, to be written in the block, which takes its place where the block succeeds.

    The folder is made where it is not there. Through a link, the file that it leads to is written. Whatever
    goes wrong, what stood at `path` stays. A device or a pipe is written itself, without a draft: a file put
    in the place of /dev/null would harm all programs. Raises RunError `<what> cannot be written to <path>:
    <why>; <choose>` where the disk does not take it.
    """
    draft = None
    try:
        if is_device(path):
            yield path
            return
        place = followed(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        # The number of the process, so that two at once do not mix.
        draft = place.with_name(f".{place.name}.{os.getpid()}.part")
        yield draft
        draft.replace(place)
        _clear_away(place)
    except OSError as error:
        msg = f"{what} cannot be written to {path}: {error.strerror or error}; {choose}"
        raise RunError(msg) from error
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes, what: str, choose: str) -> None:
    """`whole_file` of these bytes."""
    with whole_file(path, what, choose) as draft:
        draft.write_bytes(data)


def followed(path: Path) -> Path:
    """Where a link leads, for to replace the link would leave the file behind it as it was.

    OSError where links lead in a circle.
    """
    if not path.is_symlink():
        return path
    try:
        return path.resolve()
    except RuntimeError:  # a circle of links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None


def is_device(path: Path) -> bool:
    """Whether a device, a pipe or a socket is there, or behind a link; OSError as `Path.exists` raises it."""
    return path.exists() and not (path.is_file() or path.is_dir())


def _clear_away(place: Path) -> None:
    """Drafts of this file by programs that were killed."""
    pattern = re.compile(rf"\.{re.escape(place.name)}\.(\d+)\.part")
    with contextlib.suppress(OSError):
        for stray in place.parent.iterdir():
            found = pattern.fullmatch(stray.name)
            if found is not None and not lives(int(found[1])):
                stray.unlink(missing_ok=True)


def lives(process: int) -> bool:
    """Whether a process of this number is there; True where that cannot be asked."""
    if os.name != "posix":  # elsewhere to ask for a process may end it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is somebody else's
        return True
    return True
