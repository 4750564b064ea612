"""Text for people and JSON for programs: the two consoles, paragraphs and tables.

Texts of users are never read as markup and lose their control characters. A pipe gets a fixed
width, so that no number is cut; a terminal that cannot show a sign gets a question mark.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # rich is imported where something is laid out: every command imports this module
    from rich.console import Console, RenderableType

__all__ = [
    "PIPE_WIDTH",
    "bullets",
    "complain",
    "errors",
    "heading",
    "is_terminal",
    "prepare_streams",
    "print_json",
    "print_parts",
    "print_table",
    "say",
    "visible",
]

PIPE_WIDTH = 120
"""Columns where the output is not a terminal."""


ASCII_SIGNS = {"±": "+-", "×": "x", "–": "-", "—": "-", "…": "...", "≤": "<=", "≥": ">="}
"""What stands for a sign on a terminal that cannot show it; a question mark for all others."""


def prepare_streams() -> None:
    """Let no sign that the terminal cannot show end the program: it is replaced."""
    codecs.register_error("fleetsim", _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(ValueError, OSError):
                stream.reconfigure(errors="fleetsim")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(ASCII_SIGNS.get(sign, "?") for sign in signs), error.end


def is_terminal() -> bool:
    """Whether messages go to a terminal, where a progress bar can move."""
    return sys.stderr.isatty()


def visible(text: object) -> str:
    """The text without control characters, which could drive the terminal; line ends stay."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in str(text))


def errors() -> Console:
    """The console of messages and progress."""
    return _console(sys.stderr)


def say(text: object = "", style: str = "") -> None:
    """Print one paragraph on stdout, wrapped at words."""
    from rich.text import Text

    _console(sys.stdout).print(Text(visible(text), style=style), soft_wrap=False)


def heading(text: str) -> None:
    """Print the title of what follows."""
    say()
    say(text, style="bold")


def bullets(title: str, lines: Iterable[object]) -> None:
    """Print a title and a paragraph a line, each behind a dash; nothing where there are no lines."""
    for number, line in enumerate(lines):
        if not number:
            heading(title)
        say(f"- {line}")


def complain(message: str, label: str = "Error") -> None:
    """Print a message on stderr. It is not wrapped, so that a path in it can be copied."""
    from rich.text import Text

    errors().print(Text.assemble((f"{label}: ", "bold red"), visible(message)), soft_wrap=True)


def print_json(document: Mapping[str, Any]) -> None:
    """Print exactly one JSON document on stdout. NaN is refused: it is not JSON."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n")
    sys.stdout.flush()


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], text: Collection[int] = (0,)
) -> None:
    """Print a table; the columns at the positions `text` hold text, the others numbers.

    Text is wrapped where the terminal is narrow; a number is never cut or broken.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for position, name in enumerate(columns):
        is_text = position in text
        table.add_column(
            Text(visible(name)), justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    _console(sys.stdout).print(table)


def print_parts(parts: RenderableType) -> None:
    """Print what a report has laid out."""
    _console(sys.stdout).print(parts)


def _console(stream: Any) -> Console:
    from rich.console import Console

    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
