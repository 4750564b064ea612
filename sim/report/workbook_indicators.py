"""The indicators of each strategy in the workbook: on the summary as formulas over their sums, and as a list.

They need the time of every card, which a stored run does not keep: its replication is made again, as for
`fleetsim costs`. Where that is not possible any more, the cells are empty and a line says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from sim.billing.finance.run_indicators import RunIndicators, card_hours
from sim.errors import RunError
from sim.experiments.again import again
from sim.experiments.indicators import indicators_of, listed
from sim.experiments.stored import StoredRun
from sim.report.workbook_table import Cell, Column, Formula, Table

__all__ = ["COLUMNS", "MEANINGS", "Indicated", "indicated"]

COLUMNS = (
    Column("card-hours used", "number"), Column("card-hours useful", "number"),
    Column("card-hours committed", "number"), Column("committed card-hours used", "number"),
    Column("cost of commitments", "money"), Column("waste", "money"),
    Column("used hours on demand", "money"), Column("committed hours on demand", "money"),
    Column("contracted", "money"), Column("effective", "money"),
    Column("effective hourly rate, used", "number"), Column("effective hourly rate, useful", "number"),
    Column("commitment coverage", "share"), Column("commitment utilisation", "share"),
    Column("break-even utilisation", "share"),
    Column("effective savings rate, 1 - actual / on demand", "share"),
    Column("effective savings rate, (contracted - effective) / contracted", "share"),
)  # fmt: skip

TOLD = "Replication {}. An empty value has nothing to compare with: it is not known, and it is not 0."

PLACES = 6
"""Of hours and ratios; the formulas round to as many."""


MEANINGS = (
    Column("strategy"), Column("indicator"), Column("value", "number"), Column("unit"),
    Column("meaning", "long"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Indicated:
    """The indicators of every strategy; none where the run cannot be made again."""

    names: tuple[str, ...]
    found: tuple[RunIndicators, ...]
    said: str
    """What stands above the list, or why it is empty."""

    def cells(self, strategy: int, summary: Table, accrued: Decimal) -> tuple[Cell, ...]:
        """The cells of `COLUMNS` in one row of the summary, which has this accrued cost."""
        if not self.found:
            return (None,) * len(COLUMNS)
        one, row = self.found[strategy], _Row(summary, strategy)
        times = one.used_us, one.useful_us, one.committed_us, one.covered_us
        used, useful, committed, covered = (_rounded(card_hours(card_us)) for card_us in times)
        on_demand, all_on_demand = _cents(one.on_demand_cost), _cents(one.committed_on_demand)
        return (
            used, useful, committed, covered, one.committed_cost, one.waste, on_demand, all_on_demand,
            one.contracted, one.effective,
            row.ratio("accrued", accrued, "card-hours used", used),
            row.ratio("accrued", accrued, "card-hours useful", useful),
            row.ratio("committed card-hours used", covered, "card-hours used", used),
            row.ratio("committed card-hours used", covered, "card-hours committed", committed),
            row.ratio("cost of commitments", one.committed_cost, "committed hours on demand", all_on_demand),
            row.ratio("accrued", accrued, "used hours on demand", on_demand, less=True),
            row.ratio("effective", one.effective, "contracted", one.contracted, less=True),
        )  # fmt: skip

    @property
    def length(self) -> int:
        """Rows of the list."""
        return sum(len(listed(one)) + 1 for one in self.found)

    def rows(self, summary: Table, shown: Sequence[Sequence[Cell]]) -> list[Sequence[Cell]]:
        """Each indicator with its meaning; values lead to the summary, whose rows are `shown`."""
        titles = [column.title for column in summary.columns]
        rows: list[Sequence[Cell]] = []
        for number, (name, found) in enumerate(zip(self.names, self.found, strict=True)):
            for one in listed(found):
                value = shown[number][titles.index(one.name)]
                if isinstance(value, Formula):
                    value = value.value
                if isinstance(value, Decimal | int):
                    value = Formula(summary.cell(number, one.name), value)
                rows.append((name, one.name, value, one.unit, one.meaning))
            price = f"{found.on_demand.sentence}. Time by the hour counts at its own price."
            rows.append((name, "price on demand", None, f"{found.currency}/card-h", price))
        return rows


def indicated(run: StoredRun, replication: int = 0) -> Indicated:
    """The indicators of a run's strategies in one replication; prices on demand are the offers' own."""
    try:
        found = tuple(indicators_of(again(run, number, replication)) for number in range(len(run.strategies)))
    except RunError as error:
        return Indicated((), (), f"Indicators are left out: {error}.")
    return Indicated(run.strategies, found, TOLD.format(replication))


@dataclass(frozen=True, slots=True)
class _Row:
    summary: Table
    number: int

    def ratio(
        self, above: str, over: Decimal, below: str, under: Decimal | None, *, less: bool = False
    ) -> Formula | None:
        """`above` / `below`, or 1 less that; None without a base."""
        if not under:
            return None
        value = 1 - over / under if less else over / under
        cells = f"{self.summary.cell(self.number, above)}/{self.summary.cell(self.number, below)}"
        return Formula(f"ROUND({'1-' if less else ''}{cells},{PLACES})", _rounded(value))


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-PLACES), ROUND_HALF_UP) + 0  # no sign at 0


def _cents(value: Decimal | None) -> Decimal | None:
    return None if value is None else value.quantize(Decimal("0.01"), ROUND_HALF_UP)
