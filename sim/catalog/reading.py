"""YAML to models, with every problem at its file, line and key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path as FilePath
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from sim.errors import InputError, Problem

__all__ = ["LARGEST_FILE", "LONGEST_NUMBER", "Document", "Path", "read_file", "read_yaml", "validated"]

Path = tuple[str | int, ...]
"""Keys and positions from the top of a document down to a value."""

ModelT = TypeVar("ModelT", bound=BaseModel)

LARGEST_FILE = 256_000
"""Bytes; such a file is written by people, and takes a few seconds to read at this size."""

_DEEPEST = 50
_MOST_VALUES = 100_000
"""Values once aliases are written out: a few lines of them could stand for more than any memory holds."""
LONGEST_NUMBER = 1024
"""Bits; a longer whole number is no quantity of anything, and Python does not write it out."""
_NESTED = re.compile(rf"(?:[\[{{]\s*){{{_DEEPEST + 1}}}")


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML mapping as plain Python data, with the line of every key."""

    name: str
    """File name for messages."""
    data: Mapping[str, Any]
    lines: Mapping[Path, int]
    """Path -> line, from 1."""

    def line(self, path: Path) -> int | None:
        """Line of the value, or of the nearest thing around it; None for the whole document."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


def read_file(path: FilePath | Traversable, name: str) -> Document:
    """Read a file of YAML; `name` stands for it in messages. Raises InputError, also where there is none."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise InputError(Problem("the file does not exist", name)) from None
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(Problem(f"the file cannot be read: {what}", name)) from None
    if len(data) > LARGEST_FILE:
        raise InputError(Problem(f"the file may have at most {LARGEST_FILE // 1000} kB", name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(Problem("the file must be text in UTF-8", name, line)) from None
    return read_yaml(text, name)


def read_yaml(text: str, name: str) -> Document:
    """Read a YAML mapping.

    Raises InputError for bad syntax, a duplicate key, no mapping, a value that cannot be, or more values
    than people write.
    """
    if _NESTED.search(text):  # its parser would take seconds to find that out
        raise InputError(_too_deep(name))
    yaml = YAML(typ="rt")
    yaml.version = (1, 2)
    try:
        loaded = yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        rule = f"not valid YAML: {' '.join((error.problem or str(error)).split())}"
        raise InputError(Problem(rule, name, line)) from None
    except YAMLError as error:
        raise InputError(Problem(f"not valid YAML: {error}", name)) from None
    except RecursionError:
        raise InputError(_too_deep(name)) from None
    except ValueError as error:  # a date that is none, a number without an end
        raise InputError(Problem(f"a value cannot be read: {error}", name)) from None
    if not isinstance(loaded, Mapping):
        raise InputError(Problem("the file must be a mapping of keys to values", name))
    return _Reading(name, {}).document(loaded)


def _too_deep(name: str) -> Problem:
    return Problem(f"values may be nested at most {_DEEPEST} deep", name)


@dataclass(slots=True)
class _Reading:
    """Plain data out of the parser's, and its bounds."""

    name: str
    lines: dict[Path, int]
    values: int = 0

    def document(self, loaded: Mapping[Any, Any]) -> Document:
        return Document(self.name, self._plain(loaded, ()), self.lines)

    def _plain(self, node: Any, path: Path) -> Any:
        self._bounded(node, path)
        if isinstance(node, Mapping):
            marks = node.lc.data or {}  # type: ignore[attr-defined]
            out: dict[Any, Any] = {}
            for key, value in node.items():
                below = (*path, str(key))
                if key in marks:
                    self.lines[below] = marks[key][0] + 1
                out[str(key)] = self._plain(value, below)
            return out
        if isinstance(node, Sequence) and not isinstance(node, str):
            marks = getattr(node, "lc", None)
            items = []
            for position, value in enumerate(node):
                below = (*path, position)
                if marks is not None and marks.data and position in marks.data:
                    self.lines[below] = marks.data[position][0] + 1
                items.append(self._plain(value, below))
            return items
        if isinstance(node, bool) or node is None:
            return node
        for kind in (int, float, str):
            if isinstance(node, kind):
                return kind(node)
        return node

    def _bounded(self, node: Any, path: Path) -> None:
        self.values += 1
        if self.values > _MOST_VALUES:
            rule = f"the file may hold at most {_MOST_VALUES:,} values, aliases written out"
            raise self._refused(rule, path)
        if len(path) > _DEEPEST:
            raise InputError(_too_deep(self.name))
        if isinstance(node, int) and node.bit_length() > LONGEST_NUMBER:
            rule = "this number is too large"
            raise self._refused(rule, path)

    def _refused(self, rule: str, path: Path) -> InputError:
        line = Document(self.name, {}, self.lines).line(path)
        return InputError(Problem(rule, self.name, line, ".".join(map(str, path)) or None))


def validated(kind: type[ModelT], data: Any, document: Document, base: Path = ()) -> ModelT:
    """Make the model, or raise InputError with one located problem for each thing that is wrong.

    `base` is the path at which `data` stands in the document.
    """
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        # A mistyped key comes before the key that is therefore missing.
        items = sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
        raise InputError(_problem(kind, item, document, base) for item in items) from None


def _problem(kind: type[BaseModel], item: Any, document: Document, base: Path) -> Problem:
    path = (*base, *item["loc"])
    known: tuple[str, ...] = ()
    value = item.get("input")
    rule = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "extra_forbidden":
        rule, value = "unknown key", str(item["loc"][-1])
        if len(item["loc"]) == 1:
            known = tuple(kind.model_fields)
    elif item["type"] == "missing":
        rule, value = "this key is required", None
    elif isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        value = None
    return Problem(rule, document.name, document.line(path), ".".join(map(str, path)), value, known)
