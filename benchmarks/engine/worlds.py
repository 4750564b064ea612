"""The work that is timed: plain queues and whole fleets, made before the clock starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sim import engine
from sim.model.fleet import CheckpointSpec, FailureModel, FleetPlan, LeaseSpan, LogNormal, PoolSpec
from sim.model.job import JobSet, JobShape
from sim.model.job_table import JobTable
from sim.model.rates import RateTable, RunOption
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE, SECOND

__all__ = [
    "FLEET",
    "GANGS",
    "MACHINE",
    "World",
    "fleet",
    "mm8",
    "mm8_draws",
    "queue",
    "recorded",
    "whole_seconds",
]

OFFER = "card"
MACHINE = 8
"""Cards of one machine of a fleet."""

GANGS: dict[int, float] = {1: 0.60, 2: 0.15, 3: 0.05, 4: 0.10, 8: 0.10}
"""Cards of a job and how often, for fleets."""

MEAN_RUN_H = 4.0
SPREAD = 1.2
"""Standard deviation of the logarithm of a run time."""

FLEET = (
    "gangs of 1 (60 %), 2, 3, 4 and 8 cards (10 %), in one machine of 8 or over several; log-normal run "
    "times (mean 4 h, sigma 1.2), Poisson arrivals, limits of 1.2 to 3 times the run time, deadlines, five "
    "priorities; 2 min start-up, a checkpoint an hour (20 s); a reset each 2,000 card-hours, a machine lost "
    "each 4,000 machine-hours, moved in 10 to 30 min"
)
"""What runs where a row says *fleet*."""


@dataclass(frozen=True, slots=True)
class World:
    """One call of the engine: `run()` is what is timed."""

    plan: FleetPlan
    jobs: JobSet
    rates: RateTable

    def run(self) -> RunLog:
        """The whole run, all records kept."""
        return engine.run(self.plan, self.jobs, self.rates, Streams(0))

    def under(self, policy: str) -> World:
        """The same jobs on the same cards under another queue policy."""
        return replace(self, plan=replace(self.plan, policy=policy))


def fleet(cards: int, jobs: int, *, load: float = 0.7, policy: str = "fifo", seed: int = 1) -> World:
    """Machines of eight cards with failures and checkpoints; `load` is work asked for over card-time."""
    random = np.random.default_rng(seed)
    sizes = random.choice(list(GANGS), size=jobs, p=list(GANGS.values()))
    mu = np.log(MEAN_RUN_H) - SPREAD**2 / 2
    runs = np.maximum(random.lognormal(mu, SPREAD, jobs), 0.01)
    mean_cards = sum(size * share for size, share in GANGS.items())
    gap_h = mean_cards * MEAN_RUN_H / (load * cards)
    submits = np.cumsum(random.exponential(gap_h, jobs))
    return World(
        plan=_plan(cards // MACHINE, MACHINE, policy, _horizon(submits, runs, load), _failures(), every=HOUR),
        jobs=_jobs(submits, runs, sizes, random),
        rates=_rates(tuple(GANGS), startup_us=2 * MINUTE, checkpoint_us=20 * SECOND),
    )


def queue(cards: int, submits_h: np.ndarray, runs_h: np.ndarray, policy: str = "fifo") -> World:
    """Jobs of one card each on machines of one card, without failures: a plain queue."""
    load = float(runs_h.sum() / (submits_h[-1] * cards)) if len(runs_h) else 1.0
    return World(
        plan=_plan(cards, 1, policy, _horizon(submits_h, runs_h, load), None, every=None),
        jobs=_jobs(submits_h, runs_h, np.ones(len(runs_h), dtype=np.int64), None),
        rates=_rates((1,), startup_us=0, checkpoint_us=0),
    )


def mm8(jobs: int, seed: int = 1) -> World:
    """M/M/8 at load 0.75: six arrivals and one service an hour, eight cards; draws included."""
    submits, runs = mm8_draws(jobs, seed)
    return queue(8, submits, runs)


def mm8_draws(jobs: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Hours of arrival and of service of M/M/8 at load 0.75."""
    random = np.random.default_rng(seed)
    return np.cumsum(random.exponential(1 / 6, jobs)), random.exponential(1.0, jobs)


