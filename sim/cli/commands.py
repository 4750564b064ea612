"""The table of commands. To add one: a module with a function, and a row at the foot."""

from __future__ import annotations

from typing import Annotated

import typer

from sim.cli.later import Later, Table, table_group

__all__ = ["COMMANDS", "application"]


def application() -> typer.Typer:
    """The command line with every command of the table."""
    root = typer.Typer(
        name="fleetsim",
        cls=table_group(COMMANDS),
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # texts of users are never read as markup, and help is plain in a pipe
        pretty_exceptions_enable=False,
    )
    root.callback()(_root)
    return root


def _version(wanted: bool) -> None:
    if wanted:
        import sim

        typer.echo(f"fleetsim {sim.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Which fleet of rented GPUs, under which contracts, gets the jobs done in time for the least
    money, and how sure is that?

    Start with: fleetsim compare scenarios/four-to-eight.yaml
    """


COMMANDS: Table = {
    "compare": Later(
        "sim.cli.compare:compare",
        "Simulate every strategy of a scenario on the same jobs and failures, and say which to rent.",
    ),
    "recommend": Later(
        "sim.cli.recommend:recommend",
        "Search fleets of one offer for the cheapest that meets the target, and say why the others lost.",
    ),
    "stepup": Later(
        "sim.cli.stepup:stepup",
        "Find the month at which to step from one fleet to another, and what a month early or late costs.",
    ),
    "sweep": Later(
        "sim.cli.sweep:sweep",
        "Compare the strategies over a grid or list of settings, all on the same jobs and failures.",
    ),
    "sensitivity": Later(
        "sim.cli.sensitivity:sensitivity",
        "Turn each input through its range, and find the value at which the decision flips.",
    ),
    "explain": Later(
        "sim.cli.explain:explain",
        "Tell why jobs waited, were interrupted or refused in one run of one strategy.",
    ),
    "run": Later(
        "sim.cli.run:run",
        "Make one run of one strategy and show its metrics, charges, failures and the use of its leases.",
    ),
    "costs": Later(
        "sim.cli.costs:costs",
        "Show cash and cost by month, the cost by team, class or job, and indicators, for one run.",
    ),
    "focus": Later(
        "sim.cli.focus:focus",
        "Export a run's cost and usage in the format of FOCUS 1.2, as CSV or Parquet.",
    ),
    "breakeven": Later(
        "sim.cli.breakeven:breakeven",
        "When does a longer commitment pay? Closed form, bills month by month, value, return, downside.",
    ),
    "budget": Later(
        "sim.cli.budget:budget",
        "Budget of contracts by month (cash, cost, prepaid balance), and actual against it.",
    ),
    "commit": Later(
        "sim.cli.commit:commit",
        "How many cards to commit: the newsvendor on the demand of a scenario, beside the simulated optimum.",
    ),
    "tco": Later(
        "sim.cli.tco:tco",
        "Own or rent? A year of owning in parts, its books, and what a useful card-hour costs either way.",
    ),
    "quote": Later(
        "sim.cli.quote:quote",
        "Say what leases cost, line by line, with the code that bills a simulation but without one.",
    ),
    "rebill": Later(
        "sim.cli.rebill:rebill",
        "Bill a stored run again under new prices or contracts; jobs, waits and failures stay as they were.",
    ),
    "reconcile": Later(
        "sim.cli.reconcile:reconcile",
        "Hold a real invoice against the ledger, line by line, and split each difference into its causes.",
    ),
    "workbook": Later(
        "sim.cli.workbook:workbook",
        "Write the money of a stored run as a workbook: cash flow, invoices, ledger, indicators, comparison.",
    ),
    "report": Later(
        "sim.cli.report:report",
        "Write a stored run as one HTML page with charts, tables, assumptions and sources; it opens offline.",
    ),
    "fit": Later(
        "sim.cli.fit:fit",
        "Say for each offer of the catalogue whether a job fits, how fast it is and what a run costs.",
    ),
    "predict": Later(
        "sim.cli.predict:predict",
        "Predict peak memory, tokens a second and whether it fits, for each row of a table of runs.",
    ),
    "measure": Later(
        "sim.cli.measure:measure",
        "Run a few real training steps of a job on this machine's card and record memory and speed.",
    ),
    "calibrate": Later(
        "sim.cli.calibrate:calibrate",
        "Fit the free constants of memory and speed to your own measured runs, and say what it gains.",
    ),
    "catalog": Later(
        "sim.cli.catalog:catalog",
        "Show the catalogue: offers with prices, cards, base models and failure profiles, with sources.",
    ),
    "claims": Later(
        "sim.cli.claims:claims",
        "Check statements of sellers with this program's own bills, physics and runs.",
    ),
    "validate": Later(
        "sim.cli.validate:validate",
        "Check a scenario without running it: keys, names, dates, trace. Exit code 2 if anything is wrong.",
    ),
    "schema": Later(
        "sim.cli.schema:schema",
        "Print the JSON Schema of scenario files, for editors and checkers, or a reference page.",
    ),
    "init": Later(
        "sim.cli.init:init",
        "Write the shipped scenarios into FOLDER/scenarios, ready to be run and changed.",
    ),
    "app": Later(
        "sim.cli.app:app",
        "Open the page that runs a scenario and shows the comparison, on http://127.0.0.1:PORT.",
    ),
    "workload": Later(
        "sim.cli.workload:workload",
        "Recorded jobs: import what a scheduler or a spreadsheet has, and look at it.",
        is_group=True,
    ),
    "runs": Later(
        "sim.cli.runs:runs",
        "Stored runs: list them, look at one, find what changed between two, delete what is not needed.",
        is_group=True,
    ),
}
