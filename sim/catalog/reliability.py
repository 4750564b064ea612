"""From the scenario's reliability and the catalogue's profiles to the failure model of one pool."""

from __future__ import annotations

from typing import Literal

from sim.catalog.catalog import Catalog
from sim.errors import InputError, Problem
from sim.model.contract import Offer
from sim.model.fleet import FailureModel, LogNormal
from sim.model.hardware import Gpu
from sim.model.scenario import Reliability
from sim.units import HOUR, MINUTE, SECOND, Micros, from_hours

__all__ = ["KINDS", "failure_model", "mean_times"]

KINDS = ("gpu_fatal", "gpu_reset", "node", "network")
"""Kinds of random failure; the first two are of a card, the others of a machine."""


def mean_times(reliability: Reliability, gpu: Gpu, catalog: Catalog) -> dict[str, Micros]:
    """Mean time between failures of each kind: the scenario's own number, else the profile's.

    Kinds without a number are left out. Raises InputError with the known names for an unknown
    profile, and for a mean time of 0.
    """
    profile = catalog.reliability.get(reliability.profile)
    if profile is None:
        raise InputError(
            Problem(
                "reliability.profile is a profile of the catalogue",
                key="reliability.profile",
                value=reliability.profile,
                known=tuple(catalog.reliability),
            )
        )
    published = profile.classes.get(gpu.card_class, {})
    times: dict[str, Micros] = {}
    for kind in KINDS:
        own: Micros | None = getattr(reliability, kind)
        if own is not None:
            if own <= 0:
                rule = "a mean time between failures is longer than 0; leave the key out for none"
                raise InputError(Problem(rule, key=f"reliability.{kind}"))
            times[kind] = own
        elif kind in published:
            times[kind] = from_hours(published[kind].hours)
    return times


def failure_model(
    reliability: Reliability, offer: Offer, catalog: Catalog, data_disk: Literal["kept", "lost"]
) -> FailureModel | None:
    """How the cards of an offer fail and come back, times in microseconds.

    The scenario's terms of migration go before the offer's own.

    None where nothing can fail: profile `none`, no mean times and no failures at known times.
    With failures at known times only, the model has no mean times and says how long they last.
    """
    times = mean_times(reliability, catalog.gpus[offer.gpu], catalog)
    if not times and not reliability.events:
        return None
    repair, asked = catalog.repair, reliability.migration
    within = offer.migration.within_s * SECOND if asked.within is None else asked.within
    return FailureModel(
        mtbf_us=times,
        detect_us=(round(repair.detect_s.low * SECOND), round(repair.detect_s.high * SECOND)),
        reset=LogNormal(round(repair.reset.median_min * MINUTE), repair.reset.sigma),
        # A promise shorter than the usual minimum is kept to the letter.
        migration_us=(min(round(repair.migration_from_min.value * MINUTE), within), within),
        migration_kept=offer.migration.kept if asked.kept is None else asked.kept,
        migration_late=LogNormal(
            round(repair.late.median_h * HOUR), repair.late.sigma, round(repair.late.cap_h * HOUR)
        ),
        disk_kept=data_disk == "kept",
    )
