"""When the cards of a lease can be used, as its contract says: what the engine must know of it.

The same walk through the contract makes the bill, so that both agree on when cards come, stop and go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sim.billing.contracts import Contract, lease_contract
from sim.billing.segments import timeline
from sim.billing.stops import pieces, stopped_times
from sim.model.contract import Offer
from sim.model.records import LeaseRecord
from sim.model.scenario import Scenario, Strategy
from sim.units import Micros

__all__ = ["Usable", "planned_records", "usable_times"]

_Times = tuple[tuple[Micros, Micros], ...]


@dataclass(frozen=True, slots=True)
class Usable:
    """The life of the cards of a lease, elapsed time."""

    start_us: Micros
    end_us: Micros | None
    """When they go; None: they stay past the horizon."""
    stopped: _Times = ()
    """Times of a stop, to when the cards are back, in order and apart."""

    def times(self, windows: _Times | None, until_us: Micros) -> _Times | None:
        """When jobs may use the cards: within `windows` (None: at any time), but not while stopped.

        None: always while the lease lasts. `until_us` is how far ahead an open lease is looked at.
        """
        if not self.stopped:
            return windows
        whole = ((self.start_us, until_us if self.end_us is None else self.end_us),)
        found = []
        for begin, end in whole if windows is None else windows:
            found += [(first, last) for first, last in pieces(begin, end, self.stopped) if last is not None]
        return tuple(found)


def usable_times(scenario: Scenario, strategy: Strategy, offers: Mapping[str, Offer]) -> dict[int, Usable]:
    """The life of each lease that begins before the horizon, by its number in the strategy.

    Raises InputError for an unknown offer or a currency without a rate.
    """
    places = range(len(strategy.leases))
    contracts = {place: lease_contract(scenario, strategy, place, offers, None) for place in places}
    found: dict[int, Usable] = {}
    for contract in contracts.values():
        lease = contract.lease
        assert lease is not None  # noqa: S101 - burst is no lease
        start_us = 0 if lease.start is None else scenario.elapsed_us(lease.start)
        if start_us < scenario.horizon_us:
            end_us = _end(scenario, contracts, contract)
            found[contract.index] = Usable(start_us, end_us, stopped_times(scenario, contract))
    return found


def _end(scenario: Scenario, contracts: Mapping[int, Contract], contract: Contract) -> Micros | None:
    """When a lease ends: its own end, or that of a contract that neither renews nor falls back to hours."""
    assert contract.lease is not None  # noqa: S101 - burst is no lease
    end = contract.lease.end
    if contract.terms.expiry == "end":
        for stretch in timeline(scenario, contracts, contract.index, scenario.horizon_us):
            if stretch.last and stretch.until is not None:
                end = stretch.until
    return None if end is None else scenario.elapsed_us(end)


def planned_records(
    scenario: Scenario, strategy: Strategy, offers: Mapping[str, Offer]
) -> Iterator[LeaseRecord]:
    """A record for each leased machine as its contract plans it, for a bill without a run.

    Machines count through the leases of one offer, as the engine counts them. Nothing is busy or down.
    """
    lives = usable_times(scenario, strategy, offers)
    machines: dict[str, int] = {}
    for index, life in lives.items():
        lease = strategy.leases[index]
        first = machines.get(lease.offer_id, 0)
        machines[lease.offer_id] = first + lease.count
        cards = offers[lease.offer_id].gpus_per_unit
        for machine in range(first, first + lease.count):
            yield LeaseRecord(lease.offer_id, index, machine, cards, life.start_us, life.end_us, 0, 0)
