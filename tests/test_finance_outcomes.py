"""What ending early costs, the downside, the table by month and variances: pencil values."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.billing.finance.budget import BudgetLine, monthly_table, variance
from sim.billing.finance.downside import Ends, downside, ends_with_hazard, even_hazards, even_probability
from sim.billing.finance.outcomes import Way, billed_until, outcome, outcomes
from sim.billing.finance.presentvalue import irr, years_between
from sim.units import round_money
from tests.billing_cases import BURST, OFFERS, lease, ledger, scenario

EIGHT = Decimal("0.08")


def way(*leases: object, start: str = "2026-01-01", hours: int | None = None, **more: object) -> Way:
    asked = scenario(leases, start=start, **more)
    used = None if hours is None else Fraction(hours)
    return Way("way", asked, asked.strategies[0], OFFERS, None, used)


def costs(one: Way, *months: int) -> list[Decimal]:
    return [found.cost for found in outcomes(one, months)]


class TestOutcomes:
    """One card of 2,800 CNY a month, cut at each month of end."""

    def test_monthly_costs_the_months(self) -> None:
        assert costs(way(lease(plan="monthly")), 1, 3, 9, 10, 12) == [2800, 8400, 25_200, 28_000, 33_600]

    def test_annual_costs_the_year_whenever_it_ends(self) -> None:
        assert costs(way(lease()), 1, 6, 12, 13) == [26_880, 26_880, 26_880, 53_760]

    def test_quarters_are_steps(self) -> None:
        found = costs(way(lease(plan="quarterly")), 1, 3, 4, 12)
        assert found == [7980, 7980, 15_960, 31_920]

    def test_payments_have_their_dates(self) -> None:
        found = outcome(way(lease(plan="quarterly"), start="2026-01-31"), 6)
        assert [flow.at for flow in found.payments] == [datetime(2026, 1, 31), datetime(2026, 4, 30)]
        assert found.end == datetime(2026, 7, 31)

    def test_present_values_of_billed_plans_are_the_check_values(self) -> None:
        start = datetime(2026, 1, 1)
        monthly = outcome(way(lease(plan="monthly")), 12)
        annual = outcome(way(lease()), 12)
        quarterly = outcome(way(lease(plan="quarterly")), 12)
        assert round_money(monthly.value(EIGHT, start)) == Decimal("32443.41")
        assert round_money(quarterly.value(EIGHT, start)) == Decimal("31019.12")
        assert round_money(monthly.value(EIGHT, start) - annual.value(EIGHT, start)) == Decimal("5563.41")
        flows = [(years_between(start, flow.at), flow.amount) for flow in monthly.payments]
        flows += [(years_between(start, flow.at), -flow.amount) for flow in annual.payments]
        assert round(100 * (irr(flows).monthly or 0), 3) == 4.344

    def test_all_hours_of_a_month(self) -> None:
        # 31 days of January at the middle of 16.67 to 25: 20.835 x 744.
        assert costs(way(lease(plan="hourly", offer="h100-mig")), 1) == [Decimal("15501.24")]

    def test_some_hours_of_every_month(self) -> None:
        one = way(lease(2, plan="hourly", offer="h100-mig", price=25), hours=112)
        assert costs(one, 1, 12) == [5600, 67_200]

    def test_no_more_hours_than_the_month_has(self) -> None:
        # February 2026 has 672 hours, January 744.
        one = way(lease(plan="hourly", offer="h100-mig", price=10), hours=700)
        assert costs(one, 1, 2) == [7000, 13_720]

    def test_leases_that_begin_later_or_end_earlier(self) -> None:
        one = way(lease(4), lease(4, plan="monthly", start="2026-07-01", end="2026-09-01"))
        assert costs(one, 6, 7, 12) == [107_520, 118_720, 129_920]
        assert billed_until(way(lease(start="2026-07-01")), 6) is None
        assert costs(way(lease(start="2026-07-01")), 6, 7) == [0, 26_880]

    def test_four_then_eight(self) -> None:
        """4 annual, and 4 more by the month from month 3 or 6; 8 at once cost 215,040."""
        more = [lease(4, plan="monthly", start=day) for day in ("2026-04-01", "2026-07-01")]
        assert costs(way(lease(4), more[0]), 12) == [208_320]
        assert costs(way(lease(4), more[1]), 12) == [174_720]
        assert costs(way(lease(8)), 12) == [215_040]

    def test_burst_is_left_out(self) -> None:
        assert costs(way(lease(), burst=BURST), 12) == [26_880]

    def test_the_horizon_of_the_scenario_cuts_nothing(self) -> None:
        assert costs(way(lease(plan="monthly"), horizon="10d"), 12) == [33_600]


class TestRefunds:
    """Annual, 26,880, left after n months; what comes back is taken off."""

    @staticmethod
    def left_after(months: int, **refund: object) -> Decimal:
        return Decimal(26_880) - costs(way(lease(terms={"refund": refund})), months)[0]

    def test_check_values(self) -> None:
        for rule in ("re-rate", "deposit-less-discounts"):
            more = {"matched": False} if rule == "re-rate" else {}
            found = [self.left_after(n, rule=rule, part="month", **more) for n in (3, 6, 10, 11, 12)]
            assert found == [18_480, 10_080, 0, 0, 0]
        assert [self.left_after(n, rule="pro-rata", part="month") for n in (3, 6)] == [20_160, 13_440]
        assert self.left_after(3, rule="re-rate", matched=True) == 18_900

    def test_the_expected_cost_of_a_plan_that_refunds(self) -> None:
        """Ends in month 3 with a chance of one half: (8,400 + 26,880) / 2."""
        one = way(lease(terms={"refund": {"rule": "re-rate", "matched": False}}))
        table = {"annual": {found.months: found.cost for found in outcomes(one, [3, 12])}}
        found = downside(table, Ends.early({3: Fraction(1, 2)}, 12))
        assert found.risks["annual"].expected_cost == 17_640

    def test_co_terms(self) -> None:
        """4 annual, 4 more joined to their term in month 3 or 6: 188,160 and 161,280."""
        for start, cost in (("2026-04-01", 188_160), ("2026-07-01", 161_280)):
            joined = lease(4, start=start, joins=0, terms={"added": "co-term"})
            assert costs(way(lease(4), joined), 12) == [cost]

    def test_input_tax_that_comes_back_is_left_out(self) -> None:
        tax = {"rate": "0.06", "included": True}
        assert costs(way(lease(terms={"tax": tax})), 12) == [26_880]
        back = way(lease(terms={"tax": {**tax, "creditable": True}}))
        assert costs(back, 12) == [Decimal("25358.49")]


class TestDownside:
    """Monthly against annual, ending at month 3 with a chance of one half."""

    COSTS: ClassVar = {
        "monthly": {3: Decimal(8400), 12: Decimal(33_600)},
        "annual": {3: Decimal(26_880), 12: Decimal(26_880)},
    }

    def test_expected_cost_and_regret(self) -> None:
        found = downside(self.COSTS, Ends.early({3: Fraction(1, 2)}, 12))
        monthly, annual = found.risks["monthly"], found.risks["annual"]
        assert (monthly.expected_cost, annual.expected_cost) == (21_000, 26_880)
        # In month 3 annual is 18,480 too dear, in month 12 monthly is 6,720.
        assert (monthly.expected_regret, annual.expected_regret) == (3360, 9240)
        assert (monthly.largest_regret, annual.largest_regret) == (6720, 18_480)
        assert (monthly.wrong, annual.wrong) == (Fraction(1, 2), Fraction(1, 2))
        assert (found.cheapest, found.least_regret) == ("monthly", "monthly")
        assert [row.best for row in found.rows] == [("monthly",), ("annual",)]

    def test_the_probability_at_which_they_are_equal(self) -> None:
        chance = even_probability(Decimal(33_600), Decimal(8400), Decimal(26_880), Decimal(26_880))
        assert chance == Fraction(6720, 25_200)
        found = downside(self.COSTS, Ends.early({3: chance}, 12))
        assert round(found.risks["monthly"].expected_cost, 9) == 26_880
        assert even_probability(Decimal(1), Decimal(1), Decimal(2), Decimal(2)) is None

    def test_equal_costs_make_nobody_wrong(self) -> None:
        same = {"a": {12: Decimal(5)}, "b": {12: Decimal(5)}}
        found = downside(same, Ends({12: Fraction(1)}))
        assert found.risks["a"].wrong == 0
        assert found.rows[0].best == ("a", "b")

    def test_the_same_risk_every_month(self) -> None:
        ends = ends_with_hazard(Fraction(1, 10), 3)
        assert ends.chances == {1: Fraction(1, 10), 2: Fraction(9, 100), 3: Fraction(81, 100)}

    def test_the_hazard_at_which_two_ways_are_equal(self) -> None:
        months = [Decimal(2800 * month) for month in range(1, 13)]
        (even,) = even_hazards(months, [Decimal(26_880)] * 12)
        assert sum((1 - even) ** month for month in range(12)) == pytest.approx(9.6, abs=1e-12)
        # Over two months it is the probability of one early end: 6 p = 4 (1 - p).
        assert even_hazards([Decimal(10), Decimal(20)], [Decimal(16)] * 2) == pytest.approx((0.4,))
        assert even_probability(Decimal(20), Decimal(10), Decimal(16), Decimal(16)) == Fraction(2, 5)
        # p - 4 p (1 - p) + 2 (1 - p)^2 = (2 p - 1)(3 p - 2); with 3 for 2 it is never 0.
        zero = [Decimal(0)] * 3
        twice = even_hazards(zero, [Decimal(1), Decimal(-4), Decimal(2)])
        assert twice == pytest.approx((1 / 2, 2 / 3))
        assert even_hazards(zero, [Decimal(1), Decimal(-4), Decimal(3)]) == ()
        assert even_hazards(months, months) == ()

    @pytest.mark.parametrize(
        ("early", "full"),
        [
            ({3: Fraction(3, 2)}, 12),
            ({12: Fraction(1, 2)}, 12),
            ({0: Fraction(1, 2)}, 12),
            ({3: Fraction(-1)}, 12),
        ],
    )
    def test_bad_distributions_are_refused(self, early: dict[int, Fraction], full: int) -> None:
        with pytest.raises(ValueError, match=r"end|probabilit"):
            Ends.early(early, full)

    def test_probabilities_must_sum_to_one(self) -> None:
        with pytest.raises(ValueError, match="sum to 1"):
            Ends({3: Fraction(1, 2)})

    @settings(max_examples=50, deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from(["a", "b", "c"]),
            st.lists(st.integers(0, 10_000), min_size=4, max_size=4),
            min_size=1,
        ),
        st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any),
    )
    def test_regret_is_expected_cost_above_perfect_knowledge(
        self, table: dict[str, list[int]], weights: list[int]
    ) -> None:
        chances = {month + 1: Fraction(w, sum(weights)) for month, w in enumerate(weights)}
        asked = {name: {m + 1: Decimal(c) for m, c in enumerate(row)} for name, row in table.items()}
        found = downside(asked, Ends(chances))
        known = sum(chance * min(row[m - 1] for row in table.values()) for m, chance in chances.items())
        for risk in found.risks.values():
            assert float(risk.expected_cost - risk.expected_regret) == pytest.approx(float(known))
        assert found.risks[found.cheapest].expected_regret == min(
            r.expected_regret for r in found.risks.values()
        )


class TestMonthlyTable:
    def test_a_year_prepaid(self) -> None:
        """Known fault 9c: 12,000 over 2025 by hours; largest remainder leaves February at 920.54."""
        asked = scenario([lease(price=1250)], start="2025-01-01", zone="UTC")
        rows = monthly_table(ledger(asked), asked)
        assert [row.month for row in rows] == [f"2025-{month:02}" for month in range(1, 13)]
        assert rows[0].paid == {"purchase": 12_000}
        assert [row.cost for row in rows].count(Decimal("1019.18")) == 7
        assert [row.cost for row in rows].count(Decimal("986.30")) == 4
        assert rows[1].cost == Decimal("920.54")
        assert rows[-1].cost_so_far == rows[-1].cash_so_far == 12_000
        assert rows[0].prepaid == 12_000 - Decimal("1019.18")
        assert rows[-1].prepaid == 0

    def test_months_paid_in_advance(self) -> None:
        asked = scenario([lease(plan="monthly", start="2026-01-15", end="2026-03-15")], zone="UTC")
        rows = monthly_table(ledger(asked), asked)
        assert [(row.month, row.cash, row.cash_so_far) for row in rows] == [
            ("2026-01", 2800, 2800), ("2026-02", 2800, 5600), ("2026-03", 0, 5600),
        ]  # fmt: skip
        # 17 of 31 days; then 14 of those and 14 of 28; then the other 14.
        assert [row.cost for row in rows] == [Decimal("1535.48"), Decimal("2664.52"), Decimal("1400.00")]
        assert [row.prepaid for row in rows] == [Decimal("1264.52"), Decimal("1400.00"), 0]

    def test_a_contract_paid_before(self) -> None:
        asked = scenario([lease(started="2025-07-01", end="2026-07-01")], zone="UTC")
        rows = monthly_table(ledger(asked), asked)
        assert all(row.cash == 0 for row in rows)
        # 181 of 365 days of 26,880 are left at the start.
        assert rows[-1].cost_so_far == Decimal("13329.53")
        assert rows[-1].prepaid == 0
        assert rows[0].prepaid == rows[-1].cost_so_far - rows[0].cost


class TestVariance:
    BUDGET: ClassVar = [BudgetLine("a", Decimal(100), Decimal(4)), BudgetLine("b", Decimal(50), Decimal(10))]

    def test_pencil(self) -> None:
        """Budget 900 at a mean of 6. Actual 120 a at 4.5 and 60 b at 9: 1,080."""
        actual = [BudgetLine("a", Decimal(120), Decimal("4.5")), BudgetLine("b", Decimal(60), Decimal(9))]
        found = variance(self.BUDGET, actual)
        assert (found.budget, found.actual, found.total) == (900, 1080, 180)
        assert (found.volume, found.mix, found.rate) == (180, 0, 0)

    def test_mix_and_rate(self) -> None:
        """150 units as planned, 50 of them moved to b: 50 x (10 - 4) of mix; b is 1 dearer: 100 of rate."""
        actual = [BudgetLine("a", Decimal(50), Decimal(4)), BudgetLine("b", Decimal(100), Decimal(11))]
        found = variance(self.BUDGET, actual)
        assert (found.volume, found.mix, found.rate, found.total) == (0, 300, 100, 400)

    def test_a_line_that_nobody_planned_is_mix(self) -> None:
        found = variance(self.BUDGET, [*self.BUDGET, BudgetLine("c", Decimal(10), Decimal(25))])
        assert (found.volume, found.mix, found.rate) == (60, 190, 0)

    def test_names_stand_once(self) -> None:
        with pytest.raises(ValueError, match="name of its own"):
            variance(self.BUDGET * 2, [])

    @settings(max_examples=60, deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from("abcde"),
            st.tuples(*[st.integers(0, 999)] * 4),
        )
    )
    def test_the_parts_sum_to_the_whole(self, lines: dict[str, tuple[int, int, int, int]]) -> None:
        budget = [BudgetLine(n, Decimal(q), Decimal(p)) for n, (q, p, _, _) in lines.items()]
        actual = [BudgetLine(n, Decimal(q), Decimal(p)) for n, (_, _, q, p) in lines.items()]
        found = variance(budget, actual)
        assert float(found.volume + found.mix + found.rate) == pytest.approx(float(found.total), abs=1e-9)
        assert found.total == sum(q2 * p2 - q1 * p1 for q1, p1, q2, p2 in lines.values())
