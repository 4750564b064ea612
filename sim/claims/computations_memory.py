"""Memory by the physics: peaks, whether a card holds a job, how many cards do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_jobs import MEMORY_ERROR, CardJob, Run, runs_of
from sim.claims.card_steps import (
    SHOWN_IN_FULL,
    Part,
    assumed,
    memory_sources,
    memory_steps,
    part_gib,
    spread,
    yes,
)
from sim.claims.computations_memory_checks import MEMORY_CHECKS
from sim.claims.computations_memory_parts import MEMORY_PARTS
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem
from sim.model.base import Strict

__all__ = ["MEMORY"]

_COUNTS = (1, 2, 4, 8, 16)
"""Cards that are tried."""


class _Peak(CardJob):
    part: Part = "total"


def training_memory(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Peak memory of one card, GiB, or a part of it; a range over all that the job names."""
    asked = read_inputs(_Peak, inputs)
    runs = runs_of(asked, bench)
    values = [part_gib(run, asked.part) for run in runs]
    steps = [step for run in runs for step in memory_steps(run, whole=len(runs) <= SHOWN_IN_FULL)]
    if asked.part != "total":
        steps += [
            Step(f"Of it {asked.part}: {run.label}", shown(value, "GiB", 2))
            for run, value in zip(runs, values, strict=True)
        ]
    low, high = spread(values)
    sources = memory_sources(runs)
    return Working(low, high, "GiB", tuple(steps), assumed(runs), sources, error=MEMORY_ERROR)


class _Fits(CardJob):
    says: Literal["fits", "does not fit"] = "fits"
    jobs: int = Field(default=1, ge=1)
    """Jobs at one time, each on cards of its own."""
    cards: int | None = Field(default=None, ge=1)
    """Cards that are there; with `jobs`."""


def training_fits(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether a card holds the job, in every variant that the statement leaves open."""
    asked = read_inputs(_Fits, inputs)
    runs = runs_of(asked, bench)
    steps: list[Step] = []
    for run in runs:
        steps += memory_steps(run, whole=len(runs) <= SHOWN_IN_FULL)
        if run.reserve_gib:
            part = 100 * run.reserve_gib / run.gpu.usable_gib
            text = f"Kept free, because no published run is near: {part:.3g} % of the card"
            steps.append(Step(text, shown(run.reserve_gib, "GiB", 2)))
        text = f"{run.gpu.id} has {run.gpu.usable_gib:g} GiB, needed are"
        steps.append(Step(text, shown(run.total_gib + run.reserve_gib, "GiB", 2)))
    enough = True
    if asked.cards is not None:
        enough = asked.jobs * asked.gpus <= asked.cards
        text = f"Cards: {asked.jobs} jobs x {asked.gpus} of {asked.cards}"
        steps.append(Step(text, shown(asked.jobs * asked.gpus, "cards")))
    wanted = asked.says == "fits"
    holds = enough and all(run.fits == wanted for run in runs)
    fitting = sum(run.fits for run in runs)
    steps.append(
        Step("Fits on the card", f"{fitting} of {len(runs)} jobs" if len(runs) > 1 else yes(runs[0].fits))
    )
    return Working(None, None, "", tuple(steps), assumed(runs), memory_sources(runs), holds=holds)


class _Fleets(Strict):
    jobs: tuple[_Fits, ...] = Field(min_length=1)
    cards: int = Field(ge=1)


def several_fit(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Whether cards hold each of several loads, one load at a time."""
    asked = read_inputs(_Fleets, inputs)
    steps: list[Step] = []
    holds = True
    sources: dict[str, None] = {}
    notes: dict[str, None] = {}
    for job in asked.jobs:
        found = training_fits({**job.model_dump(), "cards": asked.cards}, bench)
        keep = [step for step in found.steps if step.text.startswith(("Sum", "Peak", "Cards", "Kept"))]
        steps += [*keep, Step(f"{job.jobs} such jobs on {asked.cards} cards", yes(bool(found.holds)))]
        holds = holds and bool(found.holds)
        sources |= dict.fromkeys(found.sources)
        notes |= dict.fromkeys(found.assumptions)
    steps.append(Step("All of it", yes(holds)))
    return Working(None, None, "", tuple(steps), tuple(notes), tuple(sources), holds=holds)


def fewest_cards(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Fewest cards, of 1, 2, 4, 8 and 16, that hold the job in some division."""
    asked = read_inputs(CardJob, inputs)
    steps: list[Step] = []
    found: list[int] = []
    runs: list[Run] = []
    for model in asked.model or _models(asked, bench):
        for count in _COUNTS:
            spread_over = {"machines": count} if asked.machines > 1 else {}
            job = asked.model_copy(update={"model": (model,), "gpus": count, **spread_over})
            run = max(runs_of(job, bench), key=lambda one: one.total_gib)
            runs.append(run)
            text = f"{run.label}: peak of a card, which has {run.gpu.usable_gib:g} GiB"
            steps.append(Step(text, shown(run.total_gib, "GiB", 2)))
            if run.fits:
                found.append(count)
                steps.append(Step("Fewest cards of the counts 1, 2, 4, 8, 16", str(count)))
                break
        else:
            rule = "no count of cards up to 16 holds the job"
            raise InputError(Problem(rule, key="inputs.model", value=model))
    low, high = spread(found)
    return Working(low, high, "cards", tuple(steps), assumed(runs), memory_sources(runs))


def _models(job: CardJob, bench: Bench) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.model.id for run in runs_of(job.model_copy(update={"gpus": 1}), bench)))


MEMORY: Mapping[str, Computation] = {
    **MEMORY_PARTS,
    **MEMORY_CHECKS,
    "training_memory": training_memory,
    "training_fits": training_fits,
    "several_fit": several_fit,
    "fewest_cards": fewest_cards,
}
"""Computations of memory."""
