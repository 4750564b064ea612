"""Words of the forms: labels of keys, names of choices, help texts, and places as a person says them."""

from __future__ import annotations

from functools import cache
from typing import Any

from sim.catalog import Catalog, load_catalog
from sim.ui.form_kinds import Field, Kind, field_of, fields_of
from sim.ui.language import catalogue, language, word
from sim.ui.question_edits import UNSET, KeyPath, value_at

__all__ = ["choice_word", "default_word", "help_text", "label", "place", "shown_value"]


AS_DOCUMENTED = "."
"""In the catalogue: the help is the key's docstring, which is English and stands nowhere twice."""

_FREE = frozenset({"name", "team", "file", "teams", "options"})
"""Keys with words of the user, which are never translated."""


def label(model: str, key: str) -> str:
    """What a key is called: by its model, by itself, else the key as words."""
    texts = catalogue(language())
    for name in (f"fields.{model}.{key}", f"fields.{key}"):
        if name in texts:
            return texts[name]
    return key.replace("_", " ").capitalize()


def choice_word(key: str, option: str) -> str:
    """What an option of a key is called."""
    texts = catalogue(language())
    for name in (f"choices.{key}.{option}", f"choices.{option}"):
        if name in texts:
            return texts[name]
    known = _catalog()
    if key == "offer" and option in known.offers:
        offer = known.offers[option]
        return f"{offer.name} ({option})"
    return option


@cache
def _catalog() -> Catalog:
    return load_catalog()


def help_text(field: Field) -> str | None:
    """What the catalogue says of a key, else its docstring, as Markdown; None where it has none."""
    text = catalogue(language()).get(f"helps.{field.model}.{field.key}", AS_DOCUMENTED)
    text = field.help if text == AS_DOCUMENTED else text
    return text.replace("$", r"\$").replace("~", r"\~") or None


def default_word(field: Field) -> str:
    """What holds where a key is left open, for the empty field."""
    if field.default is None or isinstance(field.default, list | dict) or field.default == "":
        return word("form.open")
    return word("form.default", value=shown_value(field.default, field.key))


def shown_value(value: Any, key: str = "") -> str:
    """A value in few words, for a table."""
    if value is UNSET:
        return "–"
    if isinstance(value, bool):
        return word("form.yes") if value else word("form.no")
    if isinstance(value, str):
        return value if key in _FREE else choice_word(key, value)
    if isinstance(value, int | float):
        return f"{value:,.10g}"
    if isinstance(value, dict):
        own = ", ".join(f"{_short(k)}: {shown_value(v, k)}" for k, v in list(value.items())[:8])
        return own if len(own) <= 200 else f"{own[:197]}..."
    if isinstance(value, list):
        own = "; ".join(shown_value(one, key) for one in value[:8])
        return own if len(own) <= 200 else f"{own[:197]}..."
    return str(value)


def _short(key: str) -> str:
    """The label of a key whose model is not at hand, without its unit."""
    texts = catalogue(language())
    return texts.get(f"fields.{key}", key.replace("_", " ")).partition(",")[0]


def place(path: KeyPath, tree: Any) -> str:
    """A path as words: `Strategies › 4 cards › Leases 1 › Units`."""
    words: list[str] = []
    kind: Kind | None = Kind("model", model="Scenario")
    for number, step in enumerate(path):
        if kind is not None and kind.form == "model":
            known = str(step) in fields_of(kind.model)
            words.append(label(kind.model, str(step)))
            kind = _inner(field_of(kind.model, str(step)).kind) if known else None
        elif kind is not None and kind.form == "models":
            name = value_at(tree, (*path[: number + 1], "name"))
            words.append(str(step + 1) if isinstance(step, int) and name is UNSET else str(step))
            if isinstance(step, int) and isinstance(name, str):
                words[-1] = name
            kind = Kind("model", model=kind.model)
        elif kind is not None and kind.form == "map":
            words.append(str(step))
            kind = kind.branches[0] if kind.branches else None
        else:
            words.append(str(step + 1) if isinstance(step, int) else str(step).replace("_", " "))
    return " › ".join(words)


def _inner(kind: Kind) -> Kind:
    """The mapping in a value of several kinds, for its keys have labels."""
    if kind.form == "either":
        return next((branch for branch in kind.branches if branch.form == "model"), kind)
    return kind
