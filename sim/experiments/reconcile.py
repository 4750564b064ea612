"""A real invoice held against the ledger, line by line, and the difference explained to the cent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sim.experiments.invoice_cells import folded
from sim.experiments.invoice_file import BilledLine, InvoiceFile
from sim.experiments.quote import charge_document, keys_in
from sim.experiments.reconcile_match import Match, Matched, Resolver, match
from sim.experiments.variance import Variance, variance
from sim.model.contract import Offer
from sim.model.ledger import Charge, Ledger

__all__ = ["CAUSES", "Reconciliation", "Settled", "reconcile"]

CAUSES = ("price", "quantity", "rounding", "unexplained", "extra", "missing")
"""Causes of a difference; with their signs they sum to it (missing charges are negative)."""
LATEST_INVOICE = timedelta(days=62)
"""After the time that it bills (assumed): two months."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Lines and charges that belong together, and how they differ."""

    match: Match
    variance: Variance


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """An invoice against a ledger."""

    invoice: InvoiceFile
    ledger: Ledger
    months: tuple[str | None, str | None]
    """First and last month of the ledger's invoices that were compared; None: no limit."""
    settled: tuple[Settled, ...]
    extra: tuple[BilledLine, ...]
    missing: tuple[Charge, ...]
    notes: tuple[str, ...]

    @property
    def totals(self) -> dict[str, Decimal]:
        """Invoice, ledger, difference and its causes; the causes sum to the difference."""
        zero = Decimal("0.00")
        sums = dict.fromkeys(CAUSES, zero)
        for one in self.settled:
            for cause in CAUSES[:4]:
                sums[cause] += getattr(one.variance, cause)
        sums["extra"] = sum((line.amount for line in self.extra), zero)
        sums["missing"] = -sum((charge.billed_cost for charge in self.missing), zero)
        invoice = sum((line.amount for line in self.invoice.lines), zero)
        ledger = sum((one.variance.ledger for one in self.settled), zero) - sums["missing"]
        return {"invoice": invoice, "ledger": ledger, "difference": invoice - ledger, **sums}

    @property
    def agrees(self) -> bool:
        """Whether nothing but rounding differs."""
        totals = self.totals
        named = any(totals[cause] for cause in ("price", "quantity", "unexplained"))
        single = any(
            one.variance.price or one.variance.quantity or one.variance.unexplained for one in self.settled
        )
        return not (named or single or self.extra or self.missing)

    def to_json(self) -> dict[str, Any]:
        """The document of `fleetsim reconcile --format json`; keys of amounts end with its currency."""
        document = {
            "invoice": self.invoice.path,
            "currency": self.ledger.currency,
            "from": self.months[0],
            "until": self.months[1],
            "agrees": self.agrees,
            "totals": {f"{name}_cny": float(value) for name, value in self.totals.items()},
            "stated_total_cny": None
            if self.invoice.stated_total is None
            else float(self.invoice.stated_total),
            "lines": [_settled(one) for one in self.settled],
            "extra": [_line(line) for line in self.extra],
            "missing": [charge_document(charge) for charge in self.missing],
            "columns": dict(self.invoice.columns),
            "notes": list(self.notes),
        }
        return keys_in(self.ledger.currency, document)


def _settled(one: Settled) -> dict[str, Any]:
    found = one.variance
    return {
        "rows": [line.row for line in one.match.lines],
        "lines": [line.line for line in one.match.lines],
        "text": "; ".join(dict.fromkeys(line.text for line in one.match.lines)),
        "charges": [charge.id for charge in one.match.charges],
        "matched_by": one.match.by,
        "invoice_cny": float(found.invoice),
        "ledger_cny": float(found.ledger),
        "difference_cny": float(found.difference),
        **{f"{cause}_cny": float(getattr(found, cause)) for cause in CAUSES[:4]},
        "notes": list(found.notes),
        "rules": [charge.rule for charge in one.match.charges],
    }


def _line(line: BilledLine) -> dict[str, Any]:
    return {
        "row": line.row,
        "line": line.line,
        "text": line.text,
        "provider": line.provider,
        "category": line.category,
        "start": None if line.span is None else line.span.start.isoformat(),
        "quantity": None if line.quantity is None else float(line.quantity),
        "unit_price_cny": None if line.unit_price is None else float(line.unit_price),
        "amount_cny": float(line.amount),
    }


