"""The texts of the page: the same keys and placeholders in every language, nothing left untranslated."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from sim.ui.language import LANGUAGES, WORDS, catalogue

ROOT = Path(__file__).parents[2]
OTHERS = [code for code in LANGUAGES if code != "en"]
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("code", OTHERS)
def test_keys_and_placeholders_are_equal(code: str) -> None:
    english, other = catalogue("en"), catalogue(code)
    assert english.keys() == other.keys()
    wrong = {key for key, text in english.items() if _placeholders(text) != _placeholders(other[key])}
    assert not wrong


def test_no_text_is_empty_and_no_file_stands_alone() -> None:
    for code in LANGUAGES:
        assert all(text.strip() or key == "fit.comma" for key, text in catalogue(code).items())
        files = {file.name for file in (WORDS / code).glob("*.yaml")}
        assert files == {file.name for file in (WORDS / "en").glob("*.yaml")}


def test_chinese_is_in_the_chinese_catalogue_alone() -> None:
    assert not [key for key, text in catalogue("en").items() if CHINESE.search(text)]
    # Signs, names of programs and bare placeholders read alike in both languages.
    same = [
        key
        for key, text in catalogue("zh").items()
        if not CHINESE.search(text) and re.search(r"[A-Za-z]{4,}", re.sub(r"\{\w*\}", "", text))
    ]
    alike = re.compile(r"[\W\d_]*(\w*[A-Z]\w*|token|tokens|[a-z]+\.[a-z]+)[\W\d_]*")
    assert [key for key in same if not alike.fullmatch(re.sub(r"\{\w*\}", "", catalogue("zh")[key]))] == []


def test_the_shipped_font_has_every_sign_of_the_page() -> None:
    """No empty box in either language: the subset of Noto Sans SC has each sign that a text uses."""
    signs = TTFont(ROOT / "sim" / "static" / "NotoSansSC-Subset.ttf").getBestCmap().keys()
    used = {sign for code in LANGUAGES for text in catalogue(code).values() for sign in text}
    missing = {sign for sign in used if ord(sign) not in signs and not sign.isspace()}
    # Signs that every browser's own fonts have.
    assert missing <= {"✓", "✗", "▲", "▼", "●", "■", "◆", "★", "☆"}
