"""Texts of users stand on the page as they are: no formatting, and no links."""

from __future__ import annotations

import pytest

from sim.ui.safe import FORMATTING, JOINER, literal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://a.example/x", f"http{JOINER}\\://a.example/x"),
        ("HTTPS://a.example", f"HTTPS{JOINER}\\://a.example"),
        ("see www.a.example now", f"see www{JOINER}.a.example now"),
        ("a.b@c.example", f"a.b{JOINER}@c.example"),
        ("<b>x</b> **y** $z$", "\\<b\\>x\\</b\\> \\*\\*y\\*\\* \\$z\\$"),
        ("4 cards, a year", "4 cards, a year"),
        ("awww. yes", f"awww{JOINER}. yes"),
        ("四张卡，包年", "四张卡，包年"),
    ],
)
def test_a_text_of_a_user_is_shown_as_it_stands(text: str, shown: str) -> None:
    # By pencil from the rules of GitHub's Markdown: http(s)://, www. and @ begin a link, a backslash
    # before a sign makes it plain. A browser test sees the page itself.
    assert literal(text) == shown
    assert literal(text).replace("\\", "").replace(JOINER, "") == text


def test_every_sign_of_markdown_is_made_plain() -> None:
    assert literal("".join(sorted(FORMATTING))) == "".join(f"\\{sign}" for sign in sorted(FORMATTING))
