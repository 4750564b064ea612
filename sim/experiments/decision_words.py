"""The reason of a decision in one sentence: who wins, at which cost and wait, and what the others miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.experiments.comparison import Verdict
from sim.experiments.several import same_to_the_cent
from sim.experiments.statistics import Interval
from sim.experiments.wording import money, quoted, span, value
from sim.model.said import said

__all__ = ["MONEY", "WAIT", "Candidate", "excess", "tied", "why", "why_none"]

MONEY, WAIT = "committed_cost_cny", "wait_p95_h"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A strategy as the decision sees it."""

    name: str
    values: Mapping[str, Sequence[float | None]]
    """Metric -> value in each replication."""
    metrics: Mapping[str, Interval]
    verdicts: tuple[Verdict, ...]
    money: str = MONEY
    """The metric of cost by which strategies are ranked; the same for all."""

    @property
    def cost(self) -> float | None:
        """Mean of the metric of cost."""
        return self.mean(self.money)

    @property
    def meets(self) -> bool:
        """Whether the mean meets every line of the target."""
        return all(verdict.meets for verdict in self.verdicts)

    def mean(self, metric: str) -> float | None:
        """Mean of a metric; None where it is not defined."""
        interval = self.metrics.get(metric)
        return None if interval is None else interval.mean


def excess(verdict: Verdict) -> float:
    """How far the mean is beyond the limit, as a part of the limit (of 1 where the limit is below 1)."""
    mean, condition = verdict.interval.mean, verdict.condition
    if mean is None or verdict.meets:
        return 0.0
    scale = (
        condition.limit if condition.unit == "share" or condition.unit == "h" else max(1.0, condition.limit)
    )
    return abs(mean - condition.limit) / (scale or 1.0)


def why(winner: Candidate, others: Sequence[Candidate], currency: str) -> str:
    """Why the winner is recommended, beside the dearest of the cheaper or the cheapest of the dearer."""
    head = said(
        "{name} is the cheapest strategy that meets the target, at {facts}",
        name=quoted(winner.name),
        facts=_facts(winner, currency),
    )
    price = winner.cost or 0.0
    cheaper = [other for other in others if not other.meets and (other.cost or 0.0) < price]
    dearer = [other for other in others if other.meets]
    if cheaper:
        rival = max(cheaper, key=lambda other: other.cost or 0.0)
        cost = money(rival.cost, currency)
        return said(
            "{head}; the cheaper {than} ({cost}) does not: {miss}.",
            head=head,
            than=quoted(rival.name),
            cost=cost,
            miss=_miss(rival),
        )
    if dearer:
        rival = min(dearer, key=lambda other: other.cost or 0.0)
        facts = _facts(rival, currency)
        return said("{head}; next comes {than}, at {facts}.", head=head, than=quoted(rival.name), facts=facts)
    if others:
        return said("{head}; no other strategy meets it.", head=head)
    return said("{head}; no other strategy was compared.", head=head)


def tied(reason: str, winner: Candidate, others: Sequence[Candidate]) -> str:
    """The reason, and who costs the same and would do as well: the order of the file then decides."""
    alike = [
        quoted(other.name) for other in others if other.meets and same_to_the_cent(other.cost, winner.cost)
    ]
    if not alike:
        return reason
    if len(alike) == 1:
        return said(
            "{reason} A tie: {than} meets it at the same cost, to the cent; the first in the file is named.",
            reason=reason,
            than=alike[0],
        )
    return said(
        "{reason} A tie: {than} meet it at the same cost, too; the first in the file is named.",
        reason=reason,
        than=" and ".join(alike),
    )


def why_none(nearest: Candidate, currency: str) -> str:
    """Why none is recommended, and what the nearest misses."""
    return said(
        "none meets the target; {name} comes nearest, at {facts}, and misses it: {miss}.",
        name=quoted(nearest.name),
        facts=_facts(nearest, currency),
        miss=_miss(nearest),
    )


def _facts(candidate: Candidate, currency: str) -> str:
    wait = candidate.mean(WAIT)
    cost = money(candidate.cost, currency)
    waits = said("no job that waits")
    if wait is not None:
        waits = said("a 95th percentile of wait of {wait}", wait=span(wait))
    if candidate.money == MONEY:
        return said("{cost} committed and {reason}", cost=cost, reason=waits)
    return said("{cost} committed and in penalties, and {reason}", cost=cost, reason=waits)


def _miss(candidate: Candidate) -> str:
    worst = max(candidate.verdicts, key=excess)
    condition, mean = worst.condition, worst.interval.mean
    if condition.metric == "overloaded":
        return said("its queue is overloaded in {part} of the replications", part=value(mean, "share"))
    if condition.metric == "jobs_refused":
        limit = f"{condition.limit:g}"
        return said("it refuses {jobs} jobs a run (at most {limit})", jobs=value(mean, "jobs"), limit=limit)
    found, limit = value(mean, condition.unit), value(condition.limit, condition.unit)
    what = NAMES[condition.metric]
    if condition.at_least:
        return said("{what} is {found}, at least {limit} is asked", what=what, found=found, limit=limit)
    return said("{what} is {found}, at most {limit} is asked", what=what, found=found, limit=limit)


NAMES: Mapping[str, str] = {
    "wait_mean_h": "the mean wait",
    "wait_p95_h": "the 95th percentile of wait",
    "on_time_share": "the share of jobs on time",
}
