"""The cost of one run as tables and as a document: by month, by team, class or job, and what nobody used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, get_args

from sim.billing.accrual import CashPeriod, cash_and_cost
from sim.billing.allocation import Allocation, CostGroup, JobCost, Sharing, allocate
from sim.billing.alternative import hourly_alternative
from sim.billing.cardtime import BUSY, State
from sim.billing.finance.on_demand import Asked
from sim.billing.finance.run_indicators import RunIndicators
from sim.billing.penalties import has_penalties, penalties
from sim.experiments.again import Detail
from sim.experiments.indicators import as_json, indicators_of
from sim.units import hours

__all__ = ["BY", "By", "Costs", "STATES", "costs_of"]

By = Literal["team", "class", "job", "month"]

BY: tuple[By, ...] = get_args(By)

STATES: Mapping[State, str] = {
    "useful": "work that was kept",
    "checkpoint": "writing checkpoints",
    "startup": "first loading and warming up",
    "reload": "loading and warming up again",
    "lost": "work done and lost",
    "idle": "idle, for jobs to use",
    "down": "out of order",
    "away": "outside of the lease's windows",
    "reserved": "kept out of training",
}
"""What became of card-time, in the order of tables."""

_KEYS: Mapping[By, Callable[[JobCost], str]] = {
    "team": lambda job: job.team or "(no team)",
    "class": lambda job: job.job_class,
    "job": lambda job: f"{job.name} (job {job.job})",
}


@dataclass(frozen=True, slots=True)
class Costs:
    """The views of the cost of one run."""

    detail: Detail
    by: By
    months: tuple[CashPeriod, ...]
    allocation: Allocation
    groups: tuple[CostGroup, ...]
    """By team, class or job; by month: by team."""
    alternative: str
    """Where the price behind opportunity cost comes from."""
    has_penalties: bool
    indicators: RunIndicators

    @property
    def states(self) -> tuple[tuple[State, float, Decimal], ...]:
        """State, card-hours and cost of all card-time; idle time that a rule shared is with the jobs."""
        whole = self.allocation
        found: list[tuple[State, float, Decimal]] = []
        for state in STATES:
            if state in BUSY:
                card_us = sum(job.card_us.get(state, 0) for job in whole.jobs)
            else:
                card_us = whole.unused_us.get(state, 0)
            found.append((state, hours(card_us), whole.state(state)))
        return tuple(found)

    @property
    def shared_idle(self) -> Decimal:
        """Idle cost on jobs by the sharing rule."""
        return self.allocation.everything.sum(lambda job: job.shared_idle)

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim costs --format json`; amounts in the currency of the scenario."""
        whole, run = self.allocation, self.detail.run
        return {
            "scenario": self.detail.question.scenario.name,
            "strategy": run.strategy,
            "replication": run.replication,
            "currency": whole.currency,
            "by": self.by,
            "share": whole.sharing,
            "accrued_cny": float(whole.accrued),
            "months": [
                {
                    "month": month.period,
                    "cash_cny": float(month.cash),
                    "recoverable_tax_cny": float(month.recoverable),
                    "accrued_cny": float(month.accrued),
                    "prepaid_balance_cny": float(month.balance),
                }
                for month in self.months
            ],
            "states": {
                state: {"card_h": card_h, "cost_cny": float(cost)} for state, card_h, cost in self.states
            },
            "shared_idle_cny": float(self.shared_idle),
            "without_cards_cny": float(whole.no_cards),
            "burst_unused_cny": float(whole.burst_unused),
            "groups": [self._group(group) for group in self.groups],
            "hourly_alternative": self.alternative,
            "indicators": as_json(self.indicators),
        }

    def _group(self, group: CostGroup) -> dict[str, Any]:
        opportunity = group.opportunity
        return {
            "name": group.name,
            "jobs": len(group.jobs),
            "card_h": hours(group.busy_us),
            **{f"{state}_cny": float(group.state(state)) for state in BUSY},
            "shared_idle_cny": float(group.sum(lambda job: job.shared_idle)),
            "total_cny": float(group.sum(lambda job: job.total)),
            "average_per_job_cny": float(group.sum(lambda job: job.total)) / len(group.jobs),
            "marginal_cny": float(group.sum(lambda job: job.marginal)),
            "opportunity_cny": None if opportunity is None else float(opportunity),
            "penalty_cny": float(group.sum(lambda job: job.penalty)),
        }


def costs_of(detail: Detail, by: By = "team", sharing: Sharing = "none", on_demand: Asked = None) -> Costs:
    """The views of the cost of one run; `on_demand`: prices of committed card-hours that are asked for."""
    question, run = detail.question, detail.run
    scenario = question.scenario
    strategy = scenario.strategies[detail.strategy]
    alternative = hourly_alternative(scenario, strategy, detail.prepared.offers, question.price)
    allocation = allocate(
        run.ledger,
        run.log,
        run.jobs,
        scenario,
        sharing,
        alternative.prices,
        penalties(run.log, run.jobs, scenario),
    )
    return Costs(
        detail=detail,
        by=by,
        months=cash_and_cost(run.ledger, scenario),
        allocation=allocation,
        groups=allocation.by(_KEYS["team" if by == "month" else by]),
        alternative=alternative.sentence,
        has_penalties=has_penalties(scenario),
        indicators=indicators_of(detail, on_demand),
    )
