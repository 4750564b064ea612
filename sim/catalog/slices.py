"""MIG slices as cards: a share of a card's multiprocessors, memory and bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sim.model.hardware import Gpu, MigProfile

__all__ = ["slice_cards"]

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
    eighths = max(1, min(_MEMORY_SLICES, round(_MEMORY_SLICES * profile.memory_gib / gpu.memory_gib)))
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
