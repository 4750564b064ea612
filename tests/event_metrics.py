"""A second way to every figure of service and use: from the trace of events alone, row by row.

Nothing here imports the program, so that what it counts is counted twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

HOUR = 3_600_000_000

LASTING = {
    "queued", "started", "running", "stalled", "paused", "free", "busy", "down", "away", "reserved",
}  # fmt: skip
"""States in which a job or card stays until its next row."""

ENDS = {"done", "killed", "cancelled", "failed", "refused", "unfinished"}


class Row(NamedTuple):
    """What the metrics need of a row; None where a cell is empty."""

    time_us: int
    kind: str
    state: str
    cause: str | None
    job: int | None
    gpus: int | None
    offer: str | None
    lease: str | None
    machine: int | None
    card: int | None
    startup_us: int | None
    checkpoint_us: int | None
    work_us: int | None
    lost_us: int | None
    voided_card_us: int | None
    back_us: int | None
    progress: float | None
    deadline_us: int | None


def rows_of(table: Any) -> list[Row]:
    """The rows of an Arrow table of events."""
    columns = [table.column(name).to_pylist() for name in Row._fields]
    return [Row(*cells) for cells in zip(*columns, strict=True)]


def by_job(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """The rows of each job, in their order."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row.kind == "job" and row.job is not None:
            found[row.job].append(row)
    return found


def by_card(rows: Iterable[Row]) -> dict[tuple[str | None, bool, int | None], list[Row]]:
    """The rows of each card, in their order; failures are of cards and machines and stay out."""
    found: dict[tuple[str | None, bool, int | None], list[Row]] = defaultdict(list)
    for row in rows:
        if row.kind == "card" and row.state != "broken":
            found[row.offer, row.lease == "burst", row.card].append(row)
    return found


def spans(rows: Sequence[Row]) -> Iterator[tuple[str, int, int]]:
    """State, begin and end of each stretch of one job or card."""
    for row, following in pairwise(rows):
        if row.state in LASTING:
            yield row.state, row.time_us, following.time_us


def _quantile(values: list[int], share: float) -> float | None:
    return float(np.quantile(np.array(values, dtype=np.int64), share)) / HOUR if values else None


