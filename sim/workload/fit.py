"""A workload learned from a record: one timed class a team, with arrivals, cards, run times and ends."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from sim.errors import InputError, Problem
from sim.model.shapes import Quantiles
from sim.model.timed import Again, Alike, JobEnd, TimedClass, TimedKind
from sim.model.values import Distribution, Quantity
from sim.workload.arrivals import Ints
from sim.workload.fit_arrivals import ArrivalFit, batch_window, batches_of, fit_arrivals
from sim.workload.fit_likeness import fit_alike
from sim.workload.fit_retries import RetryFit, fit_retries
from sim.workload.fit_runtimes import RuntimeFit, fit_runtimes
from sim.workload.record import Record

__all__ = ["OTHERS", "ClassFit", "WorkloadFit", "fit_workload", "plain"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

OTHERS = "others"
"""Name of the class of the small teams together."""
_FEWEST = 100
"""Jobs of a team that has a class of its own; the smaller ones are learned together."""
_MOST_TEAMS = 40
"""Teams with a class of their own at most."""
SWEEPS = ", sweeps"
_LARGE, _FEWEST_BATCHES = 20, 30
"""Batches with more jobs than the first are large; with so many of both sorts each has its class."""
_FEWEST_OF_A_KIND = 20
"""Jobs of one number of cards and one state whose run times are learned by themselves."""
_STATES: tuple[JobEnd, ...] = ("done", "cancelled", "failed")
_GAP_CELLS = 20
"""Cells of the table of gaps within batches."""
_SHORTEST_PAUSE = 0.001
"""Seconds from a failure to a new submission, at least: a quantity is above 0."""


@dataclass(frozen=True, slots=True)
class ClassFit:
    """One class, and how it was found."""

    timed: TimedClass
    jobs: int
    arrivals: ArrivalFit
    runtimes: tuple[RuntimeFit, ...]
    """One a kind."""
    retries: RetryFit | None = None
    """Of the team; None where the record does not show them."""


@dataclass(frozen=True, slots=True)
class WorkloadFit:
    """A workload learned from a record."""

    record: Record
    classes: tuple[ClassFit, ...]

    @property
    def timed(self) -> tuple[TimedClass, ...]:
        """The classes as a scenario has them."""
        return tuple(one.timed for one in self.classes)


def fit_workload(record: Record, *, by_team: bool = True) -> WorkloadFit:
    """Learn a workload.

    Raises InputError where a class has no complete run.
    """
    groups = _teams(record) if by_team else [("all", "", np.ones(len(record), dtype=bool))]
    found: list[ClassFit] = []
    for name, team, rows in groups:
        of_team = record.take(rows)
        retries = fit_retries(of_team)
        if retries is not None and retries.most:  # they come again by themselves: arrivals are first ones
            of_team = of_team.take(~retries.again)
        found += [_with_retries(one, retries) for one in _classes(of_team, name, team)]
    return WorkloadFit(record, tuple(found))


def _with_retries(one: ClassFit, retries: RetryFit | None) -> ClassFit:
    if retries is None or not retries.most or all(kind.state != "failed" for kind in one.timed.kinds):
        return replace(one, retries=retries)
    pause = _gaps(np.maximum(retries.pause_s, _SHORTEST_PAUSE))
    again = Again(share=float(f"{retries.followed:.4g}"), pause_s=pause or _SHORTEST_PAUSE, most=retries.most)
    return replace(one, timed=one.timed.model_copy(update={"again": again}), retries=retries)


def _teams(record: Record) -> list[tuple[str, str, Flags]]:
    """Name of the class, team and jobs; the largest team first, small ones together at the end."""
    team = record.columns.team
    names, counts = np.unique(team.astype(str), return_counts=True)
    order = sorted(range(len(names)), key=lambda at: (-int(counts[at]), str(names[at])))
    own = [str(names[at]) for at in order if counts[at] >= _FEWEST][:_MOST_TEAMS]
    if len(own) == len(names) - 1:  # a single small team is no group
        own.append(next(str(name) for name in names if str(name) not in own))
    text = team.astype(str)
    groups = [(name or "all", name, text == name) for name in own]
    rest = ~np.isin(text, own)
    if rest.any():
        taken = {name for name, _, _ in groups}
        label = next(name for name in (OTHERS, *(f"{OTHERS}-{n}" for n in range(2, 99))) if name not in taken)
        groups.append((label, "", rest))
    return groups


def _classes(record: Record, name: str, team: str) -> Iterator[ClassFit]:
    """The class of a team; or two, where it has many large batches (sweeps): their jobs are of another
    kind, mostly short, and no correlation of all batches together would say so."""
    window = batch_window(record)
    batch = batches_of(record.submit_s, window)
    sizes = np.bincount(batch)
    large = sizes > _LARGE
    if min(int(large.sum()), int((~large).sum())) < _FEWEST_BATCHES:
        yield _class(record, name, team, window, batch)
        return
    for label, mine in ((name, ~large), (f"{name}{SWEEPS}", large)):
        rows = mine[batch]
        renumbered = np.cumsum(mine) - 1
        yield _class(record.take(rows), label, team, window, renumbered[batch[rows]])


def _class(record: Record, name: str, team: str, window: float, batch: Ints) -> ClassFit:
    arrivals = fit_arrivals(record, window, batch)
    kind, kinds, found = _kinds(record, name)
    inside = np.diff(arrivals.batch, prepend=-1) == 0
    gaps = np.diff(record.submit_s, prepend=0.0)[inside]
    day = record.clock.day[record.cell[np.diff(arrivals.batch, prepend=-1) > 0]]
    shares = np.array([one.share for one in kinds])
    alike = Alike()
    if inside.any():
        alike = fit_alike(kind, record.runtime_s, record.submit_s, arrivals.batch, day, shares)
    timed = TimedClass(
        name=name,
        rate=f"{plain(arrivals.per_day)}/day",
        since=arrivals.since,
        profile=arrivals.profile,
        busy=arrivals.busy,
        batch_size=arrivals.batch_size,
        gap_s=_gaps(gaps),
        alike=alike,
        kinds=kinds,
        team=team,
    )
    return ClassFit(timed, len(record), arrivals, found)


def plain(value: float) -> str:
    """Six digits without an exponent, as a scenario writes numbers with a unit."""
    return format(Decimal(f"{value:.6g}"), "f")


def _kinds(record: Record, name: str) -> tuple[Ints, tuple[TimedKind, ...], tuple[RuntimeFit, ...]]:
    """The kind of each job, the kinds and their run times."""
    columns = record.columns
    state = np.array([_STATES.index(one) for one in columns.state.tolist()])
    pairs = [
        (gpus, end, (columns.gpus == gpus) & (state == place))
        for gpus, (place, end) in product(np.unique(columns.gpus).tolist(), enumerate(_STATES))
    ]
    pairs = [pair for pair in pairs if pair[2].any()]
    kind = np.zeros(len(record), dtype=np.int64)
    kinds, found = [], []
    for number, (gpus, end, rows) in enumerate(pairs):
        kind[rows] = number
        learned = _learned(record, rows, name, gpus)
        found.append(learned)
        kinds.append(TimedKind(share=int(rows.sum()), gpus=gpus, runtime_s=learned.quantity, state=end))
    return kind, tuple(kinds), tuple(found)


def _learned(record: Record, rows: Flags, name: str, gpus: int) -> RuntimeFit:
    """Run times of a kind; of few jobs, those that were met; none complete, of its width or class."""
    columns = record.columns
    for wider in (rows, columns.gpus == gpus, np.ones(len(record), dtype=bool)):
        seconds, complete = columns.runtime_s[wider], columns.complete[wider]
        if not complete.any():
            continue
        if complete.sum() >= _FEWEST_OF_A_KIND:
            return fit_runtimes(seconds, complete)
        if wider is rows and complete.all():
            return _met(seconds)
    if not columns.complete.any():
        raise InputError(Problem("no run of these jobs is complete: their times are unknown", key=name))
    return _met(columns.runtime_s[columns.complete])


def _met(seconds: Floats) -> RuntimeFit:
    """Few times: one number, or a table of those that were met, linear in their logarithm."""
    values = np.unique(seconds)
    jobs = len(seconds)
    if len(values) == 1:
        quantity = Distribution.model_validate({"uniform": {"low": values[0], "high": values[0]}})
        return RuntimeFit(quantity, "one time", math.nan, jobs, 0)
    middle = (np.arange(jobs) + 0.5) / jobs
    at = np.concatenate(([0.0], middle, [1.0]))
    ends = np.sort(seconds)
    table = _table(at, np.concatenate((ends[:1], ends, ends[-1:])))
    return RuntimeFit(Distribution(quantiles=table), f"{jobs} times met", math.nan, jobs, 0)


def _gaps(gaps: Floats) -> Quantity | None:
    """Gaps within batches as a table of quantiles; None where all jobs of a batch come at one instant."""
    if not len(gaps) or gaps.max() == 0:
        return None
    if len(np.unique(gaps)) == 1:
        return float(gaps[0])
    at = np.linspace(0, 1, min(_GAP_CELLS, max(len(gaps) - 1, 1)) + 1)
    return Distribution(quantiles=_table(at, np.quantile(gaps, at)))


def _table(at: Sequence[float] | Floats, values: Floats) -> Quantiles:
    return Quantiles(
        at=tuple(float(f"{p:.6g}") for p in at), values=tuple(float(f"{v:.6g}") for v in values.tolist())
    )
