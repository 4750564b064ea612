"""The FOCUS 1.2 view of one run: rows of cost and usage from ledger, records and offers.

Every line of the ledger becomes rows by what it pays for:

- a prepaid period is a Purchase (billed, effective 0), and its cost lies on Usage rows of the covered
  card-time, Used by a job or Unused; refunds, fees and later changes of it are Purchases too, so that for
  each commitment the effective cost of Used and Unused equals what was paid for it;
- time by the hour is Usage, billed and effective alike; what a begun increment still has after the
  end of the simulation is billed, and stands in `x_CostOutside`;
- disks of stopped cards are Usage of storage; tax is Tax, with no quantity and no price.

Amounts have eight decimal places and are divided by largest remainder, so that all sums are exact. What
lies after the horizon has not happened: it has no usage rows, and stands with the purchase in
`x_CostOutside` and `x_QuantityOutside`. What was paid before the scenario has no purchase.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal, NamedTuple, get_args

from sim.billing.cardtime import BUSY, NOBODY
from sim.billing.focus_names import Namer, Row, finished, priced
from sim.billing.grains import Grain, calendar_edges, elapsed
from sim.billing.placing import Placed, place, root
from sim.billing.shares import PLACES, divide, in_units, money
from sim.model.contract import Offer
from sim.model.job import JobSet
from sim.model.ledger import Charge, Ledger
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.units import HOUR, Micros

__all__ = ["TAX_RULES", "TaxRule", "focus_rows"]

TaxRule = Literal["accrued", "billed"]
"""Effective cost of tax. `accrued`: with the time of the lines it belongs to (FOCUS 1.2); `billed`: when
it is billed, as the checks of FOCUS 1.4 want it."""

TAX_RULES: tuple[TaxRule, ...] = get_args(TaxRule)

GPU_HOURS = "GPU-Hours"

LATE, NO_CARD = "after the horizon", "no card"


class _Key(NamedTuple):
    """What one usage row stands for; whatever has the same key is one row."""

    start: Micros
    end: Micros
    reason: str
    """Why no job held the cards; empty: one did."""
    job: int
    record: int
    """Position in `RunLog.leases`; -1: whatever machine."""


class _Sums:
    """Cost and card-time by key; card-time that several lines pay for counts once."""

    def __init__(self) -> None:
        self.cost: dict[_Key, int] = defaultdict(int)
        self.purchases: dict[_Key, dict[int, Charge]] = defaultdict(dict)
        self._pieces: dict[tuple[_Key, object], Micros] = {}

    def add(self, key: _Key, one: Placed, charge: Charge) -> None:
        """Add a part of a line."""
        self.cost[key] += one.units
        if charge.category == "purchase":
            self.purchases[key][charge.id] = charge
        piece = (one.cell.record, one.part) if one.cell else charge.id
        self._pieces[key, piece] = one.card_us

    @property
    def time(self) -> dict[_Key, Micros]:
        """Card-time by key, in the order of the rows."""
        found: dict[_Key, Micros] = dict.fromkeys(sorted(self.cost), 0)
        for (key, _), card_us in self._pieces.items():
            found[key] += card_us
        return found


def focus_rows(
    ledger: Ledger,
    log: RunLog,
    jobs: JobSet,
    scenario: Scenario,
    strategy: str,
    offers: Mapping[str, Offer],
    grain: Grain = "day",
    tax: TaxRule = "accrued",
) -> Iterator[Row]:
    """The rows, in the order of the ledger, usage of a commitment behind its purchases.

    `grain` is the longest time that one usage row stands for, by the local calendar. A row maps the
    names of the columns to text, a time (UTC), a Decimal or None.
    """
    writer = _Writer(ledger, log, scenario, grain, tax, Namer(ledger, log, jobs, scenario, strategy, offers))
    yield from map(finished, writer.rows())


class _Writer:
    def __init__(
        self, ledger: Ledger, log: RunLog, scenario: Scenario, grain: Grain, tax: TaxRule, namer: Namer
    ) -> None:
        self.ledger, self.log, self.scenario, self.tax, self.namer = ledger, log, scenario, tax, namer
        self.charges = {charge.id: charge for charge in ledger.charges}
        self.months = calendar_edges(scenario, "month")
        edges = sorted({*self.months, *calendar_edges(scenario, grain)})
        self.placed = [*place(ledger, log, scenario, edges)]

    def rows(self) -> Iterator[Row]:
        covered: dict[str, list[tuple[Charge, list[Placed]]]] = defaultdict(list)
        taxed: dict[str, list[tuple[Charge, list[Placed]]]] = defaultdict(list)
        for charge, places in self.placed:
            origin = root(charge, self.charges)
            prepaid = origin.category == "purchase"
            if charge.category == "tax":
                if not charge.sunk:
                    yield self._tax(charge, prepaid)
                if prepaid and self.tax == "accrued":
                    taxed[self.namer.commitment(origin)].append((charge, places))
            elif prepaid:
                if not charge.sunk:
                    yield self._purchase(charge, origin)
                covered[self.namer.commitment(origin)].append((charge, places))
            elif charge.category == "usage":
                yield from self._hourly(charge, places)
            else:
                yield self._single(charge, origin)
        for lines in covered.values():
            yield from self._covered(lines)
        for lines in taxed.values():
            yield from self._tax_by_month(lines)

    # --- purchases ----------------------------------------------------------------------------

    def _purchase(self, charge: Charge, origin: Charge) -> Row:
        """A prepaid period, or money that changes one: refund, fee, correction."""
        row = self.namer.billed(charge, "Purchase")
        row |= self.namer.of_commitment(origin, resource=True)
        row["PricingCategory"] = "Standard"
        row["EffectiveCost"] = money(0, PLACES)
        row["x_CostOutside"] = charge.owed_after + charge.before_cost
        if charge.category == "purchase":
            long = self.namer.is_long(charge)
            row["ChargeFrequency"] = "One-Time" if long else "Recurring"
            start, end = (elapsed(self.scenario, moment) for moment in charge.accrual)
            outside = (end - start) - max(0, min(end, self.log.horizon_us) - max(start, 0))
            row["CommitmentDiscountQuantity"] = _hours(charge.cards * (end - start))
            row["CommitmentDiscountUnit"] = GPU_HOURS
            row["x_QuantityOutside"] = _hours(charge.cards * outside)
            return row | priced(
                charge.list_unit_price, charge.unit_price, charge.quantity, self.namer.unit(charge)
            )
        row["ChargeFrequency"] = "One-Time"
        row["ChargeClass"] = self.namer.correction(charge, origin)
        if row["ChargeClass"] is None:  # a correction has no quantity, other changes add none
            row["CommitmentDiscountQuantity"], row["CommitmentDiscountUnit"] = money(0, PLACES), GPU_HOURS
        amount = abs(charge.billed_cost)
        sign = -1 if charge.billed_cost < 0 else 1
        return row | priced(amount, amount, money(sign * 10**PLACES, PLACES), "Units")

    def _covered(self, lines: list[tuple[Charge, list[Placed]]]) -> Iterator[Row]:
        """Usage of one commitment: the accrued cost of all its lines on the card-time that they cover."""
        sums = _Sums()
        for charge, places in lines:
            for one in places:
                sums.add(self._key(one, charge, by_machine=False), one, charge)
        quantities = _divided(sums.time)
        origin = root(lines[0][0], self.charges)
        for key, quantity in quantities.items():
            used = not key.reason
            row = self.namer.usage(origin, key.start, key.end)
            row |= self.namer.of_commitment(origin, resource=not used) | self.namer.user(key.reason, key.job)
            if used:
                row |= self.namer.resource(origin, key.record)
                row |= {"ConsumedQuantity": quantity, "ConsumedUnit": GPU_HOURS}
            row |= {
                "BilledCost": money(0, PLACES),
                "EffectiveCost": money(sums.cost[key], PLACES),
                "PricingCategory": "Committed",
                "CommitmentDiscountStatus": "Used" if used else "Unused",
                "CommitmentDiscountQuantity": quantity,
                "CommitmentDiscountUnit": GPU_HOURS,
            }
            listed = self.namer.list_hour(sums.purchases[key].values())
            yield row | priced(listed, listed, quantity, GPU_HOURS)

    # --- time by the hour ----------------------------------------------------------------------

    def _hourly(self, charge: Charge, places: list[Placed]) -> Iterator[Row]:
        """Usage of one rental in one month, by job and by reason where no job ran."""
        sums = _Sums()
        for one in places:
            sums.add(self._key(one, charge, by_machine=True), one, charge)
        time = sums.time
        start, end = (elapsed(self.scenario, moment) for moment in charge.accrual)
        begins = min(max(start, self.log.horizon_us), end)
        if charge.owed_after or not time:
            time[_Key(begins, end, LATE, NOBODY, NOBODY)] = charge.cards * (end - begins)
        weights = [*time.values()] if any(time.values()) else [1] * len(time)
        asked = divide(in_units(charge.quantity), weights)
        for (key, consumed), quantity in zip(_divided(time).items(), asked, strict=True):
            row = self.namer.usage(charge, key.start, key.end) | self.namer.invoiced(charge)
            row |= self.namer.resource(charge, key.record) | self.namer.user(key.reason, key.job)
            row |= {
                "BilledCost": money(sums.cost.get(key, 0), PLACES),
                "EffectiveCost": money(sums.cost.get(key, 0), PLACES),
                "PricingCategory": "Standard",
                "ConsumedQuantity": consumed,
                "ConsumedUnit": GPU_HOURS,
            }
            if key.reason == LATE:
                row |= {
                    "BilledCost": charge.owed_after,
                    "x_CostOutside": charge.owed_after,
                    "x_QuantityOutside": consumed,
                }
            unit = self.namer.unit(charge)
            yield row | priced(charge.list_unit_price, charge.unit_price, money(quantity, PLACES), unit)

    def _single(self, charge: Charge, origin: Charge) -> Row:
        """A line that is one row of usage: disks of stopped cards, a fee or correction of hours."""
        row = self.namer.billed(charge, "Usage") | self.namer.resource(origin)
        sign = -1 if charge.billed_cost < 0 else 1
        quantity, unit = abs(charge.quantity), self.namer.unit(charge)
        row |= {
            "ChargeFrequency": "Usage-Based",
            "ChargeClass": None if charge is origin else self.namer.correction(charge, origin),
            "PricingCategory": "Standard",
            "EffectiveCost": charge.accrued_cost,
            "x_CostOutside": charge.owed_after,
            "ConsumedQuantity": quantity,
            "ConsumedUnit": unit,
        }
        return row | priced(abs(charge.list_unit_price), abs(charge.unit_price), sign * quantity, unit)

    # --- tax ------------------------------------------------------------------------------------

    def _tax(self, charge: Charge, prepaid: bool) -> Row:
        row = self.namer.billed(charge, "Tax")
        if prepaid:
            row |= self.namer.of_commitment(root(charge, self.charges), resource=False)
        row["ChargeFrequency"] = "One-Time"
        row["ChargeClass"] = self.namer.correction(charge, root(charge, self.charges))
        row["ListCost"] = row["ContractedCost"] = charge.billed_cost
        if self.tax == "billed":
            row["EffectiveCost"] = charge.billed_cost
        else:
            row["EffectiveCost"] = money(0, PLACES) if prepaid else charge.accrued_cost
            row["x_CostOutside"] = charge.owed_after + charge.before_cost
        return row

    def _tax_by_month(self, lines: list[tuple[Charge, list[Placed]]]) -> Iterator[Row]:
        """Effective cost of the tax on a commitment, month by month as the covered time passes."""
        months: dict[int, int] = defaultdict(int)
        for charge, places in lines:
            for one in places:
                at_us = one.cell.start_us if one.cell else max(0, elapsed(self.scenario, charge.accrual[0]))
                months[self._month(at_us)] += one.units
        origin = root(lines[0][0], self.charges)
        for month, units in sorted(months.items()):
            row = self.namer.usage(origin, self.months[month], self.months[month + 1])
            row |= self.namer.of_commitment(origin, resource=False)
            row |= self.namer.as_tax(origin)
            row["BilledCost"] = row["ListCost"] = row["ContractedCost"] = money(0, PLACES)
            row["EffectiveCost"] = money(units, PLACES)
            yield row

    def _month(self, at_us: Micros) -> int:
        found = 0
        while found + 2 < len(self.months) and self.months[found + 1] <= at_us:
            found += 1
        return found

    def _key(self, one: Placed, charge: Charge, *, by_machine: bool) -> _Key:
        """The row that a part of a line belongs to; unused time of a commitment is of no machine."""
        job, state = one.part
        if one.cell is None:
            start, end = (elapsed(self.scenario, moment) for moment in charge.accrual)
            start = min(max(start, 0), self.log.horizon_us)
            return _Key(start, max(start, min(end, self.log.horizon_us)), NO_CARD, NOBODY, NOBODY)
        span = one.cell.start_us, one.cell.end_us
        if state in BUSY:
            return _Key(*span, "", job, one.cell.record)
        return _Key(*span, state, NOBODY, one.cell.record if by_machine else NOBODY)


def _hours(card_us: Micros) -> Decimal:
    return money((card_us * 10**PLACES + HOUR // 2) // HOUR, PLACES)


def _divided(time: Mapping[_Key, Micros]) -> dict[_Key, Decimal]:
    """Card-hours of each row, in eight places, that sum to all card-hours."""
    total = (sum(time.values()) * 10**PLACES + HOUR // 2) // HOUR
    parts = divide(total, [*time.values()])
    return {key: money(part, PLACES) for key, part in zip(time, parts, strict=True)}
