"""The two views of the ledger in time: cash when it is paid, cost when its time passes.

Between them stands the prepaid balance: what has been paid for time still to come (negative where
time has been used that is yet to be paid). What was paid before the scenario (sunk) is no cash here;
its share of the horizon opens the balance, less the cost of earlier time that is paid later. Tax that
comes back is cash but no cost, and stands apart.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sim.billing.grains import Grain, calendar_edges, elapsed, label
from sim.billing.shares import cents, divide, money
from sim.model.ledger import Charge, Ledger
from sim.model.scenario import Scenario
from sim.units import Micros

__all__ = ["AFTER", "Accrued", "CashPeriod", "accrue", "accruals", "cash_and_cost"]

AFTER = "after the horizon"


@dataclass(frozen=True, slots=True)
class Accrued:
    """Part of a charge that belongs to one period."""

    charge: int
    period: str
    """Name of the period, or `AFTER`."""
    start: datetime
    amount: Decimal


@dataclass(frozen=True, slots=True)
class CashPeriod:
    """Cash, cost and what stands between them, in one period; currency of the ledger, whole cents."""

    period: str
    start: datetime
    cash: Decimal
    """Paid, recoverable tax included."""
    recoverable: Decimal
    """Of that: tax that comes back."""
    accrued: Decimal
    """Cost of the time that passed."""
    balance: Decimal
    """Prepaid at the end of the period; negative: used and not yet paid."""


def accrue(charge: Charge, scenario: Scenario, edges: Sequence[Micros]) -> list[Decimal]:
    """The parts of a charge in the periods between the edges, and last the part after the horizon.

    The parts are whole cents. Those within the horizon sum to `accrued_cost`, and the last is
    `owed_after`; with `before_cost` they make up `billed_cost`, but for what is sunk or recoverable.
    """
    inside, after = cents(charge.accrued_cost), cents(charge.owed_after)
    start, end = (elapsed(scenario, moment) for moment in charge.accrual)
    return [*(money(part) for part in divide(inside, _overlaps(start, end, edges))), money(after)]


def _overlaps(start: Micros, end: Micros, edges: Sequence[Micros]) -> list[Micros]:
    """Time of a span in each period; all in one where it has no length or lies outside."""
    weights = [max(0, min(end, edges[i + 1]) - max(start, edges[i])) for i in range(len(edges) - 1)]
    if not any(weights):
        place = bisect_right(edges, min(max(start, 0), edges[-1] - 1)) - 1
        weights[place] = 1
    return weights


def accruals(ledger: Ledger, scenario: Scenario, grain: Grain = "month") -> tuple[Accrued, ...]:
    """Every charge spread over hours, days or months, by charge and then time; parts of 0 left out."""
    edges = calendar_edges(scenario, grain)
    names = [*(label(scenario, edge, grain) for edge in edges[:-1]), AFTER]
    starts = [scenario.local_time(edge) for edge in edges]
    found: list[Accrued] = []
    for charge in ledger.charges:
        for name, start, amount in zip(names, starts, accrue(charge, scenario, edges), strict=True):
            if amount:
                found.append(Accrued(charge.id, name, start, amount))
    return tuple(found)


def cash_and_cost(ledger: Ledger, scenario: Scenario, grain: Grain = "month") -> tuple[CashPeriod, ...]:
    """Cash, cost and prepaid balance by period; the last row is all that lies after the horizon.

    The balance opens with the share of the horizon of what was paid before, less the cost of time before
    that is paid later, and ends at 0: every cent paid, but for tax that comes back, is the cost of some time.
    """
    edges = calendar_edges(scenario, grain)
    periods = len(edges)
    cash, recoverable, accrued = ([Decimal("0.00")] * periods for _ in range(3))
    balance = Decimal("0.00")
    for charge in ledger.charges:
        for period, amount in enumerate(accrue(charge, scenario, edges)):
            accrued[period] += amount
        if charge.sunk:
            balance += charge.accrued_cost
            continue
        balance -= charge.before_cost
        paid = min(max(0, bisect_right(edges, elapsed(scenario, charge.cash_date)) - 1), periods - 1)
        cash[paid] += charge.billed_cost
        if charge.recoverable:
            recoverable[paid] += charge.billed_cost
    rows: list[CashPeriod] = []
    for period, edge in enumerate(edges):
        balance += cash[period] - recoverable[period] - accrued[period]
        name = AFTER if period == periods - 1 else label(scenario, edge, grain)
        rows.append(
            CashPeriod(
                name,
                scenario.local_time(edge),
                cash[period],
                recoverable[period],
                accrued[period],
                balance,
            )
        )
    return tuple(rows)
