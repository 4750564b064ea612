"""The table that the engine looks up: shape x offer -> ways to run, with all times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sim.catalog import Catalog
from sim.model.contract import Offer
from sim.model.job import JobShape
from sim.model.rates import Misfit, RateTable, RunOption
from sim.model.said import said
from sim.model.scenario import JobClass, Scenario
from sim.physics.constants import Constants, StartConstants, constants_for
from sim.physics.options import Way, misfit_of, predictor_for, ways
from sim.physics.prediction import Predictor
from sim.physics.recorded import Recorded
from sim.physics.startup import side_times
from sim.physics.task import Task, task_of
from sim.units import SECOND

__all__ = ["class_options", "rate_table"]


def rate_table(
    scenario: Scenario, shapes: Sequence[JobShape], offers: Sequence[Offer], catalog: Catalog
) -> RateTable:
    """Ask once, before the run, how every shape runs on every offer.

    Keyed by (position of the shape, offer id). Raises InputError for an unknown performance
    profile. Times are microseconds; memory is GiB a card.
    """
    predict, constants = predictor_for(scenario.performance), constants_for(scenario.performance)
    classes: Mapping[str, JobClass] = {entry.name: entry for entry in scenario.workload.classes}
    recorded = Recorded(scenario, catalog, predict)
    options: dict[tuple[int, str], tuple[RunOption, ...]] = {}
    misfits: dict[tuple[int, str], Misfit] = {}
    for index, shape in enumerate(shapes):
        if shape.job_class is None:
            answers = [recorded.options(shape, offer) for offer in offers]
        else:
            answers = class_options(classes[shape.job_class], offers, catalog, predict, constants)
        for offer, answer in zip(offers, answers, strict=True):
            if isinstance(answer, Misfit):
                misfits[index, offer.id] = answer
            else:
                options[index, offer.id] = answer
    notes = (*recorded.notes, *_notes(scenario, shapes, options, constants.startup))
    return RateTable(options, misfits, notes)


def class_options(
    job_class: JobClass,
    offers: Sequence[Offer],
    catalog: Catalog,
    predict: Predictor,
    constants: Constants,
) -> list[tuple[RunOption, ...] | Misfit]:
    """For each offer the ways that fit, or why none does."""
    task = task_of(job_class, catalog)
    found = ways(job_class, task, offers, catalog, predict, constants)
    return [
        _options(job_class, task, offer, tried, catalog, constants.startup)
        for offer, tried in zip(offers, found, strict=True)
    ]


def _options(
    job_class: JobClass,
    task: Task,
    offer: Offer,
    tried: Sequence[Way],
    catalog: Catalog,
    start: StartConstants,
) -> tuple[RunOption, ...] | Misfit:
    fitting = [way for way in tried if way.prediction.fits]
    if not fitting:
        return misfit_of(job_class, offer, catalog.gpus[offer.gpu], tried)
    times = side_times(task, offer, start)
    return tuple(
        RunOption(
            gpus=way.gpus,
            spans=way.spans,
            split=way.prediction.split.name,
            startup_us=times.startup_us,
            restart_us=times.startup_us,
            us_per_work=way.prediction.seconds_per_sample * SECOND,
            checkpoint_us=times.checkpoint_us,
            stage_us=times.stage_us,
            stage_key=job_class.model,
            memory_gib=way.prediction.memory_gib,
            tokens_per_s=way.prediction.tokens_per_s,
            support=way.prediction.support,
            memory_support=way.prediction.memory_support,
            speed_noise=offer.speed_noise,
            limited_by=way.prediction.limited_by,
        )
        for way in fitting
    )


def _notes(
    scenario: Scenario,
    shapes: Sequence[JobShape],
    options: Mapping[tuple[int, str], tuple[RunOption, ...]],
    start: StartConstants,
) -> tuple[str, ...]:
    notes: list[str] = []
    if any(shape.job_class for shape in shapes):
        seconds = start.container_s + start.imports_s + start.warm_up_s
        notes.append(
            said(
                "Start-up is assumed: {seconds} s for container, imports and warm-up, then the base model "
                "from the data disk.",
                seconds=f"{seconds:g}",
            )
        )
        if any(entry.accumulation == 1 for entry in scenario.workload.classes):
            notes.append(said("A step is one micro-batch on each card where a class names no accumulation."))
        if any(entry.mean_tokens is not None and not entry.packed for entry in scenario.workload.classes):
            notes.append(
                said("Sample lengths are log-normal (assumed); a micro-batch pads to its longest sample.")
            )
    if scenario.performance == "vendor":
        notes.append(
            said("Speed and memory are the articles' own figures; measurements contradict most of them.")
        )
    return (*notes, *_cut_across(shapes, options), *_support(shapes, options))


def _cut_across(
    shapes: Sequence[JobShape], options: Mapping[tuple[int, str], tuple[RunOption, ...]]
) -> tuple[str, ...]:
    """A warning of each class whose matrices are cut over machines that wait for their network."""
    found = [
        f"{offer}: {shapes[index].job_class} ({ways_[0].split} over {ways_[0].gpus} cards)"
        for (index, offer), ways_ in options.items()
        if ways_ and ways_[0].spans and ways_[0].limited_by == "network" and "tensor" in ways_[0].split
    ]
    if not found:
        return ()
    told = said(
        "No other way to divide the job fits and is faster, but matrices are cut across machines, so every "
        "layer waits for the network: {names}.",
        names="; ".join(found),
    )
    return (told,)


def _support(
    shapes: Sequence[JobShape], options: Mapping[tuple[int, str], tuple[RunOption, ...]]
) -> tuple[str, ...]:
    """How well the figures of each class are supported, by the way that is tried first on each offer."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for (index, offer), ways_ in options.items():
        name = shapes[index].job_class
        if name is not None and ways_:
            for figure, tag in (("speed", ways_[0].support), ("memory", ways_[0].memory_support)):
                found.setdefault((figure, tag), {}).setdefault(offer, []).append(name)
    lines = []
    for figure in ("speed", "memory"):
        for tag, tell in _TAGS.items():
            places = found.get((figure, tag), {})
            named = "; ".join(f"{offer}: {', '.join(names)}" for offer, names in places.items())
            if named:
                lines.append(tell(figure.capitalize(), named))
    return tuple(lines)


_TAGS: Mapping[str, Callable[[str, str], str]] = {
    "measured": lambda figure, names: said(
        "{figure} as measured in published runs of the same kind: {names}.", figure=figure, names=names
    ),
    "interpolated": lambda figure, names: said(
        "{figure} interpolated between published runs: {names}.", figure=figure, names=names
    ),
    "extrapolated": lambda figure, names: said(
        "{figure} extrapolated, no published run is near: {names}.", figure=figure, names=names
    ),
}
"""Tags in the order in which they are told, and how."""