def reconcile(
    invoice: InvoiceFile,
    ledger: Ledger,
    offers: Mapping[str, Offer],
    months: tuple[str | None, str | None] = (None, None),
    items: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Reconciliation:
    """Hold an invoice against the ledger's invoices of the months from and until, both included.

    `items` maps words of the invoice to leases or offers of the ledger.
    """
    charges = _in_scope(ledger, months)
    found = _matched(invoice, charges, Resolver(charges, offers, items or {}))
    settled = tuple(Settled(one, variance(one, offers)) for one in found.matches)
    done = Reconciliation(invoice, ledger, months, settled, found.extra, found.missing, ())
    said = [
        *notes,
        *invoice.notes,
        *filter(None, [invoice.unread_note]),
        *found.notes,
        *_idle(invoice, items or {}),
    ]
    said += [*_stated(invoice), *_elsewhere(done)]
    return replace(done, notes=tuple(said))


def _matched(invoice: InvoiceFile, charges: Sequence[Charge], resolver: Resolver) -> Matched:
    """Lines and charges by the days of the lines; where those may be of the invoice, and more lines find
    their charge so, without them.

    An invoice is written after the time that it bills, within `LATEST_INVOICE`; a line billed twice is not
    taken for the charge of another month by that.
    """
    dated = match(invoice.lines, charges, resolver)
    if not invoice.maybe_of_invoice or not (dated.extra or dated.missing):
        return dated
    bare = [replace(line, span=None) for line in invoice.lines]
    days = {id(line): one.span.start for line, one in zip(bare, invoice.lines, strict=True) if one.span}
    other = match(bare, charges, resolver)
    later = all(
        charge.period_end.date() - timedelta(days=1)
        <= days[id(line)]
        <= charge.period_end.date() + LATEST_INVOICE
        for one in other.matches
        for line in one.lines
        for charge in one.charges
        if id(line) in days
    )
    if not later or _alone(other) >= _alone(dated):
        return dated
    note = (
        f"The days of {invoice.columns['start']!r} are taken as those of the invoice, after the time that it "
        "bills: more lines find their charge so. --column start=HEADER holds on to them."
    )
    return replace(other, notes=(*other.notes, note))


def _alone(found: Matched) -> int:
    return len(found.extra) + len(found.missing)


def _in_scope(ledger: Ledger, months: tuple[str | None, str | None]) -> list[Charge]:
    month_of = {charge: invoice.month for invoice in ledger.invoices for charge in invoice.charges}
    first, last = months
    return [
        charge
        for charge in ledger.charges
        if charge.id in month_of
        and (first is None or month_of[charge.id] >= first)
        and (last is None or month_of[charge.id] <= last)
    ]


def _idle(invoice: InvoiceFile, items: Mapping[str, str]) -> list[str]:
    """Words of `--item` that stand in no line: a slip of the pen would be taken for a difference."""
    texts = [folded(f"{line.lease} {line.offer} {line.text}") for line in invoice.lines]
    idle = [words for words in items if not any(folded(words) in text for text in texts)]
    return [
        f"No line of the invoice has the words {words!r}, which --item gives a meaning." for words in idle
    ]


def _stated(invoice: InvoiceFile) -> list[str]:
    total = sum((line.amount for line in invoice.lines), Decimal(0))
    if invoice.stated_total is None or invoice.stated_total == total:
        return []
    return [f"The invoice states a total of {invoice.stated_total:,}, and its lines sum to {total:,}."]


def _elsewhere(done: Reconciliation) -> list[str]:
    """A hint where whole months of the ledger are not on the invoice."""
    if done.months != (None, None):
        return []
    here = {line.span.month for line in done.invoice.lines if line.span is not None}
    paid = {charge: invoice.month for invoice in done.ledger.invoices for charge in invoice.charges}
    there = sorted({paid[line.id] for line in done.missing} - here)
    if not here or not there:
        return []
    shown = there[0] if len(there) == 1 else f"{there[0]} to {there[-1]}"
    return [f"The invoice has no line of {shown}; compare some months alone with --from and --until."]
