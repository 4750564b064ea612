"""Slurm: dumps of `sacct -p` and `sacct -P`, any columns in any order, with or without a header.

A job is a row whose id is no step; a row of pending tasks `900_[3-9]` is as many jobs. Steps repeat
the job's resources and are never added to them. Elapsed is the time on cards, without suspension;
End - Start is taken only where it is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from sim.units import MINUTE, SECOND
from sim.workload.imports.cells import (
    BAD,
    NA,
    Bools,
    Ints,
    Memo,
    clock_duration,
    decimals,
    memory_gib,
    micros,
    strings,
)
from sim.workload.imports.clock import Clock, Times, settle
from sim.workload.imports.columns import LONGEST_TEXT, table
from sim.workload.imports.jobids import ONE_JOB, JobId, tasks_of
from sim.workload.imports.sacct_block import Block
from sim.workload.imports.sacct_rows import Layout, Rows, layout_of, rows_of
from sim.workload.imports.settings import Settings, zone_of
from sim.workload.imports.source import Source
from sim.workload.imports.states import UNKNOWN, state_of
from sim.workload.imports.tally import Tally
from sim.workload.imports.tres import Cards, cards_of

__all__ = ["read_sacct"]

MOST_ADDED = 1_000_000
"""Jobs that pending arrays may add in one dump."""


def read_sacct(source: Source, settings: Settings, tally: Tally) -> Iterator[pa.Table]:
    """Jobs of a dump, block by block."""
    layout = layout_of(source, settings)
    team = settings.team or ("Account" if "account" in layout.columns else "User")
    if team.lower() in layout.columns:
        tally.remark(f"The team of a job is its {team}; another column is named by --team-column.")
    if layout.find("alloctres", "reqtres", "allocgres", "reqgres") is None:
        tally.remark("No column says how many cards a job had (AllocTRES, ReqTRES, AllocGRES, ReqGRES).")
    reader = _Reader(layout, team.lower(), Clock(zone_of(settings.timezone)), tally)
    for rows in rows_of(source, layout, tally):
        if rows.cells:
            yield reader.jobs(rows)


_TEXTS = (("user", "user"), ("name", "jobname"), ("queue", "partition"))


@dataclass(slots=True)
class _Reader:
    layout: Layout
    team: str
    clock: Clock
    tally: Tally
    spans: Memo[int] = field(default_factory=lambda: Memo(clock_duration))
    states: Memo[str | None] = field(default_factory=lambda: Memo(state_of))
    cards: Memo[Cards] = field(default_factory=lambda: Memo(cards_of))
    memory: Memo[tuple[float, str]] = field(default_factory=lambda: Memo(memory_gib))

    def jobs(self, rows: Rows) -> pa.Table:
        """The jobs of one block."""
        block = Block(self.layout, rows.cells, rows.lines, self.tally)
        raw = block.cells("cluster") or ()
        ids = self._ids(block)
        submit, start, end = (self.clock.read(strings(block.cells(n) or block.empty)) for n in _MOMENTS)
        for name, times in zip(_MOMENTS, (submit, start, end), strict=True):
            block.refuse(times.first == BAD, "time", name)
        elapsed = self._elapsed(block)
        twice = settle(submit, start, end, elapsed)
        self.tally.odd("a time in the hour that comes twice (clocks go back)", block.at(twice))
        columns = {
            "line": np.array(block.lines, dtype=np.int64),
            "submit": submit.first,
            **self._course(block, start, end, elapsed),
            "limit": self._limits(block),
            **self._needs(block),
        }
        for name, source in (("team", self.team), *_TEXTS):
            cells = block.cells(source)
            if cells is not None:
                columns[name] = [cell.strip()[:LONGEST_TEXT] for cell in cells]
        names = block.cells("jobid", "jobidraw") or []
        if raw and len(set(raw)) > 1:
            names = [f"{cluster}:{name}" for cluster, name in zip(raw, names, strict=True)]
        return _expanded(table({"id": names, **columns}), ids, block.kept, self.tally)

    def _ids(self, block: Block) -> list[JobId | None]:
        ids = [tasks_of(cell.strip()) for cell in block.cells("jobid", "jobidraw") or []]
        block.refuse(np.array([one is None for one in ids], dtype=bool), "job id", "JobID")
        if all(one is ONE_JOB for one in ids):
            return ids
        limited = [(one, line) for one, line in zip(ids, block.lines, strict=True) if one and one.at_once]
        for one, line in limited:
            kind = f"pending tasks of an array of which at most {one.at_once} may run at once: not simulated"
            self.tally.odd(kind, [line], one.most)
        cut = [line for one, line in zip(ids, block.lines, strict=True) if one and one.cut]
        self.tally.odd("a list of tasks that sacct cut off (...)", cut)
        return ids

    def _elapsed(self, block: Block) -> Ints:
        raw, text = block.cells("elapsedraw"), block.cells("elapsed")
        elapsed = np.full(len(block.lines), NA, dtype=np.int64)
        if raw is not None:
            elapsed = micros(decimals(strings(raw)), SECOND)
            block.refuse(elapsed == BAD, "duration", "ElapsedRaw")
        rest = np.flatnonzero(elapsed <= BAD)
        if text is not None and len(rest):
            read = np.array(self.spans.column(text[place] for place in rest.tolist()), dtype=np.int64)
            wrong = np.zeros(len(elapsed), dtype=bool)
            wrong[rest] = read == BAD
            block.refuse(wrong, "duration", "Elapsed")
            elapsed[rest] = read
        return elapsed

    def _course(self, block: Block, start: Times, end: Times, elapsed: Ints) -> dict[str, Any]:
        """State, start, end, run time and whether it was complete."""
        cells = block.cells("state")
        found = [None] * len(block.lines) if cells is None else self.states.column(cells)
        if cells is not None:
            strange = [line for line, state in zip(block.lines, found, strict=True) if state is None]
            self.tally.odd("a state that is no state of Slurm", strange)
        states = np.array([state or UNKNOWN for state in found], dtype=object)
        between = np.where((start.first > BAD) & (end.first > BAD), end.first - start.first, NA)
        runtime = np.where(elapsed > BAD, elapsed, np.where(between >= 0, between, NA))
        has_start = block.cells("start") is not None
        # a pending job may have a start that is planned; one cancelled in the queue has Start = End
        waiting = np.isin(states, ("pending", "requeued")) | (
            has_start & (start.first <= BAD) & (runtime <= 0)
        )
        waiting |= (states == "cancelled") & (runtime == 0)
        runtime = np.where(waiting, NA, runtime)
        running = np.isin(states, ("running", "suspended")) & (runtime > BAD)
        return {
            "start": np.where(waiting, NA, start.first),
            "end": np.where(waiting & (states != "cancelled"), NA, end.first),
            "runtime": runtime,
            "state": states.tolist(),
            "censored": ["running" if cut else None for cut in running.tolist()],
        }

    def _limits(self, block: Block) -> Ints:
        raw, text = block.cells("timelimitraw"), block.cells("timelimit")
        limits = np.full(len(block.lines), NA, dtype=np.int64)
        if raw is not None:
            limits = micros(decimals(strings(raw)), MINUTE)
        if text is not None:
            limits = np.where(limits <= BAD, np.array(self.spans.column(text), dtype=np.int64), limits)
        self.tally.odd("a time limit that cannot be read, taken as none", block.at(limits == BAD))
        return np.where(limits > 0, limits, NA)

    def _needs(self, block: Block) -> dict[str, Any]:
        """Cards and host memory."""
        nodes = block.numbers("nnodes", "allocnodes", "reqnodes")
        found: list[Cards] = [Cards(None)] * len(block.lines)
        for name in ("alloctres", "allocgres", "reqtres", "reqgres"):
            cells = block.cells(name)
            if cells is not None:
                read = self.cards.column(cells)
                if name == "reqgres":
                    read = [_times(one, count) for one, count in zip(read, nodes.tolist(), strict=True)]
                found = [
                    have if have.count is not None else new for have, new in zip(found, read, strict=True)
                ]
        if block.cells("allocgres", "reqgres") is not None:
            found = [Cards(0) if one.count is None and not one.fault else one for one in found]
        bad = [one.fault.startswith("bad") for one in found]
        block.refuse(np.array(bad, dtype=bool), "cards", "TRES", [one.fault for one in found])
        for fault in dict.fromkeys(
            one.fault for one in found if one.fault and not one.fault.startswith("bad")
        ):
            self.tally.odd(
                fault, [line for line, one in zip(block.lines, found, strict=True) if one.fault == fault]
            )
        counts = np.array([NA if one.count is None else one.count for one in found], dtype=np.int64)
        slices = np.array([np.nan if one.slice_gib is None else one.slice_gib for one in found])
        needs = {"gpus": counts, "card": [one.kind or None for one in found], "memory_gib": slices}
        memory = block.cells("reqmem")
        if memory is not None:
            needs["host_memory_gib"] = self._memory(memory, block, nodes)
        return needs

    def _memory(self, cells: Sequence[str], block: Block, nodes: Ints) -> Any:
        """Host memory of the whole job; `c` a core, `n` a node, else as it stands."""
        read = self.memory.column(cells)
        cores = block.numbers("alloccpus", "ncpus", "reqcpus")
        if any(mark == "c" for _, mark in read):
            for name in ("alloctres", "reqtres"):  # cpu=8 stands there as well
                found = [_CORES.search(cell) for cell in block.cells(name) or block.empty]
                cores = np.where(cores <= BAD, [int(one[1]) if one else NA for one in found], cores)
        self.tally.odd(
            "a host memory that cannot be read",
            [line for line, (gib, _) in zip(block.lines, read, strict=True) if gib == np.inf],
        )
        of = {"c": cores, "n": nodes}
        sizes = np.array([gib for gib, _ in read])
        for letter, counts in of.items():
            here = np.array([mark == letter for _, mark in read], dtype=bool)
            known = np.where(counts > 0, counts, np.nan if letter == "c" else 1)
            sizes = np.where(here, sizes * known, sizes)
        return sizes


_CORES = re.compile(r"(?:^|,)cpu=(\d{1,9})(?:,|$)", re.ASCII)
_MOMENTS = ("submit", "start", "end")


def _times(one: Cards, nodes: int) -> Cards:
    """ReqGRES is what each node shall have."""
    if one.count is None or nodes <= 1:
        return one
    return Cards(one.count * nodes, one.kind, one.slice_gib, one.fault)


def _expanded(jobs: pa.Table, ids: Sequence[JobId | None], kept: Bools, tally: Tally) -> pa.Table:
    """One row a task of a pending range; rows that were refused are left out."""
    if kept.all() and not any(one is not None and one.ranges is not None for one in ids):
        return jobs
    places: list[int] = []
    names: list[str] = []
    given = jobs.column("id").to_pylist()
    lines = jobs.column("line").to_pylist()
    for place in np.flatnonzero(kept).tolist():
        one = ids[place]
        if one is None or one.ranges is None:
            places.append(place)
            names.append(given[place])
            continue
        more = one.most - 1
        if tally.added["tasks of pending arrays"] + more > MOST_ADDED:
            reason = (
                f"{given[place]} has {one.most:,} tasks; pending arrays may add {MOST_ADDED:,} jobs in all"
            )
            tally.aside(lines[place], "too many tasks", reason)
            continue
        tasks = one.tasks()
        tally.added["tasks of pending arrays"] += len(tasks) - 1
        places += [place] * len(tasks)
        stem = given[place].partition("_")[0]
        names += [f"{stem}_{task}" for task in tasks]
    expanded = jobs.take(pa.array(places, type=pa.int64()))
    return expanded.set_column(expanded.schema.get_field_index("id"), "id", pa.array(names, type=pa.string()))
