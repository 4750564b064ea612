"""Failures and checkpoints against closed forms, each within a 99 % interval that is itself narrow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import lambertw

from sim.engine import run
from sim.model.fleet import CheckpointSpec, FleetPlan, LogNormal
from sim.streams import Streams
from sim.units import HOUR, MINUTE
from tests.build import failures, job_set, option, plan, pool, rates
from tests.theory.means import assert_mean

NOBODY = job_set([])
WIDTHS = [pytest.param(1, 0.05, id="short"), pytest.param(8, 0.02, id="long", marks=pytest.mark.long)]
"""How many times the default number of runs or machines, and the half-width that they must reach."""


def down_shares(spec: FleetPlan, seed: int) -> np.ndarray:
    """Share of time that each machine was down."""
    log = run(spec, NOBODY, rates(), Streams(seed))
    return np.array([lease.down_card_us / lease.gpus / log.horizon_us for lease in log.leases])


@pytest.mark.parametrize(("more", "width"), WIDTHS)
def test_availability_of_cards_with_as_many_repairs_as_needed(more: int, width: float) -> None:
    # MTBF 2000 h, repair 4 h: 2000 / 2004 = 0.998004 of the time up
    model = failures(2000, "gpu_reset", reset=LogNormal(4 * HOUR, 0.0))
    down = down_shares(plan(pool(600 * more, model=model), hours=8760 * 3), 5)
    assert pytest.approx(0.998004, abs=5e-7) == 2000 / 2004
    assert_mean(down, 4 / 2004, width)


@pytest.mark.parametrize(("more", "width"), WIDTHS)
def test_eight_cards_are_all_up_as_often_as_the_formula_says(more: int, width: float) -> None:
    # each up with probability 2000 / 2004, independently: 7.984032 up on average, all up 0.984143
    model = failures(2000, "gpu_reset", reset=LogNormal(4 * HOUR, 0.0))
    horizon, some_down, number_down = 8760 * 40, [], []
    for seed in range(10 * more):
        log = run(plan(pool(8, model=model), hours=horizon), NOBODY, rates(), Streams(seed))
        spans = sorted((f.at_us, min(f.back_us, log.horizon_us)) for f in log.failures)
        number_down.append(sum(end - begin for begin, end in spans) / log.horizon_us)
        covered, reached = 0, 0
        for begin, end in spans:
            covered += max(0, end - max(begin, reached))
            reached = max(reached, end)
        some_down.append(covered / log.horizon_us)
    assert pytest.approx(7.984032, abs=5e-7) == 8 * 2000 / 2004
    assert math.pow(2000 / 2004, 8) == pytest.approx(0.984143, abs=5e-7)
    assert_mean(np.array(number_down), 8 * 4 / 2004, width)
    assert_mean(np.array(some_down), 1 - (2000 / 2004) ** 8, width)


@pytest.mark.parametrize(("more", "width"), WIDTHS)
def test_availability_with_detection_repair_and_a_promise_not_always_kept(more: int, width: float) -> None:
    # seen after 0 to 2 h; then 2 to 4 h in four cases of five, else log-normal, median 6 h, sigma 0.5
    model = failures(
        100,
        "node",
        detect_us=(0, 2 * HOUR),
        migration_us=(2 * HOUR, 4 * HOUR),
        migration_kept=0.8,
        migration_late=LogNormal(6 * HOUR, 0.5),
    )
    away = 1 + 0.8 * 3 + 0.2 * 6 * math.exp(0.125)
    down = down_shares(plan(pool(200 * more, per_machine=2, model=model), hours=8760), 3)
    assert_mean(down, away / (100 + away), width)


@pytest.mark.parametrize(("cards", "kind", "machines"), [(2, "node", 2), (4, "node", 4), (8, "gpu_reset", 1)])
@pytest.mark.parametrize(("more", "width"), WIDTHS)
def test_a_gang_of_k_fails_at_k_times_the_rate(
    cards: int, kind: str, machines: int, more: int, width: float
) -> None:
    # each card or machine fails each 200 h on average: the gang is hit each 200 / k h of running
    hits, running = 0, 0.0
    model = failures(200, kind)
    for seed in range(30 * more):
        log = run(
            plan(pool(machines, per_machine=cards // machines, model=model), hours=20_000 / cards),
            job_set([(0, 1e6)], gpus=cards),
            rates(option(cards, spans=machines > 1)),
            Streams(seed),
        )
        hits += sum(a.ended == kind for a in log.attempts)
        running += sum(a.end_us - a.start_us for a in log.attempts) / HOUR
    low, high = stats.chi2.ppf([0.005, 0.995], [2 * hits, 2 * hits + 2]) / 2 / running
    print(f"{hits / running:.5f} in [{low:.5f}, {high:.5f}] against {cards / 200:.5f}")
    assert low <= cards / 200 <= high
    assert (high - low) / 2 <= width * cards / 200


def expected_hours(work: float, every: float, cost: float, rate: float, move: float) -> float:
    """Mean time to finish with checkpoints (Young 1974, Daly 2006; no checkpoint after the last piece)."""
    pieces = math.ceil(work / every)
    last = work - (pieces - 1) * every
    sum_of_pieces = (pieces - 1) * math.expm1(rate * (every + cost)) + math.expm1(rate * last)
    return (1 / rate + move) * sum_of_pieces


def test_the_formula_of_the_time_to_finish_gives_the_published_values() -> None:
    assert expected_hours(24, 1, 20 / 3600, 1 / 50, 1 / 6) == pytest.approx(24.453214, abs=5e-7)
    assert expected_hours(100, 0.5, 20 / 3600, 1 / 50, 1 / 6) == pytest.approx(101.957127, abs=5e-7)


def hours_to_finish(
    work: float, every_us: int | None, cost_us: int, seeds: int, kind: str = "node"
) -> np.ndarray:
    """Times of 200 machines a seed, each with one job; MTBF 50 h, moved in 10 min."""
    hours = []
    for seed in range(seeds):
        log = run(
            plan(
                pool(200, model=failures(50, kind)),
                checkpoint=CheckpointSpec(every_us, cost_us),
                hours=1_000,
            ),
            job_set([(0, work)] * 200),
            rates(),
            Streams(seed),
        )
        hours += [(job.end_us or 0) / HOUR for job in log.jobs]
    return np.array(hours)


@pytest.mark.parametrize(
    ("work", "every", "cost", "seeds"),
    [(24, HOUR, HOUR // 180, 5), (24, 5 * HOUR, 6 * MINUTE, 5), (30, None, 0, 5)],
)
def test_time_to_finish_with_checkpoints_and_migrations(
    work: float, every: int | None, cost: int, seeds: int
) -> None:
    truth = expected_hours(work, work if every is None else every / HOUR, cost / HOUR, 1 / 50, 1 / 6)
    assert_mean(hours_to_finish(work, every, cost, seeds), truth)


def test_the_shortest_time_is_at_dalys_interval() -> None:
    # MTBF 50 h, 20 s: Young 0.745356, Daly 0.741657, exact 0.741657 h
    def exact(cost: float, mtbf: float) -> float:
        return mtbf * (1 + float(lambertw(-math.exp(-cost / mtbf - 1)).real))

    assert math.sqrt(2 * 20 / 3600 * 50) == pytest.approx(0.745356, abs=5e-7)
    assert exact(20 / 3600, 50) == pytest.approx(0.741657, abs=5e-7)
    assert exact(0.25, 50) == pytest.approx(4.8347, abs=5e-5)
    # With 15 min a checkpoint 4.75 h is near the best interval: half and twice as much are worse by far
    # more than the noise, as all three meet the same failures.
    at = {every: hours_to_finish(57, round(every * HOUR), 15 * MINUTE, 4) for every in (2.375, 4.75, 9.5)}
    for every, hours in at.items():
        assert_mean(hours, expected_hours(57, every, 0.25, 1 / 50, 1 / 6))
    for every in (2.375, 9.5):
        worse = at[every] - at[4.75]
        assert worse.mean() > 2.6 * worse.std(ddof=1) / math.sqrt(worse.size)


@pytest.mark.long
@pytest.mark.parametrize(("work", "every", "cost"), [(24, HOUR, HOUR // 180), (100, HOUR // 2, HOUR // 180)])
def test_time_to_finish_within_two_per_cent(work: float, every: int, cost: int) -> None:
    truth = expected_hours(work, every / HOUR, cost / HOUR, 1 / 50, 1 / 6)
    assert_mean(hours_to_finish(work, every, cost, 40), truth, 0.02)
