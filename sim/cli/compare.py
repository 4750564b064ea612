"""`fleetsim compare`: the decision between the strategies of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.cli.console import heading, print_json, print_parts, say
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
    ClusterOption,
    FreshOption,
    MostOption,
    OutOption,
    SelectOption,
    UntilOption,
    run_places,
    with_stopping,
)
from sim.cli.progress import ProgressForm, ProgressOption
from sim.model.experiment import MOST_REPLICATIONS
from sim.units import format_duration

if TYPE_CHECKING:
    from sim.experiments.comparison import Comparison

__all__ = ["compare"]


def compare(
    file: ScenarioFile,
    set_: SetOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Strategy that the others are compared with; default: the first."),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_REPLICATIONS,
            help="Runs a strategy, each with its own luck; default: the scenario's.",
        ),
    ] = None,
    seed: SeedOption = None,
    until: UntilOption = None,
    select: SelectOption = False,
    most: MostOption = None,
    jobs: JobsOption = None,
    cluster: ClusterOption = None,
    out: OutOption = OUTPUTS,
    fresh: FreshOption = False,
    format_: FormatOption = OutputFormat.TEXT,
    price: PriceOption = None,
    progress: ProgressOption = ProgressForm.AUTO,
) -> None:
    """Simulate every strategy of a scenario on the same jobs and failures, and say which to rent."""
    from sim.experiments.compare import compare as compare_strategies
    from sim.report.save import save

    question = with_stopping(read_question(file, set_, price), until, select, most)
    with run_places("simulating", progress, jobs, cluster, out, fresh, question.scenario) as places:
        comparison = compare_strategies(
            question,
            replications=replications,
            seed=seed,
            baseline=baseline,
            workers=places.workers,
            progress=places.progress,
            vault=places.vault,
            cluster=places.cluster,
        )
    folder = save(comparison, out)
    if format_ is OutputFormat.JSON:
        print_json({**comparison.to_json(), "folder": str(folder)})
        return
    _print(comparison, folder)


def _print(comparison: Comparison, folder: Path) -> None:
    from sim.report.tables import render

    scenario = comparison.question.scenario
    say(scenario.name, style="bold")
    length = f"{format_duration(scenario.horizon_us)} from {scenario.start:%Y-%m-%d}"
    say(f"{length}, {comparison.counted} a strategy, seed {comparison.seed}")
    heading("Decision")
    print_parts(render(comparison))
    heading("Files")
    say(f"{folder}/ holds the comparison, differences and metrics of all replications (replications.csv);")
    say("jobs, attempts, leases, failures, ledger and invoices of replication 0; and charts.")
