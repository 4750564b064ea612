"""Measuring many cases: each in its process, each row written at once, what is known not tried again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from sim.measure.case import Case
from sim.measure.machine import Card
from sim.measure.outcome import Failed, Order, Outcome, OutOfMemory
from sim.measure.rows import RowFile, is_out_of_memory, row_of

__all__ = ["Entry", "Runner", "What", "measure"]

Runner = Callable[[Order], Outcome]
"""Measures one case; never raises for what happens to the case."""

What = Literal["start", "known", "done", "oom", "skipped", "failed"]
"""What became of a case: it begins; it had a row before; it ran; it was out of memory; it was left
out since a smaller one was; it ended in another way."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the story, for whoever watches."""

    what: What
    case: Case
    number: int
    """Place among the cases, from 1."""
    total: int
    row: dict[str, str] | None = None
    """What was written; None where nothing was."""
    message: str = ""


def measure(
    orders: Sequence[Order],
    card: Card,
    file: RowFile,
    run: Runner,
    tell: Callable[[Entry], None],
    day: Callable[[], date],
) -> tuple[Entry, ...]:
    """Measure the cases in their order and append a row of each to the file as soon as it is known.

    A case with a row of this card is not measured again, so a call that was stopped goes on where it
    was. A case that takes no less than one that was out of memory gets its row without being tried.
    A case that fails in another way gets no row. Returns the last entry of each case; raises RunError
    where a row cannot be written.
    """
    known = {case.identity: row for case, row in file.known(card.label)}
    too_large = [case for case, row in file.known(card.label) if is_out_of_memory(row)]
    entries = []
    for number, order in enumerate(orders, start=1):
        case = order.case
        entry = Entry("start", case, number, len(orders))
        if case.identity in known:
            entry = replace(entry, what="known", row=known[case.identity])
        elif any(case.needs_at_least(other) for other in too_large):
            entry = replace(
                entry, what="skipped", row=file.append(row_of(case, order.model, card, None, day()))
            )
        else:
            tell(entry)
            entry = _tried(entry, order, card, file, run, day)
        if entry.what == "oom":
            too_large.append(case)
        tell(entry)
        entries.append(entry)
    return tuple(entries)


def _tried(
    entry: Entry, order: Order, card: Card, file: RowFile, run: Runner, day: Callable[[], date]
) -> Entry:
    outcome = run(order)
    if isinstance(outcome, Failed):
        return replace(entry, what="failed", message=outcome.message)
    row = file.append(row_of(order.case, order.model, card, outcome, day()))
    return replace(entry, what="oom" if isinstance(outcome, OutOfMemory) else "done", row=row)
