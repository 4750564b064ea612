"""`fleetsim commit`: how many cards to commit when the demand goes up and down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.billing.finance.commitment import Commitment, Demand, empirical
from sim.billing.finance.commitment import commit as best_commitment
from sim.catalog import Catalog, load_catalog
from sim.cli.breakeven_ways import START, plain_scenario, read_plan
from sim.cli.charts import ChartOption, write_chart
from sim.cli.commit_answer import Answer
from sim.cli.commit_inputs import Prices, by_the_hour, plain_lease, prices, read_demand, template
from sim.cli.commit_text import as_json, print_answer
from sim.cli.console import print_json, say
from sim.cli.finance_exchange import ExchangeOption, Money, money_of, with_rates
from sim.cli.options import (
    CatalogOption,
    FormatOption,
    JobsOption,
    OutputFormat,
    PriceOption,
    SeedOption,
    SetOption,
    StrategyOption,
    check_file,
    price_choice,
    read_question,
    refuse_catalog,
    strategy_number,
    workers,
)
from sim.cli.progress import ProgressForm, ProgressOption, shown_progress
from sim.errors import InputError, Problem
from sim.load import Question
from sim.model.contract import PriceChoice
from sim.model.lease import Lease
from sim.model.scenario import Strategy
from sim.units import HOUR, MONTH

if TYPE_CHECKING:
    from sim.experiments.commitment import DemandSample

__all__ = ["commit"]

FALLBACK = "a100-public-hourly:hourly"
"""What stands in for a unit that is not committed, where nothing else is said (assumed)."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is simulated."""

    replications: int
    seed: int | None
    workers: int
    around: int
    progress: ProgressForm


def commit(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Scenario whose jobs make the demand.")
    ] = None,
    demand: Annotated[
        str | None, typer.Option(metavar="KIND", help="Instead of a scenario: poisson:4 or uniform:0:8.")
    ] = None,
    strategy: StrategyOption = None,
    set_: SetOption = None,
    offer: Annotated[
        str | None, typer.Option(metavar="ID", help="What is committed; default: the strategy's first lease.")
    ] = None,
    plan: Annotated[str | None, typer.Option(help="Plan of the commitment; default: that lease's.")] = None,
    fallback: Annotated[
        str | None,
        typer.Option(
            metavar="OFFER:PLAN",
            help=(
                "What stands in beyond it; default: the strategy's burst offer, else the committed offer by "
                f"the hour, else {FALLBACK}."
            ),
        ),
    ] = None,
    replications: Annotated[int, typer.Option(min=1, max=1000, help="Runs, each with its own luck.")] = 5,
    around: Annotated[
        int,
        typer.Option(
            min=0, max=50, help="Numbers simulated on either side of the newsvendor's; 0: no simulation."
        ),
    ] = 2,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    price: PriceOption = None,
    own: CatalogOption = None,
    exchange: ExchangeOption = None,
    out: ChartOption = None,
    format_: FormatOption = OutputFormat.TEXT,
    progress: ProgressOption = ProgressForm.AUTO,
) -> None:
    """How many cards to commit: the newsvendor on the demand of a scenario, beside the simulated optimum.

    Without a scenario: fleetsim commit --demand poisson:4 --offer a100-40g-custom --plan annual
    --fallback a100-40g-custom:monthly
    """
    if out is not None:
        check_file(out, "--out", (".png",), [] if file is None else [file])
    if (file is None) == (demand is None):
        raise InputError(Problem("give either a scenario or a --demand", key="--demand", value=demand))
    refuse_catalog(own, file)
    if file is None:
        catalog = load_catalog(own)
        answer = _of_distribution(catalog, demand or "", offer, plan, fallback, price_choice(price), exchange)
    else:
        question = read_question(file, set_, price)
        sizes = Sizes(replications, seed, workers(jobs), around, progress)
        base = question.scenario.strategies[strategy_number(question, strategy)]
        answer = _of_scenario(question, base, template(base, offer, plan), fallback, sizes, exchange)
    if out is not None:
        _draw(answer, out)
    if format_ is OutputFormat.JSON:
        print_json({**as_json(answer), "chart": None if out is None else str(out)})
        return
    print_answer(answer)
    if out is not None:
        say(f"{out} shows it.")


