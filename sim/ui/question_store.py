"""Where questions lie: those that come along, uploaded ones, and edited ones as commands read them.

An uploaded question is the folder `outputs/.questions/own-<digest>/` with the files that it names, an
edited one `outputs/.questions/edit-<digest>/`. No name in a file or an address leads anywhere else: a
file that a question names lies beside it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from sim.errors import InputError, Problem, RunError
from sim.load import load
from sim.load_checks import PERFORMANCES
from sim.load_shipped import shipped_scenarios
from sim.load_tree import Node, merged, read_tree
from sim.ui.jobs import OUT
from sim.ui.question_edits import Tree

__all__ = [
    "FIRST",
    "QUESTIONS",
    "SCENARIOS",
    "file_of",
    "keep_edited",
    "keep_uploaded",
    "kept_at",
    "named_files",
    "shipped",
    "shown_problem",
    "start_of_edited",
    "start_tree",
    "uploaded",
]

SCENARIOS = Path("scenarios")
QUESTIONS = OUT / ".questions"
FIRST = "four-to-eight"
"""The worked example that a first visitor sees."""

MOST_EDITED = 200
"""Edited questions that stay on disk; an address makes its own again."""

MOST_LISTED = 20
"""Uploaded questions of the list; older ones are found by their address, and by their runs."""

_OWN = re.compile(r"own-[0-9a-f]{16}")
_EDITED = re.compile(r"edit-[0-9a-f]{16}")
_PART = re.compile(r"\w[\w .()-]{0,99}")
_MARK = "scenario.txt"
"""Holds the name of the scenario among uploaded files."""
_START = ".start"
"""In the folder of an edited question: the name of the one that was edited. No upload has such a name."""
_MOST_BASES = 20


def shipped() -> dict[str, Path]:
    """The questions that come along, by name; the worked example is the first of them, and always there.

    In a folder without scenarios it is the one that lies with the program. RunError where an installation
    lacks that.
    """
    files = {path.stem: path for path in SCENARIOS.glob("*.yaml") if _PART.fullmatch(path.stem)}
    first = files.pop(FIRST, None) or shipped_scenarios() / f"{FIRST}.yaml"
    return {FIRST: first, **dict(sorted(files.items()))}


def file_of(name: str) -> Path | None:
    """The scenario file of a question by its name in the address; None where there is none."""
    if name in (known := shipped()):
        return known[name]
    folder = QUESTIONS / name
    if _OWN.fullmatch(name) is None or not (folder / _MARK).is_file():
        return None
    file = (folder / _MARK).read_text(encoding="utf-8").strip()
    return folder / file if _PART.fullmatch(file) and (folder / file).is_file() else None


def uploaded() -> tuple[str, ...]:
    """Questions of one's own, the newest first."""
    found = [folder.name for folder in QUESTIONS.glob("own-*") if file_of(folder.name) is not None]
    return tuple(sorted(found, key=lambda name: (-kept_at(name), name))[:MOST_LISTED])


def kept_at(name: str) -> float:
    """When a question of one's own was last uploaded or made, seconds since 1970."""
    return (QUESTIONS / name).stat().st_mtime


def start_of_edited(file: Path) -> str:
    """The name of the question from which an edited one was made; empty where that is not known.

    `file` is what `keep_edited` returned, in this visit or an earlier one.
    """
    mark = QUESTIONS / file.parent.name / _START
    if _EDITED.fullmatch(file.parent.name) is None or not mark.is_file():
        return ""
    return mark.read_text(encoding="utf-8").strip()


def start_tree(file: Path) -> Tree:
    """What a scenario file says, with the files that it extends; raises InputError.

    Only files of the same folder are read.
    """
    found: Tree = _with_bases(file, 0).plain()
    return found


def _with_bases(file: Path, depth: int) -> Node:
    try:
        tree = read_tree(file.read_bytes(), file.name)
    except OSError as error:
        raise InputError(Problem(f"the file cannot be read: {error.strerror}", file.name)) from None
    base = tree.child("extends")
    own = Node({key: node for key, node in tree.value.items() if key != "extends"}, tree.file, tree.line)
    if base is None or base.value is None:
        return own
    if not isinstance(base.value, str) or not _PART.fullmatch(base.value):
        rule = "must be the name of a scenario file beside this one"
        raise InputError(Problem(rule, tree.file, base.line, "extends", base.plain()))
    if depth >= _MOST_BASES:
        raise InputError(Problem("extends goes in a circle, or over too many files", tree.file, base.line))
    if not (file.parent / base.value).is_file():
        rule = "there is no such file beside this one"
        raise InputError(Problem(rule, tree.file, base.line, "extends", base.value))
    return merged(_with_bases(file.parent / base.value, depth + 1), own)


