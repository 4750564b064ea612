"""What `fleetsim breakeven` says to programs: one document."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sim.billing.finance.analysis import Analysis, Pair, WayResult
from sim.cli.breakeven_ends import Asked
from sim.units import round_money

__all__ = ["as_json"]


def as_json(analysis: Analysis, asked: Asked, currency: str, notes: list[str]) -> dict[str, Any]:
    """The document of `--format json`; money in `currency`, rates as shares, None where undefined."""
    return {
        "currency": currency,
        "months": analysis.months,
        "rate": float(analysis.rate),
        "convention": analysis.convention,
        "ways": [_way_json(way) for way in analysis.ways],
        "pairs": [_pair_json(pair) for pair in analysis.pairs],
        "by_use": [
            {
                "prepaid": use.prepaid,
                "hourly": use.hourly,
                "break_even_hours_a_month": float(use.hours),
                "break_even_utilisation": float(use.share),
            }
            for use in analysis.uses
        ],
        "downside": _downside_json(analysis, asked),
        "assumptions": notes,
    }


def _way_json(way: WayResult) -> dict[str, Any]:
    return {
        "name": way.name,
        "period_months": None if way.plan is None else way.plan.months,
        "period_cost": None if way.plan is None else float(way.plan.amount),
        "hour_price": None if way.hour is None else float(way.hour),
        "cost": float(way.cost),
        "present_value": float(round_money(way.value)),
        "card_hours": float(way.card_hours),
        "effective_hour": None if way.effective_hour is None else float(way.effective_hour),
        "curve": [
            {"month": found.months, "end": found.end.isoformat(), "cost": float(found.cost)}
            for found in way.outcomes
        ],
        "by_month": [
            {
                "month": row.month,
                "cash": float(row.cash),
                "cash_so_far": float(row.cash_so_far),
                "cost": float(row.cost),
                "prepaid": float(row.prepaid),
                "paid": {category: float(amount) for category, amount in row.paid.items()},
            }
            for row in way.table
        ],
    }


def _pair_json(pair: Pair) -> dict[str, Any]:
    term = pair.term
    return {
        "first": pair.first,
        "other": pair.other,
        "break_even_months": None if term is None else float(term.months),
        "break_even_share": None if term is None else float(term.share),
        "break_even_hours": None if term is None else float(term.hours),
        "break_even_months_discounted": (
            None if term is None or term.discounted_months is None else float(term.discounted_months)
        ),
        "cheaper_months": list(pair.cheaper_months),
        "cheaper_from_month": pair.cheaper_from,
        "saving": float(pair.saving),
        "npv_saving": float(round_money(pair.value_saving)),
        "irr_yearly": pair.irr.rate,
        "irr_monthly": pair.irr.monthly,
        "irr_all": list(pair.irr.yearly),
        "irr_note": pair.irr.reason,
        "irr_kind": "return" if pair.pays_earlier else "loan",
        "ski_rental": None
        if pair.ski is None
        else {
            "rent_periods": pair.ski.rented_months,
            "worst_ratio": float(pair.ski.worst),
            "worst_cost": float(pair.ski.worst_cost),
            "best_cost": float(pair.ski.best_cost),
            "bound": float(pair.ski.bound),
            "randomised_bound": pair.ski.randomised_bound,
        },
        "even_probability": {str(month): _chance(chance) for month, chance in pair.even.items()},
    }


def _chance(chance: Fraction | None) -> float | None:
    return None if chance is None else float(chance)


def _downside_json(analysis: Analysis, asked: Asked) -> Mapping[str, Any] | None:
    found = analysis.downside
    if found is None:
        return None
    return {
        "hazard_a_month": _chance(asked.hazard),
        "mean_months": float(asked.mean_months),
        "even_hazards": {name: list(found) for name, found in asked.even(analysis).items()},
        "rows": [
            {
                "month": row.months,
                "probability": float(row.probability),
                "costs": {name: float(cost) for name, cost in row.costs.items()},
                "regrets": {name: float(regret) for name, regret in row.regrets.items()},
                "best": list(row.best),
            }
            for row in found.rows
        ],
        "ways": {
            name: {
                "expected_cost": float(risk.expected_cost),
                "expected_regret": float(risk.expected_regret),
                "largest_regret": float(risk.largest_regret),
                "wrong_probability": float(risk.wrong),
            }
            for name, risk in found.risks.items()
        },
        "least_expected_cost": found.cheapest,
        "least_largest_regret": found.least_regret,
    }
