"""Amounts and rates as the finance commands write them."""

from __future__ import annotations

from decimal import Decimal

from sim.units import round_money

__all__ = ["cents", "percent"]


def cents(amount: Decimal) -> str:
    """`107,520.00`: an amount to the cent, its currency stands in the head of the table."""
    return f"{round_money(amount) + 0:,.2f}"  # a difference that rounds to 0 has no sign


def percent(rate: Decimal) -> str:
    """`8 %`, `8.25 %`."""
    return f"{float(100 * rate):.10g} %"
