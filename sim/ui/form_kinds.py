"""What kind of value a key of a scenario takes, read from the JSON Schema that editors use.

A new key of the model needs nothing here: its type, bounds, choices, default and docstring stand in the
schema. What no kind fits is edited as a piece of YAML.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from sim.load_schema import json_schema

__all__ = ["Field", "Kind", "field_of", "fields_of", "kind_of"]

Form = Literal[
    "text", "number", "whole", "truth", "choice", "duration", "rate", "growth", "tolerance", "date",
    "model", "models", "numbers", "texts", "map", "either", "yaml",
]  # fmt: skip

_BY_EXAMPLE: Mapping[str, Form] = {
    "10min": "duration",
    "2026-01-01": "date",
    "6/day": "rate",
    "3%/month": "growth",
    "5%": "tolerance",
}
"""An example of the schema that only one kind has."""

_HORIZON = "365d"


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a value."""

    form: Form
    options: tuple[str, ...] = ()
    """The texts of a choice."""
    model: str = ""
    """Name of the model of one mapping (`model`), or of the entries of a list (`models`)."""
    branches: tuple[Kind, ...] = ()
    """What an `either` may be, in order; what the entries of a `map` are."""
    loose: bool = False
    """Whether a choice may be another text too, such as an offer of the user's own price list."""

    def holds(self, value: Any) -> bool:
        """Whether a value is of this kind by its shape; not whether the loader takes it."""
        if self.form == "either":
            return any(kind.holds(value) for kind in self.branches)
        if self.form == "choice":
            return isinstance(value, str) and (self.loose or value in self.options)
        if self.form == "models":
            return isinstance(value, list) and all(isinstance(one, dict) for one in value)
        return _SHAPES.get(self.form, _is_text)(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_day(value: Any) -> bool:
    return isinstance(value, str) and value[:4].isdigit() and value[4:5] == "-"


_SHAPES: Mapping[Form, Callable[[Any], bool]] = {
    "number": _is_number,
    "whole": lambda value: _is_number(value) and value == int(value),
    "truth": lambda value: isinstance(value, bool),
    "model": lambda value: isinstance(value, dict),
    "map": lambda value: isinstance(value, dict),
    "numbers": lambda value: isinstance(value, list) and all(map(_is_number, value)),
    "texts": lambda value: isinstance(value, str) or (isinstance(value, list) and all(map(_is_text, value))),
    "tolerance": lambda value: _is_number(value) or isinstance(value, str),
    "yaml": lambda value: True,  # noqa: ARG005
    "date": _is_day,
    "duration": lambda value: isinstance(value, str) and not _is_day(value),
}
"""Form of a value -> whether a value has it; a text where nothing stands here."""


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a model."""

    model: str
    key: str
    kind: Kind
    needed: bool
    """Whether a file must state it."""
    nothing: bool
    """Whether it may be left open, which is something else than any value."""
    default: Any
    """What holds where it is not stated; None where that is nothing, or another key says it."""
    help: str


def fields_of(model: str) -> Mapping[str, Field]:
    """The keys of a model of the scenario in their order; `Scenario` is the file itself."""
    return _all()[model]


def field_of(model: str, key: str) -> Field:
    """One key of a model; KeyError where there is none."""
    return _all()[model][key]


@cache
def _all() -> Mapping[str, Mapping[str, Field]]:
    schema = json_schema()
    needed = schema["else"]["required"]
    models = {"Scenario": {**schema, "required": needed}, **schema["$defs"]}
    return {
        name: {key: _field(name, model, key) for key in model.get("properties", {})}
        for name, model in models.items()
    }


def _field(name: str, model: Mapping[str, Any], key: str) -> Field:
    schema = model["properties"][key]
    branches = schema.get("anyOf", ())
    kind = kind_of(schema)
    if kind.form == "text" and schema.get("examples"):
        kind = Kind("choice", options=tuple(map(str, schema["examples"])), loose=True)
    return Field(
        name,
        key,
        kind,
        key in model.get("required", ()) or (name, key) == ("Trace", "file"),
        any(branch.get("type") == "null" for branch in branches),
        schema.get("default"),
        " ".join(str(schema.get("description", "")).split()),
    )


def kind_of(schema: Mapping[str, Any]) -> Kind:
    """The kind of the value that a part of the schema describes."""
    if "anyOf" in schema:
        return _one_of(schema)
    if "$ref" in schema:
        return Kind("model", model=schema["$ref"].rpartition("/")[2])
    for example in schema.get("examples", ()):
        if example == _HORIZON:
            return Kind("either", branches=(Kind("duration"), Kind("date")))
        if isinstance(example, str) and example in _BY_EXAMPLE:
            return Kind(_BY_EXAMPLE[example])
    if "enum" in schema or isinstance(schema.get("const"), str):
        return Kind("choice", options=tuple(map(str, schema.get("enum", (schema.get("const"),)))))
    if schema.get("type") == "array":
        return _list(schema.get("items", {}))
    if schema.get("type") == "object":
        entries = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        found = [kind_of(entry) for entry in entries if isinstance(entry, dict)]
        return Kind("map", branches=tuple(found[:1])) if found else Kind("yaml")
    return _scalar(schema)


def _scalar(schema: Mapping[str, Any]) -> Kind:
    forms: Mapping[str, Form] = {"boolean": "truth", "integer": "whole", "number": "number", "string": "text"}
    kind = schema.get("type")
    if kind == "string" and schema.get("format") == "date":
        return Kind("date")
    return Kind(forms.get(kind, "yaml") if isinstance(kind, str) else "yaml")


def _list(items: Mapping[str, Any]) -> Kind:
    kind = kind_of(items)
    if kind.form == "model":
        return Kind("models", model=kind.model)
    if kind.form in ("number", "whole"):
        return Kind("numbers")
    if kind.form in ("text", "choice", "date"):
        return Kind("texts", options=kind.options)
    return Kind("yaml")


def _one_of(schema: Mapping[str, Any]) -> Kind:
    parts = [part for part in schema["anyOf"] if part.get("type") != "null"]
    if any(part.get("type") == "number" for part in parts):
        # Exact amounts may be written as text too, which no form needs.
        parts = [part for part in parts if part.get("type") != "string" or part.get("enum")]
    if len(parts) == 1:
        return kind_of(parts[0])
    kinds = [kind_of(part) for part in parts]
    if [kind.form for kind in kinds] == ["text", "texts"]:
        return kinds[1]  # one text, or a list of them
    if [kind.form for kind in kinds] == ["choice", "text"]:
        return Kind("choice", options=kinds[0].options, loose=True)
    choices = tuple(option for kind in kinds if kind.form == "choice" for option in kind.options)
    others = [kind for kind in kinds if kind.form != "choice"]
    chosen = (Kind("choice", options=choices),) if choices else ()
    return Kind("either", branches=(*chosen, *others))
