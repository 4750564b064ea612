"""What must hold in every run of the engine, whatever the fleet, the jobs and the misfortune."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.decisions.policies import POLICIES
from sim.engine import run
from sim.model.fleet import BurstSpec, CheckpointSpec, FleetPlan, ForcedFailure, LeaseSpan, LogNormal
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import OFFER, failures, option, pool

HOURS = 60
minutes = st.integers(0, HOURS * 60)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[FleetPlan, JobSet, RateTable, int]:
    size = draw(st.sampled_from([1, 1, 2, 4]))
    counts = draw(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=3, unique=True))
    ways = {}
    for shape, count in enumerate(counts):
        start = draw(st.integers(0, 5)) * MINUTE
        common = {"startup_us": start, "restart_us": 2 * start, "checkpoint_us": MINUTE}
        ways[shape, OFFER] = (option(count, **common), option(count, spans=True, **common))
        if count == 1:
            ways[shape, "hourly"] = (option(1, us_per_work=0.5, stage_us=7 * MINUTE, stage_key="m"),)
    spans = []
    for lease in range(draw(st.integers(1, 3))):
        start, length = draw(minutes), draw(minutes)
        end = None if draw(st.booleans()) else (start + length + 1) * MINUTE
        spans.append(LeaseSpan(lease, draw(st.integers(1, 3)), start * MINUTE, end, draw(st.booleans())))
    model = failures(
        draw(st.sampled_from([3, 10, 100])),
        draw(st.sampled_from(["node", "gpu_reset", "gpu_fatal"])),
        detect_us=(0, 5 * MINUTE),
        disk_kept=draw(st.booleans()),
    )
    forced = tuple(
        ForcedFailure(draw(minutes) * MINUTE, kind, OFFER, draw(st.integers(0, 2)), 0, HOUR)
        for kind in draw(st.lists(st.sampled_from(["node", "gpu_reset"]), max_size=3))
    )
    burst = BurstSpec(
        pool=pool(0, offer="hourly", leases=[], spans=False, memory_gib=80, model=model),
        max_units=draw(st.integers(1, 2)),
        rent_when_wait_over_us=draw(st.sampled_from([0, 30, 120])) * MINUTE,
        release_after_idle_us=draw(st.sampled_from([0, 15, 90])) * MINUTE,
        increment_us=HOUR,
        minimum_us=HOUR,
        delay=LogNormal(3 * MINUTE, 0.7),
        stock_out=0.2,
        retry_mean_us=30 * MINUTE,
    )
    plan = FleetPlan(
        pools=(pool(0, per_machine=size, leases=spans, model=model, spans=draw(st.booleans())),),
        burst=burst if draw(st.booleans()) else None,
        policy=draw(st.sampled_from(sorted(POLICIES))),
        horizon_us=HOURS * HOUR,
        checkpoint=CheckpointSpec(draw(st.sampled_from([None, 20 * MINUTE, 2 * HOUR]))),
        forced=forced,
    )
    rows = draw(
        st.lists(
            st.tuples(minutes, st.integers(1, 900), st.integers(0, len(counts) - 1), st.booleans()),
            max_size=25,
        )
    )
    jobs = tuple(
        Job(
            i, f"job-{i}", shape, submit * MINUTE, float(length * MINUTE),
            priority=length % 3, deadline_us=length * 2 * MINUTE if length % 2 else None,
            limit_us=length * MINUTE + HOUR if limited else None,
        )
        for i, (submit, length, shape, limited) in enumerate(sorted(rows))
    )  # fmt: skip
    shapes = tuple(JobShape(f"{n} cards", None, (n,)) for n in counts)
    return plan, JobSet(shapes, jobs), RateTable(options=ways), draw(st.integers(0, 10))


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_invariants(world: tuple[FleetPlan, JobSet, RateTable, int]) -> None:
    plan, jobs, rates, seed = world
    log = run(plan, jobs, rates, Streams(seed))
    assert [job.job for job in log.jobs] == [job.id for job in jobs.jobs if job.submit_us < HOURS * HOUR]
    jobs_add_up(log, jobs, rates)
    cards_add_up(log)


def jobs_add_up(log: RunLog, jobs: JobSet, rates: RateTable) -> None:
    for record in log.jobs:
        job = jobs.jobs[record.job]
        stays = [a for a in log.attempts if a.job == record.job]
        assert record.run_us == sum(a.end_us - a.start_us for a in stays)
        assert all(a.start_us >= job.submit_us for a in stays)
        assert all(a.end_us <= b.start_us for a, b in pairwise(stays))
        end = log.horizon_us if record.end_us is None else record.end_us
        assert record.wait_us + record.run_us == end - job.submit_us
        assert 0 <= record.progress <= 1
        for a in stays:
            parts = (a.startup_us, a.checkpoint_us, a.work_us, a.lost_us)
            assert min(parts) >= 0
            assert sum(parts) == a.end_us - a.start_us
            assert job.limit_us is None or a.end_us - a.start_us <= job.limit_us
        if record.state == "done":
            width = len(stays[-1].cards)
            worth = {a.offer: rates.options[job.shape, a.offer][0].us_per_work for a in stays}
            if len(set(worth.values())) == 1:
                kept = sum(a.work_us * len(a.cards) - a.voided_card_us for a in stays)
                assert kept == round(job.work * worth[stays[-1].offer]) * width
        if record.state == "refused":
            assert record.reason


def cards_add_up(log: RunLog) -> None:
    end = {None: log.horizon_us}
    for burst in (False, True):
        stays = [a for a in log.attempts if a.burst == burst]
        leases = [lease for lease in log.leases if (lease.lease == -1) == burst]
        busy = sum(len(a.cards) * (a.end_us - a.start_us) for a in stays)
        assert busy == sum(lease.busy_card_us for lease in leases)
        for lease in leases:
            usable = (end.get(lease.end_us, lease.end_us) - lease.start_us) * lease.gpus
            assert lease.busy_card_us + lease.down_card_us <= usable
        by_card: dict[int, list[tuple[int, int]]] = {}
        for a in stays:
            for card in a.cards:
                by_card.setdefault(card, []).append((a.start_us, a.end_us))
                size = leases[0].gpus
                assert any(
                    lease.machine == card // size
                    and lease.start_us <= a.start_us
                    and a.end_us <= end.get(lease.end_us, lease.end_us)
                    for lease in leases
                )
        for times in by_card.values():
            assert all(first[1] <= second[0] for first, second in pairwise(sorted(times)))
        if not burst:
            nothing_starts_on_what_is_down(log)


def nothing_starts_on_what_is_down(log: RunLog) -> None:
    for failure in log.failures:
        if failure.offer != OFFER:
            continue
        for a in log.attempts:
            if a.burst:
                continue
            size = log.leases[0].gpus if log.leases[0].lease != -1 else 0
            hit = failure.card in a.cards or (
                failure.card is None and size and any(card // size == failure.machine for card in a.cards)
            )
            assert not (hit and failure.at_us < a.start_us < failure.back_us and failure.card is None)
