"""Constrained selection: planted problems, the share of right answers, and what an equal split needs."""

from functools import cache

import numpy as np
import pytest

from sim.experiments.selection import ConstrainedSelection, Limit, Observation

TRIALS = 400

# Cost of a fleet (CNY a year, thousands) and its mean wait (h); the wait may be 4 h. Reserved fleets: the
# cost hardly varies, the doubt is in the wait. The right answer is the system named first.
PLANTED = {
    "doubt in the wait": (
        2,
        [80, 100, 120, 140, 160, 180, 200, 220],
        [12.0, 4.8, 3.2, 2.4, 1.9, 1.5, 1.2, 1.0],
        [0.5] * 8,
        [3.0, 1.6, 1.0, 0.8, 0.6, 0.5, 0.4, 0.4],
    ),
    "nearly the limit": (
        2,
        [80, 100, 120, 140, 160, 180, 200, 220],
        [12.0, 4.5, 3.5, 2.4, 1.9, 1.5, 1.2, 1.0],
        [0.5] * 8,
        [3.0, 1.6, 1.0, 0.8, 0.6, 0.5, 0.4, 0.4],
    ),
    "doubt in the cost": (
        0,
        [100, 102, 104, 108, 112, 120, 90, 95],
        [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 8.0, 6.0],
        [4.0] * 8,
        [0.5] * 8,
    ),
    "none will do": (None, [80, 100, 120, 140], [12.0, 9.0, 7.0, 5.0], [0.5] * 4, [3.0, 2.0, 1.5, 1.2]),
}
LIMIT = Limit(4.0, zone=0.4)
COST_ZONE = 2.0


def select(problem, generator, confidence=0.95):
    _, costs, waits, cost_sd, wait_sd = problem
    procedure = ConstrainedSelection(len(costs), [LIMIT], COST_ZONE, confidence)
    while not procedure.done:
        luck = generator.standard_normal()  # common random numbers: all waits share a part of their luck
        procedure.tell(
            {
                i: Observation(
                    costs[i] + cost_sd[i] * generator.standard_normal(),
                    (waits[i] + wait_sd[i] * (0.8 * luck + 0.6 * generator.standard_normal()),),
                )
                for i in procedure.wanted
            }
        )
    return procedure


@cache
def selections(name):
    """The procedure of each trial of a planted problem, and the share of them that chose right."""
    generator = np.random.default_rng(20261130)
    procedures = [select(PLANTED[name], generator) for _ in range(TRIALS)]
    return procedures, np.mean([procedure.best == PLANTED[name][0] for procedure in procedures])


def equal_split(problem, generator, replications, trials=4000):
    """Share of right answers where every system gets so many replications, from their means alone."""
    right, costs, waits, cost_sd, wait_sd = (
        np.array(part, dtype=float) if isinstance(part, list) else part for part in problem
    )
    shape = (trials, len(costs))
    luck = generator.standard_normal((trials, 1))
    scale = np.sqrt(replications)
    cost = costs + cost_sd / scale * generator.standard_normal(shape)
    wait = waits + wait_sd / scale * (0.8 * luck + 0.6 * generator.standard_normal(shape))
    price = np.where(wait <= LIMIT.value, cost, np.inf)
    chosen = np.where(np.isfinite(price.min(axis=1)), price.argmin(axis=1), -1)
    return (chosen == (-1 if right is None else right)).mean()


@pytest.mark.parametrize("name", PLANTED)
def test_right_in_at_least_the_share_asked_for(name):
    _, right = selections(name)
    assert right >= 0.95


@pytest.mark.parametrize("name", ["doubt in the wait", "nearly the limit", "doubt in the cost"])
def test_half_the_replications_of_an_equal_split(name):
    problem, generator = PLANTED[name], np.random.default_rng(7)
    procedures, share = selections(name)
    spent = np.mean([procedure.spent for procedure in procedures])
    equal = next(n for n in range(2, 20_000, 2) if equal_split(problem, generator, n) >= share)
    assert spent <= 0.5 * equal * len(problem[1]), (share, spent, equal * len(problem[1]))


def told(procedure, observations):
    """Tell the same observation of each wanted system until the procedure is done."""
    for _ in range(1000):
        if procedure.done:
            return procedure
        procedure.tell({i: observations[i] for i in procedure.wanted})
    pytest.fail("not done")


def test_without_luck_the_first_replications_decide():
    observations = [Observation(90, (5.0,)), Observation(100, (3.0,)), Observation(110, (1.0,))]
    procedure = told(ConstrainedSelection(3, [LIMIT], COST_ZONE), observations)
    assert procedure.best == 1
    assert procedure.standing == ["infeasible", "feasible", "feasible"]
    assert procedure.beaten_by == [None, None, 1]
    assert procedure.spent == 30


def test_of_two_that_cost_the_same_the_first_is_chosen():
    observations = [Observation(100, (1.0,)), Observation(100, (3.0,))]
    assert told(ConstrainedSelection(2, [LIMIT], COST_ZONE), observations).best == 0


def test_exactly_at_the_limit_meets_it():
    assert told(ConstrainedSelection(1, [LIMIT], COST_ZONE), [Observation(1, (4.0,))]).best == 0


def test_a_lower_limit_is_met_from_above():
    share = Limit(0.95, zone=0.01, at_least=True)
    observations = [Observation(1, (0.9,)), Observation(2, (0.97,))]
    procedure = told(ConstrainedSelection(2, [share], COST_ZONE), observations)
    assert procedure.best == 1
    assert procedure.standing == ["infeasible", "feasible"]


def test_one_of_two_limits_missed_is_infeasible():
    observations = [Observation(1, (1.0, 9.0)), Observation(2, (1.0, 1.0))]
    assert told(ConstrainedSelection(2, [LIMIT, LIMIT], COST_ZONE), observations).best == 1


def test_without_a_limit_the_cheapest_is_chosen():
    observations = [Observation(3, ()), Observation(2, ()), Observation(4, ())]
    assert told(ConstrainedSelection(3, [], COST_ZONE), observations).best == 1


def test_a_dearer_system_sleeps_while_the_cheaper_is_in_doubt():
    generator = np.random.default_rng(1)
    procedure = ConstrainedSelection(2, [LIMIT], COST_ZONE)
    while not procedure.done:
        doubtful = 4.3 + 2.0 * generator.standard_normal()
        found = {0: Observation(100, (doubtful,)), 1: Observation(200, (1.0,))}
        procedure.tell({i: found[i] for i in procedure.wanted})
    assert procedure.best == 1
    assert procedure.replications(0) > 3 * 10
    assert procedure.replications(1) == 10


@pytest.mark.parametrize(
    "arguments",
    [(0, [], 1.0), (2, [], 0.0), (2, [Limit(1.0, zone=0.0)], 1.0), (2, [], 1.0, 0.95, 1)],
)
def test_what_cannot_be_asked(arguments):
    with pytest.raises(ValueError, match=r"needs a system|zone must be above 0"):
        ConstrainedSelection(*arguments)


def test_only_what_is_wanted_is_taken():
    procedure = ConstrainedSelection(2, [LIMIT], COST_ZONE)
    with pytest.raises(ValueError, match=r"wanted are the systems \(0, 1\)"):
        procedure.tell({0: Observation(1, (1.0,))})
