"""The engine and its slow twin agree job by job, stay by stay, lease by lease and cent by cent.

The twin (`tests/twin`) is a process a job, written from the rules. Where they differ, one of the two
is wrong by the rules.
"""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.engine import run
from sim.model.records import RunLog
from sim.streams import Streams
from sim.units import MINUTE
from tests.billing_cases import ledger, scenario
from tests.theory.laws import check_laws
from tests.twin.world import simulate
from tests.twin.worlds import Case, cases

STRICT = ("fifo", "priority", "edf", "fair")
SKIPPING = ("sjf", "easy", "conservative")
PLACEMENTS = ("best-fit", "pack", "spread", "whole", "cheapest")
QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)


def comparable(log: RunLog) -> dict[str, tuple]:
    """The log without the wording of reasons, in an order that does not depend on who wrote it."""
    return {
        "jobs": tuple(job._replace(reason="") for job in log.jobs),
        "attempts": tuple(sorted(log.attempts, key=lambda a: (a.job, a.start_us, a.end_us))),
        "leases": tuple(sorted(log.leases, key=lambda r: (r.offer, r.machine, r.start_us))),
        "failures": tuple(sorted(log.failures, key=lambda f: (f.at_us, f.offer, f.machine, f.kind, f.burst))),
        "orders": (log.burst_orders, log.burst_stock_outs),
    }


def cost(log: RunLog) -> Decimal:
    """What all machines would cost by the hour."""
    asked = scenario(
        burst={"offer": "h100-mig", "max": 99, "rent_when_wait_over": "0s"},
        horizon=f"{log.horizon_us // MINUTE}min",
    )
    return ledger(asked, [dataclasses.replace(r, offer="h100-mig", lease=-1) for r in log.leases]).committed


def agree(case: Case) -> None:
    log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
    slow = simulate(case.plan, case.jobs, case.rates, Streams(case.seed))
    engine, twin = comparable(log), comparable(slow)
    for part, rows in twin.items():
        for mine, theirs in zip(engine[part], rows, strict=False):
            assert mine == theirs, part
        assert len(engine[part]) == len(rows), part
    assert cost(log) == cost(slow)
    check_laws(log, case.jobs)


@settings(QUIET, max_examples=80)
@given(cases(STRICT, PLACEMENTS))
def test_strict_queues(case: Case) -> None:
    agree(case)


@settings(QUIET, max_examples=80)
@given(cases(SKIPPING, PLACEMENTS))
def test_queues_that_let_others_pass(case: Case) -> None:
    agree(case)


@settings(QUIET, max_examples=60)
@given(cases((*STRICT, *SKIPPING), PLACEMENTS, more=True))
def test_windows_reserves_users_and_every_kind_of_misfortune(case: Case) -> None:
    agree(case)


@pytest.mark.long
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", [*STRICT, *SKIPPING])
@settings(QUIET, max_examples=1_000)
@given(data=st.data())
def test_every_policy_with_every_placement(policy: str, placement: str, data: st.DataObject) -> None:
    agree(data.draw(cases((policy,), (placement,))))


@pytest.mark.long
@pytest.mark.parametrize("policy", [*STRICT, *SKIPPING])
@settings(QUIET, max_examples=1_000)
@given(data=st.data())
def test_every_policy_in_the_widest_worlds(policy: str, data: st.DataObject) -> None:
    agree(data.draw(cases((policy,), PLACEMENTS, more=True)))


def test_the_cases_are_worth_comparing() -> None:
    """Of a fixed sample: every way for a stay to end is there, and jobs that run, wait and are refused."""
    seen: set[str] = set()

    @settings(QUIET, max_examples=120, derandomize=True, database=None)
    @given(cases((*STRICT, *SKIPPING), PLACEMENTS))
    def look(case: Case) -> None:
        log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
        seen.update(job.state for job in log.jobs)
        seen.update(stay.ended for stay in log.attempts)
        seen.update("burst" for stay in log.attempts if stay.burst)
        seen.update("gang" for stay in log.attempts if len(stay.cards) > 1)
        seen.update("disk lost" for stay in log.attempts if stay.voided_card_us)
        seen.update("stock-out" for _ in range(log.burst_stock_outs))

    look()
    wanted = {
        "done",
        "killed",
        "refused",
        "running",
        "waiting",
        "horizon",
        "lease_end",
        "gpu_reset",
        "gpu_fatal",
    }
    wanted |= {"node", "network", "ecc_uncorrectable", "burst", "gang", "disk lost", "stock-out"}
    assert wanted <= seen, wanted - seen


@pytest.mark.long
def test_the_widest_worlds_are_worth_comparing() -> None:
    """Of a fixed sample: windows, reserves, ends by users, snapshots, spares, maintenance."""
    seen: set[str] = set()

    @settings(QUIET, max_examples=700, derandomize=True, database=None)
    @given(cases((*STRICT, *SKIPPING), PLACEMENTS, more=True))
    def look(case: Case) -> None:
        log = run(case.plan, case.jobs, case.rates, Streams(case.seed))
        seen.update(job.state for job in log.jobs)
        seen.update(stay.ended for stay in log.attempts)
        seen.update(failure.kind for failure in log.failures if failure.jobs)
        seen.update("away" for lease in log.leases if lease.away_card_us)
        seen.update("reserved" for lease in log.leases if lease.reserved_card_us)
        seen.update("submitted again" for job in log.jobs if job.submissions > 1)
        seen.update("bad" for job in log.jobs if job.bad)
        seen.update("redone" for job in log.jobs if job.redone)
        for stay in log.attempts:
            worked = stay.work_us + stay.lost_us
            lost = stay.voided_card_us or (stay.ended in ("node", "network", "gpu_fatal") and stay.work_us)
            seen.update(["disk lost"] if lost and worked else [])
        for pool in case.plan.pools:
            model = pool.failures
            if model is not None and any(failure.offer == pool.offer for failure in log.failures):
                on = ("lemons", "infancy", "hangs", "spares", "no_spare", "snapshots", "maintenance")
                seen.update(name for name in on if getattr(model, name) is not None)

    look()
    wanted = {"done", "killed", "refused", "running", "waiting", "cancelled", "failed", "retried", "bad"}
    wanted |= {"horizon", "lease_end", "window_end", "maintenance", "bad_result", "redone", "away"}
    wanted |= {"reserved", "submitted again", "disk lost", "switch", "site", "lemons", "infancy", "hangs"}
    wanted |= {"spares", "no_spare", "snapshots"}
    assert wanted <= seen, wanted - seen