def named_files(tree: Tree, home: Path) -> tuple[str, ...]:
    """Names of the files that a question reads beside itself, as it writes them.

    Raises InputError for a name that leads out of the folder `home`, before anything is opened.
    """
    found = []
    for key, name in _mentioned(tree):
        parts = Path(name).parts
        inside = bool(parts) and all(_PART.fullmatch(part) for part in parts)
        if not inside or not (home / name).resolve().is_relative_to(home.resolve()):
            rule = "on the page, a question names only files that were uploaded with it"
            raise InputError(Problem(rule, "scenario.yaml", None, key, name))
        found.append(name)
    return tuple(found)


def _mentioned(tree: Tree) -> Iterator[tuple[str, str]]:
    workload = tree.get("workload")
    trace = workload.get("trace") if isinstance(workload, dict) else None
    file = trace.get("file") if isinstance(trace, dict) else None
    if isinstance(file, str):
        yield "workload.trace.file", file
    performance = tree.get("performance")
    if isinstance(performance, str) and performance not in PERFORMANCES:
        yield "performance", performance
    for key in ("catalog", "extends"):
        if isinstance(name := tree.get(key), str):
            yield key, name


def keep_edited(text: str, tree: Tree, home: Path, start: str = "") -> Path:
    """The file of an edited question, with what it names beside it; written where it is not there yet.

    `start` is the name of the question that was edited, so that a run of this one finds back to it.
    """
    names = named_files(tree, home)
    contents = {name: (home / name).read_bytes() for name in names if (home / name).is_file()}
    folder = QUESTIONS / f"edit-{_digest({'scenario.yaml': text.encode(), **contents})}"
    if not (folder / "scenario.yaml").is_file():
        _forget_old()
        mark = {_START: start.encode()} if start else {}
        _write(folder, {**contents, **mark, "scenario.yaml": text.encode()})
    return folder / "scenario.yaml"


def keep_uploaded(scenario: str, files: Mapping[str, bytes]) -> str:
    """Check uploaded files as the command line would, keep them, and return the question's name.

    `scenario` is the name of the scenario among the files. Raises InputError with every problem.
    """
    wrong = [name for name in files if not _PART.fullmatch(name) or name == _MARK]
    if wrong:
        rule = "a file's name has letters, digits, blanks, points, hyphens and brackets only"
        raise InputError(Problem(rule, name) for name in wrong)
    draft = QUESTIONS / f".new-{uuid.uuid4().hex[:12]}"
    try:
        _write(draft, files)
        files = _as_named(files, named_files(start_tree(draft / scenario), draft))
        shutil.rmtree(draft)
        _write(draft, files)
        load(draft / scenario)
    except InputError as error:
        raise InputError(shown_problem(problem, draft) for problem in error.problems) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    whole = {**files, _MARK: scenario.encode()}
    name = f"own-{_digest(whole)}"
    _write(QUESTIONS / name, whole)
    os.utime(QUESTIONS / name)  # one that was there already is the newest again
    return name


def _as_named(files: Mapping[str, bytes], names: tuple[str, ...]) -> dict[str, bytes]:
    """Files in the folders in which the scenario looks for them: a browser uploads names without folders."""
    homes = {Path(name).name: name for name in names if name not in files}
    return {homes.get(name, name): data for name, data in files.items()}


def shown_problem(problem: Problem, folder: Path) -> Problem:
    """The problem with its file as the user knows it: without the folder in which the page keeps it."""
    if problem.file is None:
        return problem
    return dataclasses.replace(problem, file=problem.file.removeprefix(f"{folder}/"))


def _digest(files: Mapping[str, bytes]) -> str:
    state = hashlib.blake2b(digest_size=8)
    for name, data in sorted(files.items()):
        state.update(f"{len(name)} {name} {len(data)} ".encode())
        state.update(data)
    return state.hexdigest()


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """The folder appears whole."""
    fresh = folder.with_name(f".part-{uuid.uuid4().hex[:12]}")
    try:
        for name, data in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(data)
        if folder.exists():
            return
        fresh.rename(folder)
    except OSError as error:
        if not folder.exists():  # else somebody wrote the same at the same time
            msg = f"the question cannot be kept in {folder}: {error.strerror}"
            raise RunError(msg) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _forget_old() -> None:
    if not QUESTIONS.is_dir():
        return
    kept = sorted(QUESTIONS.glob("edit-*"), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in kept[MOST_EDITED - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)
