"""The ratios of one run: what its ledger says, over what became of its card-time.

A commitment is a prepaid period, of whatever plan: its hours are paid whether they are used or not. Hours
under `hourly` and burst rentals are paid on demand. Used is card-time that a job held, useful its part
that was kept (`sim.billing.cardtime`). Card-hours are exact, costs are placed on them by
`sim.billing.placing`, and so the waste is the cost of the very hours that nobody used, at their own price.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from sim.billing.cardtime import BUSY, State
from sim.billing.finance.indicators import (
    break_even_utilisation,
    contracted_savings_rate,
    coverage,
    effective_hour,
    effective_savings_rate,
    utilisation,
)
from sim.billing.finance.on_demand import OnDemand
from sim.billing.placing import Placed, place, root
from sim.billing.rounding import as_decimal
from sim.billing.shares import in_cents, money
from sim.billing.usage import usage
from sim.model.ledger import Charge, Ledger
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.units import HOUR, Micros, round_money

__all__ = ["RunIndicators", "run_indicators"]

ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class RunIndicators:
    """Sums of one run and the ratios that follow from them; None where a ratio has no base."""

    currency: str
    cost: Decimal
    """Accrued by the ledger: all lines, idle time included; whole cents."""
    used_us: Micros
    """Card-time that jobs held, whoever paid for it."""
    useful_us: Micros
    """Of that: work that was kept."""
    committed_us: Micros
    """Card-time of prepaid periods within the horizon."""
    covered_us: Micros
    """Of that: card-time that jobs held."""
    committed_cost: Decimal
    """Accrued cost of prepaid periods, with their refunds, fees and tax; whole cents."""
    wasted: Mapping[State, Decimal]
    """Cost of the committed time that no job held, by why; whole cents, states without any left out."""
    contracted: Decimal
    """FOCUS ContractedCost of the time within the horizon, tax left out: time by the hour at its agreed
    price, committed time at the list price of its period, as the plan is the commitment's discount."""
    effective: Decimal
    """FOCUS EffectiveCost of the same time: accrued cost without tax; whole cents."""
    on_demand: OnDemand
    """Price of committed hours if they were rented by the hour."""
    on_demand_cost: Decimal | None
    """The used hours, all by the hour; None where some used hour has no such price."""
    committed_on_demand: Decimal | None
    """All committed hours, used or not, by the hour; None without such a price."""

    @property
    def used_hour(self) -> Decimal | None:
        """Effective hourly rate, currency per used card-hour."""
        return effective_hour(self.cost, card_hours(self.used_us))

    @property
    def useful_hour(self) -> Decimal | None:
        """Effective hourly rate, currency per useful card-hour."""
        return effective_hour(self.cost, card_hours(self.useful_us))

    @property
    def coverage(self) -> Decimal | None:
        """Share of the used hours that prepaid periods covered."""
        return coverage(Decimal(self.covered_us), Decimal(self.used_us))

    @property
    def utilisation(self) -> Decimal | None:
        """Share of the committed hours that jobs held."""
        return utilisation(Decimal(self.covered_us), Decimal(self.committed_us))

    @property
    def waste(self) -> Decimal:
        """Cost of the committed hours that no job held."""
        return sum(self.wasted.values(), ZERO)

    @property
    def savings_rate(self) -> Decimal | None:
        """1 - accrued cost / cost of the same used hours on demand."""
        used = card_hours(self.used_us)
        if self.on_demand_cost is None or not used:
            return None
        return effective_savings_rate(self.cost, used, self.on_demand_cost / used)

    @property
    def contracted_savings_rate(self) -> Decimal | None:
        """(contracted - effective) / contracted."""
        return contracted_savings_rate(self.contracted, self.effective)

    @property
    def break_even_utilisation(self) -> Decimal | None:
        """Utilisation from which on the commitments cost less than the same used hours on demand."""
        if self.committed_on_demand is None:
            return None
        return break_even_utilisation(self.committed_cost, self.committed_on_demand)


def card_hours(card_us: Micros) -> Decimal:
    """Card-hours of card-time."""
    return Decimal(card_us) / HOUR


