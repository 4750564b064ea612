"""The headline tables of the articles, computed: prices, thresholds, teams; those of cards stand in
`headline_cards`.

The articles announce comparison tables in S0 2.1 and 2.2, S1 2.1, S2 3.1 and 3.2 and print none; these
stand in their place. Money is billed by the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sim.claims.bench import Bench
from sim.claims.computations_finance import FINANCE
from sim.claims.money import MONTH_HOURS, Rent, rent_a_month
from sim.claims.working import Working, shown

__all__ = ["Headline", "price_ladder", "span", "teams", "thresholds"]

_SELLER = "idc10000"


@dataclass(frozen=True, slots=True)
class Headline:
    """One table; cells are texts with their units in the heads."""

    title: str
    replaces: str
    """Where the articles have it, or should."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def price_ladder(bench: Bench) -> Headline:
    """Everything the seller offers by the month, cheapest first."""
    rows = []
    offers = [one for one in bench.catalog.offers.values() if one.provider == _SELLER]
    by_price = sorted(offers, key=lambda one: rent_a_month(bench, Rent(offer=one.id)).low)
    for offer in by_price:
        month = rent_a_month(bench, Rent(offer=offer.id))
        cells = [offer.id, f"{offer.gpus_per_unit} x {offer.gpu}", span(month.low, month.high)]
        hours = (month.low / MONTH_HOURS, month.high / MONTH_HOURS)
        cells.append(span(*hours, digits=2))
        for plan, months in (("quarterly", 3), ("annual", 12)):
            if plan not in offer.plans:
                cells.append("not sold")
                continue
            part = rent_a_month(bench, Rent(offer=offer.id, plan=plan))
            cells.append(span(part.low * months, part.high * months))
            if plan == "annual":
                cells.append(span((month.low - part.low) * 12, (month.high - part.high) * 12))
        rows.append(tuple(cells) if len(cells) == 7 else (*cells, "not sold"))
    return Headline(
        "The price ladder",
        "S2 4 no. 4 (announced as a table), S1 6",
        ("Offer", "A unit", "CNY a month", f"CNY an hour ({MONTH_HOURS} h)", "CNY a quarter",
         "CNY a year, annual", "Saved in a year, CNY"),
        tuple(rows),
        ("Catalogue prices, billed by the ledger; ranges are the ends of published ranges.",
         "The H100 by the hour is counted as rented all the hours of the month."),
    )  # fmt: skip


def thresholds(bench: Bench) -> Headline:
    """Break-evens in months and in hours a month."""
    rows = [
        (
            f"{offer}: {longer} before {shorter}",
            _of(FINANCE["months_to_break_even"]({"offers": [offer], "plan": longer, "than": shorter}, bench)),
        )
        for offer, longer, shorter in (
            ("a100-40g-custom", "quarterly", "monthly"),
            ("a100-40g-custom", "annual", "monthly"),
            ("a100-40g-custom", "annual", "quarterly"),
            ("a100-40g-8x", "annual", "monthly"),
        )
    ]
    for hourly, offer, plan in (
        ("h100-mig", "a100-40g-custom", "monthly"),
        ("h100-mig", "a100-40g-custom", "annual"),
        ("h100-mig", "a100-40g-cloud", "monthly"),
        ("a100-public-hourly", "a100-40g-custom", "monthly"),
    ):
        inputs = {"prepaid": {"offer": offer, "plan": plan}, "hourly": hourly}
        rows.append((f"{offer}, {plan}, before {hourly}", _of(FINANCE["hours_to_break_even"](inputs, bench))))
    return Headline(
        "When the longer contract is the cheaper one",
        "S0 6 question 8, S2 6 questions 5 and 8 (6, 8, 4 months; 100, 120, 150 h)",
        ("Contract", "From"),
        tuple(rows),
        ("No refund; an hour of one card counts as an hour of the other.",),
    )


def teams(bench: Bench) -> Headline:
    """The three teams of article 002, and what their choice costs."""
    rows = []
    for who, rent, days in (
        ("one developer, 8,000 samples, 7B", Rent(offer="rtx3090-24g-cloud"), 7),
        ("software company, 50,000 samples a week, 14B", Rent(offer="a100-40g-custom"), 365),
        ("model maker, 2 million samples, 34B", Rent(offer="a100-40g-8x"), 5),
    ):
        month = rent_a_month(bench, rent)
        year = rent_a_month(bench, rent.model_copy(update={"plan": "annual"}))
        used = min(1.0, days / 30)
        rows.append(
            (
                who,
                rent.offer,
                span(month.low, month.high),
                span(month.low * 12, month.high * 12),
                span(year.low * 12, year.high * 12),
                f"{used:.0%}",
            )
        )
    return Headline(
        "Three teams",
        "S2 3.3 (less than a coffee a month; at most 34,000 CNY a year; five days of a machine)",
        ("Team", "Rents", "CNY a month", "CNY a year, monthly", "CNY a year, annual", "Of the month used"),
        tuple(rows),
        ("The shortest contract is a month: days in proportion are not sold.",),
    )


def span(low: Fraction | float, high: Fraction | float, digits: int = 0) -> str:
    """One number, or a range."""
    one, two = f"{float(low):,.{digits}f}", f"{float(high):,.{digits}f}"
    return one if one == two else f"{one} to {two}"


def _of(working: Working) -> str:
    low, high = working.low or 0.0, working.high or 0.0
    if round(low, 9) == round(high, 9):
        return shown(low, working.unit)
    return f"{shown(low)} to {shown(high, working.unit)}"
