"""Ratios that finance reports beside the money. None where the base is 0, never a made-up number.

Sources: FinOps Foundation, "Effective savings rate" and the FOCUS 1.2 columns. Coverage and utilisation
are diagnostics and not savings: a commitment may be used well and still have been the dearer choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = [
    "Indicators",
    "break_even_utilisation",
    "contracted_savings_rate",
    "coverage",
    "effective_hour",
    "effective_savings_rate",
    "indicators",
    "utilisation",
    "waste",
]


@dataclass(frozen=True, slots=True)
class Indicators:
    """All of them for one commitment over one span of time."""

    effective_hour: Decimal | None
    """Currency per used card-hour: all that is paid, idle time included, over the hours used."""
    coverage: Decimal | None
    utilisation: Decimal | None
    waste: Decimal
    """Currency: cost of committed hours that nobody used."""
    effective_savings_rate: Decimal | None


def effective_hour(cost: Decimal, used_hours: Decimal) -> Decimal | None:
    """Accrued cost over hours used, currency an hour."""
    return _ratio(cost, used_hours)


def coverage(covered_used_hours: Decimal, used_hours: Decimal) -> Decimal | None:
    """Share of the hours used that a commitment covered."""
    return _ratio(covered_used_hours, used_hours)


def utilisation(covered_used_hours: Decimal, committed_hours: Decimal) -> Decimal | None:
    """Share of the committed hours that were used."""
    return _ratio(covered_used_hours, committed_hours)


def waste(committed_cost: Decimal, covered_used_hours: Decimal, committed_hours: Decimal) -> Decimal:
    """Cost of the committed hours that were not used; 0 where nothing was committed."""
    if committed_hours == 0:
        return Decimal(0)
    return committed_cost * (committed_hours - covered_used_hours) / committed_hours


def effective_savings_rate(actual_cost: Decimal, used_hours: Decimal, hour: Decimal) -> Decimal | None:
    """1 - actual cost / cost of the same used hours on demand; unused commitments count as cost.

    `hour` is the price on demand. Negative where the commitment lost money.
    """
    ratio = _ratio(actual_cost, used_hours * hour)
    return None if ratio is None else 1 - ratio


def contracted_savings_rate(contracted_cost: Decimal, effective_cost: Decimal) -> Decimal | None:
    """(contracted - effective) / contracted: the definition on finops.org, over FOCUS columns."""
    return _ratio(contracted_cost - effective_cost, contracted_cost)


def break_even_utilisation(committed_hour: Decimal, hour: Decimal) -> Decimal | None:
    """Share of the time that a committed card must be used: committed rate over rate on demand."""
    return _ratio(committed_hour, hour)


def indicators(
    committed_cost: Decimal,
    on_demand_cost: Decimal,
    committed_hours: Decimal,
    covered_used_hours: Decimal,
    used_hours: Decimal,
    hour: Decimal,
) -> Indicators:
    """All ratios of one commitment with a fallback on demand at `hour` (currency an hour)."""
    total = committed_cost + on_demand_cost
    return Indicators(
        effective_hour=effective_hour(total, used_hours),
        coverage=coverage(covered_used_hours, used_hours),
        utilisation=utilisation(covered_used_hours, committed_hours),
        waste=waste(committed_cost, covered_used_hours, committed_hours),
        effective_savings_rate=effective_savings_rate(total, used_hours, hour),
    )


def _ratio(above: Decimal, below: Decimal) -> Decimal | None:
    return None if below == 0 else above / below
