"""Time and work are conserved whatever fails, is moved, rolled back, redone, cancelled or retried."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import run
from sim.model.failures import (
    CheckpointSpec,
    FailureModel,
    Hangs,
    Infancy,
    Lemons,
    Maintenance,
    SharedEvents,
    Snapshots,
    Spares,
)
from sim.model.fleet import FleetPlan, LeaseSpan, LogNormal, PoolSpec
from sim.model.job import Job, JobSet, JobShape, UserEnd
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, failures, option

HOURS = 80
FINAL = {"done", "killed", "refused", "cancelled", "failed", "running", "waiting"}


@st.composite
def models(draw: st.DrawFn) -> FailureModel:
    kinds = ("gpu_reset", "gpu_fatal", "node", "ecc_uncorrectable", "silent_corruption")
    mean = st.sampled_from([5, 20, 100])
    maybe = st.booleans()
    return failures(
        mtbf_us={kind: draw(mean) * HOUR for kind in kinds if draw(maybe)},
        detect_us=(0, 10 * MINUTE),
        contained=0.5,
        found=draw(st.sampled_from([0.0, 0.5, 1.0])),
        weibull_shape=draw(st.sampled_from([0.7, 1.0])),
        shared={"switch": SharedEvents(20 * HOUR, LogNormal(HOUR, 0.5), 2)} if draw(maybe) else None,
        lemons=Lemons(0.3, 5) if draw(maybe) else None,
        infancy=Infancy(3, 5 * HOUR) if draw(maybe) else None,
        hangs=Hangs(0.5, LogNormal(30 * MINUTE, 1), kinds[:3]) if draw(maybe) else None,
        spares=Spares(1, LogNormal(8 * HOUR, 0.5)) if draw(maybe) else None,
        snapshots=Snapshots(draw(st.sampled_from([2, 8])) * HOUR, MINUTE, draw(maybe))
        if draw(maybe)
        else None,
        maintenance=Maintenance(7 * HOUR, 15 * HOUR, HOUR, draw(maybe)) if draw(maybe) else None,
    )


def user_ends() -> st.SearchStrategy[tuple[UserEnd, ...]]:
    failed = st.builds(
        UserEnd, st.just("failed"), st.floats(0, 1), st.sampled_from([None, 0, 10 * MINUTE]), st.just(HOUR)
    )
    last = st.builds(UserEnd, st.sampled_from(["cancelled", "failed"]), st.floats(0, 1))
    return st.one_of(
        st.just(()), st.lists(failed, max_size=2).map(tuple), st.tuples(last), st.tuples(failed, last)
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[FleetPlan, JobSet, RateTable, int]:
    size = draw(st.sampled_from([1, 2]))
    spans = tuple(
        LeaseSpan(lease, draw(st.integers(1, 2)), start * HOUR, end, draw(st.booleans()))
        for lease, (start, end) in enumerate(
            draw(st.sampled_from([[(0, None)], [(0, 30 * HOUR), (9, None)]]))
        )
    )
    model = draw(models())
    spec = PoolSpec(OFFER, size, 40.0, "A100-40G", True, spans, model)
    checkpoint = CheckpointSpec(
        *draw(st.sampled_from([(None,), (20 * MINUTE,), (2 * HOUR, 5 * MINUTE), (None, MINUTE, "daly")]))
    )
    plan = FleetPlan((spec,), None, "fifo", HOURS * HOUR, checkpoint)
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 70), st.integers(1, 30), st.integers(0, 1), user_ends()), max_size=12
        )
    )
    jobs = tuple(
        Job(i, f"job-{i}", shape, hour * HOUR, float(length * HOUR), ends=ends)
        for i, (hour, length, shape, ends) in enumerate(sorted(rows, key=lambda row: row[0]))
    )
    shapes = tuple(JobShape(f"{n} cards", None, (n,)) for n in (1, 2))
    common = {"startup_us": 3 * MINUTE, "restart_us": 5 * MINUTE, "checkpoint_us": MINUTE}
    staged = {"stage_us": 20 * MINUTE, "stage_key": "m"} if draw(st.booleans()) else {}
    ways = {
        (i, OFFER): (option(n, **common, **staged), option(n, spans=True, **common, **staged))
        for i, n in enumerate((1, 2))
    }
    return plan, JobSet(shapes, jobs), RateTable(options=ways), draw(st.integers(0, 20))


@settings(max_examples=120, deadline=None)
@given(worlds())
def test_time_and_work_are_conserved(world: tuple[FleetPlan, JobSet, RateTable, int]) -> None:
    plan, jobs, rates, seed = world
    log = run(plan, jobs, rates, Streams(seed))
    assert [job.job for job in log.jobs] == [job.id for job in jobs.jobs]
    assert {job.state for job in log.jobs} <= FINAL
    for record in log.jobs:
        one_job_adds_up(log, jobs, record.job)
    assert sum(len(a.cards) * (a.end_us - a.start_us) for a in log.attempts) == sum(
        lease.busy_card_us for lease in log.leases
    )
    for lease in log.leases:
        end = log.horizon_us if lease.end_us is None else lease.end_us
        assert lease.busy_card_us + lease.down_card_us <= (end - lease.start_us) * lease.gpus
    assert log == run(plan, jobs, rates, Streams(seed))


def one_job_adds_up(log: RunLog, jobs: JobSet, job: int) -> None:
    record, asked = log.jobs[job], jobs.jobs[job]
    stays = [a for a in log.attempts if a.job == job]
    end = log.horizon_us if record.end_us is None else record.end_us
    assert record.wait_us + record.run_us + record.pause_us == end - asked.submit_us
    assert min(record.wait_us, record.pause_us, record.redone) >= 0
    for a in stays:
        parts = (a.startup_us, a.checkpoint_us, a.work_us, a.lost_us, a.voided_card_us)
        assert min(parts) >= 0
        assert sum(parts[:4]) == a.end_us - a.start_us
    width = len(stays[-1].cards) if stays else 1
    kept = sum(a.work_us * len(a.cards) - a.voided_card_us for a in stays)
    if record.state == "done":
        assert kept == round(asked.work) * width
        assert record.submissions == 1 + len([end for end in asked.ends if end.retry_after_us is not None])
    elif record.state == "failed":
        assert (kept, record.progress) == (0, 0)
    elif stays:
        assert kept == round(record.progress * asked.work) * width
    assert record.redone == sum(a.ended == "bad_result" for a in stays)
    assert record.submissions == 1 + sum(a.ended == "retried" for a in stays)
    assert not (record.bad and record.state != "done")


def test_the_worlds_reach_what_they_are_for() -> None:
    """A model with everything on meets every kind, so that the property above is no empty promise."""
    model = failures(
        mtbf_us={"node": 30 * HOUR, "silent_corruption": 30 * HOUR, "ecc_uncorrectable": 60 * HOUR},
        snapshots=Snapshots(8 * HOUR, MINUTE, True),
        maintenance=Maintenance(7 * HOUR, 15 * HOUR, HOUR, True),
        shared={"site": SharedEvents(100 * HOUR, LogNormal(HOUR, 0.5))},
        found=0.5,
    )
    spec = PoolSpec(OFFER, 1, 40.0, "A100-40G", True, (LeaseSpan(0, 4, 0, None, False),), model)
    plan = FleetPlan((spec,), None, "fifo", 1000 * HOUR, CheckpointSpec(HOUR))
    ends = (UserEnd("failed", 0.5, None, HOUR),)
    jobs = tuple(Job(i, f"{i}", 0, i * 5 * HOUR, 15.0 * HOUR, ends=ends if i % 3 else ()) for i in range(150))
    log = run(
        plan,
        JobSet((JobShape("x", None, (1,)),), jobs),
        RateTable(options={(0, OFFER): (option(),)}),
        Streams(1),
    )
    ended = {a.ended for a in log.attempts}
    assert {"node", "maintenance", "site", "ecc_uncorrectable", "bad_result", "retried", "done"} <= ended
    assert any(a.voided_card_us for a in log.attempts)
    assert any(job.bad for job in log.jobs)
