"""`fleetsim init`: a folder to work in, with the shipped scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.cli.options import check_folder
from sim.errors import InputError, Problem
from sim.load_shipped import shipped_files
from sim.whole_file import write_whole

__all__ = ["init"]

OUTPUTS = "outputs/README.md"
ABOUT_OUTPUTS = """Results of fleetsim: `<scenario>/<run id>/` with tables, charts, ledger and the
scenario as it was run. Everything here can be made again; `fleetsim runs` lists, compares and deletes.
"""


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where to write; made if it is not there.")
    ] = Path(),
) -> None:
    """Write the shipped scenarios into FOLDER/scenarios, ready to be run and changed.

    A file of yours is never overwritten: where one stands that differs, nothing is written.
    """
    wanted = {folder / "scenarios" / name: source.read_bytes() for source, name in shipped_files()}
    wanted[folder / OUTPUTS] = ABOUT_OUTPUTS.encode()
    missing = _missing(wanted)
    for place in sorted({path.parent for path in missing}):
        check_folder(place, "FOLDER")
    for path, content in missing.items():
        write_whole(path, content, "a shipped file", "choose another FOLDER")
    for path in missing:
        typer.echo(f"  {path}")
    if not missing:
        typer.echo(f"Nothing to do: the shipped scenarios already lie in {folder / 'scenarios'}.")
    typer.echo(f"Next: {_there(folder)}fleetsim compare scenarios/four-to-eight.yaml")


def _missing(wanted: dict[Path, bytes]) -> dict[Path, bytes]:
    """What is not there yet; InputError where something else stands in its place."""
    missing, strange = {}, []
    for path, content in wanted.items():
        if not path.exists():
            missing[path] = content
        elif path.name != "README.md" and (not path.is_file() or path.read_bytes() != content):
            strange.append(path)
    if strange:
        rule = "a file that differs stands there; choose another folder, or move it away"
        raise InputError(Problem(rule, str(path)) for path in strange)
    return missing


def _there(folder: Path) -> str:
    return "" if folder == Path() else f"cd {folder} && "
