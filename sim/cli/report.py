"""`fleetsim report`: a stored run as one HTML page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sim.cli.console import print_json, say
from sim.cli.options import OUTPUTS, FormatOption, OutputFormat, check_file
from sim.cli.options_detail import OutFolder, RunName
from sim.errors import InputError, Problem
from sim.whole_file import write_whole

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
    out: OutFolder = OUTPUTS,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Write a stored run as one HTML page with charts, tables, assumptions and sources; it opens offline."""
    from sim.experiments.run_list import COMPARISONS, listed, sound_run
    from sim.experiments.run_study import STUDIES

    folder = sound_run(run, out, COMPARISONS)
    kind = listed(folder).kind
    if kind in STUDIES:
        _report_study(folder, kind, output, format_)
        return
    if kind not in (*COMPARISONS, "unknown"):
        rule = f"a report is made of a comparison or a study, not of a {kind}"
        raise InputError(Problem(rule, str(folder), known=(*COMPARISONS, *STUDIES)))
    _report_run(folder, output, format_)


def _report_run(folder: Path, output: Path | None, format_: OutputFormat) -> None:
    from sim.experiments.stored import open_run
    from sim.report.page import page

    stored = open_run(folder)
    output = _place(output, stored.question.scenario.name, str(stored.manifest["run_id"]))
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
    _told(output, data)
    say(f"Warning lines of the articles: {raised} raised, of {len(made.flags)} looked at.")


def _report_study(folder: Path, kind: str, output: Path | None, format_: OutputFormat) -> None:
    """A sweep or a sensitivity study; it has no ledgers, so no warning lines are looked at."""
    from sim.experiments.run_study import open_study
    from sim.report.page_studies import study_page

    study = open_study(folder, kind)
    output = _place(output, str(study.document.get("scenario", "")), folder.resolve().name)
    data = study_page(study).encode("utf-8")
    _write(output, data)
    if format_ is OutputFormat.JSON:
        print_json({"run": folder.resolve().name, "file": str(output), "bytes": len(data), "flags": []})
        return
    _told(output, data)


def _place(output: Path | None, scenario: str, run: str) -> Path:
    """Where the page is written; InputError for a place that cannot be."""
    from sim.experiments.files import slug

    if output is None:
        output = Path(f"{slug(scenario)}-{run}.html")
    check_file(output, "--output", (".html", ".htm"))
    _refuse_runs(output)
    return output


def _told(output: Path, data: bytes) -> None:
    say(f"{output} holds the report, {len(data) / 1e6:,.1f} MB; it opens without a network.")


def _refuse_runs(output: Path) -> None:
    """InputError inside the folder of a run: its manifest names all of its files, and must stay true."""
    for above in Path(os.path.realpath(output)).parents:  # which bears links that lead in a circle
        if (above / "manifest.json").exists():
            rule = "a page is not written into the folder of a run, whose manifest names all that is in it"
            raise InputError(Problem(rule, key="--output", value=str(output)))


def _write(path: Path, data: bytes) -> None:
    write_whole(path, data, "the page", "choose another --output FILE.html")
