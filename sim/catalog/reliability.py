"""From the scenario's reliability and the catalogue's profiles to the failure model of one pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sim.catalog.catalog import Catalog, Mtbf, ReliabilityProfile
from sim.errors import InputError, Problem
from sim.model.contract import Offer
from sim.model.failures import (
    FailureModel,
    Hangs,
    Infancy,
    Lemons,
    LogNormal,
    Maintenance,
    NoSpare,
    SharedEvents,
    Snapshots,
    Spares,
)
from sim.model.hardware import Gpu
from sim.model.reliability import Reliability
from sim.units import DAY, HOUR, MINUTE, SECOND, Micros, from_hours

__all__ = ["KINDS", "failure_model", "mean_times"]

KINDS = ("gpu_fatal", "gpu_reset", "node", "network")
"""Kinds that a profile brings by itself; the first two are of a card, the others of a machine."""
ASKED = ("ecc_uncorrectable", "silent_corruption")
"""Kinds of a card that count only when the scenario asks for them."""


def mean_times(
    reliability: Reliability, gpu: Gpu, catalog: Catalog, profile: str | None = None
) -> dict[str, Micros]:
    """Mean time between failures of each kind: the scenario's own number, else the profile's.

    `profile` goes before the scenario's profile and numbers. Kinds without a number are left out. Raises
    InputError with the known names for an unknown profile, and for a mean time of 0.
    """
    published = _profile(reliability, catalog, profile).classes.get(gpu.card_class, {})
    times: dict[str, Micros] = {}
    for kind in (*KINDS, *ASKED):
        own: Micros | Literal["preset"] | None = getattr(reliability, kind)
        if profile is not None and isinstance(own, int):
            own = "preset"
        if kind == "ecc_uncorrectable" and not gpu.ecc:
            continue  # such errors stay silent
        if isinstance(own, int):
            if own <= 0:
                rule = "a mean time between failures is longer than 0; leave the key out for none"
                raise InputError(Problem(rule, key=f"reliability.{kind}"))
            times[kind] = own
        elif kind in published and (own == "preset" or kind in KINDS):
            times[kind] = from_hours(published[kind].hours)
    return _without_memory_errors(times, reliability, published, catalog, profile)


def _without_memory_errors(
    times: dict[str, Micros],
    reliability: Reliability,
    published: Mapping[str, Mtbf],
    catalog: Catalog,
    profile: str | None,
) -> dict[str, Micros]:
    """Published resets and fatal failures include the memory errors that are now a kind of their own."""
    asked = reliability.ecc_uncorrectable
    if asked is None or (asked != "preset" and profile is None) or "ecc_uncorrectable" not in times:
        return times
    on_machine = catalog.repair.hits_machine.share
    found = dict(times)
    for kind, share in (("gpu_reset", 1 - on_machine), ("gpu_fatal", on_machine)):
        if kind in published and (profile is not None or getattr(reliability, kind) is None):
            rate = 1 / times[kind] - share / times["ecc_uncorrectable"]
            if rate <= 0:
                rule = f"more memory errors than {kind}, which includes them: give both a mean time"
                raise InputError(Problem(rule, key="reliability.ecc_uncorrectable"))
            found[kind] = round(1 / rate)
    return found


def _profile(reliability: Reliability, catalog: Catalog, name: str | None) -> ReliabilityProfile:
    wanted = reliability.profile if name is None else name
    profile = catalog.reliability.get(wanted)
    if profile is None:
        rule = "reliability.profile is a profile of the catalogue"
        problem = Problem(rule, key="reliability.profile", value=wanted, known=tuple(catalog.reliability))
        raise InputError(problem)
    return profile


def failure_model(
    reliability: Reliability,
    offer: Offer,
    catalog: Catalog,
    data_disk: Literal["kept", "lost"],
    profile: str | None = None,
) -> FailureModel | None:
    """How the cards of an offer fail and come back, times in microseconds.

    The scenario's terms of migration go before the offer's own; `profile` (of a lease, say) goes
    before the scenario's profile and mean times.

    None where nothing can fail: profile `none`, no mean times, no shared events, no maintenance and
    no failures at known times. With failures at known times only, the model has no mean times and
    says how long they last.
    """
    gpu = catalog.gpus[offer.gpu]
    times = mean_times(reliability, gpu, catalog, profile)
    shared = _shared(reliability)
    if not (times or shared or reliability.maintenance or reliability.events):
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
        weibull_shape=reliability.shape,
        contained=1 - repair.hits_machine.share,
        found=reliability.bad_results.found,
        shared=shared or None,
        lemons=_lemons(reliability, gpu, _profile(reliability, catalog, profile)),
        infancy=_infancy(reliability),
        hangs=_hangs(reliability),
        no_spare=_no_spare(reliability),
        spares=_spares(reliability),
        snapshots=_snapshots(reliability),
        maintenance=_maintenance(reliability),
    )


def _shared(reliability: Reliability) -> dict[str, SharedEvents]:
    switch, site = reliability.switch, reliability.site
    found = {}
    if switch is not None:
        lasts = LogNormal(switch.lasts, switch.sigma)
        found["switch"] = SharedEvents(switch.every, lasts, switch.machines)
    if site is not None:
        found["site"] = SharedEvents(site.every, LogNormal(site.lasts, site.sigma))
    return found


def _lemons(reliability: Reliability, gpu: Gpu, profile: ReliabilityProfile) -> Lemons | None:
    asked = reliability.lemons
    if asked is None:
        return None
    if asked == "preset":
        row = profile.lemons.get(gpu.card_class)
        return None if row is None else Lemons(row.share, row.rate)
    return Lemons(asked.share, asked.rate)


def _infancy(reliability: Reliability) -> Infancy | None:
    infant = reliability.infant
    return None if infant is None else Infancy(infant.factor, infant.period)


def _hangs(reliability: Reliability) -> Hangs | None:
    hang = reliability.hangs
    return None if hang is None else Hangs(hang.share, LogNormal(hang.detect, hang.sigma), hang.kinds)


def _no_spare(reliability: Reliability) -> NoSpare | None:
    wait = reliability.migration.no_spare
    return None if wait is None else NoSpare(wait.probability, LogNormal(wait.median, wait.sigma))


def _spares(reliability: Reliability) -> Spares | None:
    spares = reliability.migration.spares
    return None if spares is None else Spares(spares.count, LogNormal(spares.repair, spares.sigma))


def _snapshots(reliability: Reliability) -> Snapshots | None:
    plan = reliability.snapshots
    return None if plan is None else Snapshots(DAY // plan.per_day, plan.rollback, plan.disk == "data")


def _maintenance(reliability: Reliability) -> Maintenance | None:
    plan = reliability.maintenance
    if plan is None:
        return None
    first = plan.every if plan.first is None else plan.first
    return Maintenance(first, plan.every, plan.lasts, plan.notice > 0, plan.together)
