"""Which charges of the ledger a line of a real invoice pays for.

Matching goes from what identifies most to what identifies least: the number of the charge; lease and
first day; lease and month; offer and first day; offer and month; day or month alone; item alone. A rule
never takes what an earlier one has matched. Where several lines and several charges have the same key,
equal amounts are paired first; then sums are compared, for an invoice may split a lease by card, and a
ledger by machine.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sim.experiments.invoice_cells import folded
from sim.experiments.invoice_file import BilledLine
from sim.model.contract import Offer
from sim.model.ledger import Charge

__all__ = ["Match", "Matched", "Resolver", "match"]

RENT = ("purchase", "usage")
"""Categories that an invoice does not tell apart."""

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """Lines of the invoice and charges of the ledger that are the same thing."""

    lines: tuple[BilledLine, ...]
    charges: tuple[Charge, ...]
    by: str
    """What they were matched by."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The whole invoice against the whole ledger."""

    matches: tuple[Match, ...]
    extra: tuple[BilledLine, ...]
    """On the invoice alone."""
    missing: tuple[Charge, ...]
    """In the ledger alone."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """What a line names: leases and offers of the ledger; empty where it names none."""

    leases: frozenset[str] = frozenset()
    offers: frozenset[str] = frozenset()


class Resolver:
    """Finds leases and offers in the words of an invoice."""

    def __init__(
        self, charges: Sequence[Charge], offers: Mapping[str, Offer], items: Mapping[str, str]
    ) -> None:
        leases = dict.fromkeys(charge.lease for charge in charges)
        used = dict.fromkeys(charge.offer for charge in charges)
        names = {name: {name} | ({offers[name].name} if name in offers else set()) for name in used}
        self._leases = [(folded(name), name) for name in leases]
        # The longest first, so that an offer is not taken for another whose name it begins with.
        words = [(folded(word), name) for name, texts in names.items() for word in texts]
        self._offers = sorted(words, key=lambda pair: -len(pair[0]))
        self._given = [(folded(text), target) for text, target in items.items()]
        self._known = frozenset((*leases, *used))

    def item(self, line: BilledLine) -> Item:
        """Leases and offers that the line names."""
        text = folded(f"{line.lease} {line.offer} {line.text}")
        given = frozenset(target for words, target in self._given if words in text)
        leases = frozenset(name for words, name in self._leases if _holds(text, words))
        offers: set[str] = set()
        for words, name in self._offers:
            if _holds(text, words):
                offers.add(name)
                text = text.replace(words, " ")
        mapped = frozenset(name for name in given if name in self._known)
        return Item(
            leases | {name for name in mapped if name in {lease for _, lease in self._leases}},
            frozenset(offers) | {name for name in mapped if name in {offer for _, offer in self._offers}},
        )


def _holds(text: str, words: str) -> bool:
    """Whether the words stand in the text as words of their own; Chinese may touch them."""
    return re.search(rf"(?<![a-z0-9_/-]){re.escape(words)}(?![a-z0-9_/-])", text) is not None


def match(lines: Sequence[BilledLine], charges: Sequence[Charge], resolver: Resolver) -> Matched:
    """Match every line with the charges it pays for, as far as that can be seen."""
    notes: list[str] = []
    by_provider = _providers(lines, charges, notes)
    items = {id(line): resolver.item(line) for line in lines}
    matches: list[Match] = []
    used: set[int] = set()
    for rule in RULES:
        groups: dict[Key, tuple[list[BilledLine], list[Charge]]] = {}
        for line in lines:
            if id(line) in used or by_provider[id(line)] == _STRANGER:
                continue
            for key in rule.of_line(line, items[id(line)]):
                groups.setdefault((by_provider[id(line)], *key), ([], []))[0].append(line)
        for charge in charges:
            if id(charge) in used:
                continue
            for provider in (charge.provider, None):
                for key in rule.of_charge(charge):
                    if (provider, *key) in groups:
                        groups[provider, *key][1].append(charge)
        for here, there in groups.values():
            free = [one for one in here if id(one) not in used], [one for one in there if id(one) not in used]
            for pair in _pairs(*free, in_order=rule.in_order):
                matches.append(Match(*pair, rule.name))
                used.update(id(one) for side in pair for one in side)
    matches.sort(key=lambda found: found.lines[0].row)
    return Matched(
        tuple(matches),
        tuple(line for line in lines if id(line) not in used),
        tuple(charge for charge in charges if id(charge) not in used),
        tuple(notes),
    )


_STRANGER = ""
"""In place of a provider that the ledger does not have, while it has others of the invoice."""


def _providers(
    lines: Sequence[BilledLine], charges: Sequence[Charge], notes: list[str]
) -> dict[int, str | None]:
    """Line -> provider of the ledger; None: any, where the invoice names none that the ledger knows."""
    known = {folded(charge.provider): charge.provider for charge in charges}
    named = {folded(line.provider) for line in lines if line.provider}
    strange = sorted(
        {line.provider for line in lines if line.provider and folded(line.provider) not in known}
    )
    if strange and not named & known.keys():
        ours = ", ".join(known.values())
        notes.append(
            f"Providers are not compared: the invoice is of {', '.join(strange)}, the ledger of {ours}."
        )
        return dict.fromkeys(map(id, lines))
    return {
        id(line): known.get(folded(line.provider), _STRANGER) if line.provider else None for line in lines
    }


def _pairs(
    lines: list[BilledLine], charges: list[Charge], in_order: bool
) -> Iterator[tuple[tuple[BilledLine, ...], tuple[Charge, ...]]]:
    """Lines and charges of one key, paired as closely as their amounts allow."""
    if not lines or not charges:
        return
    billed = sum((charge.billed_cost for charge in charges), Decimal(0))
    if len(lines) != len(charges) and sum((line.amount for line in lines), Decimal(0)) == billed:
        yield tuple(lines), tuple(charges)
        return
    equal: dict[Decimal, deque[Charge]] = {}
    for charge in charges:
        equal.setdefault(charge.billed_cost, deque()).append(charge)
    paired: set[int] = set()
    for line in lines:
        if equal.get(line.amount):
            same = equal[line.amount].popleft()
            paired |= {id(line), id(same)}
            yield (line,), (same,)
    lines = [line for line in lines if id(line) not in paired]
    charges = [charge for charge in charges if id(charge) not in paired]
    if not lines or not charges:
        return
    if len(lines) == len(charges) or in_order:
        if not in_order:
            lines.sort(key=lambda line: line.amount)
            charges.sort(key=lambda charge: charge.billed_cost)
        for line, charge in zip(lines, charges, strict=False):
            yield (line,), (charge,)
        return
    yield tuple(lines), tuple(charges)


# -- The rules ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say that a line and a charge are the same thing."""

    name: str
    of_line: Callable[[BilledLine, Item], Iterable[Key]]
    of_charge: Callable[[Charge], Iterable[Key]]
    in_order: bool = False
    """Whether what is left of a key is paired in the order of time rather than summed."""


