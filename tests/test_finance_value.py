"""Present value, internal rate of return and break-even: the check values, and more by other ways."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from sim.billing.finance.breakeven import PlanCost, step_up_month, term_break_even, use_break_even
from sim.billing.finance.presentvalue import (
    CashFlow,
    annuity_due,
    irr,
    months_worth,
    net_present_value,
    present_value,
    years_between,
)
from sim.units import round_money

MONTHLY = PlanCost("monthly", 1, Fraction(2800))
QUARTERLY = PlanCost("quarterly", 3, Fraction(7980))
ANNUAL = PlanCost("annual", 12, Fraction(26_880))
EIGHT = Decimal("0.08")


def monthly_flows(payment: int | str, number: int, apart: int = 1) -> list[tuple[Fraction, Decimal]]:
    return [(Fraction(k * apart, 12), Decimal(payment)) for k in range(number)]


class TestPresentValue:
    """Twelve payments of 2,800 in advance at 8 % effective: 32,443.41, and its kin."""

    def test_check_values(self) -> None:
        assert round_money(annuity_due(Decimal(2800), 12, 1, EIGHT)) == Decimal("32443.41")
        assert round_money(present_value(monthly_flows(2800, 12), EIGHT)) == Decimal("32443.41")
        assert round_money(annuity_due(Decimal(7980), 4, 3, EIGHT)) == Decimal("31019.12")
        assert round_money(present_value(monthly_flows(7980, 4, 3), EIGHT)) == Decimal("31019.12")
        saving = annuity_due(Decimal(2800), 12, 1, EIGHT) - 26_880
        assert round_money(saving) == Decimal("5563.41")

    @pytest.mark.parametrize("rate", ["0", "0.03", "0.08", "0.125", "0.5", "-0.02"])
    @pytest.mark.parametrize(
        ("payment", "number", "apart"), [("2800", 12, 1), ("7980", 8, 3), ("13600", 3, 12)]
    )
    def test_against_floats(self, rate: str, payment: str, number: int, apart: int) -> None:
        expected = math.fsum(float(payment) * (1 + float(rate)) ** (-k * apart / 12) for k in range(number))
        assert float(annuity_due(Decimal(payment), number, apart, Decimal(rate))) == pytest.approx(expected)
        flows = monthly_flows(payment, number, apart)
        assert float(present_value(flows, Decimal(rate))) == pytest.approx(expected)

    def test_dates_by_months(self) -> None:
        start = datetime(2026, 1, 31)
        assert years_between(start, start) == 0
        assert years_between(start, datetime(2026, 2, 28)) == Fraction(1, 12)
        assert years_between(start, datetime(2026, 3, 31)) == Fraction(2, 12)
        assert years_between(start, datetime(2027, 1, 31)) == 1
        # 14 of the 28 days between 1 February and 1 March are half a month.
        assert years_between(datetime(2026, 1, 1), datetime(2026, 2, 15)) == Fraction(3, 24)
        assert years_between(datetime(2026, 2, 1), datetime(2026, 1, 1)) == Fraction(-1, 12)

    def test_dates_by_actual_365(self) -> None:
        start = datetime(2024, 2, 28)
        assert years_between(start, datetime(2024, 3, 1), "actual/365") == Fraction(2, 365)
        assert years_between(start, datetime(2025, 2, 28), "actual/365") == Fraction(366, 365)
        assert years_between(start, datetime(2024, 2, 28, 12), "actual/365") == Fraction(1, 730)

    def test_a_dated_table(self) -> None:
        start = datetime(2026, 1, 1)
        flows = [CashFlow(datetime(2026, month, 1), Decimal(2800)) for month in range(1, 13)]
        assert round_money(net_present_value(flows, EIGHT, start)) == Decimal("32443.41")
        days = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        expected = math.fsum(2800 * 1.08 ** (-day / 365) for day in days)
        found = net_present_value(flows, EIGHT, start, "actual/365")
        assert float(found) == pytest.approx(expected, abs=1e-9)
        assert round_money(found) != Decimal("32443.41")


class TestIrr:
    """Prepaying is an investment: pay a year now, save the months."""

    @staticmethod
    def prepaying(annual: int, month: int = 2800) -> list[tuple[Fraction, Decimal]]:
        return [(Fraction(0), Decimal(-annual)), *monthly_flows(month, 12)]

    @pytest.mark.parametrize(("annual", "monthly", "yearly"), [(26_880, 4.344, 66.6), (28_560, 3.103, 44.3)])
    def test_check_values(self, annual: int, monthly: float, yearly: float) -> None:
        found = irr(self.prepaying(annual))
        assert found.reason is None
        assert round(100 * (found.monthly or 0), 3) == monthly
        assert round(100 * (found.rate or 0), 1) == yearly

    @pytest.mark.parametrize("annual", [20_000, 24_000, 30_240, 33_000, 33_500])
    def test_against_a_root_of_the_annuity(self, annual: int) -> None:
        def gap(month: float) -> float:
            return 2800 * (1 - (1 + month) ** -12) / month * (1 + month) - annual

        expected = brentq(gap, 1e-9, 5)
        assert irr(self.prepaying(annual)).monthly == pytest.approx(expected, rel=1e-9)

    def test_no_root_is_said(self) -> None:
        assert irr([(Fraction(0), Decimal(5)), (Fraction(1), Decimal(6))]).rate is None
        assert "cheaper at every rate" in str(irr([(Fraction(0), Decimal(5))]).reason)
        assert "same times" in str(irr([]).reason)
        assert "same times" in str(irr([(Fraction(0), Decimal(5)), (Fraction(0), Decimal(-5))]).reason)
        # x^2 - x + 1 has no real root.
        none = irr([(Fraction(0), Decimal(1)), (Fraction(1), Decimal(-1)), (Fraction(2), Decimal(1))])
        assert (none.rate, none.yearly) == (None, ())
        assert "no rate" in str(none.reason)

    def test_two_roots_are_both_found(self) -> None:
        # (x - 1/1.1)(x - 1/1.3) in x = 1 / (1 + r): roots at 10 % and 30 %.
        a, b = 1 / 1.1, 1 / 1.3
        flows = [(Fraction(0), Decimal(a * b)), (Fraction(1), Decimal(-a - b)), (Fraction(2), Decimal(1))]
        found = irr(flows)
        assert found.yearly == pytest.approx((0.1, 0.3))
        assert found.rate is None
        assert "2 rates" in str(found.reason)

    @pytest.mark.parametrize(("back", "monthly"), [("51", 50.0), ("0.01", -0.99), ("3000", 2999.0)])
    def test_rates_far_from_what_is_usual(self, back: str, monthly: float) -> None:
        found = irr([(Fraction(0), Decimal(-1)), (Fraction(1, 12), Decimal(back))])
        assert found.monthly == pytest.approx(monthly, rel=1e-9)

    def test_a_long_time(self) -> None:
        flows = [(Fraction(0), Decimal(-1000)), (Fraction(10), Decimal(500)), (Fraction(200), Decimal(1))]
        found = irr(flows)
        value = -1000 + 500 * (1 + (found.rate or 0)) ** -10 + (1 + (found.rate or 0)) ** -200
        assert value == pytest.approx(0, abs=1e-6)

    def test_a_root_that_only_touches(self) -> None:
        # (1.25 x - 1)^2: 25 % twice.
        flows = [(Fraction(0), Decimal(1)), (Fraction(1), Decimal("-2.5")), (Fraction(2), Decimal("1.5625"))]
        assert irr(flows).yearly == pytest.approx((0.25,), abs=1e-6)

    @settings(max_examples=40, deadline=None)
    @given(st.integers(-60, 900), st.integers(1, 40), st.lists(st.integers(1, 9000), min_size=1, max_size=30))
    def test_the_rate_it_was_made_with(self, percent: int, apart: int, later: list[int]) -> None:
        rate = percent / 100
        times = [Fraction(apart * (k + 1), 12) for k in range(len(later))]
        worth = math.fsum(amount * (1 + rate) ** -float(t) for amount, t in zip(later, times, strict=True))
        if not 1e-6 < worth < 1e12:
            return
        flows = [(Fraction(0), -Decimal(worth)), *zip(times, map(Decimal, later), strict=True)]
        assert irr(flows).rate == pytest.approx(rate, abs=1e-6, rel=1e-6)


class TestBreakEven:
    def test_annual_against_monthly(self) -> None:
        found = term_break_even(MONTHLY, ANNUAL, EIGHT)
        assert found is not None
        assert (found.longer, found.shorter) == ("annual", "monthly")
        assert found.months == Fraction("9.6")
        assert found.share == Fraction("0.8")
        assert found.hours == 7008
        assert round(float(found.discounted_months or 0), 3) == 9.876
        assert found.pays

    def test_at_085(self) -> None:
        found = term_break_even(PlanCost("annual", 12, Fraction(28_560)), MONTHLY)
        assert found is not None
        assert (found.months, found.share, found.hours) == (Fraction("10.2"), Fraction("0.85"), 7446)

    def test_quarterly(self) -> None:
        found = term_break_even(MONTHLY, QUARTERLY)
        assert found is not None
        assert (found.months, found.share) == (Fraction("2.85"), Fraction("0.95"))
        against = term_break_even(ANNUAL, QUARTERLY)
        assert against is not None
        assert against.months == Fraction(26_880, 2660)

    def test_equal_periods_have_none(self) -> None:
        assert term_break_even(MONTHLY, PlanCost("dearer", 1, Fraction(3000))) is None

    def test_a_longer_plan_that_never_pays(self) -> None:
        found = term_break_even(PlanCost("annual", 12, Fraction(40_000)), MONTHLY, EIGHT)
        assert found is not None
        assert not found.pays
        assert found.months == Fraction(100, 7)

    @pytest.mark.parametrize("rate", ["0.02", "0.08", "0.3", "1"])
    @pytest.mark.parametrize("price", ["5600", "26880", "28560"])
    def test_discounted_by_root_finding(self, rate: str, price: str) -> None:
        v = (1 + float(rate)) ** (-1 / 12)
        expected = brentq(lambda n: 2800 * (1 - v**n) / (1 - v) - float(price), 0.01, 200)
        found = months_worth(Decimal(price), Decimal(2800), 1, Decimal(rate))
        assert float(found or 0) == pytest.approx(expected, rel=1e-9)

    def test_a_price_that_payments_for_ever_do_not_reach(self) -> None:
        # At 8 %, 2,800 a month for ever is worth 2,800 / (1 - v) = 437,986.
        assert months_worth(Decimal(437_000), Decimal(2800), 1, EIGHT) is not None
        assert months_worth(Decimal(439_000), Decimal(2800), 1, EIGHT) is None
        assert months_worth(Decimal(28_000), Decimal(2800), 1, Decimal(0)) == 10

    @pytest.mark.parametrize(
        ("month", "low", "high"), [(2800, 112, 168), (2500, 100, 150), (2240, "89.6", "134.4")]
    )
    def test_hours_of_a_mig_card(self, month: int, low: object, high: object) -> None:
        """12,000 to 18,000 a month over 720 hours is 16.67 to 25 an hour."""
        plan = PlanCost("monthly", 1, Fraction(month))
        assert use_break_even(plan, "mig", Fraction(25)).hours == Fraction(str(low))
        assert use_break_even(plan, "mig", Fraction(12_000, 720)).hours == Fraction(str(high))

    def test_hours_of_several_units(self) -> None:
        found = use_break_even(PlanCost("annual", 12, Fraction(107_520)), "mig", Fraction(25), 4)
        assert (found.hours, found.share) == (Fraction("89.6"), Fraction("89.6") / 730)

    def test_step_from_four_to_eight(self) -> None:
        whole, first = Fraction(215_040), Fraction(107_520)
        assert step_up_month(whole, first, Fraction(4 * 2800)) == Fraction("2.4")
        # Joined to the term of the first four, they cost the annual price of each month left.
        assert step_up_month(whole, first, first / 12) == 0
