"""Where a job may run: the order of pools, the ways to run that are worth taking, which machine.

Best fit by memory: among the pools whose cards hold the job, the one with the smallest cards comes
first, paid capacity always before hourly capacity. To add a rule, add a row to `PLACEMENTS`;
loader, schema and command line read the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sim.decisions.views import PoolView, WayView
from sim.model.rates import RunOption
from sim.units import Micros

__all__ = ["PLACEMENTS", "SPAN_PATIENCE", "Placement", "best_fit", "cheapest_first", "worthwhile"]

SPAN_PATIENCE = 1.25
"""A job that one machine could hold takes cards of several machines only if that makes it at most
this many times slower; else it waits for one machine (assumed)."""


def best_fit(pools: Sequence[PoolView]) -> tuple[int, ...]:
    """Indices of the pools in the order in which they are tried."""
    order = sorted(pools, key=lambda pool: (pool.burst, pool.memory_gib, pool.index))
    return tuple(pool.index for pool in order)


def worthwhile(
    options: Sequence[RunOption], counts: Sequence[int], gpus_per_machine: int
) -> tuple[RunOption, ...]:
    """The options of one pool in the order in which they are tried.

    `counts` empty (`auto`): only the smallest number of cards that fits. A list: in the order
    written, without counts that are no faster than a smaller one. One machine comes before several.
    """
    by_count: dict[int, list[RunOption]] = {}
    for option in options:
        by_count.setdefault(option.gpus, []).append(option)
    if not by_count:
        return ()
    wanted = [min(by_count)] if not counts else [n for n in counts if n in by_count]
    kept: list[RunOption] = []
    for count in wanted:
        choices = sorted(by_count[count], key=lambda option: option.spans)
        local = next((option for option in choices if not option.spans), None)
        if local is not None and local.gpus <= gpus_per_machine:
            slowest = local.us_per_work * SPAN_PATIENCE
            choices = [o for o in choices if not o.spans or o.us_per_work <= slowest]
        kept += [o for o in choices if not _beaten(o, wanted, by_count)]
    return tuple(kept)


def _beaten(option: RunOption, wanted: Sequence[int], by_count: dict[int, list[RunOption]]) -> bool:
    """Whether fewer cards (of the wanted counts) run the job at least as fast in the same layout."""
    smaller = (
        other
        for count in wanted
        if count < option.gpus
        for other in by_count[count]
        if other.spans <= option.spans
    )
    return any(other.us_per_work <= option.us_per_work for other in smaller)


@dataclass(frozen=True, slots=True)
class Placement:
    """A placement rule. Ties go to the machine with the lowest ordinal."""

    summary: str
    emptiest_machine: bool = False
    """A job on one machine takes the one with the most free cards, not the fewest that suffice."""
    fill_gaps: bool = False
    """A job over several machines takes those with the fewest free cards first, not the most."""
    keep_whole: bool = False
    """One-card jobs look at machines that are already in use before they touch an unused one."""
    by_price: bool = False
    """The ways of a job are tried in the order of `cheapest_first`."""


PLACEMENTS: Mapping[str, Placement] = {
    "best-fit": Placement("smallest cards that hold the job; on the machine with the fewest free cards"),
    "pack": Placement("as best-fit; jobs over several machines fill the gaps first", fill_gaps=True),
    "spread": Placement("smallest cards; on the machine with the most free cards", emptiest_machine=True),
    "whole": Placement("as best-fit; one-card jobs leave unused machines to gangs", keep_whole=True),
    "cheapest": Placement("cheapest way that should meet the deadline, else least cost", by_price=True),
}
"""The known placement rules by the name a scenario uses."""


def cheapest_first(ways: Sequence[WayView], left_us: Micros | None) -> tuple[int, ...]:
    """Indices of the ways in the order in which they are tried, leased cards before hourly ones.

    `left_us` is the time left to the deadline. Ways whose expected run fits into it come first, by
    the price of an hour on their cards; then the others, fastest first. Without a deadline: by the
    cost of the whole run. Equal ways stay in the order given.
    """

    def rank(way: WayView) -> tuple[bool, int, float]:
        if left_us is None:
            return (way.burst, 0, way.hourly_price * way.expected_us)
        if way.expected_us <= left_us:
            return (way.burst, 0, way.hourly_price)
        return (way.burst, 1, way.expected_us)

    return tuple(sorted(range(len(ways)), key=lambda i: rank(ways[i])))
