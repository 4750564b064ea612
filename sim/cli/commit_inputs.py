"""What `fleetsim commit` is asked: the unit to commit, what stands in for it, and the demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sim.billing.finance.analysis import hour_price, period_cost
from sim.billing.finance.breakeven import HOURS_OF_MONTH
from sim.billing.finance.commitment import Demand, poisson, uniform
from sim.billing.finance.outcomes import Way
from sim.catalog import Catalog
from sim.cli.breakeven_ways import rekeyed
from sim.cli.finance_options import read_number
from sim.errors import InputError, Problem
from sim.load_leases import with_slices
from sim.model.contract import PriceChoice
from sim.model.lease import Lease
from sim.model.scenario import Scenario, Strategy
from sim.model.terms import plan_months

__all__ = ["Prices", "by_the_hour", "plain_lease", "prices", "read_demand", "template"]

_KEPT = ("price", "options", "repeat_purchase", "terms", "profile")
"""What a lease of the scenario gives to the unit that is committed."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a unit costs a month either way."""

    committed: Fraction
    """Currency a unit and month, used or not."""
    fallback: Fraction
    """Currency for a month in which a unit is needed and not committed: 730 hours, or a month of the other
    plan, of as many units as have its cards."""
    ratio: Fraction
    """Units of the fallback that have the cards of one committed unit."""
    hourly: bool
    """Whether the fallback is paid by the hour, so that demand is counted by the hour."""


def plain_lease(offer: str, plan: str) -> Lease:
    """One unit of an offer or slice (`OFFER/PROFILE`)."""
    name, _, profile = offer.partition("/")
    return Lease(offer=name, plan=plan, profile=profile or None)


def by_the_hour(catalog: Catalog, name: str) -> str | None:
    """`OFFER:hourly` of an offer or slice that is sold by the hour; None of any other."""
    offer = catalog.offers[name.partition("/")[0]]
    by_hour = offer.price.unit == "hour" and "hourly" in offer.plans
    sold = by_hour or (offer.price.unit != "hour" and offer.terms.hourly_price is not None)
    return f"{name}:hourly" if sold else None


def template(base: Strategy, offer: str | None, plan: str | None) -> Lease:
    """The unit to commit: as the strategy's first lease asks for it, but for offer and plan if given.

    InputError where neither says what to commit.
    """
    first = base.leases[0] if base.leases else None
    if first is None and offer is None:
        rule = "the strategy has no lease to take the offer from: give one"
        raise InputError(Problem(rule, key="--offer"))
    if first is not None and offer in (None, first.offer_id):
        kept = {name: getattr(first, name) for name in _KEPT}
        lease = Lease(offer=first.offer, plan=plan or first.plan).model_copy(update=kept)
    else:
        lease = plain_lease(offer or "", plan or "annual")
    return lease


def prices(
    scenario: Scenario,
    catalog: Catalog,
    lease: Lease,
    fallback: tuple[str, str],
    choice: PriceChoice | None,
) -> Prices:
    """Prices of a unit a month; InputError as `bill` raises it, at the options, and for a commitment by
    the hour."""
    months = plan_months(lease.plan)
    if months == 0:
        rule = "time by the hour is no commitment: give a prepaid plan such as annual"
        raise InputError(Problem(rule, key="--plan", value=lease.plan))
    committed = _way(scenario, catalog, lease, choice)
    instead = _way(scenario, catalog, plain_lease(*fallback), choice)
    try:
        cost = period_cost(committed, months)
    except InputError as error:
        raise rekeyed(error, "--offer") from None
    other = plan_months(fallback[1])
    try:
        if other == 0:
            price = (hour_price(instead) or Fraction(0)) * HOURS_OF_MONTH
        else:
            found = period_cost(instead, other)
            price = Fraction(0) if found is None else found.monthly
    except InputError as error:
        raise rekeyed(error, "--fallback") from None
    if cost is None or price == 0:
        raise InputError(Problem("nothing is billed for this contract", key="--offer"))
    ratio = Fraction(_cards(committed), _cards(instead))
    return Prices(cost.monthly, price * ratio, ratio, other == 0)


def _cards(way: Way) -> int:
    """Cards of one unit."""
    return way.offers[way.strategy.leases[0].offer_id].gpus_per_unit


def _way(scenario: Scenario, catalog: Catalog, lease: Lease, choice: PriceChoice | None) -> Way:
    """One unit from the scenario's start, without end."""
    strategy = Strategy(name="one unit", leases=(lease.model_copy(update={"count": 1}),))
    asked = scenario.model_copy(update={"strategies": (strategy,)})
    return Way("one unit", asked, strategy, with_slices(catalog, asked).offers, choice)


def read_demand(text: str) -> Demand:
    """`poisson:4` or `uniform:0:8`; InputError for anything else."""
    kind, *numbers = text.strip().split(":")
    rule = "must be a distribution of units needed: poisson:MEAN, such as poisson:4, or uniform:LOW:HIGH"
    sizes: Mapping[str, int] = {"poisson": 1, "uniform": 2}
    if len(numbers) != sizes.get(kind):
        raise InputError(Problem(rule, key="--demand", value=text))
    values = [read_number(number, "--demand", rule) for number in numbers]
    if kind == "uniform" and any(value != value.to_integral_value() for value in values):
        raise InputError(
            Problem("the ends of a uniform demand are whole numbers", key="--demand", value=text)
        )
    try:
        return poisson(float(values[0])) if kind == "poisson" else uniform(*(_whole(v) for v in values))
    except ValueError as error:
        raise InputError(Problem(str(error), key="--demand", value=text)) from None


def _whole(value: Decimal) -> int:
    return int(min(value, Decimal(10) ** 9))
