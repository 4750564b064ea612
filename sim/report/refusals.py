"""Which kinds of jobs a run refused, what each lacked, and where it would have fitted."""

from __future__ import annotations

from dataclasses import dataclass

from sim.physics import rate_table
from sim.replication import Prepared, RunResult
from sim.report.hourly import CheapestFit, cheapest_fit

__all__ = ["Refused", "refused_kinds"]


@dataclass(frozen=True, slots=True)
class Refused:
    """Jobs of one kind that a run refused."""

    shape: int
    kind: str
    jobs: int
    reason: str
    lacks: tuple[tuple[str, str, float | None], ...]
    """Offer of the strategy, why the job does not run there, GiB missing per card."""
    would_fit: CheapestFit | None
    """Cheapest offer of the catalogue on which it runs, at list price."""


def refused_kinds(prepared: Prepared, result: RunResult) -> tuple[Refused, ...]:
    """One entry for each kind of refused job, in order of first refusal."""
    reasons: dict[int, list[str]] = {}
    for record in result.log.jobs:
        if record.state == "refused":
            reasons.setdefault(result.jobs.jobs[record.job].shape, []).append(record.reason)
    if not reasons:
        return ()
    question = prepared.question
    offers = tuple(question.catalog.offers.values())
    scenario = question.scenario.model_copy(update={"performance": question.performance_source})
    everywhere = rate_table(scenario, prepared.shapes, offers, question.catalog)
    own = dict.fromkeys(_offers_of(prepared, result.strategy))
    return tuple(
        Refused(
            shape=shape,
            kind=prepared.shapes[shape].name,
            jobs=len(found),
            reason=found[0],
            lacks=tuple(
                (offer, misfit.reason, misfit.shortfall_gib)
                for offer in own
                if (misfit := everywhere.misfits.get((shape, offer))) is not None
            ),
            would_fit=cheapest_fit(everywhere, shape, offers, question.price),
        )
        for shape, found in reasons.items()
    )


def _offers_of(prepared: Prepared, strategy: str) -> list[str]:
    asked = prepared.question.scenario.strategy(strategy)
    hourly = [asked.burst.offer_id] if asked.burst is not None else []
    return [lease.offer_id for lease in asked.leases] + hourly
