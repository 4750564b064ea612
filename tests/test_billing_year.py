"""A year of 10,000 rentals by the hour: the sum of the lines is exact, against a bill made another way."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from benchmarks.billing_speed import HOURLY, PREPAID, burst_records, question
from sim.billing import bill
from sim.billing.usable import planned_records
from sim.catalog import load_catalog
from sim.model.ledger import Charge
from sim.units import HOUR

OFFERS = load_catalog().offers
MILLI_CENTS = 2_083_500
"""20.835 CNY an hour, the middle of 16.67 and 25, in thousandths of a cent."""
SHANGHAI = timedelta(hours=8)


def month_of(elapsed_us: int) -> str:
    start = datetime(2025, 12, 31, 16, tzinfo=UTC)  # midnight in Shanghai
    return f"{start + timedelta(microseconds=elapsed_us) + SHANGHAI:%Y-%m}"


def expected(spans: list[tuple[int, int]]) -> dict[str, int]:
    """Cents on the invoice of each month: hours begun, by the month in which they are settled."""
    totals: dict[str, int] = defaultdict(int)
    for start, end in spans:
        hours_by_month: dict[str, int] = defaultdict(int)
        hour = start
        while hour < end:
            hours_by_month[month_of(hour)] += 1
            hour += HOUR
        for month, hours in hours_by_month.items():
            # An hour that begins after the rental's last month ends is settled with the rental.
            totals[month] += hours * MILLI_CENTS
    return {month: (total + 500) // 1000 for month, total in totals.items()}


def cents(charges: tuple[Charge, ...]) -> int:
    return int(sum((charge.billed_cost for charge in charges), Decimal(0)) * 100)


def test_the_sum_of_ten_thousand_lines_is_exact() -> None:
    records = burst_records()
    asked = question(whole_year=False, burst=True)
    ledger = bill(records, asked, asked.strategies[0], OFFERS)
    usage = tuple(charge for charge in ledger.charges if charge.category == "usage")
    assert len(usage) >= HOURLY
    due = expected([(record.start_us, record.end_us or 0) for record in records])
    assert cents(usage) == sum(due.values())
    for month, amount in due.items():
        lines = tuple(c for c in usage if f"{c.cash_date:%Y-%m}" == month)
        assert cents(lines) == amount
    assert sum((invoice.total for invoice in ledger.invoices), Decimal(0)) == ledger.cash


def test_leases_by_the_hour_cost_what_the_same_rentals_of_a_burst_cost() -> None:
    asked = question(whole_year=False)
    records = list(planned_records(asked, asked.strategies[0], OFFERS))
    ledger = bill(records, asked, asked.strategies[0], OFFERS)
    hourly = [record for record in records if record.offer == "h100-mig"]
    assert len(hourly) == HOURLY
    usage = tuple(charge for charge in ledger.charges if charge.category == "usage")
    due = expected([(record.start_us, record.end_us or 0) for record in hourly])
    assert cents(usage) == sum(due.values())
    # 34 monthly leases of 33,600 a year, 33 quarterly of 31,920, 33 annual of 26,880.
    purchases = tuple(charge for charge in ledger.charges if charge.category == "purchase")
    assert len({charge.lease for charge in purchases}) == PREPAID
    assert cents(purchases) == 100 * (34 * 33_600 + 33 * 31_920 + 33 * 26_880)
