"""`fleetsim workbook`: a stored run as an Excel file for finance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sim.cli.console import print_json, say
from sim.cli.options import FormatOption, OutputFormat, check_file
from sim.cli.options_detail import ReplicationOption, StoredRun, run_folder

__all__ = ["workbook"]


def workbook(
    run: StoredRun,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.xlsx", help="The file to write.")],
    replication: ReplicationOption = 0,
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Write the money of a stored run as a workbook: cash flow, invoices, ledger, indicators, comparison."""
    from sim.experiments.stored import open_run
    from sim.report.workbook import workbook as book_of

    check_file(output, "--output", (".xlsx",))
    stored = open_run(run_folder(run))
    book = book_of(stored, replication=replication)
    book.save(output)
    if format_ is OutputFormat.JSON:
        print_json(
            {
                "run": stored.manifest["run_id"],
                "replication": replication,
                "file": str(output),
                "sheets": list(book.sheets),
            }
        )
        return
    which = f" of replication {replication}" if replication else ""
    say(f"{output} holds the sheets {', '.join(book.sheets)}{which}.")
