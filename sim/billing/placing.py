"""The accrued cost of every charge, placed on the card-time that it pays for.

A charge accrues evenly over the time in which its cards can be used; so every card-hour of that time
costs the same share of it, whatever the card does then. Shares are whole units of eight decimal places
and sum to the accrued cost of the charge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sim.billing.cardtime import NOBODY, Cell, Part, cells
from sim.billing.grains import elapsed
from sim.billing.shares import divide, in_units
from sim.model.ledger import Charge, Ledger
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.units import Micros

__all__ = ["Placed", "lease_number", "place", "root"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Part of a charge on part of a cell."""

    cell: Cell | None
    """None: cost of time in which the lease has no card in the run, such as the disks of stopped cards."""
    part: Part
    card_us: Micros
    units: int
    """Cost, in `UNIT`."""


def lease_number(charge: Charge) -> int:
    """Position of the lease in the strategy that a charge belongs to; -1 for burst."""
    return -1 if charge.lease == "burst" else int(charge.lease.removeprefix("lease "))


def root(charge: Charge, charges: Mapping[int, Charge]) -> Charge:
    """The purchase or rental that a refund, fee, tax or correction belongs to; itself for all others."""
    while charge.of is not None and charge.of in charges:
        charge = charges[charge.of]
    return charge


def place(
    ledger: Ledger, log: RunLog, scenario: Scenario, edges: Sequence[Micros] = ()
) -> Iterator[tuple[Charge, list[Placed]]]:
    """Every charge with its places, in the order of the ledger. Cells are cut at `edges` too."""
    charges = {charge.id: charge for charge in ledger.charges}
    spans = {charge.id: _inside(charge, scenario, log.horizon_us) for charge in ledger.charges}
    common: dict[int, set[Micros]] = defaultdict(set)
    own: dict[tuple[int, int], set[Micros]] = defaultdict(set)
    for charge in ledger.charges:
        machine = root(charge, charges).machine
        lease = lease_number(charge)
        (common[lease] if machine is None else own[lease, machine]).update(spans[charge.id])
    always = {0, log.horizon_us, *edges}
    cut: dict[tuple[int, int], list[Micros]] = {}

    def edges_of(lease: int, machine: int) -> list[Micros]:
        if (lease, machine) not in cut:
            cut[lease, machine] = sorted(always | common[lease] | own[lease, machine])
        return cut[lease, machine]

    by_machine: dict[tuple[int, int], list[Cell]] = defaultdict(list)
    machines: dict[int, set[int]] = defaultdict(set)
    for cell in cells(log, edges_of):
        by_machine[cell.lease, cell.machine].append(cell)
        machines[cell.lease].add(cell.machine)
    for found in by_machine.values():
        found.sort(key=lambda cell: cell.start_us)
    starts = {place: [cell.start_us for cell in found] for place, found in by_machine.items()}
    for charge in ledger.charges:
        lease, machine = lease_number(charge), root(charge, charges).machine
        start, end = spans[charge.id]
        its: list[Cell] = []
        for number in sorted(machines[lease]) if machine is None else [machine]:
            where = lease, number
            first, last = (bisect_left(starts.get(where, ()), edge) for edge in (start, end))
            its += by_machine[where][first:last] if last > first else ()
        yield charge, _places(charge, its, charge.cards * (end - start))


def _inside(charge: Charge, scenario: Scenario, horizon_us: Micros) -> tuple[Micros, Micros]:
    """Where the cost of a charge accrues within the horizon."""
    start, end = (elapsed(scenario, moment) for moment in charge.accrual)
    start = min(max(start, 0), horizon_us)
    return start, max(start, min(end, horizon_us))


def _places(charge: Charge, its: Sequence[Cell], paid_us: Micros) -> list[Placed]:
    """Divide the accrued cost over the parts of the cells, in proportion to their card-time."""
    parts = [(cell, part, card_us) for cell in its for part, card_us in cell.parts.items()]
    there = sum(card_us for _, _, card_us in parts)
    missing = max(0, paid_us - there) if there else 1
    weights = [*(card_us for _, _, card_us in parts), missing]
    units = divide(in_units(charge.accrued_cost), weights)
    found = [
        Placed(cell, part, card_us, share)
        for (cell, part, card_us), share in zip(parts, units[:-1], strict=True)
    ]
    if missing and units[-1]:
        found.append(Placed(None, (NOBODY, "idle"), paid_us if not there else missing, units[-1]))
    return found
