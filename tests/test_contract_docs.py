"""The scenario and the lines of docs/contracts.md are what the program reads and writes."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

from sim.billing import bill
from sim.billing.usable import planned_records
from sim.load import Question, load_text
from sim.model.ledger import Ledger
from sim.model.scenario import Strategy
from sim.model.terms import ContractTerms, Refund, Stop, Tax
from sim.replication import prepare, replicate

PAGE = (Path(__file__).parents[1] / "docs" / "contracts.md").read_text(encoding="utf-8")


def block(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def question() -> Question:
    return load_text(block("scenario: contracts"))


def planned(asked: Question, strategy: Strategy) -> Ledger:
    records = list(planned_records(asked.scenario, strategy, asked.catalog.offers))
    return bill(records, asked.scenario, strategy, asked.catalog.offers)


def written(ledger: Ledger, name: str) -> list[str]:
    """The lines of a ledger as the page shows them."""
    rows = [
        f"{name}: paid {ledger.cash:,.2f}, accrued {ledger.accrued:,.2f}, committed {ledger.committed:,.2f}"
    ]
    for charge in ledger.charges:
        day = f"{charge.cash_date:%Y-%m-%d}"
        rows.append(f"  {charge.id} {charge.category} {charge.billed_cost:,.2f} on {day}: {charge.rule}")
    return rows


def page_lines(asked: Question) -> str:
    rows: list[str] = []
    for strategy in asked.scenario.strategies:
        rows += written(planned(asked, strategy), strategy.name)
    return "\n".join(rows) + "\n"


def test_the_lines_of_the_page_are_those_of_the_program() -> None:
    assert block("lines: contracts") == page_lines(question())


def test_the_example_runs_and_costs_what_its_plan_says() -> None:
    asked = question()
    prepared = prepare(asked)
    for place, strategy in enumerate(asked.scenario.strategies):
        run = replicate(prepared, place, 0)
        assert run.ledger.charges == planned(asked, strategy).charges


def test_the_sums_of_the_example_by_pencil() -> None:
    # 26,880 - 10,080 + 504; 107,520 + 4 x 2,240 x 26/3; 240 h x 6 + 2 x 2,800 + 26,880;
    # 6 x 2,800 x 0.95 + 6 x 2,900 x 0.95; (744 + 312 + 120) h x 20 + 100 x 10.0208333 / 28
    sums = [planned(question(), strategy).committed for strategy in question().scenario.strategies]
    assert sums == [Decimal(text) for text in ("17304", "185173.33", "33920", "32490", "23555.79")]


def test_the_page_has_a_row_for_every_term() -> None:
    rows = " ".join(row.split("|")[1] for row in PAGE.splitlines() if row.startswith("| `"))
    keys = set(ContractTerms.model_fields) - {"refund", "stop", "tax"}
    keys |= {f"refund.{key}" for key in Refund.model_fields}
    keys |= {f"stop.{key}" for key in Stop.model_fields} | {f"tax.{key}" for key in Tax.model_fields}
    assert {key for key in keys if f"`{key}`" not in rows} == set()
