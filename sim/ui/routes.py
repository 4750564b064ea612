"""The table of pages, in the order of the menu."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["PAGES", "Route", "script"]

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True, slots=True)
class Route:
    """One page: its name in the address and in `words/*/menu.yaml`, its icon in the menu."""

    key: str
    icon: str


PAGES: tuple[Route, ...] = (
    Route("question", ":material/edit_note:"),
    Route("fit", ":material/memory:"),
    Route("compare", ":material/compare_arrows:"),
    Route("timeline", ":material/view_timeline:"),
    Route("finance", ":material/payments:"),
    Route("steps", ":material/stairs:"),
    Route("sensitivity", ":material/tornado:"),
    Route("workload", ":material/stacked_line_chart:"),
    Route("claims", ":material/fact_check:"),
    Route("runs", ":material/folder_open:"),
)


def script(key: str) -> Path:
    """The script of a page; it calls one function of a room of `sim/ui`."""
    return SCRIPTS / f"{key}.py"
