"""The page of a sweep: what is recommended in each cell, and every strategy's cost and wait there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sim.experiments.decision import WAIT
from sim.experiments.wording import DASH, plain, quoted, sureness
from sim.report.page_html import Html, element, join, table
from sim.report.page_study_parts import Told, figure

__all__ = ["sweep_parts"]

LONG = 60
"""Cells above which a table is folded."""


def sweep_parts(found: Mapping[str, Any]) -> Told:
    """What the page says. KeyError, TypeError or ValueError where the document is not that of a sweep."""
    cells = found["cells"]
    keys = [plain(axis["key"]) for axis in found["varied"]]
    money, units = found["ranked_by"], {one["name"]: one["unit"] for one in found["metrics"]}
    kind = "pairs" if found["paired"] else "cells"
    runs = f"{found['counted']} of each strategy, seed {found['seed']}"
    about = f"{len(cells):,} {kind} of {', '.join(keys)}; {runs}"
    level = f"{100 * found['confidence']:g} %"
    return Told(
        title="a sweep",
        about=about,
        decision=_decision(cells),
        first=(("cells", "Recommended in each cell", _recommended(found, keys, money, units, level)),),
        details=(
            ("strategies", "Every strategy in each cell", _strategies(found, keys, money, units, level)),
            ("reasons", "Why, cell by cell", _reasons(cells, keys)),
        ),
        charts={
            money: ("Cost by which strategies are ranked", _words(cells, keys)),
            WAIT: ("95th percentile of wait", ""),
            "recommended": ("The recommended strategy in each cell", _words(cells, keys)),
        },
    )


def _decision(cells: list[Mapping[str, Any]]) -> tuple[str, ...]:
    number = Counter(cell["recommendation"] for cell in cells)
    told = [
        f"{quoted(name)} in {times:,} of {len(cells):,} cells" for name, times in number.most_common() if name
    ]
    none = number.get(None, 0)
    if not told:
        return ("In no cell does any strategy meet the target.",)
    sentence = f"Recommended: {'; '.join(told)}."
    return (sentence, f"In {none:,} none meets the target.") if none else (sentence,)


def _settings(cell: Mapping[str, Any]) -> list[str]:
    return [plain(str(text)) for text in cell["settings"].values()]


def _recommended(
    found: Mapping[str, Any], keys: list[str], money: str, units: Mapping[str, str], level: str
) -> Html:
    rows: list[list[object]] = []
    for cell in found["cells"]:
        name = cell["recommendation"] or cell["nearest"]
        own: Mapping[str, Any] = next(
            (one["metrics"] for one in cell["strategies"] if one["name"] == name), {}
        )
        shown = plain(str(name)) if cell["recommendation"] else f"none; nearest: {plain(str(name))}"
        sure = DASH if cell["confidence"] is None else sureness(float(cell["confidence"]))
        rows.append(
            [*_settings(cell), shown, figure(own.get(money), units[money]), figure(own.get(WAIT), "h"), sure]
        )
    columns = [*keys, "recommended", "cost", "wait, p95", "confidence"]
    return _table(f"Mean [{level} interval] of the recommended strategy", columns, rows, len(keys))


def _strategies(
    found: Mapping[str, Any], keys: list[str], money: str, units: Mapping[str, str], level: str
) -> Html:
    rows = [
        [
            *_settings(cell),
            plain(one["name"]),
            figure(one["metrics"].get(money), units[money]),
            figure(one["metrics"].get(WAIT), "h"),
            figure(one["metrics"].get("busy_share"), "share"),
            one["target"],
        ]
        for cell in found["cells"]
        for one in cell["strategies"]
    ]
    columns = [*keys, "strategy", "cost", "wait, p95", "cards busy", "target"]
    whole = _table(f"Mean [{level} interval]", columns, rows, len(keys), extra=(len(keys) + 4,))
    told = "All metrics of all cells are in sweep.csv of the folder."
    return join((whole, element("p", told, class_="small")))


def _reasons(cells: list[Mapping[str, Any]], keys: list[str]) -> Html:
    rows = [[*_settings(cell), plain(cell["reason"])] for cell in cells]
    whole = table("Reasons", [*keys, "reason"], rows, texts=range(len(keys) + 1), stacked=True)
    return element("details", element("summary", f"{len(rows):,} reasons"), whole)


def _table(
    caption: str, columns: list[str], rows: list[list[object]], keys: int, extra: tuple[int, ...] = ()
) -> Html:
    whole = table(caption, columns, rows, texts=(*range(keys + 1), *extra))
    if len(rows) <= LONG:
        return whole
    return element("details", element("summary", f"{len(rows):,} rows"), whole)


def _words(cells: list[Mapping[str, Any]], keys: list[str]) -> str:
    """The recommended strategies, for who cannot see the chart; of many cells, where they are written."""
    if len(cells) > LONG:
        return "Its figures are in the table above."
    told = [
        f"{', '.join(f'{key} {text}' for key, text in zip(keys, _settings(cell), strict=True))}: "
        f"{plain(str(cell['recommendation'] or 'none'))}"
        for cell in cells
    ]
    return f"Recommended: {'; '.join(told)}."