def whole_seconds(cards: int, jobs: int, *, load: float = 0.7, seed: int = 1) -> World:
    """A fleet without failures, start-up or checkpoints, all times whole seconds (for AccaSim)."""
    world = fleet(cards, jobs, load=load, seed=seed)
    whole = tuple(
        job._replace(
            submit_us=round(job.submit_us / SECOND) * SECOND,
            work=float(max(1, round(job.work / SECOND)) * SECOND),
            limit_us=None,
        )
        for job in world.jobs.jobs
    )
    plan = _plan(cards // MACHINE, MACHINE, "fifo", world.plan.horizon_us, None, every=None)
    return World(plan, JobSet(world.jobs.shapes, whole), _rates(tuple(GANGS), startup_us=0, checkpoint_us=0))


def recorded(jobs: pa.Table, cards: int) -> World:
    """Jobs of an import (`sim.workload.imports`), each on as many cards as it had, without failures.

    Every job must be fit for a replay.
    """
    submits, runs, limits = (
        np.rint(jobs.column(name).to_numpy() * SECOND) for name in ("submit_s", "runtime_s", "limit_s")
    )
    sizes = jobs.column("gpus").to_numpy()
    counts = np.unique(sizes)
    load = float((runs * sizes).sum() / (submits[-1] * cards))
    zeros = np.zeros(len(jobs), dtype=np.int32)
    table = JobTable(
        shape=np.searchsorted(counts, sizes).astype(np.int32),
        submit_us=submits.astype(np.int64),
        work=runs,
        heads=("job",), head=zeros, number=np.arange(len(jobs), dtype=np.int32),
        teams=("",), team=zeros, priority=zeros.astype(np.int64),
        deadline_us=np.full(len(jobs), -1, dtype=np.int64),
        limit_us=np.nan_to_num(limits, nan=-1.0).astype(np.int64),
        luck=np.zeros(len(jobs)), ends={},
    )  # fmt: skip
    shapes = tuple(JobShape(f"{size} cards", None, (size,)) for size in counts.tolist())
    horizon = _horizon(submits / HOUR, runs / HOUR, load)
    return World(
        plan=_plan(cards // MACHINE, MACHINE, "fifo", horizon, None, every=None),
        jobs=JobSet(shapes, table),
        rates=_rates(counts.tolist(), startup_us=0, checkpoint_us=0),
    )


def _horizon(submits_h: np.ndarray, runs_h: np.ndarray, load: float) -> int:
    """Long enough for all jobs to end, though strict first come first served wastes cards on gangs."""
    last = float(submits_h[-1]) if len(submits_h) else 0.0
    longest = float(runs_h.max(initial=1.0))
    return round((last * max(1.2, 2 * load) + 1.5 * longest + 24) * HOUR)


def _plan(
    machines: int, size: int, policy: str, horizon_us: int, failures: FailureModel | None, every: int | None
) -> FleetPlan:
    span = LeaseSpan(0, machines, 0, None)
    pool = PoolSpec(OFFER, size, 80.0, "A100-80G", spans=True, leases=(span,), failures=failures)
    return FleetPlan((pool,), None, policy, horizon_us, CheckpointSpec(every))


def _failures() -> FailureModel:
    """Some five times as many failures as the data centres publish, so that their cost shows."""
    return FailureModel(
        mtbf_us={"gpu_reset": 2000 * HOUR, "node": 4000 * HOUR},
        detect_us=(MINUTE, 5 * MINUTE),
        reset=LogNormal(10 * MINUTE, 0.5),
        migration_us=(10 * MINUTE, 30 * MINUTE),
        migration_kept=0.9,
        migration_late=LogNormal(2 * HOUR, 0.8),
        disk_kept=True,
    )


def _jobs(
    submits_h: np.ndarray, runs_h: np.ndarray, sizes: np.ndarray, random: np.random.Generator | None
) -> JobSet:
    """Jobs in order of submission; with `random` also limits, deadlines and priorities."""
    count = len(runs_h)
    counts = tuple(sorted(set(GANGS) if random is not None else {1}))
    limits = deadlines = np.full(count, -1, dtype=np.int64)
    priorities = np.zeros(count, dtype=np.int64)
    if random is not None:
        limits = np.rint((runs_h * random.uniform(1.2, 3.0, count) + 1) * HOUR).astype(np.int64)
        deadlines = np.rint((runs_h * random.uniform(1.5, 6.0, count) + 1) * HOUR).astype(np.int64)
        priorities = random.integers(0, 5, count)
    zeros = np.zeros(count, dtype=np.int32)
    table = JobTable(
        shape=np.searchsorted(counts, sizes).astype(np.int32),
        submit_us=np.rint(submits_h * HOUR).astype(np.int64),
        work=np.rint(runs_h * HOUR),
        heads=("job",), head=zeros, number=np.arange(count, dtype=np.int32),
        teams=("",), team=zeros,
        priority=priorities, deadline_us=deadlines, limit_us=limits,
        luck=np.zeros(count), ends={},
    )  # fmt: skip
    return JobSet(tuple(JobShape(f"{size} cards", None, (size,)) for size in counts), table)


def _rates(counts: Sequence[int], *, startup_us: int, checkpoint_us: int) -> RateTable:
    """Recorded run times that hold in one machine and over several."""
    options = {
        (i, OFFER): tuple(
            RunOption(count, spans, "recorded", startup_us, startup_us, 1.0, checkpoint_us)
            for spans in (False, True)
            if spans is False or count > 1
        )
        for i, count in enumerate(sorted(counts))
    }
    return RateTable(options=options)
