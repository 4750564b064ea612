"""One way to show a chart: drawn in the browser, with PNG, SVG and CSV of what is seen.

Colours are those of the files' charts (Okabe and Ito, distinguishable without seeing red or green);
marks differ by shape or dash as well. The only home of altair and vl_convert.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import altair as alt
import pandas as pd
import streamlit as st

from sim.experiments.files import csv_text
from sim.ui.language import word

__all__ = ["DASHES", "NARROW", "PALETTE", "SHAPES", "show_chart"]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke", "wedge")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 4], [1, 3], [12, 2])

NARROW = "width < 420 ? 1 : 3"
"""Columns of a legend above a chart, for `alt.ExprRef`: one on a telephone, so that none is cut."""


def show_chart(
    chart: alt.Chart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart | alt.FacetChart,
    name: str,
    frame: pd.DataFrame,
    alt_text: str,
) -> None:
    """Show a chart over the width of the page, with a small menu that saves it.

    `name` is the file's name without its ending and the key on this page; `frame` is the table that
    the chart shows, in the units of its labels; `alt_text` is read aloud to those who do not see it.
    """
    st.altair_chart(chart, width="stretch", alt=alt_text, key=f"chart-{name}")
    with st.popover(word("charts.save"), icon=":material/download:"):
        st.download_button(
            "PNG", lambda: _png(chart), f"{name}.png", "image/png", key=f"{name}-png", on_click="ignore"
        )
        st.download_button(
            "SVG", lambda: _svg(chart), f"{name}.svg", "image/svg+xml", key=f"{name}-svg", on_click="ignore"
        )
        st.download_button(
            "CSV", lambda: csv_text(frame), f"{name}.csv", "text/csv", key=f"{name}-csv", on_click="ignore"
        )


def _png(chart: alt.TopLevelMixin) -> bytes:
    _fonts()
    import vl_convert  # 0.2 s, only where somebody saves a picture

    return bytes(vl_convert.vegalite_to_png(chart.to_json(), scale=2))


def _svg(chart: alt.TopLevelMixin) -> bytes:
    _fonts()
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_json())).encode()


@cache
def _fonts() -> None:
    """The fonts that come with the program, so that Chinese signs are drawn on any machine."""
    folder = Path(__file__).parents[1] / "static"
    if folder.is_dir():
        import vl_convert

        vl_convert.register_font_directory(str(folder))
