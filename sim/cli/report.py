"""`fleetsim report`: a stored run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.cli.console import print_json, say
from sim.cli.options import FormatOption, OutputFormat, check_file
from sim.cli.runs import OUTPUTS, RunName
from sim.errors import InputError, Problem, RunError

__all__ = ["report"]


def report(
    run: RunName,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            help="The page to write; default: SCENARIO-RUN.html in this folder.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder with the results.")] = OUTPUTS,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Write a stored run as one HTML page with charts, tables, assumptions and sources; it opens offline."""
    from sim.experiments.files import slug
    from sim.experiments.run_list import COMPARISONS, listed, sound_run
    from sim.experiments.stored import open_run
    from sim.report.page import page

    folder = sound_run(run, out, COMPARISONS)
    kind = listed(folder).kind
    if kind not in (*COMPARISONS, "unknown"):
        rule = f"a report is made of a comparison, not of a {kind}; its charts and tables are in its folder"
        raise InputError(Problem(rule, str(folder), known=COMPARISONS))
    stored = open_run(folder)
    if output is None:
        output = Path(f"{slug(stored.question.scenario.name)}-{stored.manifest['run_id']}.html")
    check_file(output, "--output", (".html", ".htm"))
    _refuse_runs(output)
    made = page(stored)
    data = made.html.encode("utf-8")
    _write(output, data)
    if format_ is OutputFormat.JSON:
        flags = [flag.to_json() for flag in made.flags]
        print_json(
            {"run": stored.manifest["run_id"], "file": str(output), "bytes": len(data), "flags": flags}
        )
        return
    raised = sum(flag.state == "raised" for flag in made.flags)
    say(f"{output} holds the report, {len(data) / 1e6:,.1f} MB; it opens without a network.")
    say(f"Warning lines of the articles: {raised} raised, of {len(made.flags)} looked at.")


def _refuse_runs(output: Path) -> None:
    """InputError inside the folder of a run: its manifest names all of its files, and must stay true."""
    for above in output.absolute().resolve().parents:
        if (above / "manifest.json").exists():
            rule = "a page is not written into the folder of a run, whose manifest names all that is in it"
            raise InputError(Problem(rule, key="--output", value=str(output)))


def _write(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        msg = f"the page cannot be written to {path}: {error.strerror}; choose another --output FILE.html"
        raise RunError(msg) from error
    finally:
        draft.unlink(missing_ok=True)
