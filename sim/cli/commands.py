"""The table of commands. To add one: a module with a function, and a row at the foot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from sim.cli.app import app
from sim.cli.breakeven import breakeven
from sim.cli.budget import budget
from sim.cli.calibrate import calibrate
from sim.cli.catalog import catalog
from sim.cli.claims import claims
from sim.cli.commit import commit
from sim.cli.compare import compare
from sim.cli.costs import costs
from sim.cli.explain import explain
from sim.cli.fit import fit
from sim.cli.focus import focus
from sim.cli.init import init
from sim.cli.measure import measure
from sim.cli.predict import predict
from sim.cli.quote import quote
from sim.cli.rebill import rebill
from sim.cli.recommend import recommend
from sim.cli.reconcile import reconcile
from sim.cli.report import report
from sim.cli.run import run
from sim.cli.runs import runs
from sim.cli.schema import schema
from sim.cli.sensitivity import sensitivity
from sim.cli.stepup import stepup
from sim.cli.sweep import sweep
from sim.cli.tco import tco
from sim.cli.validate import validate
from sim.cli.workbook import workbook
from sim.cli.workload import workload

__all__ = ["COMMANDS", "application"]


def application() -> typer.Typer:
    """The command line with every command of the table."""
    root = typer.Typer(
        name="fleetsim",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # texts of users are never read as markup, and help is plain in a pipe
        pretty_exceptions_enable=False,
    )
    root.callback()(_root)
    for command in COMMANDS:
        root.command(command.__name__)(command)
    for group in GROUPS:
        root.add_typer(group())
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


COMMANDS: tuple[Callable[..., Any], ...] = (
    compare,
    recommend,
    stepup,
    sweep,
    sensitivity,
    explain,
    run,
    costs,
    focus,
    breakeven,
    budget,
    commit,
    tco,
    quote,
    rebill,
    reconcile,
    workbook,
    report,
    fit,
    predict,
    measure,
    calibrate,
    catalog,
    claims,
    validate,
    schema,
    init,
    app,
)

GROUPS: tuple[Callable[[], typer.Typer], ...] = (workload, runs)
"""Groups of commands, each with a table of its own."""
