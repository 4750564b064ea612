"""Owning: the check values, the same formulas by another way, and what the articles say."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.optimize import brentq

from sim.billing.owning import (
    Figure,
    Owning,
    books,
    capital_for,
    own,
    payback_months,
    recovery_factor,
    useful_hours,
)
from sim.billing.owning_presets import PRESETS, statements


def inputs(**more: object) -> Owning:
    return Owning.model_validate(more)


class TestCost:
    def test_check_values(self) -> None:
        found = own(inputs(capital=800_000))
        assert round(found.parts["capital recovery"]) == 206_029
        assert round(found.parts["power"]) == 41_851
        assert found.parts["spares"] == 24_000
        assert round(found.total) == 381_880
        assert round(own(inputs(capital=1_000_000)).total) == 439_388
        assert round(own(inputs(capital=1_200_000)).total) == 496_895

    def test_per_card_hour(self) -> None:
        found = own(inputs(downtime=0, utilisation=0.5))
        assert found.useful_hours == 35_040
        assert float(found.useful_hour) == pytest.approx(381_880 / (8 * 8760 * 0.5), rel=1e-5)
        assert useful_hours(8, Decimal("0.25"), Decimal("0.5")) == 26_280

    @pytest.mark.parametrize("rate", [0.0, 0.03, 0.08, 0.4])
    @pytest.mark.parametrize("years", [1, 3, 4, 5.5])
    def test_capital_is_recovered(self, rate: float, years: float) -> None:
        """n yearly payments at year ends and the residual value are worth the price."""
        found = own(inputs(capital=500_000, rate=rate, life_years=years, residual=0.1))
        yearly = float(found.parts["capital recovery"])
        annuity = years if rate == 0 else (1 - (1 + rate) ** -years) / rate
        assert yearly * annuity + 50_000 * (1 + rate) ** -years == pytest.approx(500_000)

    def test_a_rate_of_zero_is_straight_line(self) -> None:
        found = own(inputs(rate=0))
        assert found.parts["capital recovery"] == found.depreciation == 160_000
        assert found.total == found.book_total
        assert recovery_factor(Decimal(0), Decimal(5)) == Decimal("0.2")

    def test_depreciation(self) -> None:
        rows = books(inputs(capital=800_000, life_years=2.5, residual=0.25))
        assert [row.depreciation for row in rows] == [240_000, 240_000, 120_000]
        assert [row.opening for row in rows] == [800_000, 560_000, 320_000]
        assert rows[-1].closing == 200_000
        running = own(inputs()).total - own(inputs()).parts["capital recovery"]
        assert rows[0].running == pytest.approx(running)
        assert rows[2].running == pytest.approx(running / 2)

    def test_tax_that_comes_back(self) -> None:
        net = own(inputs(capital=1_130_000, capital_tax=0.13, tax_creditable=True))
        assert round(net.total) == 439_388
        assert own(inputs(capital=1_130_000, capital_tax=0.13)).total > net.total

    @settings(max_examples=40, deadline=None)
    @given(st.integers(150_000, 900_000), st.integers(0, 30), st.integers(1, 10), st.integers(0, 60))
    def test_the_price_at_which_owning_costs_the_rent(
        self, rent: int, rate: int, years: int, residual: int
    ) -> None:
        asked = inputs(rate=Decimal(rate) / 100, life_years=years, residual=Decimal(residual) / 100)

        def gap(price: float) -> float:
            figure = Figure(value=Decimal(price))
            return float(own(asked.model_copy(update={"capital": figure})).total) - rent

        found = capital_for(asked, Decimal(rent))
        if gap(0.0) > 0:
            assert found is None
        else:
            assert float(found or 0) == pytest.approx(brentq(gap, 0, 1e9), rel=1e-6)

    def test_payback(self) -> None:
        # Running costs are 175,850.90: 306,000 of rent leave 10,845.76 a month for 800,000.
        assert round(payback_months(inputs(), Decimal(306_000)) or 0, 2) == Decimal("73.76")
        assert payback_months(inputs(), Decimal(100_000)) is None


class TestInputs:
    def test_a_number_is_assumed_and_a_figure_has_a_source(self) -> None:
        asked = inputs(capital={"value": 700_000, "source": "quote"}, staff=1)
        assert not asked.capital.assumed
        assert asked.staff.assumed
        assert asked.hosting.assumed

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("capital", 0), ("capital", -1), ("life_years", 0), ("residual", 1.1), ("rate", -0.01),
            ("utilisation", 0), ("downtime", 1), ("pue", 0.9), ("cards", 0), ("power_kw", "many"),
            ("capital", float("nan")), ("capitl", 1), ("capital", {"value": 1, "origin": "x"}),
        ],
    )  # fmt: skip
    def test_bad_values_are_refused(self, key: str, value: object) -> None:
        with pytest.raises(ValidationError):
            inputs(**{key: value})


class TestArticle:
    def test_power_is_the_articles_middle(self) -> None:
        found = own(PRESETS["article-002"])
        assert float(found.parts["power"]) == pytest.approx(32_500, rel=1e-3)
        assert not PRESETS["article-002"].power_kw.assumed
        assert PRESETS["article-002"].staff.assumed

    def test_statements_are_recomputed(self) -> None:
        power, site, total = statements(Decimal(381_880))
        assert "0.71 to 0.76" in power.recomputed
        assert "51,246" in site.recomputed
        assert "306,000 to 499,800" in total.recomputed
        assert "inside" in total.recomputed
        assert "outside" in statements(Decimal(200_000))[2].recomputed
        assert total.verdict.startswith("cannot be verified")
