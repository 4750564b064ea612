"""`fleetsim rebill`: a stored run under new prices or contracts, without simulating it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import heading, print_json, print_parts, print_table, say
from sim.cli.options import OUTPUTS, FormatOption, OutputFormat, PriceOption, check_folder, price_choice
from sim.cli.options_detail import StoredRun, run_folder
from sim.cli.options_runs import OutOption
from sim.experiments.wording import limits, money, plain

if TYPE_CHECKING:
    from sim.experiments.rebill import Rebilled

__all__ = ["rebill"]


def rebill(
    run: StoredRun,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a price or contract, such as strategies.0.leases.0.plan=annual; may be repeated.",
        ),
    ] = None,
    price: PriceOption = None,
    out: OutOption = OUTPUTS,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Bill a stored run again under new prices or contracts; jobs, waits and failures stay as they were."""
    from sim.experiments.rebill import rebill as billed_again
    from sim.experiments.rebill import save
    from sim.experiments.stored import open_run
    from sim.report.plots import cumulative_money, money_against_wait
    from sim.report.plots_style import png
    from sim.report.tables import decision

    stored = open_run(run_folder(run, out))
    check_folder(out)
    found = billed_again(stored, set_ or (), price_choice(price))
    comparison = found.comparison
    charts = {
        "money-against-wait": png(money_against_wait(comparison)),
        "cumulative-money": png(cumulative_money(comparison)),
    }
    folder = save(found, out, charts)
    if format_ is OutputFormat.JSON:
        print_json({**found.to_json(), "folder": str(folder)})
        return
    say(f"{comparison.question.scenario.name}, billed again without a new simulation", style="bold")
    for change in found.changes:
        say(f"- {change}")
    if comparison.question.price != stored.question.price:
        say(f"- price {comparison.question.price}")
    heading("Decision before")
    say(str(stored.document["recommendation"]["reason"]))
    heading("Decision now")
    print_parts(decision(comparison))
    _print_money(found)
    heading("Files")
    say(f"{folder}/ holds the run under the new contracts; {run}/ stays as it was.")


def _print_money(found: Rebilled) -> None:
    before = {one["name"]: one["metrics"] for one in found.source.document["strategies"]}
    for metric, title in (("committed_cost_cny", "Committed"), ("cash_cny", "Paid within the horizon")):
        heading(
            f"{title}, mean [{100 * found.comparison.question.scenario.experiment.confidence:g} % interval]"
        )
        rows = []
        for result in found.comparison.strategies:
            interval, old = result.metrics[metric], before[result.name][metric]["mean"]
            change = None if interval.mean is None or old is None else interval.mean - old
            sign = "+" if change is not None and change > 0 else ""
            now = f"{money(interval.mean)} {limits(interval, 'CNY')}".strip()
            rows.append((plain(result.name), money(old), now, f"{sign}{money(change)}"))
        print_table(("Strategy", "Before", "Now", "Change"), rows, text=(0,))