class Job:
    """The life of one job, as its rows tell it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        time: Counter[str] = Counter()
        self.queued = [(begin, end) for state, begin, end in spans(rows) if state == "queued"]
        for state, begin, end in spans(rows):
            time[state] += end - begin
        self.submit, self.last = rows[0].time_us, rows[-1]
        self.state = self.last.cause if self.last.state == "unfinished" else self.last.state
        self.wait = time["queued"]
        self.run = time["started"] + time["running"] + time["stalled"]
        self.states = Counter(row.state for row in rows)
        self.interruptions = self.states["interrupted"]
        deadline = rows[0].deadline_us
        self.due = None if deadline is None else self.submit + deadline

    @property
    def on_time(self) -> bool:
        return self.due is not None and self.state == "done" and self.last.time_us <= self.due


def metrics_from_events(rows: Sequence[Row], horizon_us: int, warm_up_us: int = 0) -> dict[str, float | None]:
    """Metrics by their names in `sim.metrics`: all but money, orders, and work that is not done yet."""
    jobs = [Job(of_job) for _, of_job in sorted(by_job(rows).items())]
    return {**_service(jobs, horizon_us, warm_up_us), **_queue(jobs, horizon_us), **_use(rows)}


def _service(jobs: list[Job], horizon_us: int, warm_up_us: int) -> dict[str, float | None]:
    measured = [job for job in jobs if job.submit >= warm_up_us]
    waits = [job.wait for job in measured if job.state != "refused"]
    done = [job for job in jobs if job.state == "done"]
    slow = np.array([(j.wait + j.run) / j.run for j in measured if j.state == "done" and j.run])
    own = {"cancelled", "failed"}
    due = [j for j in jobs if j.due is not None and j.due < horizon_us and j.state not in own]
    judged = [job for job in due if job.submit >= warm_up_us]
    counts = Counter(job.state for job in jobs)
    found: dict[str, float | None] = {f"jobs_{name}": counts[name] for name in ENDS - {"unfinished"}}
    found |= {f"jobs_{name}": counts[name] for name in ("running", "waiting")}
    found["jobs_submitted"] = len(jobs)
    found["jobs_unfinished"] = counts["running"] + counts["waiting"]
    found["jobs_measured"] = len(waits)
    found["jobs_late"] = sum(not job.on_time for job in due)
    found["wait_mean_h"] = float(np.array(waits).mean()) / HOUR if waits else None
    found["wait_max_h"] = max(waits) / HOUR if waits else None
    for share in (50, 95, 99):
        found[f"wait_p{share}_h"] = _quantile(waits, share / 100)
    found["waits_cut"] = sum(job.state == "waiting" for job in measured)
    found["slowdown_mean"] = float(slow.mean()) if slow.size else None
    found["slowdown_p95"] = float(np.quantile(slow, 0.95)) if slow.size else None
    found["on_time_share"] = sum(job.on_time for job in judged) / len(judged) if judged else None
    last = max((job.last.time_us for job in done), default=0)
    found["makespan_h"] = (last - min(job.submit for job in jobs)) / HOUR if done else None
    found["retries"] = sum(job.states["retried"] for job in jobs)
    found["redone_jobs"] = sum(job.states["redone"] for job in jobs)
    found["bad_results"] = sum(job.state == "done" and job.last.cause == "bad result" for job in jobs)
    found["interruptions"] = sum(job.interruptions for job in jobs)
    return found


def _queue(jobs: list[Job], horizon_us: int) -> dict[str, float | None]:
    def mean(begin: float, end: float) -> float:
        first, last = begin * horizon_us, end * horizon_us
        total = sum(max(0.0, min(b, last) - max(a, first)) for job in jobs for a, b in job.queued)
        return total / (last - first)

    stretch = longest = 0
    until = -1
    for begin, end in sorted(span for job in jobs for span in job.queued):
        if end == begin:
            continue
        stretch = stretch + max(0, end - max(until, begin)) if begin <= until else end - begin
        until, longest = max(until, end), max(longest, stretch)
    submits = [job.submit for job in jobs]
    return {
        "queue_mean": mean(0.0, 1.0),
        "queue_early": mean(0.25, 0.5),
        "queue_late": mean(0.75, 1.0),
        "queue_stretch_h": longest / HOUR,
        "arrivals_h": (max(submits) - min(submits)) / HOUR if submits else 0.0,
    }


def _use(rows: Sequence[Row]) -> dict[str, float | None]:
    time: Counter[str] = Counter()
    burst = 0
    for (_, hourly, _), of_card in by_card(rows).items():
        for state, begin, end in spans(of_card):
            time[state] += end - begin
            burst += (end - begin) * hourly
    stays = [row for row in rows if row.work_us is not None]
    voided = sum(row.voided_card_us or 0 for row in stays)

    def card_time(name: str) -> int:
        return sum(getattr(row, name) * (row.gpus or 0) for row in stays)

    usable = time["busy"] + time["free"] + time["down"]
    useful = card_time("work_us") - voided
    return {
        "maintenance_gpu_h": _maintenance(rows) / HOUR,
        "leased_gpu_h": (usable + time["away"] + time["reserved"]) / HOUR,
        "burst_gpu_h": burst / HOUR,
        "busy_gpu_h": time["busy"] / HOUR,
        "idle_gpu_h": time["free"] / HOUR,
        "down_gpu_h": time["down"] / HOUR,
        "away_gpu_h": time["away"] / HOUR,
        "reserved_gpu_h": time["reserved"] / HOUR,
        "busy_share": time["busy"] / usable if usable else None,
        "useful_gpu_h": useful / HOUR,
        "useful_share": useful / usable if usable else None,
        "lost_gpu_h": (card_time("lost_us") + voided) / HOUR,
        "startup_gpu_h": card_time("startup_us") / HOUR,
        "checkpoint_gpu_h": card_time("checkpoint_us") / HOUR,
        "failures": sum(r.state == "broken" and r.cause != "maintenance" for r in rows),
    }


def _maintenance(rows: Sequence[Row]) -> int:
    """Card-time from the begin of planned work until it is over or the card is gone."""
    total = 0
    works = [row for row in rows if row.state == "broken" and row.cause == "maintenance"]
    for told in by_card(rows).values():
        for begins, ends in rentals(told):
            for work in works:
                ours = (work.offer, work.machine) == (begins.offer, begins.machine)
                if ours and begins.time_us <= work.time_us < ends.time_us:
                    total += min(work.back_us or 0, ends.time_us) - work.time_us
    return total


def rentals(told: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Begin and end of each lease of one card."""
    begin = None
    for row in told:
        if row.state == "leased":
            begin = row
        elif row.state in {"returned", "kept"} and begin is not None:
            yield begin, row
