"""Why did this job wait, stop or get refused? The story of one job, told from the records of a run.

Nothing is simulated here: who was running, which cards were busy, down or free at an instant is
read from the log. Times are microseconds since the scenario's start.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sim.decisions.policies import POLICIES
from sim.errors import InputError, Problem
from sim.model.job import Job
from sim.model.records import Attempt, FailureRecord, JobRecord
from sim.replication import RunResult
from sim.report.history import HOURLY, LEASED, Cards, History
from sim.units import Micros, hours

__all__ = ["Event", "Story", "find_job", "longest_of_kinds", "longest_waits", "story"]

SHOWN_JOBS = 5
"""Names of jobs written out before `and n more`."""

ENDINGS = {
    "done": "done",
    "killed": "killed: it ran past its time limit",
    "horizon": "still running at the end of the horizon",
    "cancelled": "cancelled by its user",
    "failed": "failed by an error of its own, and was given up",
    "retried": "failed by an error of its own; its user submits it again, from the beginning",
    "bad_result": "done, but its result was bad (silent corruption of data): done again from the beginning",
    "lease_end": "interrupted: the lease of its cards ended",
    "preempted": "interrupted: a job of higher priority took its cards",
    "window_end": "interrupted: the window ended in which its cards may train",
    "gpu_reset": "interrupted: a card had to be reset",
    "gpu_fatal": "interrupted: a card failed for good and its machine was replaced",
    "node": "interrupted: the machine failed",
    "network": "interrupted: the machine lost its network or storage",
    "ecc_uncorrectable": "interrupted: an error in a card's memory could not be corrected",
    "switch": "interrupted: a switch or store that several machines share failed",
    "site": "interrupted: the site failed",
    "maintenance": "interrupted: planned maintenance of the machine",
}
"""How a stay on cards ended, in words."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a job."""

    at_us: Micros
    text: str


@dataclass(frozen=True, slots=True)
class Story:
    """The life of one job."""

    job: int
    name: str
    kind: str
    """Class, or shape of a recorded job."""
    state: str
    wait_us: Micros
    run_us: Micros
    events: tuple[Event, ...]


def find_job(result: RunResult, wanted: str) -> Job:
    """The job with this number or name; InputError where there is none or where there are several."""
    jobs = result.jobs.jobs
    named = [job for job in jobs if job.name == wanted]
    if len(named) == 1:
        return named[0]
    if not named and wanted.isdecimal() and int(wanted) < len(jobs):
        return jobs[int(wanted)]
    if named:
        numbers = ", ".join(str(job.id) for job in named[:SHOWN_JOBS])
        rule = f"{len(named)} jobs have this name: give a number, such as {numbers}"
    else:
        rule = f"no job has this name or number; the jobs of this run are 0 to {len(jobs) - 1}"
    raise InputError(Problem(rule=rule, key="--job", value=wanted))


def longest_waits(result: RunResult, count: int) -> tuple[JobRecord, ...]:
    """The records of the jobs that waited longest, longest first; only those that waited at all."""
    waited = [record for record in result.log.jobs if record.wait_us > 0 and record.state != "refused"]
    return tuple(sorted(waited, key=lambda record: (-record.wait_us, record.job))[:count])


def longest_of_kinds(result: RunResult, count: int) -> tuple[JobRecord, ...]:
    """The longest wait of each class or shape, longest first, at most `count` of them."""
    found: dict[int, JobRecord] = {}
    for record in longest_waits(result, len(result.log.jobs)):
        found.setdefault(result.jobs.jobs[record.job].shape, record)
    return tuple(found.values())[:count]


def story(history: History, job: Job) -> Story:
    """The life of a job: submitted, what stood in its way, starts, interruptions, end."""
    record = history.records.get(job.id)
    events = [Event(job.submit_us, f"submitted; {_wish(history, job)}")]
    if record is None:
        events.append(
            Event(job.submit_us, "never seen by the run: submitted at or after the end of the horizon")
        )
        state, wait, run = "not submitted", 0, 0
    else:
        state, wait, run = record.state, record.wait_us, record.run_us
        events += _life(history, job, record)
    kind = history.prepared.shapes[job.shape].name
    return Story(job.id, job.name, kind, state, wait, run, tuple(events))


def _life(history: History, job: Job, record: JobRecord) -> Iterable[Event]:
    if record.state == "refused":
        yield Event(
            record.end_us if record.end_us is not None else job.submit_us, f"refused: {record.reason}"
        )
        return
    since, horizon = job.submit_us, history.result.log.horizon_us
    for attempt in history.attempts.get(job.id, []):
        if attempt.start_us > since:
            yield Event(since, _obstacle(history, job, since))
            yield Event(attempt.start_us, _meanwhile(history, job, since, attempt.start_us))
        yield Event(attempt.start_us, _start(attempt, attempt.start_us - since))
        yield Event(attempt.end_us, _ending(history, job, attempt))
        since = attempt.end_us + attempt.pause_us
    if record.state == "waiting":
        yield Event(since, _obstacle(history, job, since))
        yield Event(horizon, _meanwhile(history, job, since, horizon))
        yield Event(horizon, "still waiting at the end of the horizon")


