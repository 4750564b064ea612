"""Jobs that share one card against closed forms of processor sharing, within 99 % intervals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sim.decisions.sharing import shared_speed
from sim.model.sharing import SharingSpec, SpeedCurve
from sim.units import HOUR
from tests.build import plan
from tests.sharing_cases import EQUAL_PARTS, PRESET, needing, played, shared, sharing
from tests.theory.means import (
    Service,
    assert_mean,
    constant,
    exponential,
    gamma_2,
    jobs_of,
    one_server,
    uniform,
)

ALL = 48
"""Jobs on the card at most: more than ever come at the loads here."""
RATE = 0.6


def mean_sojourns(rate: float, service: Service, spec: SharingSpec, replications: int, n: int) -> np.ndarray:
    """A row a replication: mean time from submission to end, and controls of mean 0 (see `mean_waits`)."""
    rows = []
    for seed in range(replications):
        jobs = jobs_of(rate, service, n, seed)
        log = played(plan(shared(1, spec), hours=10 * n), jobs, needing(0.5))
        sojourns = [(log.jobs[job.id].end_us - job.submit_us) / HOUR for job in jobs.jobs[n // 10 :]]
        submits = np.array([job.submit_us for job in jobs.jobs]) / HOUR
        works = np.array([job.work for job in jobs.jobs]) / HOUR
        waits = np.maximum.accumulate(submits - np.concatenate([[0.0], np.cumsum(works[:-1])]))
        waits += np.concatenate([[0.0], np.cumsum(works[:-1])]) - submits
        rows.append(
            (
                np.mean(sojourns),
                submits[-1] / n - 1 / rate,
                works.mean() - 1,
                waits[n // 10 :].mean() - one_server(rate, service),
            )
        )
    return np.array(rows)


def equal_parts(jobs: int = ALL) -> SharingSpec:
    """k jobs each run at 1/k of the card's speed."""
    return sharing(jobs, curve=EQUAL_PARTS, recorded=Fraction(1))


def test_m_m_1_under_processor_sharing() -> None:
    # 1 / (1 - 0.6) = 2.5 h in all (Kleinrock 1967).
    assert_mean(mean_sojourns(RATE, exponential, equal_parts(), 20, 800), 1 / (1 - RATE))


@pytest.mark.parametrize("service", [constant, uniform, gamma_2], ids=["M/D/1", "M/U/1", "M/gamma/1"])
def test_processor_sharing_asks_only_for_the_mean(service: Service) -> None:
    """Insensitivity: any law of run times with this mean has the same mean sojourn."""
    assert_mean(mean_sojourns(RATE, service, equal_parts(), 15, 800), 1 / (1 - RATE))


def test_two_at_a_time_in_equal_parts_change_nothing_for_exponential_jobs() -> None:
    """The card always works at rate 1 where somebody is there, so the number of jobs is that of M/M/1."""
    assert_mean(mean_sojourns(RATE, exponential, equal_parts(2), 20, 800), 1 / (1 - RATE))


def chain(rate: float, curve: SpeedCurve, most: int, demand: Fraction) -> float:
    """Mean sojourn of exponential jobs, `most` of which share a card by a curve: a birth-death chain."""
    weights, weight, number = [1.0], 1.0, 0
    while weight > 1e-14 or number < 50:
        number += 1
        there = min(number, most)
        weight *= rate / (there * float(shared_speed(curve, [demand] * there)))
        weights.append(weight)
    shares = np.array(weights) / sum(weights)
    return float((shares * np.arange(len(shares))).sum()) / rate


def test_the_chain_gives_known_values() -> None:
    assert chain(RATE, EQUAL_PARTS, ALL, Fraction(1)) == pytest.approx(2.5)
    # Nobody slows anybody, one place: M/M/1; very many places: M/M/infinity, one hour.
    harmless = SpeedCurve.of([(0, 1)], 10**9, 0)
    assert chain(RATE, harmless, 1, Fraction(1)) == pytest.approx(2.5)
    assert chain(RATE, harmless, ALL, Fraction(1)) == pytest.approx(1.0)


@pytest.mark.parametrize(("most", "demand"), [(3, "0.9"), (2, "0.4")])
def test_the_preset_against_its_birth_death_chain(most: int, demand: str) -> None:
    spec = sharing(most, curve=PRESET, recorded=Fraction(demand))
    rows = mean_sojourns(RATE, exponential, spec, 20, 800)
    assert_mean(rows, chain(RATE, PRESET, most, Fraction(demand)))
