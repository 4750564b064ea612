"""When single cards were out of order while jobs could have had them, from the records of a run.

The engine keeps card-time alone; the times follow from the failures. A machine that is replaced takes
its broken cards along, so its repair mends them too. A card that a job holds is busy until the job
leaves it, and outside of a lease's windows, or kept back, it is not down but away or reserved.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from sim.model.failures import KINDS
from sim.model.records import FailureRecord, LeaseRecord, RunLog
from sim.units import Micros

__all__ = ["Span", "Where", "down_times", "end_of", "reserved_cards", "where"]

Span: TypeAlias = tuple[Micros, Micros]
"""From and until, half-open."""

Where: TypeAlias = tuple[str, bool, int]
"""Offer, whether rented in a burst, ordinal of the machine: what a machine is known by."""


def where(record: LeaseRecord) -> Where:
    """The machine of a record."""
    return record.offer, record.lease < 0, record.machine


def end_of(record: LeaseRecord, horizon_us: Micros) -> Micros:
    """When a record ends: its own end, or the horizon."""
    return horizon_us if record.end_us is None else min(record.end_us, horizon_us)


def reserved_cards(record: LeaseRecord, horizon_us: Micros) -> int:
    """Cards of the machine that are kept out of training."""
    length = end_of(record, horizon_us) - record.start_us
    return record.reserved_card_us // length if length > 0 else 0


def down_times(log: RunLog) -> dict[int, list[Span]]:
    """Position of a record in `log.leases` -> stretches of single cards down, in no order of cards.

    The lengths of a record's stretches sum to its `down_card_us`.
    """
    hits: dict[Where, list[FailureRecord]] = defaultdict(list)
    for failure in log.failures:
        hits[failure.offer, failure.burst, failure.machine].append(failure)
    if not hits:
        return {}
    rented: dict[Where, list[int]] = defaultdict(list)
    for position, record in enumerate(log.leases):
        if where(record) in hits:
            rented[where(record)].append(position)
    held = _held(log, hits, {place: log.leases[found[0]].gpus for place, found in rented.items()})
    down: dict[int, list[Span]] = defaultdict(list)
    for place, failures in hits.items():
        positions = sorted(rented[place], key=lambda position: log.leases[position].start_us)
        records = [log.leases[position] for position in positions]
        starts = [record.start_us for record in records]
        for card, outages in _outages(failures, records, starts, log.horizon_us).items():
            busy = held[place].get(card, [])
            for start, end in _merged(outages):
                number = max(0, bisect_left(starts, start) - 1)
                record = records[number]
                if card % record.gpus >= record.gpus - reserved_cards(record, log.horizon_us):
                    continue
                taken = sorted([*busy, *record.absences])
                down[positions[number]] += _without((start, end), taken)
    return down


def _held(
    log: RunLog, wanted: Mapping[Where, object], sizes: Mapping[Where, int]
) -> dict[Where, dict[int, list[Span]]]:
    """When jobs hold the cards of the machines that fail, by ordinal of the card."""
    held: dict[Where, dict[int, list[Span]]] = {place: defaultdict(list) for place in wanted}
    size_of = {(offer, burst): size for (offer, burst, _), size in sizes.items()}
    for stay in log.attempts:
        size = size_of.get((stay.offer, stay.burst))
        if size is None or stay.end_us <= stay.start_us:
            continue
        for card in stay.cards:
            place = stay.offer, stay.burst, card // size
            if place in held:
                held[place][card].append((stay.start_us, stay.end_us))
    return held


def _outages(
    failures: Sequence[FailureRecord],
    records: Sequence[LeaseRecord],
    starts: Sequence[Micros],
    horizon_us: Micros,
) -> dict[int, list[Span]]:
    """The outages of each card of one machine as they happened; each ends with its lease at the latest."""
    size = records[0].gpus
    first = records[0].machine * size
    found: dict[int, list[Span]] = {card: [] for card in range(first, first + size)}
    own: dict[int, int] = {}
    """Place of the newest failure of each card alone."""
    for failure in failures:
        record = records[max(0, bisect_left(starts, failure.at_us) - 1)]
        back_us = min(failure.back_us, end_of(record, horizon_us))
        if failure.card is not None:
            own[failure.card] = len(found[failure.card])
            found[failure.card].append((failure.at_us, back_us))
            continue
        # A card's failure that brings the whole machine down is one that a reset could not mend.
        moves = KINDS[failure.kind].moves or KINDS[failure.kind].hits == "card"
        for card, spans in found.items():
            if moves and card in own:
                start, end = spans[own[card]]
                spans[own[card]] = start, min(end, back_us)
            spans.append((failure.at_us, back_us))
    return found


def _merged(spans: Sequence[Span]) -> Iterator[Span]:
    """Outages that overlap are one."""
    current: Span | None = None
    for start, end in spans:
        if current is not None and start < current[1]:
            current = current[0], max(current[1], end)
            continue
        if current is not None:
            yield current
        current = start, end
    if current is not None:
        yield current


def _without(span: Span, taken: Sequence[Span]) -> list[Span]:
    """What is left of a span without the spans taken, which are in order."""
    left: list[Span] = []
    at_us, end_us = span
    for start, end in taken:
        if end <= at_us:
            continue
        if start >= end_us:
            break
        if start > at_us:
            left.append((at_us, start))
        at_us = max(at_us, end)
    if at_us < end_us:
        left.append((at_us, end_us))
    return left
