"""What to change when a job does not fit, in the order of least harm, until it fits.

Each step keeps those before it: first what leaves the result of the training as it is and costs time
only, then what changes numbers a little, then what costs more cards, then what changes the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sim.catalog import Catalog
from sim.model.contract import Offer
from sim.model.hardware import Gpu
from sim.model.said import said
from sim.model.work import JobClass
from sim.physics.lengths import lengths_of
from sim.physics.prediction import Ask, Prediction, Predictor, best
from sim.physics.split import Layout
from sim.physics.task import task_of

__all__ = ["Remedy", "remedies"]

_SHORTEST = 256
"""Tokens below which a shorter limit is no longer offered."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """One step of the ladder, on top of those before it."""

    change: str
    """What to change, for people."""
    harm: str
    """What it costs besides time."""
    gpus: int
    split: str
    memory_gib: float
    """Peak of a card after the step, GiB."""
    saves_gib: float
    """Against the step before; negative where it takes more."""
    has_gib: float
    tokens_per_s: float
    """Useful tokens a second over all cards, as if it fitted."""
    fits: bool
    gpu: str
    """Card of the step."""


def remedies(job_class: JobClass, offer: Offer, catalog: Catalog, predict: Predictor) -> tuple[Remedy, ...]:
    """The ladder for a job on one card of an offer; empty where it fits as it is.

    Steps that would take more memory are left out. They end with the first that fits; the last entry is
    a larger card for the job as it was written, where an offer of the catalogue has one that holds it.
    """
    gpu = catalog.gpus[offer.gpu]
    now = _ask(job_class, gpu, Layout(1, 1), catalog, predict)
    if now.fits:
        return ()
    steps = _ladder(job_class, offer, gpu, now, catalog, predict)
    larger = _larger_card(job_class, gpu, now, catalog, predict)
    return (*steps, larger) if larger is not None else tuple(steps)


def _ladder(
    job_class: JobClass, offer: Offer, gpu: Gpu, now: Prediction, catalog: Catalog, predict: Predictor
) -> list[Remedy]:
    """Steps on this kind of card until one fits."""
    steps: list[Remedy] = []
    current, before = job_class, now
    for change, harm, changed in _changes(job_class):
        tried = changed(current)
        after = _ask(tried, gpu, Layout(1, 1), catalog, predict)
        if after.memory_gib > before.memory_gib:
            continue  # what takes more is no remedy, and the steps after it do without
        steps.append(_step(change, harm, 1, before, after, gpu))
        current, before = tried, after
        if after.fits:
            return steps
    steps += _more_cards(current, offer, gpu, before, catalog, predict)
    if steps and steps[-1].fits:
        return steps
    for length, shorter in _shorter(current):
        after = _ask(shorter, gpu, Layout(1, 1), catalog, predict)
        if after.memory_gib > before.memory_gib:
            continue
        harm = said("longer samples are cut or left out")
        change = said("samples of at most {tokens} tokens, one card", tokens=length)
        steps.append(_step(change, harm, 1, before, after, gpu))
        before = after
        if after.fits:
            return steps
    return steps


def _changes(job: JobClass) -> Iterator[tuple[str, str, Callable[[JobClass], JobClass]]]:
    """Steps on the same card, each with what it costs."""
    if not job.checkpointing:
        yield (
            said("gradient checkpointing"),
            said("none; about a third more compute"),
            lambda j: j.model_copy(update={"checkpointing": True}),
        )
    if job.attention == "eager":
        yield (
            said("flash attention"),
            said("none"),
            lambda j: j.model_copy(update={"attention": "flash"}),
        )
    if job.micro_batch > 1:
        yield (
            said("micro batch 1 with {steps} accumulated steps", steps=job.micro_batch * job.accumulation),
            said("none; the batch of a step stays"),
            lambda j: j.model_copy(update={"micro_batch": 1, "accumulation": j.micro_batch * j.accumulation}),
        )
    if job.loss not in ("chunked", "fused"):
        yield (
            said("chunked loss"),
            said("none; needs a fused cross-entropy kernel"),
            lambda j: j.model_copy(update={"loss": "chunked"}),
        )
    if job.method == "full":
        yield (
            said("paged 8-bit optimiser"),
            said("small; moments in 8 bits"),
            lambda j: j.model_copy(update={"optimizer": "paged_adamw_8bit"}),
        )
        yield (
            said("LoRA instead of full fine-tuning"),
            said("another result: adapters only"),
            lambda j: j.model_copy(update={"method": "lora", "optimizer": "adamw"}),
        )
    if job.method in ("full", "lora"):
        yield (
            said("8-bit base weights"),
            said("small; weights rounded to 8 bits, slower"),
            lambda j: j.model_copy(update={"method": "qlora8", "quantisation": None}),
        )
    if job.method != "qlora4":
        yield (
            said("4-bit base weights"),
            said("some; weights rounded to 4 bits"),
            lambda j: j.model_copy(update={"method": "qlora4", "quantisation": None}),
        )


def _more_cards(
    job: JobClass, offer: Offer, gpu: Gpu, before: Prediction, catalog: Catalog, predict: Predictor
) -> list[Remedy]:
    """The fewest cards over which ZeRO-3 holds the job; each count tried is a step."""
    steps = []
    sharded = job.model_copy(update={"split": "zero"})
    for gpus in (2, 4, 8):
        layout = Layout.on(offer, gpus, spans=False)
        if layout is None and job.spans:
            layout = Layout.on(offer, gpus, spans=True)
        if layout is None:
            continue
        after = _ask(sharded, gpu, layout, catalog, predict)
        if after.memory_gib > before.memory_gib:
            continue
        change = said("ZeRO-3 over {cards} cards", cards=gpus)
        steps.append(_step(change, said("none; more cards are paid"), gpus, before, after, gpu))
        before = after
        if after.fits:
            break
    return steps


def _shorter(job: JobClass) -> Iterator[tuple[int, JobClass]]:
    length = job.seq_len // 2
    while length >= _SHORTEST:
        yield length, job.model_copy(update={"seq_len": length})
        length //= 2


def _larger_card(
    job: JobClass, gpu: Gpu, now: Prediction, catalog: Catalog, predict: Predictor
) -> Remedy | None:
    """The smallest card on offer that holds the job as it was written."""
    cards = {catalog.gpus[offer.gpu].id: catalog.gpus[offer.gpu] for offer in catalog.offers.values()}
    for card in sorted(cards.values(), key=lambda card: card.usable_gib):
        if card.usable_gib > gpu.usable_gib:
            after = _ask(job, card, Layout(1, 1), catalog, predict)
            if after.fits:
                change = said("a larger card: {gpu}, the job as written", gpu=card.name)
                return _step(change, said("none; another price"), 1, now, after, card)
    return None


def _ask(job: JobClass, gpu: Gpu, layout: Layout, catalog: Catalog, predict: Predictor) -> Prediction:
    (answer,) = predict([Ask(task_of(job, catalog), lengths_of(job), gpu, layout)])
    return best(answer.predictions)


def _step(change: str, harm: str, gpus: int, before: Prediction, after: Prediction, gpu: Gpu) -> Remedy:
    return Remedy(
        change=change,
        harm=harm,
        gpus=gpus,
        split=after.split.name,
        memory_gib=after.memory_gib,
        saves_gib=before.memory_gib - after.memory_gib,
        has_gib=after.has_gib,
        tokens_per_s=after.tokens_per_s,
        fits=after.fits,
        gpu=gpu.id,
    )
