"""What `fleetsim breakeven` says to people: tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from sim.billing.finance.analysis import Analysis, Pair, WayResult
from sim.billing.finance.breakeven import TermBreakEven
from sim.billing.finance.ski_rental import SkiRental
from sim.billing.rounding import as_decimal
from sim.cli.breakeven_ends import Asked
from sim.cli.console import bullets, heading, print_table, say
from sim.cli.finance_text import cents, percent
from sim.experiments.wording import DASH, share
from sim.workload.wording import counted

__all__ = ["print_analysis"]

HIGHEST = 10
"""Rate of return that is written out at most, as a share: 1,000 %."""

_CELL, _COLUMNS = 12, 64
"""Signs of an amount, and of all names at the heads of columns."""


def print_analysis(analysis: Analysis, asked: Asked, currency: str, notes: list[str]) -> None:
    """Plans, break-even, curve, downside, cash by month, assumptions."""
    rate = percent(analysis.rate)
    heading(f"Over {counted(analysis.months, 'month')}")
    short = labels(analysis)
    print_table(
        ("Way", f"A period\n{currency}", f"Paid in all\n{currency}", f"Worth today\nat {rate}, {currency}",
         f"A card-hour\nrented, {currency}"),
        [
            (_marked(way, short), _period(way), cents(way.cost), cents(way.value),
             DASH if way.effective_hour is None else f"{way.effective_hour:,.4f}")
            for way in analysis.ways
        ],
    )  # fmt: skip
    heading("Break-even")
    for pair in analysis.pairs:
        for sentence in _sentences(_called(pair, short), analysis, asked, currency):
            say(f"- {sentence}")
    for use in analysis.uses:
        end = "." if use.share <= 1 else ": more than a month has, so never."
        say(
            f"- {short[use.prepaid]} is cheaper than {short[use.hourly]} above {_number(use.hours, 2)} h a "
            f"month of each unit ({share(float(use.share))} of 730 h){end}"
        )
    _curve(analysis, currency)
    _downside(analysis, asked, currency)
    _cash(analysis, currency)
    bullets("Assumptions", notes)


def _called(pair: Pair, short: Mapping[str, str]) -> Pair:
    """The pair with the names that the columns have."""
    term = pair.term
    if term is not None:
        term = replace(term, longer=short[term.longer], shorter=short[term.shorter])
    return replace(pair, first=short[pair.first], other=short[pair.other], term=term)


def _sentences(pair: Pair, analysis: Analysis, asked: Asked, currency: str) -> Iterator[str]:
    if pair.term is not None:
        term = pair.term
        yield (
            f"{term.longer} against {term.shorter}, closed form, no refund: equal when kept "
            f"{_number(term.months, 3)} months = {share(float(term.share))} of the period = "
            f"{_number(term.hours, 1)} h{'' if term.pays else ': it never pays within one period'}."
        )
        if analysis.rate:
            later = term.discounted_months
            yield (
                f"With payments discounted at {percent(analysis.rate)}: "
                + (f"{later:,.3f} months." if later is not None else "never.")
            )
    if pair.ski is not None and pair.term is not None:
        yield _ski(pair.ski, pair.term, currency)
    billed = f"As billed, {pair.other}"
    if pair.cheaper_from is not None:
        yield f"{billed} costs less than {pair.first} if it ends in month {_from(pair, analysis)}."
    elif pair.cheaper_months:
        yield f"{billed} costs less than {pair.first} only in months {_list(pair.cheaper_months)}."
    else:
        yield f"{billed} never costs less than {pair.first} within {counted(analysis.months, 'month')}."
    yield f"Over {counted(analysis.months, 'month')} {_saving(pair, analysis, currency)}."
    if not pair.irr.one_sided:
        yield f"Paying as {pair.other} asks instead of as {pair.first}: {_irr(pair)}."
    single = pair.even if asked.hazard is None else {}  # each is of an end in this month alone
    for month, chance in single.items():
        if chance is not None and 0 < chance < 1:
            yield (
                f"If it may end in month {month}: equal expected cost at a probability of "
                f"{share(float(chance))} of that."
            )


def _ski(rule: SkiRental, term: TermBreakEven, currency: str) -> str:
    """The ski-rental rule in a sentence; its unit is the period of the shorter plan."""
    periods = counted(rule.rented_months, "period")
    cost, best = cents(as_decimal(rule.worst_cost)), cents(as_decimal(rule.best_cost))
    worst, bound = f"{float(rule.worst):,.4f}", f"{float(rule.bound):g}"
    return (
        f"If nobody knows how long it lasts, and nothing is refunded: pay {periods} of {term.shorter}, then "
        f"take {term.longer}. At worst that costs {worst} times the best in hindsight ({cost} instead of "
        f"{best} {currency}); no fixed rule guarantees less than {bound} at all prices, one that draws its "
        f"month {rule.randomised_bound:.3f} on average."
    )


def _saving(pair: Pair, analysis: Analysis, currency: str) -> str:
    amount = f"{cents(abs(pair.saving))} {currency}"
    worth = f"present value of the saving at {percent(analysis.rate)}: {cents(pair.value_saving)} {currency}"
    if pair.saving == 0 == pair.value_saving:
        return f"{pair.other} costs the same as {pair.first}"
    if pair.saving >= 0:
        return f"{pair.other} saves {amount} against {pair.first}; {worth}"
    return f"{pair.other} costs {amount} more than {pair.first}; {worth}"


def _from(pair: Pair, analysis: Analysis) -> str:
    assert pair.cheaper_from is not None  # noqa: S101 - asked for where there is one
    other = [month for month in pair.cheaper_months if month < pair.cheaper_from]
    last = analysis.months
    text = f"{pair.cheaper_from} to {last}" if pair.cheaper_from < last else f"{last}"
    return f"{text}, and in {_list(tuple(other))}" if other else text


def _list(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _irr(pair: Pair) -> str:
    found = pair.irr
    if found.rate is None or found.monthly is None:
        rates = ", ".join(_rate(rate, 1) for rate in found.yearly)
        return f"no single rate of return ({found.reason}{': ' + rates if rates else ''})"
    yearly, monthly = f"{_rate(found.rate, 1)} a year", f"{_rate(found.monthly, 3)} a month"
    what = "an internal rate of return of" if pair.pays_earlier else "it pays later, as with a loan at"
    return f"{what} {yearly} ({monthly})"


def _rate(rate: float, places: int) -> str:
    """`66.6 %`; how much a rate is past `HIGHEST` tells nobody anything, and JSON has it."""
    return f"{100 * rate:,.{places}f} %" if rate <= HIGHEST else f"more than {100 * HIGHEST:,} %"


def _curve(analysis: Analysis, currency: str) -> None:
    heading(f"Paid in all if everything ends after so many months, {currency}, refunds taken off")
    short, rows = labels(analysis), []
    for place in range(analysis.months):
        at = [way.outcomes[place] for way in analysis.ways]
        least = min(found.cost for found in at)
        best = [short[way.name] for way, found in zip(analysis.ways, at, strict=True) if found.cost == least]
        costs = (cents(found.cost) for found in at)
        rows.append((f"{place + 1}", f"{at[0].end:%Y-%m-%d}", *costs, " = ".join(best)))
    columns = ("Month", "Ends", *short.values(), "Least")
    print_table(columns, rows, (1, len(columns) - 1))


def _downside(analysis: Analysis, asked: Asked, currency: str) -> None:
    found = analysis.downside
    if found is None:
        return
    heading(f"If it ends early: cost and, in brackets, regret (what it is above the best), {currency}")
    if asked.hazard is not None:
        mean, most = _number(asked.mean_months, 2), counted(analysis.months, "month")
        say(
            f"It ends in every month that it reaches with a probability of {share(float(asked.hazard))}, "
            f"so it lasts {mean} months on average, {most} at most."
        )
    rows: list[tuple[str, ...]] = [
        (
            f"month {row.months}",
            share(float(row.probability)),
            *(f"{cents(row.costs[name])}\n[{cents(row.regrets[name])}]" for name in row.costs),
        )
        for row in found.rows
    ]
    risks = found.risks.values()
    rows += [
        ("expected cost", "", *(cents(risk.expected_cost) for risk in risks)),
        ("expected regret", "", *(cents(risk.expected_regret) for risk in risks)),
        ("largest regret", "", *(cents(risk.largest_regret) for risk in risks)),
        ("was wrong", "", *(share(float(risk.wrong)) for risk in risks)),
    ]
    short = labels(analysis)
    print_table(("Ends", "Probability", *(short[name] for name in found.risks)), rows)
    least, regret = short[found.cheapest], short[found.least_regret]
    say(f"Least expected cost: {least}. Smallest largest regret: {regret}.")
    for name, hazards in asked.even(analysis).items():
        at = " and ".join(f"{100 * hazard:.2f} %" for hazard in hazards)
        pair = f"{short[analysis.ways[0].name]} and {short[name]}"
        say(f"Equal expected cost of {pair}: {f'at {at} a month' if at else 'at no probability a month'}.")


def _cash(analysis: Analysis, currency: str) -> None:
    heading(f"Cash by calendar month over the whole time, {currency}")
    by_way = [{row.month: row for row in way.table} for way in analysis.ways]
    months = sorted({month for rows in by_way for month in rows})
    rows = [
        (month, *(cents(rows[month].cash) if month in rows else "0.00" for rows in by_way))
        for month in months
    ]
    total = ("all", *(cents(way.table[-1].cash_so_far) if way.table else "0.00" for way in analysis.ways))
    print_table(("Month", *labels(analysis).values()), [*rows, total])


def labels(analysis: Analysis) -> dict[str, str]:
    """How each way is called at the head of a column: by its name, or by a letter where names are long."""
    names = [way.name for way in analysis.ways]
    if sum(max(_CELL, len(name)) for name in names) <= _COLUMNS:
        return {name: name for name in names}
    return {name: letter(place) for place, name in enumerate(names)}


def letter(place: int) -> str:
    """A to Z, then A1, B1, ..."""
    return chr(ord("A") + place % 26) + (str(place // 26) if place >= 26 else "")


def _marked(way: WayResult, short: Mapping[str, str]) -> str:
    return way.name if short[way.name] == way.name else f"{short[way.name]}: {way.name}"


def _period(way: WayResult) -> str:
    if way.plan is not None:
        length = counted(way.plan.months, "month").removeprefix("1 ")
        return f"{cents(as_decimal(way.plan.amount))} / {length}"
    return DASH if way.hour is None else f"{as_decimal(way.hour):,.4f} / h and unit"


def _number(value: Fraction, places: int) -> str:
    text = f"{float(value):,.{places}f}"
    return text.rstrip("0").rstrip(".")
