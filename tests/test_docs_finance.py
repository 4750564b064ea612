"""docs/finance.md: every value in a marked table, recomputed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from sim.billing.finance.breakeven import PlanCost, step_up_month, term_break_even, use_break_even
from sim.billing.finance.budget import BudgetLine, variance
from sim.billing.finance.commitment import commit, poisson, uniform
from sim.billing.finance.downside import Ends, downside, ends_with_hazard, even_hazards, even_probability
from sim.billing.finance.indicators import break_even_utilisation as break_even_use
from sim.billing.finance.indicators import contracted_savings_rate, effective_hour, indicators
from sim.billing.finance.outcomes import Way, outcome, outcomes
from sim.billing.finance.presentvalue import annuity_due, irr
from sim.billing.finance.ski_rental import ski_rental, worst_ratio
from sim.billing.owning import Owning, own
from sim.billing.owning_presets import statements
from sim.catalog.reading import read_yaml
from sim.units import round_money
from tests.billing_cases import OFFERS, lease, scenario

PAGE = (Path(__file__).parents[1] / "docs" / "finance.md").read_text("utf-8")
EIGHT = Decimal("0.08")
START = datetime(2026, 1, 1)
Rows = list[list[str]]


def table(name: str) -> Rows:
    """Rows of the table under a mark, without its head."""
    _, _, after = PAGE.partition(f"<!-- table: {name} -->\n\n")
    lines = after.split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def way(**more: object) -> Way:
    asked = scenario([lease(**more)])
    return Way("way", asked, asked.strategies[0], OFFERS)


def money(value: Decimal) -> str:
    return f"{round_money(value):,.2f}"


def number(value: Fraction | Decimal | float) -> str:
    return f"{float(value):,.10g}"


def plan(name: str, months: int, cost: int) -> PlanCost:
    return PlanCost(name, months, Fraction(cost))


def value() -> list[str]:
    monthly, annual = outcome(way(plan="monthly"), 12), outcome(way(), 12)
    return [
        money(annuity_due(Decimal(2800), 12, 1, EIGHT)),
        money(annuity_due(Decimal(7980), 4, 3, EIGHT)),
        money(monthly.value(EIGHT, START) - annual.value(EIGHT, START)),
        money(monthly.value(EIGHT, START, "actual/365")),
    ]


def breakeven() -> list[str]:
    month = plan("monthly", 1, 2800)
    fifth = term_break_even(plan("annual", 12, 26_880), month, EIGHT)
    less = term_break_even(plan("annual", 12, 28_560), month)
    quarter = term_break_even(plan("quarterly", 3, 7980), month)
    assert fifth is not None
    assert less is not None
    assert quarter is not None
    return [
        number(fifth.months),
        f"{100 * float(fifth.share):.1f} %",
        number(fifth.hours),
        f"{fifth.discounted_months:.3f}",
        number(less.months),
        number(less.hours),
        number(quarter.months),
        number(step_up_month(Fraction(215_040), Fraction(107_520), Fraction(11_200))),
    ]


def use() -> list[str]:
    found = []
    for cost in (2800, 2500, 2240):
        hours = [
            number(use_break_even(plan("card", 1, cost), "mig", hour).hours)
            for hour in (Fraction(25), Fraction(12_000, 720))
        ]
        found.append(" to ".join(hours))
    return found


def rates() -> list[str]:
    found = []
    for cost in (26_880, 28_560):
        months = [(Fraction(k, 12), Decimal(2800)) for k in range(12)]
        rate = irr([(Fraction(0), Decimal(-cost)), *months])
        found += [f"{100 * (rate.monthly or 0):.3f} %", f"{100 * (rate.rate or 0):.1f} %"]
    return found


def early() -> list[str]:
    refund = {"refund": {"rule": "re-rate", "matched": False}}
    ways = {"monthly": way(plan="monthly"), "annual": way(), "refunds": way(terms=refund)}
    costs = {name: {one.months: one.cost for one in outcomes(way_, [3, 12])} for name, way_ in ways.items()}
    ends = Ends.early({3: Fraction(1, 2)}, 12)
    found = downside(costs, ends).risks
    two = {name: costs[name] for name in ("monthly", "annual")}
    return [
        money(found["monthly"].expected_cost),
        money(found["annual"].expected_cost),
        money(found["refunds"].expected_cost),
        money(downside(two, ends).risks["annual"].expected_regret),
    ]


def ski() -> list[str]:
    month, year = Fraction(2800), Fraction(26_880)
    found = ski_rental(month, year)
    return [
        str(found.rented_months),
        number(found.worst_cost),
        number(found.worst),
        f"{float(worst_ratio(10, month, year)):.2f}",
        number(found.bound),
        f"{found.randomised_bound:.3f}",
    ]


def varied() -> list[str]:
    budget = [BudgetLine("a", Decimal(100), Decimal(4)), BudgetLine("b", Decimal(50), Decimal(10))]
    actual = [BudgetLine("a", Decimal(50), Decimal(4)), BudgetLine("b", Decimal(100), Decimal(11))]
    found = variance(budget, actual)
    return [money(found.volume), money(found.mix), money(found.rate)]


def hazard() -> list[str]:
    ways = {"monthly": way(plan="monthly"), "annual": way()}
    costs = {name: {one.months: one.cost for one in outcomes(w, range(1, 13))} for name, w in ways.items()}
    ends = ends_with_hazard(Fraction(1, 20), 12)
    found = downside(costs, ends).risks
    (even,) = even_hazards(*(list(by_month.values()) for by_month in costs.values()))
    return [
        f"{float(sum(month * chance for month, chance in ends.chances.items())):.2f}",
        money(found["monthly"].expected_cost),
        money(found["annual"].expected_cost),
        f"{100 * even:.2f} %",
    ]


def ratios() -> list[str]:
    mix = indicators(Decimal(600), Decimal(500), Decimal(200), Decimal(150), Decimal(250), Decimal(5))
    shares = (mix.coverage, mix.utilisation, break_even_use(Decimal(3), Decimal(5)))
    return [
        money(effective_hour(Decimal(2800), Decimal("0.23") * 730) or Decimal(0)),
        money(mix.effective_hour or Decimal(0)),
        *(f"{100 * (share or 0):.1f} %" for share in shares),
        money(mix.waste),
        f"{100 * (mix.effective_savings_rate or 0):.1f} %",
        f"{100 * (contracted_savings_rate(Decimal(33_600), Decimal(26_880)) or 0):.1f} %",
    ]


TABLES: Mapping[str, Callable[[], list[str]]] = {
    "value": value,
    "breakeven": breakeven,
    "use": use,
    "irr": rates,
    "downside": early,
    "hazard": hazard,
    "ratios": ratios,
    "ski": ski,
    "variance": varied,
}


@pytest.mark.parametrize("name", TABLES)
def test_values(name: str) -> None:
    rows = table(name)
    assert rows
    assert [row[-1] for row in rows] == TABLES[name]()


def test_newsvendor() -> None:
    rows = table("newsvendor")
    assert len(rows) == 6
    for asked, k, cost in rows:
        committed, fallback, kind = asked.split(", ")
        name, *numbers = kind.split(":")
        demand = poisson(float(numbers[0])) if name == "poisson" else uniform(*map(int, numbers))
        found = commit(demand, Fraction(committed), Fraction(fallback))
        assert (str(found.newsvendor), str(found.enumerated)) == (k, k)
        assert f"{float(found.costs[found.newsvendor]):,.2f}" == cost


def test_owning() -> None:
    rows = table("owning")
    assert len(rows) == 3
    for price, *parts in rows:
        found = own(Owning.model_validate({"capital": int(price.replace(",", ""))}))
        shown = (found.parts["capital recovery"], found.parts["power"], found.total)
        assert [f"{part:,.0f}" for part in shown] == parts


def test_sentences_between_the_tables() -> None:
    full, late = Decimal(33_600), Decimal(26_880)
    chance = even_probability(full, Decimal(8400), late, late)
    assert chance is not None
    assert f"a probability of {100 * float(chance):.1f} %." in PAGE
    said = " ".join(one.recomputed for one in statements(own(Owning()).total))
    text = " ".join(PAGE.split())
    for figure in ("0.71 to 0.76", "51,246", "306,000 to 499,800"):
        assert figure in said
        assert figure in text


def test_every_marked_table_is_tested_and_the_example_is_read() -> None:
    marks = [line.split()[2] for line in PAGE.splitlines() if line.startswith("<!-- table: ")]
    assert set(marks) == {*TABLES, "newsvendor", "owning"}
    example = PAGE.partition("```yaml\n")[2].partition("```")[0]
    data = read_yaml(example, "example").data
    inputs = Owning.model_validate(data["owning"])
    assert set(data["owning"]) == set(Owning.model_fields) - {"name", "currency"}
    assert inputs.capital.source == "quote of 3 March"
