"""Small random scenarios for the twin, full of ties and misfortune (Hypothesis strategies)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from hypothesis import strategies as st

from sim.model.failures import (
    SILENT,
    Hangs,
    Infancy,
    Lemons,
    Maintenance,
    NoSpare,
    SharedEvents,
    Snapshots,
    Spares,
)
from sim.model.fleet import (
    BurstSpec,
    CheckpointSpec,
    FailureModel,
    FleetPlan,
    ForcedFailure,
    LeaseSpan,
    LogNormal,
    PolicyParameters,
    PoolSpec,
)
from sim.model.job import Job, JobSet, JobShape, UserEnd
from sim.model.rates import RateTable, RunOption
from sim.units import HOUR, MINUTE, SECOND

__all__ = ["Case", "cases", "narrowed"]

TICK = 10 * MINUTE
TICKS = 240
"""The horizon at most: 40 hours."""
HOURLY = "hourly"
FORCED = ["gpu_reset", "gpu_fatal", "node", "ecc_uncorrectable", "switch", "site", "maintenance"]

ticks = st.integers(0, TICKS)


@dataclass(frozen=True)
class Case:
    """All that a run reads."""

    plan: FleetPlan
    jobs: JobSet
    rates: RateTable
    seed: int


@st.composite
def failure_models(draw: st.DrawFn, more: bool = False) -> FailureModel | None:
    """Kinds, times and promises; `more`: what a scenario may switch on besides."""
    kinds = draw(
        st.lists(
            st.sampled_from(["gpu_fatal", "gpu_reset", "network", "node", "ecc_uncorrectable"]),
            unique=True,
            max_size=4,
        )
    )
    if not kinds and not (more and draw(st.booleans())):
        return None
    model = FailureModel(
        mtbf_us={kind: draw(st.sampled_from([5, 20, 60])) * HOUR for kind in kinds},
        detect_us=draw(st.sampled_from([(0, 0), (0, 30 * MINUTE), (TICK, TICK)])),
        reset=LogNormal(draw(st.sampled_from([1, 5])) * TICK, draw(st.sampled_from([0.0, 0.7])), 3 * HOUR),
        migration_us=draw(st.sampled_from([(0, 0), (TICK, TICK), (0, HOUR)])),
        migration_kept=draw(st.sampled_from([1.0, 0.5])),
        migration_late=LogNormal(2 * HOUR, 1.0, 10 * HOUR),
        disk_kept=draw(st.booleans()),
        contained=draw(st.sampled_from([1.0, 0.5])),
    )
    return draw(switched_on(model)) if more else model


def _rarely(draw: st.DrawFn, strategy: st.SearchStrategy):
    """One time in three; None else."""
    return draw(strategy) if draw(st.integers(0, 2)) == 1 else None


@st.composite
def switched_on(draw: st.DrawFn, model: FailureModel) -> FailureModel:
    """The model with some of the features that are off until asked for."""
    times = st.sampled_from([0, TICK, 8 * TICK])
    tails = st.builds(LogNormal, times, st.sampled_from([0.0, 0.7]), st.just(10 * HOUR))
    switch = st.builds(SharedEvents, st.just(30 * HOUR), tails, st.sampled_from([1, 2, 3]))
    site = st.builds(SharedEvents, st.just(60 * HOUR), tails)
    shared = {"switch": _rarely(draw, switch), "site": _rarely(draw, site)}
    silent = {"silent_corruption": draw(st.sampled_from([10, 40])) * HOUR} if draw(st.booleans()) else {}
    hangs = st.builds(Hangs, st.sampled_from([0.5, 1.0]), tails, st.just(("gpu_reset", "node", "switch")))
    spares = st.builds(Spares, st.integers(0, 2), tails)
    waits = st.builds(NoSpare, st.sampled_from([0.3, 1.0]), tails)
    work = st.builds(
        Maintenance, times, st.sampled_from([15 * TICK, 70 * TICK]), st.sampled_from([TICK, 4 * TICK]),
        st.booleans(), st.integers(1, 2),
    )  # fmt: skip
    images = st.builds(
        Snapshots, st.sampled_from([5 * TICK, 2 * HOUR, 8 * HOUR]), st.sampled_from([0, 30 * SECOND, TICK]),
        st.sampled_from([True, True, False]),
    )  # fmt: skip
    counted = _rarely(draw, spares)
    return dataclasses.replace(
        model,
        mtbf_us={**model.mtbf_us, **silent},
        weibull_shape=draw(st.sampled_from([1.0, 1.0, 0.7, 2.0])),
        found=draw(st.sampled_from([0.0, 0.5, 1.0])),
        shared={kind: event for kind, event in shared.items() if event} or None,
        lemons=_rarely(draw, st.builds(Lemons, st.sampled_from([0.3, 1.0]), st.sampled_from([1.0, 8.0]))),
        infancy=_rarely(draw, st.builds(Infancy, st.sampled_from([1.0, 4.0]), st.just(6 * HOUR))),
        hangs=_rarely(draw, hangs),
        spares=counted,
        no_spare=None if counted else _rarely(draw, waits),
        snapshots=_rarely(draw, images),
        maintenance=_rarely(draw, work),
    )


@st.composite
def windows(draw: st.DrawFn, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Times in which jobs may use a lease from tick to tick, apart; perhaps none."""
    most = min(10, end - start + 1)
    edges = sorted(draw(st.lists(st.integers(start, end), unique=True, max_size=most - most % 2)))
    return tuple((a * TICK, b * TICK) for a, b in zip(edges[::2], edges[1::2], strict=False))


