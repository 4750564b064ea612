"""The records of one run as arrays, made once and read by every metric.

Card-time is cards times microseconds. `measured` marks the jobs that service metrics count: those
submitted at or after the warm-up. Money and card-time are never cut by the warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sim.billing.penalties import has_penalties, penalties
from sim.model.job import JobSet
from sim.model.job_table import JobTable
from sim.model.ledger import Ledger
from sim.model.logs import Attempts, JobRecords
from sim.model.records import ENDS_FOR_GOOD, JobState, RunLog
from sim.model.scenario import Scenario, Target
from sim.units import Micros

__all__ = ["Facts", "Flags", "Numbers", "Times"]

Flags = npt.NDArray[np.bool_]
Times = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """One run, as arrays in the order of `log.jobs`, `log.attempts` and `log.leases`.

    Columns are copied out of the packed records when they are asked for, and not kept: that is quick,
    and those of a million jobs would take more memory than the run.
    """

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
    def records(self) -> JobRecords:
        """The records of the jobs, as columns."""
        return JobRecords.of(self.log.jobs)

    @cached_property
    def asked(self) -> JobTable:
        """The jobs, as columns by id."""
        return JobTable.of(self.jobs.jobs)

    def in_state(self, *states: JobState) -> Flags:
        """Which jobs are in one of these states."""
        return self.records.in_state(*states)

    @cached_property
    def job_ids(self) -> Times:
        """Ids of the jobs, rising."""
        return self.records.column("job")

    @cached_property
    def submit(self) -> Times:
        """Time of submission."""
        return self.asked.submit_us[self.job_ids]

    @property
    def due(self) -> Times:
        """Submission plus deadline; -1 without a deadline."""
        deadline = self.asked.deadline_us[self.job_ids]
        return np.where(deadline < 0, -1, self.submit + deadline)

    @property
    def end(self) -> Times:
        """End of a job, time of refusal of a refused one; -1 for those that run or wait."""
        return self.records.column("end_us")

    @property
    def wait(self) -> Times:
        """All time in the queue, up to the horizon."""
        return self.records.column("wait_us")

    @property
    def run(self) -> Times:
        """All time on cards."""
        return self.records.column("run_us")

    @property
    def progress(self) -> Numbers:
        """Share of the work done."""
        return self.records.column("progress")

    @cached_property
    def shape(self) -> Times:
        """Index of the shape."""
        return self.asked.shape[self.job_ids].astype(np.int64)

    @cached_property
    def closed(self) -> Flags:
        """Jobs of people who wait for each of their runs."""
        return np.array([shape.closed for shape in self.jobs.shapes] or [False])[self.shape]

    @property
    def work(self) -> Numbers:
        """Work of the whole job, in the unit of its shape."""
        return self.asked.work[self.job_ids]

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
    def stays(self) -> Attempts:
        """The records of the stays, as columns."""
        return Attempts.of(self.log.attempts)

    @cached_property
    def stay_job(self) -> npt.NDArray[np.intp]:
        """Position in `log.jobs` of the job of each stay."""
        return np.searchsorted(self.job_ids, self.stays.column("job"))

    @property
    def stay_cards(self) -> Times:
        """Cards of each stay."""
        return self.stays.column("cards").astype(np.int64)

    @property
    def stay_start(self) -> Times:
        """Start of each stay."""
        return self.stays.column("start_us")

    @property
    def stay_end(self) -> Times:
        """End of each stay."""
        return self.stays.column("end_us")

    @property
    def stay_requeues(self) -> Flags:
        """Whether the job went back to the queue after the stay."""
        return ~self.stays.ended(*ENDS_FOR_GOOD)

    @property
    def stay_back(self) -> Times:
        """When the job was back in the queue after each stay, where it went back."""
        pauses: Times = self.stays.column("pause_us")
        return self.stay_end + pauses

    @property
    def stay_work(self) -> Times:
        """Card-time of work of each stay that still counted when it ended."""
        return self._card_time("work_us")

    @property
    def stay_lost(self) -> Times:
        """Card-time of work of each stay that its end lost."""
        return self._card_time("lost_us")

    @property
    def stay_voided(self) -> Times:
        """Card-time of work of earlier stays that each stay's end destroyed."""
        return self.stays.column("voided_card_us")

    @property
    def stay_startup(self) -> Times:
        """Card-time of fetching, loading and warming up of each stay."""
        return self._card_time("startup_us")

    @property
    def stay_checkpoint(self) -> Times:
        """Card-time of writing checkpoints of each stay."""
        return self._card_time("checkpoint_us")

    def _card_time(self, name: str) -> Times:
        times: Times = self.stays.column(name)
        share = self.stays.card_share()
        if share is None:
            return times * self.stay_cards
        return np.rint(times * self.stay_cards * share).astype(np.int64)

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

    # --- penalties ---

    @cached_property
    def penalty(self) -> Decimal | None:
        """What late and refused jobs cost as the scenario says; None where the jobs are not known."""
        if not self.jobs.shapes:
            return None if has_penalties(self.scenario) else Decimal("0.00")
        found = penalties(self.log, self.jobs, self.scenario)
        return sum((one.cost for one in found.values()), Decimal("0.00"))

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
