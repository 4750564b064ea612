"""What `fleetsim tco` says: tables for people, one document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sim.billing.owning import (
    Figure,
    Owning,
    OwningCost,
    YearRow,
    books,
    capital_for,
    own,
    payback_months,
)
from sim.billing.owning_presets import Statement, statements
from sim.cli.console import bullets, heading, print_table, say
from sim.cli.tco_inputs import Beside, Rent
from sim.experiments.wording import DASH, share

__all__ = ["as_json", "print_tco"]

UNITS: Mapping[str, str] = {
    "capital": "{}",
    "capital_tax": "of the net price",
    "life_years": "years",
    "residual": "of capital",
    "rate": "a year",
    "power_kw": "kW",
    "load": "of full draw",
    "pue": "site / machines",
    "power_price": "{} / kWh",
    "hosting": "{} a year",
    "staff": "{} a year",
    "spares": "of capital a year",
    "network": "{} a year",
    "downtime": "of all time",
    "utilisation": "of time in order",
}
"""Input -> unit; {} is the currency."""

STEP = Decimal("0.2")
"""Part by which each input is changed, one at a time."""


def print_tco(beside: Beside, preset: str, cost: OwningCost, downtime: Decimal) -> None:
    """Inputs, a year in parts, the books, renting beside, what matters, the articles' statements."""
    inputs, rents = beside.inputs, beside.rents
    unit = inputs.currency
    say(f"{inputs.name}: {inputs.cards} cards", style="bold")
    heading("Inputs")
    print_table(
        ("Input", "Value", "Unit", "Source"),
        [
            (key, f"{figure.value:,f}", UNITS[key].format(unit), figure.source or "assumed")
            for key, figure in _figures(inputs)
        ],
        (0, 2, 3),
    )
    heading("A year of owning")
    rows = [(name, _money(part), share(float(part / cost.total))) for name, part in cost.parts.items()]
    print_table(("Part", f"{unit} a year", "Share"), [*rows, ("all", _money(cost.total), share(1.0))])
    say(
        f"With straight-line depreciation ({_money(cost.depreciation)} {unit} a year) in the place of "
        f"capital recovery: {_money(cost.book_total)} {unit} a year. Useful card-hours: "
        f"{cost.useful_hours:,.0f} a year."
    )
    heading(f"In the books, {unit}")
    print_table(
        ("Year", "Opening", "Depreciation", "Closing", "Running costs"),
        [
            (f"{row.year}", *map(_money, (row.opening, row.depreciation, row.closing, row.running)))
            for row in books(inputs)
        ],
    )
    _rents(inputs, cost, rents)
    _sensitivity(inputs, cost)
    articles = _statements(preset, inputs, cost)
    if articles:
        heading("What article 002 says of it")
        for said in articles:
            say(f'- "{said.says}": {said.recomputed}. Verdict: {said.verdict}. ({said.source})')
    bullets("Assumptions", _notes(downtime, beside))


def _rents(inputs: Owning, cost: OwningCost, rents: Sequence[Rent]) -> None:
    unit = inputs.currency
    heading("Beside renting")
    rows = [("owning", f"{inputs.cards}", _money(cost.total), f"{cost.useful_hour:,.4f}", DASH, DASH, DASH)]
    for rent in rents:
        found = _beside(inputs, cost, rent)
        price, months = found["capital_at_par"], found["payback_months"]
        rows.append(
            (
                rent.name,
                f"{rent.cards}",
                _money(rent.year),
                f"{rent.useful_hour:,.4f}",
                f"{100 * found['owning_over_rent']:+.1f} %",
                DASH if price is None else f"{price:,.0f}",
                DASH if months is None else _paid_back(months, inputs),
            )
        )
    print_table(
        ("Way", "Cards", f"{unit}\na year", f"{unit} a useful\ncard-hour", "Owning,\na useful hour",
         f"Equal at a\nprice of, {unit}", "Paid back\nafter, months"),
        rows,
    )  # fmt: skip
    hourly = [rent for rent in rents if rent.hour is not None]
    for rent in hourly:
        use = _use_at_par(inputs, cost, rent)
        text = share(float(use)) if use <= 1 else f"more than all the time ({share(float(use))})"
        say(f"Owning is cheaper than {rent.name} above a utilisation of {text}.")


def _sensitivity(inputs: Owning, cost: OwningCost) -> None:
    heading(f"What matters: {inputs.currency} per useful card-hour, one input changed by 20 % at a time")
    rows = [
        (key, f"{low:,.4f}", f"{high:,.4f}", f"{abs(high - low):,.4f}") for key, low, high in _swings(inputs)
    ]
    say(f"As given: {cost.useful_hour:,.4f}")
    print_table(("Input", "20 % less", "20 % more", "Swing"), rows)


def _swings(inputs: Owning) -> list[tuple[str, Decimal, Decimal]]:
    """Input, cost with less of it, cost with more of it; the largest difference first. An input that has
    no room to one side keeps its value there."""
    found = []
    for key, figure in _figures(inputs):
        if figure.value == 0:
            continue
        low, high = (
            own(_changed(inputs, key, figure.value * (1 + step))).useful_hour for step in (-STEP, STEP)
        )
        found.append((key, low, high))
    return sorted(found, key=lambda row: -abs(row[2] - row[1]))


