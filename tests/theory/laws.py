"""Laws that any run of the engine must keep, checked to the microsecond from its log alone."""

from __future__ import annotations

from collections import Counter

from sim.model.failures import KINDS
from sim.model.job import JobSet
from sim.model.records import Attempt, JobRecord, LeaseRecord, RunLog
from sim.units import Micros

__all__ = ["check_laws", "waiting_times"]

Span = tuple[Micros, Micros]


def check_laws(log: RunLog, jobs: JobSet) -> None:
    """Little's law for the queue and the system, conservation of jobs and of card-time."""
    littles_law(log, jobs)
    jobs_are_conserved(log, jobs)
    card_time_is_conserved(log)


def waiting_times(log: RunLog, jobs: JobSet) -> list[Span]:
    """Times in which some job stood in the queue: before, between and after its stays on cards."""
    stays: dict[int, list[Attempt]] = {record.job: [] for record in log.jobs}
    for stay in log.attempts:
        stays[stay.job].append(stay)
    spans = []
    for record in log.jobs:
        own = sorted(stays[record.job], key=lambda stay: stay.start_us)
        left = [jobs.jobs[record.job].submit_us, *(stay.end_us + stay.pause_us for stay in own)]
        entered = [*(stay.start_us for stay in own), _gone(record, log, left[-1])]
        spans += list(zip(left, entered, strict=True))
    return spans


def _gone(record: JobRecord, log: RunLog, last: Micros) -> Micros:
    if record.state in ("running", "failed", "cancelled"):
        return last
    return log.horizon_us if record.end_us is None else record.end_us


def _area(spans: list[Span]) -> Micros:
    """Integral over time of how many spans are open, by a sweep over what changes when."""
    steps: Counter[Micros] = Counter()
    for begin, end in spans:
        assert begin <= end
        steps[begin] += 1
        steps[end] -= 1
    area, number, before = 0, 0, 0
    for time in sorted(steps):
        area += number * (time - before)
        number, before = number + steps[time], time
    assert number == 0
    return area


def littles_law(log: RunLog, jobs: JobSet) -> None:
    """Mean number x time = number of jobs x mean time, in the queue and in the system."""
    assert _area(waiting_times(log, jobs)) == sum(record.wait_us for record in log.jobs)
    there = [(jobs.jobs[r.job].submit_us, log.horizon_us if r.end_us is None else r.end_us) for r in log.jobs]
    assert _area(there) == sum(record.wait_us + record.run_us + record.pause_us for record in log.jobs)


def jobs_are_conserved(log: RunLog, jobs: JobSet) -> None:
    """Submitted = done + killed + refused + cancelled + failed + unfinished, each job once."""
    submitted = [job.id for job in jobs.jobs if job.submit_us < log.horizon_us]
    assert [record.job for record in log.jobs] == submitted
    states = Counter(record.state for record in log.jobs)
    assert sum(states.values()) == len(submitted)
    running = sum(stay.ended == "horizon" for stay in log.attempts)
    assert states["running"] == running
    for state in ("done", "killed", "cancelled", "failed"):
        assert states[state] == sum(stay.ended == state for stay in log.attempts)


def card_time_is_conserved(log: RunLog) -> None:
    """Leased = busy + idle + down + away + reserved; told again from stays, failures and absences."""
    for lease in log.leases:
        end = log.horizon_us if lease.end_us is None else lease.end_us
        whole = end - lease.start_us
        reserved = lease.reserved_card_us // whole if whole else 0
        absent = _covered([*lease.absences], lease.start_us, end)
        busy = down = 0
        first = lease.machine * lease.gpus
        for card in range(first, first + lease.gpus - reserved):
            held = [
                (a.start_us, a.end_us)
                for a in log.attempts
                if a.offer == lease.offer
                and a.burst == (lease.lease == -1)
                and card in a.cards
                and lease.start_us <= a.start_us < end
            ]
            busy += sum(stop - start for start, stop in held)
            out = _outages(log, lease, card)
            down += _covered(out, lease.start_us, end)
            down -= _covered_both(out, [*held, *lease.absences], lease.start_us, end)
        assert lease.reserved_card_us == reserved * whole
        assert lease.away_card_us == absent * (lease.gpus - reserved)
        assert lease.busy_card_us == busy
        assert lease.down_card_us == down
        assert busy + down + lease.away_card_us + lease.reserved_card_us <= lease.gpus * whole


def _outages(log: RunLog, lease: LeaseRecord, card: int) -> list[Span]:
    """Times in which a card was broken, alone or with its machine; a new machine brings new cards."""
    place = (lease.offer, lease.machine, lease.lease == -1)
    here = [f for f in log.failures if (f.offer, f.machine, f.burst) == place]
    end = log.horizon_us if lease.end_us is None else lease.end_us
    here = [f for f in here if lease.start_us <= f.at_us < end]
    replaced = [
        (f.back_us, number)
        for number, f in enumerate(here)
        if f.card is None and (KINDS[f.kind].moves or _card_kind(f.kind))
    ]
    # A machine that is replaced at once may be struck in the same instant: what struck it after that stays.
    return [
        (f.at_us, min([f.back_us, *(back for back, by in replaced if (f.at_us, number) <= (back, by))]))
        for number, f in enumerate(here)
        if f.card in (None, card)
    ]


def _card_kind(kind: str) -> bool:
    """Where the whole machine is away for a card's failure, another machine takes its place."""
    return KINDS[kind].unit == "card"


def _covered(spans: list[Span], low: Micros, high: Micros) -> Micros:
    """Length of what the spans cover between two times."""
    covered, reached = 0, low
    for begin, end in sorted(spans):
        reached = max(reached, begin)
        if (upto := min(end, high)) > reached:
            covered, reached = covered + upto - reached, upto
    return covered


def _covered_both(some: list[Span], others: list[Span], low: Micros, high: Micros) -> Micros:
    """Length of what both cover."""
    both = _covered(some, low, high) + _covered(others, low, high)
    return both - _covered([*some, *others], low, high)