@st.composite
def narrowed(draw: st.DrawFn, span: LeaseSpan, size: int, model: FailureModel | None) -> LeaseSpan:
    """The lease with windows, a reserve, or failures of its own."""
    start, end = span.start_us // TICK, (TICKS + 99 if span.end_us is None else span.end_us // TICK)
    own: FailureModel | str | None = "pool"
    if draw(st.integers(0, 3)) == 1:
        own = None
        if model is not None and draw(st.booleans()):
            own = dataclasses.replace(model, mtbf_us=dict.fromkeys(model.mtbf_us, HOUR * 9))
    return dataclasses.replace(
        span,
        windows=_rarely(draw, windows(start, end)),
        reserve=_rarely(draw, st.integers(0, span.count * size)) or 0,
        failures=own,
    )


@st.composite
def leases(
    draw: st.DrawFn, cards_left: int, size: int, model: FailureModel | None, more: bool
) -> tuple[LeaseSpan, ...]:
    spans = []
    for lease in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 3))
        if count * size > cards_left:
            break
        cards_left -= count * size
        start = draw(st.one_of(st.just(0), st.just(0), ticks))
        length = draw(st.one_of(st.none(), st.integers(1, 100)))
        end = None if length is None else (start + length) * TICK
        span = LeaseSpan(lease, count, start * TICK, end, draw(st.booleans()))
        spans.append(draw(narrowed(span, size, model)) if more else span)
    return tuple(spans)


@st.composite
def pools(draw: st.DrawFn, number: int, more: bool = False) -> PoolSpec:
    size = draw(st.sampled_from([1, 2, 4]))
    model = draw(failure_models(more))
    return PoolSpec(
        offer=f"offer-{number}",
        gpus_per_machine=size,
        memory_gib=draw(st.sampled_from([24.0, 40.0])),
        card_kind=draw(st.sampled_from(["A", "B"])),
        spans=draw(st.booleans()),
        leases=draw(leases(6, size, model, more)),
        failures=model,
        first_card=draw(st.integers(0, 2)),
        first_machine=draw(st.integers(0, 2)),
        hourly_price=draw(st.sampled_from([1.0, 2.0, 3.0])),
        site=draw(st.sampled_from(["", "north"])),
    )


@st.composite
def bursts(draw: st.DrawFn, more: bool = False) -> BurstSpec:
    spec = PoolSpec(
        HOURLY,
        draw(st.sampled_from([1, 2])),
        80.0,
        "hourly C",
        draw(st.booleans()),
        (),
        draw(failure_models(more)),
    )
    return BurstSpec(
        pool=spec,
        max_units=draw(st.integers(1, 3)),
        rent_when_wait_over_us=draw(st.sampled_from([0, 3, 12])) * TICK,
        release_after_idle_us=draw(st.sampled_from([0, 2, 9])) * TICK,
        increment_us=draw(st.sampled_from([HOUR, 20 * MINUTE])),
        minimum_us=draw(st.sampled_from([0, HOUR, 3 * HOUR])),
        delay=LogNormal(draw(st.sampled_from([0, TICK])), draw(st.sampled_from([0.0, 0.7]))),
        stock_out=draw(st.sampled_from([0.0, 0.4])),
        retry_mean_us=30 * MINUTE,
    )


@st.composite
def options(draw: st.DrawFn, wishes: tuple[int, ...]) -> tuple[RunOption, ...]:
    """Ways to run one shape on one offer, sorted by cards, one machine before several."""
    found = []
    base = draw(st.sampled_from([0.5, 1.0, 1.5]))
    startup = draw(st.integers(0, 2)) * TICK
    stage = draw(st.sampled_from([None, "m", "n"]))
    noise = draw(st.sampled_from([0.0, 0.0, 0.1]))
    others = draw(
        st.lists(st.sampled_from([1, 2, 3, 4, 6]), unique=True, min_size=0 if wishes else 1, max_size=3)
    )
    for gpus in sorted({*others, *wishes}):
        for spans in draw(st.sampled_from([(False,), (True,), (False, True)])) if gpus > 1 else (False,):
            slower = draw(st.sampled_from([1.0, 1.2, 1.6])) if spans else 1.0
            found.append(
                RunOption(
                    gpus, spans, "recorded", startup, draw(st.integers(0, 3)) * TICK,
                    base * slower / draw(st.sampled_from([1, gpus])), draw(st.integers(0, 2)) * MINUTE,
                    stage_us=0 if stage is None else 2 * TICK, stage_key=stage, speed_noise=noise,
                )
            )  # fmt: skip
    return tuple(sorted(found, key=lambda option: (option.gpus, option.spans)))


