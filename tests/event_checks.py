"""What must hold of every trace of events, and how worlds made by hand become one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from sim.engine import run as engine_run
from sim.experiments.events import Events
from sim.metrics import METRICS, measure
from sim.model.fleet import FleetPlan
from sim.model.job import JobSet
from sim.model.ledger import Ledger
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.streams import Streams
from sim.units import MINUTE
from tests.event_metrics import ENDS, LASTING, Row, by_card, by_job, metrics_from_events, rows_of, spans

NOT_OF_EVENTS = {name for name, metric in METRICS.items() if "CNY" in metric.unit} | {
    "burst_orders", "burst_stock_outs",  # orders that find nothing change no card
    "offered_load", "backlog_h", "overloaded",  # the work that is not done yet
    "target_met_share",
}  # fmt: skip


def scenario(horizon_us: int, warm_up_h: int = 0) -> Scenario:
    """A scenario around a world made by hand, for its clock."""
    text = {
        "name": "By hand", "start": "2026-01-01", "timezone": "Asia/Shanghai",
        "horizon": f"{horizon_us // MINUTE}min",
        "workload": {"trace": {"file": "x.csv"}},
        "strategies": [{"name": "s", "leases": [{"offer": "a100-40g-custom", "plan": "monthly"}]}],
        "experiment": {"warm_up": f"{warm_up_h}h"},
    }  # fmt: skip
    return Scenario.model_validate(text)


def result_of(log: RunLog, jobs: JobSet, question: Scenario) -> RunResult:
    ledger = Ledger("CNY", question.local_time(log.horizon_us), (), ())
    metrics = measure(log, ledger, jobs, question, None)
    return RunResult("s", 0, jobs, log, ledger, metrics)


def made(fleet: FleetPlan, jobs: JobSet, table: RateTable, seed: int = 0) -> tuple[RunResult, list[Row]]:
    """One run of a world made by hand, and its trace."""
    question = scenario(fleet.horizon_us)
    result = result_of(engine_run(fleet, jobs, table, Streams(seed)), jobs, question)
    return result, rows_of(Events(result, question).table())


def agrees(result: RunResult, rows: Sequence[Row], warm_up_us: int = 0) -> None:
    """Every metric that the trace can give is the one that the program gives: integers first, then floats."""
    counted = metrics_from_events(rows, result.log.horizon_us, warm_up_us)
    assert counted.keys() == METRICS.keys() - NOT_OF_EVENTS
    rounded = {"queue_mean", "queue_early", "queue_late"}  # sums of floats in another order
    for name, value in counted.items():
        expected = result.metrics[name]
        if name in rounded:
            assert value == pytest.approx(expected, rel=1e-9, abs=1e-9), name
        else:
            assert value == expected, name
    adds_up_to_the_microsecond(result.log, rows)


def adds_up_to_the_microsecond(log: RunLog, rows: Sequence[Row]) -> None:
    jobs = by_job(rows)
    assert list(jobs) == sorted(jobs, key=lambda job: (jobs[job][0].time_us, job))
    for record in log.jobs:
        told = list(spans(jobs[record.job]))
        assert sum(end - begin for state, begin, end in told if state == "queued") == record.wait_us
        assert sum(end - begin for state, begin, end in told if state == "paused") == record.pause_us
        on_cards = sum(end - begin for state, begin, end in told if state not in {"queued", "paused"})
        assert on_cards == record.run_us
        assert sum(row.state == "interrupted" for row in jobs[record.job]) == record.interruptions
        assert jobs[record.job][-1].progress == record.progress
    for burst in (False, True):
        cards = [told for (_, hourly, _), told in by_card(rows).items() if hourly == burst]
        leases = [lease for lease in log.leases if (lease.lease < 0) == burst]
        time = dict.fromkeys(("busy", "down", "free", "away", "reserved"), 0)
        for told in cards:
            for state, begin, end in spans(told):
                time[state] += end - begin
        ends = [log.horizon_us if lease.end_us is None else lease.end_us for lease in leases]
        assert time["busy"] == sum(lease.busy_card_us for lease in leases)
        assert time["down"] == sum(lease.down_card_us for lease in leases)
        assert time["away"] == sum(lease.away_card_us for lease in leases)
        assert time["reserved"] == sum(lease.reserved_card_us for lease in leases)
        usable = sum((end - lease.start_us) * lease.gpus for end, lease in zip(ends, leases, strict=True))
        assert sum(time.values()) == usable


def tiles(rows: Sequence[Row], horizon_us: int) -> None:
    """Rows stand in order, and the states of every job and card follow one another without a gap."""
    assert all(a.time_us <= b.time_us for a, b in pairwise(rows))
    assert all(0 <= row.time_us <= horizon_us for row in rows)
    for told in by_job(rows).values():
        assert told[0].state == "submitted"
        assert told[-1].state in ENDS
        assert not any(row.state in ENDS for row in told[:-1])
        moves(told, "submitted", {"queued", "refused"})
        leaves = {"interrupted", "retried", "redone", "killed", "cancelled", "failed", "unfinished"}
        moves(told, "queued", {"started", "refused", "unfinished", "killed"})
        moves(told, "started", {"running", "stalled"} | leaves)
        moves(told, "running", {"done", "stalled"} | leaves)
        moves(told, "stalled", {"interrupted", "unfinished"})
        for state in ("interrupted", "redone", "paused"):
            moves(told, state, {"queued", "refused", "killed"})
        moves(told, "retried", {"paused", "queued"})
    for told in by_card(rows).values():
        assert told[0].state == "leased"
        assert told[-1].state in {"returned", "kept"}
        states = {"free", "busy", "down", "away"}
        moves(told, "leased", states | {"reserved"})
        for state in states:
            moves(told, state, states - ({state} & {"free", "away"}) | {"returned", "kept"})
        moves(told, "reserved", {"returned", "kept"})
        moves(told, "returned", {"leased"})
        moves(told, "kept", set())
        # A card's states have a length, and nothing changes but the state, the job or the cause.
        assert all(end > begin for _, begin, end in spans(told))
        assert [row.job is not None for row in told] == [row.state == "busy" for row in told]
    cards_and_jobs_agree(rows)


def moves(told: Sequence[Row], state: str, following: set[str]) -> None:
    """What may come after a state."""
    for row, after in pairwise(told):
        assert row.state != state or after.state in following, (row, after)


def cards_and_jobs_agree(rows: Sequence[Row]) -> None:
    """While a job has cards, as many cards as it has are busy with it, and at no other time."""
    held: dict[tuple[int | None, int, int], int] = {}
    for told in by_card(rows).values():
        for row, after in pairwise(told):
            if row.state == "busy":
                key = (row.job, row.time_us, after.time_us)
                held[key] = held.get(key, 0) + 1
    on_cards: dict[tuple[int | None, int, int], int] = {}
    for job, told in by_job(rows).items():
        begin = None
        for row in told:
            if row.state == "started":
                begin = row
            elif begin is not None and row.state not in LASTING:
                if row.time_us > begin.time_us:
                    on_cards[job, begin.time_us, row.time_us] = begin.gpus or 0
                begin = None
    assert held == on_cards
