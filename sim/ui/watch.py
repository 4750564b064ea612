"""Commands at work, as a page shows them: progress, place in the queue, a way to stop.

A page calls `follow(job)` after it submitted a command, and `watch(kind)` where its progress is to stand.
The address holds the ids (`job=`), so a refresh, a second tab or a link sees the same commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from sim.ui import amounts
from sim.ui.address import put
from sim.ui.jobs import AT_ONCE, FullError, Job, jobs, sim_command
from sim.ui.language import say, word
from sim.ui.metric_words import cell, metric_name, named
from sim.ui.runner import Narrowing
from sim.ui.safe import literal
from sim.ui.told_lines import message_told

__all__ = ["ask", "follow", "followed", "forget", "show_queue", "watch"]

EVERY_S = 0.5
"""Seconds between two looks at a command."""

MOST_FOLLOWED = 6
"""Commands that one address holds."""

SHOWN_SO_FAR = 12
"""Strategies whose intervals are shown while they narrow."""


def ask(kind: str, title: str, *words: str | Path) -> Job | None:
    """Submit a command of the program and follow it; None, and said so, where too many wait already."""
    try:
        job = jobs().submit(kind, title, sim_command(*words))
    except FullError:
        st.error(say("watch.full"))
        return None
    follow(job)
    return job


def follow(job: Job) -> None:
    """Keep a command in the address; an older one of its kind leaves it (and goes on, if it runs)."""
    known = [one for one in map(jobs().get, _ids()) if one is not None and one.kind != job.kind]
    _write([*(one.id for one in known), job.id][-MOST_FOLLOWED:])


def followed(kind: str) -> Job | None:
    """The command of this kind that the address names, ended or not; nothing is drawn."""
    found = [job for job in map(jobs().get, _ids()) if job is not None and job.kind == kind]
    return found[-1] if found else None


def forget(job: Job, run: str | None = None) -> None:
    """Take a command out of the address, once its result was taken over or its message was read.

    `run` names the run that is shown in its place.
    """
    parts = {"job": ",".join(one for one in _ids() if one != job.id)}
    put(parts if run is None else {**parts, "run": run})


def watch(kind: str) -> Job | None:
    """Show the command of this kind that the address names: its progress, or why there is no result.

    Returns it, ended or not; None where there is none. The page is drawn again when it ends; its
    document is then `job.run.document`, its results lie in `job.run.folder`.
    """
    job = followed(kind)
    if job is None:
        _lost()
        return None
    if not job.run.ended:
        _progress(job.id)
    elif job.run.state == "failed":
        st.error(literal(message_told(job.run.message)))
    elif job.run.state == "stopped":
        st.info(say("watch.stopped", title=job.title))
    return job


def show_queue() -> None:
    """One line about the queue of this server, where anything runs or waits."""
    running, waiting = len(jobs().running()), len(jobs().waiting())
    if running or waiting:
        st.caption(say("watch.queue", running=running, places=AT_ONCE, waiting=waiting))


def _ids() -> list[str]:
    return [one for one in str(st.query_params.get("job", "")).split(",") if one][-MOST_FOLLOWED:]


def _write(ids: Sequence[str]) -> None:
    put({"job": ",".join(ids)})


def _lost() -> None:
    """Say once that a command of the address is not known to this server, and drop it."""
    known = [name for name in _ids() if jobs().get(name) is not None]
    if len(known) < len(_ids()):
        st.info(say("watch.lost"))
        _write(known)


@st.fragment(run_every=EVERY_S)
def _progress(name: str) -> None:
    job = jobs().get(name)
    if job is None or job.run.ended:
        st.rerun(scope="app")
    with st.container(border=True):
        line, button = st.columns([5, 1], vertical_alignment="center")
        with line:
            _bar(job)
        if button.button(
            word("watch.stop"), key=f"stop-{name}", width="stretch", help=word("watch.stop_help")
        ):
            job.run.cancel()
        if others := job.others(_window()):
            st.caption(say("watch.others", number=others))
        if job.run.note:
            st.caption(say("watch.note", note=named(job.run.note)))
        _so_far(job.run.so_far)


def _window() -> str:
    """What tells this window of a browser from other ones, as long as it is open."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def _bar(job: Job) -> None:
    run = job.run
    if run.queued:
        st.progress(0.0, say("watch.waiting", title=job.title, ahead=jobs().place(job), running=AT_ONCE))
    elif run.state == "stopped":
        st.progress(0.0, say("watch.stopping", title=job.title))
    elif not run.total:
        st.progress(0.0, say("watch.starting", title=job.title))
    else:
        parts = [say("watch.done", title=job.title, done=f"{run.done:,}", total=f"{run.total:,}")]
        if run.rate is not None:
            parts.append(say("watch.rate", rate=f"{run.rate:.3g}"))
        if run.left_s is not None:
            parts.append(say("watch.left", left=_clock(run.left_s)))
        st.progress(min(1.0, run.done / run.total), " · ".join(parts))


def _clock(seconds: float) -> str:
    if seconds < 90:
        return word("watch.seconds", number=f"{max(1, seconds):.0f}")
    return (
        amounts.hours(seconds / 3600)
        if seconds >= 5400
        else word("watch.minutes", number=f"{seconds / 60:.0f}")
    )


def _so_far(found: Sequence[Narrowing]) -> None:
    """The intervals as they narrow."""
    rows: dict[str, dict[str, str]] = {}
    for one in found:
        row = rows.setdefault(one.strategy, {word("watch.strategy"): one.strategy})
        row.pop(word("watch.runs"), None)  # the last column
        row[metric_name(one.metric)] = cell(one.mean, one.low, one.high, one.unit)
        row[word("watch.runs")] = f"{one.n:,}"
    if rows and len(rows) <= SHOWN_SO_FAR:
        st.caption(say("watch.so_far"))
        st.dataframe(pd.DataFrame(list(rows.values())), hide_index=True, width="stretch")
