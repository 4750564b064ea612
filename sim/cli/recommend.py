"""`fleetsim recommend`: the cheapest fleet that meets the target, and why every other lost."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.comparison_text import print_compared
from sim.cli.console import heading, print_json, print_table, say
from sim.cli.numbers import whole_numbers
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
from sim.errors import InputError, Problem
from sim.experiments.wording import DASH, money, plain, quoted, share, span
from sim.units import format_duration

if TYPE_CHECKING:
    from sim.experiments.advice import Advice
    from sim.experiments.search import Option

__all__ = ["recommend"]

SHOWN = 12
"""Options written out, the chosen one and the nearest first; all are in options.csv and the JSON document."""


class BurstChoice(StrEnum):
    """Whether fleets with cards by the hour are searched."""

    AS_IS = "as-is"
    NONE = "none"
    ONLY = "only"


def recommend(
    file: ScenarioFile,
    cards: Annotated[
        str, typer.Option(metavar="NUMBERS", help="Numbers of cards to try, such as 1..12 or 2,4,8.")
    ] = "1..16",
    offer: Annotated[
        list[str] | None,
        typer.Option(metavar="ID,ID", help="Offers to try; may be repeated; default: those of the scenario."),
    ] = None,
    plan: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLAN,PLAN", help="Plans to try; may be repeated; default: those of the scenario."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,NAME", help="Queue policies to try; may be repeated; default: the scenario's."
        ),
    ] = None,
    burst: Annotated[
        BurstChoice, typer.Option(help="Cards by the hour beside: as the scenario has them, none, or always.")
    ] = BurstChoice.AS_IS,
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
    """Search fleets of one offer for the cheapest that meets the target, and say why the others lost."""
    from sim.experiments.advice import recommend_fleet
    from sim.experiments.candidates import space_of
    from sim.report.advice import save_advice

    question = read_question(file, set_, price, seed)
    tried = (_names(offer, "--offer"), _names(plan, "--plan"), _names(policy, "--policy"))
    space = space_of(question, whole_numbers(cards, "--cards"), *tried, burst.value)
    rule = selection_rule(question, confidence, most)
    with run_places("searching", progress, jobs, cluster, out, fresh) as places:
        advice = recommend_fleet(question, space, rule, places)
    folder = save_advice(advice, out)
    if format_ is OutputFormat.JSON:
        print_json({**advice.to_json(), "folder": str(folder)})
        return
    _print(advice, folder)


def _names(given: list[str] | None, option: str) -> list[str] | None:
    """The names of an option that takes lists and may be repeated, each once; None where it is not given."""
    if given is None:
        return None
    names = [name.strip() for text in given for name in text.split(",")]
    if "" in names:
        rule = "must be names with commas between them"
        raise InputError(Problem(rule, key=option, value=" ".join(given)))
    return list(dict.fromkeys(names))


def _print(advice: Advice, folder: Path) -> None:
    scenario, found = advice.question.scenario, advice.found
    say(scenario.name, style="bold")
    heading("Recommendation")
    say(_sentence(advice), style="bold")
    say(_how_sure(advice))
    if beyond := _outlasting(advice):
        say(beyond, style="yellow")
    for sentence in _near(advice):
        say(sentence)
    heading(f"Options considered: {len(found.options):,}")
    _options(advice)
    print_compared(advice.comparison)
    heading("Files")
    say(f"{folder}/ holds every option (options.csv), the comparison above, its charts and its runs.")


def _sentence(advice: Advice) -> str:
    winner = advice.found.winner
    currency = advice.question.scenario.currency
    if winner is None:
        return "No fleet of the search meets the target; the nearest are compared below."
    result = advice.comparison.strategies[0]
    cost, wait = result.mean("committed_cost_cny"), result.mean("wait_p95_h")
    waits = "no job waits" if wait is None else f"a 95th percentile of wait of {span(wait)}"
    return f"Rent {quoted(winner.name)}: {money(cost, currency)} committed, {waits}."


def _how_sure(advice: Advice) -> str:
    found, rule = advice.found, advice.rule
    sure = (
        f"Every judgement that it rests on is sure at {share(rule.confidence)} together"
        if found.sure
        else "Some judgements were still in doubt at the budget of replications (marked unsure)"
    )
    saved = f"{found.simulated:,} runs"
    if found.simulated < found.brute:
        saved += f" instead of {found.brute:,} for all options alike"
    zones = f"differences within {rule.cost_zone} of the cost and {rule.target_zone} of a limit count as none"
    return (
        f"{sure}; {zones}. {saved}. A larger fleet of the same kind is taken to serve no worse (assumed); "
        "mixtures of offers are not searched."
    )


def _outlasting(advice: Advice) -> str:
    """That other plans bind for longer than the time simulated; their warning may not be below."""
    from sim.experiments.outlasting import outlasting

    winner, horizon_us = advice.found.winner, advice.question.scenario.horizon_us
    searched = {option.candidate.plan for option in advice.found.options}
    plans = () if winner is None else outlasting(searched - {winner.plan}, horizon_us)
    if not plans:
        return ""
    return (
        f"The horizon, {format_duration(horizon_us)}, is shorter than these plans bind: {', '.join(plans)}. "
        "All that they commit to counts within it, so that a shorter plan wins by that alone; "
        "a longer horizon compares them fairly."
    )


def _near(advice: Advice) -> list[str]:
    sentences: list[str] = []
    currency = advice.question.scenario.currency
    if advice.marginal is not None:
        more = advice.marginal
        cost, wait = more.cost.mean, more.wait_p95_h.mean
        change = "" if wait is None else f" and changes the 95th percentile of wait by {span(wait)}"
        text = f"One unit more ({plain(more.strategy)}) costs {money(cost, currency)} more{change}."
        sentences.append(text)
    if advice.headroom is not None:
        room = advice.headroom
        if room.misses is None:
            sentences.append(f"Headroom: it still meets the target at {room.meets:.3g} times the demand.")
        else:
            most, least = f"{room.meets:.3g} times today's", f"{room.misses:.3g} times"
            sentences.append(f"Headroom: demand may grow to {most}; at {least} the target is missed.")
    if advice.pareto:
        names = ", ".join(quoted(name) for name in advice.pareto)
        sentences.append(f"No simulated option beats these in both money and wait: {names}.")
    return sentences


def _options(advice: Advice) -> None:
    shown = sorted(advice.found.options, key=lambda option: _rank(option, advice))[:SHOWN]
    currency = advice.question.scenario.currency
    rows = [
        (
            "->" if option.status == "chosen" else "",
            plain(option.candidate.name),
            DASH if option.cost is None else money(option.cost, currency),
            option.status,
            plain(option.reason),
            option.replications or DASH,
        )
        for option in shown
    ]
    print_table(("", "Option", "Committed", "Result", "Why", "Runs"), rows, text=(0, 1, 3, 4))
    rest = len(advice.found.options) - len(shown)
    if rest > 0:
        say(f"... and {rest:,} more in options.csv and with --format json.")


def _rank(option: Option, advice: Advice) -> tuple[int, float, int]:
    """The chosen one, then the simulated, nearest in cost first, then the rest alike."""
    winner = advice.found.winner
    target = 0.0 if winner is None else float(winner.cost)
    first = 0 if option.status == "chosen" else 1 if option.replications else 2
    return first, abs((option.cost or 0.0) - target), option.candidate.position
