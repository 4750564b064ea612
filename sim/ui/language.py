"""The language of the page, and its texts: one folder of YAML files a language, `words/en`, `words/zh`.

A text is named `file.key` (`compare.run`). A test holds keys and placeholders of the languages equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import streamlit as st
from ruamel.yaml import YAML

from sim.ui.safe import literal

__all__ = ["LANGUAGES", "catalogue", "language", "question_name", "say", "word"]

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
"""Code in the address, and how the language calls itself."""

WORDS = Path(__file__).parent / "words"


@cache
def catalogue(code: str) -> Mapping[str, str]:
    """Every text of a language by `file.key`."""
    found: dict[str, str] = {}
    for file in sorted((WORDS / code).glob("*.yaml")):
        entries = YAML(typ="safe").load(file.read_text(encoding="utf-8")) or {}
        found.update({f"{file.stem}.{key}": str(text) for key, text in entries.items()})
    return found


def language() -> str:
    """The code of the language that this session reads: from the address, else as before, else English."""
    asked = st.query_params.get("lang", st.session_state.get("lang", "en"))
    code = asked if asked in LANGUAGES else "en"
    st.session_state["lang"] = code
    return code


def word(key: str, /, **values: object) -> str:
    """The plain text of a key, for cells of tables, charts, file names."""
    return catalogue(language())[key].format(**values)


def say(key: str, /, **values: object) -> str:
    """The text of a key where the page reads Markdown: the text may use it, the values never do."""
    return catalogue(language())[key].format(**{name: literal(value) for name, value in values.items()})


def question_name(name: str) -> str:
    """What a question is called: one that comes along in the page's language, any other as it is."""
    known = (key for key, text in catalogue("en").items() if key.startswith("shipped.") and text == name)
    key = next(known, None)
    return name if key is None else word(key)
