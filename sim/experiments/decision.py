"""From numbers to a decision: what meets the target, what is on the Pareto front, what to rent.

Rules (each stated in the output): a strategy meets the target if the mean over the replications
meets every line of it; among those the cheapest by `committed_cost_cny` is recommended (by
`cost_with_penalties_cny` where the scenario says what late or refused jobs cost), the first in the file
where two cost the same to the cent. Confidence is the probability that the true means lead
to the same decision, if what is known of them is what the replications say: Student's distribution,
jointly for all strategies and metrics (the posterior of a normal mean under the usual flat prior:
Gelman et al., Bayesian Data Analysis, 3rd ed., section 3.6). It agrees with the intervals shown, which
resamples of few replications would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sim.billing.penalties import has_penalties
from sim.experiments.comparison import Condition, Recommendation, Status, Verdict
from sim.experiments.decision_words import MONEY, WAIT, Candidate, excess, tied, why, why_none
from sim.experiments.statistics import NEEDS_TWO, Interval
from sim.metrics import METRICS, target_lines
from sim.model.said import said
from sim.model.scenario import Scenario, Target
from sim.streams import Streams

__all__ = [
    "MONEY",
    "WAIT",
    "Candidate",
    "conditions",
    "judge",
    "overall",
    "pareto_front",
    "ranked_by",
    "recommend",
]

WITH_PENALTIES = "cost_with_penalties_cny"
DRAWS = 4000
CELLS = 4_000_000
"""Random numbers held at one time, so that memory does not grow with the replications."""

Floats = NDArray[np.float64]


def conditions(target: Target | None) -> tuple[Condition, ...]:
    """The lines of a target, as `sim.metrics` reads it; without one: no refusals and a stable queue."""
    return tuple(
        Condition(
            name=KEYS[line.metric],
            metric=line.metric,
            limit=line.limit,
            unit=METRICS[line.metric].unit,
            at_least=line.better == "high",
        )
        for line in target_lines(target)
    )


def ranked_by(scenario: Scenario) -> str:
    """The metric of cost that ranks strategies: with penalties where the scenario gives any."""
    return WITH_PENALTIES if has_penalties(scenario) else MONEY


def judge(condition: Condition, interval: Interval) -> Verdict:
    """Hold the mean against the limit; `unsure` where the interval straddles it."""
    if interval.mean is None:
        return Verdict(condition, interval, True, "not judged")
    meets = bool(_meets(condition, np.array(interval.mean)))
    status: Status = "unsure" if interval.straddles(condition.limit) else "met" if meets else "missed"
    return Verdict(condition, interval, meets, status)


def overall(verdicts: Sequence[Verdict]) -> Status:
    """The worst of the lines: missed, then unsure, then met; not judged only if none was."""
    found = {verdict.status for verdict in verdicts}
    order: tuple[Status, ...] = ("missed", "unsure", "met")
    return next((status for status in order if status in found), "not judged")


def pareto_front(points: Sequence[tuple[float, float] | None]) -> list[bool]:
    """Which points (both coordinates low is good) no other point dominates; None takes no part.

    A point dominates another if it is no worse in both and better in one; equal points both stay.
    """

    def dominated(point: tuple[float, float]) -> bool:
        return any(
            other is not None and other != point and other[0] <= point[0] and other[1] <= point[1]
            for other in points
        )

    return [point is not None and not dominated(point) for point in points]


def recommend(
    candidates: Sequence[Candidate], seed: int, currency: str = "CNY", values: str = "replications"
) -> Recommendation:
    """The cheapest candidate that meets the target, or None and the nearest.

    Nearest is the one with the largest `target_met_share`, then the smallest relative excess over
    the limit that it misses most, then the first in the file. `seed` fixes the draws;
    `values` says what the values are of.
    """
    winner = _winner(candidates)
    replications = len(next(iter(candidates[0].values.values()), ()))
    confidence, method = None, NEEDS_TWO
    if replications >= 2:
        confidence = _confidence(candidates, winner, replications, seed)
        method = said(
            "share of {draws} draws of the true means, from Student's distribution around those of the "
            "{runs} {values}, that lead to the same decision",
            draws=f"{DRAWS:,}",
            runs=f"{replications:,}",
            values=values,
        )
    if winner is None:
        nearest = min(candidates, key=_distance)
        reason = why_none(nearest, currency)
        return Recommendation(None, reason, confidence, method, nearest.name)
    others = [c for i, c in enumerate(candidates) if i != winner]
    reason = tied(why(candidates[winner], others, currency), candidates[winner], others)
    return Recommendation(candidates[winner].name, reason, confidence, method, None)


def _meets(condition: Condition, means: Floats) -> NDArray[np.bool_]:
    """Whether means meet the limit, but for the last bits; NaN (not defined) stands in nobody's way."""
    slack = 1e-9 * max(1.0, abs(condition.limit))
    missed = means < condition.limit - slack if condition.at_least else means > condition.limit + slack
    return ~missed