def _wish(history: History, job: Job) -> str:
    shape = history.prepared.shapes[job.shape]
    counts = " or ".join(str(count) for count in shape.gpus) or "as few as hold it"
    parts = [f"cards wanted: {counts}"]
    if shape.memory_gib is not None:
        parts.append(f"{shape.memory_gib:g} GiB per card")
    if job.deadline_us is not None:
        parts.append(f"to be done within {hours(job.deadline_us):,.1f} h")
    if job.priority:
        parts.append(f"priority {job.priority}")
    return ", ".join(parts)


def _obstacle(history: History, job: Job, at_us: Micros) -> str:
    """Why the job does not start at this instant."""
    ahead = [other for other in history.waiting(at_us) if other != job.id]
    pools = history.cards(at_us)
    holding = [pool for pool in pools if history.fewest_cards(job, pool.offer) is not None]
    parts = [_pool_text(history, pool) for pool in holding]
    if not parts:
        parts = ["no card that can hold it is leased yet"]
    if any(pool.free >= (history.fewest_cards(job, pool.offer) or 0) for pool in holding) and ahead:
        parts.append(_held_behind(history, ahead))
    queue = f"other jobs in the queue: {len(ahead)}" if ahead else "no other job in the queue"
    return f"waits: {'; '.join(parts)}; {queue}"


def _meanwhile(history: History, job: Job, start_us: Micros, end_us: Micros) -> str:
    """What the cards that could hold the job did while it waited."""
    use = history.use(job, start_us, end_us)
    if not use.leased_us:
        return "while it waited, no card that can hold it was leased"
    busiest = [f"{history.label(other)} {hours(taken):,.1f} card-h" for other, taken in use.jobs[:SHOWN_JOBS]]
    rest = len(use.jobs) - len(busiest)
    more = f" and {rest} more jobs" if rest > 0 else ""
    free = 100 * use.free_us / use.leased_us
    work = ", ".join(busiest) or "nothing"
    text = f"while it waited, the cards worked on {work}{more}; {free:.1f} % of their time was free"
    ahead = [other for other in history.waiting(start_us) if other != job.id]
    if use.free_us and ahead and POLICIES[history.policy].when_blocked == "wait":
        text += f": {_held_behind(history, ahead)}"
    return text


def _held_behind(history: History, ahead: list[int]) -> str:
    head = history.result.jobs.jobs[ahead[0]]
    counts = [history.fewest_cards(head, pool.offer) for pool in history.cards(head.submit_us)]
    needs = min((count for count in counts if count is not None), default=None)
    wish = f", which needs {needs} card{'s' if needs > 1 else ''} at once" if needs else ""
    first = history.label(head.id)
    rule = f"policy {history.policy}, {POLICIES[history.policy].summary}"
    return f"free cards are kept for jobs ahead in the queue ({rule}); ahead stood {first}{wish}"


def _pool_text(history: History, pool: Cards) -> str:
    if pool.leased == 0:
        kind = f"rented {HOURLY}" if pool.beside == HOURLY else LEASED
        return f"no card of {pool.offer} is {kind} at this time"
    cards = {LEASED: f"leased cards of {pool.offer}", HOURLY: f"cards of {pool.offer} by the hour"}
    text = f"{pool.busy} of {pool.leased} {cards.get(pool.beside, f'cards of {pool.offer}')} busy"
    if pool.jobs:
        names = [history.label(job) for job in pool.jobs[:SHOWN_JOBS]]
        rest = len(pool.jobs) - len(names)
        text += f" with {', '.join(names)}{f' and {rest} more' if rest else ''}"
    text += f", {pool.down} down after a failure" if pool.down else ""
    text += f", {pool.away} outside of the windows of their lease" if pool.away else ""
    return text + (f", {pool.reserved} in reserve" if pool.reserved else "")


def _start(attempt: Attempt, waited_us: Micros) -> str:
    count = len(attempt.cards)
    hourly = ", rented by the hour" if attempt.burst else ""
    waited = f" after {hours(waited_us):,.2f} h in the queue" if waited_us else " at once"
    return f"starts on {count} {'card' if count == 1 else 'cards'} of {attempt.offer}{hourly}{waited}"


def _ending(history: History, job: Job, attempt: Attempt) -> str:
    parts = [ENDINGS.get(attempt.ended, f"interrupted: {attempt.ended}")]
    failure = _failure_of(history, job, attempt)
    if failure is not None:
        away = hours(failure.back_us - failure.at_us)
        parts.append(f"machine {failure.machine} of {failure.offer} is back after {away:,.2f} h")
        if failure.promise_kept is False:
            parts.append("later than the provider promises")
    if attempt.lost_us:
        parts.append(f"{hours(attempt.lost_us):,.2f} h of work lost since the last checkpoint")
    if attempt.voided_card_us:
        gone = hours(attempt.voided_card_us)
        parts.append(f"{gone:,.2f} card-hours of saved work lost with the disk")
    parts.append(f"{hours(attempt.end_us - attempt.start_us):,.2f} h on cards")
    return "; ".join(parts)


def _failure_of(history: History, job: Job, attempt: Attempt) -> FailureRecord | None:
    failures = history.result.log.failures
    return next((f for f in failures if f.at_us == attempt.end_us and job.id in f.jobs), None)
