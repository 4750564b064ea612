"""What follows a failure and how long it lasts: drawn before the run, keyed by what fails.

Every feature that a scenario may switch on reads streams of its own, so that it changes no draw of
the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from sim.model.failures import KINDS, PLANNED, SILENT, FailureModel, LogNormal
from sim.model.fleet import PoolSpec
from sim.streams import Streams
from sim.units import Micros

__all__ = ["Outage", "Outages", "draw_one_outage"]


@dataclass(frozen=True, slots=True)
class Outage:
    """What follows a failure."""

    detect_us: Micros
    """Until somebody notices; jobs hold their cards so long."""
    repair_us: Micros
    """From then until the card or machine is usable."""
    promise_kept: bool | None
    """None where no promise applies (reset)."""
    replaced: bool = False
    """A failure of a card that a reset does not mend: its machine is replaced."""
    shop_us: Micros = 0
    """Time until what failed is mended and a spare again; used where spares are counted."""
    exact: bool = False
    """Whether the scenario says how long it lasts: nothing is added to that."""


class Outages:
    """The outages of one event number of a kind, unit by unit."""

    def __init__(
        self, model: FailureModel, kind: str, uniforms: np.ndarray, key: tuple[str, ...], streams: Streams
    ) -> None:
        self._model, self._kind, self._uniforms = model, kind, uniforms
        self._key, self._streams = key, streams
        self._extra: dict[str, np.ndarray] = {}

    @classmethod
    def draw(
        cls, model: FailureModel, kind: str, units: int, streams: Streams, *key: str, number: int
    ) -> Outages:
        """Draw for so many units; `key` begins with the name of the stream."""
        generator = streams.generator(*key, number)
        return cls(model, kind, generator.random((units, 3)), (*key, str(number)), streams)

    def __call__(self, unit: int) -> Outage:
        model, kind = self._model, self._kind
        for_detection, for_promise, for_time = (float(u) for u in self._uniforms[unit])
        detect_us = self._detect(unit, for_detection)
        if KINDS[kind].unit == "shared":
            shared = (model.shared or {}).get(kind)
            lasts = model.migration_late if shared is None else shared.lasts
            return Outage(detect_us, _lognormal(lasts, for_time), None)
        replaced = kind == "ecc_uncorrectable" and for_promise >= model.contained
        if kind in ("gpu_reset", "ecc_uncorrectable") and not replaced:
            return Outage(detect_us, _lognormal(model.reset, for_time), None)
        if replaced:
            for_promise = self._uniform("contained", unit, 0)
        kept = for_promise < model.migration_kept
        repair_us = (
            _uniform(model.migration_us, for_time) if kept else _lognormal(model.migration_late, for_time)
        )
        return self._without_spare(unit, Outage(detect_us, repair_us, kept, replaced))

    def _detect(self, unit: int, u: float) -> Micros:
        hangs = self._model.hangs
        if hangs is not None and self._kind in hangs.kinds and self._uniform("hang", unit, 0) < hangs.share:
            return _lognormal(hangs.detect, self._uniform("hang", unit, 1))
        return _uniform(self._model.detect_us, u)

    def _without_spare(self, unit: int, outage: Outage) -> Outage:
        rare, spares = self._model.no_spare, self._model.spares
        if rare is not None and self._uniform("spare", unit, 0) < rare.probability:
            wait_us = _lognormal(rare.wait, self._uniform("spare", unit, 1))
            return replace(outage, repair_us=outage.repair_us + wait_us, promise_kept=False)
        if spares is not None:
            return replace(outage, shop_us=_lognormal(spares.repair, self._uniform("shop", unit, 0)))
        return outage

    def _uniform(self, what: str, unit: int, column: int) -> float:
        """Uniform number of one unit for a feature; all units draw together, when first asked."""
        if what not in self._extra:
            generator = self._streams.generator(what, *self._key)
            self._extra[what] = generator.random((len(self._uniforms), 2))
        return float(self._extra[what][unit, column])


def draw_one_outage(pool: PoolSpec, kind: str, number: int, streams: Streams) -> Outage:
    """The outage of a failure that the scenario forces, by its number there."""
    model = pool.failures
    if model is None or kind == SILENT:
        return Outage(0, 0, None)
    if kind == PLANNED:
        plan = model.maintenance
        return Outage(0, model.migration_late.median_us if plan is None else plan.lasts_us, None)
    return Outages.draw(model, kind, 1, streams, "forced", pool.card_kind, kind, number=number)(0)


def _uniform(bounds: tuple[Micros, Micros], u: float) -> Micros:
    low, high = bounds
    return round(low + (high - low) * u)


def _lognormal(shape: LogNormal, u: float) -> Micros:
    # u may be 0, never 1; the cap also bounds the tail of the inverse there.
    tiny = 1e-12
    value = shape.median_us * float(np.exp(shape.sigma * ndtri(max(u, tiny))))
    return round(value if shape.cap_us is None else min(value, shape.cap_us))
