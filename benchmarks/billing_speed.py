"""How fast a year is billed: 10,000 leases by the hour and 100 prepaid ones, in one ledger.

python benchmarks/billing_speed.py

Three sizes: each hourly lease a rental of some hours within a month (10,000 lines), the same as burst
rentals of one rule, and each hourly lease the whole year (twelve lines each, 120,000 in all).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from sim.billing import bill
from sim.billing.usable import planned_records
from sim.catalog import load_catalog
from sim.model.records import LeaseRecord
from sim.model.scenario import Scenario
from sim.units import MINUTE

HOURLY, PREPAID = 10_000, 100
YEAR = datetime.fromisoformat("2026-01-01")


def question(whole_year: bool, burst: bool = False) -> Scenario:
    """A scenario with so many leases; those by the hour last 1 minute to 40 hours, or the whole year."""
    draws = np.random.Generator(np.random.PCG64DXSM(0))
    leases = [
        {"offer": "a100-40g-custom", "plan": ("monthly", "quarterly", "annual")[number % 3]}
        for number in range(PREPAID)
    ]
    if not burst:
        for _ in range(HOURLY):
            begin = YEAR + timedelta(minutes=int(draws.integers(0, 360 * 24 * 60)))
            end = begin + timedelta(minutes=int(draws.integers(1, 40 * 60)))
            times = {} if whole_year else {"start": begin.isoformat(), "end": end.isoformat()}
            leases.append({"offer": "h100-mig", "plan": "hourly", **times})
    strategy = {"name": "s", "leases": leases}
    if burst:
        strategy["burst"] = {"offer": "h100-mig", "max": HOURLY, "rent_when_wait_over": "2h"}
    return Scenario.model_validate(
        {
            "name": "speed",
            "start": "2026-01-01",
            "horizon": "365d",
            "workload": {"trace": {"file": "none.csv"}},
            "strategies": [strategy],
        }
    )


def burst_records() -> list[LeaseRecord]:
    """So many rentals of a burst, 1 minute to 40 hours each."""
    draws = np.random.Generator(np.random.PCG64DXSM(1))
    found = []
    for machine in range(HOURLY):
        start = int(draws.integers(0, 360 * 24 * 60)) * MINUTE
        end = start + int(draws.integers(1, 40 * 60)) * MINUTE
        found.append(LeaseRecord("h100-mig", -1, machine, 1, start, end, 0, 0))
    return found


def timed(asked: Scenario, records: Sequence[LeaseRecord]) -> tuple[float, int]:
    """Processor seconds to bill, and the number of lines."""
    offers = load_catalog().offers
    began = time.process_time()
    ledger = bill(records, asked, asked.strategies[0], offers)
    return time.process_time() - began, len(ledger.charges)


def main() -> None:
    """Print processor seconds and lines of each size."""
    offers = load_catalog().offers
    for name, asked in (
        (f"{HOURLY:,} leases by the hour, some hours each", question(whole_year=False)),
        (f"{HOURLY:,} leases by the hour, the whole year", question(whole_year=True)),
    ):
        records = list(planned_records(asked, asked.strategies[0], offers))
        seconds, lines = timed(asked, records)
        print(f"{name}, and {PREPAID} prepaid: {seconds:.2f} s, {lines:,} lines")
    seconds, lines = timed(question(whole_year=False, burst=True), burst_records())
    print(f"{HOURLY:,} rentals of a burst, and {PREPAID} prepaid: {seconds:.2f} s, {lines:,} lines")


if __name__ == "__main__":
    main()
