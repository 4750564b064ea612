"""Write docs/validation.md and its charts: what the physics predicts against what was published.

python benchmarks/validate_physics.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from theory import part_of  # beside this script

from sim.physics.constants import load_constants
from sim.physics.cross_validation import LeftOut, held_out, sources_of
from sim.physics.memory import card_memory
from sim.physics.shipped import memory_ratio, memory_rows, speed_ratio, speed_rows
from sim.physics.table import carried, measurements, read_table

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CHARTS = DOCS / "validation"
PEERS = ROOT / "benchmarks" / "peers" / "predictions.csv"

SHORT = {
    "QwenLM/Qwen": "Qwen",
    "modelscope/ms-swift": "ms-swift",
    "Lightning-AI/litgpt": "litgpt",
    "AnswerDotAI/fsdp_qlora": "Answer.AI",
    "mosaicml/llm-foundry": "llm-foundry",
}

REASONS = {
    "m0115": "ChatGLM3's own attention stores scores at this length; the row says flash attention",
    "m0114": "ChatGLM3's own attention stores scores at this length; the row says flash attention",
    "m0130": "twice its neighbours of the same model: one very long sample, or scores stored",
    "m0145": "samples near the limit are rare in this data set, so the pool is less broken up than assumed",
    "m0143": "more than the same job at twice the length (m0144): a peak of one odd batch",
    "m0161": "stored scores of eager attention fit the pool better than the ragged factor says",
    "m0100": "samples near the limit are rare in this data set",
    "m0105": "samples near the limit are rare in this data set",
    "m0383": "published time rises threefold from 4096 to 8192 tokens, where attention can at most double it",
    "m0342": "published time rises threefold from 4096 to 8192 tokens, where attention can at most double it",
    "m0448": "its siblings on 16, 64 and 128 cards reach 54-56 % of peak, this row 45 %",
    "m0023": "published speed equal at 4096 and 8192 tokens, from times rounded to 0.1 s",
    "m0052": "14B at 256 tokens: launches and arithmetic cross here",
    "m0088": "GPTQ of 72B: scales and head are stored smaller than assumed",
    "m0089": "GPTQ of 72B: above what the weights alone take at one byte, so part was stored smaller",
}

HAND_TYPED = "Why a row is far off is our reading of its source, not a measurement."


def errors(ratio: np.ndarray) -> tuple[int, float, float]:
    """Rows, median and 90th percentile of the absolute relative error."""
    off = np.abs(ratio - 1)
    return len(off), float(np.median(off)), float(np.quantile(off, 0.9))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown; the first column is text, the others numbers."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "--:|" * (len(head) - 1)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def percent(value: float) -> str:
    """A share as a percentage with one digit."""
    return f"{100 * value:.1f} %"


def by(
    names: np.ndarray, parts: Sequence[np.ndarray], shown: Callable[[str], str] = str
) -> list[list[object]]:
    """One row a name: count, and median and 90th percentile of each ratio."""
    rows: list[list[object]] = []
    for name in ["all", *np.unique(names)]:
        here = np.ones(len(names), dtype=bool) if name == "all" else names == name
        cells: list[object] = [shown(str(name)), int(here.sum())]
        for part in parts:
            _, median, p90 = errors(part[here])
            cells += [f"{100 * median:.1f} / {100 * p90:.1f}"]
        rows.append(cells)
    return rows


def section(kind: str, seen: np.ndarray, left: LeftOut) -> list[str]:
    """Tables of one kind of figure, by source, method and card."""
    head = ("", "rows", "fitted", "group left out", "source left out")
    parts = (seen, left.by_group, left.by_source)
    measured = left.table
    lines = [
        f"## {kind}",
        "",
        (
            "Absolute relative error in per cent, median / 90th percentile. *Fitted*: by the shipped "
            "constants. "
            "*Group left out*: the row's source, model and method were not in the fit. *Source left out*: "
            "nothing "
            "of the row's source was, and its framework counted as unknown."
        ),
        "",
    ]
    lines += table(head, by(sources_of(measured), parts, lambda name: SHORT.get(name, name)))
    lines += table(head, by(np.array(measured.column("method")), parts))
    if kind == "Speed":
        lines += table(head, by(measured.cases.gpu, parts))
    return [*lines, *worst(left, seen), ""]


def worst(left: LeftOut, seen: np.ndarray, count: int = 10) -> list[str]:
    """The rows that the shipped constants give back worst, each with a reason."""
    order = np.argsort(-np.abs(np.log(seen)))[:count]
    ids, sources = left.table.column("id"), sources_of(left.table)
    rows = [
        (
            ids[row],
            SHORT.get(str(sources[row]), sources[row]),
            (
                f"{left.table.cases.model[row]}, {left.table.column('method')[row]}, "
                f"{left.table.cases.micro_batch[row]:.0f} x {left.table.cases.seq_len[row]:.0f}"
            ),
            f"{100 * (seen[row] - 1):+.0f} %",
            REASONS.get(ids[row], "no reason found"),
        )
        for row in order
    ]
    return [f"The worst rows. {HAND_TYPED}", "", *table(("row", "source", "job", "off", "why"), rows)]


def verdicts() -> list[str]:
    """How often fit or not comes out right, on rows with a card of known memory."""
    rows = measurements()
    notes = np.array([note.lower() for note in rows.column("notes")])
    refused = np.array(["out of memory" in note and "before" not in note for note in notes])
    ran = rows.for_memory & np.isfinite(rows.memory_gib)
    known = np.isfinite(rows.capacity_gib) & (ran | refused)
    needs = card_memory(rows.cases.replace(ragged=False), load_constants().memory).total
    fits = needs <= rows.capacity_gib
    right = np.where(refused, ~fits, fits)
    near = np.abs(needs / rows.capacity_gib - 1) <= 0.1
    lines = ["## Fits or not", ""]
    lines += table(
        ("rows", "count", "verdict right", "outside 10 % of the card", "right there"),
        [
            (
                name,
                int(part.sum()),
                int((right & part).sum()),
                int((part & ~near).sum()),
                int((right & part & ~near).sum()),
            )
            for name, part in (("ran", known & ran), ("out of memory", known & refused))
        ],
    )
    wrong = np.flatnonzero(known & ~right)
    if len(wrong):
        named = ", ".join(
            f"{rows.column('id')[row]} ({needs[row]:.1f} of {rows.capacity_gib[row]:.1f} GiB)"
            for row in wrong
        )
        lines += [f"Wrong: {named}.", ""]
    return lines


def traced() -> list[str]:
    """Allocated bytes of traced models, and the public estimators on the same rows."""
    rows = read_table(carried("traced_memory.csv"))
    ratio = memory_ratio(rows, load_constants().memory)
    method = np.array(rows.column("method"))
    lines = [
        "## Allocated bytes of traced models",
        "",
        "Real Hugging Face models run under fake tensors: every tensor counted, no allocator and no card.",
        "",
    ]
    cells = [
        (
            str(name),
            int(here.sum()),
            *(f"{100 * value:.3f} %" for value in (m, p, float(np.abs(ratio[here] - 1).max()))),
        )
        for name in np.unique(method)
        for here in [method == name]
        for _, m, p in [errors(ratio[here])]
    ]
    return [*lines, *table(("method", "rows", "median", "90th percentile", "worst"), cells)]


def peers() -> list[str]:
    """Public estimators and this program on the rows that each can express."""
    told = pd.read_csv(PEERS)
    lines = [
        "## Beside public estimators",
        "",
        (
            "On the rows that a tool can express; this program on the same rows, fitted / group left out. "
            "How "
            "their options were set stands in `benchmarks/peers/README.md`. The traced rows were looked at "
            "while "
            "the structure was written, so they are no held-out test of it."
        ),
        "",
    ]
    ours = {name: _ours(name) for name in ("memory", "speed")}
    exact = read_table(carried("traced_memory.csv"))
    exact_ratio = pd.Series(memory_ratio(exact, load_constants().memory), index=exact.column("id"))
    truth = {
        **{row["id"]: row for row in carried("measurements.csv")},
        **{row["id"]: row for row in carried("traced_memory.csv")},
    }
    cells = []
    for tool in sorted(told["tool"].unique()):
        for what, column, field in (
            ("memory", "predicted_peak_mem_gib", "peak_mem_gib"),
            ("speed", "predicted_tokens_per_s", "tokens_per_s_total"),
            ("traced memory", "predicted_peak_mem_gib", "peak_mem_gib"),
        ):
            rows = told[(told["tool"] == tool) & told[column].notna()]
            seen = ours["speed" if what == "speed" else "memory"]
            index = exact_ratio.index if what.startswith("traced") else seen.index
            rows = rows[rows["id"].isin(index)]
            if rows.empty:
                continue
            published = np.array([float(truth[name][field]) for name in rows["id"]])
            _, median, p90 = errors(rows[column].to_numpy() / published)
            if what.startswith("traced"):
                _, own, own90 = errors(exact_ratio.loc[rows["id"]].to_numpy())
                mine = f"{100 * own:.2f} / {100 * own90:.2f}"
            else:
                both = [errors(seen.loc[rows["id"], key].to_numpy()) for key in ("fitted", "left")]
                mine = "; ".join(f"{100 * m:.1f} / {100 * p:.1f}" for _, m, p in both)
            cells.append((f"{tool}, {what}", len(rows), f"{100 * median:.1f} / {100 * p90:.1f}", mine))
    return [*lines, *table(("tool and figure", "rows", "its error, %", "ours, %"), cells)]


def _ours(kind: str) -> pd.DataFrame:
    left = held_out(kind)
    constants = load_constants()
    seen = (
        memory_ratio(left.table, constants.memory)
        if kind == "memory"
        else speed_ratio(left.table, constants.speed)
    )
    return pd.DataFrame({"fitted": seen, "left": left.by_group}, index=left.table.column("id"))


def chart(kind: str, left: LeftOut, measured: np.ndarray, unit: str, name: str) -> None:
    """Predicted against published, each row by a fit that had not seen its group."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), constrained_layout=True)
    sources = sources_of(left.table)
    for place, ratio, title in (
        (axes[0], left.by_group, "group left out"),
        (axes[1], left.by_source, "whole source left out"),
    ):
        low, high = measured.min() * 0.8, measured.max() * 1.25
        place.fill_between([low, high], [0.8 * low, 0.8 * high], [1.25 * low, 1.25 * high], color="0.92")
        place.plot([low, high], [low, high], color="0.4", linewidth=1)
        for color, source in zip(plt.get_cmap("tab10").colors, np.unique(sources), strict=False):
            here = sources == source
            label = f"{SHORT.get(str(source), source)} ({here.sum()})"
            place.scatter(
                measured[here], (measured * ratio)[here], s=22, color=color, alpha=0.75, label=label
            )
        place.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), title=title)
        if high / low < 100:
            marks = [tick for tick in (5, 10, 20, 40, 80) if low <= tick <= high]
            for axis in (place.xaxis, place.yaxis):
                axis.set_major_locator(FixedLocator(marks))
                axis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.set_minor_formatter(NullFormatter())
        place.set_xlabel(f"published {unit}")
        place.set_ylabel(f"predicted {unit}")
        place.legend(frameon=False, fontsize=9)
    figure.suptitle(f"{kind}: predicted against published; grey band: within 25 %")
    figure.savefig(CHARTS / name, dpi=110, metadata={"Software": None})
    plt.close(figure)