def run_indicators(ledger: Ledger, log: RunLog, scenario: Scenario, on_demand: OnDemand) -> RunIndicators:
    """The indicators of one run, over the whole horizon; a warm-up is part of it, as it is paid for."""
    whole = _Sums(ledger)
    for charge, places in place(ledger, log, scenario):
        whole.add(charge, places)
    buckets = usage(log, scenario)
    wasted = dict(zip(whole.wasted, in_cents([*whole.wasted.values()]), strict=True))
    committed = {lease: card_hours(card_us) for lease, card_us in whole.committed.items()}
    covered = {lease: card_hours(card_us) for lease, card_us in whole.covered.items()}
    by_commitment = on_demand.cost(covered)
    return RunIndicators(
        currency=ledger.currency,
        cost=ledger.accrued,
        used_us=sum(bucket.busy for bucket in buckets),
        useful_us=sum(bucket.states.get("useful", 0) for bucket in buckets),
        committed_us=whole.committed.total(),
        covered_us=whole.covered.total(),
        committed_cost=whole.committed_cost,
        wasted={state: money(cent) for state, cent in wasted.items() if cent},
        contracted=round_money(as_decimal(whole.contracted)),
        effective=whole.effective,
        on_demand=on_demand,
        on_demand_cost=None if by_commitment is None else by_commitment + as_decimal(whole.hourly),
        committed_on_demand=on_demand.cost(committed),
    )


class _Sums:
    """What the lines of a ledger add up to."""

    def __init__(self, ledger: Ledger) -> None:
        self.charges = {charge.id: charge for charge in ledger.charges}
        self.taxed: dict[int, Decimal] = defaultdict(Decimal)
        """Charge -> tax on it that is a cost."""
        for charge in ledger.charges:
            if charge.category == "tax" and charge.of is not None and not charge.recoverable:
                self.taxed[charge.of] += charge.billed_cost
        self.committed: Counter[str] = Counter()
        self.covered: Counter[str] = Counter()
        self.committed_cost, self.effective = ZERO, ZERO
        self.wasted: Counter[State] = Counter()
        self.contracted, self.hourly = Fraction(0), Fraction(0)

    def add(self, charge: Charge, places: list[Placed]) -> None:
        """Add a line and its places."""
        if charge.category != "tax":
            self.effective += charge.accrued_cost
        if root(charge, self.charges).category == "purchase":
            self.committed_cost += charge.accrued_cost
            for one in places:
                if one.part[1] not in BUSY:
                    self.wasted[one.part[1]] += one.units
        inside = sum(one.card_us for one in places if one.cell)
        used = sum(one.card_us for one in places if one.part[1] in BUSY)
        if charge.category == "purchase":
            there = sum(one.card_us for one in places)
            self.committed[charge.lease] += there
            self.covered[charge.lease] += used
            self.contracted += _listed(charge, there)
        elif charge.category == "usage":
            self.contracted += _agreed(charge, inside)
            if charge.cards:
                self.hourly += self._hour(charge) * Fraction(used, HOUR * charge.cards)
        elif charge.category == "storage" and charge.billed_cost:
            share = Fraction(charge.accrued_cost) / Fraction(charge.billed_cost)
            self.contracted += Fraction(charge.contracted_cost) * share

    def _hour(self, charge: Charge) -> Fraction:
        """Price of an hour of a unit by the hour, tax that is a cost included."""
        price = Fraction(charge.unit_price)
        tax = self.taxed.get(charge.id)
        return price if not tax else price * (1 + Fraction(tax) / Fraction(charge.billed_cost))


def _listed(charge: Charge, card_us: Micros) -> Fraction:
    """List price of so much card-time of a prepaid period, over all its hours."""
    whole = charge.cards * _micros(charge.period_start, charge.period_end)
    return Fraction(charge.list_cost) * Fraction(card_us, whole) if whole else Fraction(0)


def _agreed(charge: Charge, card_us: Micros) -> Fraction:
    """Agreed price of the part of a rental by the hour that lies within the horizon."""
    whole = charge.cards * _micros(*charge.accrual)
    return Fraction(charge.contracted_cost) * Fraction(card_us, whole) if whole else Fraction(0)


def _micros(start: datetime, end: datetime) -> Micros:
    return (end.astimezone(UTC) - start.astimezone(UTC)) // timedelta(microseconds=1)
