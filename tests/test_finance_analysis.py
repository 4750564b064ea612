"""Ways beside each other: the billed curve and the closed forms say the same, for plans of any price."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from sim.billing.finance.analysis import Analysis, analyse
from sim.billing.finance.downside import Ends
from sim.billing.finance.outcomes import Way
from tests.billing_cases import OFFERS, lease, offer, scenario

EIGHT = Decimal("0.08")


def ways(*leases: dict[str, object], offers=OFFERS, hours=None, **more: object) -> list[Way]:
    found = []
    for number, one in enumerate(leases):
        asked = scenario([one], **more)
        found.append(Way(f"way {number}", asked, asked.strategies[0], offers, None, hours))
    return found


def compared(*leases: dict[str, object], rate: Decimal = EIGHT, months: int = 12, **more: object) -> Analysis:
    return analyse(ways(*leases, **more), months, rate)


class TestClosedFormAndBills:
    @settings(max_examples=25, deadline=None)
    @given(st.integers(100, 9000), st.integers(30, 100), st.integers(1, 12), st.integers(0, 40))
    def test_monthly_and_a_year(self, price: int, percent: int, count: int, rate: int) -> None:
        own = offer("card", price, plans={"monthly": 1, "annual": f"{percent / 100:.2f}"})
        found = compared(
            lease(count, plan="monthly", offer="card"),
            lease(count, plan="annual", offer="card"),
            offers={"card": own},
            rate=Decimal(rate) / 100,
        )
        (pair,) = found.pairs
        month, year = price * count, Fraction(12 * price * count * percent, 100)
        assert pair.term is not None
        assert pair.term.months == year / month
        assert list(pair.cheaper_months) == [m for m in range(1, 13) if m * month > year]
        cheaper = math.floor(pair.term.months) + 1
        assert pair.cheaper_from == (cheaper if cheaper <= 12 else None)
        assert pair.saving == 12 * month - year
        v = (1 + rate / 100) ** (-1 / 12)
        expected = math.fsum(month * v**k for k in range(12)) - float(year)
        assert float(pair.value_saving) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize("percent", [55, 70, 80, 85, 95])
    def test_the_rate_of_return(self, percent: int) -> None:
        own = offer("card", 2800, plans={"monthly": 1, "annual": f"{percent / 100:.2f}"})
        found = compared(
            lease(plan="monthly", offer="card"), lease(plan="annual", offer="card"), offers={"card": own}
        )
        year = 12 * 2800 * percent / 100

        def gap(month: float) -> float:
            return math.fsum(2800 * (1 + month) ** -k for k in range(12)) - year

        (pair,) = found.pairs
        assert pair.pays_earlier
        assert pair.irr.monthly == pytest.approx(brentq(gap, 0, 10), rel=1e-9)

    def test_the_order_of_the_ways_turns_the_sign(self) -> None:
        one = compared(lease(plan="monthly"), lease())
        other = compared(lease(), lease(plan="monthly"))
        assert one.pairs[0].saving == -other.pairs[0].saving == 6720
        assert one.pairs[0].irr.rate == pytest.approx(other.pairs[0].irr.rate)
        assert one.pairs[0].pays_earlier
        assert not other.pairs[0].pays_earlier

    def test_equal_periods_have_no_break_even_in_time(self) -> None:
        (pair,) = compared(lease(plan="monthly"), lease(plan="monthly", price=3000)).pairs
        assert pair.term is None
        assert pair.ski is None
        assert pair.cheaper_from is None
        assert pair.irr.one_sided

    def test_cards_by_the_hour(self) -> None:
        """112 hours at 25 CNY are a month of 2,800."""
        mig = lease(plan="hourly", offer="h100-mig", price=25)
        found = compared(lease(plan="monthly"), mig, hours=Fraction(112))
        assert found.uses[0].hours == 112
        assert found.pairs[0].saving == 0
        assert found.ways[1].hour == 25
        assert found.ways[1].effective_hour == 25

    def test_two_units_by_the_hour(self) -> None:
        mig = lease(2, plan="hourly", offer="h100-mig", price=25)
        found = compared(lease(2, plan="annual"), mig)
        assert found.uses[0].hours == Fraction("89.6")

    def test_tax_is_in_the_prices_of_the_closed_form(self) -> None:
        """6 % on top of monthly and annual: the same 9.6 months; the tax that comes back is no price."""
        top = {"tax": {"rate": "0.06", "included": False}}
        found = compared(lease(plan="monthly", terms=top), lease(terms=top))
        assert found.ways[0].plan is not None
        assert found.ways[0].plan.amount == 2968
        assert found.pairs[0].term is not None
        assert found.pairs[0].term.months == Fraction("9.6")
        back = {"tax": {"rate": "0.06", "included": False, "creditable": True}}
        found = compared(lease(plan="monthly", terms=back), lease(terms=back))
        assert found.ways[0].plan is not None
        assert found.ways[0].plan.amount == 2800

    def test_months_of_thirty_days_are_more_of_them(self) -> None:
        """365 days are twelve months of 30 days and five days of a thirteenth."""
        basis = {"month": "30-days"}
        found = compared(lease(plan="monthly", terms=basis), lease(terms=basis))
        assert found.ways[0].cost == 13 * 2800
        assert found.ways[1].cost == 2 * 26_880

    def test_the_effective_hour_is_that_of_the_facts(self) -> None:
        found = compared(lease(plan="monthly"), lease())
        assert [round(way.effective_hour or 0, 4) for way in found.ways] == [
            Decimal("3.8356"), Decimal("3.0685"),
        ]  # fmt: skip

    def test_a_lease_that_begins_later_has_no_closed_form(self) -> None:
        found = compared(lease(plan="monthly"), lease(start="2026-03-01"))
        assert found.pairs[0].term is None
        assert found.ways[1].outcomes[1].cost == 0


class TestDownside:
    def test_it_is_that_of_the_bills(self) -> None:
        ends = Ends.early({3: Fraction(1, 4), 6: Fraction(1, 4)}, 12)
        found = analyse(ways(lease(plan="monthly"), lease()), 12, EIGHT, "months", ends)
        assert found.downside is not None
        risk = found.downside.risks
        assert risk["way 0"].expected_cost == (8400 + 16_800) / Decimal(4) + 16_800
        assert risk["way 1"].expected_cost == 26_880
        # 6,720 saved in month 12 against 18,480 and 10,080 lost in months 3 and 6.
        assert found.pairs[0].even == {3: Fraction(6720, 25_200), 6: Fraction(6720, 16_800)}
