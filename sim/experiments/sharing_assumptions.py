"""What the answer rests on where jobs share cards: sentences on the preset and its rules."""

from __future__ import annotations

from collections.abc import Iterator

from sim.experiments.wording import quoted
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
        yield (
            "Jobs share a card only as far as the memory predicted for them fits on it together; a job whose "
            "memory is not known, or that needs several cards, has whole cards. The time of a shared card is "
            "shared out among its jobs."
        )


def _of_strategy(scenario: Scenario, strategy: Strategy, sharing: Sharing) -> Iterator[str]:
    name = quoted(strategy.name)
    if sharing.kind == "mig":
        yield (
            f"{name}: an idle card is partitioned for the job that takes it, in {_time(sharing.reconfigure)} "
            f"(assumed; MIG, at most {sharing.most} slices by the vendor's listing). A slice runs at "
            f"{sharing.slice_gain:g} times its compute slices over {SLICES}, at most at the speed of the "
            "card (assumed), whatever runs beside it."
        )
        return
    said = [c.name for c in scenario.workload.classes if c.demand is not None]
    trace = scenario.workload.trace
    said += [] if trace is None or trace.demand is None else ["the trace"]
    beside = f", but for {', '.join(map(quoted, said))}" if said else ""
    yield (
        f"{name}: up to {sharing.most} jobs share a card by {sharing.kind}. A job alone keeps its card busy "
        f"for {100 * sharing.demand:g} % of the time (assumed{beside}). Up to a whole card of combined "
        "demand jobs slow each other as measured pairs did (Lucid; few of them language models); "
        f"above it {sharing.left:g} of the card is divided among them, and each job above two costs all "
        f"{100 * sharing.per_job:g} % (assumed). Start-up and checkpoints are not slowed."
    )


def _time(us: int) -> str:
    return format_duration(us) if us else "no time"
