"""Ways to run a job class on offers: for each count of cards the best split that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.catalog import Catalog
from sim.model.contract import Offer
from sim.model.hardware import Gpu
from sim.model.rates import Misfit
from sim.model.said import said
from sim.model.scenario import JobClass
from sim.physics.constants import Constants, constants_for
from sim.physics.host import host_tokens_per_s
from sim.physics.lengths import lengths_of
from sim.physics.measured import Measured
from sim.physics.prediction import Ask, Prediction, Predictor, Refused, best, refusals
from sim.physics.split import Layout, joins_units
from sim.physics.task import Task
from sim.physics.vendor import vendor_predictor

__all__ = ["AUTO_COUNTS", "Way", "misfit_of", "predictor_for", "ways"]

AUTO_COUNTS = (1, 2, 4, 8, 16, 32)
"""Card counts tried for `gpus: auto`."""


@dataclass(frozen=True, slots=True)
class Way:
    """Cards of an offer in one arrangement, with the best split found for them."""

    gpus: int
    spans: bool
    prediction: Prediction
    refused: tuple[Refused, ...] = ()
    """The other splits, each with its reason."""


def predictor_for(performance: str) -> Predictor:
    """The predictor of a performance profile: `measured`, `vendor`, or a calibration file's path.

    Raises InputError with the known names for anything else.
    """
    if performance == "vendor":
        return vendor_predictor
    return Measured(constants_for(performance))


def ways(
    job_class: JobClass,
    task: Task,
    offers: Sequence[Offer],
    catalog: Catalog,
    predict: Predictor,
    constants: Constants,
) -> list[tuple[Way, ...]]:
    """For each offer every count and arrangement that the class and the offer allow, fitting or not.

    Sorted by count, one machine before several. Empty where no allowed count can stand anywhere.
    """
    lengths = lengths_of(job_class)
    places: list[tuple[int, int, bool]] = []
    asks: list[Ask] = []
    for index, offer in enumerate(offers):
        gpu = catalog.gpus[offer.gpu]
        for gpus in sorted(job_class.counts or AUTO_COUNTS):
            for spans in (False, True):
                layout = Layout.on(offer, gpus, spans) if job_class.spans or not spans else None
                if layout is not None:
                    host = host_tokens_per_s(offer, gpus, constants.host)
                    places.append((index, gpus, spans))
                    asks.append(Ask(task, lengths, gpu, layout, host))
    found: list[list[Way]] = [[] for _ in offers]
    for (index, gpus, spans), answer in zip(places, predict(asks), strict=True):
        if answer.predictions:
            found[index].append(Way(gpus, spans, best(answer.predictions), refusals(answer)))
    return [tuple(own) for own in found]


def _placeable(job_class: JobClass, offer: Offer) -> bool:
    """Whether any allowed count of cards can stand on the offer, however the job is divided."""
    arrangements = (False, True) if job_class.spans else (False,)
    return any(
        Layout.on(offer, gpus, spans) is not None
        for gpus in job_class.counts or AUTO_COUNTS
        for spans in arrangements
    )


def _nowhere(job_class: JobClass, offer: Offer) -> Misfit:
    """Why no count of cards can stand on the offer, or no split is left for those that can."""
    counts = " or ".join(map(str, job_class.counts or AUTO_COUNTS))
    if _placeable(job_class, offer):
        return Misfit(
            said(
                "no way to divide {model} with {method} over {counts} cards is left "
                "where the class asks for {split}",
                model=job_class.model,
                method=job_class.method,
                counts=counts,
                split=job_class.split,
            )
        )
    if joins_units(offer):
        several = said("and the class may not span machines")
    else:
        several = said("and its cards do not work together over several units")
    return Misfit(
        said(
            "the class asks for {counts} cards; one unit of {offer} has {has}, {reason}",
            counts=counts,
            offer=offer.id,
            has=offer.gpus_per_unit,
            reason=several,
        )
    )


def misfit_of(job_class: JobClass, offer: Offer, gpu: Gpu, tried: Sequence[Way]) -> Misfit:
    """Why none of the ways fits, with the smallest need among them."""
    if not tried:
        return _nowhere(job_class, offer)
    least = min(tried, key=lambda way: way.prediction.needs_gib)
    needs, has = least.prediction.needs_gib, least.prediction.has_gib
    cards = said("1 card")
    if least.gpus > 1:
        cards = said("{cards} cards, {split}", cards=least.gpus, split=least.prediction.split.name)
    if least.prediction.reserve_gib:
        kept = f"{least.prediction.reserve_gib:.1f}"
        cards = said("{on}, {kept} of it kept free where no published run is near", on=cards, kept=kept)
    return Misfit(
        said(
            "{model} with {method} needs at least {needs} GiB a card ({on}); {gpu} has {has} GiB: "
            "{short} GiB too little",
            model=job_class.model,
            method=job_class.method,
            needs=f"{needs:.1f}",
            on=cards,
            gpu=gpu.name,
            has=f"{has:.1f}",
            short=f"{needs - has:.1f}",
        ),
        needs_gib=needs,
        has_gib=has,
    )
