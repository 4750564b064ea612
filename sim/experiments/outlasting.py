"""Which plans bind for longer than the simulated time, so that their price cannot be compared in it."""

from __future__ import annotations

from collections.abc import Iterable

from sim.model.terms import plan_months
from sim.units import DAY, Micros

__all__ = ["outlasting"]

MONTH = 365 * DAY // 12
"""A mean month; which days a month has matters little here."""

LONGER_BY = 0.1
"""Part of the horizon beyond which a binding is longer: as for the warning of money owed after it."""


def outlasting(plans: Iterable[str], horizon_us: Micros) -> tuple[str, ...]:
    """The plans whose first period goes on for more than a tenth of the horizon after it, the longest first.

    All of that period is committed within the horizon, although most of it serves later. `horizon_us`:
    simulated time, microseconds.
    """
    known = {plan: plan_months(plan) for plan in plans}
    beyond = [plan for plan, months in known.items() if months * MONTH > (1 + LONGER_BY) * horizon_us]
    return tuple(sorted(beyond, key=lambda plan: (-known[plan], plan)))
