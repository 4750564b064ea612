"""`fleetsim predict`: what the physics says of the rows of a measurement table."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from sim.cli.console import say
from sim.cli.rows import check_answer, read_rows, row_constants, write_answer
from sim.physics.predict import predict_rows
from sim.workload.wording import counted

__all__ = ["predict"]

ADDED = ("predicted_peak_mem_gib", "predicted_tokens_per_s", "predicted_fits", "support", "reason")


def predict(
    rows: Annotated[Path, typer.Argument(metavar="ROWS.csv", help="Runs, in the columns of measurements.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT.csv", help="Where to write the answer.")],
    performance: Annotated[
        str, typer.Option(help="measured, or the path of a calibration file.")
    ] = "measured",
) -> None:
    """Predict peak memory, tokens a second and whether it fits, for each row of a table of runs.

    Each row needs model, method, micro_batch, seq_len and gpu. Read where they stand: n_gpus, rank,
    grad_ckpt (y or n), grad_accum, zero_or_fsdp (such as zero3, fsdp, tp4 pp2), optimizer, flash_attn,
    interconnect, target_modules, mean_len, stack, fp32_master (y or n); others are carried along.

    The answer has the columns of the table and five more. `mem_kind` is honoured: traced or allocated
    bytes where the row says so, else what the card must hold. A row of which nothing can be said keeps
    empty cells and a reason.
    """
    constants = row_constants(performance)
    check_answer(out, rows)
    table = read_rows(rows)
    answers = predict_rows(table.rows, constants)
    text = io.StringIO()
    names = [*(name for name in table.columns if name not in ADDED), *ADDED]
    writer = csv.DictWriter(text, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row, answer in zip(table.rows, answers, strict=True):
        added = {
            "predicted_peak_mem_gib": _cell(answer.peak_mem_gib, 3),
            "predicted_tokens_per_s": _cell(answer.tokens_per_s, 1),
            "predicted_fits": "" if answer.fits is None else str(answer.fits).lower(),
            "support": answer.support,
            "reason": answer.reason,
        }
        writer.writerow({**row, **added})
    write_answer(out, text.getvalue())
    silent = sum(answer.peak_mem_gib is None for answer in answers)
    told = f"{len(answers) - silent:,} predicted, {silent:,} with a reason"
    say(f"{counted(len(answers), 'row')}: {told}; written to {out}")


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
