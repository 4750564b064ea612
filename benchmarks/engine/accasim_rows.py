"""AccaSim beside the engine: on ready jobs, and from a workload file to a file of started jobs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.engine import others, swf, worlds
from benchmarks.engine.lines import Line, Options, Skipped, medians, waiting
from benchmarks.engine.timing import per_job, take_turns
from sim.units import SECOND

__all__ = ["accasim", "accasim_files"]

CARDS, JOBS, TARGET = 64, 10_000, 25.0
LOADS = (0.7, 1.1)


def accasim(options: Options) -> Iterator[Line | Skipped]:
    """AccaSim on the same ready jobs; it must start each at the same second."""
    why = others.accasim_works(options.accasim)
    if why:
        yield Skipped("accasim", "first in, first out, 64 cards", why)
        return
    count = options.effort.jobs(JOBS)
    for load in LOADS:
        world = worlds.whole_seconds(CARDS, count, load=load)
        log = world.run()
        wanted = [(record.start_us or 0) // SECOND for record in log.jobs]

        def peer(world: worlds.World = world, wanted: list[int] = wanted) -> float:
            seconds, starts = others.accasim_starts(options.accasim, world, CARDS)
            if starts != wanted:
                msg = "AccaSim starts jobs at other times: these are not the same runs"
                raise RuntimeError(msg)
            return seconds / count * 1e6

        samples = take_turns({"engine": per_job(world.run, count), "AccaSim": peer}, options.effort)
        yield Line(
            "accasim", f"fifo, {CARDS} cards, load {load}, {count:,} jobs", "x faster",
            samples.ratios("AccaSim", "engine"), TARGET, at_least=True, us_per_job=medians(samples),
            note=f"{waiting(log):,.1f} jobs wait on average",
        )  # fmt: skip


def accasim_files(options: Options) -> Iterator[Line | Skipped]:
    """Both from one workload file to a file of started jobs; each job must have waited as long in both."""
    why = others.accasim_works(options.accasim)
    if why:
        yield Skipped("accasim-files", "first in, first out, 64 cards, from a file to a file", why)
        return
    count = options.effort.jobs(JOBS)
    for load in LOADS:
        world = worlds.whole_seconds(CARDS, count, load=load)
        log = world.run()
        pairs = zip(world.jobs.jobs, log.jobs, strict=True)
        wanted = {job.id + 1: ((record.start_us or 0) - job.submit_us) // SECOND for job, record in pairs}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "jobs.swf"
            swf.write_swf(world, file)
            ours = _checked(lambda file=file: swf.fleetsim_waits(file, CARDS), wanted)
            peer = _checked(lambda file=file: swf.accasim_waits(options.accasim, file, CARDS), wanted)
            samples = take_turns({"fleetsim": ours, "AccaSim": peer}, options.effort)
        yield Line(
            "accasim-files", f"fifo, {CARDS} cards, load {load}, {count:,} jobs, file to file", "x faster",
            samples.ratios("AccaSim", "fleetsim"), TARGET, at_least=True, us_per_job=medians(samples),
            note=f"{waiting(log):,.1f} jobs wait on average",
        )  # fmt: skip


def _checked(run: Callable[[], swf.Answer], wanted: swf.Waits) -> Callable[[], float]:
    """A contender that also looks whether it did the same work: CPU microseconds a job."""

    def once() -> float:
        seconds, waits = run()
        if waits != wanted:
            msg = "jobs wait for other times: these are not the same runs"
            raise RuntimeError(msg)
        return seconds / len(wanted) * 1e6

    return once
