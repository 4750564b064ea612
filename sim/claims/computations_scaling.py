"""What several cards and slower links are worth, by the parallel model of the physics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from sim.claims.bench import Bench
from sim.claims.card_jobs import RATIO_ERROR, CardJob, Run, pairs_of, runs_of
from sim.claims.card_steps import SHOWN_IN_FULL, assumed, rate_steps, speed_sources, spread
from sim.claims.working import Computation, Step, Working, read_inputs, shown
from sim.errors import InputError, Problem

__all__ = ["SCALING"]


_GBIT: Mapping[str, float] = {"1gbe": 1, "10gbe": 10, "ib": 200}
"""Gbit/s of one adapter by network; 200 of InfiniBand HDR."""


class _Speedup(CardJob):
    against: Literal["one card", "link"] = "one card"
    """What the cards are held against: one of them, or as many with the link `reference`."""
    reference: Literal["nvlink", "pcie4", "pcie5"] = "nvlink"
    unit: Literal["x", "cards", "days"] = "x"
    days_on_one: float | None = Field(default=None, gt=0)
    """Days of work on one card, with the unit days."""


def cards_worth(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """So many times as fast as one card; or cards of full speed that slowly linked ones are worth."""
    asked = read_inputs(_Speedup, inputs)
    if (asked.unit == "days") != (asked.days_on_one is not None):
        raise InputError(Problem("days_on_one goes with the unit days", key="inputs.days_on_one"))
    several = runs_of(asked, bench)
    if asked.against == "one card":
        alone = asked.model_copy(update={"gpus": 1, "machines": 1, "waits_for_longest": False})
    else:
        link = {"machines": 1, "link": asked.reference, "network": "none"}
        alone = asked.model_copy(update=link)
    steps: list[Step] = []
    values: list[float] = []
    pairs = pairs_of(several, runs_of(alone, bench))
    for many, base in pairs:
        times = many.samples_per_s / base.samples_per_s
        for run in (base, many):
            steps += rate_steps(run) if len(pairs) <= SHOWN_IN_FULL else ()
            text = f"Samples a second: {run.label}{_over(run)}"
            steps.append(Step(text, shown(run.samples_per_s, "1/s", 5)))
        values.append(_worth(asked, times, steps, many, base))
    low, high = spread(values)
    runs = (*several, *(base for _, base in pairs))
    notes = (*assumed(runs, speed=True), *_fit_notes(asked, runs))
    return Working(low, high, asked.unit, tuple(steps), notes, speed_sources(runs), error=RATIO_ERROR)


def _over(run: Run) -> str:
    layout = run.case.layout
    if run.case.split.cards == 1:
        return ""
    return f", over {layout.network}" if layout.machines > 1 else f", over {layout.link}"


def _worth(asked: _Speedup, times: float, steps: list[Step], many: Run, base: Run) -> float:
    """The answer in the unit asked for, and the line that makes it so."""
    ratio = f"{many.samples_per_s:.5f} / {base.samples_per_s:.5f}"
    if asked.days_on_one is not None:
        days = asked.days_on_one / times
        steps.append(Step(f"Days: {asked.days_on_one:g} / ({ratio})", shown(days, "days", 2)))
        return days
    if asked.against == "one card":
        steps.append(Step(f"Times as fast as one card: {ratio}", shown(times, asked.unit, 2)))
        return times
    worth = asked.gpus * times
    text = f"{asked.gpus} cards x {ratio}: so many of full speed"
    steps.append(Step(text, shown(worth, asked.unit, 2)))
    return worth


def _fit_notes(asked: CardJob, runs: tuple[Run, ...]) -> tuple[str, ...]:
    notes = []
    if any(not run.fits for run in runs):
        notes.append("Speed alone is compared: not all of these jobs fit on the cards.")
    if asked.waits_for_longest:
        lengths = f"log-normal, spread {asked.length_sigma:g}"
        notes.append(f"Each step waits for the longest of all samples on all cards ({lengths}).")
    return tuple(notes)


class _Needed(CardJob):
    keeps: float = Field(default=0.8, gt=0, le=1)
    """Part of the speed of unlinked cards that must be left (assumed where the statement is silent)."""
    networks: tuple[Literal["1gbe", "10gbe", "ib"], ...] = ("1gbe", "10gbe", "ib")


def network_needed(inputs: Mapping[str, Any], bench: Bench) -> Working:
    """Slowest network between machines over which cards keep a part of their speed, Gbit/s."""
    asked = read_inputs(_Needed, inputs)
    steps: list[Step] = []
    found: list[float] = []
    whole = asked.model_copy(update={"machines": 1, "link": "nvlink", "network": "none"})
    runs = list(runs_of(whole, bench))
    for number, base in enumerate(tuple(runs)):
        steps.append(Step(f"Samples a second: {base.label}, NVLink", shown(base.samples_per_s, "1/s", 5)))
        for network in sorted(asked.networks, key=_GBIT.__getitem__):
            over = asked.model_copy(update={"machines": asked.gpus, "link": "none", "network": network})
            run = runs_of(over, bench)[number]
            runs.append(run)
            share = run.samples_per_s / base.samples_per_s
            text = f"Over {network}: {run.samples_per_s:.5f} / {base.samples_per_s:.5f}"
            steps.append(Step(text, f"{share:.1%}"))
            if share >= asked.keeps:
                found.append(_GBIT[network])
                text = f"Slowest network that keeps {asked.keeps:.0%}"
                steps.append(Step(text, shown(_GBIT[network], "Gbit/s")))
                break
        else:
            found.append(float("inf"))
            steps.append(Step(f"No network keeps {asked.keeps:.0%}", "none"))
    if float("inf") in found:
        return Working(
            None, None, "", tuple(steps), _needed_notes(asked, runs), speed_sources(runs), holds=False
        )
    low, high = spread(found)
    return Working(low, high, "Gbit/s", tuple(steps), _needed_notes(asked, runs), speed_sources(runs))


def _needed_notes(asked: _Needed, runs: list[Run]) -> tuple[str, ...]:
    kept = f"A network is enough where {asked.keeps:.0%} of the speed over NVLink is left (assumed)."
    return (*assumed(runs, speed=True), kept)


SCALING: Mapping[str, Computation] = {"cards_worth": cards_worth, "network_needed": network_needed}
"""Computations of several cards."""
