"""A scenario file as a tree of plain values, each with the file and line where it stands.

YAML 1.2 is read as such (`no` is a word, `12:30` too), and what makes YAML unsafe or ambiguous is
refused: aliases, tags, directives, duplicate keys, several documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from sim.catalog.reading import LARGEST_FILE, LONGEST_NUMBER
from sim.errors import InputError, Problem

__all__ = ["LARGEST_FILE", "Node", "Path", "merged", "overridden", "read_tree"]

Path: TypeAlias = tuple[str | int, ...]
"""Keys and positions from the top of a scenario down to a value."""

_DEEPEST = 20
_CORE = "tag:yaml.org,2002:"
_OPTION = "--set"


@dataclass(slots=True)
class Node:
    """A value, a mapping or a list, and where it stands: for an entry of a mapping, its key."""

    value: Any
    """A scalar, a dict of nodes or a list of nodes."""
    file: str | None = None
    line: int | None = None

    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def find(self, path: Path) -> Node | None:
        """The node at a path, or None."""
        node: Node | None = self
        for step in path:
            node = None if node is None else node.child(step)
        return node

    def child(self, step: str | int) -> Node | None:
        """The entry of this key or position, or None."""
        if isinstance(self.value, dict):
            found: Node | None = self.value.get(step)
            return found
        if isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
            entry: Node = self.value[step]
            return entry
        return None

    def nearest(self, path: Path) -> Node:
        """The node at a path, or the innermost one around it."""
        node = self
        for step in path:
            below = node.child(step)
            if below is None:
                break
            node = below
        return node


def read_tree(source: bytes | str, file: str) -> Node:
    """Read one YAML mapping. Raises InputError with the place of what is wrong."""
    text = _decoded(source, file)
    yaml = YAML(typ="safe", pure=True)
    try:
        _refuse_what_is_unsafe(yaml, text, file)
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(
            Problem(_syntax_rule(error), file, None if mark is None else mark.line + 1)
        ) from None
    except YAMLError as error:
        what = " ".join(str(getattr(error, "reason", error)).split())
        place = getattr(error, "position", None)
        line = None if place is None else text.count("\n", 0, place) + 1
        raise InputError(Problem(f"this is not valid YAML: {what}", file, line)) from None
    if root is None:
        raise InputError(Problem("the file is empty", file, 1))
    tree = _tree(root, file, root.start_mark.line + 1, yaml)
    if not isinstance(tree.value, dict):
        rule = "a scenario is a mapping of keys to values, such as `horizon: 365d`"
        raise InputError(Problem(rule, file, tree.line))
    return tree


def _decoded(source: bytes | str, file: str) -> str:
    size = len(source) if isinstance(source, bytes) else len(source.encode("utf-8", "surrogatepass"))
    if size > LARGEST_FILE:
        rule = f"a scenario file may have at most {LARGEST_FILE // 1000} kB"
        raise InputError(Problem(rule, file, value=f"{size / 1000:.0f} kB"))
    if isinstance(source, str):
        return source.removeprefix("\ufeff")
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        rule = f"a scenario file is text in UTF-8; byte {error.start + 1} is not"
        raise InputError(Problem(rule, file, line)) from None


def _refuse_what_is_unsafe(yaml: YAML, text: str, file: str) -> None:
    depth = 0
    for event in yaml.parse(text):
        line = event.start_mark.line + 1
        rule = None
        if isinstance(event, AliasEvent):
            rule = "aliases (*name) are not used in scenarios: write the value out, or use extends"
        elif isinstance(event, DocumentStartEvent) and (event.version or event.tags):
            rule = "directives (%YAML, %TAG) are not used in scenarios"
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            depth += 1
            if depth > _DEEPEST:
                rule = f"values may be nested at most {_DEEPEST} deep"
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            depth -= 1
        if isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent) and event.tag is not None:
            rule = "tags (!name) are not used in scenarios"
        if rule is not None:
            raise InputError(Problem(rule, file, line))


def _syntax_rule(error: MarkedYAMLError) -> str:
    what = " ".join(str(error.problem or error).split())
    if r"'\t'" in what:
        return "tabs may not indent YAML: use spaces"
    if "another document" in what:
        return "a scenario file holds one document: `---` stands in it twice"
    if "mapping values are not allowed" in what:
        return "this is not valid YAML: a colon stands where no key can be (indentation, or missing quotes?)"
    context = f" {error.context}" if error.context else ""
    return f"this is not valid YAML{context}: {what}"


def _tree(node: Any, file: str, line: int, yaml: YAML) -> Node:
    if isinstance(node, MappingNode):
        return Node(_entries(node, file, yaml), file, line)
    if isinstance(node, SequenceNode):
        items = [_tree(item, file, item.start_mark.line + 1, yaml) for item in node.value]
        return Node(items, file, line)
    return Node(_scalar(node, file, line, yaml), file, line)


def _entries(node: MappingNode, file: str, yaml: YAML) -> dict[str, Node]:
    entries: dict[str, Node] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            raise InputError(Problem("a key is a single word", file, line))
        name = str(key.value)
        if name in entries:
            rule = f"this key stands twice in one mapping, first in line {entries[name].line}"
            raise InputError(Problem(rule, file, line, name))
        entries[name] = _tree(value, file, line, yaml)
    return entries


def _scalar(node: ScalarNode, file: str, line: int, yaml: YAML) -> Any:
    kind = str(node.tag).removeprefix(_CORE)
    if kind not in ("int", "float", "bool", "null"):
        return str(node.value)  # dates stay text: the model reads them, with the scenario's rules
    try:
        value = yaml.constructor.construct_object(node)
    except ValueError:
        rule = "this number cannot be read"
        raise InputError(Problem(rule, file, line, value=str(node.value))) from None
    if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:
        raise InputError(Problem("this number is too large", file, line, value=str(node.value)))
    return value


def merged(base: Node, over: Node) -> Node:
    """`over` laid on `base`: mappings are merged key by key, all else is replaced."""
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    entries = dict(base.value)
    for key, node in over.value.items():
        entries[key] = merged(entries[key], node) if key in entries else node
    return Node(entries, over.file, over.line)


def overridden(root: Node, settings: Sequence[str]) -> Node:
    """The tree with `KEY=VALUE` settings of the command line applied in order.

    Raises InputError with every setting that is malformed or names a list entry that is not there.
    A key that the model does not know is left to the model to refuse.
    """
    problems: list[Problem] = []
    for setting in settings:
        key, sign, text = setting.partition("=")
        key = key.strip()
        if not sign or not key:
            rule = "a setting is written KEY=VALUE, such as strategies.0.leases.0.count=8"
            problems.append(Problem(rule, _OPTION, value=setting))
            continue
        try:
            value = _set_value(text, key)
            root = _replaced(root, tuple(key.replace("[", ".").replace("]", "").split(".")), value, key)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return root


def _set_value(text: str, key: str) -> Node:
    try:
        value = read_tree(f"value: {text}\n", _OPTION).value["value"]
    except InputError as error:
        raise InputError(Problem(p.rule, _OPTION, None, key, text) for p in error.problems) from None
    return _without_lines(value)


def _without_lines(node: Node) -> Node:
    if isinstance(node.value, dict):
        return Node({key: _without_lines(below) for key, below in node.value.items()}, _OPTION)
    if isinstance(node.value, list):
        return Node([_without_lines(below) for below in node.value], _OPTION)
    return Node(node.value, _OPTION)


def _replaced(node: Node, steps: tuple[str, ...], value: Node, key: str) -> Node:
    """A copy of the tree with the value at these steps; keys that are missing are made."""
    if not steps:
        return value
    first, rest = steps[0], steps[1:]
    if isinstance(node.value, list):
        known = tuple(str(place) for place in range(len(node.value)))
        if first not in known:
            rule = "an entry of a list is given by its number, counted from 0"
            raise InputError(Problem(rule, _OPTION, None, key, first, known))
        items = list(node.value)
        items[int(first)] = _replaced(items[int(first)], rest, value, key)
        return Node(items, node.file, node.line)
    entries: Mapping[str, Node] = node.value if isinstance(node.value, dict) else {}
    below = entries.get(first, Node(None, _OPTION))
    place = (node.file, node.line) if isinstance(node.value, dict) else (_OPTION, None)
    return Node({**entries, first: _replaced(below, rest, value, key)}, *place)
