"""The runs of many questions at once, each made a single time, whichever questions share it.

Questions that differ in a price, or in a lease of another strategy, have runs in common: the key of a run
(`sim.experiments.vault.engine_key`) tells which. What is missing is made on as many processes as asked,
across questions, and kept in the vault, from which every question is then answered. The answers never
depend on what was made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from sim.experiments.flow import Flow
from sim.experiments.input_doubt import MOST_TWINS
from sim.experiments.parallel import Progress, run_tasks
from sim.experiments.runs import Places
from sim.experiments.sample import Sample, summarise
from sim.experiments.uncertain import TWINS, Drawer
from sim.experiments.vault import Vault, engine_key
from sim.load import Question
from sim.replication import Prepared

__all__ = ["Filled", "Point", "fill"]

BATCHES_PER_WORKER = 8
"""Pieces of work a process, so that all are busy to the end."""


@dataclass(frozen=True, slots=True)
class Point:
    """A question to be answered, and how its runs are made."""

    question: Question
    flow: Flow = field(default_factory=Flow)
    numbers: tuple[int, ...] | None = None
    """Replications that are asked for; None: the first, as many as of the other points."""


@dataclass(frozen=True, slots=True)
class Filled:
    """Where the runs of many questions came from."""

    asked: int
    """Runs of all questions together: strategies times replications times questions."""
    simulated: int
    kept: int
    """Different runs that were there already; the rest of `asked` are shared between questions."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some runs of one question: (key, strategy, number of the replication)."""

    point: Point
    tasks: tuple[tuple[str, int, int], ...]


def fill(points: Iterable[Point], replications: int, places: Places) -> Filled:
    """Make the first `replications` of every strategy of every point, or its own, unless the vault has them.

    Without a vault, or for runs made by hand, nothing is made here. Raises RunError as `run_tasks` does.
    """
    vault = places.vault
    if vault is None:
        return Filled(0, 0, 0)
    asked, seen, kept = 0, set[tuple[str, int]](), 0
    missing: list[tuple[Point, list[tuple[str, int, int]]]] = []
    for point in points:
        drawer = Drawer.of(point.question, point.flow)
        if not isinstance(drawer.prepared, Prepared):
            continue
        numbers = _numbers(point, replications)
        tasks: list[tuple[str, int, int]] = []
        for key, strategy, alike in _keyed(drawer, numbers):
            there = vault.kept(key)
            fresh = [number for number in alike if (key, number) not in seen]
            asked += len(alike)
            seen.update((key, number) for number in fresh)
            kept += sum(number in there for number in fresh)
            tasks += [(key, strategy, number) for number in fresh if number not in there]
        if tasks:
            missing.append((point, tasks))
    total = sum(len(tasks) for _, tasks in missing)
    pieces = _pieces(missing, total, places.workers)
    if pieces:
        theirs = None if places.cluster is not None else vault
        keep = partial(_keep, vault)
        told = _told(places.progress, [len(piece.tasks) for piece in pieces])
        run_tasks(partial(_made, theirs), pieces, places.workers, told, 1, None, places.cluster, keep)
    return Filled(asked, total, kept)


def _numbers(point: Point, replications: int) -> Sequence[int]:
    """The replications that the comparison of a point will ask for."""
    if point.numbers is not None:
        return point.numbers
    scenario = point.question.scenario
    if scenario.experiment.steady_state is not None:
        return (0,)
    twins = min(MOST_TWINS, replications) if scenario.uncertain is not None and replications > 1 else 0
    return (*range(replications), *(TWINS + number for number in range(twins)))


def _keyed(drawer: Drawer, numbers: Sequence[int]) -> Iterator[tuple[str, int, Sequence[int]]]:
    """Key, strategy and the numbers of the runs that have this key: all of them where no input is drawn."""
    scenario = drawer.question.scenario
    certain = scenario.uncertain is None
    for alike in (numbers,) if certain else ((number,) for number in numbers):
        _, prepared = drawer.ready(alike[0]) if alike else (None, drawer.prepared)
        for strategy in range(len(scenario.strategies)):
            yield engine_key(prepared, strategy, scenario.experiment.seed), strategy, alike


def _pieces(
    missing: Sequence[tuple[Point, list[tuple[str, int, int]]]], total: int, workers: int
) -> list[_Piece]:
    size = max(1, total // (max(1, workers) * BATCHES_PER_WORKER))
    return [
        _Piece(point, tuple(tasks[first : first + size]))
        for point, tasks in missing
        for first in range(0, len(tasks), size)
    ]


def _told(progress: Progress | None, sizes: Sequence[int]) -> Progress | None:
    """Progress in runs, from that in pieces."""
    if progress is None:
        return None

    def told(done: int, total: int, note: str = "") -> None:
        progress(sum(sizes[:done]), sum(sizes), note if done < total else "")

    return told


def _made(vault: Vault | None, piece: _Piece) -> list[tuple[str, Sample]]:
    """Make the runs of a piece; those that could not be kept here are given back."""
    drawer = Drawer.of(piece.point.question, piece.point.flow)
    made: list[tuple[str, Sample]] = []
    for key, strategy, number in piece.tasks:
        question, prepared = drawer.ready(number)
        result = drawer.flow.replicate(prepared, strategy, number, question.scenario.experiment.seed)
        sample = summarise(result, question.scenario)
        if vault is None:
            made.append((key, sample))
        else:
            vault.write(key, sample)
    return made


def _keep(vault: Vault, made: list[tuple[str, Sample]]) -> None:
    for key, sample in made:
        vault.write(key, sample)
