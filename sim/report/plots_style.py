"""The look of the charts: colours, fonts, names, and labels that do not lie on one another.

Nothing here touches matplotlib's global settings, so charts may be made in any thread. Names of users
are never read as mathematics, and a sign that no font here can draw never becomes an empty box.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike

from sim.experiments.wording import plain

__all__ = [
    "INK",
    "LARGE_RATIO",
    "PALETTE",
    "Look",
    "draw_line",
    "drawable",
    "grid",
    "label_points",
    "look",
    "name_legend",
    "names",
    "new_figure",
    "of_user",
    "png",
    "proxy",
    "round_ticks",
]

INK = "#333333"
GREY = "#b0b0b0"

# Okabe and Ito (2008), Color Universal Design, without the yellow that white paper swallows.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (1.2, 1.2), (6, 1.5, 1.2, 1.5), (3, 1.5), (8, 2, 3, 2))

SHIPPED_FONT = Path(__file__).parents[1] / "static" / "NotoSansSC-Subset.ttf"
"""The signs of GB2312, from Noto Sans SC (SIL Open Font License, beside it): the page serves it too."""

CJK_FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
)
"""Fonts of systems for signs that the shipped one lacks; the first that is installed is used."""

Point = tuple[float, float]

DPI = 120
LINES, LINE_LENGTH = 3, 28
"""Lines of a name in a chart, and signs of a line."""
LARGE_RATIO = 30
"""Largest over smallest value above which an axis or a scale is logarithmic."""


@dataclass(frozen=True, slots=True)
class Look:
    """How one strategy is drawn; differs by dash as well as by colour."""

    colour: str
    dashes: tuple[float, ...]


def look(position: int) -> Look:
    """The look of the strategy at this position in the file."""
    return Look(PALETTE[position % len(PALETTE)], DASHES[position % len(DASHES)])


def draw_line(axes: Axes, x: ArrayLike, y: ArrayLike, position: int, **style: Any) -> Line2D:
    """A line in the look of the strategy at this position; `style` as matplotlib's `plot` takes it."""
    own = look(position)
    (line,) = axes.plot(x, y, **{"color": own.colour, "linewidth": 1.8, **style})
    if own.dashes:
        line.set_dashes(own.dashes)
    return line


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, inches, that makes room for its own labels."""
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def png(figure: Figure) -> bytes:
    """The figure as a PNG file: the same bytes for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def names(strategies: Sequence[str]) -> list[str]:
    """What stands for each strategy in a chart: its name on at most three lines, or `S2` where no
    font at hand can draw the name; the tables give the full names."""
    return [
        _wrapped(plain(name)) if drawable(plain(name)) else f"S{number} (in the tables)"
        for number, name in enumerate(strategies, start=1)
    ]


def grid(axes: Axes) -> None:
    """A light grid behind the data and no box around it."""
    axes.grid(visible=True, color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=8.5)


