"""The random scenarios of the twin with cards that jobs share (Hypothesis strategies)."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from hypothesis import strategies as st

from sim.model.failures import Snapshots
from sim.model.fleet import ForcedFailure, LeaseSpan
from sim.model.rates import RateTable
from sim.model.sharing import SharingSpec
from sim.units import HOUR, MINUTE, SECOND
from tests.sharing_cases import EQUAL_PARTS, HARMLESS, MPS, PRESET, mig
from tests.twin.worlds import TICK, Case, cases, failure_models, narrowed, user_ends

__all__ = ["partitioned_cases", "shared_cases", "with_snapshots", "with_user_ends"]


@st.composite
def sharings(draw: st.DrawFn) -> SharingSpec:
    return SharingSpec(
        kind=draw(st.sampled_from(["time-slicing", "mps"])),
        jobs=draw(st.sampled_from([2, 2, 3, 5])),
        usable_gib=draw(st.sampled_from([20.0, 38.5, 79.0])),
        curve=draw(st.sampled_from([PRESET, PRESET, MPS, EQUAL_PARTS, HARMLESS])),
        recorded=draw(st.sampled_from([Fraction(9, 10), Fraction(1), Fraction(3, 10), Fraction(11, 20)])),
    )


@st.composite
def perhaps_narrowed(draw: st.DrawFn, span: LeaseSpan, size: int) -> LeaseSpan:
    if draw(st.integers(0, 2)) != 1:
        return span
    return dataclasses.replace(draw(narrowed(span, size, None)), failures="pool")


@st.composite
def shared_cases(
    draw: st.DrawFn, policies: tuple[str, ...], placements: tuple[str, ...], more: bool = False
) -> Case:
    """A case in which some pools are shared and some ways need known memory; nobody is preempted.

    Leases may have windows and reserved cards. `more`: with snapshots, ends by users and all kinds of
    failures and what follows them."""
    case = draw(cases(policies, placements, more))
    pools = tuple(
        dataclasses.replace(
            pool,
            sharing=draw(st.one_of(sharings(), sharings(), st.none())),
            leases=tuple(draw(perhaps_narrowed(span, pool.gpus_per_machine)) for span in pool.leases),
        )
        for pool in case.plan.pools
    )
    parameters = dataclasses.replace(case.plan.parameters, preempt_after_us=None)
    plan = dataclasses.replace(case.plan, pools=pools, parameters=parameters)
    table = {}
    for key, options in case.rates.options.items():
        needs = draw(st.sampled_from([None, 4.0, 9.5, 18.0, 19.25, 40.0]))
        table[key] = tuple(dataclasses.replace(option, memory_gib=needs) for option in options)
    return Case(plan, case.jobs, RateTable(options=table), case.seed)


@st.composite
def partitioned_cases(
    draw: st.DrawFn, policies: tuple[str, ...], placements: tuple[str, ...], more: bool = False
) -> Case:
    """The same with MIG on an A100 of 80 GB in place of time slicing."""
    case = draw(shared_cases(policies, placements, more))
    reconfigure = draw(st.sampled_from([0, 30, 600])) * SECOND
    specs = [
        None
        if pool.sharing is None
        else mig(draw(st.sampled_from([2, 3, 7])), reconfigure_us=reconfigure, curve=pool.sharing.curve)
        for pool in case.plan.pools
    ]
    pools = tuple(
        dataclasses.replace(pool, sharing=spec) for pool, spec in zip(case.plan.pools, specs, strict=True)
    )
    return dataclasses.replace(case, plan=dataclasses.replace(case.plan, pools=pools))


@st.composite
def double_blow(draw: st.DrawFn, offer: str, machine: int) -> list[ForcedFailure]:
    """A machine fails; perhaps its first card had failed before, and what was saved then is on its disk."""
    at = draw(st.integers(8, 60)) * TICK
    node = ForcedFailure(at, "node", offer, machine, 0, draw(st.sampled_from([0, TICK, 7 * TICK])))
    before = draw(st.sampled_from([0, 1, 2, 4])) * TICK
    if not before:
        return [node]
    down = draw(st.sampled_from([0, 7 * TICK]))
    return [ForcedFailure(at - before, "gpu_reset", offer, machine, 0, down), node]


@st.composite
def with_snapshots(draw: st.DrawFn, made: st.SearchStrategy[Case]) -> Case:
    """The same with machines that fail and leave their disk behind, most of them with snapshots."""
    case = draw(made)
    pools = []
    for pool in case.plan.pools:
        model = pool.failures or draw(failure_models(more=True).filter(bool))
        every = draw(st.sampled_from([3 * TICK, 5 * TICK, 2 * HOUR, 8 * HOUR, None]))
        if every is not None:
            model = dataclasses.replace(model, snapshots=Snapshots(every, 0, True))
        spans = tuple(dataclasses.replace(span, disk_kept=False, failures="pool") for span in pool.leases)
        pools.append(dataclasses.replace(pool, failures=model, leases=spans))
    blows = [
        blow for pool in pools for machine in (0, 0, 1) for blow in draw(double_blow(pool.offer, machine))
    ]
    every = draw(st.sampled_from([TICK, TICK, 25 * MINUTE]))
    checkpoint = dataclasses.replace(case.plan.checkpoint, every_us=every, rule="fixed")
    forced = (*case.plan.forced, *blows)
    plan = dataclasses.replace(case.plan, pools=tuple(pools), forced=forced, checkpoint=checkpoint)
    return dataclasses.replace(case, plan=plan)


@st.composite
def with_user_ends(draw: st.DrawFn, made: st.SearchStrategy[Case]) -> Case:
    """The same; some jobs are cancelled, or fail by an error of their own and perhaps come again."""
    case = draw(made)
    jobs = tuple(job._replace(ends=draw(user_ends())) for job in case.jobs.jobs)
    return dataclasses.replace(case, jobs=dataclasses.replace(case.jobs, jobs=jobs))
