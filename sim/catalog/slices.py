"""MIG slices as cards and as offers: a share of a card's multiprocessors, memory, bandwidth and price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from sim.model.contract import Offer
from sim.model.hardware import Gpu, MigProfile
from sim.model.said import said
from sim.model.sharing import SLICES

__all__ = ["memory_slices", "slice_cards", "slice_offer", "slices_sold"]

_STEP = Decimal("0.0001")
"""Prices of slices are rounded to it, so that a bill can be followed with a calculator."""

_MEMORY_SLICES = 8
"""Memory and its bandwidth are divided into eighths."""


def slice_cards(gpus: Mapping[str, Gpu], profiles: Iterable[MigProfile]) -> dict[str, Gpu]:
    """A card for each profile of a card that is there, under `CARD/PROFILE`, as `H100-80G/3g.40gb`.

    Peak by the multiprocessors of the slice against the card's (where they are not known, against the
    largest profile's), not by the number in the profile's name; bandwidth by eighths of the memory.
    Source: the vendor's listing of profiles.
    """
    own = [profile for profile in profiles if profile.gpu in gpus]
    whole: dict[str, int] = {}
    for profile in own:
        whole[profile.gpu] = max(whole.get(profile.gpu, 0), profile.sm_count)
    return {
        f"{profile.gpu}/{profile.profile}": _slice(gpus[profile.gpu], profile, whole[profile.gpu])
        for profile in own
    }


def _slice(gpu: Gpu, profile: MigProfile, most: int) -> Gpu:
    share = profile.sm_count / (gpu.sm_count or most)
    eighths = memory_slices(gpu, profile)
    fp8 = None if gpu.fp8_tflops is None else gpu.fp8_tflops * share
    return gpu.model_copy(
        update={
            "id": f"{gpu.id}/{profile.profile}",
            "name": f"{gpu.name}, slice {profile.profile}",
            "aliases": (),
            "memory_gib": profile.memory_gib,
            "usable_gib": profile.memory_gib - (gpu.memory_gib - gpu.usable_gib) * eighths / _MEMORY_SLICES,
            "bandwidth_gb_s": gpu.bandwidth_gb_s * eighths / _MEMORY_SLICES,
            "tflops": gpu.tflops * share,
            "fp8_tflops": fp8,
            "sm_count": profile.sm_count,
            "mig": 0,
            "source": f"{profile.source}; a slice of {gpu.id}",
        }
    )


def memory_slices(gpu: Gpu, profile: MigProfile) -> int:
    """Memory slices of a profile, of the card's eight; at least one."""
    return max(1, min(_MEMORY_SLICES, round(_MEMORY_SLICES * profile.memory_gib / gpu.memory_gib)))


def slices_sold(offer: Offer, profiles: Iterable[MigProfile]) -> dict[str, MigProfile]:
    """The profiles in which an offer can be rented, by name; none where it is not sold in parts."""
    if offer.form != "mig":
        return {}
    return {profile.profile: profile for profile in profiles if profile.gpu == offer.gpu}


def slice_offer(offer: Offer, profile: MigProfile) -> Offer:
    """The offer of one slice, under `OFFER/PROFILE`, as `h100-mig/3g.40gb`; one unit is one slice.

    Price, processor cores and memory of the host are the card's times the compute slices over seven
    (the price to a hundredth of a cent; assumed: sellers name none). Disk and network are taken to be
    those of the whole card.
    """
    part = f"{profile.compute_slices}/{SLICES}"
    price = offer.price.model_copy(
        update={
            end: (price * profile.compute_slices / SLICES).quantize(_STEP)
            for end, price in (("low", offer.price.low), ("high", offer.price.high))
        }
    )
    assumed = said(
        "a slice costs {slices} of the whole card, its share of the compute slices (assumed); one card holds "
        "at most {most}, and units beyond that are cut from further cards.",
        slices=part,
        most=profile.max_instances,
    )
    vcpu, ram = (
        None if whole is None else max(1, whole * profile.compute_slices // SLICES)
        for whole in (offer.vcpu, offer.ram_gb)
    )
    return offer.model_copy(
        update={
            "id": f"{offer.id}/{profile.profile}",
            "name": f"{offer.name}, slice {profile.profile}",
            "gpu": f"{offer.gpu}/{profile.profile}",
            "price": price,
            "vcpu": vcpu,
            "ram_gb": ram,
            "status": "derived",
            "assumptions": (assumed, *offer.assumptions),
        }
    )