_LIMITS: Mapping[str, tuple[Decimal, Decimal]] = {
    key: (Decimal(0), Decimal(1)) for key in ("residual", "load", "spares", "utilisation")
} | {"pue": (Decimal(1), Decimal(5)), "downtime": (Decimal(0), Decimal("0.999999"))}


def _changed(inputs: Owning, key: str, value: Decimal) -> Owning:
    low, high = _LIMITS.get(key, (Decimal(0), Decimal(10) ** 12))
    return inputs.model_copy(update={key: Figure(value=min(max(value, low), high))})


def _figures(inputs: Owning) -> Iterator[tuple[str, Figure]]:
    for key in UNITS:
        yield key, getattr(inputs, key)


def _paid_back(months: float, inputs: Owning) -> str:
    """Months, or that the machine does not live so long."""
    return f"{months:,.1f}" if months <= 12 * float(inputs.life_years.value) else "not within\nits life"


def _beside(inputs: Owning, cost: OwningCost, rent: Rent) -> dict[str, Any]:
    """How owning stands to a rent; the price at par and the payback compare whole years."""
    price, months = capital_for(inputs, rent.year), payback_months(inputs, rent.year)
    return {
        "owning_over_rent": float(cost.useful_hour / rent.useful_hour - 1),
        "capital_at_par": None if price is None else float(price),
        "payback_months": None if months is None else float(months),
        "utilisation_at_par": None if rent.hour is None else float(_use_at_par(inputs, cost, rent)),
    }


def _use_at_par(inputs: Owning, cost: OwningCost, rent: Rent) -> Decimal:
    """Utilisation at which a useful hour of owning costs the price by the hour."""
    hour = rent.hour or Decimal(1)
    return cost.useful_hour * inputs.utilisation.value / hour


def _statements(preset: str, inputs: Owning, cost: OwningCost) -> tuple[Statement, ...]:
    """What the article says, whose amounts are CNY."""
    return statements(cost.total) if preset == "article-002" and inputs.currency == "CNY" else ()


def _notes(downtime: Decimal, beside: Beside) -> list[str]:
    return [
        "Inputs without a source are assumed: illustrations, not market prices.",
        f"Rented cards are down {share(float(downtime))} of the time and used as much as own ones (assumed).",
        "Rent by the hour is paid for the useful hours only; other rents whatever the use.",
        "Payback compares cash, without the cost of money and without resale.",
        "Own and rented cards are taken to do the same work an hour (assumed: the inputs name no card).",
        *beside.unlike,
        *beside.turned,
    ]


def _money(amount: Decimal) -> str:
    return f"{amount:,.0f}"


def as_json(beside: Beside, preset: str, cost: OwningCost, downtime: Decimal) -> dict[str, Any]:
    """The document of `--format json`; money in `currency`, shares and rates as numbers from 0 to 1."""
    inputs, rents = beside.inputs, beside.rents
    return {
        "name": inputs.name,
        "preset": preset,
        "currency": inputs.currency,
        "cards": inputs.cards,
        "tax_creditable": inputs.tax_creditable,
        "inputs": {key: _input_json(key, figure, inputs) for key, figure in _figures(inputs)},
        "parts": {name: float(part) for name, part in cost.parts.items()},
        "total": float(cost.total),
        "depreciation": float(cost.depreciation),
        "book_total": float(cost.book_total),
        "useful_hours": float(cost.useful_hours),
        "useful_hour": float(cost.useful_hour),
        "books": [_year_json(row) for row in books(inputs)],
        "rents": [{**_rent_json(rent), **_beside(inputs, cost, rent)} for rent in rents],
        "sensitivity": [
            {"input": key, "less": float(low), "more": float(high)} for key, low, high in _swings(inputs)
        ],
        "statements": [
            {"says": one.says, "recomputed": one.recomputed, "verdict": one.verdict, "source": one.source}
            for one in _statements(preset, inputs, cost)
        ],
        "assumptions": _notes(downtime, beside),
    }


def _input_json(key: str, figure: Figure, inputs: Owning) -> dict[str, Any]:
    return {
        "value": float(figure.value),
        "unit": UNITS[key].format(inputs.currency),
        "source": figure.source or None,
        "assumed": figure.assumed,
    }


def _year_json(row: YearRow) -> dict[str, Any]:
    return {
        "year": row.year,
        "opening": float(row.opening),
        "depreciation": float(row.depreciation),
        "closing": float(row.closing),
        "running": float(row.running),
    }


def _rent_json(rent: Rent) -> dict[str, Any]:
    return {
        "name": rent.name,
        "units": rent.units,
        "cards": rent.cards,
        "year": float(rent.year),
        "hour": None if rent.hour is None else float(rent.hour),
        "useful_hours": float(rent.useful_hours),
        "useful_hour": float(rent.useful_hour),
    }