@st.composite
def user_ends(draw: st.DrawFn) -> tuple[UserEnd, ...]:
    """How the first submissions of a job end before their work is done; mostly they do not."""
    ends: list[UserEnd] = []
    while draw(st.integers(0, 3)) == 1:
        end = UserEnd(
            draw(st.sampled_from(["failed", "failed", "cancelled"])),
            draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])),
            draw(st.sampled_from([None, 0, TICK, 5 * TICK])),
        )
        if end.kind == "cancelled" or draw(st.booleans()):
            return (*ends, end)
        pause = draw(st.sampled_from([0, TICK, 2 * HOUR, 20 * HOUR]))
        ends.append(dataclasses.replace(end, retry_after_us=pause))
    return tuple(ends)


@st.composite
def job_sets(draw: st.DrawFn, shapes: tuple[JobShape, ...], more: bool = False) -> JobSet:
    row = st.tuples(
        st.one_of(ticks, st.integers(0, 30)), st.integers(1, 90), st.integers(0, len(shapes) - 1),
        st.integers(0, 2),
        st.sampled_from([None, None, 10, 40]), st.sampled_from([None, None, 6, 30]),
        st.sampled_from(["", "a", "b"]),
    )  # fmt: skip
    number = draw(st.sampled_from([20, 12, 6, 1]))
    rows = sorted(draw(st.lists(row, min_size=number, max_size=number)), key=lambda r: r[0])
    jobs = tuple(
        Job(
            i, f"job-{i}", shape, submit * TICK, float(length * TICK), team, priority,
            None if deadline is None else deadline * TICK, None if limit is None else limit * TICK,
            luck=(i % 5 - 2) / 2, ends=draw(user_ends()) if more else (),
        )
        for i, (submit, length, shape, priority, deadline, limit, team) in enumerate(rows)
    )  # fmt: skip
    return JobSet(shapes, jobs)


@st.composite
def cases(
    draw: st.DrawFn,
    policies: tuple[str, ...],
    placements: tuple[str, ...] = ("best-fit",),
    more: bool = False,
) -> Case:
    """`more`: with windows, reserves, ends by users and all kinds of failures and what follows them."""
    specs = tuple(draw(pools(n, more)) for n in range(draw(st.integers(1, 3))))
    specs = tuple(spec for spec in specs if spec.leases)
    burst = draw(st.one_of(st.none(), bursts(more)))
    wishes = st.sampled_from([(1,), (), (2,), (2, 1), (4,), (1, 2, 4), (4, 3, 1), (6, 1)])
    shapes = tuple(
        JobShape(f"shape-{n}", None, draw(wishes), spans=draw(st.booleans()))
        for n in range(draw(st.integers(1, 3)))
    )
    offers = [*(spec.offer for spec in specs), HOURLY]
    table = {}
    for shape in range(len(shapes)):
        for offer in offers:
            if draw(st.integers(0, 5)) != 1:
                table[shape, offer] = draw(options(shapes[shape].gpus))
    forced = ()
    if specs:
        one = st.builds(
            ForcedFailure, ticks.map(lambda t: t * TICK),
            st.sampled_from([*FORCED, SILENT] if more else FORCED),
            st.sampled_from(offers), st.integers(0, 2), st.integers(0, 1),
            st.sampled_from([None, 0, TICK, 7 * TICK]),
        )  # fmt: skip
        forced = tuple(draw(st.lists(one, max_size=4)))
    every = draw(st.sampled_from([None, TICK, 25 * MINUTE, 2 * HOUR]))
    policy = draw(st.sampled_from(policies))
    urgent = policy == "priority"
    plan = FleetPlan(
        pools=specs, burst=burst, policy=policy,
        horizon_us=draw(st.sampled_from([TICKS, 150, 77, 5])) * TICK,
        checkpoint=CheckpointSpec(
            every, draw(st.sampled_from([None, 0, 2 * MINUTE])),
            draw(st.sampled_from(["fixed", "fixed", "young", "daly"])) if more else "fixed",
        ),
        forced=forced,
        parameters=PolicyParameters(
            aging_us=draw(st.sampled_from([None, HOUR, 5 * HOUR])) if urgent else None,
            half_life_us=draw(st.sampled_from([HOUR, 20 * HOUR])),
            look_ahead=draw(st.sampled_from([1, 3, 100])),
            preempt_after_us=draw(st.sampled_from([None, 0, 3 * TICK, 2 * HOUR])) if urgent else None,
        ),
        placement=draw(st.sampled_from(placements)),
    )  # fmt: skip
    return Case(plan, draw(job_sets(shapes, more)), RateTable(options=table), draw(st.integers(0, 50)))
