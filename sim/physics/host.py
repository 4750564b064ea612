"""What the host can feed to the cards of a job: processor cores and the data disk."""

from __future__ import annotations

from sim.model.contract import Offer
from sim.physics.constants import HostConstants

__all__ = ["host_tokens_per_s"]


def host_tokens_per_s(offer: Offer, gpus: int, constants: HostConstants) -> float:
    """Tokens a second that the units of a job prepare and read, over all cards.

    A unit's cores are shared by its cards in equal parts; where the source names no cores, the data
    disk alone limits. Source: rates are assumptions of `constants.yaml`.
    """
    share = gpus / offer.gpus_per_unit
    disk = share * offer.disk_read_gb_s * 1e9 / constants.bytes_per_token
    if offer.vcpu is None:
        return disk
    return min(share * offer.vcpu * constants.tokens_per_core_s, disk)
