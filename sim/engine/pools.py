"""The pool of an offer: its cards have one job each, or are shared as the strategy says."""

from __future__ import annotations

from sim.engine.fleet import Pool
from sim.engine.sharing_pools import DividedPool
from sim.engine.sharing_slices import SlicedPool
from sim.model.fleet import PoolSpec

__all__ = ["leased_pool"]


def leased_pool(spec: PoolSpec, machines: int) -> Pool:
    """The pool of an offer's leases."""
    if spec.sharing is None:
        return Pool(spec, machines, burst=False)
    kind = SlicedPool if spec.sharing.kind == "mig" else DividedPool
    return kind(spec, machines, spec.sharing)
