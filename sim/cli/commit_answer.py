"""What `fleetsim commit` finds: the newsvendor's number of units, and what a simulation says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from sim.billing.finance.commitment import Commitment, Demand
from sim.billing.finance.indicators import Indicators, indicators
from sim.billing.rounding import as_decimal
from sim.cli.commit_inputs import Prices

if TYPE_CHECKING:
    from sim.experiments.commitment import DemandSample, TrialCost

__all__ = ["Answer", "refused_a_run"]


def refused_a_run(trial: TrialCost) -> Fraction:
    """Jobs that are refused in a run, on average."""
    return Fraction(trial.refused, len(trial.costs))


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that is said; money a month."""

    demand: Demand
    found: Commitment
    prices: Prices
    committed: str
    instead: str
    currency: str
    sample: DemandSample | None = None
    trials: tuple[TrialCost, ...] = ()
    assumed_fallback: bool = False
    """Whether nobody said what stands in."""
    wait_limit_h: float | None = None
    """The scenario's target for the 95th percentile of wait, hours."""
    refused_limit: int | None = None
    """Jobs a run that the scenario's target allows to be refused; None: the scenario has no target."""
    turned: tuple[str, ...] = ()
    """A sentence for each offer whose prices are turned into `currency`."""

    @property
    def period(self) -> str:
        """Over which demand is counted."""
        return "hour" if self.prices.hourly else "month"

    @property
    def shares(self) -> list[float]:
        """Probability of 0, 1, 2, ... units needed."""
        below = [float(self.demand.cumulative(k)) for k in range(self.demand.most + 1)]
        return [below[0], *(high - low for low, high in pairwise(below))]

    @property
    def acceptable(self) -> tuple[TrialCost, ...]:
        """Simulated numbers that refuse no more jobs a run than the target allows (without a target: the
        fewest of all), and keep the target's wait if any of these does; empty where all refuse more."""
        fewest = min((refused_a_run(trial) for trial in self.trials), default=Fraction(0))
        limit = fewest if self.refused_limit is None else Fraction(self.refused_limit)
        served = tuple(trial for trial in self.trials if refused_a_run(trial) <= limit)
        return tuple(trial for trial in served if self.keeps_wait(trial)) or served

    @property
    def simulated(self) -> TrialCost | None:
        """The acceptable number of least mean cost in the simulation; None where there is none."""
        return min(self.acceptable, key=lambda trial: trial.mean, default=None)

    def keeps_wait(self, trial: TrialCost) -> bool:
        """Whether the scenario's target for the 95th percentile of wait is met; True without one."""
        limit = self.wait_limit_h
        return limit is None or trial.wait_p95_h is None or trial.wait_p95_h <= limit

    def with_trials(self, trials: tuple[TrialCost, ...]) -> Answer:
        """The same with the simulated costs."""
        return replace(self, trials=trials)

    def indicators(self, k: int) -> Indicators:
        """Coverage, utilisation, waste and savings of k committed units, of a month of 730 h of demand."""
        excess = self.demand.excess(k)
        used, covered = self.demand.mean, self.demand.mean - excess
        return indicators(
            committed_cost=as_decimal(self.prices.committed * k),
            on_demand_cost=as_decimal(self.prices.fallback * excess),
            committed_hours=as_decimal(Fraction(730 * k)),
            covered_used_hours=as_decimal(730 * covered),
            used_hours=as_decimal(730 * used),
            hour=as_decimal(self.prices.fallback / 730),
        )
