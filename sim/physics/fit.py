"""The question of the command `fit`: does this job fit, and how fast is it, on each offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.catalog import Catalog, load_catalog
from sim.model.contract import Offer
from sim.model.rates import Support
from sim.model.work import JobClass
from sim.physics.constants import constants_for
from sim.physics.memory import MemoryParts
from sim.physics.options import Way, misfit_of, predictor_for, ways
from sim.physics.prediction import Refused
from sim.physics.quantities import mean_of
from sim.physics.remedies import Remedy, remedies
from sim.physics.task import task_of

__all__ = ["FitRow", "fit_job"]

_TIGHT = 0.1
"""Share of a card: about what held-out predictions of memory are off by (docs/validation.md)."""


@dataclass(frozen=True, slots=True)
class FitRow:
    """A job class on some cards of an offer."""

    offer: str
    gpu: str
    gpus: int | None
    """Cards; None where no allowed count can stand on the offer."""
    spans: bool
    """Whether the cards stand in several machines."""
    split: str
    fits: bool
    parts: MemoryParts | None
    """Peak of one card by part; None where a source gives the sum alone."""
    total_gib: float | None
    usable_gib: float | None
    reserve_gib: float
    """GiB kept free because no published run is near; part of what it must fit with."""
    margin_gib: float | None
    """What is left on the card; negative where it does not fit."""
    tokens_per_s: float | None
    """Useful tokens over all cards."""
    hours: float | None
    """Training time of the mean data set (mean samples x mean epochs), without start-up."""
    support: Support
    """How well the speed is supported by measurements."""
    memory_support: Support
    limited_by: str
    reason: str = ""
    """Why it does not fit."""
    refused: tuple[Refused, ...] = ()
    """Other ways to divide the job over these cards, and why they were not taken."""
    remedies: tuple[Remedy, ...] = ()
    """What would make it fit on one card of the offer, in the order of least harm."""

    @property
    def shortfall_gib(self) -> float | None:
        """GiB missing on each card; None where it fits or memory is not the reason."""
        if self.fits or self.margin_gib is None:
            return None
        return self.reserve_gib - self.margin_gib

    @property
    def tight(self) -> bool:
        """Whether less is left on the card than predictions of memory may be off by, a tenth of it."""
        if self.margin_gib is None or self.usable_gib is None:
            return False
        return self.margin_gib < _TIGHT * self.usable_gib


def fit_job(
    job_class: JobClass,
    offers: Sequence[Offer],
    catalog: Catalog | None = None,
    performance: str = "measured",
) -> list[FitRow]:
    """Rows of every offer: with `auto` the smallest count that fits, with a list each count.

    An offer on which nothing fits has one row, of the way that needs least. Raises InputError for
    an unknown performance profile.
    """
    known = catalog or load_catalog()
    predict, constants = predictor_for(performance), constants_for(performance)
    task = task_of(job_class, known)
    work = mean_of(job_class.samples) * mean_of(job_class.epochs)
    rows: list[FitRow] = []
    everywhere = ways(job_class, task, offers, known, predict, constants)
    for offer, tried in zip(offers, everywhere, strict=True):
        gpu = known.gpus[offer.gpu]
        fitting = [way for way in tried if way.prediction.fits]
        if not fitting:
            reason = misfit_of(job_class, offer, gpu, tried).reason
            least = min(tried, key=lambda way: way.prediction.needs_gib, default=None)
            # Where the count asked for cannot stand there, no change on one card would help.
            ladder = remedies(job_class, offer, known, predict) if tried else ()
            rows.append(_row(offer, least, work, reason, ladder))
            continue
        for way in tried if job_class.counts else fitting[:1]:
            if way.prediction.fits:
                rows.append(_row(offer, way, work, ""))
            else:
                reason = misfit_of(job_class, offer, gpu, [way]).reason
                rows.append(_row(offer, way, work, reason, remedies(job_class, offer, known, predict)))
    return rows


def _row(offer: Offer, way: Way | None, work: float, reason: str, ladder: tuple[Remedy, ...] = ()) -> FitRow:
    if way is None:
        return FitRow(
            offer=offer.id,
            gpu=offer.gpu,
            gpus=None,
            spans=False,
            split="",
            fits=False,
            parts=None,
            total_gib=None,
            usable_gib=None,
            reserve_gib=0.0,
            margin_gib=None,
            tokens_per_s=None,
            hours=None,
            support="",
            memory_support="",
            limited_by="",
            reason=reason,
        )
    found = way.prediction
    return FitRow(
        offer=offer.id,
        gpu=offer.gpu,
        gpus=way.gpus,
        spans=way.spans,
        split=found.split.name,
        fits=found.fits,
        parts=found.parts,
        total_gib=found.memory_gib,
        usable_gib=found.has_gib,
        reserve_gib=found.reserve_gib,
        margin_gib=found.has_gib - found.memory_gib,
        tokens_per_s=found.tokens_per_s if found.fits else None,
        hours=work * found.seconds_per_sample / 3600 if found.fits else None,
        support=found.support,
        memory_support=found.memory_support,
        limited_by=found.limited_by,
        reason=reason,
        refused=way.refused,
        remedies=ladder,
    )
