"""The comparison that a search ends with, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.cli.console import print_parts

if TYPE_CHECKING:
    from sim.experiments.comparison import Comparison

__all__ = ["print_compared"]


def print_compared(comparison: Comparison) -> None:
    """The strategies, their differences where there are any, and what is to be known of them."""
    from sim.report.tables import comparison_tables, difference_table, remarks

    for table in comparison_tables(comparison):
        print_parts(table)
    if comparison.differences:
        print_parts(difference_table(comparison))
    for part in remarks(comparison):
        print_parts(part)