def _draw(answer: Answer, out: Path) -> None:
    from sim.report.plots_finance import commitment_chart
    from sim.report.plots_style import png

    trials = [(trial.committed, trial.mean) for trial in answer.trials]
    chart = commitment_chart(answer.found, answer.shares, trials, "units", answer.currency)
    write_chart(out, png(chart))


def _of_distribution(
    catalog: Catalog,
    demand: str,
    offer: str | None,
    plan: str | None,
    fallback: str | None,
    choice: PriceChoice | None,
    exchange: Sequence[str] | None,
) -> Answer:
    """The answer for a distribution that is given: prices from the catalogue, no simulation."""
    if offer is None:
        raise InputError(Problem("is needed with --demand: what is committed", key="--offer"))
    name, kind = read_plan(f"{offer}:{plan or 'annual'}", "", catalog, "--offer")
    lease = plain_lease(name, kind)
    instead = read_plan(fallback or by_the_hour(catalog, name) or FALLBACK, "", catalog, "--fallback")
    both = (name, instead[0])
    money = money_of(catalog, both, exchange)
    scenario = money.of(
        plain_scenario([{"name": "one", "leases": [{"offer": lease.offer, "plan": lease.plan}]}], START)
    )
    found = prices(scenario, catalog, lease, instead, choice)
    answer = _answer(read_demand(demand), found, lease, instead, scenario.currency)
    return replace(answer, assumed_fallback=fallback is None, turned=money.turned(catalog, both))


def _of_scenario(
    question: Question,
    base: Strategy,
    lease: Lease,
    fallback: str | None,
    sizes: Sizes,
    exchange: Sequence[str] | None,
) -> Answer:
    """The answer for the jobs of a scenario."""
    from sim.experiments.commitment import sample_demand, simulate_commitments

    read_plan(f"{lease.offer_id}:{lease.plan}", "", question.catalog, "--offer")
    own = by_the_hour(question.catalog, lease.offer_id) or FALLBACK
    standard = own if base.burst is None else f"{base.burst.offer_id}:hourly"
    instead = read_plan(fallback or standard, "", question.catalog, "--fallback")
    both = (lease.offer_id, instead[0])
    question = replace(question, scenario=with_rates(question.scenario, question.catalog, both, exchange))
    found = prices(question.scenario, question.catalog, lease, instead, question.price)
    with shown_progress(sizes.progress, "counting") as report:
        sample = sample_demand(
            question, base, lease, HOUR if found.hourly else MONTH, sizes.replications, sizes.seed,
            sizes.workers, report,
        )  # fmt: skip
    demand = empirical(sample.weights, f"{base.name} on {sample.fleet} units of {lease.offer_id}")
    answer = _answer(demand, found, lease, instead, question.scenario.currency, sample)
    target = question.scenario.target
    limit = None if target is None or target.wait_p95 is None else target.wait_p95 / HOUR
    assumed = fallback is None and base.burst is None
    money = Money(question.scenario.currency, question.scenario.exchange)
    turned = money.turned(question.catalog, both)
    allowed = None if target is None else target.refused
    answer = replace(
        answer, assumed_fallback=assumed, wait_limit_h=limit, refused_limit=allowed, turned=turned
    )
    if sizes.around == 0 or not found.hourly:
        return answer
    best = answer.found.newsvendor
    numbers = [k for k in range(best - sizes.around, best + sizes.around + 1) if k >= 0]
    with shown_progress(sizes.progress, "simulating") as report:
        trials = simulate_commitments(
            question, base, lease, instead[0], numbers, sample.fleet, sizes.replications, sizes.seed,
            sizes.workers, report,
        )  # fmt: skip
    return answer.with_trials(trials)


def _answer(
    demand: Demand,
    found: Prices,
    lease: Lease,
    instead: Sequence[str],
    currency: str,
    sample: DemandSample | None = None,
) -> Answer:
    best: Commitment = best_commitment(demand, found.committed, found.fallback)
    return Answer(
        demand=demand,
        found=best,
        prices=found,
        committed=f"{lease.offer_id} {lease.plan}",
        instead=" ".join(instead),
        currency=currency,
        sample=sample,
    )
