"""A question as a tree of plain values, what was edited in it, and the edits as a part of the address.

A tree is what a scenario file says after `extends`: mappings, lists, texts, numbers, truth, nothing.
Edits are a list of `[path, value]` (set) and `[path]` (take away), from the start to the tree in hand.
"""

from __future__ import annotations

import base64
import binascii
import copy
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sim.load_schema import SCHEMA_LINE

__all__ = [
    "LONGEST_LINK",
    "UNSET",
    "KeyPath",
    "Tree",
    "decoded",
    "edited",
    "edits_between",
    "encoded",
    "value_at",
    "with_value",
    "yaml_text",
]

Tree: TypeAlias = dict[str, Any]
KeyPath: TypeAlias = tuple[str | int, ...]

LONGEST_LINK = 4000
"""Signs of edits that an address may hold: browsers and mail take so many; longer ones are stored."""

_LARGEST = 1_000_000
"""Bytes of edits once unpacked; an address from a stranger may not fill the memory."""

_DEEPEST = 50
"""Levels of lists and maps in one another; no scenario has a tenth of it."""

_FLOW = 90
"""Signs of a mapping or list that stands on one line of a file."""


class _Unset:
    """The value of a key that does not stand in the file."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = _Unset()


def value_at(tree: Any, path: KeyPath) -> Any:
    """The value at a path of the tree; UNSET where there is none."""
    for step in path:
        if isinstance(tree, list):
            tree = dict(enumerate(tree))
        if not isinstance(tree, dict) or step not in tree:
            return UNSET
        tree = tree[step]
    return tree


def with_value(tree: Any, path: KeyPath, value: Any) -> Any:
    """A copy of the tree with the value at the path; UNSET takes the key, or the entry, away.

    Mappings on the way that are missing are made. KeyError where a list has no such entry, or a plain
    value stands in the way.
    """
    if not path:
        return copy.deepcopy(value)
    first, rest = path[0], path[1:]
    if isinstance(tree, list):
        return _with_entry(tree, first, rest, value)
    if tree is UNSET or tree is None:
        tree = {}
    if not isinstance(tree, dict) or not isinstance(first, str):
        raise KeyError(first)
    made = dict(tree)
    if not rest and value is UNSET:
        made.pop(first, None)
    elif rest and value is UNSET and first not in made:
        return made
    else:
        made[first] = with_value(made.get(first, UNSET), rest, value)
    return made


def _with_entry(items: list[Any], place: str | int, rest: KeyPath, value: Any) -> list[Any]:
    """As `with_value`; the place behind the last entry appends."""
    if not isinstance(place, int) or not 0 <= place <= len(items):
        raise KeyError(place)
    made = list(items)
    if not rest and value is UNSET:
        del made[place : place + 1]
    elif place == len(items):
        made.append(with_value(UNSET, rest, value))
    else:
        made[place] = with_value(made[place], rest, value)
    return made


def edits_between(start: Any, now: Any, path: KeyPath = ()) -> Iterator[list[Any]]:
    """What turns `start` into `now`, in an order in which `edited` can follow it."""
    if isinstance(start, dict) and isinstance(now, dict):
        for key in start:
            if key not in now:
                yield [[*path, key]]
        for key, value in now.items():
            if key in start:
                yield from edits_between(start[key], value, (*path, key))
            else:
                yield [[*path, key], value]
    elif isinstance(start, list) and isinstance(now, list):
        common = min(len(start), len(now))
        for place in range(common):
            yield from edits_between(start[place], now[place], (*path, place))
        for place in range(len(start) - 1, common - 1, -1):
            yield [[*path, place]]
        for place in range(common, len(now)):
            yield [[*path, place], now[place]]
    elif type(start) is not type(now) or start != now:
        yield [list(path), now]


def edited(start: Tree, edits: Sequence[Any]) -> Tree:
    """The start with the edits; ValueError where they are not edits of this start."""
    tree: Any = start
    for edit in edits:
        if not isinstance(edit, list) or len(edit) not in (1, 2) or not _is_path(edit[0]):
            msg = "an edit is a path, and a value"
            raise ValueError(msg)
        try:
            tree = with_value(tree, tuple(edit[0]), edit[1] if len(edit) == 2 else UNSET)
        except KeyError as error:
            msg = f"the question has no place {edit[0]}"
            raise ValueError(msg) from error
    if not isinstance(tree, dict):
        msg = "a question is a mapping"
        raise ValueError(msg)  # noqa: TRY004  # of a text in an address, not of a type of ours
    return tree


def _is_path(path: object) -> bool:
    if not isinstance(path, list) or not 0 < len(path) <= 30:
        return False
    return all(isinstance(step, str | int) and not isinstance(step, bool) for step in path)


def encoded(edits: Sequence[Any]) -> str:
    """The edits as signs that an address may hold."""
    text = json.dumps(edits, separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def decoded(text: str) -> list[Any]:
    """The edits that an address holds; ValueError where it holds none."""
    if len(text) > _LARGEST:
        msg = "the edits are too long"
        raise ValueError(msg)
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(packed, _LARGEST)
        whole = unpacking.eof
    except (binascii.Error, zlib.error, ValueError) as error:
        msg = "the edits cannot be read"
        raise ValueError(msg) from error
    if not whole:
        msg = "the edits are cut off, or too long"
        raise ValueError(msg)
    try:
        edits = json.loads(data)
    except (ValueError, RecursionError) as error:
        msg = "the edits cannot be read"
        raise ValueError(msg) from error
    if not isinstance(edits, list):
        msg = "the edits are no list"
        raise ValueError(msg)  # noqa: TRY004  # as above
    if _deeper(edits, _DEEPEST):
        msg = "the edits are nested too deeply"
        raise ValueError(msg)
    return edits


def _deeper(value: Any, levels: int) -> bool:
    """Whether lists and maps stand in one another on more levels than these."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_deeper(one, levels - 1) for one in inside)


def yaml_text(tree: Mapping[str, Any]) -> str:
    """The tree as a scenario file that loads to the same question; short values stand on one line."""
    yaml = YAML()
    yaml.width = 100_000
    out = io.StringIO()
    yaml.dump(_laid_out(dict(tree), top=True), out)
    return f"{SCHEMA_LINE}\n{out.getvalue()}"


def _laid_out(value: Any, top: bool = False) -> Any:
    if isinstance(value, dict):
        made = CommentedMap({key: _laid_out(below) for key, below in value.items()})
        if not top and len(json.dumps(value, ensure_ascii=False)) <= _FLOW and _is_flat(value):
            made.fa.set_flow_style()
        return made
    if isinstance(value, list):
        items = CommentedSeq([_laid_out(below) for below in value])
        if all(not isinstance(below, dict | list) for below in value):
            items.fa.set_flow_style()
        return items
    return value


def _is_flat(value: Mapping[str, Any]) -> bool:
    """Whether a mapping holds plain values, or mappings of plain values."""
    below = [one for one in value.values() if isinstance(one, dict | list)]
    return all(isinstance(one, dict) and not any(map(_is_nested, one.values())) for one in below)


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict | list)
