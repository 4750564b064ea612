"""How much to commit: newsvendor and ski rental, against pencil, enumeration and their bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.billing.finance.commitment import (
    Demand,
    commit,
    empirical,
    newsvendor,
    poisson,
    uniform,
)
from sim.billing.finance.ski_rental import randomised_months, ski_rental, worst_ratio


def by_hand(chances: list[float], k: int, c: float, p: float) -> float:
    """c k + p E[(D - k)+], summed over the chances themselves."""
    return c * k + p * math.fsum((d - k) * chance for d, chance in enumerate(chances) if d > k)


def poisson_chances(mean: float) -> list[float]:
    return [math.exp(-mean) * mean**d / math.factorial(d) for d in range(120)]


class TestNewsvendor:
    @pytest.mark.parametrize(
        ("demand", "fallback", "k", "cost"),
        [
            (poisson(4), 2800, 2, "10387.70"),
            (poisson(6), 2800, 4, "15212.41"),
            (uniform(0, 8), 2800, 1, "10951.11"),
            (uniform(1, 8), 2800, 2, "11830.00"),
            (poisson(4), 15_000, 6, "16371.52"),
            (poisson(6), 15_000, 9, "22578.88"),
        ],
    )
    def test_check_values(self, demand: Demand, fallback: int, k: int, cost: str) -> None:
        found = commit(demand, Fraction(2240), Fraction(fallback))
        assert (found.newsvendor, found.enumerated) == (k, k)
        assert f"{float(found.costs[k]):.2f}" == cost
        assert found.costs[k] == min(found.costs)

    def test_critical_ratio(self) -> None:
        assert commit(poisson(4), Fraction(2240), Fraction(2800)).critical_ratio == Fraction(1, 5)
        ratio = commit(poisson(4), Fraction(2240), Fraction(15_000)).critical_ratio
        assert round(float(ratio), 4) == 0.8507

    @pytest.mark.parametrize("mean", [0.3, 1.0, 2.5, 9.0, 17.4])
    @pytest.mark.parametrize(("c", "p"), [(2240, 2800), (1, 50), (49, 50), (2975, 12_000)])
    def test_poisson_by_enumeration(self, mean: float, c: int, p: int) -> None:
        chances = poisson_chances(mean)
        costs = [by_hand(chances, k, c, p) for k in range(60)]
        found = commit(poisson(mean), Fraction(c), Fraction(p))
        assert found.newsvendor == found.enumerated == costs.index(min(costs))
        for k in range(min(60, len(found.costs))):
            assert float(found.costs[k]) == pytest.approx(costs[k], rel=1e-9)

    @settings(max_examples=80, deadline=None)
    @given(
        st.lists(st.integers(0, 30), min_size=1, max_size=25).filter(any),
        st.integers(1, 3000),
        st.integers(1, 3000),
    )
    def test_empirical_by_enumeration(self, weights: list[int], c: int, p: int) -> None:
        total = sum(weights)
        costs = [
            c * k + Fraction(p * sum((d - k) * w for d, w in enumerate(weights) if d > k), total)
            for k in range(len(weights) + 1)
        ]
        found = commit(empirical(weights), Fraction(c), Fraction(p))
        # Exact, ties included: the smallest of equal ones by either way.
        assert found.newsvendor == found.enumerated == costs.index(min(costs))
        assert list(found.costs) == costs[: len(found.costs)]

    def test_a_tie_goes_to_the_smaller_number(self) -> None:
        # U{1..5}, ratio 0.2 = F(1): one and two cards cost the same.
        found = commit(uniform(1, 5), Fraction(2240), Fraction(2800))
        assert found.costs[1] == found.costs[2]
        assert found.newsvendor == found.enumerated == 1

    def test_a_fallback_that_is_no_dearer_needs_no_commitment(self) -> None:
        assert newsvendor(uniform(3, 5), Fraction(10), Fraction(10)) == 0
        assert commit(uniform(3, 5), Fraction(12), Fraction(10)).enumerated == 0

    def test_demand_that_is_never_zero_is_covered(self) -> None:
        assert commit(uniform(3, 3), Fraction(9), Fraction(10)).newsvendor == 3
        assert commit(empirical([10]), Fraction(9), Fraction(10)).newsvendor == 0

    @pytest.mark.parametrize("bad", [(-1, 3), (4, 3)])
    def test_bad_demand_is_refused(self, bad: tuple[int, int]) -> None:
        with pytest.raises(ValueError, match="a uniform demand"):
            uniform(*bad)
        with pytest.raises(ValueError, match="not all 0"):
            empirical([0, 0])
        with pytest.raises(ValueError, match="mean"):
            poisson(0)
        with pytest.raises(ValueError, match="above 0"):
            commit(uniform(0, 1), Fraction(0), Fraction(1))

    def test_excess_is_the_mean_of_what_is_short(self) -> None:
        assert uniform(0, 8).excess(1) == Fraction(28, 9)
        assert uniform(1, 8).excess(2) == Fraction(21, 8)
        assert float(poisson(4).excess(2)) == pytest.approx(2 + 6 * math.exp(-4), rel=1e-12)


class TestSkiRental:
    def test_check_values(self) -> None:
        found = ski_rental(Fraction(2800), Fraction(26_880))
        assert found.rented_months == 9
        assert (found.worst_cost, found.best_cost) == (52_080, 26_880)
        assert found.worst == Fraction("1.9375")
        assert found.bound == 2
        assert round(found.randomised_bound, 3) == 1.582
        late = worst_ratio(10, Fraction(2800), Fraction(26_880))
        assert round(float(late), 2) == 2.04
        assert late > found.bound

    @pytest.mark.parametrize("share", ["0", "0.1", "0.5", "0.9"])
    @pytest.mark.parametrize(
        ("month", "price"), [(2800, 26_880), (2800, 28_560), (2800, 7980), (7, 100), (5, 3)]
    )
    def test_no_end_is_worse_than_the_bound(self, share: str, month: int, price: int) -> None:
        m, b, a = Fraction(month), Fraction(price), Fraction(share)
        found = ski_rental(m, b, a)
        n, worst = found.rented_months, Fraction(0)
        for need in range(1, 400):
            paid = need * m if need <= n else n * m + b + a * m * (need - n)
            best = min(need * m, b + a * m * need)
            worst = max(worst, paid / best)
        assert worst <= 2 - a == found.bound
        assert worst == max(found.worst, Fraction(1))

    @pytest.mark.parametrize("share", ["0", "0.25", "0.8"])
    @pytest.mark.parametrize(("month", "price"), [(2800, 26_880), (1, 40), (2, 3)])
    def test_the_randomised_rule_keeps_its_bound(self, share: str, month: int, price: int) -> None:
        m, b, a = float(month), float(price), float(share)
        chances = randomised_months(Fraction(month), Fraction(price), Fraction(share))
        assert math.fsum(chances.values()) == pytest.approx(1)
        bound = math.e / (math.e - 1 + a)
        for need in range(1, 400):
            paid = math.fsum(
                chance * (need * m if n is None or need <= n else n * m + b + a * m * (need - n))
                for n, chance in chances.items()
            )
            assert paid <= bound * min(need * m, b + a * m * need) * (1 + 1e-12)

    def test_the_randomised_bound_is_nearly_reached_in_small_steps(self) -> None:
        chances = randomised_months(Fraction(1), Fraction(1000))
        paid = math.fsum(
            chance * (1000 if n is None or n >= 1000 else n + 1000) for n, chance in chances.items()
        )
        assert paid / 1000 == pytest.approx(math.e / (math.e - 1), rel=1e-3)

    @pytest.mark.parametrize(("month", "price", "share"), [(0, 1, 0), (1, 0, 0), (1, 1, 1), (1, 1, -1)])
    def test_bad_prices_are_refused(self, month: int, price: int, share: int) -> None:
        with pytest.raises(ValueError, match="prices"):
            ski_rental(Fraction(month), Fraction(price), Fraction(share))
