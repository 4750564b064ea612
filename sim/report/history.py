"""A run that can be asked what was going on at an instant or over a span of time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sim.model.job import Job
from sim.model.records import Attempt, JobRecord
from sim.replication import Prepared, RunResult
from sim.units import Micros

__all__ = ["HOURLY", "LEASED", "Cards", "History", "Use"]

LEASED, HOURLY = "leased", "by the hour"


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards of one offer at one instant: the leased ones, or those by the hour."""

    offer: str
    leased: int
    busy: int
    down: int
    jobs: tuple[int, ...]
    """Jobs that hold the busy ones."""
    away: int = 0
    """Outside of the windows of their lease."""
    reserved: int = 0
    """Kept out of training."""
    beside: str = ""
    """Which of both these are, where the strategy has leased and hourly cards of the offer."""

    @property
    def free(self) -> int:
        """Cards in working order, for jobs to use, without a job."""
        return max(0, self.leased - self.busy - self.down - self.away - self.reserved)


@dataclass(frozen=True, slots=True)
class Use:
    """What some cards did over a span of time, in card-microseconds."""

    leased_us: Micros
    busy_us: Micros
    down_us: Micros
    jobs: tuple[tuple[int, Micros], ...]
    """Job and card-time, most first."""
    withheld_us: Micros = 0
    """Outside of the windows of a lease, or kept out of training."""

    @property
    def free_us(self) -> Micros:
        """In working order, for jobs to use, without a job."""
        return max(0, self.leased_us - self.busy_us - self.down_us - self.withheld_us)


class History:
    """A run that can be asked what was going on at an instant."""

    def __init__(self, prepared: Prepared, result: RunResult) -> None:
        self.prepared = prepared
        self.result = result
        names = [strategy.name for strategy in prepared.question.scenario.strategies]
        self.plan = prepared.plans[names.index(result.strategy)]
        self.policy = prepared.question.scenario.strategy(result.strategy).policy
        self.records: dict[int, JobRecord] = {record.job: record for record in result.log.jobs}
        self.attempts: dict[int, list[Attempt]] = {}
        for attempt in result.log.attempts:
            self.attempts.setdefault(attempt.job, []).append(attempt)

    def cards(self, at_us: Micros) -> tuple[Cards, ...]:
        """The cards of each offer of the strategy at an instant, in order of first lease.

        Leased cards and those by the hour stand apart: no job has both at once.
        """
        leased: dict[tuple[str, bool], int] = {}
        sizes: dict[str, int] = {}
        for lease in self.result.log.leases:
            present = lease.start_us <= at_us and (lease.end_us is None or at_us < lease.end_us)
            kind = lease.offer, lease.lease < 0
            leased[kind] = leased.get(kind, 0) + (lease.gpus if present else 0)
            sizes[lease.offer] = lease.gpus
        return tuple(
            self._of_offer(offer, hourly, count, sizes[offer], at_us, apart=(offer, not hourly) in leased)
            for (offer, hourly), count in leased.items()
        )

    def _of_offer(
        self, offer: str, hourly: bool, leased: int, size: int, at_us: Micros, *, apart: bool
    ) -> Cards:
        held = [
            attempt
            for attempt in self.result.log.attempts
            if (attempt.offer, attempt.burst) == (offer, hourly)
            and attempt.start_us <= at_us < attempt.end_us
        ]
        broken = [
            failure
            for failure in self.result.log.failures
            if (failure.offer, failure.burst) == (offer, hourly) and failure.at_us <= at_us < failure.back_us
        ]
        down = sum(size if failure.card is None else 1 for failure in broken)
        busy = len({card for attempt in held for card in attempt.cards})
        jobs = tuple(attempt.job for attempt in held)
        away, reserved = (0, 0) if hourly else self._withheld((offer,), at_us, at_us + 1)
        beside = (HOURLY if hourly else LEASED) if apart else ""
        return Cards(offer, leased, busy, min(down, leased), jobs, away, reserved, beside)

    def _withheld(self, offers: Collection[str], start_us: Micros, end_us: Micros) -> tuple[Micros, Micros]:
        """Card-time of leased cards of these offers outside of windows, and in reserve."""
        away = reserved = 0
        for pool in self.plan.pools:
            if pool.offer not in offers:
                continue
            for span in pool.leases:
                last = end_us if span.end_us is None else min(end_us, span.end_us)
                present = max(0, last - max(start_us, span.start_us))
                opened = sum(
                    max(0, (last if end is None else min(last, end)) - max(start_us, begin))
                    for begin, end in span.usable
                )
                cards = span.count * pool.gpus_per_machine
                away += (present - opened) * (cards - span.reserve)
                reserved += present * span.reserve
        return away, reserved

    def waiting(self, at_us: Micros) -> tuple[int, ...]:
        """Jobs in the queue at an instant, in order of submission."""
        return tuple(
            job.id for job in self.result.jobs.jobs if job.submit_us <= at_us and self._is_waiting(job, at_us)
        )

    def _is_waiting(self, job: Job, at_us: Micros) -> bool:
        record = self.records.get(job.id)
        if record is None or record.state == "refused":
            return False
        if record.end_us is not None and record.end_us <= at_us:
            return False
        return not any(a.start_us <= at_us < a.end_us + a.pause_us for a in self.attempts.get(job.id, ()))

    def fewest_cards(self, job: Job, offer: str) -> int | None:
        """Smallest number of cards of an offer on which the job runs; None: it does not fit there."""
        options = self.prepared.rates.options.get((job.shape, offer), ())
        wanted = self.prepared.shapes[job.shape].gpus
        counts = [option.gpus for option in options if not wanted or option.gpus in wanted]
        return min(counts, default=None)

    def label(self, job_id: int) -> str:
        """Name and number of a job."""
        return f"{self.result.jobs.jobs[job_id].name} (job {job_id})"

    def use(self, job: Job, start_us: Micros, end_us: Micros) -> Use:
        """What the cards on which the job fits did from `start_us` to `end_us`."""

        def inside(start: Micros, end: Micros | None) -> Micros:
            return max(0, min(end_us, end_us if end is None else end) - max(start_us, start))

        log = self.result.log
        leased = [lease for lease in log.leases if self.fewest_cards(job, lease.offer) is not None]
        offers = {lease.offer: lease.gpus for lease in leased}
        taken: dict[int, Micros] = {}
        for attempt in log.attempts:
            span = inside(attempt.start_us, attempt.end_us)
            if span and attempt.offer in offers:
                taken[attempt.job] = taken.get(attempt.job, 0) + int(
                    span * len(attempt.cards) * attempt.share
                )
        return Use(
            leased_us=sum(lease.gpus * inside(lease.start_us, lease.end_us) for lease in leased),
            busy_us=sum(taken.values()),
            down_us=sum(
                inside(failure.at_us, failure.back_us)
                * (offers[failure.offer] if failure.card is None else 1)
                for failure in log.failures
                if failure.offer in offers
            ),
            jobs=tuple(sorted(taken.items(), key=lambda item: (-item[1], item[0]))),
            withheld_us=sum(self._withheld(offers, start_us, end_us)),
        )