def _winner(candidates: Sequence[Candidate]) -> int | None:
    costs = np.array([[_or_nan(candidate.cost)] for candidate in candidates])
    meets = np.array([[candidate.meets] for candidate in candidates])
    first = int(_winners(costs, meets)[0])
    return first if first >= 0 else None


def _winners(costs: Floats, meets: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each column: the row that meets with the lowest cost to the cent, or -1."""
    price = np.where(meets & ~np.isnan(costs), np.round(costs, 2), np.inf)
    return np.where(np.isfinite(price.min(axis=0)), price.argmin(axis=0), -1)


def _confidence(candidates: Sequence[Candidate], winner: int | None, replications: int, seed: int) -> float:
    """The share of draws of all means, at once, in which the decision is `winner`."""
    generator = Streams(seed).generator("decision")
    same, left = 0, DRAWS
    while left:
        size = min(left, max(1, CELLS // replications))
        normals = generator.standard_normal((size, replications))
        stretch = np.sqrt((replications - 1) / generator.chisquare(replications - 1, size))
        costs = _drawn(candidates, candidates[0].money, normals, stretch)
        meets = np.ones(costs.shape, dtype=bool)
        for verdict in candidates[0].verdicts:
            condition = verdict.condition
            meets &= _meets(condition, _drawn(candidates, condition.metric, normals, stretch))
        same += int((_winners(costs, meets) == (-1 if winner is None else winner)).sum())
        left -= size
    return same / DRAWS


def _drawn(candidates: Sequence[Candidate], metric: str, normals: Floats, stretch: Floats) -> Floats:
    """Possible true means of a metric, candidate by draw; NaN where it is not defined.

    The deviations of the replications, weighted with standard normals, have the covariance of the
    data; stretched by the square root of (n - 1) / chi-square they follow Student's distribution.
    Every metric uses the same weights, so what goes together in the replications stays together.
    """
    none = [None] * normals.shape[1]
    values = np.array(
        [[_or_nan(number) for number in candidate.values.get(metric, none)] for candidate in candidates]
    )
    known = ~np.isnan(values)
    number = known.sum(axis=1, keepdims=True)
    total = np.where(known, values, 0.0).sum(axis=1, keepdims=True)
    means = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    deviations = np.where(known, values - means, 0.0) / np.sqrt(np.maximum(number * (number - 1), 1))
    drawn: Floats = means + (deviations @ normals.T) * stretch
    return drawn


def _or_nan(number: float | None) -> float:
    return np.nan if number is None else number


def _distance(candidate: Candidate) -> tuple[float, float]:
    return (-(candidate.mean("target_met_share") or 0.0), max(map(excess, candidate.verdicts)))


KEYS: Mapping[str, str] = {
    "jobs_refused": "refused",
    "overloaded": "stable queue",
    "wait_mean_h": "wait_mean",
    "wait_p95_h": "wait_p95",
    "on_time_share": "on_time",
}
"""Metric of a line -> its key in the scenario's `target`."""
