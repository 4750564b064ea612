"""Failures: how long a job is behind when its machine fails, by runs with and without the failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_engine import START, once, scenario
from sim.claims.card_jobs import CardJob, Several, models_of
from sim.claims.card_steps import spread
from sim.claims.money import find_offer
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.replication import RunResult
from sim.units import MINUTE

__all__ = ["RELIABILITY"]


class _Failure(CardJob):
    offer: str = "a100-40g-custom"
    within_min: float = Field(default=10, gt=0, le=10_000)
    """The provider's promise, kept in every case here."""
    fails_at_h: tuple[float, ...] = (5.1, 9.2, 13.3, 17.4, 21.6)
    """Hours after the start at which the machine fails, one run each."""
    checkpoint: str = "20min"
    data_disk: Annotated[tuple[Literal["kept", "lost"], ...], Several] = ("kept", "lost")
    """Whether checkpoints and the base model move along; no article says, so both are computed."""
    snapshots_a_day: int | None = Field(default=None, ge=1, le=1440)
    """Snapshots of the data disk that a move falls back on."""
    rollback_s: float = Field(default=30, ge=0)


def behind_after_failure(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Minutes by which a job ends later because its machine failed and was moved; simulated."""
    asked = read_inputs(_Failure, inputs)
    offer = find_offer(bench, asked.offer)
    steps: list[Step] = []
    values: list[float] = []
    for disk in asked.data_disk:
        plain = _end(_simulated(asked, disk, None, bench))
        for hour in asked.fails_at_h:
            run = _simulated(asked, disk, hour, bench)
            if run.log.attempts[0].ended != "node":
                rule = "the job is over before its machine fails"
                raise InputError(Problem(rule, key="inputs.fails_at_h", value=str(hour)))
            late = (_end(run) - plain) / MINUTE
            values.append(late)
            steps += _told(f"Fails after {hour:g} h, data disk {disk}", run, late)
    low, high = spread(values)
    steps.append(Step("The job is behind by", f"{shown(low, digits=0)} to {shown(high, 'min', 0)}"))
    notes = (
        f"The promise of {asked.within_min:g} min is kept each time (no audit is published).",
        f"Work is saved every {asked.checkpoint} on the data disk.",
        f"Where it is lost in the move, so is the work; the model is fetched at {offer.wan_mbps:g} Mbit/s.",
    )
    source = f"engine, two runs each, with and without the failure; catalogue {offer.id}"
    return Working(low, high, "min", tuple(steps), notes, (source,))


def _told(when: str, run: RunResult, late: float) -> list[Step]:
    attempts, failure = run.log.attempts, run.log.failures[0]
    lost = sum(stay.lost_us for stay in attempts) / MINUTE
    down = (failure.back_us - failure.at_us) / MINUTE
    again = attempts[-1].startup_us / MINUTE
    return [
        Step(f"{when}: machine away", shown(down, "min", 1)),
        Step("Fetching the base model where it is gone, loading, warming up", shown(again, "min", 1)),
        Step("Work that was lost", shown(lost, "min", 1)),
        Step("The job ends later by", shown(late, "min", 1)),
    ]


def _simulated(asked: _Failure, disk: str, fails_at: float | None, bench: Bench) -> RunResult:
    model = models_of(asked, bench)[0]
    job = {
        "name": "job",
        "model": model.id,
        "method": asked.method,
        "rank": asked.rank[0],
        "micro_batch": asked.micro_batch[0],
        "seq_len": asked.seq_len[0],
        "samples": asked.samples,
        "epochs": asked.epochs,
        "gpus": asked.gpus,
        "at": [START],
    }
    events = []
    if fails_at is not None:
        event = {"at": f"{round(fails_at * 3600)}s", "kind": "node", "offer": asked.offer}
        events.append(event)
    migration = {"within": f"{round(asked.within_min * 60)}s", "kept": 1.0}
    failing: dict[str, Any] = {
        "profile": "none",
        "migration": migration,
        "data_disk": disk,
        "events": events,
    }
    if asked.snapshots_a_day is not None:
        plan = {"per_day": asked.snapshots_a_day, "rollback": f"{asked.rollback_s:g}s", "disk": "data"}
        failing["snapshots"] = plan
    lease = {"offer": asked.offer, "count": asked.gpus, "plan": "monthly"}

    def make() -> RunResult:
        prepared = scenario(
            bench,
            {"classes": [job]},
            [{"name": "cards", "leases": [lease]}],
            "120d",
            reliability=failing,
            checkpoint={"every": asked.checkpoint},
        )
        return once(prepared, bench)

    return bench.once(("behind", asked.model_dump_json(), disk, fails_at), make)


def _end(run: RunResult) -> int:
    job = run.log.jobs[0]
    end = job.end_us
    if end is None or job.state != "done":
        reason = job.reason or "it is not done within 120 days"
        raise InputError(Problem(f"the job does not end: {reason}", key="inputs"))
    return end


RELIABILITY: Mapping[str, Computation] = {"behind_after_failure": behind_after_failure}
"""Computations of failures."""
