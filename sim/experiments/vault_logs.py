"""The log of one run as bytes and back: arrays without objects, so that nothing foreign is ever executed."""

from __future__ import annotations

import dataclasses
import io
import json
from array import array
from typing import Any

import numpy as np

from sim.model.chains import Submissions
from sim.model.logs import Attempts, JobRecords
from sim.model.records import FailureRecord, LeaseRecord, RunLog

__all__ = ["log_bytes", "log_of"]


def log_bytes(log: RunLog) -> bytes:
    """The log, compressed; the same log gives the same bytes."""
    jobs, attempts = JobRecords.of(log.jobs), Attempts.of(log.attempts)
    job_rows, job_texts = jobs.parts()
    stay_rows, cards, shares, stay_texts = attempts.parts()
    rest = {
        "horizon_us": log.horizon_us,
        "job_texts": job_texts,
        "stay_texts": stay_texts,
        "shares": [[first, card_us] for first, card_us in sorted(shares.items())],
        "leases": [dataclasses.astuple(record) for record in log.leases],
        "failures": [dataclasses.astuple(record) for record in log.failures],
        "burst_orders": log.burst_orders,
        "burst_stock_outs": log.burst_stock_outs,
    }
    came: dict[str, Any] = {}
    if log.submissions is not None:
        came = {name: np.array(getattr(log.submissions, name), dtype=np.int64) for name in ("jobs", "at_us")}
    out = io.BytesIO()
    # Members of an npz have a fixed time, so the bytes depend on the arrays alone.
    np.savez_compressed(
        out,
        allow_pickle=False,
        jobs=job_rows,
        stays=stay_rows,
        cards=np.asarray(cards, dtype=np.int32),
        rest=np.frombuffer(json.dumps(rest).encode(), dtype=np.uint8),
        **{f"came_{name}": values for name, values in came.items()},
    )
    return out.getvalue()


def log_of(data: bytes) -> RunLog:
    """The log of these bytes; ValueError, KeyError or TypeError where they are no log."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        rest: dict[str, Any] = json.loads(file["rest"].tobytes())
        jobs = JobRecords.from_parts(file["jobs"], rest["job_texts"])
        shares = {int(first): int(card_us) for first, card_us in rest["shares"]}
        attempts = Attempts.from_parts(file["stays"], file["cards"], shares, rest["stay_texts"])
        came = [array("q", file[name].tobytes()) for name in ("came_jobs", "came_at_us") if name in file]
    return RunLog(
        horizon_us=rest["horizon_us"],
        jobs=jobs,
        attempts=attempts,
        leases=tuple(_lease(*values) for values in rest["leases"]),
        failures=tuple(_failure(*values) for values in rest["failures"]),
        burst_orders=rest["burst_orders"],
        burst_stock_outs=rest["burst_stock_outs"],
        submissions=Submissions(*came) if came else None,
    )


def _lease(*values: Any) -> LeaseRecord:
    record = LeaseRecord(*values)
    return dataclasses.replace(record, absences=tuple((start, end) for start, end in record.absences))


def _failure(*values: Any) -> FailureRecord:
    record = FailureRecord(*values)
    return dataclasses.replace(record, jobs=tuple(record.jobs))
