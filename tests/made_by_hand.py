"""Runs made by hand: what a replication leaves behind, without simulating anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from sim.catalog import load_catalog
from sim.experiments.compare import Comparison, Flow, compare
from sim.load import Question
from sim.model.job import Job, JobSet, JobShape
from sim.model.ledger import Charge, Invoice, Ledger
from sim.model.rates import RateTable
from sim.model.records import Attempt, FailureRecord, JobRecord, LeaseRecord, RunLog
from sim.model.scenario import Scenario
from sim.replication import RunResult
from sim.units import DAY, HOUR

OFFER = "a100-40g-custom"

Metrics = Mapping[str, float | None]


@dataclass(frozen=True)
class Prepared:
    """As much of a prepared question as a comparison reads."""

    question: Question
    rates: RateTable = field(default_factory=lambda: RateTable(notes=("a note about rates",)))


@dataclass(frozen=True)
class Replay:
    """Answers with metrics from a table: strategy by strategy, replication by replication."""

    table: Sequence[Sequence[Metrics]]
    alike: bool = False
    """Whether all replications have the same random numbers, as a broken program would."""

    def __call__(self, prepared: Prepared, strategy: int, replication: int, seed: int | None) -> RunResult:
        return run(
            prepared.question.scenario,
            strategy,
            replication,
            self.table[strategy][replication],
            shift_us=0 if self.alike else replication,
        )


def scenario(names: Sequence[str] = ("four", "eight"), **changes: object) -> Scenario:
    """Ten days of one class of jobs, strategies of 1, 2, ... cards."""
    return Scenario.model_validate(
        {
            "name": "Made by hand",
            "start": "2026-01-01",
            "horizon": "10d",
            "workload": {
                "classes": [
                    {"name": "bot", "model": "qwen-7b", "method": "lora", "samples": 1000, "rate": "3/day"}
                ]
            },
            "strategies": [
                {"name": name, "leases": [{"offer": OFFER, "count": number + 1, "plan": "monthly"}]}
                for number, name in enumerate(names)
            ],
            **changes,
        }
    )


def answer(
    table: Sequence[Sequence[Metrics]],
    names: Sequence[str] = ("four", "eight"),
    baseline: str | None = None,
    alike: bool = False,
    workers: int = 1,
    seed: int = 7,
    **changes: object,
) -> Comparison:
    """Compare strategies whose metrics stand in a table."""
    question = Question(scenario(names, **changes), (), load_catalog())
    return compare(
        question, len(table[0]), seed, baseline, workers, flow=Flow(Prepared, Replay(table, alike))
    )


def run(
    scenario: Scenario, strategy: int, replication: int, metrics: Metrics, shift_us: int = 0
) -> RunResult:
    """Two cards. Job 0 runs 0-10 h, job 1 0-5 h, job 2 comes at 1 h and runs 5-8 h, job 3 is refused."""
    shape = JobShape("bot", "bot", ())
    submits = (shift_us, shift_us, HOUR + shift_us, 2 * HOUR)
    jobs = JobSet(
        (shape,),
        tuple(
            Job(number, f"bot-{number}", 0, submit, 1000.0, team="=SUM(1)")
            for number, submit in enumerate(submits)
        ),
        ("a note about jobs",),
    )
    records = (
        JobRecord(0, "done", 0, 10 * HOUR, 0, 1, OFFER, 0, 1.0, 10 * HOUR),
        JobRecord(1, "done", 0, 5 * HOUR, 0, 1, OFFER, 0, 1.0, 5 * HOUR),
        JobRecord(2, "done", 5 * HOUR, 8 * HOUR, 4 * HOUR, 1, OFFER, 0, 1.0, 3 * HOUR),
        JobRecord(3, "refused", None, 2 * HOUR, 0, 0, None, 0, 0.0, 0, "needs 3.5 GiB more"),
    )
    stays = (
        _stay(0, 0, 0, 10 * HOUR),
        _stay(1, 1, 0, 5 * HOUR),
        _stay(2, 1, 5 * HOUR, 8 * HOUR),
    )
    lease = LeaseRecord(OFFER, 0, 0, 2, 0, None, 18 * HOUR, 0)
    failure = FailureRecord(9 * HOUR + shift_us, "gpu_reset", OFFER, 0, 1, 10 * HOUR, (), None)
    log = RunLog(10 * DAY, records, stays, (lease,), (failure,))
    name = scenario.strategies[strategy].name
    return RunResult(name, replication, jobs, log, _ledger(scenario, strategy + 1), dict(metrics))


def _stay(job: int, card: int, start_us: int, end_us: int) -> Attempt:
    return Attempt(job, OFFER, False, (card,), start_us, end_us, "done", 0, 0, end_us - start_us, 0)


def _ledger(scenario: Scenario, count: int) -> Ledger:
    """One month of `count` cards at 2,800 CNY, of which ten days of 31 are accrued."""
    start = scenario.local_time(0)
    billed = Decimal("2800.00") * count
    accrued = (billed * 10 / 31).quantize(Decimal("0.01"))
    charge = Charge(
        id=0,
        provider="idc10000",
        offer=OFFER,
        lease="lease 0",
        plan="monthly",
        category="purchase",
        period_start=start,
        period_end=start + timedelta(days=31),
        quantity=Decimal(count),
        unit="unit-months",
        list_unit_price=Decimal(2800),
        unit_price=Decimal(2800),
        list_cost=billed,
        billed_cost=billed,
        accrued_cost=accrued,
        cash_date=start,
        rule=f"{count} x 2,800.00",
    )
    invoice = Invoice("idc10000", "2026-01", (0,), billed)
    return Ledger("CNY", scenario.local_time(10 * DAY), (charge,), (invoice,), ("mid price",))
