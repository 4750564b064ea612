"""The fleets that a recommendation chooses from: offers x cards x plans x policies x burst."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sim.catalog import Catalog
from sim.decisions.policies import POLICIES
from sim.decisions.strategies import units_needed
from sim.errors import InputError, Problem
from sim.experiments.quote import quote
from sim.load import Question
from sim.model.fleet import FleetPlan, PoolSpec
from sim.model.rates import RunOption
from sim.model.said import said
from sim.model.scenario import Burst, Lease, Strategy
from sim.replication import Prepared

__all__ = ["Candidate", "Fleet", "Space", "candidates", "misfit_of", "space_of"]

MOST = 20_000
"""Candidates of one search."""


@dataclass(frozen=True, slots=True)
class Space:
    """What is searched. Each candidate leases one offer; mixtures of offers are not searched."""

    offers: tuple[str, ...]
    cards: tuple[int, ...]
    """Cards, not units: an offer of machines of eight is tried where eight divides the number."""
    plans: tuple[str, ...]
    policies: tuple[str, ...]
    bursts: tuple[Burst | None, ...]


Fleet = tuple[str, int, str, bool]
"""Offer, units, policy, burst: what the engine sees of a candidate."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One strategy of the search."""

    position: int
    """In the question of the search."""
    name: str
    offer: str
    units: int
    cards: int
    plan: str
    policy: str
    burst: bool
    cost: Decimal
    """Committed cost of its leases, without burst: known before any run."""

    @property
    def fleet(self) -> Fleet:
        """What the engine sees: candidates that differ in the plan alone share their runs."""
        return self.offer, self.units, self.policy, self.burst


def space_of(
    question: Question,
    cards: Sequence[int],
    offers: Sequence[str] | None = None,
    plans: Sequence[str] | None = None,
    policies: Sequence[str] | None = None,
    burst: str = "as-is",
) -> Space:
    """The space asked for; what is not given comes from the strategies of the scenario.

    `burst`: `none`, `as-is` (those of the scenario, and none) or `only`. Raises InputError for unknown
    names and an empty space.
    """
    strategies, catalog = question.scenario.strategies, question.catalog
    leases = [lease for strategy in strategies for lease in strategy.leases]
    found = [strategy.burst for strategy in strategies if strategy.burst is not None]
    distinct: list[Burst | None] = [one for i, one in enumerate(found) if one not in found[:i]]
    _known("--offer", offers or (), tuple(catalog.offers))
    _known("--policy", policies or (), tuple(POLICIES))
    if burst == "only" and not distinct:
        rule = "no strategy of the scenario rents by the hour, so there is no burst to search with"
        raise InputError(Problem(rule, key="--burst", value=burst))
    space = Space(
        offers=tuple(offers or dict.fromkeys(lease.offer_id for lease in leases)),
        cards=tuple(sorted(set(cards))),
        plans=tuple(plans or dict.fromkeys(lease.plan for lease in leases)),
        policies=tuple(policies or dict.fromkeys(strategy.policy for strategy in strategies)),
        bursts={"none": (None,), "only": tuple(distinct)}.get(burst, (None, *distinct)),
    )
    if not space.offers or not space.cards or not space.plans:
        rule = "a search needs an offer, a number of cards and a plan; name them by options"
        raise InputError(Problem(rule, key="--offers, --cards, --plans"))
    return space


def _known(option: str, names: Sequence[str], known: tuple[str, ...]) -> None:
    wrong = [name for name in names if name not in known]
    if wrong:
        raise InputError(Problem("this name is not known", key=option, value=w, known=known) for w in wrong)


