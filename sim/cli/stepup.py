"""`fleetsim stepup`: the month at which to go from one fleet to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.comparison_text import print_compared
from sim.cli.console import heading, print_json, print_table, say
from sim.cli.options import (
    OUTPUTS,
    FormatOption,
    JobsOption,
    OutputFormat,
    PriceOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    read_question,
)
from sim.cli.options_runs import (
    BudgetOption,
    ClusterOption,
    ConfidenceOption,
    FreshOption,
    OutOption,
    run_places,
    selection_rule,
)
from sim.cli.progress import ProgressForm, ProgressOption
from sim.experiments.wording import DASH, money, quoted, value

if TYPE_CHECKING:
    from sim.experiments.stepup import Step, StepUp

__all__ = ["stepup"]


def stepup(
    file: ScenarioFile,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="NAME", help="Strategy to begin with; default: the first.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="NAME", help="Strategy to go to; default: the second.")
    ] = None,
    set_: SetOption = None,
    confidence: ConfidenceOption = 0.95,
    most: BudgetOption = 300,
    seed: SeedOption = None,
    price: PriceOption = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
    out: OutOption = OUTPUTS,
    fresh: FreshOption = False,
    format_: FormatOption = OutputFormat.TEXT,
    progress: ProgressOption = ProgressForm.AUTO,
) -> None:
    """Find the month at which to step from one fleet to another, and what a month early or late costs."""
    from sim.experiments.stepup import step_up
    from sim.report.advice import save_step_up

    question = read_question(file, set_, price, seed)
    names = [strategy.name for strategy in question.scenario.strategies]
    rule = selection_rule(question, confidence, most)
    before, after = from_ or names[0], to or names[min(1, len(names) - 1)]
    with run_places("searching", progress, jobs, cluster, out, fresh) as places:
        found = step_up(question, before, after, rule, places)
    folder = save_step_up(found, out)
    if format_ is OutputFormat.JSON:
        print_json({**found.to_json(), "folder": str(folder)})
        return
    _print(found, folder)


def _print(found: StepUp, folder: Path) -> None:
    scenario = found.question.scenario
    say(scenario.name, style="bold")
    heading("When to step up")
    say(_sentence(found), style="bold")
    for sentence in _money(found):
        say(sentence)
    say("A later step is taken to serve no better (assumed); months that follow from a neighbour are marked.")
    heading(f"From {quoted(found.before)} to {quoted(found.after)}: {found.simulated:,} runs")
    lines = found.comparison.conditions
    rows = [
        (
            "->" if step is found.chosen else "",
            _when(step.at is None, step.month, step.at),
            money(step.cost, scenario.currency),
            money(step.accrued, scenario.currency),
            step.standing,
            *(
                value(step.means[i], line.unit) if i < len(step.means) else DASH
                for i, line in enumerate(lines)
            ),
            step.replications or DASH,
        )
        for step in found.steps
    ]
    headings = ("", "Step", "Committed", "Accrued", "Target", *(line.name for line in lines), "Runs")
    print_table(headings, rows, text=(0, 1, 4))
    print_compared(found.comparison)
    heading("Files")
    say(f"{folder}/ holds every month (steps.csv), the comparison above, its charts and its runs.")


def _when(never: bool, month: int | None, at: object) -> str:
    return "never" if never else "at once" if month == 0 else f"{at:%Y-%m-%d}"


def _sentence(found: StepUp) -> str:
    step = found.chosen
    if step is None:
        return f"Even {quoted(found.after)} from the start misses the target."
    cost = money(step.cost, found.question.scenario.currency)
    if step.at is None:
        return f"Do not step up: {quoted(found.before)} meets the target all along, at {cost} committed."
    if step.month == 0:
        return f"Have {quoted(found.after)} from the start: {cost} committed."
    return f"Step up on {step.at:%Y-%m-%d}, {step.month} months after the start: {cost} committed."


def _money(found: StepUp) -> list[str]:
    sentences: list[str] = []
    chosen, late, early = found.chosen, found.late, found.early
    if chosen is not None and late is not None:
        change = _change(chosen, late, found)
        end = "meets the target too" if late.standing in ("meets", "taken to meet") else "misses the target"
        sentences.append(f"A month later costs {change}, and {end}.")
    if chosen is not None and early is not None:
        sentences.append(f"A month earlier costs {_change(chosen, early, found)}.")
    return sentences


def _change(chosen: Step, other: Step, found: StepUp) -> str:
    """What another month costs more or less, committed and within the horizon."""
    currency = found.question.scenario.currency
    committed, accrued = other.cost - chosen.cost, other.accrued - chosen.accrued
    return f"{_signed(committed, currency)} committed and {_signed(accrued, currency)} within the horizon"


def _signed(amount: float, currency: str) -> str:
    if round(amount, 2) == 0:
        return "the same"
    return f"{money(abs(amount), currency)} {'more' if amount > 0 else 'less'}"
