"""What a strategy may ask of `sharing`: checks against its queue policy, its leases and their cards."""

from __future__ import annotations

from collections.abc import Iterator

from sim.catalog import Catalog
from sim.catalog.sharing import card_slices
from sim.decisions.sharing import alone_only
from sim.errors import Problem
from sim.load_errors import located
from sim.load_tree import Node, Path
from sim.model.scenario import Strategy

__all__ = ["sharing_problems"]


def sharing_problems(tree: Node, catalog: Catalog, path: Path, strategy: Strategy) -> Iterator[Problem]:
    """Policies that count whole cards, offers that are not leased, cards without MIG."""
    sharing = strategy.sharing
    if sharing is None:
        return
    why = alone_only(strategy.policy, preempts=strategy.preempt)
    if why is not None:
        yield located(tree, (*path, "kind"), why, sharing.kind)
    if not strategy.leases:
        rule = "cards by the hour are not shared, and the strategy leases no others"
        yield located(tree, (*path, "kind"), rule, sharing.kind)
        return
    leased = tuple(dict.fromkeys(lease.offer_id for lease in strategy.leases))
    named = leased if sharing.offers is None else sharing.offers
    for place, name in enumerate(named if sharing.offers is not None else ()):
        if name not in leased:
            rule = "sharing names offers that the strategy leases"
            yield located(tree, (*path, "offers", place), rule, name, leased)
    if sharing.kind != "mig":
        return
    able = [name for name in named if name in leased and card_slices(catalog.offers[name], catalog)]
    if sharing.offers is None and not able:
        rule = "none of the leased cards can be partitioned; cards with MIG"
        yield located(tree, (*path, "kind"), rule, "mig", _with_mig(catalog))
    for place, name in enumerate(sharing.offers or ()):
        if name in leased and name not in able:
            rule = "the cards of this offer cannot be partitioned; cards with MIG"
            yield located(tree, (*path, "offers", place), rule, name, _with_mig(catalog))


def _with_mig(catalog: Catalog) -> tuple[str, ...]:
    return tuple(dict.fromkeys(profile.gpu for profile in catalog.mig_profiles))