def candidates(question: Question, space: Space) -> tuple[Question, tuple[Candidate, ...]]:
    """The question whose strategies are all candidates, and the candidates, cheapest reading first.

    Plans that an offer is not sold under are left out. Raises InputError where nothing is left.
    """
    like = {lease.offer_id: lease for s in question.scenario.strategies for lease in s.leases}
    strategies: list[Strategy] = []
    facts: list[tuple[str, int, int, str, str, bool]] = []
    for number, burst in enumerate(space.bursts):
        for policy in space.policies:
            for offer in space.offers:
                for plan in _plans(question.catalog, offer, space.plans):
                    for units, cards in _units(question.catalog, offer, space.cards):
                        name = f"{cards} x {offer}, {plan}, {policy}"
                        if burst is not None:
                            which = f" {number}" if len(space.bursts) > 2 else ""
                            name += f", burst{which} {burst.offer_id}"
                        lease = _lease(like.get(offer), offer, units, plan)
                        strategies.append(Strategy(name=name, policy=policy, leases=(lease,), burst=burst))
                        facts.append((offer, units, cards, plan, policy, burst is not None))
    if not strategies:
        rule = "no offer is sold under these plans in these numbers of cards"
        raise InputError(Problem(rule, key="--offers, --cards, --plans"))
    if len(strategies) > MOST:
        rule = f"a search has at most {MOST:,} candidates"
        raise InputError(Problem(rule, key="--cards", value=len(strategies)))
    scenario = question.scenario.model_copy(update={"strategies": tuple(strategies)})
    asked = dataclasses.replace(question, scenario=scenario)
    return asked, tuple(
        Candidate(i, strategies[i].name, *fact, quote(asked, i).ledger.committed)
        for i, fact in enumerate(facts)
    )


def _lease(like: Lease | None, offer: str, units: int, plan: str) -> Lease:
    """A lease of the whole horizon, with the options and terms that the scenario has for the offer."""
    name, _, profile = offer.partition("/")
    if like is None:
        return Lease.model_validate({"offer": name, "count": units, "plan": plan, "profile": profile or None})
    kept = {"start": None, "end": None, "started": None, "reserve": None, "joins": None}
    dropped = {"converts": (), "stopped": ()} if plan != like.plan else {}
    return like.model_copy(update={**kept, **dropped, "count": units, "plan": plan})


def _plans(catalog: Catalog, offer: str, plans: Sequence[str]) -> list[str]:
    return [plan for plan in plans if plan in catalog.offers[offer].plans]


def _units(catalog: Catalog, offer: str, cards: Sequence[int]) -> list[tuple[int, int]]:
    size = catalog.offers[offer].gpus_per_unit
    return [(number // size, number) for number in cards if number % size == 0]


def misfit_of(prepared: Prepared, strategy: int) -> str | None:
    """Why some shape of jobs runs on no cards of a strategy; None if all can run."""
    plan = prepared.plans[strategy]
    for index, shape in enumerate(prepared.shapes):
        if not any(_holds(prepared, index, pool, plan) for pool in _pools(plan)):
            return said("{name}: {reason}", name=shape.name, reason=_why(prepared, index, plan))
    return None


def _pools(plan: FleetPlan) -> tuple[PoolSpec, ...]:
    return plan.pools if plan.burst is None else (*plan.pools, plan.burst.pool)


def _holds(prepared: Prepared, shape: int, pool: PoolSpec, plan: FleetPlan) -> bool:
    options = prepared.rates.options.get((shape, pool.offer), ())
    if plan.burst is not None and pool is plan.burst.pool:
        return any(units_needed(o, pool.gpus_per_machine) <= plan.burst.max_units for o in options)
    cards = sum(span.count for span in pool.leases) * pool.gpus_per_machine
    return any(_possible(option, pool, cards, prepared.shapes[shape].spans) for option in options)


def _possible(option: RunOption, pool: PoolSpec, cards: int, spans: bool) -> bool:
    if option.spans:
        return spans and pool.spans and option.gpus <= cards
    return option.gpus <= pool.gpus_per_machine


def _why(prepared: Prepared, shape: int, plan: FleetPlan) -> str:
    for pool in _pools(plan):
        misfit = prepared.rates.misfits.get((shape, pool.offer))
        if misfit is not None:
            return misfit.reason
    least = [o.gpus for pool in _pools(plan) for o in prepared.rates.options.get((shape, pool.offer), ())]
    return said("needs {cards} cards at a time", cards=min(least)) if least else said("fits on no card")
