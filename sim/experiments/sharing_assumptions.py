"""What the answer rests on where jobs share cards: sentences on the preset and its rules."""

from __future__ import annotations

from collections.abc import Iterator

from sim.experiments.wording import quoted
from sim.model.said import said
from sim.model.scenario import Scenario, Sharing, Strategy
from sim.model.sharing import SLICES
from sim.units import format_duration

__all__ = ["sharing_rules"]


def sharing_rules(scenario: Scenario) -> Iterator[str]:
    """Sentences for the strategies that share cards, then those that hold for all of them."""
    asking = [strategy for strategy in scenario.strategies if strategy.sharing is not None]
    for strategy in asking:
        if strategy.sharing is not None:
            yield from _of_strategy(scenario, strategy, strategy.sharing)
    if asking:
        yield said(
            "Jobs share a card only as far as the memory predicted for them fits on it together; a job whose "
            "memory is not known, or that needs several cards, has whole cards. The time of a shared card is "
            "shared out among its jobs."
        )


def _of_strategy(scenario: Scenario, strategy: Strategy, sharing: Sharing) -> Iterator[str]:
    name = quoted(strategy.name)
    if sharing.kind == "mig":
        yield said(
            "{name}: an idle card is partitioned for the job that takes it, in {span} (assumed; MIG, at most "
            "{most} slices by the vendor's listing). A slice runs at {times} times its compute slices over "
            "{slices}, at most at the speed of the card (assumed), whatever runs beside it.",
            name=name,
            span=_time(sharing.reconfigure),
            most=sharing.most,
            times=f"{sharing.slice_gain:g}",
            slices=SLICES,
        )
        return
    given = [c.name for c in scenario.workload.classes if c.demand is not None]
    trace = scenario.workload.trace
    given += [] if trace is None or trace.demand is None else ["the trace"]
    basis = "assumed"
    if given:
        basis = said("assumed, but for {names}", names=", ".join(map(quoted, given)))
    yield said(
        "{name}: up to {most} jobs share a card by {sharing}. A job alone keeps its card busy for {part} of "
        "the time ({beside}). Up to a whole card of combined demand jobs slow each other as measured pairs "
        "did (Lucid; few of them language models); above it {left} of the card is divided among them, and "
        "each job above two costs all {loss} (assumed). Start-up and checkpoints are not slowed.",
        name=name,
        most=sharing.most,
        sharing=sharing.kind,
        part=f"{100 * sharing.demand:g} %",
        beside=basis,
        left=f"{sharing.left:g}",
        loss=f"{100 * sharing.per_job:g} %",
    )


def _time(us: int) -> str:
    return format_duration(us) if us else "no time"
