"""Runs and ledgers made by hand for the tests of what is done with them: views, allocation, FOCUS."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from sim.billing.invoices import invoices
from sim.model.job import Job, JobSet, JobShape
from sim.model.ledger import Charge, Ledger
from sim.model.records import Attempt, FailureRecord, JobRecord, LeaseRecord, RunLog
from sim.model.scenario import Scenario
from sim.units import HOUR

OFFER = "a100-40g-custom"


def hour(number: float) -> int:
    return round(number * HOUR)


def scenario(start="2026-01-01", horizon="24h", zone="Asia/Shanghai", strategy=None, **more) -> Scenario:
    strategy = strategy or {"leases": [{"offer": OFFER, "plan": "monthly"}]}
    return Scenario.model_validate(
        {
            "name": "by hand",
            "start": start,
            "timezone": zone,
            "horizon": horizon,
            "workload": {"trace": {"file": "jobs.csv"}},
            "strategies": [{"name": "s", **strategy}],
            **more,
        }
    )


def stay(job, cards, start, end, *, startup=0.0, checkpoint=0.0, lost=0.0, voided=0.0, offer=OFFER, **more):
    """A stay in hours; what is not start-up, checkpoint or lost is work that counts."""
    whole = hour(end) - hour(start)
    parts = hour(startup), hour(checkpoint), hour(lost)
    return Attempt(
        job=job,
        offer=offer,
        burst=more.pop("burst", False),
        cards=tuple(cards),
        start_us=hour(start),
        end_us=hour(end),
        ended=more.pop("ended", "done"),
        startup_us=parts[0],
        checkpoint_us=parts[1],
        work_us=whole - sum(parts),
        lost_us=parts[2],
        voided_card_us=hour(voided),
        **more,
    )


def machine(start=0.0, end=None, *, gpus=1, number=0, lease=0, offer=OFFER, **more) -> LeaseRecord:
    times = {key: hour(more.pop(key, 0)) for key in ("busy_card_us", "down_card_us", "reserved_card_us")}
    return LeaseRecord(
        offer=offer,
        lease=lease,
        machine=number,
        gpus=gpus,
        start_us=hour(start),
        end_us=None if end is None else hour(end),
        **times,
        **more,
    )


def failure(at, back, *, card=None, kind="node", number=0, jobs=()) -> FailureRecord:
    return FailureRecord(hour(at), kind, OFFER, number, card, hour(back), tuple(jobs), None)


def job_set(count, teams=(), classes=(), deadlines=(), submits=()) -> JobSet:
    """Jobs 0, 1, ...; a class a job, `bot` by default."""
    names = list(dict.fromkeys([*classes, "bot"]))

    def of(values, position, usual):
        return values[position] if position < len(values) else usual

    jobs = []
    for number in range(count):
        deadline = of(deadlines, number, None)
        jobs.append(
            Job(
                id=number,
                name=f"job-{number}",
                shape=names.index(of(classes, number, "bot")),
                submit_us=hour(of(submits, number, 0)),
                work=1.0,
                team=of(teams, number, ""),
                deadline_us=None if deadline is None else hour(deadline),
            )
        )
    return JobSet(tuple(JobShape(name, name, ()) for name in names), tuple(jobs))


def job_record(job, state="done", end=None) -> JobRecord:
    return JobRecord(job, state, None, None if end is None else hour(end), 0, 1, OFFER, 0, 1.0, 0)


def log(horizon, stays=(), machines=(), failures=(), jobs=None) -> RunLog:
    numbers = sorted({one.job for one in stays})
    records = [job_record(number) for number in numbers] if jobs is None else jobs
    return RunLog(hour(horizon), tuple(records), tuple(stays), tuple(machines), tuple(failures))


def charge(
    asked, billed, start, end, *, number=0, lease="lease 0", category="purchase", plan="monthly", **more
) -> Charge:
    """A line that accrues from hour `start` to hour `end`; `accrued`: its part in the horizon, else all."""
    billed = Decimal(billed)
    begin, until = (asked.local_time(hour(moment)) for moment in (start, end))
    quantity = Decimal(more.pop("quantity", 1))
    price = Decimal(more.pop("price", billed / quantity))
    return Charge(
        id=number,
        provider="idc10000",
        offer=more.pop("offer", OFFER),
        lease=lease,
        plan=plan,
        category=category,
        period_start=begin,
        period_end=until,
        quantity=quantity,
        unit=more.pop("unit", "unit-months"),
        list_unit_price=price,
        unit_price=price,
        list_cost=price * quantity,
        billed_cost=billed,
        accrued_cost=Decimal(more.pop("accrued", billed)),
        cash_date=more.pop("paid", begin),
        rule="by hand",
        accrues_from=begin,
        accrues_until=until,
        **more,
    )


def ledger(asked, *charges) -> Ledger:
    return Ledger("CNY", asked.local_time(asked.horizon_us), charges, invoices(charges))


def at(asked, local: str) -> datetime:
    """A local time with its zone."""
    return datetime.fromisoformat(local).replace(tzinfo=asked.zone)