def round_ticks(axes: Axes, which: str) -> None:
    """Write the numbers of an axis in full, with commas: 107,520 and not 1.0752e5."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(FuncFormatter(lambda _value, _position: ""))


def name_legend(figure: Figure, handles: Sequence[Artist], labels: Sequence[str], title: str = "") -> None:
    """A legend to the right of everything."""
    legend = figure.legend(
        handles,
        [str(number) for number in range(len(labels))],
        loc="outside right upper",
        title=title or None,
        frameon=False,
        alignment="left",
        handlelength=2.6,
        labelspacing=0.8,
    )
    legend.get_title().set_fontsize(9)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        of_user(text).set(fontsize=8.5, color=INK, text=label)


def of_user(text: Text) -> Text:
    """Draw this text as it is written, in fonts that have its signs: nothing in it is mathematics."""
    text.set_parse_math(False)
    text.set_fontfamily(_families())
    return text


def label_points(
    axes: Axes,
    points: Sequence[Point],
    labels: Sequence[str],
    bars: Sequence[tuple[Point, Point]] = (),
    level: float | None = None,
) -> None:
    """Write each label near its point, where it covers no label, point, bar, edge or the line at `level`.

    Positions are tried from near to far, all around the point; a label that had to go far gets a line.
    """
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    frame = axes.get_window_extent()
    centres = [tuple(axes.transData.transform(point)) for point in points]
    taken = [_box(x, y, 14 * scale, 14 * scale) for x, y in centres]
    taken += [_padded(axes.transData.transform(bar), 3 * scale) for bar in bars]
    if level is not None:
        height = float(axes.transData.transform((points[0][0] if points else 0.0, level))[1])
        taken.append(_padded([(frame.x0, height), (frame.x1, height)], 2 * scale))
    for (x, y), point, label in zip(centres, points, labels, strict=True):
        text = axes.annotate(
            label, point, xytext=(0, 0), textcoords="offset points", fontsize=8, color=INK,
            ha="center", va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 5},
        )  # fmt: skip
        of_user(text)
        text.set_in_layout(False)
        size = text.get_window_extent()
        spots = list(_around(size.width, size.height, scale))
        boxes = [_box(x + dx, y + dy, size.width + 6 * scale, size.height + 3 * scale) for dx, dy in spots]
        costs = [_overlap(box, taken) + _outside(box, frame) for box in boxes]
        best = next((i for i, cost in enumerate(costs) if cost == 0), costs.index(min(costs)))
        text.set_position((spots[best][0] / scale, spots[best][1] / scale))
        taken.append(boxes[best])


def proxy(colour: str, dashes: tuple[float, ...] = (), marker: str = "", hollow: bool = False) -> Line2D:
    """A line that stands in a legend for what is drawn."""
    line = Line2D(
        [], [], color=colour, linewidth=1.8 if not marker else 0, marker=marker or "None", markersize=8,
        markerfacecolor="white" if hollow else colour,
    )  # fmt: skip
    if dashes:
        line.set_dashes(dashes)
    return line


def _around(width: float, height: float, scale: float) -> Iterator[tuple[float, float]]:
    """Offsets of a label's centre, pixels: eight directions at growing distances."""
    for distance, step in product((9, 16, 26, 38, 54, 74, 98, 126), range(8)):
        angle = math.pi / 4 * step
        reach_x = math.cos(angle) * (distance * scale + width / 2)
        reach_y = math.sin(angle) * (distance * scale + height / 2)
        yield reach_x, reach_y


def _box(x: float, y: float, width: float, height: float) -> Bbox:
    return Bbox.from_bounds(x - width / 2, y - height / 2, width, height)


def _padded(ends: ArrayLike, margin: float) -> Bbox:
    box = Bbox.null()
    box.update_from_data_xy(ends, ignore=True)
    return box.padded(margin)


def _overlap(box: Bbox, others: Sequence[Bbox]) -> float:
    shared = (Bbox.intersection(box, other) for other in others)
    return sum(common.width * common.height for common in shared if common is not None)


def _outside(box: Bbox, frame: Bbox) -> float:
    inside = Bbox.intersection(box, frame)
    return box.width * box.height - (inside.width * inside.height if inside is not None else 0.0)


def _wrapped(name: str) -> str:
    lines = textwrap.wrap(name, LINE_LENGTH) or [name]
    if len(lines) > LINES:
        lines = [
            *lines[: LINES - 1],
            textwrap.shorten(" ".join(lines[LINES - 1 :]), LINE_LENGTH, placeholder=" …"),
        ]
    return "\n".join(lines)


@cache
def _families() -> tuple[str, ...]:
    """The fonts to try, sign by sign: the same on every machine for Latin and simplified Chinese."""
    font_manager.fontManager.addfont(SHIPPED_FONT)
    installed = set(font_manager.fontManager.get_font_names())
    return ("DejaVu Sans", "Noto Sans SC", *[font for font in CJK_FONTS if font in installed][:1])


@cache
def drawable(name: str) -> bool:
    """Whether the fonts at hand have every sign of a name."""
    fonts = [font_manager.get_font(font_manager.findfont(family)) for family in _families()]
    return all(sign == " " or any(font.get_char_index(ord(sign)) for font in fonts) for sign in name)
