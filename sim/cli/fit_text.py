"""The answer of `fleetsim fit` as text: what fits, what does not, and where the memory goes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sim.cli.console import heading, print_table, say
from sim.experiments.wording import DASH, money, span
from sim.model.contract import Offer
from sim.model.scenario import JobClass
from sim.physics import FitRow
from sim.report.hourly import HourlyPrice

__all__ = ["Answer", "print_answers"]


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """One offer, with the price of an hour and of a run."""

    offer: Offer
    row: FitRow
    price: HourlyPrice | None
    per_hour: float | None
    """Currency an hour for all units that the job takes."""
    cost: float | None
    """Currency a run."""


def print_answers(job: JobClass, answers: Sequence[Answer]) -> None:
    """Print what fits, cheapest run first, then what does not, then the parts of the memory."""
    say(f"{job.model}, {job.method}, rank {job.rank}", style="bold")
    length = "full" if job.mean_tokens is None else f"{job.mean_tokens:g} tokens on average"
    say(
        f"Micro batch {job.micro_batch} a card, samples of at most {job.seq_len} tokens ({length}), "
        f"{_quantity(job.samples)} samples, {_quantity(job.epochs)} epochs"
    )
    fitting = sorted((a for a in answers if a.row.fits), key=lambda a: (a.cost is None, a.cost or 0.0))
    if fitting:
        _print_fitting(fitting)
    short = [answer for answer in answers if not answer.row.fits]
    if short:
        heading("Does not fit")
        rows = [(answer.offer.id, _gib(answer.row.shortfall_gib), answer.row.reason) for answer in short]
        print_table(("Offer", "Short by\nGiB a card", "Why"), rows, text=(0, 2))
    _print_memory([*fitting, *short])


def _print_fitting(answers: Sequence[Answer]) -> None:
    heading("Fits, cheapest run first")
    columns = (
        "Offer",
        "Cards",
        "Margin\nGiB",
        "Tokens\na second",
        "Run",
        "Cost of\na run",
        "Speed is",
        "How",
    )
    print_table(columns, [_cells(answer) for answer in answers], text=(0, 6, 7))
    for working, offers in _by_working(answers).items():
        say(f"- {', '.join(offers)}: an hour is the {working}")
    say(
        "A run is training alone, without start-up. Whole units are paid, also where a job leaves cards idle."
    )


def _cells(answer: Answer) -> Sequence[object]:
    row = answer.row
    speed = DASH if row.tokens_per_s is None else f"{row.tokens_per_s:,.0f}"
    cost = money(answer.cost, answer.offer.currency)
    how = row.split + (", several machines" if row.spans else "")
    return (answer.offer.id, row.gpus, _gib(row.margin_gib), speed, span(row.hours), cost, row.support, how)


def _print_memory(answers: Sequence[Answer]) -> None:
    """Parts of the peak of one card; offers with the same parts share a row."""
    found: dict[tuple[str, ...], list[str]] = {}
    names: tuple[str, ...] = ()
    for answer in answers:
        if answer.row.parts is not None:
            parts = dataclasses.asdict(answer.row.parts)
            names = tuple(parts)
            cells = (str(answer.row.gpus), *map(_gib, parts.values()), _gib(answer.row.total_gib))
            found.setdefault(cells, []).append(answer.offer.id)
    if found:
        heading("Memory of one card by part, GiB")
        shown = tuple(PARTS.get(name, name) for name in names)
        rows = [(", ".join(offers), *cells) for cells, offers in found.items()]
        print_table(("Offers", "Cards", *shown, "Sum"), rows)


def _gib(size: float | None) -> str:
    return DASH if size is None else f"{size:.1f}"


def _quantity(value: object) -> str:
    return f"{value:,g}" if isinstance(value, int | float) else "the mean of"


def _by_working(answers: Sequence[Answer]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for answer in answers:
        if answer.price is not None:
            names = found.setdefault(answer.price.working, [])
            if answer.offer.id not in names:
                names.append(answer.offer.id)
    return found


PARTS = {
    "weights": "Base",
    "quantisation": "Quant.",
    "optimizer": "Optim.",
    "gradients": "Grad.",
    "activations": "Activ.",
    "logits": "Logits",
    "sharding": "Shards",
    "overhead": "Over-\nhead",
}
"""Short headings, so that all parts stand in one row."""
