"""What the model refuses, in plain words: file, line, key, rule, value and the known names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from sim.errors import Problem
from sim.load_tree import Node, Path
from sim.model.scenario import Scenario

__all__ = ["annotation_at", "located", "model_at", "model_problems"]

_Error = Mapping[str, Any]

_CHOICES: Mapping[str, str] = {
    "samples": "must be a number above 0, or a distribution such as {lognormal: {median: 50000, sigma: 1}}",
    "epochs": "must be a number above 0, or a distribution such as {uniform: {low: 1, high: 4}}",
    "runtime_s": "must be a number of seconds above 0, or a distribution of seconds",
    "gap_s": "must be a number of seconds above 0, or a distribution of seconds",
    "batch_size": "must be a whole number above 0, or a distribution such as {geometric: {mean: 3}}",
    "gpus": "must be auto, a whole number of at least 1, or a list of such numbers",
    "profile": "must be flat or office-hours, or a mapping with 24 hourly and 7 weekly factors",
    "ecc_uncorrectable": "must be a duration such as 90000h, or preset",
    "silent_corruption": "must be a duration such as 90000h, or preset",
    "lemons": "must be preset, or a mapping such as {share: 0.05, rate: 20}",
    "price": "must be low, mid or high, or a price above 0",
    "every": "must be a duration such as 20min, or never, young or daly",
    "warm_up": "must be auto, or a duration such as 14d",
    "horizon": "must be a duration such as 365d or 36h, or an end date such as 2026-12-31",
}
"""Rules of the keys that take values of several kinds."""

_TYPES: Mapping[str, str] = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of ordinary size",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "decimal_type": "must be a number",
    "decimal_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text (in quotes, if it looks like a number)",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping of keys to values",
    "dict_type": "must be a mapping of keys to values",
    "literal_error": "must be one of the known names",
}

_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("must be above {}", "gt"),
    "greater_than_equal": ("must be at least {}", "ge"),
    "less_than": ("must be below {}", "lt"),
    "less_than_equal": ("must be at most {}", "le"),
    "too_short": ("must have at least {} entries", "min_length"),
    "too_long": ("may have at most {} entries", "max_length"),
    "string_too_short": ("may not be empty", "min_length"),
    "string_too_long": ("may have at most {} characters", "max_length"),
}

_RULE_KEYS: Sequence[tuple[str, Path]] = (
    ("the horizon must", ("horizon",)),
    ("every strategy needs", ("strategies",)),
    ("the warm-up must", ("experiment", "warm_up")),
    ("the steady state's warm-up", ("experiment", "steady_state", "warm_up")),
    ("uncertain inputs need", ("uncertain",)),
    ("steady_state has", ("warm_up",)),
    ("most must be", ("most",)),
    ("every class needs", ("classes",)),
    ("every timed class needs", ("timed",)),
    ("until must", ("until",)),
    ("teams must", ("teams",)),
    ("preset and rate", ("preset",)),
    ("quantiles may not", ("values",)),
    ("at must", ("at",)),
    ("a lease must end", ("end",)),
    ("max may not", ("max",)),
    ("high may not", ("high",)),
    ("weights must", ("weights",)),
    ("values may not", ("values",)),
)
"""Rules over several keys of a mapping, and the key that the message points at."""


def located(tree: Node, path: Path, rule: str, value: object = None, known: Iterable[str] = ()) -> Problem:
    """A problem at a path of the tree, with the place of the nearest node."""
    node = tree.nearest(path)
    return Problem(rule, node.file, node.line, ".".join(map(str, path)) or None, value, tuple(known))


def model_at(path: Path) -> type[BaseModel] | None:
    """The model class that holds the value at a path of a scenario, or None."""
    return _model_in(annotation_at(path))


def annotation_at(path: Path) -> Any:
    """The annotation of the value at a path of a scenario; None where the model has no such key."""
    annotation: Any = Scenario
    for step in path:
        if isinstance(step, int):
            annotation = _items_of(annotation)
            continue
        model = _model_in(annotation)
        field = None if model is None else model.model_fields.get(step)
        if field is None:
            return None
        annotation = field.annotation
    return annotation


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model class in a union or annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(part) for part in get_args(annotation) if part is not Ellipsis)
    return next((model for model in found if model is not None), None)


def _items_of(annotation: Any) -> Any:
    """The annotation of the entries of the first tuple in a union."""
    if getattr(annotation, "__origin__", None) is tuple:
        return get_args(annotation)[0]
    found = (_items_of(part) for part in get_args(annotation) if part is not Ellipsis)
    return next((items for items in found if items is not None), None)


def model_problems(error: ValidationError, tree: Node) -> list[Problem]:
    """One problem for each thing that is wrong; several tries of one union count once."""
    by_path: dict[Path, list[_Error]] = {}
    unions: set[Path] = set()
    for item in error.errors():
        path, union = _data_path(item, tree)
        if union is not None:
            unions.add(union)
        by_path.setdefault(path, []).append(item)
    around = {path[:length] for path in by_path for length in range(len(path))}
    problems = []
    for path, items in by_path.items():
        if path in around and (path in unions or all(item["type"] == "too_short" for item in items)):
            continue  # the branch that got furthest says what is wrong; an entry refused is no entry missing
        problems.append(_problem(path, items, tree))
    return problems


def _data_path(item: _Error, tree: Node) -> tuple[Path, Path | None]:
    """The path without the names of union branches, and the path of the innermost union passed."""
    path: Path = ()
    union: Path | None = None
    for place, step in enumerate(item["loc"]):
        last_missing = item["type"] == "missing" and place == len(item["loc"]) - 1
        found = tree.find((*path, step))
        if found is not None or last_missing:
            path = (*path, step)
        else:
            union = path
    return path, union


def _problem(path: Path, items: Sequence[_Error], tree: Node) -> Problem:
    node = tree.find(path)
    value = None if node is None or isinstance(node.value, dict | list) else node.value
    by_type = {item["type"]: item for item in items}
    bounds = [item for item in items if item["type"] in _BOUNDS]
    spoken = [item for item in items if item["type"] == "value_error"]
    if "extra_forbidden" in by_type:
        model = model_at(path[:-1])
        known = () if model is None else tuple(model.model_fields)
        return located(tree, path, "unknown key", path[-1], known)
    if "missing" in by_type:
        return located(tree, path, "this key is missing, and has no default")
    if node is not None and node.value is None:
        return located(tree, path, f"the key has no value; {_by_kind(path, items)}", None, _known(by_type))
    if bounds:
        return located(tree, path, _bound(bounds[0]), value)
    if spoken and (value is None or len(items) == 1):
        return _spoken(tree, path, str(spoken[0]["ctx"]["error"]), value)
    return located(tree, path, _by_kind(path, items), value, _known(by_type))


def _bound(item: _Error) -> str:
    rule, limit = _BOUNDS[item["type"]]
    context = item["ctx"]
    if item["type"] == "too_short" and context["min_length"] == 1:
        return "must have at least one entry"
    return rule.format(context[limit])


def _by_kind(path: Path, items: Sequence[_Error]) -> str:
    choice = _CHOICES.get(str(path[-1])) if path else None
    if choice is not None and len(items) > 1:
        return choice
    first = items[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    return _TYPES.get(first["type"], str(first["msg"]).lower())


def _known(by_type: Mapping[str, _Error]) -> tuple[str, ...]:
    """The choices of a literal; a single word such as `never` stands in the rule already."""
    literal = by_type.get("literal_error")
    names = () if literal is None else tuple(re.findall(r"'([^']*)'", literal["ctx"]["expected"]))
    return names if len(names) > 1 else ()


def _spoken(tree: Node, path: Path, rule: str, value: object) -> Problem:
    """A rule of the model's own, at the key that it speaks of."""
    for start, key in _RULE_KEYS:
        if rule.startswith(start):
            at = (*path, *key)
            if start.startswith("every"):
                at, value = _second_of_a_name(tree, at)
            else:
                node = tree.find(at)
                value = value if node is None or isinstance(node.value, dict | list) else node.value
            return located(tree, at, rule, value)
    return located(tree, path, rule, value)


def _second_of_a_name(tree: Node, path: Path) -> tuple[Path, object]:
    """The `name` key of the first list entry whose name stood before."""
    node = tree.find(path)
    seen: set[object] = set()
    for place, _ in enumerate(node.value if node is not None and isinstance(node.value, list) else ()):
        name = tree.find((*path, place, "name"))
        if name is not None and name.value in seen:
            return (*path, place, "name"), name.value
        if name is not None:
            seen.add(name.value)
    return path, None
