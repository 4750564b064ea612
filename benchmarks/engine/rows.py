"""The rows of the table: what each runs, against what, and the target it is held to.

To add one: a function that yields lines, and an entry in `ROWS`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.engine import others, worlds
from benchmarks.engine.accasim_rows import accasim, accasim_files
from benchmarks.engine.lines import Line, Options, Skipped, medians, waiting
from benchmarks.engine.timing import FLOOR, per_job, take_turns
from sim.decisions.policies import POLICIES

__all__ = ["ROWS", "Line", "Options", "Row", "Skipped", "policies_like"]


@dataclass(frozen=True, slots=True)
class Row:
    """A group of lines."""

    name: str
    what: str
    """For people: what runs, exactly."""
    measure: Callable[[Options], Iterator[Line | Skipped]]


def policies_like(name: str) -> list[str]:
    """The known policies whose name begins so (`easy` may come in several forms)."""
    return [policy for policy in POLICIES if policy.startswith(name)]


def _against_timeout(row: str, policy: str, cards: int, jobs: int, target: float, options: Options) -> Line:
    count = options.effort.jobs(jobs)
    world = worlds.fleet(cards, count, policy=policy)
    samples = take_turns({policy: per_job(world.run, count)}, options.effort)
    return Line(
        row, f"{policy}, {cards:,} cards, {count:,} jobs", "x timeout", samples.ratios(policy, FLOOR), target,
        us_per_job=medians(samples),
    )  # fmt: skip


def small(options: Options) -> Iterator[Line | Skipped]:
    """First come first served and shortest first on small fleets."""
    for policy in ("fifo", "sjf"):
        for cards in (8, 32):
            yield _against_timeout("small", policy, cards, 100_000, 8.0, options)


def thousand(options: Options) -> Iterator[Line | Skipped]:
    """First come first served on a thousand cards."""
    yield _against_timeout("thousand", "fifo", 1_000, 100_000, 13.0, options)


def large(options: Options) -> Iterator[Line | Skipped]:
    """Ten thousand cards, a million jobs: time and memory, each round in a fresh process."""
    count = options.effort.jobs(1_000_000)
    cards = 10_000
    answers = [_child(cards, count, options.effort.timeouts) for _ in range(options.effort.rounds)]
    case = f"fifo, {cards:,} cards, {count:,} jobs"
    yield Line(
        "large", case, "x timeout", [one["us"] / one["timeout_us"] for one in answers], 20.0,
        us_per_job={"fifo": _median([one["us"] for one in answers]),
                    FLOOR: _median([one["timeout_us"] for one in answers])},
    )  # fmt: skip
    before = _median([one["before_mb"] for one in answers])
    yield Line(
        "large", f"{case}: peak memory of the process", "MB", [one["peak_mb"] for one in answers], 600.0,
        note=f"of which {before:,.0f} MB are there before the run: the interpreter, libraries and the jobs",
    )  # fmt: skip


def backfill(options: Options) -> Iterator[Line | Skipped]:
    """Backfill against first come first served on the same jobs."""
    names = policies_like("easy")
    if not names:
        yield Skipped("backfill", "easy", "no such policy yet")
    for policy in names:
        for cards in (32, 1_000):
            count = options.effort.jobs(100_000)
            world = worlds.fleet(cards, count)
            samples = take_turns(
                {
                    "fifo": per_job(world.run, count),
                    policy: per_job(world.under(policy).run, count),
                },
                options.effort,
            )
            case = f"{policy}, {cards:,} cards, {count:,} jobs"
            yield Line(
                "backfill", case, "x fifo", samples.ratios(policy, "fifo"), 3.0, us_per_job=medians(samples)
            )


def growth(options: Options) -> Iterator[Line | Skipped]:
    """Cost of a job from a thousand jobs to a million."""
    sizes = sorted({options.effort.jobs(jobs) for jobs in (1_000, 10_000, 100_000, 1_000_000)})
    first, last = sizes[0], sizes[-1]
    made = {count: worlds.fleet(64, count) for count in sizes}
    samples = take_turns(
        {
            f"{count:,} jobs": per_job(world.run, count, repeat=max(1, min(10_000, last) // count))
            for count, world in made.items()
        },
        options.effort,
    )
    yield Line(
        "growth", f"fifo, 64 cards, {last:,} jobs", f"x {first:,} jobs",
        samples.ratios(f"{last:,} jobs", f"{first:,} jobs"), 1.5, us_per_job=medians(samples),
    )  # fmt: skip


SLOW: Mapping[str, tuple[int, int]] = {"conservative": (64, 1_000)}
"""Cards and jobs of the overload row for policies whose cost grows fast with the queue."""


def overload(options: Options) -> Iterator[Line | Skipped]:
    """Load 1.3 against load 0.7, each policy; the note says how long the queues were."""
    for policy in POLICIES:
        target = 4.0 if policy.startswith("easy") else 2.0 if policy in ("fifo", "sjf", "edf") else None
        cards, full = SLOW.get(policy, (1_000, 20_000))
        count = options.effort.jobs(full)
        loads = {f"load {load}": worlds.fleet(cards, count, load=load, policy=policy) for load in (0.7, 1.3)}
        queues = ", ".join(f"{waiting(world.run()):,.1f} at {name}" for name, world in loads.items())
        samples = take_turns(
            {name: per_job(world.run, count) for name, world in loads.items()}, options.effort
        )
        yield Line(
            "overload", f"{policy}, {cards:,} cards, {count:,} jobs", "x load 0.7",
            samples.ratios("load 1.3", "load 0.7"), target, us_per_job=medians(samples),
            note=f"jobs waiting on average: {queues}",
        )  # fmt: skip


def mm8(options: Options) -> Iterator[Line | Skipped]:
    """M/M/8 in the full engine, in Ciw and in the textbook SimPy model."""
    count = options.effort.jobs(100_000)
    submits, runs = worlds.mm8_draws(count)
    ready = worlds.queue(8, submits, runs)
    contenders = {
        "engine": per_job(ready.run, count),
        "process a job": per_job(lambda: others.process_a_job(submits, runs, 8), count),
        "engine with draws": per_job(lambda: worlds.mm8(count).run(), count),
    }
    if others.has_ciw():
        others.ciw_mm8(8)  # its import is not part of its time
        contenders["Ciw"] = per_job(lambda: others.ciw_mm8(count), count)
    samples = take_turns(contenders, options.effort)
    case, us = f"M/M/8, load 0.75, {count:,} jobs", medians(samples)
    if others.has_ciw():
        yield Line(
            "mm8", f"{case}, draws counted", "x Ciw", samples.ratios("engine with draws", "Ciw"), 0.7,
            us_per_job=us,
        )  # fmt: skip
    else:
        yield Skipped("mm8", "Ciw", "not installed: pip install -e '.[test]'")
    yield Line(
        "mm8", f"{case}, ready jobs", "x process a job", samples.ratios("engine", "process a job"), 1.3,
        us_per_job=us,
    )  # fmt: skip
    yield Line("mm8", f"{case}, ready jobs", "x timeout", samples.ratios("engine", FLOOR), us_per_job=us)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _child(cards: int, jobs: int, timeouts: int) -> dict[str, Any]:
    """One round in a fresh process: `benchmarks/engine/child.py`."""
    command = [sys.executable, "-m", "benchmarks.engine.child", str(cards), str(jobs), str(timeouts)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


ROWS: Mapping[str, Row] = {
    row.name: row
    for row in (
        Row("small", "*fleet* at load 0.7 on 8 and 32 cards; 8 cards are too few for strict fifo: it queues "
            "without end", small),
        Row("thousand", "*fleet* at load 0.7 on 1,000 cards", thousand),
        Row("large", "*fleet* at load 0.7 on 10,000 cards, each round in a fresh process; memory is the high "
            "water mark of the whole process, at the end of the run, log in hand", large),
        Row("backfill", "the same *fleet* jobs at load 0.7 under EASY backfill and under fifo", backfill),
        Row("growth", "*fleet* at load 0.7 on 64 cards, from 1,000 jobs to 1,000,000", growth),
        Row("overload", "*fleet* at load 1.3 (all jobs end) against load 0.7, on 1,000 cards; conservative "
            "backfill on 64 cards with few jobs, for its cost grows fast with the queue: each job that ends "
            "before its limit lets every reservation be looked at again (up to `look_ahead`, 100), until "
            "none moves, and each look asks the machines on which cards have become free since the last one. "
            "That is some 130 looks and 9 moves for each end at 36 jobs waiting, where a load of 0.7 has one "
            "or none",
            overload),
        Row("mm8", "M/M/8 at load 0.75 on eight machines of one card: against Ciw both draw their own jobs, "
            "against a process a job (SimPy Resource) both get ready numbers; Ciw keeps its records but is "
            "not asked for the table of them", mm8),
        Row("accasim", "AccaSim 1.1.3 (first in first out, first fit, strict as fifo), 8 machines of 8 "
            "cards, gangs as in *fleet* without failures, whole seconds; jobs handed over ready-made, so no "
            "file is parsed, and it writes none; each job must start at the same second in both. At load 0.7 "
            "hardly a job waits: what either costs a job does not depend on the length of the run (our start "
            "takes some 2 ms, 0.2 us a job), and a 25th of AccaSim's cost would be less than two bare "
            "timeouts, though a job has an arrival and an end. With a queue AccaSim looks through it at each "
            "event, and the factor grows with its length", accasim),
        Row("accasim-files", "the same jobs as in *accasim*, but as a user runs either program: from one "
            "workload file (SWF) to a file that says of each job when and where it ran, each in a fresh "
            "process, without the start of Python and its imports. AccaSim runs as in its manual, with its "
            "own reader and the outputs it has by default: the plan, one line a job, which a process that it "
            "forks writes and whose time counts, and a few lines of statistics. fleetsim imports the file "
            "(`sim.workload.imports`), runs the engine and writes a CSV with one row a stay; the tables of a "
            "run's folder, with local times and money, are not made. Each job must have waited as many "
            "seconds in both files", accasim_files),
    )
}  # fmt: skip
"""The rows by the name the command line uses."""
