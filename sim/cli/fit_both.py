"""`fleetsim fit --both`: published measurements and the articles' promises side by side."""

from __future__ import annotations

from collections.abc import Sequence

from sim.cli.console import heading, print_table, say
from sim.cli.fit_text import is_narrow, print_job
from sim.experiments.wording import DASH, money, span
from sim.model.work import JobClass
from sim.physics import FitRow
from sim.report.fit_answers import FitAnswer

__all__ = ["print_both"]


def print_both(job: JobClass, measured: Sequence[FitAnswer], vendor: Sequence[FitAnswer]) -> None:
    """One row an offer: cards, memory, hours and money by each profile, and how far the hours are apart."""
    print_job(job)
    heading("By published measurements, and by the articles")
    by_offer = {answer.offer.id: answer for answer in vendor}
    rows = [_cells(answer, by_offer[answer.offer.id]) for answer in _one_each(measured)]
    if is_narrow():
        columns: tuple[str, ...] = ("Offer", "By", "Cards", "GiB a\ncard", "Run", "Run costs", "Hours\napart")
        print_table(columns, [_stacked(row) for row in rows], text=(0, 1))
    else:
        columns = ("Offer", "Cards\nmeasured", "articles", "GiB a card\nmeasured", "articles")
        columns += ("Run\nmeasured", "articles", "Run costs\nmeasured", "articles", "Hours\napart")
        print_table(columns, rows, text=(0,))
    if any(not answer.row.fits for answer in (*measured, *vendor)):
        say("Cards none: no number of cards asked for holds the job; GiB is then what it would need.")
    say("The articles give the sellers' own figures; where they differ, plan with the measured ones.")


def _one_each(answers: Sequence[FitAnswer]) -> list[FitAnswer]:
    """The first row of each offer."""
    return list({answer.offer.id: answer for answer in reversed(answers)}.values())[::-1]


def _cells(ours: FitAnswer, theirs: FitAnswer) -> tuple[object, ...]:
    apart = DASH
    if ours.row.hours and theirs.row.hours:
        apart = f"x {ours.row.hours / theirs.row.hours:.2g}"
    currency = ours.offer.currency
    return (
        ours.offer.id,
        _cards(ours.row),
        _cards(theirs.row),
        _gib(ours.row),
        _gib(theirs.row),
        span(ours.row.hours),
        span(theirs.row.hours),
        money(ours.cost, currency),
        money(theirs.cost, currency),
        apart,
    )


def _stacked(row: tuple[object, ...]) -> tuple[object, ...]:
    """The same with the two profiles one below the other."""
    offer, *pairs, apart = row
    both = zip(pairs[::2], pairs[1::2], strict=True)
    return (offer, "measured\narticles", *(f"{ours}\n{theirs}" for ours, theirs in both), apart)


def _cards(row: FitRow) -> str:
    return f"{row.gpus}" if row.fits else "none"


def _gib(row: FitRow) -> str:
    return DASH if row.total_gib is None else f"{row.total_gib:.1f}"
