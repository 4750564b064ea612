"""How jobs share a card: their speed together, the slice that holds a job, the partition of a card.

Source of the preset: speeds of pairs of training jobs by their combined use of the card, from the
1,388 measured pairs of Lucid (Hu et al., ASPLOS 2023); beyond one card, and for more than two jobs,
assumed. Slices follow the vendor's listing of profiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from sim.decisions.policies import POLICIES
from sim.model.sharing import SLICES, SliceSpec, SpeedCurve

__all__ = ["alone_only", "partition", "shared_speed", "slice_speed", "slices_holding"]

_MEMORY_SLICES = 8


def alone_only(policy: str, *, preempts: bool) -> str | None:
    """Why jobs cannot share cards under this queue policy; None: they can.

    Reservations rest on when running jobs end, and fair share on the cards that a team holds: both
    count whole cards. Preemption takes whole cards from its victims.
    """
    if preempts:
        return "sharing does not go with preempt: interrupting a job would free only a part of its card"
    if POLICIES[policy].when_blocked in ("backfill", "plan"):
        return f"sharing does not go with policy {policy}: it must know ahead when running jobs end"
    if POLICIES[policy].by_team:
        return f"sharing does not go with policy {policy}: it counts the whole cards that a team holds"
    return None


def shared_speed(curve: SpeedCurve, demands: Sequence[Fraction]) -> Fraction:
    """Speed of each of the jobs that work on one card, 1 for the speed alone.

    `demands` holds the busy share of the card by each job when it is alone. Up to the last point of
    the curve: straight lines between points; above it `beyond` divided by the combined demand, and
    never more than at the last point, so that more demand never makes a job faster. A job alone
    runs at full speed.
    """
    if len(demands) < 2:
        return Fraction(1)
    combined = sum(demands, Fraction(0))
    crowd = 1 - curve.per_job * (len(demands) - 2)
    return _pair_speed(curve, combined) * crowd


def _pair_speed(curve: SpeedCurve, combined: Fraction) -> Fraction:
    last_demand, last_speed = curve.points[-1]
    if combined > last_demand:
        return min(last_speed, curve.beyond / combined)
    if combined <= curve.points[0][0]:
        return curve.points[0][1]
    for (low, fast), (high, slow) in pairwise(curve.points):
        if combined <= high:
            return fast + (slow - fast) * (combined - low) / (high - low)
    return last_speed


def slice_speed(profile: SliceSpec, gain: Fraction) -> Fraction:
    """Speed of a job on a slice, 1 for the whole card: its share of the compute slices times `gain`."""
    return min(Fraction(1), Fraction(profile.compute, SLICES) * gain)


def slices_holding(profiles: Sequence[SliceSpec], needs_gib: float) -> tuple[SliceSpec, ...]:
    """The profiles with that much memory, the smallest first: by memory, then by compute slices.

    The whole card as one slice is none of them: a job then has the card without partition.
    """
    holding = [p for p in profiles if p.memory_gib >= needs_gib and p.compute < SLICES]
    return tuple(sorted(holding, key=lambda p: (p.memory_gib, p.compute, p.alone, p.name)))


def partition(profiles: Sequence[SliceSpec], wanted: SliceSpec, most: int) -> tuple[SliceSpec, ...]:
    """How an idle card is divided for a job that takes a slice of the profile `wanted`.

    As many slices of that profile as go, and what is left in the largest slices that go, at most
    `most` in all. A mix is valid if its compute slices add up to at most 7 and its memory slices to
    at most 8, no profile has more instances than the vendor allows, and at most one slice has the
    media engines (`+me`). The vendor's rules on where on the card a slice may begin are not known
    to the table.
    """
    others = sorted(
        (p for p in profiles if p is not wanted), key=lambda p: (-p.compute, -p.memory, p.alone, p.name)
    )
    chosen: list[SliceSpec] = []
    for profile in (wanted, *others):
        while len(chosen) < most and _goes(profile, chosen):
            chosen.append(profile)
    return tuple(chosen)


def _goes(profile: SliceSpec, chosen: Sequence[SliceSpec]) -> bool:
    every = [*chosen, profile]
    return (
        sum(p.compute for p in every) <= SLICES
        and sum(p.memory for p in every) <= _MEMORY_SLICES
        and every.count(profile) <= profile.most
        and sum(p.alone for p in every) <= 1
    )
