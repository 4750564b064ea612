"""The demand of a scenario, counted: by pencil, against a slow twin, and beside the newsvendor."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.errors import InputError
from sim.experiments.commitment import peaks, sample_demand, simulate_commitments
from sim.load import load
from sim.model.lease import Lease
from sim.units import HOUR, MONTH

SCENARIO = """\
name: Ten hours
start: 2026-01-01
timezone: UTC
horizon: {horizon}
workload:
  trace: {{file: jobs.csv}}
reliability: {{profile: none}}
strategies:
  - name: one card
    leases:
      - {{offer: a100-40g-custom, count: 1, plan: annual}}
experiment: {{replications: 1, seed: 1, warm_up: {warm_up}}}
"""
LEASE = Lease(offer="a100-40g-custom", plan="annual")


@pytest.fixture
def ten_hours(tmp_path: Path):
    """A function that writes a scenario with jobs (submitted at hour, cards, hours) and loads it."""

    def make(jobs: list[tuple[float, int, float]], horizon: str = "10h", warm_up: str = "0h"):
        lines = [f"j{n},{round(at * 3600)},{g},{round(run * 3600)}" for n, (at, g, run) in enumerate(jobs)]
        (tmp_path / "jobs.csv").write_text("\n".join(["id,submit_s,gpus,runtime_s", *lines]) + "\n")
        file = tmp_path / "ten.yaml"
        file.write_text(SCENARIO.format(horizon=horizon, warm_up=warm_up))
        return load(file)

    return make


class TestPeaks:
    def test_pencil(self) -> None:
        """One card from 0:30 to 2:00, two more from 1:59 to 2:00, and one from 2:00 on."""
        stays = [(HOUR // 2, 2 * HOUR, 1), (2 * HOUR - 1, 2 * HOUR, 2), (2 * HOUR, 4 * HOUR, 1)]
        assert peaks(stays, HOUR, 0, 5).tolist() == [1, 3, 1, 1, 0]
        assert peaks(stays, HOUR, 2, 4).tolist() == [1, 1]

    def test_nobody(self) -> None:
        assert peaks([], HOUR, 0, 3).tolist() == [0, 0, 0]

    @settings(max_examples=100, deadline=None)
    @given(
        st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30), st.integers(1, 4)), max_size=12),
        st.integers(1, 13),
        st.integers(0, 3),
    )
    def test_against_a_slow_twin(self, jobs: list[tuple[int, int, int]], period: int, first: int) -> None:
        stays = [(at, at + run, cards) for at, run, cards in jobs]
        found = peaks(stays, period, first, first + 5)
        for number in range(5):
            moments = range((first + number) * period, (first + number + 1) * period)
            slow = max(sum(c for begin, end, c in stays if begin <= t < end) for t in moments)
            assert found[number] == slow


class TestDemand:
    def test_pencil(self, ten_hours) -> None:
        """Two cards in hours 0 and 1, one of them until hour 4, three at once in hour 8."""
        question = ten_hours([(0, 1, 2), (0, 1, 4), (8, 3, 0.5)])
        found = sample_demand(question, question.scenario.strategies[0], LEASE, replications=1)
        assert found.weights == (5, 2, 2, 1)
        assert found.periods == 10
        assert found.mean_busy == pytest.approx((2 + 4 + 1.5) / 10)
        assert (found.refused, found.replications) == (0, 1)

    def test_the_warm_up_is_cut(self, ten_hours) -> None:
        question = ten_hours([(0, 1, 2), (0, 1, 4), (8, 3, 0.5)], warm_up="2h")
        found = sample_demand(question, question.scenario.strategies[0], LEASE, replications=1)
        assert found.weights == (5, 2, 0, 1)

    def test_machines_are_counted_whole(self, ten_hours) -> None:
        question = ten_hours([(0, 1, 2), (1, 8, 2)])
        machine = Lease(offer="a100-40g-8x", plan="annual")
        found = sample_demand(question, question.scenario.strategies[0], machine, replications=1)
        # Hour 0: one card; hour 1: nine; hour 2: eight.
        assert found.weights == (7, 2, 1)

    def test_a_fleet_grows_until_it_is_ample(self, ten_hours) -> None:
        question = ten_hours([(1, 1, 1)] * 40)
        found = sample_demand(question, question.scenario.strategies[0], LEASE, replications=1)
        assert found.weights == (9, *[0] * 39, 1)
        assert found.fleet > 40

    def test_a_horizon_without_a_period_is_refused(self, ten_hours) -> None:
        question = ten_hours([(0, 1, 1)])
        with pytest.raises(InputError, match="whole period"):
            sample_demand(question, question.scenario.strategies[0], LEASE, MONTH, 1)

    def test_any_number_of_workers_counts_alike(self, ten_hours) -> None:
        question = ten_hours([(0, 1, 2), (3, 2, 1)])
        base = question.scenario.strategies[0]
        one, two = (
            sample_demand(question, base, LEASE, replications=3, workers=workers) for workers in (1, 2)
        )
        assert one == two


class TestSimulated:
    def test_costs_by_pencil(self, ten_hours) -> None:
        """No job waits on two cards: their cost is the year's share; nothing is rented by the hour."""
        question = ten_hours([(0, 1, 2), (0, 1, 4)], horizon="365d")
        base = question.scenario.strategies[0]
        found = simulate_commitments(question, base, LEASE, "a100-public-hourly", [2, 3], 8, 2)
        assert [trial.committed for trial in found] == [2, 3]
        assert [trial.mean for trial in found] == pytest.approx([4480, 6720])
        assert found[0].wait_p95_h == 0
        assert found[0].refused == 0

    def test_what_is_not_committed_is_rented(self, ten_hours) -> None:
        """Nothing committed: two hours and four hours at 30 CNY, in whole hours, after the delay."""
        question = ten_hours([(0, 1, 2), (0, 1, 4)], horizon="365d")
        base = question.scenario.strategies[0]
        (found,) = simulate_commitments(question, base, LEASE, "a100-public-hourly", [0], 8, 1)
        assert found.mean * 12 == pytest.approx(6 * 30, abs=2 * 30)
        assert (found.wait_p95_h or 0) > 0
