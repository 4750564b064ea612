"""Rows that are the same job: requeues, the same run seen twice, parts of a swapped job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sim.workload.imports.cells import BAD, NA, Ints
from sim.workload.imports.columns import changed, codes, ints, texts
from sim.workload.imports.ids import unique_ids
from sim.workload.imports.states import UNFINISHED
from sim.workload.imports.tally import Tally

__all__ = ["merge_attempts", "merge_parts", "set_orphans_aside"]


def set_orphans_aside(jobs: pa.Table, tally: Tally) -> None:
    """Steps whose job is not in the dump are no part of any job."""
    if not tally.orphans:
        return
    ids = jobs.column("id")
    known = set(pc.unique(ids).to_pylist()) if len(tally.orphans) < len(jobs) else set(ids.to_pylist())
    known |= {name.partition(":")[2] for name in known if ":" in name}
    for base, (line, count) in tally.orphans.items():
        if base not in known:
            tally.merged["steps"] -= count
            tally.aside(
                line, "step without its job", f"the job {base} of this step is not in the dump", count
            )
    tally.orphans.clear()


def merge_attempts(jobs: pa.Table, tally: Tally) -> pa.Table:
    """One job for each job id of Slurm (and user): submitted with the first attempt, run with the last.

    Rows with one start are one attempt, seen twice; of these the longer or finished one counts.
    """
    key = codes(jobs, "id")
    user, _ = texts(jobs, "user")
    key = key * (int(user.max(initial=0)) + 2) + user + 1
    start, submit, runtime = ints(jobs, "start"), ints(jobs, "submit"), ints(jobs, "runtime")
    state, states = texts(jobs, "state")
    unfinished = np.isin(state, [place for place, state in enumerate(states) if state in UNFINISHED])
    attempts, lost = np.ones(len(jobs), dtype=np.int64), np.full(len(jobs), NA, dtype=np.int64)
    wait = np.where((start > BAD) & (submit > BAD), start - submit, NA)
    censored = jobs.column("censored").to_pylist() if _some_twice(key) else []
    keep = np.ones(len(jobs), dtype=bool)
    for group in _groups(key):
        runs: dict[int, int] = {}
        for row in sorted(group, key=lambda row: (not unfinished[row], runtime[row])):
            if start[row] > BAD:
                runs[int(start[row])] = row
        ordered = [runs[moment] for moment in sorted(runs)]
        last = ordered[-1] if ordered else max(group, key=lambda row: (not unfinished[row], submit[row]))
        for row in group:
            keep[row] = row == last
        earlier = ordered[:-1]
        tally.merged["earlier attempts of requeued jobs"] += len(earlier)
        tally.merged["rows of a job seen again"] += len(group) - 1 - len(earlier)
        known = [int(submit[row]) for row in group if submit[row] > BAD]
        if ordered:
            first = ordered[0]
            wait[last] = start[first] - min(known) if known else NA
            attempts[last] = len(ordered)
            lost[last] = sum(int(runtime[row]) for row in earlier if runtime[row] > BAD) if earlier else NA
            newest = max(group, key=lambda row: submit[row])
            if start[newest] <= BAD and submit[newest] > submit[last] and unfinished[newest]:
                censored[last] = "waits to run again"
        if known:
            submit[last] = min(known)
    if keep.all():
        return jobs
    wanted = {"submit": submit, "wait": wait, "attempts": attempts, "lost": lost, "censored": censored}
    return changed(jobs, wanted).filter(pa.array(keep))


def merge_parts(jobs: pa.Table, tally: Tally) -> pa.Table:
    """SWF: the lines of the parts of a job go into the line of the whole job, or make one."""
    state, states = texts(jobs, "state")
    of_part = [place for place, state in enumerate(states) if state.startswith("partial")]
    part = np.isin(state, of_part)
    if part.any():
        runtime, end = ints(jobs, "runtime"), ints(jobs, "end")
        words: list[Any] = [states[code] for code in state.tolist()]
        keep = np.ones(len(jobs), dtype=bool)
        for group in _groups(codes(jobs, "id")):
            parts = [row for row in group if part[row]]
            whole = [row for row in group if not part[row]]
            kept = whole[0] if whole else parts[0]
            for row in parts:
                keep[row] = row == kept
            tally.merged["parts of swapped jobs"] += len(parts) - (kept in parts)
            if parts and not whole:
                runtime[kept] = sum(int(runtime[row]) for row in parts if runtime[row] > BAD)
                end[kept], words[kept] = NA, words[parts[-1]]
        words = [{"partial completed": "completed", "partial failed": "failed"}.get(w, w) for w in words]
        words = ["unknown" if word == "partial" else word for word in words]
        jobs = changed(jobs, {"runtime": runtime, "end": end, "state": words}).filter(pa.array(keep))
    return unique_ids(jobs, tally)


def _some_twice(key: Ints) -> bool:
    return len(np.unique(key)) < len(key)


def _groups(key: Ints) -> Iterator[list[int]]:
    """Rows with the same key, where there are several, in the order of the file."""
    order = np.argsort(key, kind="stable")
    edges = np.flatnonzero(np.diff(key[order])) + 1
    bounds = np.concatenate(([0], edges, [len(order)]))
    for place in np.flatnonzero(np.diff(bounds) > 1).tolist():
        yield order[bounds[place] : bounds[place + 1]].tolist()
