"""Offers and scenarios for the tests of billing and metrics, written out by hand."""

from datetime import date
from decimal import Decimal

from sim.billing import bill
from sim.billing.usable import planned_records
from sim.model.contract import Offer
from sim.model.records import LeaseRecord
from sim.model.scenario import Scenario
from sim.units import HOUR


def offer(
    name="a100-40g-custom",
    low=2800,
    high=None,
    unit="month",
    plans=None,
    gpus=1,
    repeat=None,
    options=None,
    **more,
):
    if plans is None:
        plans = {"monthly": 1, "quarterly": "0.95", "annual": "0.80"}
    return Offer.model_validate(
        {
            "id": name,
            "name": name,
            "provider": "idc10000",
            "gpu": "A100-40G",
            "gpus_per_unit": gpus,
            "form": "node",
            "wan_mbps": 100,
            "disk_read_gb_s": 1,
            "link": "none",
            "network": "10gbe",
            "price": {"unit": unit, "low": Decimal(str(low)), "high": Decimal(str(high or low))},
            "plans": {
                plan: terms if isinstance(terms, dict) else {"multiplier": Decimal(str(terms))}
                for plan, terms in plans.items()
            },
            "options": options or {},
            "repeat_purchase": repeat,
            "currency": "CNY",
            "status": "official",
            "source": "price page",
            "date": date(2026, 1, 1),
            **more,
        }
    )


REPEAT = {"per_card_month": 100}
OPTIONS = {
    "cpu16": {"description": "16 cores", "per_month": 400},
    "ram128": {"description": "128 GB", "per_month": 600},
    "disk1t": {"description": "1 TB", "per_month": 300},
}
CUSTOM = offer(repeat=REPEAT, options=OPTIONS)
WHOLE = offer("a100-40g-8x", 25000, 35000, gpus=8, plans={"monthly": 1, "annual": "0.85"}, repeat=REPEAT)
H100 = offer("h100-80g-8x", 80000, 120000, gpus=8, plans={"monthly": 1, "annual": "0.85"})
MIG = offer("h100-mig", "16.67", 25, unit="hour", plans={"hourly": 1})
OWN = offer("own-8x-a100", 306000, 500000, unit="year", gpus=8, plans={"annual": 1})
OFFERS = {item.id: item for item in (CUSTOM, WHOLE, H100, MIG, OWN)}


def scenario(leases=(), burst=None, start="2026-01-01", horizon="365d", zone="Asia/Shanghai", **more):
    strategy = {"name": "s", "leases": list(leases)}
    if burst is not None:
        strategy["burst"] = burst
    return Scenario.model_validate(
        {
            "name": "case",
            "start": start,
            "timezone": zone,
            "horizon": horizon,
            "workload": {"trace": {"file": "jobs.csv"}},
            "strategies": [strategy],
            **more,
        }
    )


def ledger(asked, records=(), offers=OFFERS, price=None):
    return bill(records, asked, asked.strategies[0], offers, price)


def planned(asked, offers=OFFERS, price=None):
    """The bill of the first strategy as its contracts plan it: no run, every leased machine as agreed."""
    records = list(planned_records(asked, asked.strategies[0], offers))
    return bill(records, asked, asked.strategies[0], offers, price)


def money(result, *, shown=("category", "billed_cost")):
    """Of each line the category and what is billed, or other fields."""
    return [tuple(getattr(charge, name) for name in shown) for charge in result.charges]


def lease(count=1, plan="annual", offer="a100-40g-custom", **more):
    return {"offer": offer, "count": count, "plan": plan, **more}


BURST = {"offer": "h100-mig", "max": 4, "rent_when_wait_over": "2h"}


def rental(start_h, end_h, machine=0, lease=-1, gpus=1, **more):
    return LeaseRecord(
        offer="h100-mig",
        lease=lease,
        machine=machine,
        gpus=gpus,
        start_us=round(start_h * HOUR),
        end_us=None if end_h is None else round(end_h * HOUR),
        busy_card_us=more.pop("busy_card_us", 0),
        down_card_us=more.pop("down_card_us", 0),
        **more,
    )
