"""Small worlds with cards that jobs share, for the tests of sharing."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import pytest

from sim.engine import run
from sim.model.fleet import FleetPlan, PoolSpec
from sim.model.job import JobSet, JobShape
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.model.sharing import LEFT_BY, PER_JOB, POINTS, SharingSpec, SliceSpec, SpeedCurve
from sim.streams import Streams
from sim.units import HOUR
from tests.build import OFFER, option, pool

PRESET = SpeedCurve.of(POINTS, LEFT_BY["time-slicing"], PER_JOB)
MPS = SpeedCurve.of(POINTS, LEFT_BY["mps"], PER_JOB)
EQUAL_PARTS = SpeedCurve.of([(0, 1), (1, 1)], 1, 0)
"""Nothing is lost by sharing: jobs that each could use the whole card have equal parts of it."""
HARMLESS = SpeedCurve.of([(0, 1)], 10**9, 0)

PAIR = Fraction(92, 100) / Fraction(18, 10)
"""Speed of two jobs of demand 0.9: 0.92 / 1.8."""
THREE = Fraction(92, 100) / Fraction(27, 10) * Fraction(98, 100)
"""Speed of three: 0.92 / 2.7 x (1 - 0.02)."""

A100_80G = (
    SliceSpec("1g.10gb", 9.5, 1, 1, 7),
    SliceSpec("1g.20gb", 19.5, 1, 2, 4),
    SliceSpec("2g.20gb", 19.5, 2, 2, 3),
    SliceSpec("3g.40gb", 39.25, 3, 4, 2),
    SliceSpec("4g.40gb", 39.25, 4, 4, 1),
    SliceSpec("7g.80gb", 79.0, 7, 8, 1),
)
"""The vendor's listing: memory, compute slices, eighths of the memory, instances at most."""


def after(hours: Fraction | float) -> int:
    """The first whole microsecond at or after so many hours."""
    return math.ceil(Fraction(hours) * HOUR)


def near(us: Fraction | float, within: int) -> object:
    """So many microseconds, give or take what is done again at changes of speed."""
    return pytest.approx(us, rel=0, abs=within)


def sharing(jobs: int = 3, usable_gib: float = 39.0, **changes: object) -> SharingSpec:
    """Time slicing by the preset."""
    fields: dict[str, object] = {
        "kind": "time-slicing", "jobs": jobs, "usable_gib": usable_gib, "curve": PRESET,
    }  # fmt: skip
    return SharingSpec(**{**fields, **changes})  # type: ignore[arg-type]


def mig(jobs: int = 7, **changes: object) -> SharingSpec:
    """MIG on an A100 of 80 GB, half a minute to partition it."""
    return sharing(jobs, 79.0, kind="mig", slices=A100_80G, **changes)


def shared(count: int, spec: SharingSpec | None, **changes: object) -> PoolSpec:
    """`count` machines of one card (or as the changes say), shared so."""
    return dataclasses.replace(pool(count, **changes), sharing=spec)  # type: ignore[arg-type]


def needing(gib: float | None = 12.0, **changes: object) -> RateTable:
    """One shape on one card, with its memory."""
    return RateTable(options={(0, OFFER): (option(memory_gib=gib, **changes),)})


def kinds(*gib: float | None, gpus: tuple[int, ...] = ()) -> tuple[tuple[JobShape, ...], RateTable]:
    """One shape a need of memory, each on one card unless `gpus` says otherwise."""
    counts = gpus or (1,) * len(gib)
    shapes = tuple(JobShape(f"shape {n}", None, (count,)) for n, count in enumerate(counts))
    options = {
        (n, OFFER): (option(count, memory_gib=needs), option(count, spans=True, memory_gib=needs))
        if count > 1
        else (option(memory_gib=needs),)
        for n, (needs, count) in enumerate(zip(gib, counts, strict=True))
    }
    return shapes, RateTable(options=options)


def played(plan_: FleetPlan, jobs: JobSet, table: RateTable) -> RunLog:
    """The log of one run."""
    return run(plan_, jobs, table, Streams(1))
