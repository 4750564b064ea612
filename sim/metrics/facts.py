"""The records of one run as arrays, made once and read by every metric.

Card-time is cards times microseconds. `measured` marks the jobs that service metrics count: those
submitted at or after the warm-up. Money and card-time are never cut by the warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
import numpy.typing as npt

from sim.model.job import JobSet
from sim.model.ledger import Ledger
from sim.model.records import JobState, RunLog
from sim.model.scenario import Scenario, Target
from sim.units import Micros

__all__ = ["Facts", "Flags", "Numbers", "Times"]

Flags = npt.NDArray[np.bool_]
Times = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

_STATES: dict[JobState, int] = {state: code for code, state in enumerate(get_args(JobState))}
_LEAVES = ("done", "killed", "cancelled", "failed", "horizon")
"""How a stay ends after which the job does not go back to the queue."""


@dataclass(frozen=True)
class Facts:
    """One run, as arrays in the order of `log.jobs`, `log.attempts` and `log.leases`."""

    log: RunLog
    ledger: Ledger
    jobs: JobSet
    scenario: Scenario
    target: Target | None

    @property
    def horizon(self) -> Micros:
        """Length of the run, microseconds."""
        return self.log.horizon_us

    # --- jobs ---

    @cached_property
    def state(self) -> npt.NDArray[np.int8]:
        """Codes of the states; see `in_state`."""
        return np.array([_STATES[record.state] for record in self.log.jobs], dtype=np.int8)

    def in_state(self, *states: JobState) -> Flags:
        """Which jobs are in one of these states."""
        return np.isin(self.state, [_STATES[state] for state in states])

    @cached_property
    def job_ids(self) -> Times:
        """Ids of the jobs, rising."""
        return np.array([record.job for record in self.log.jobs], dtype=np.int64)

    @cached_property
    def submit(self) -> Times:
        """Time of submission."""
        jobs = self.jobs.jobs
        return np.array([jobs[record.job].submit_us for record in self.log.jobs], dtype=np.int64)

    @cached_property
    def due(self) -> Times:
        """Submission plus deadline; -1 without a deadline."""
        jobs = (self.jobs.jobs[record.job] for record in self.log.jobs)
        due = [-1 if job.deadline_us is None else job.submit_us + job.deadline_us for job in jobs]
        return np.array(due, dtype=np.int64)

    @cached_property
    def end(self) -> Times:
        """End of a job, time of refusal of a refused one; -1 for those that run or wait."""
        ends = [-1 if record.end_us is None else record.end_us for record in self.log.jobs]
        return np.array(ends, dtype=np.int64)

    @cached_property
    def wait(self) -> Times:
        """All time in the queue, up to the horizon."""
        return np.array([record.wait_us for record in self.log.jobs], dtype=np.int64)

    @cached_property
    def run(self) -> Times:
        """All time on cards."""
        return np.array([record.run_us for record in self.log.jobs], dtype=np.int64)

    @cached_property
    def progress(self) -> Numbers:
        """Share of the work done."""
        return np.array([record.progress for record in self.log.jobs], dtype=np.float64)

    @cached_property
    def shape(self) -> Times:
        """Index of the shape."""
        jobs = self.jobs.jobs
        return np.array([jobs[record.job].shape for record in self.log.jobs], dtype=np.int64)

    @cached_property
    def work(self) -> Numbers:
        """Work of the whole job, in the unit of its shape."""
        jobs = self.jobs.jobs
        return np.array([jobs[record.job].work for record in self.log.jobs], dtype=np.float64)

    @cached_property
    def measured(self) -> Flags:
        """Jobs of the service metrics."""
        return self.submit >= self.scenario.experiment.warm_up

    @cached_property
    def measured_waits(self) -> Times:
        """Waits of the measured jobs; refused jobs have none."""
        return self.wait[self.measured & ~self.in_state("refused")]

    # --- stays on cards ---

    @cached_property
    def stay_job(self) -> npt.NDArray[np.intp]:
        """Position in `log.jobs` of the job of each stay."""
        ids = np.array([stay.job for stay in self.log.attempts], dtype=np.int64)
        return np.searchsorted(self.job_ids, ids)

    @cached_property
    def stay_cards(self) -> Times:
        """Cards of each stay."""
        return np.array([len(stay.cards) for stay in self.log.attempts], dtype=np.int64)

    @cached_property
    def stay_start(self) -> Times:
        """Start of each stay."""
        return np.array([stay.start_us for stay in self.log.attempts], dtype=np.int64)

    @cached_property
    def stay_end(self) -> Times:
        """End of each stay."""
        return np.array([stay.end_us for stay in self.log.attempts], dtype=np.int64)

    @cached_property
    def stay_requeues(self) -> Flags:
        """Whether the job went back to the queue after the stay."""
        return np.array([stay.ended not in _LEAVES for stay in self.log.attempts], dtype=np.bool_)

    @cached_property
    def stay_back(self) -> Times:
        """When the job was back in the queue after each stay, where it went back."""
        pauses = np.array([stay.pause_us for stay in self.log.attempts], dtype=np.int64)
        return self.stay_end + pauses

    @cached_property
    def stay_work(self) -> Times:
        """Card-time of work of each stay that still counted when it ended."""
        work = np.array([stay.work_us for stay in self.log.attempts], dtype=np.int64)
        return work * self.stay_cards

    @cached_property
    def stay_lost(self) -> Times:
        """Card-time of work of each stay that its end lost."""
        lost = np.array([stay.lost_us for stay in self.log.attempts], dtype=np.int64)
        return lost * self.stay_cards

    @cached_property
    def stay_voided(self) -> Times:
        """Card-time of work of earlier stays that each stay's end destroyed."""
        return np.array([stay.voided_card_us for stay in self.log.attempts], dtype=np.int64)

    @cached_property
    def stay_startup(self) -> Times:
        """Card-time of fetching, loading and warming up of each stay."""
        startup = np.array([stay.startup_us for stay in self.log.attempts], dtype=np.int64)
        return startup * self.stay_cards

    @cached_property
    def stay_checkpoint(self) -> Times:
        """Card-time of writing checkpoints of each stay."""
        checkpoint = np.array([stay.checkpoint_us for stay in self.log.attempts], dtype=np.int64)
        return checkpoint * self.stay_cards

    # --- machines ---

    @cached_property
    def leased(self) -> Times:
        """Card-time of each machine within the horizon, from its start to its end."""
        horizon = self.horizon
        spans = (
            (horizon if m.end_us is None else min(m.end_us, horizon)) - min(m.start_us, horizon)
            for m in self.log.leases
        )
        spans_cards = [span * m.gpus for span, m in zip(spans, self.log.leases, strict=True)]
        return np.array(spans_cards, dtype=np.int64)

    @cached_property
    def burst_machines(self) -> Flags:
        """Which machines were rented in a burst."""
        return np.array([machine.lease == -1 for machine in self.log.leases], dtype=np.bool_)

    # --- totals, card-time ---

    @cached_property
    def leased_total(self) -> int:
        """Leased card-time, burst included; busy + idle + down + away + reserved."""
        return int(self.leased.sum())

    @cached_property
    def busy_total(self) -> int:
        """Card-time with a job."""
        return sum(machine.busy_card_us for machine in self.log.leases)

    @cached_property
    def down_total(self) -> int:
        """Card-time away for failure, reset or migration."""
        return sum(machine.down_card_us for machine in self.log.leases)

    @cached_property
    def away_total(self) -> int:
        """Card-time outside of the windows of the leases."""
        return sum(machine.away_card_us for machine in self.log.leases)

    @cached_property
    def reserved_total(self) -> int:
        """Card-time of cards kept out of training."""
        return sum(machine.reserved_card_us for machine in self.log.leases)

    @cached_property
    def usable_total(self) -> int:
        """Leased card-time that jobs could have: without away and reserved time, down time included."""
        return self.leased_total - self.away_total - self.reserved_total

    @cached_property
    def voided_total(self) -> int:
        """Card-time of work destroyed after it had counted."""
        return int(self.stay_voided.sum())

    @cached_property
    def useful_total(self) -> int:
        """Card-time of work that was kept to the end of the run."""
        return int(self.stay_work.sum()) - self.voided_total

    @cached_property
    def lost_total(self) -> int:
        """Card-time of work lost, at once or later."""
        return int(self.stay_lost.sum()) + self.voided_total