def methods_chart(memory: LeftOut, speed: LeftOut) -> None:
    """Errors by method and by source, each row by a fit that had not seen its group."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    for place, left, title in ((axes[0], memory, "memory"), (axes[1], speed, "speed")):
        method, source = np.array(left.table.column("method")), sources_of(left.table)
        names = [("method", name, method == name) for name in np.unique(method)]
        names += [("source", SHORT.get(str(name), str(name)), source == name) for name in np.unique(source)]
        data = [100 * (left.by_group[here] - 1) for _, _, here in names]
        place.boxplot(data, orientation="horizontal", whis=(10, 90), sym=".", widths=0.6)
        place.set_yticks(range(1, len(names) + 1), [f"{label} ({here.sum()})" for _, label, here in names])
        place.axvline(0, color="0.5", linewidth=1)
        place.set_xlabel(
            "predicted over published - 1, % (box: quartiles, whiskers: 10th and 90th percentile)"
        )
        place.xaxis.label.set_size(8)
        place.set_title(f"{title}: group left out")
    figure.suptitle("Box: quartiles; whiskers: 10th and 90th percentile; rows in brackets")
    figure.savefig(CHARTS / "errors-by-kind.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Write the page and the charts."""
    CHARTS.mkdir(parents=True, exist_ok=True)
    constants = load_constants()
    memory, speed = held_out("memory"), held_out("speed")
    seen = {
        "memory": memory_ratio(memory_rows(), constants.memory),
        "speed": speed_ratio(speed_rows(), constants.speed),
    }
    chart("Memory", memory, memory.table.memory_gib, "GiB a card", "memory.png")
    chart("Speed", speed, speed.table.tokens_per_s, "tokens/s", "speed.png")
    methods_chart(memory, speed)
    lines = [
        "# Validation of the physics",
        "",
        (
            "Written by `python benchmarks/validate_physics.py` from the tables that the program carries "
            "(`sim/physics/facts`, each row with its source). Nothing here is typed but the reasons."
        ),
        "",
        (
            "How far to trust the held-out columns: the fits are blind to what is left out, but the form of "
            "the "
            "model was chosen while looking at all rows, so they flatter it somewhat. Memory rests on four "
            "sources, "
            "speed on three. No row is at hand for speed on T4, V100S, 2080 Ti, MIG slices or over 10GbE; "
            "such "
            "figures are tagged `extrapolated`."
        ),
        "",
        *section("Memory", seen["memory"], memory),
        "![Memory: predicted against published](validation/memory.png)",
        "",
        *section("Speed", seen["speed"], speed),
        "![Speed: predicted against published](validation/speed.png)",
        "",
        "![Errors by method and source](validation/errors-by-kind.png)",
        "",
        *verdicts(),
        *traced(),
        *peers(),
    ]
    page = DOCS / "validation.md"
    theory = part_of(page.read_text(encoding="utf-8")) if page.exists() else ""
    text = "\n".join(lines).rstrip() + "\n" + (f"\n{theory}\n" if theory else "")
    page.write_text(text, encoding="utf-8", newline="\n")
    print(f"written: docs/validation.md, {len(list(CHARTS.glob('*.png')))} charts")


if __name__ == "__main__":
    main()
