"""Money: the ledger's sums, and what they come to for a month, a job and a useful hour.

Sums are exact in the ledger and become floats only here, for tables. The warm-up never cuts money.
"""

from __future__ import annotations

from decimal import Decimal

from sim.metrics.facts import Facts
from sim.units import HOUR, MONTH

__all__ = [
    "burst_cost_cny",
    "cash_cny",
    "committed_cost_cny",
    "cost_cny",
    "cost_per_job_cny",
    "cost_per_month_cny",
    "cost_per_useful_gpu_h_cny",
    "cost_with_penalties_cny",
    "owed_after_cny",
    "penalty_cny",
]


def cost_cny(facts: Facts) -> float:
    """Cost that belongs to usable time within the horizon (accrued)."""
    return float(facts.ledger.accrued)


def owed_after_cny(facts: Facts) -> float:
    """What stays owed after the horizon for periods begun inside it, paid or not."""
    return float(facts.ledger.committed - facts.ledger.accrued)


def committed_cost_cny(facts: Facts) -> float:
    """Accrued cost and what stays owed: the sum by which strategies are ranked."""
    return float(facts.ledger.committed)


def penalty_cny(facts: Facts) -> float | None:
    """What late and refused jobs cost, as the scenario says; on no invoice."""
    return None if facts.penalty is None else float(facts.penalty)


def cost_with_penalties_cny(facts: Facts) -> float | None:
    """Committed cost and penalties: the sum by which strategies are ranked where there are penalties."""
    return None if facts.penalty is None else float(facts.ledger.committed + facts.penalty)


def cash_cny(facts: Facts) -> float:
    """What is paid within the horizon."""
    return float(facts.ledger.cash)


def burst_cost_cny(facts: Facts) -> float:
    """Accrued cost of cards rented in bursts."""
    burst = (line.accrued_cost for line in facts.ledger.charges if line.lease == "burst")
    return float(sum(burst, Decimal(0)))


def cost_per_month_cny(facts: Facts) -> float:
    """Accrued cost per mean month of 365/12 days."""
    return float(facts.ledger.accrued) * MONTH / facts.horizon


def cost_per_job_cny(facts: Facts) -> float | None:
    """Accrued cost per job: jobs done and the completed shares of the unfinished; None if 0."""
    unfinished = facts.progress[facts.in_state("running", "waiting")]
    jobs = float(facts.in_state("done").sum() + unfinished.sum())
    return cost_cny(facts) / jobs if jobs > 0 else None


def cost_per_useful_gpu_h_cny(facts: Facts) -> float | None:
    """Accrued cost per card-hour of work that was kept; None if there is none."""
    return cost_cny(facts) / (facts.useful_total / HOUR) if facts.useful_total > 0 else None
