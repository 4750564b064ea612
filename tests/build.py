"""Small hand-made worlds for tests: jobs, rates and plans without files, catalogue or physics."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sim.model.fleet import CheckpointSpec, FailureModel, FleetPlan, LeaseSpan, LogNormal, PoolSpec
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import RateTable, RunOption
from sim.model.records import RunLog
from sim.units import HOUR, MINUTE

OFFER = "test-card"


def option(gpus: int = 1, *, spans: bool = False, **changes: object) -> RunOption:
    """A way to run recorded work at its own speed, without start-up."""
    fields: dict[str, object] = {
        "gpus": gpus,
        "spans": spans,
        "split": "recorded",
        "startup_us": 0,
        "restart_us": 0,
        "us_per_work": 1.0,
        "checkpoint_us": 0,
    }
    return RunOption(**{**fields, **changes})  # type: ignore[arg-type]


def job_set(rows: Sequence[tuple[float, float]], gpus: int = 1, **changes: object) -> JobSet:
    """Jobs of one shape from (submit hour, run hours)."""
    jobs = [
        Job(
            id=i,
            name=f"job-{i}",
            shape=0,
            submit_us=round(submit * HOUR),
            work=round(run * HOUR),
            **changes,  # type: ignore[arg-type]
        )
        for i, (submit, run) in enumerate(rows)
    ]
    return JobSet((JobShape("trace", None, (gpus,)),), tuple(jobs))


def rates(*options: RunOption, offer: str = OFFER) -> RateTable:
    """One shape on one offer."""
    return RateTable(options={(0, offer): options or (option(),)})


def failures(mtbf_h: float | None = None, kind: str = "node", **changes: object) -> FailureModel:
    """Failures of one kind, noticed at once and mended in ten minutes, disk kept."""
    fields: dict[str, object] = {
        "mtbf_us": {} if mtbf_h is None else {kind: round(mtbf_h * HOUR)},
        "detect_us": (0, 0),
        "reset": LogNormal(10 * MINUTE, 0.0),
        "migration_us": (10 * MINUTE, 10 * MINUTE),
        "migration_kept": 1.0,
        "migration_late": LogNormal(2 * HOUR, 0.0),
        "disk_kept": True,
    }
    return FailureModel(**{**fields, **changes})  # type: ignore[arg-type]


def pool(
    count: int,
    *,
    offer: str = OFFER,
    per_machine: int = 1,
    spans: bool = True,
    model: FailureModel | None = None,
    leases: Sequence[LeaseSpan] | None = None,
    memory_gib: float = 40.0,
) -> PoolSpec:
    """`count` machines from the start, or the given leases."""
    spans_of_time = tuple(leases) if leases is not None else (LeaseSpan(0, count, 0, None),)
    return PoolSpec(offer, per_machine, memory_gib, "A100-40G", spans, spans_of_time, model)


def plan(*pools: PoolSpec, hours: float = 1000.0, policy: str = "fifo", **changes: object) -> FleetPlan:
    """A plan without burst; `hours` is the horizon."""
    fields: dict[str, object] = {
        "pools": pools,
        "burst": None,
        "policy": policy,
        "horizon_us": round(hours * HOUR),
        "checkpoint": CheckpointSpec(None),
    }
    return FleetPlan(**{**fields, **changes})  # type: ignore[arg-type]


def gangs(*rows: tuple[float, float, int], spans: bool = True, **changes: object) -> tuple[JobSet, RateTable]:
    """Jobs (submit hour, run hours, cards), one shape a number of cards, on the cards of `OFFER`."""
    counts = sorted({cards for _, _, cards in rows})
    shapes = tuple(JobShape(f"{n} cards", None, (n,), spans=spans) for n in counts)
    jobs = tuple(
        Job(i, f"job-{i}", counts.index(cards), round(submit * HOUR), round(hours * HOUR), **changes)  # type: ignore[arg-type]
        for i, (submit, hours, cards) in enumerate(rows)
    )
    options = {(i, OFFER): (option(n), option(n, spans=True)) for i, n in enumerate(counts)}
    return JobSet(shapes, jobs), RateTable(options=options)


def changed(jobs: JobSet, number: int, **changes: object) -> JobSet:
    """The same jobs but for one."""
    job = jobs.jobs[number]._replace(**changes)  # type: ignore[arg-type]
    return dataclasses.replace(jobs, jobs=(*jobs.jobs[:number], job, *jobs.jobs[number + 1 :]))


def starts(log: RunLog) -> list[float | None]:
    """First start of every job, hours, in order of submission."""
    return [None if job.start_us is None else job.start_us / HOUR for job in log.jobs]
