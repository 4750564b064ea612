"""What must hold of every ledger and run, checked from the lines up: said as sentences where it does not.

1. Lines = invoices = cash: every line that is paid stands on exactly one invoice, of its provider and month,
   and the three sums are the same.
2. Paid = used + unused: over the term of each commitment, what was paid for it (refunds, fees and corrections
   included) is the cost of its used and unused time, before, within and after the horizon.
3. Used + unused = the term: the card-time that a run shows in the time of a line is the card-time paid for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal

from sim.billing.accrual import cash_and_cost
from sim.billing.cardtime import BUSY
from sim.billing.grains import elapsed
from sim.billing.placing import place, root
from sim.billing.shares import PLACES, money
from sim.model.ledger import Charge, Ledger
from sim.model.records import RunLog
from sim.model.scenario import Scenario

__all__ = ["broken_identities"]

ZERO = Decimal(0)


def broken_identities(ledger: Ledger, log: RunLog, scenario: Scenario) -> tuple[str, ...]:
    """One sentence for each identity that does not hold; empty if all is well."""
    return (*_on_invoices(ledger), *_as_cash(ledger, scenario), *_as_cost(ledger, log, scenario))


def _on_invoices(ledger: Ledger) -> Iterator[str]:
    charges = {charge.id: charge for charge in ledger.charges}
    if len(charges) != len(ledger.charges):
        yield "two lines have the same number"
    listed = Counter(number for invoice in ledger.invoices for number in invoice.charges)
    for charge in ledger.charges:
        wanted = 0 if charge.sunk else 1
        if listed[charge.id] != wanted:
            yield f"line {charge.id} stands on {listed[charge.id]} invoices, not {wanted}"
    for invoice in ledger.invoices:
        name = f"the invoice of {invoice.provider} for {invoice.month}"
        for number in invoice.charges:
            if number not in charges:
                yield f"{name} names line {number}, which is not there"
        lines = [charges[number] for number in invoice.charges if number in charges]
        if invoice.total != sum((line.billed_cost for line in lines), ZERO):
            yield f"{name} is not the sum of its lines"
        places = {(line.provider, f"{line.cash_date:%Y-%m}") for line in lines}
        if places != {(invoice.provider, invoice.month)}:
            yield f"{name} has lines of {sorted(places)}"


def _as_cash(ledger: Ledger, scenario: Scenario) -> Iterator[str]:
    lines = sum((charge.billed_cost for charge in ledger.charges if not charge.sunk), ZERO)
    invoiced = sum((invoice.total for invoice in ledger.invoices), ZERO)
    months = cash_and_cost(ledger, scenario)
    cash = sum((month.cash for month in months), ZERO)
    if not lines == invoiced == cash:
        yield f"lines {lines}, invoices {invoiced} and cash {cash} differ"
    inside = sum((month.cash for month in months[:-1]), ZERO)
    if inside != ledger.cash:
        yield f"cash within the horizon is {inside}, the ledger says {ledger.cash}"
    accrued = sum((month.accrued for month in months[:-1]), ZERO)
    if accrued != ledger.accrued:
        yield f"cost within the horizon is {accrued}, the ledger says {ledger.accrued}"
    if months[-1].balance:
        yield f"{months[-1].balance} is paid for no time"


def _as_cost(ledger: Ledger, log: RunLog, scenario: Scenario) -> Iterator[str]:
    charges = {charge.id: charge for charge in ledger.charges}
    paid: dict[str, Decimal] = defaultdict(Decimal)
    cost: dict[str, Decimal] = defaultdict(Decimal)
    for charge, places in place(ledger, log, scenario):
        used = sum(one.units for one in places if one.part[1] in BUSY)
        unused = sum(one.units for one in places if one.part[1] not in BUSY)
        found = money(used, PLACES) + money(unused, PLACES)
        if found != charge.accrued_cost:
            yield f"line {charge.id}: used and unused time cost {found}, not {charge.accrued_cost}"
        yield from _term(charge, sum(one.card_us for one in places if one.cell), scenario, log)
        if charge.sunk or charge.recoverable:
            continue
        commitment = root(charge, charges)
        name = f"{commitment.lease}/{commitment.plan}"
        paid[name] += charge.billed_cost
        cost[name] += found + charge.before_cost + charge.owed_after
    for name, amount in paid.items():
        if amount != cost[name]:
            yield f"{name}: {amount} paid, {cost[name]} of cost"


def _term(charge: Charge, there: int, scenario: Scenario, log: RunLog) -> Iterator[str]:
    start, end = (elapsed(scenario, moment) for moment in charge.accrual)
    term = charge.cards * max(0, min(end, log.horizon_us) - max(start, 0))
    if charge.cards and there != term:
        yield f"line {charge.id}: {there} us of card-time used and unused, {term} us paid for"
