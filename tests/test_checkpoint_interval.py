"""The interval between checkpoints: closed forms, and what simulated jobs make of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from sim.decisions.checkpoints import daly, interval, young
from sim.engine import run
from sim.errors import InputError
from sim.load import load_text
from sim.model.failures import CheckpointSpec, FailureModel, SharedEvents
from sim.model.fleet import LogNormal
from sim.replication import prepare
from sim.streams import Streams
from sim.units import HOUR, MINUTE, SECOND
from tests.build import failures, job_set, option, plan, pool, rates
from tests.load_helpers import SMALL


def test_youngs_interval_by_hand() -> None:
    # sqrt(2 x 5 s x 8,760 h): 17,758.4 s = 4.93 h on one card; an eighth of the time between: 1.74 h
    assert young(5.0, 8760 * 3600.0) == pytest.approx(17_758.4, abs=0.1)
    assert young(5.0, 8760 * 3600 / 8) / 3600 == pytest.approx(1.74404, abs=5e-5)
    assert young(60.0, 10_000.0) == pytest.approx(math.sqrt(1_200_000))


def test_dalys_interval_by_hand() -> None:
    # C = 2, M = 100: C/2M = 0.01; 20 (1 + 0.1/3 + 0.01/9) - 2 = 18.688889
    assert daly(2, 100) == pytest.approx(18.688889, abs=1e-6)
    assert daly(200, 100) == 100  # writing takes twice the time between interruptions: M itself
    assert daly(500, 100) == 100
    assert daly(0, 100) == 0


def test_dalys_interval_is_nearer_to_the_best_than_youngs() -> None:
    """Against the exact minimum of the mean run time, for a cost of a fifth of the time between."""
    cost, between, work = 2.0, 10.0, 1e4
    tries = np.linspace(1, 20, 20_000)
    times = [(between / t) * math.expm1((t + cost) / between) * work for t in tries]
    best = tries[int(np.argmin(times))]
    assert abs(daly(cost, between) - best) < 0.02 * best
    assert abs(young(cost, between) - best) > 0.1 * best


def test_nothing_interrupts_no_checkpoint_and_a_free_one_has_a_shortest_interval() -> None:
    assert interval("young", MINUTE, 0.0) is None
    assert interval("daly", 0, 1 / HOUR) == SECOND
    assert interval("young", 2 * MINUTE, 1 / (60 * MINUTE)) == round(math.sqrt(240) * MINUTE)


def model(**changes: object) -> FailureModel:
    """Rates as in the table of the facts, A100: cards 100,000 and 10,000 h, machines 50,000 and 75,000 h."""
    times = {"gpu_fatal": 100_000, "gpu_reset": 10_000, "node": 50_000, "network": 75_000}
    return failures(mtbf_us={kind: hours * HOUR for kind, hours in times.items()}, **changes)


def test_the_mean_time_between_interruptions_of_a_job_by_hand() -> None:
    def hours(cards: int, machines: int, per_machine: int, of: FailureModel) -> float:
        return 1 / of.interruptions_per_us(cards, machines, per_machine) / HOUR

    # one card in a machine of its own: 1/100k + 1/10k + 1/50k + 1/75k = 14.3333e-5 an hour
    assert hours(1, 1, 1, model()) == pytest.approx(1e5 / 14.333333, rel=1e-6)
    # eight cards: 8/100k + 8/10k + 1/50k + 1/75k = 91.3333e-5: one in 1,094.9 h, 45.6 days
    assert hours(8, 1, 8, model()) / 24 == pytest.approx(45.62, abs=0.01)
    # one of eight: a fatal failure of any card hits it: 8/100k + 1/10k + 3.3333e-5 = 21.3333e-5
    assert hours(1, 1, 8, model()) == pytest.approx(1e5 / 21.333333, rel=1e-6)
    # two machines double it; a switch for four machines each 1,000 h adds once 1/1000
    assert hours(16, 2, 8, model()) == pytest.approx(1e5 / 182.66667, rel=1e-6)
    switch = {"switch": SharedEvents(1000 * HOUR, LogNormal(HOUR, 0), 4)}
    assert hours(16, 2, 8, model(shared=switch)) == pytest.approx(1e5 / 282.66667, rel=1e-6)
    # silent errors interrupt nobody; of memory errors of neighbours only those that replace the machine
    errors = {"silent_corruption": HOUR, "ecc_uncorrectable": 1000 * HOUR}
    rare = failures(mtbf_us=errors, contained=0.92)
    assert hours(1, 1, 8, rare) == pytest.approx(1000 / 1.56, rel=1e-6)


@pytest.mark.parametrize(("rule", "every"), [("young", 20.0), ("daly", 18.688889)])
def test_jobs_save_at_the_interval_of_the_rule(rule: str, every: float) -> None:
    # cost 2 min, an interruption each 100 min: 63 min hold 2 x (20 + 2) or 3 x (18.69 + 2)
    spec = plan(
        pool(1, model=failures(100 / 60, "gpu_reset")),
        checkpoint=CheckpointSpec(None, 2 * MINUTE, rule),  # type: ignore[arg-type]
        hours=63 / 60,
    )
    lucky = next(s for s in range(50) if not run(spec, job_set([(0, 10)]), rates(), Streams(s)).failures)
    (stay,) = run(spec, job_set([(0, 10)]), rates(), Streams(lucky)).attempts
    written, rest = divmod(63.0, every + 2)
    assert stay.checkpoint_us / MINUTE == pytest.approx(2 * written + max(0.0, rest - every), abs=1e-5)


def test_the_cost_of_the_shape_counts_and_never_is_never() -> None:
    way = option(checkpoint_us=2 * MINUTE)
    spec = plan(pool(1), checkpoint=CheckpointSpec(None, None, "daly"))
    log = run(spec, job_set([(0, 10)]), rates(way), Streams(0))
    assert log.attempts[0].checkpoint_us == 0  # nothing fails
    spec = plan(pool(1, model=failures(1e5)), checkpoint=CheckpointSpec(None, None, "young"), hours=1e4)
    log = run(spec, job_set([(0, 500)]), rates(way), Streams(0))
    # sqrt(2 x 2 min x 100,000 h) = 81.65 h: six on the way through 500 h
    assert log.attempts[0].checkpoint_us == 6 * 2 * MINUTE


WORK, COST, BETWEEN, RESTART = 20.0, 0.1, 5.0, 0.2
"""Hours: the work of a job, one checkpoint, between two interruptions on average, a restart."""


def expected_run(every: float) -> float:
    """Mean time from start to end, hours, closed form (Daly 2006, equation 20 and its text).

    A piece of work and its checkpoint need the time x without a break. With failures at rate r, they
    take (exp(r x) - 1) exp(r R) / r on average when each new try begins with a restart R, in which
    it may fail again. The last piece is not saved.
    """
    pieces = math.ceil(WORK / every - 1e-9)
    last = WORK - (pieces - 1) * every
    tries = (pieces - 1) * math.expm1((every + COST) / BETWEEN) + math.expm1(last / BETWEEN)
    return BETWEEN * math.exp(RESTART / BETWEEN) * tries


def mean_run(every: float, jobs: int) -> tuple[float, float]:
    """Simulated mean run time and the half-width of its 99 % interval, hours; a card a job."""
    model = failures(BETWEEN, "node", migration_us=(0, 0))
    spec = plan(
        pool(jobs, model=model),
        checkpoint=CheckpointSpec(round(every * HOUR), round(COST * HOUR)),
        hours=300,
    )
    way = option(restart_us=round(RESTART * HOUR))
    log = run(spec, job_set([(0, WORK)] * jobs), rates(way), Streams(11))
    assert {job.state for job in log.jobs} == {"done"}
    times = np.array([job.run_us / HOUR for job in log.jobs])
    half = stats.t.ppf(0.995, jobs - 1) * times.std(ddof=1) / math.sqrt(jobs)
    return float(times.mean()), float(half)


def test_simulated_run_times_are_flat_near_the_best_interval_and_worse_far_from_it() -> None:
    best = daly(COST, BETWEEN)
    found = {factor: mean_run(best * factor, 1200) for factor in (0.1, 0.7, 1.0, 1.4, 6.0)}
    truth = {factor: expected_run(best * factor) for factor in found}
    for factor, (mean, half) in found.items():
        assert half < 0.04 * truth[factor]
        assert abs(mean - truth[factor]) <= half, (
            f"{factor}: {mean:.3f} +- {half:.3f}, not {truth[factor]:.3f}"
        )
    # Flat: from 0.7 to 1.4 times the best, the closed form rises by less than 2 %.
    assert max(truth[factor] for factor in (0.7, 1.4)) < 1.02 * truth[1.0]
    # Steep: far from it, the simulated times are worse by more than both intervals and a tenth.
    for factor in (0.1, 6.0):
        assert found[factor][0] - found[factor][1] > 1.1 * (found[1.0][0] + found[1.0][1])


def test_the_scenario_names_the_rule() -> None:
    question = load_text(SMALL, ("checkpoint.every=daly",))
    assert prepare(question).plans[0].checkpoint == CheckpointSpec(None, None, "daly")
    with pytest.raises(InputError, match="never, young or daly"):
        load_text(SMALL, ("checkpoint.every=often",))
