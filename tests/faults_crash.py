"""Commands that are killed: in a forked child, at a chosen step of their writing or after a chosen time.

A step is anything that changes the disk below one folder: a file opened for writing, a folder made, a name
changed or taken away. To die at the first step, the second and so on meets every state that a kill can leave,
but for half-written files, which kills at random moments leave.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sim.cli import main
from tests.faults_kit import bytes_below

__all__ = ["Do", "Left", "child", "die_at_step", "kept_bytes", "left", "steps"]

Do = Callable[[], None]

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.symlink")
KILLED = -signal.SIGKILL


def child(
    arguments: Sequence[object], cwd: Path, log: Path, before: Do | None = None, after_s: float | None = None
) -> tuple[int, float]:
    """The command in a forked child: its exit code (-9: killed) and the seconds that it took.

    `before` is done in the child first; with `after_s` it is killed after so many seconds. What it prints
    goes to `log`.
    """
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # later Pythons warn of forks, though no thread matters here
        process = os.fork()
    if process == 0:
        code = 70
        try:
            os.chdir(cwd)
            place = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(place, 1)
            os.dup2(place, 2)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
            if before is not None:
                before()
            main([str(argument) for argument in arguments])
        except SystemExit as ending:
            code = int(ending.code or 0)
        except BaseException:  # noqa: BLE001  the child must end here, whatever happens
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)
    limit = started + 120
    kill_at = limit if after_s is None else started + after_s
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), time.perf_counter() - started
        if time.perf_counter() >= kill_at:
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            assert kill_at < limit, f"{arguments} took more than two minutes"
            return os.waitstatus_to_exitcode(status), time.perf_counter() - started
        time.sleep(0.002)


def steps(folder: Path, at: Callable[[int], None]) -> Do:
    """For `before`: calls `at` with 1, 2, ... before each step of this process below the folder."""
    inside = os.path.realpath(folder)
    count = iter(range(1, sys.maxsize))

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event not in STEPS:
            return
        if event == "open" and not (isinstance(given[2], int) and given[2] & WRITES):
            return
        if isinstance(given[0], str | bytes) or hasattr(given[0], "__fspath__"):
            name = os.fsdecode(given[0])
            beside = event in ("os.remove", "os.rmdir") and given[1] != -1  # within an open folder
            if beside or Path(os.path.realpath(Path(name).parent)).is_relative_to(inside):
                at(next(count))

    return lambda: sys.addaudithook(hook)


def die_at_step(folder: Path, number: int) -> Do:
    """For `before`: SIGKILL just before the step of this number below the folder."""

    def at(step: int) -> None:
        if step == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return steps(folder, at)


class Left:
    """What stands below a folder after a kill."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, str] = {}
        """Finished files under their own names -> digest; files of runs without their manifests."""
        self.replications: set[str] = set()
        """Finished replications that are kept."""
        self.strays: list[str] = []
        """Hidden files and folders: drafts of who was killed."""
        for path in _walked(folder):
            name = path.relative_to(folder).as_posix()
            if path.name.startswith(".") and path.name != ".replications":
                self.strays.append(name)
            elif ".replications" in path.relative_to(folder).parts:
                if path.is_file():
                    self.replications.add(name)
            elif path.is_file() and path.name != "manifest.json":
                self.files[name] = bytes_below(path.parent)[path.name]
        for manifest in folder.glob("*/*/manifest.json"):
            if not manifest.parent.name.startswith("."):
                stated = json.loads(manifest.read_text(encoding="utf-8"))["files"]
                assert stated == bytes_below(manifest.parent), manifest


def _walked(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        yield path
        hidden = path.name.startswith(".") and path.name != ".replications"
        if path.is_dir() and not hidden and not path.is_symlink():
            yield from _walked(path)


def left(folder: Path, whole: dict[str, str], known: set[str]) -> Left:
    """What a kill left: nothing half written under a final name, and no replication lost that was `known`."""
    found = Left(folder)
    assert {name: digest for name, digest in found.files.items() if whole.get(name) != digest} == {}
    assert known <= found.replications
    return found


def kept_bytes(folder: Path) -> dict[str, str]:
    """Digest of every finished file."""
    return Left(folder).files
