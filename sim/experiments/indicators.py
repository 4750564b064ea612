"""The indicators of one run as finance reads them: a name, a value with its unit, and what it means."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from sim.billing.finance.on_demand import Asked, on_demand_prices
from sim.billing.finance.run_indicators import RunIndicators, card_hours, run_indicators
from sim.experiments.again import Detail

__all__ = ["Indicator", "as_json", "indicators_of", "listed"]

ACTUAL = "effective savings rate, 1 - actual / on demand"
CONTRACTED = "effective savings rate, (contracted - effective) / contracted"


@dataclass(frozen=True, slots=True)
class Indicator:
    """One figure."""

    key: str
    """Its name in JSON."""
    name: str
    value: Decimal | None
    """Not rounded; None: it has no base."""
    kind: Literal["hour", "share", "money"]
    unit: str
    meaning: str


def indicators_of(detail: Detail, on_demand: Asked = None) -> RunIndicators:
    """The indicators of one run; `on_demand`: prices that are asked for."""
    question, run = detail.question, detail.run
    scenario = question.scenario
    strategy = scenario.strategies[detail.strategy]
    prices = on_demand_prices(scenario, strategy, detail.prepared.offers, question.price, on_demand)
    return run_indicators(run.ledger, run.log, scenario, prices)


def listed(found: RunIndicators) -> tuple[Indicator, ...]:
    """All of them, in the order of tables."""
    hour, whole = f"{found.currency}/card-h", "accrued cost, idle time included"
    return (
        Indicator("effective_hour_used", "effective hourly rate, used", found.used_hour, "hour", hour,
                  f"{whole}, over the card-hours that jobs held"),
        Indicator("effective_hour_useful", "effective hourly rate, useful", found.useful_hour, "hour", hour,
                  f"{whole}, over the card-hours of work that was kept"),
        Indicator("commitment_coverage", "commitment coverage", found.coverage, "share",
                  "of used card-h", "used hours that prepaid periods paid for; the rest was by the hour"),
        Indicator("commitment_utilisation", "commitment utilisation", found.utilisation, "share",
                  "of committed card-h", "prepaid hours that jobs held"),
        Indicator("break_even_utilisation", "break-even utilisation", found.break_even_utilisation, "share",
                  "of committed card-h", "from here on the commitments cost less than hours on demand"),
        Indicator("waste", "waste", found.waste, "money", found.currency,
                  f"cost of the prepaid hours that no job held{_reasons(found)}"),
        Indicator("effective_savings_rate", ACTUAL, found.savings_rate, "share", "of on-demand cost",
                  "all cost, unused commitments included, against the same used hours by the hour"),
        Indicator("contracted_savings_rate", CONTRACTED, found.contracted_savings_rate, "share",
                  "of contracted cost", "what the plans took off list prices (finops.org), used or not"),
    )  # fmt: skip


def _reasons(found: RunIndicators) -> str:
    parts = [f"{state} {cost:,.2f}" for state, cost in found.wasted.items()]
    return f" ({', '.join(parts)})" if len(parts) > 1 else ""


def as_json(found: RunIndicators) -> dict[str, Any]:
    """Values with unit and meaning (shares from 0 to 1), and the sums that they come from."""
    return {
        **{
            one.key: {
                "value": None if one.value is None else float(one.value),
                "unit": one.unit,
                "meaning": one.meaning,
            }
            for one in listed(found)
        },
        "used_card_h": float(card_hours(found.used_us)),
        "useful_card_h": float(card_hours(found.useful_us)),
        "committed_card_h": float(card_hours(found.committed_us)),
        "covered_card_h": float(card_hours(found.covered_us)),
        "committed_cost_cny": float(found.committed_cost),
        "waste_by_state_cny": {state: float(cost) for state, cost in found.wasted.items()},
        "contracted_cny": float(found.contracted),
        "effective_cny": float(found.effective),
        "on_demand_cny": None if found.on_demand_cost is None else float(found.on_demand_cost),
        "on_demand": found.on_demand.sentence,
    }
