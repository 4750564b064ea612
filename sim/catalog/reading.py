"""YAML to models, with every problem at its file, line and key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from sim.errors import InputError, Problem

__all__ = ["Document", "Path", "read_yaml", "validated"]

Path = tuple[str | int, ...]
"""Keys and positions from the top of a document down to a value."""

ModelT = TypeVar("ModelT", bound=BaseModel)


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


def read_yaml(text: str, name: str) -> Document:
    """Read a YAML mapping. Raises InputError for bad syntax, a duplicate key or no mapping."""
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
        raise InputError(Problem("the file is nested too deeply", name)) from None
    if not isinstance(loaded, Mapping):
        raise InputError(Problem("the file must be a mapping of keys to values", name))
    lines: dict[Path, int] = {}
    return Document(name, _plain(loaded, (), lines), lines)


def _plain(node: Any, path: Path, lines: dict[Path, int]) -> Any:
    if isinstance(node, Mapping):
        marks = node.lc.data or {}  # type: ignore[attr-defined]
        out: dict[Any, Any] = {}
        for key, value in node.items():
            below = (*path, str(key))
            if key in marks:
                lines[below] = marks[key][0] + 1
            out[str(key)] = _plain(value, below, lines)
        return out
    if isinstance(node, Sequence) and not isinstance(node, str):
        marks = getattr(node, "lc", None)
        items = []
        for position, value in enumerate(node):
            below = (*path, position)
            if marks is not None and marks.data and position in marks.data:
                lines[below] = marks.data[position][0] + 1
            items.append(_plain(value, below, lines))
        return items
    if isinstance(node, bool) or node is None:
        return node
    for kind in (int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node


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
