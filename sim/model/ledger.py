"""What is owed: the lines of a ledger, its invoices, and the sums that metrics read.

Times are local, with zone; periods are half-open. Money is `Decimal`, whole cents where it is billed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

__all__ = ["Category", "Charge", "Invoice", "Ledger"]

Category = Literal["purchase", "usage", "storage", "refund", "fee", "tax", "adjustment"]
"""`purchase`: a prepaid period; `usage`: time by the hour; `storage`: disks of stopped cards; `refund`:
money back for unused time (negative); `fee`; `tax`; `adjustment`: a later change of an earlier line."""


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of the ledger: why it exists, what it says, what it costs."""

    id: int
    provider: str
    offer: str
    lease: str
    """Label of the lease: `lease 0` or `burst`."""
    plan: str
    category: Category
    period_start: datetime
    """Local time, with zone; half-open."""
    period_end: datetime
    quantity: Decimal
    unit: str
    """What `quantity` counts, such as `unit-months` or `unit-hours`."""
    list_unit_price: Decimal
    unit_price: Decimal
    """Contracted price after discounts, before rounding."""
    list_cost: Decimal
    billed_cost: Decimal
    """Whole cents, negative for money that comes back; what the invoice says."""
    accrued_cost: Decimal
    """Part of `billed_cost` that belongs to usable time within the horizon, whole cents."""
    cash_date: datetime
    """When it is paid."""
    rule: str
    """The rule that made the line and its working, readable with a calculator."""
    sunk: bool = False
    """Paid before the scenario: its share of the horizon is accrued, and nothing is paid or owed again."""
    accrues_from: datetime | None = None
    """The cost accrues evenly from here ..."""
    accrues_until: datetime | None = None
    """... to here: usable time, which may begin before the scenario (sunk lines) and end after it.
    None: over the period. Equal moments: all at once."""
    machine: int | None = None
    """Machine of the pool for a rental by the hour; None: all units of the lease together."""
    cards: int = 0
    """Cards that the line pays for at the same time; 0 for lines that hold none (fees, tax)."""
    of: int | None = None
    """The charge that a refund, fee, correction or tax line belongs to."""
    before_cost: Decimal = Decimal("0.00")
    """Part of `billed_cost` that belongs to usable time before the scenario, whole cents."""
    recoverable: bool = False
    """Cash, but no cost: input tax that comes back. Such a line accrues nothing and owes nothing."""

    @property
    def owed_after(self) -> Decimal:
        """Part of the line that belongs to time after the horizon and cannot be recovered."""
        if self.sunk or self.recoverable:
            return Decimal("0.00")
        return self.billed_cost - self.accrued_cost - self.before_cost

    @property
    def contracted_cost(self) -> Decimal:
        """Contracted price times quantity, before rounding."""
        return self.unit_price * self.quantity

    @property
    def accrual(self) -> tuple[datetime, datetime]:
        """The time over which the cost accrues."""
        return self.accrues_from or self.period_start, self.accrues_until or self.period_end


@dataclass(frozen=True, slots=True)
class Invoice:
    """The charges of one provider in one calendar month (by `cash_date`, local)."""

    provider: str
    month: str
    """`2026-01`."""
    charges: tuple[int, ...]
    total: Decimal


@dataclass(frozen=True, slots=True)
class Ledger:
    """All charges of one run, the invoices they form, and the assumptions behind them."""

    currency: str
    horizon_end: datetime
    charges: tuple[Charge, ...]
    invoices: tuple[Invoice, ...]
    assumptions: tuple[str, ...] = ()

    @property
    def accrued(self) -> Decimal:
        """Cost of the usable time within the horizon."""
        return sum((charge.accrued_cost for charge in self.charges), Decimal(0))

    @property
    def committed(self) -> Decimal:
        """Accrued cost and what stays owed after the horizon for periods begun inside it."""
        return sum((charge.accrued_cost + charge.owed_after for charge in self.charges), Decimal(0))

    @property
    def cash(self) -> Decimal:
        """What is paid within the horizon."""
        inside = (c.billed_cost for c in self.charges if c.cash_date < self.horizon_end and not c.sunk)
        return sum(inside, Decimal(0))
