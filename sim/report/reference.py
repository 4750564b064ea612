"""Reference pages made from the program: every key of a scenario, every metric, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sim.load import schema_text
from sim.metrics import METRICS

__all__ = ["keys_page", "metrics_page"]

Schema = Mapping[str, Any]

BETTER = {"low": "lower", "high": "higher", None: ""}

CHOICES = 24
"""Choices of a key that are written out; where there are more, the catalogue lists them."""


_KEYS = """# Keys of a scenario

Made by `fleetsim schema --as keys` from the models that the loader checks with; a test holds this page
to them. Every key is optional unless its default is **required**. An unknown key is refused, with the
known ones. Durations are written `90d`, `12h`, `30min`; rates `6/day`; dates `2026-01-01`. What the words
mean in a run is in [leases](leases.md), [contracts](contracts.md), [failures](failures.md),
[sharing](sharing.md) and [workloads](workloads.md).
"""

_METRICS = """# Metrics

Made by `fleetsim schema --as metrics` from the table of metrics; a test holds this page to it. The unit
stands in the name; a `share` is a number from 0 to 1.

**Window.** Money and card-hours count over the whole horizon. Waits, slowdowns and on-time shares count
jobs submitted after the warm-up and before the horizon; a job still waiting at the horizon counts with
the wait it has had, as a lower bound (`waits_cut` says how many). Leased, busy and useful card-hours are
three bases: each share says over which it is taken. A metric that is not defined in a run, such as a wait
where no job arrived, is left out of its mean.
"""


def keys_page() -> str:
    """docs/scenario-keys.md: a table for each part of a scenario, from the top down."""
    schema = json.loads(schema_text())
    parts = [_part("scenario", "The file itself.", schema)]
    parts += [_part(name, _sentence(part), part) for name, part in _reached(schema) if part.get("properties")]
    return "\n".join([_KEYS, *parts])


def metrics_page() -> str:
    """docs/metrics.md: name, unit, definition and better direction of every metric."""
    rows = [
        (f"`{metric.name}`", metric.unit, _cell(metric.description), BETTER[metric.better])
        for metric in METRICS.values()
    ]
    return "\n".join([_METRICS, *_table(("metric", "unit", "definition", "better"), rows)])


def _reached(schema: Schema) -> list[tuple[str, Schema]]:
    """The parts that the scenario refers to, in the order in which a reader meets them."""
    known, found, queue = schema["$defs"], {}, list(_references(schema["properties"]))
    while queue:
        name = queue.pop(0)
        if name not in found:
            found[name] = known[name]
            queue += [other for other in _references(known[name]) if other not in found]
    return list(found.items())


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if "$ref" in node:
            yield str(node["$ref"]).rsplit("/", 1)[-1]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _part(name: str, about: str, part: Schema) -> str:
    needed = set(part.get("required", ()))
    rows = [
        (f"`{key}`", _kind(value), _default(key, value, needed), _cell(value.get("description", "")))
        for key, value in part["properties"].items()
    ]
    title = name if name == "scenario" else f"`{name}`"
    table = _table(("key", "kind", "default", "meaning"), rows)
    return "\n".join([f"## {title}", "", *([about, ""] if about else []), *table])


def _sentence(part: Schema) -> str:
    return " ".join(str(part.get("description", "")).split())


def _kind(value: Schema) -> str:
    """What may stand there: a kind, choices, or another part."""
    if "$ref" in value:
        name = str(value["$ref"]).rsplit("/", 1)[-1]
        return f"[`{name}`](#{name.lower()})"
    for word in ("anyOf", "oneOf"):
        if word in value:
            kinds = dict.fromkeys(_kind(branch) for branch in value[word] if branch.get("type") != "null")
            # A decimal may be written as text too; that is no other kind of value.
            told = [
                kind for kind in kinds if kind != "text" or not any(k.startswith("number") for k in kinds)
            ]
            return " or ".join(told)
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        names = [f"`{name}`" for name in value["enum"]]
        return (
            ", ".join(names) if len(names) <= CHOICES else f"one of {len(names)} names (`fleetsim catalog`)"
        )
    if value.get("type") == "array":
        items = value.get("items") or {}
        return f"list of {_kind(items)}" if items else "list"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"map of {_kind(inner)}" if isinstance(inner, Mapping) else "map"
    return f"{_PLAIN.get(str(value.get('type')), str(value.get('type', 'any')))}{_bounds(value)}"


_PLAIN = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def _bounds(value: Schema) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    said = [f"{sign} {value[word]:,}" for word, sign in signs.items() if word in value]
    return f" {', '.join(said)}" if said else ""


def _default(key: str, value: Schema, needed: set[str]) -> str:
    if key in needed:
        return "**required**"
    if "default" not in value or value["default"] in (None, [], {}, ""):
        return ""
    if isinstance(value["default"], dict):
        return "as its part says"
    return f"`{_cell(json.dumps(value['default'], ensure_ascii=False))}`"


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]
