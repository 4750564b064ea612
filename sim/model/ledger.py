"""What is owed: the lines of a ledger, its invoices, and the sums that metrics read.

Times are local, with zone; periods are half-open. Money is `Decimal`, whole cents where it is billed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

__all__ = ["Charge", "Invoice", "Ledger"]


@dataclass(frozen=True, slots=True)
class Charge:
    """One line of the ledger: why it exists, what it says, what it costs."""

    id: int
    provider: str
    offer: str
    lease: str
    """Label of the lease: `lease 0` or `burst`."""
    plan: str
    category: Literal["purchase", "usage"]
    """`purchase`: a prepaid period; `usage`: time by the hour."""
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
    """Whole cents; what the invoice says."""
    accrued_cost: Decimal
    """Part of `billed_cost` that belongs to usable time within the horizon, whole cents."""
    cash_date: datetime
    """When it is paid."""
    rule: str
    """The rule that made the line and its working, readable with a calculator."""
    sunk: bool = False
    """Paid before the scenario: its share of the horizon is accrued, and nothing is paid or owed again."""

    @property
    def owed_after(self) -> Decimal:
        """Part of the line that belongs to time after the horizon and cannot be recovered."""
        return Decimal("0.00") if self.sunk else self.billed_cost - self.accrued_cost


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
