"""Random small questions with contracts of every kind, for what must hold of every ledger."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from sim.catalog import Catalog, load_catalog
from sim.errors import InputError
from sim.load import load_text
from sim.replication import Prepared, RunResult, prepare, replicate

__all__ = ["CATALOG", "run_of", "worlds"]

CATALOG: Catalog = load_catalog()

START = date(2026, 2, 1)
MONTHLY = ("a100-40g-custom", "rtx3090-24g-cloud", "a100-40g-8x")
ZONES = ("Asia/Shanghai", "America/New_York", "UTC")


def maybe(strategy: st.SearchStrategy[Any], often: int = 2) -> st.SearchStrategy[Any]:
    """None as often as not, or rarer."""
    return st.one_of(st.none(), *[strategy] * (often - 1))


@st.composite
def terms(draw: st.DrawFn, hourly: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    tax = draw(maybe(st.sampled_from([0.06, 0.13])))
    if tax is not None:
        found["tax"] = {"rate": tax, "included": draw(st.booleans()), "creditable": draw(st.booleans())}
    if hourly:
        found["increment_s"] = draw(st.sampled_from([1, 60, 3600]))
        found["begins"] = draw(st.sampled_from(["at-once", "next-hour"]))
        disk, compute = draw(st.sampled_from([0, 90])), draw(st.sampled_from(["stops", "goes-on"]))
        found["stop"] = {"disk_per_month": disk, "compute": compute}
        return found
    found["payment"] = draw(st.sampled_from(["advance", "advance", "arrears"]))
    found["pay_shift_days"] = draw(st.sampled_from([0, 0, -9, 10]))
    found["month"] = draw(st.sampled_from(["calendar", "30-days", "mean-month"]))
    found["expiry"] = draw(st.sampled_from(["renew", "renew", "renew-at-list", "hourly", "end"]))
    found["renewal_change"] = draw(st.sampled_from([0, 0.05]))
    found["refund"] = {
        "rule": draw(st.sampled_from(["none", "pro-rata", "re-rate", "deposit-less-discounts"])),
        "grace_days": draw(st.sampled_from([0, 5])),
        "part": draw(st.sampled_from(["day", "hour", "exact"])),
        "fee": draw(st.sampled_from([0, 0.1])),
    }
    return found


@st.composite
def leases(draw: st.DrawFn, days: int) -> dict[str, Any]:
    hourly = draw(st.integers(0, 3)) == 0
    found: dict[str, Any] = {
        "offer": "h100-mig" if hourly else draw(st.sampled_from(MONTHLY)),
        "plan": "hourly" if hourly else draw(st.sampled_from(["monthly", "annual"])),
        "count": draw(st.integers(1, 2)),
        "terms": draw(terms(hourly)),
    }
    begins = draw(st.integers(0, days + 3))
    if draw(st.booleans()):
        found["start"] = day(begins)
    else:
        begins = 0
        if not hourly and draw(st.integers(0, 3)) == 0:
            found["started"] = day(-draw(st.integers(1, 40)))
    if draw(st.booleans()):
        found["end"] = day(begins + draw(st.integers(1, 60)))
    if draw(st.integers(0, 3)) == 0:
        found["available"] = "08:00-20:00"
    if draw(st.integers(0, 3)) == 0:
        found["reserve"] = 1
    if hourly and draw(st.booleans()):
        at = begins + draw(st.integers(0, 20))
        found["stopped"] = [{"from": day(at), "until": day(at + draw(st.integers(1, 15)))}]
    if not hourly and found["plan"] == "monthly" and draw(st.integers(0, 2)) == 0:
        found["converts"] = [{"at": day(begins + draw(st.integers(1, 40))), "plan": "annual"}]
    return found


@st.composite
def events(draw: st.DrawFn, rented: list[dict[str, Any]], days: int) -> list[dict[str, Any]]:
    """Failures at given times, for those of the profile are rare."""
    return [
        {
            "at": f"{draw(st.integers(1, 24 * days - 1))}h",
            "kind": draw(st.sampled_from(["node", "gpu_reset"])),
            "offer": draw(st.sampled_from(rented))["offer"],
            "machine": 0,
            "card": 0,
            "down": f"{draw(st.integers(1, 90))}h",
        }
        for _ in range(draw(st.integers(0, 3)))
    ]


def day(number: int) -> str:
    return str(START + timedelta(days=number))


@st.composite
def worlds(draw: st.DrawFn) -> Prepared:
    """A question of one strategy, ready to run; contracts that cannot be are left out."""
    days = draw(st.integers(3, 120))
    strategy: dict[str, Any] = {"name": "s", "leases": draw(st.lists(leases(days), min_size=1, max_size=3))}
    if draw(st.booleans()):
        strategy["burst"] = {"offer": "h100-mig", "max": 2, "rent_when_wait_over": "1h"}
    job = {"name": "bot", "model": "qwen-7b", "method": "lora", "micro_batch": 1, "mean_tokens": 300}
    samples, rates = st.sampled_from([5_000, 60_000]), st.sampled_from(["1/day", "8/day"])
    later = {"deadline": "6h", "late_cost": 10, "team": "a"} if draw(st.booleans()) else {}
    asked = {
        "name": "any",
        "start": str(START),
        "timezone": draw(st.sampled_from(ZONES)),
        "horizon": f"{days}d",
        "workload": {
            "classes": [{**job, "samples": draw(samples), "rate": draw(rates), **later}],
        },
        "reliability": {"profile": "datacentre", "events": draw(events(strategy["leases"], days))},
        "strategies": [strategy],
        "experiment": {"seed": draw(st.integers(0, 50))},
    }
    try:
        return prepare(load_text(json.dumps(asked), catalog=CATALOG))
    except InputError:
        assume(False)
        raise


def run_of(world: Prepared) -> RunResult:
    """Replication 0 of the strategy."""
    try:
        return replicate(world, 0, 0)
    except InputError:
        assume(False)
        raise
