"""The answer of `fleetsim fit` as text: what fits, what does not, and where the memory goes."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence

from rich.console import Console

from sim.cli.console import PIPE_WIDTH, heading, print_table, say
from sim.experiments.wording import DASH, money, span
from sim.model.work import JobClass
from sim.physics import FitRow
from sim.report.fit_answers import FitAnswer, cheapest_first, currencies

__all__ = ["is_narrow", "print_answers", "print_job"]


def print_answers(job: JobClass, answers: Sequence[FitAnswer]) -> None:
    """Print what fits, cheapest run first, what does not and what would help, and where memory goes."""
    print_job(job)
    fitting = cheapest_first(answer for answer in answers if answer.row.fits)
    if fitting:
        _print_fitting(fitting)
    short = [answer for answer in answers if not answer.row.fits]
    if short:
        heading("Does not fit")
        rows = [(answer.offer.id, _gib(answer.row.shortfall_gib), answer.row.reason) for answer in short]
        print_table(("Offer", "Short by\nGiB a card", "Why"), rows, text=(0, 2))
        _print_remedies(short)
    _print_refused(answers)
    _print_memory([*fitting, *short])


def print_job(job: JobClass) -> None:
    """Say what the job is."""
    rank = "" if job.method == "full" else f", rank {job.rank}"
    say(f"{job.model}, {job.method}{rank}", style="bold")
    length = "full" if job.mean_tokens is None else f"{job.mean_tokens:g} tokens on average"
    say(
        f"Micro batch {job.micro_batch} a card, samples of at most {job.seq_len} tokens ({length}), "
        f"{_quantity(job.samples)} samples, {_quantity(job.epochs)} epochs"
    )


def _print_remedies(short: Sequence[FitAnswer]) -> None:
    """The ladder of each kind of card that is too small; offers with one kind share it."""
    ladders: dict[str, list[FitAnswer]] = {}
    for answer in short:
        if answer.row.remedies:
            ladders.setdefault(answer.row.gpu, []).append(answer)
    for gpu, answers in ladders.items():
        offers = ", ".join(dict.fromkeys(answer.offer.id for answer in answers))
        heading(f"To make it fit on {gpu} ({offers}), least harm first; each step keeps those above it")
        rows = [
            (
                step.change,
                step.gpus,
                _gib(step.memory_gib),
                f"{step.saves_gib:+.1f}",
                f"{step.tokens_per_s:,.0f}",
                "yes" if step.fits else "no",
                step.harm,
            )
            for step in answers[0].row.remedies
        ]
        columns = ("Change", "Cards", "Then GiB\na card", "Saves\nGiB", "Tokens\na second", "Fits", "Harm")
        print_table(columns, rows, text=(0, 5, 6))


def _print_refused(answers: Sequence[FitAnswer]) -> None:
    """Other ways to divide the job over the cards of a row, plain ones first, then the fastest few."""
    rows: list[Sequence[object]] = []
    for answer in answers:
        taken = f"{answer.row.gpus} cards, {_how(answer.row)}"
        others = [way for way in answer.row.refused if not way.reason.startswith("the job asks for")]
        near = sorted(others, key=lambda way: (" x " in way.split, -(way.tokens_per_s or 0.0)))
        near = near[:_REFUSED_SHOWN]
        rows += [(answer.offer.id, taken, way.split, way.reason) for way in near]
    if rows:
        heading("Ways not taken to divide it over these cards")
        print_table(("Offer", "Taken", "Not taken", "Why"), rows, text=(0, 1, 2, 3))


_REFUSED_SHOWN = 4
"""Ways shown for each offer; the JSON answer has all."""


def _print_fitting(answers: Sequence[FitAnswer]) -> None:
    heading("Fits, cheapest run first")
    numbers = ("Offer", "Cards", "Margin\nGiB", "Tokens\na second", "Run", "Cost of\na run")
    words = ("Support", "How; what limits it")
    rows = [_cells(answer) for answer in answers]
    if is_narrow():
        print_table(numbers, [row[:6] for row in rows])
        say()
        print_table((*numbers[:2], *words), [(*row[:2], *row[6:]) for row in rows], text=(0, 2, 3))
    else:
        print_table((*numbers, *words), rows, text=(0, 6, 7))
    for working, offers in _by_working(answers).items():
        say(f"- {', '.join(offers)}: an hour is the {working}")
    for rate in dict.fromkeys(answer.exchange for answer in answers):
        if rate is not None:
            say(f"- Prices in another currency at the scenario's rate: {rate}")
    units = currencies(answer for answer in answers if answer.cost is not None)
    if len(units) > 1:
        say(
            f"Costs in {' and '.join(units)} are not compared, and stand one currency after the other: a "
            "scenario that states a rate (exchange) has all in its own."
        )
    say(
        "A run is training alone, without start-up. Whole units are paid, also where a job leaves cards idle."
    )


def is_narrow() -> bool:
    """Whether stdout is a terminal without room for the widest tables; a pipe always has it."""
    return sys.stdout.isatty() and Console(file=sys.stdout).width < PIPE_WIDTH


def _cells(answer: FitAnswer) -> tuple[object, ...]:
    row = answer.row
    speed = DASH if row.tokens_per_s is None else f"{row.tokens_per_s:,.0f}"
    cost = money(answer.cost, answer.offer.currency)
    return (
        answer.offer.id,
        row.gpus,
        _margin(row),
        speed,
        span(row.hours),
        cost,
        _support(row),
        f"{_how(row)}; {row.limited_by}",
    )


def _how(row: FitRow) -> str:
    return row.split + (", several machines" if row.spans else "")


def _margin(row: FitRow) -> str:
    """GiB left, marked where they are fewer than the predictions are good for."""
    if row.margin_gib is None or row.usable_gib is None:
        return DASH
    return f"{_gib(row.margin_gib)}{' tight' if row.tight else ''}"


def _support(row: FitRow) -> str:
    """One tag where memory and speed have the same, else both."""
    if row.memory_support == row.support:
        return row.support
    return f"memory {row.memory_support},\nspeed {row.support}"


def _print_memory(answers: Sequence[FitAnswer]) -> None:
    """Parts of the peak of one card; offers with the same parts share a column, and are named below it."""
    found: dict[tuple[str, ...], list[str]] = {}
    for answer in answers:
        if answer.row.parts is not None:
            parts = dataclasses.asdict(answer.row.parts)
            cells = (str(answer.row.gpus), *(_gib(parts[name]) for name in PARTS), _gib(answer.row.total_gib))
            found.setdefault(cells, []).append(answer.offer.id)
    if not found:
        return
    heading("Memory of one card by part, GiB")
    names = ("Cards", *PARTS.values(), "Sum")
    for first in range(0, len(found), _COLUMNS):
        shown = list(found)[first : first + _COLUMNS]
        columns = ("Part", *(f"({number})" for number in range(first + 1, first + len(shown) + 1)))
        print_table(columns, list(zip(names, *shown, strict=True)))
    for number, offers in enumerate(found.values(), 1):
        say(f"({number}) {', '.join(dict.fromkeys(offers))}")


_COLUMNS = 6
"""Columns of the table of parts that a terminal of 80 signs has room for."""


def _gib(size: float | None) -> str:
    return DASH if size is None else f"{size:.1f}"


def _quantity(value: object) -> str:
    return f"{value:,g}" if isinstance(value, int | float) else "the mean of"


def _by_working(answers: Sequence[FitAnswer]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for answer in answers:
        if answer.price is not None:
            names = found.setdefault(answer.price.working, [])
            if answer.offer.id not in names:
                names.append(answer.offer.id)
    return found


PARTS = {
    "weights": "Base weights",
    "quantisation": "32-bit rest of a quantised base",
    "adapters": "Adapters",
    "gradients": "Gradients",
    "optimizer": "Optimiser",
    "activations": "Activations kept",
    "recomputed": "Layer at work",
    "logits": "Logits",
    "gathered": "Gathered from other cards",
    "fragmentation": "Allocator and kernels",
    "context": "CUDA context and buffers",
}
"""Names of the parts."""
