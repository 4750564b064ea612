"""The page `timeline`: one run of one strategy, card by card."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd
import streamlit as st

from sim.ui.boxes import whole_box
from sim.ui.charts import DASHES, PALETTE, show_chart
from sim.ui.jobs import OUT, Job
from sim.ui.language import question_name, say, word
from sim.ui.opened import has_tables
from sim.ui.shown import Shown, named_run, run_of
from sim.ui.state import Draft, current_draft
from sim.ui.timeline_charts import Window, card_name, failure_table, gantt, gantt_table, steps
from sim.ui.timeline_data import Trace, read_trace
from sim.ui.watch import ask, forget, watch

__all__ = ["show"]

KIND = "timeline"
TRACES = OUT / ".timelines"
MOST_TRACES = 30
"""Traces of runs that stay on disk."""

LENGTHS_H = {"day": 24.0, "week": 168.0, "fortnight": 336.0, "month": 730.0, "all": math.inf}
"""Windows of time, hours."""

CARDS_AT_ONCE = 40
"""Rows of one chart."""


@dataclass(frozen=True)
class _Asked:
    """Which run is wanted."""

    file: Path
    strategy: str
    replication: int
    seed: int
    price: str | None
    title: str
    start: datetime

    @property
    def trace(self) -> Path:
        """Where its trace is kept: named by all that it follows from."""
        text = repr(
            (self.file.read_bytes(), self.strategy, self.replication, self.seed, self.price, _program())
        )
        return TRACES / f"{hashlib.blake2b(text.encode(), digest_size=10).hexdigest()}.parquet"

    def words(self, trace: Path) -> list[str | Path]:
        """The words of `fleetsim run` that write it."""
        words: list[str | Path] = ["run", self.file, "--strategy", self.strategy, "--format", "json"]
        words += ["--replication", str(self.replication), "--seed", str(self.seed), "--events", trace]
        return words if self.price is None else [*words, "--price", self.price]


def show() -> None:
    """Draw the page."""
    st.title(say("timeline.title"))
    draft = current_draft()
    shown = named_run() or run_of(draft)
    st.caption(say("timeline.text"))
    asked = _choose(draft, shown)
    place = asked.trace
    job = watch(KIND)
    if not place.is_file():
        _make(asked, place, job)
        return
    if job is not None and job.run.ended:
        forget(job)
    stamp = place.stat().st_mtime_ns
    _draw(asked, _trace(str(place), stamp))
    st.download_button(
        word("timeline.events"),
        place.read_bytes,
        f"events-{asked.replication}.parquet",
        "application/vnd.apache.parquet",
        key="timeline-events",
        help=word("timeline.events_help"),
        icon=":material/download:",
        on_click="ignore",
    )


def _choose(draft: Draft, shown: Shown | None) -> _Asked:
    """Strategy and replication of the run shown; without one, of the question in hand."""
    scenario = draft.question.scenario
    names = [strategy.name for strategy in scenario.strategies]
    best, most, file, title = names[0], scenario.experiment.replications, draft.file, scenario.name
    seed, price, start = scenario.experiment.seed, draft.question.price, scenario.local_time(0)
    if shown is not None:
        document = shown.document
        names = [one["name"] for one in document["strategies"]]
        best = document["recommendation"]["strategy"] or document["recommendation"]["nearest"] or names[0]
        most, seed, price = document["replications"], document["seed"], document["price"]
        title, start = document["scenario"], datetime.fromisoformat(document["start"])
        if has_tables(shown.folder):
            file = shown.folder / "scenario.yaml"
    left, right = st.columns((3, 1))
    strategy = left.selectbox(
        word("timeline.strategy"),
        names,
        names.index(best) if best in names else 0,
        key=f"timeline-strategy-{best}-{names}",
        persist_state="session",
    )
    replication = whole_box(
        word("timeline.replication"), 0, max(0, most - 1), 0,
        key="timeline-replication", place=right, about=word("timeline.replication_help"),
    )  # fmt: skip
    st.caption(say("timeline.of", title=question_name(title), seed=seed))
    if replication is None:
        st.stop()
    return _Asked(file, strategy or names[0], replication, int(seed), price, title, start)


def _make(asked: _Asked, place: Path, job: Job | None) -> None:
    """Ask for the run where nobody did; one that failed or was stopped is made again on request."""
    wanted = str(place)
    if job is not None and not job.run.ended and wanted in job.run.command:
        return
    broke = job is not None and job.run.ended and wanted in job.run.command and job.run.state != "done"
    if broke and not st.button(word("timeline.again"), type="primary"):
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    for old in sorted(TRACES.glob("*.parquet"), key=lambda one: one.stat().st_mtime)[:-MOST_TRACES]:
        old.unlink(missing_ok=True)
    title = word("timeline.job_title", strategy=asked.strategy, replication=asked.replication)
    if ask(KIND, title, *asked.words(place)) is not None:
        st.rerun()


def _draw(asked: _Asked, trace: Trace) -> None:
    window = _window(asked.start, trace)
    rows = _rows(trace)
    table, part = gantt_table(trace, rows, window)
    st.subheader(say("timeline.cards"))
    if part is not None:
        st.info(
            say("timeline.shares", hours=f"{part:.3g}", jobs=f"{trace.jobs:,}"), icon=":material/compress:"
        )
    else:
        st.caption(say("timeline.cards_text"))
    named = _csv(table, failure_table(trace, rows, window))
    show_chart(gantt(trace, table, rows, window), "timeline-cards", named, word("timeline.cards_alt"))
    _steps(trace.waiting, window, "waiting", PALETTE[1], DASHES[0])
    if len(trace.burst):
        _steps(trace.burst, window, "burst", PALETTE[2], DASHES[1])


def _steps(found: pd.DataFrame, window: Window, name: str, colour: str, dash: list[int]) -> None:
    st.subheader(say(f"timeline.{name}"))
    chart, table, cut = steps(found, window, word(f"timeline.{name}_axis"), colour, dash)
    if cut:
        st.caption(say("timeline.thinned"))
    named = table.assign(begin=_written(table["begin"])).rename(
        columns={"begin": word("timeline.time"), "number": word(f"timeline.{name}_axis")}
    )
    show_chart(chart, f"timeline-{name}", named, word(f"timeline.{name}_alt"))


def _window(start: datetime, trace: Trace) -> Window:
    """The part that is drawn: a length, and from when; it opens where most jobs wait."""
    lengths = [key for key, hours in LENGTHS_H.items() if hours < trace.end_h] + ["all"]
    picked = st.segmented_control(
        word("timeline.length"),
        list(dict.fromkeys(lengths)),
        default="fortnight" if "fortnight" in lengths else "all",
        required=True,
        format_func={key: word(f"timeline.length_{key}") for key in LENGTHS_H}.__getitem__,
        key=f"timeline-length-{len(lengths)}",
        persist_state="session",
    )
    hours = min(LENGTHS_H[picked or "all"], trace.end_h)
    if hours >= trace.end_h:
        return Window(start, 0.0, max(trace.end_h, 1e-6))
    days = max(1, math.ceil((trace.end_h - hours) / 24))
    whole = Window(start, 0.0, trace.end_h)
    waiting = trace.waiting
    peak = float(waiting["at"].iloc[int(waiting["number"].argmax())]) if len(waiting) else 0.0
    first = st.slider(
        word("timeline.from"),
        0,
        days,
        min(days, max(0, int((peak - hours / 2) / 24))),
        format=word("timeline.day_format"),
        help=word("timeline.from_help", day=f"{whole.time(0):%Y-%m-%d}"),
        key=f"timeline-from-{picked}-{days}",
        persist_state="session",
    )
    begin = min(24.0 * first, trace.end_h - hours)
    window = Window(start, begin, begin + hours)
    st.caption(
        say(
            "timeline.window",
            begin=f"{window.time(window.begin):%Y-%m-%d %H:%M}",
            end=f"{window.time(window.end):%Y-%m-%d %H:%M}",
        )
    )
    return window


def _rows(trace: Trace) -> list[int]:
    """The cards of one chart; of many cards, a choice of which."""
    number = len(trace.cards)
    if number <= CARDS_AT_ONCE:
        return list(range(number))
    firsts = list(range(0, number, CARDS_AT_ONCE))
    first = st.selectbox(
        word("timeline.which", number=number),
        firsts,
        format_func={
            one: word(
                "timeline.which_range",
                first=card_name(trace.cards[one]),
                last=card_name(trace.cards[min(one + CARDS_AT_ONCE, number) - 1]),
            )
            for one in firsts
        }.__getitem__,
        key=f"timeline-rows-{number}",
        persist_state="session",
    )
    return list(range(first or 0, min((first or 0) + CARDS_AT_ONCE, number)))


def _csv(table: pd.DataFrame, failures: pd.DataFrame) -> pd.DataFrame:
    """The bars, and behind them the failures, as a table for people."""
    marks = failures.rename(columns={"kind": "doing", "cause": "what", "back": "hours"})
    table = pd.concat([table, marks.assign(job="", label="")], ignore_index=True)
    names = {
        field: word(f"timeline.tip_{field}") for field in ("card", "doing", "job", "what", "hours", "label")
    }
    names |= {"begin": word("timeline.begin"), "end": word("timeline.end")}
    written = table.assign(begin=_written(table["begin"]), end=_written(table["end"]))
    return written[list(names)].rename(columns=names)


def _written(times: pd.Series) -> pd.Series:
    found: pd.Series = times.dt.strftime("%Y-%m-%d %H:%M:%S")
    return found


@st.cache_resource(max_entries=4, show_spinner=False)
def _trace(file: str, stamp: int) -> Trace:  # noqa: ARG001  # part of the key
    return read_trace(Path(file))


@st.cache_resource(show_spinner=False, max_entries=1)
def _program() -> str:
    from sim.experiments.vault import program_digest

    return program_digest()