def _group(charge: Charge) -> str:
    return "" if charge.category in RENT else charge.category


def _start(charge: Charge) -> object:
    return charge.period_start.date()


def _month(charge: Charge) -> str:
    return f"{charge.period_start:%Y-%m}"


def _paid(charge: Charge) -> str:
    return f"{charge.cash_date:%Y-%m}"


def _by(
    name: str,
    item: Callable[[Item], Iterable[str]],
    of_item: Callable[[Charge], str],
    time: Callable[[BilledLine], object],
    of_time: Callable[[Charge], object],
) -> Rule:
    """A rule by category, item and time."""

    def of_line(line: BilledLine, found: Item) -> Iterator[Key]:
        at = time(line)
        if at is not None:
            yield from ((name, line.category, one, at) for one in item(found))

    return Rule(name, of_line, lambda charge: [(name, _group(charge), of_item(charge), of_time(charge))])


def _leases(item: Item) -> Iterable[str]:
    return sorted(item.leases)


def _offers(item: Item) -> Iterable[str]:
    return sorted(item.offers)


def _any(item: Item) -> Iterable[str]:
    """For lines that name nothing of the ledger."""
    return [] if item.leases or item.offers else [""]


def _first_day(line: BilledLine) -> object:
    return None if line.span is None or line.span.whole_month else line.span.start


def _of_month(line: BilledLine) -> object:
    return None if line.span is None else line.span.month


def _no_time(line: BilledLine) -> object:
    return "" if line.span is None else None


def _nothing(_: Charge) -> str:
    return ""


RULES: Sequence[Rule] = (
    Rule(
        "number of the charge",
        lambda line, _: [] if line.charge is None else [("charge", line.charge, line.category)],
        lambda charge: [("charge", charge.id, _group(charge))],
    ),
    _by("lease and first day", _leases, lambda charge: charge.lease, _first_day, _start),
    _by("lease and month", _leases, lambda charge: charge.lease, _of_month, _month),
    _by("lease and month of payment", _leases, lambda charge: charge.lease, _of_month, _paid),
    _by("offer and first day", _offers, lambda charge: charge.offer, _first_day, _start),
    _by("offer and month", _offers, lambda charge: charge.offer, _of_month, _month),
    _by("offer and month of payment", _offers, lambda charge: charge.offer, _of_month, _paid),
    _by("first day", _any, _nothing, _first_day, _start),
    _by("month", _any, _nothing, _of_month, _month),
    _by("month of payment", _any, _nothing, _of_month, _paid),
    Rule(
        "lease",
        lambda line, item: [("lease", line.category, one) for one in _leases(item) if line.span is None],
        lambda charge: [("lease", _group(charge), charge.lease)],
        in_order=True,
    ),
    Rule(
        "offer",
        lambda line, item: [("offer", line.category, one) for one in _offers(item) if line.span is None],
        lambda charge: [("offer", _group(charge), charge.offer)],
        in_order=True,
    ),
    Rule(
        "amount",
        lambda line, item: [("amount", line.category, line.amount) for _ in _any(item) if line.span is None],
        lambda charge: [("amount", _group(charge), charge.billed_cost)],
        in_order=True,
    ),
)
"""From what identifies most to what identifies least."""
