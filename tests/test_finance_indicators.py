"""Ratios beside the money, each by pencil."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sim.billing.finance.indicators import (
    break_even_utilisation,
    contracted_savings_rate,
    coverage,
    effective_hour,
    effective_savings_rate,
    indicators,
    utilisation,
    waste,
)


def test_effective_hour_of_a_card_that_is_mostly_idle() -> None:
    """2,800 CNY at 23 % of 730 hours: 16.7 CNY an hour."""
    found = effective_hour(Decimal(2800), Decimal("0.23") * 730)
    assert round(found or 0, 1) == Decimal("16.7")


def test_a_commitment_of_two_cards() -> None:
    """Two cards for 100 h at 3 an hour; 250 h used, 150 of them on the two; on demand 5 an hour."""
    found = indicators(Decimal(600), Decimal(500), Decimal(200), Decimal(150), Decimal(250), Decimal(5))
    assert found.effective_hour == Decimal("4.4")
    assert found.coverage == Decimal("0.6")
    assert found.utilisation == Decimal("0.75")
    assert found.waste == 150
    assert found.effective_savings_rate == Decimal("0.12")  # 1,100 instead of 1,250


def test_a_commitment_may_lose_money() -> None:
    assert effective_savings_rate(Decimal(600), Decimal(100), Decimal(5)) == Decimal("-0.2")


def test_the_other_definition_of_savings() -> None:
    assert contracted_savings_rate(Decimal(1250), Decimal(1000)) == Decimal("0.2")


def test_break_even_utilisation_of_the_articles_cards() -> None:
    assert break_even_utilisation(Decimal(2240), Decimal(2800)) == Decimal("0.8")


@pytest.mark.parametrize("zero", [Decimal(0), Decimal("0.00")])
def test_no_base_no_number(zero: Decimal) -> None:
    assert effective_hour(Decimal(5), zero) is None
    assert coverage(zero, zero) is None
    assert utilisation(zero, zero) is None
    assert effective_savings_rate(Decimal(5), zero, Decimal(3)) is None
    assert contracted_savings_rate(zero, Decimal(3)) is None
    assert break_even_utilisation(Decimal(5), zero) is None
    assert waste(Decimal(5), zero, zero) == 0
