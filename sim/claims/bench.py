"""What the computations stand on: the catalogue, a seed, and what was already computed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from sim.catalog import Catalog, load_catalog

__all__ = ["Bench"]

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Bench:
    """A catalogue (shipped, or a user's with other prices) and the size of simulations.

    A result that several statements need is computed once within one bench and kept.
    """

    catalog: Catalog = field(default_factory=load_catalog)
    seed: int = 1
    """Of all simulations."""
    replications: int = 4
    """Of each simulation."""
    kept: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, key: Hashable, make: Callable[[], ValueT]) -> ValueT:
        """What `make` returns, made once for each key; the key names everything that it depends on."""
        if key not in self.kept:
            self.kept[key] = make()
        return cast("ValueT", self.kept[key])
