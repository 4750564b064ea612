"""What follows from a job's own times, and what is suspicious about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sim.units import HOUR, SECOND
from sim.workload.imports.cells import BAD, NA, Bools, Ints
from sim.workload.imports.columns import RAW, changed, ints, texts
from sim.workload.imports.settings import Settings
from sim.workload.imports.tally import Tally

__all__ = ["finished", "left_out"]

LEFT_OUT = (
    "",
    "never started: no run time",
    "asks for no card",
    "the number of cards is not known",
    "no time of submission",
    "ran for 0 s",
)
"""Why a job cannot be replayed, by code; 0 for those that can."""
_ROUNDING = 2 * SECOND
"""By so much whole seconds of start, end and run time may disagree."""


def finished(jobs: pa.Table, settings: Settings, tally: Tally) -> pa.Table:
    """Jobs with the times that follow from others, and marks of what was cut off by the dump's end."""
    submit, start, end = (ints(jobs, name) for name in ("submit", "start", "end"))
    wait, runtime = ints(jobs, "wait"), ints(jobs, "runtime")
    ended = end > BAD
    known = (start > BAD) & (submit > BAD) & (wait <= BAD)
    wait = np.where(known, start - submit, wait)
    start = np.where((start <= BAD) & (submit > BAD) & (wait > BAD) & (runtime > BAD), submit + wait, start)
    end = np.where((end <= BAD) & (start > BAD) & (runtime > BAD), start + runtime, end)
    without = (submit <= BAD) & (start > BAD)
    lines = ints(jobs, "line")
    tally.odd("no time of submission; the start stands for it", *_at(lines, without))
    submit = np.where(without, start, submit)
    codes, states = texts(jobs, "state")
    running = np.isin(
        codes, [place for place, state in enumerate(states) if state in {"running", "suspended"}]
    )
    cut = running & (runtime > BAD) & ~ended
    if "censored" in jobs.column_names:
        censored: Any = jobs.column("censored")
    elif cut.any():
        censored = ["running" if is_cut else None for is_cut in cut.tolist()]
    else:
        censored = pa.nulls(len(jobs), RAW["censored"])
    columns: dict[str, Any] = {"submit": submit, "censored": censored}
    if not {"start", "end", "wait"}.isdisjoint(jobs.column_names):  # else all three are nothing throughout
        columns |= {"start": start, "end": end, "wait": wait}
    jobs = changed(jobs, columns)
    _suspicions(jobs, settings, tally, lines, ended)
    return _with_cards(jobs, settings, tally)


def _suspicions(jobs: pa.Table, settings: Settings, tally: Tally, lines: Ints, ended: Bools) -> None:
    start, end, wait, runtime = (ints(jobs, name) for name in ("start", "end", "wait", "runtime"))
    limit, gpus = ints(jobs, "limit"), ints(jobs, "gpus")
    tally.odd("a wait below 0: started before it was submitted", *_at(lines, (wait < 0) & (wait > BAD)))
    past = (runtime > limit) & (limit > BAD)
    tally.odd("ran past its time limit (a replay ends it there)", *_at(lines, past))
    timed = ended & (start > BAD) & (runtime > BAD)
    off = np.where(timed, end - start - runtime, 0)
    clock = np.abs(np.abs(off) - HOUR) <= _ROUNDING
    tally.odd("end - start is an hour off the time run: a clock change, or suspended", *_at(lines, clock))
    tally.odd("suspended: end - start is longer than the time run", *_at(lines, (off > _ROUNDING) & ~clock))
    tally.odd("end - start is shorter than the time run", *_at(lines, (off < -_ROUNDING) & ~clock))
    tally.odd("ran for 0 s", *_at(lines, runtime == 0))
    if settings.widest is not None:
        wide = gpus > settings.widest
        tally.odd(f"wider than the largest leased machine ({settings.widest} cards)", *_at(lines, wide))
    if settings.most is not None:
        wide = gpus > settings.most
        tally.odd(f"wider than all cards that one job may use ({settings.most})", *_at(lines, wide))


def _with_cards(jobs: pa.Table, settings: Settings, tally: Tally) -> pa.Table:
    """The card of the catalogue on which a run time was measured, where the user has said which it is."""
    codes, kinds = texts(jobs, "card")
    if not kinds:
        return jobs
    named = {kind.casefold(): card for kind, card in settings.cards.items()}
    unnamed = [kind for kind in kinds if kind.casefold() not in named]
    if unnamed:
        shown = ", ".join(sorted(unnamed)[:8]) + (", ..." if len(unnamed) > 8 else "")
        tally.remark(
            f"Kinds of cards without a name of the catalogue: {shown}. Their run times hold on any card; "
            "--card KIND=CARD names one, as in --card a100=A100-40G."
        )
    if len(unnamed) == len(kinds):
        return jobs
    cards = [named.get(kind.casefold()) for kind in kinds]
    return changed(jobs, {"runtime_gpu": [cards[code] if code >= 0 else None for code in codes.tolist()]})


def _at(lines: Ints, wrong: Bools) -> tuple[list[int], int]:
    places = np.flatnonzero(wrong)
    return lines[places[:5]].tolist(), len(places)


def left_out(jobs: pa.Table) -> Ints:
    """Code of `LEFT_OUT` for each job: whether it can be replayed, and if not, why."""
    runtime, gpus, submit = (ints(jobs, name) for name in ("runtime", "gpus", "submit"))
    out = np.zeros(len(jobs), dtype=np.int64)
    for code, wrong in (
        (5, runtime == 0),
        (4, submit == NA),
        (1, runtime == NA),
        (3, gpus == NA),
        (2, gpus == 0),
    ):
        out[wrong] = code
    return out
