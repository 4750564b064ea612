"""`fleetsim measure`: real training steps of a job on this machine's card, written down as rows."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sim.catalog import load_catalog
from sim.catalog.reading import Document, validated
from sim.cli.console import complain, heading, print_json, print_table, say
from sim.cli.fit_options import Attention, Method, MethodOption, ModelOption, RankOption
from sim.cli.options import FormatOption, OutputFormat, check_folder, first_given, option_name
from sim.errors import InputError, Problem, RunError
from sim.measure import (
    Card,
    Case,
    Entry,
    Order,
    RowFile,
    Settings,
    check_case,
    find_card,
    missing_packages,
    read_grid,
    run_case,
)
from sim.measure import measure as measure_cases
from sim.model.hardware import LanguageModel
from sim.workload.wording import counted

__all__ = ["measure"]

Models = dict[str, LanguageModel]


class Targets(StrEnum):
    """Layers with adapters."""

    ALL_LINEAR = "all-linear"
    QV = "qv"


class Device(StrEnum):
    """Where the steps run."""

    CUDA = "cuda"
    CPU = "cpu"


CASE_OPTIONS = ("method", "rank", "targets", "micro_batch", "seq_len", "no_checkpointing", "attention")
"""Options that describe one case, which a grid describes by itself."""


def measure(
    context: typer.Context,
    model: ModelOption = None,
    method: MethodOption = Method.LORA,
    rank: RankOption = 16,
    targets: Annotated[Targets, typer.Option(help="Layers with adapters.")] = Targets.ALL_LINEAR,
    micro_batch: Annotated[int, typer.Option(help="Samples of one step.")] = 1,
    seq_len: Annotated[int, typer.Option(help="Tokens of a sample; all samples are full.")] = 2048,
    no_checkpointing: Annotated[
        bool, typer.Option("--no-checkpointing", help="Keep all activations instead of computing them again.")
    ] = False,
    attention: Annotated[
        Attention, typer.Option(help="flash: torch's fused kernels; eager: the scores are kept.")
    ] = Attention.FLASH,
    grid: Annotated[
        Path | None,
        typer.Option(metavar="FILE.yaml", help="Measure many cases instead: lists to combine, and cases."),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps that are timed, after 3 to warm up.")] = 8,
    gpu: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the card in the rows; default: torch's.")
    ] = None,
    device: Annotated[
        Device, typer.Option(help="cpu: only to try the command; such rows say nothing of a card.")
    ] = Device.CUDA,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="ROWS.csv", help="Table that the rows are appended to.")
    ] = Path("measurements.csv"),
    format_: FormatOption = OutputFormat.TEXT,
) -> None:
    """Run a few real training steps of a job on this machine's card and record memory and speed.

    The model has its published dimensions and random weights; nothing is downloaded. Cases that are in
    the table are not measured again. The first card is used; CUDA_VISIBLE_DEVICES names another.
    Needs the libraries of: pip install 'fleetsim[measure]'
    """
    models = dict(load_catalog().models)
    if grid is not None:
        _only_grid(context, model)
        cases = read_grid(grid, models)
    else:
        shape = {"rank": rank, "micro_batch": micro_batch, "seq_len": seq_len}
        kind = {"method": method.value, "targets": targets.value, "attention": attention.value}
        cases = (_case(model, {**kind, **shape, "checkpointing": not no_checkpointing}, models),)
    file = _rows(out)
    missing = missing_packages(cases)
    if missing is not None:
        raise missing
    card = find_card(device.value, gpu)
    _introduce(card, cases)
    settings = Settings(device=device.value, steps=steps)
    orders = [Order(case=case, model=models[case.model], settings=settings) for case in cases]
    entries = measure_cases(orders, card, file, run_case, _tell, lambda: datetime.now(UTC).date())
    _answer(entries, card, out, format_)


def _only_grid(context: typer.Context, model: str | None) -> None:
    """A grid says all of its cases, so that nobody has to guess which of two words counts."""
    if model is not None:
        raise InputError(Problem("give either --model or --grid, not both", key="--model", value=model))
    name = first_given(context, CASE_OPTIONS)
    if name is not None:
        rule = "the cases of a --grid are described in its file; leave this option out"
        raise InputError(Problem(rule, key=option_name(name), value=context.params[name]))


def _case(model: str | None, fields: dict[str, Any], models: Models) -> Case:
    if model is None:
        rule = "say what to measure: --model ID, or --grid FILE.yaml"
        raise InputError(Problem(rule, key="--model", known=tuple(models)))
    data = {"model": model, **fields}
    case = validated(Case, data, Document("options", data, {}))
    problems = [
        Problem(problem.rule, key=f"--{field}", value=problem.value, known=problem.known)
        for field, problem in check_case(case, models)
    ]
    if problems:
        raise InputError(problems)
    return case


def _rows(out: Path) -> RowFile:
    file = RowFile(out)
    check_folder(out.parent)
    return file


def _introduce(card: Card, cases: tuple[Case, ...]) -> None:
    complain(f"{counted(len(cases), 'case')} on {card.label}: {card.description}", label="Measuring")
    if card.is_shared:
        complain(
            f"{card.taken_gib:.1f} GiB of the card are in use already: another program takes memory and time "
            "from the measurement",
            label="Warning",
        )


def _tell(entry: Entry) -> None:
    """One line on stderr as a case begins or ends."""
    texts = {
        "start": str(entry.case),
        "known": f"in the table already, not measured again: {entry.case}",
        "done": _figures(entry),
        "oom": "out of memory",
        "skipped": f"skipped, since a smaller case was out of memory: {entry.case}",
        "failed": f"the process {entry.message}",
    }
    complain(texts[entry.what], label=f"{entry.number}/{entry.total}")


def _figures(entry: Entry) -> str:
    if entry.row is None:
        return ""
    return f"{entry.row['peak_mem_gib'] or '?'} GiB, {entry.row['tokens_per_s_total']} tokens/s"


def _answer(entries: tuple[Entry, ...], card: Card, out: Path, format_: OutputFormat) -> None:
    """Print the rows; RunError if a case ended without one, once all others are told."""
    failed = [entry for entry in entries if entry.what == "failed"]
    if format_ is OutputFormat.JSON:
        cases = [
            {
                "case": entry.case.model_dump(mode="json"),
                "result": entry.what,
                "row": entry.row,
                "message": entry.message or None,
            }
            for entry in entries
        ]
        print_json({"gpu": card.label, "file": str(out), "cases": cases})
    else:
        heading(f"Measured on {card.label}")
        columns = ("Case", "Peak, GiB", "Tokens/s", "Step, s", "")
        print_table(columns, (_line(entry) for entry in entries), text=(0, 4))
        say(f"{out} holds the rows.")
    if failed:
        msg = f"{len(failed)} of {len(entries)} cases ended without a row; the same command tries them again"
        raise RunError(msg)


def _line(entry: Entry) -> tuple[str, ...]:
    row = entry.row or {}
    remarks = {"known": "from before", "oom": "out of memory", "skipped": "skipped", "failed": "failed"}
    figures = (row.get(name, "") for name in ("peak_mem_gib", "tokens_per_s_total", "s_per_iter"))
    return (str(entry.case), *figures, remarks.get(entry.what, ""))
