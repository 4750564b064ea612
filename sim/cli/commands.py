"""The table of commands. To add one: a module with a function, and a row at the foot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from sim.cli.app import app
from sim.cli.calibrate import calibrate
from sim.cli.catalog import catalog
from sim.cli.compare import compare
from sim.cli.explain import explain
from sim.cli.fit import fit
from sim.cli.measure import measure
from sim.cli.predict import predict
from sim.cli.run import run
from sim.cli.schema import schema
from sim.cli.validate import validate

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
    explain,
    run,
    fit,
    predict,
    measure,
    calibrate,
    catalog,
    validate,
    schema,
    app,
)
