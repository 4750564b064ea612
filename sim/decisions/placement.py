"""Where a job may run: the order of pools, and the ways to run that are worth taking.

Best fit by memory: among the pools whose cards hold the job, the one with the smallest cards comes
first, paid capacity always before hourly capacity.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.decisions.views import PoolView
from sim.model.rates import RunOption

__all__ = ["SPAN_PATIENCE", "best_fit", "worthwhile"]

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
