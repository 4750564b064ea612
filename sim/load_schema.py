"""The JSON Schema of a scenario file, for editors: keys, units, choices and defaults.

It is looser than the loader, never stricter: whatever loads is valid here, so that an editor marks
no good file as wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from sim.catalog import Catalog, load_catalog
from sim.load_checks import PERFORMANCES, known_names
from sim.load_errors import model_at
from sim.model.scenario import Scenario
from sim.units import format_duration

__all__ = ["SCHEMA_FILE", "SCHEMA_LINE", "json_schema", "schema_text"]

SCHEMA_FILE = "scenario.schema.json"
SCHEMA_LINE = f"# yaml-language-server: $schema={SCHEMA_FILE}"

_Schema = dict[str, Any]

_OPEN = ("offer", "model", "runtime_gpu")
"""Keys whose names a price list of the user's may add to."""


def json_schema(catalog: Catalog | None = None) -> _Schema:
    """The schema, with the names that the catalogue and the table of policies know."""
    schema = Scenario.model_json_schema()
    definitions: _Schema = schema["$defs"]
    for pattern, names in known_names(load_catalog() if catalog is None else catalog).items():
        key = _key(definitions, schema, pattern)
        if pattern[-1] in _OPEN:  # a catalogue of one's own may have more
            key["anyOf"] = [{"enum": list(names)}, {"type": key.pop("type")}]
        else:
            key["enum"] = list(names)
    schema["properties"]["performance"]["examples"] = list(PERFORMANCES)
    for model in _models(Scenario):
        owner = schema if model is Scenario else definitions[model.__name__]
        _durations_as_text(owner["properties"], model)
    _enough_keys(schema, definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "fleetsim scenario"}
    return {**head, **{key: value for key, value in schema.items() if key not in head}}


def schema_text() -> str:
    """The schema of the shipped catalogue as it stands in scenarios/scenario.schema.json."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _key(definitions: _Schema, schema: _Schema, pattern: tuple[str, ...]) -> _Schema:
    """The schema of the key at a path of a scenario; for a union, of its text branch."""
    model = model_at(tuple(0 if step == "*" else step for step in pattern[:-1]))
    owner = schema if model is None or model is Scenario else definitions[model.__name__]
    key: _Schema = owner["properties"][pattern[-1]]
    return next((branch for branch in key.get("anyOf", ()) if branch.get("type") == "string"), key)


def _models(model: type[BaseModel], seen: set[type[BaseModel]] | None = None) -> Iterator[type[BaseModel]]:
    """The model and all models below it, once each."""
    seen = set() if seen is None else seen
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for below in _models_in(field.annotation):
            yield from _models(below, seen)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models_in(part)


def _durations_as_text(properties: _Schema, model: type[BaseModel]) -> None:
    """Defaults of durations are microseconds in the model; a file writes them with a unit."""
    for key, field in model.model_fields.items():
        schema = properties[field.alias or key]
        branches = (schema, *schema.get("anyOf", ()))
        written = any("10min" in branch.get("examples", ()) for branch in branches)
        if written and isinstance(field.default, int):
            schema["default"] = format_duration(field.default)
        if isinstance(schema.get("default"), Decimal):
            schema["default"] = float(schema["default"])


def _enough_keys(schema: _Schema, definitions: Mapping[str, Any]) -> None:
    """A file that extends another needs none of the keys that the other may bring."""
    required = schema.pop("required")
    trace = definitions["Trace"].pop("required")
    schema["if"] = {"required": ["extends"], "properties": {"extends": {"type": "string"}}}
    schema["then"] = {}
    whole_trace = {"properties": {"trace": {"required": trace}}}
    schema["else"] = {"required": required, "properties": {"workload": whole_trace}}
