"""How the cards of an offer are shared: as the scenario asks, with memory and MIG profiles of the card."""

from __future__ import annotations

from fractions import Fraction

from sim.catalog.catalog import Catalog
from sim.catalog.slices import memory_slices
from sim.model.contract import Offer
from sim.model.scenario import Scenario, Sharing
from sim.model.sharing import SharingSpec, SliceSpec, SpeedCurve

__all__ = ["card_slices", "sharing_spec"]


def sharing_spec(scenario: Scenario, sharing: Sharing, offer: Offer, catalog: Catalog) -> SharingSpec | None:
    """How a leased card of the offer is shared; None: it is not."""
    slices = card_slices(offer, catalog) if sharing.kind == "mig" else ()
    asked = sharing.offers is None or offer.id in sharing.offers
    if not asked or (sharing.kind == "mig" and not slices):
        return None
    trace = scenario.workload.trace
    recorded = None if trace is None else trace.demand
    named = ((job_class.name, job_class.demand) for job_class in scenario.workload.classes)
    return SharingSpec(
        kind=sharing.kind,
        jobs=sharing.most,
        usable_gib=catalog.gpus[offer.gpu].usable_gib,
        curve=SpeedCurve.of(sharing.curve, sharing.left, sharing.per_job),
        demand=_exact(sharing.demand),
        demands={name: _exact(demand) for name, demand in named if demand is not None} or None,
        recorded=None if recorded is None else _exact(recorded),
        slices=slices,
        slice_gain=_exact(sharing.slice_gain),
        reconfigure_us=sharing.reconfigure,
    )


def card_slices(offer: Offer, catalog: Catalog) -> tuple[SliceSpec, ...]:
    """The MIG profiles of the offer's card, with the memory that jobs can use; none: it has no MIG."""
    gpu = catalog.gpus[offer.gpu]
    return tuple(
        SliceSpec(
            name=profile.profile,
            memory_gib=catalog.gpus[f"{gpu.id}/{profile.profile}"].usable_gib,
            compute=profile.compute_slices,
            memory=memory_slices(gpu, profile),
            most=profile.max_instances,
            alone=profile.profile.endswith("+me"),
        )
        for profile in catalog.mig_profiles
        if profile.gpu == gpu.id
    )


def _exact(number: float) -> Fraction:
    return Fraction(str(number))
