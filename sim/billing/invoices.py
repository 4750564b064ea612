"""Invoices: the charges of one provider that are paid in one calendar month."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from sim.model.ledger import Charge, Invoice

__all__ = ["invoices"]


def invoices(charges: Iterable[Charge]) -> tuple[Invoice, ...]:
    """Every charge on exactly one invoice, by month of payment (local time) and provider.

    What was paid before the scenario was invoiced then.
    """
    groups: dict[tuple[str, str], list[Charge]] = {}
    for charge in (charge for charge in charges if not charge.sunk):
        groups.setdefault((f"{charge.cash_date:%Y-%m}", charge.provider), []).append(charge)
    return tuple(
        Invoice(
            provider=provider,
            month=month,
            charges=tuple(charge.id for charge in lines),
            total=sum((charge.billed_cost for charge in lines), Decimal(0)),
        )
        for (month, provider), lines in sorted(groups.items())
    )
