"""Queue policies against a pencil: aging, fair share, and which keys go with which policy."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.decisions.policies import POLICIES
from sim.engine import run
from sim.errors import InputError
from sim.experiments.assumptions import scenario_assumptions
from sim.load import load_text
from sim.model.fleet import PolicyParameters
from sim.replication import fleet_plan
from sim.streams import Streams
from sim.units import DAY, HOUR
from tests.build import changed, gangs, job_set, plan, pool, rates, starts

STREAMS = Streams(7)


@pytest.mark.parametrize(
    ("aging", "expected"), [(None, [0, 5, 4]), (4, [0, 5, 4]), (2, [0, 4, 7]), (1, [0, 4, 7])]
)
def test_a_step_of_priority_is_worth_so_much_waiting(aging: float | None, expected: list[float]) -> None:
    # Job 1 has waited two hours more than job 2, which has one step more of priority. With a step
    # for each 2 h they are equal at all times, and the earlier one goes first.
    jobs = changed(job_set([(0, 4), (1, 3), (3, 1)]), 2, priority=1)
    parameters = PolicyParameters(aging_us=None if aging is None else round(aging * HOUR))
    log = run(plan(pool(1), policy="priority", parameters=parameters), jobs, rates(), STREAMS)
    assert starts(log) == expected


def fair(rows: list[tuple[float, float]], names: str, half_life_h: float = 168) -> list[float | None]:
    jobs = job_set(rows)
    for i, name in enumerate(names):
        jobs = changed(jobs, i, team=name)
    parameters = PolicyParameters(half_life_us=round(half_life_h * HOUR))
    return starts(run(plan(pool(1), policy="fair", parameters=parameters), jobs, rates(), STREAMS))


def test_fair_share_serves_the_team_that_has_used_less() -> None:
    # At 2 h team a has used 2 card-hours and b none; at 3 h b has used 1: both of b go first.
    assert fair([(0, 2), (0, 1), (0.5, 1), (0.5, 1)], "aabb") == [0, 4, 2, 3]


def test_fair_share_ties_go_to_the_older_job() -> None:
    assert fair([(0, 1), (0, 1), (0, 1)], "cba") == [0, 1, 2]


@pytest.mark.parametrize(("half_life", "first"), [(168, "b"), (2, "a")])
def test_past_use_counts_half_after_the_half_life(half_life: float, first: str) -> None:
    # a runs 0-4 h, b 4-6 h; at 6 h one job of each waits. With a half-life of 2 h, a counts
    # 2.885 x (1 - 1/4) / 2 = 1.08 card-hours and b 2.885 x (1 - 1/2) = 1.44; with a week, 4 and 2.
    a, b = fair([(0, 4), (1, 2), (5, 1), (5, 1)], "abab", half_life)[2:]
    assert (a, b) == ((6, 7) if first == "a" else (7, 6))


def test_fair_share_is_strict() -> None:
    # b's gang of two waits for both cards, and holds a's one-card job although a card is free.
    jobs, table = gangs((0, 4, 1), (1, 1, 2), (1.5, 1, 1))
    jobs = changed(changed(changed(jobs, 0, team="a"), 1, team="b"), 2, team="a")
    assert starts(run(plan(pool(2), policy="fair"), jobs, table, STREAMS)) == [0, 4, 5]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.lists(st.integers(1, 12), min_size=120, max_size=120))
def test_equal_teams_have_equal_use_in_saturation(cards: int, lengths: list[int]) -> None:
    # All jobs wait from the start on, so whoever is behind goes first: two teams never differ by
    # more than what starts together, the longest job on every card.
    jobs = job_set([(0, length) for length in lengths])
    mine = tuple(job._replace(team="ab"[job.id % 2]) for job in jobs.jobs)
    jobs = dataclasses.replace(jobs, jobs=mine)
    hours = 24
    parameters = PolicyParameters(half_life_us=1000 * DAY)
    log = run(plan(pool(cards), hours=hours, policy="fair", parameters=parameters), jobs, rates(), STREAMS)
    assert any(job.state == "waiting" for job in log.jobs)
    used = {team: sum(j.run_us for j in log.jobs if mine[j.job].team == team) / HOUR for team in "ab"}
    assert abs(used["a"] - used["b"]) <= 12 * cards + 1e-6


QUESTION = """
name: q
start: 2026-01-01
horizon: 30d
workload: {classes: [{name: c, model: qwen2.5-7b, method: lora, samples: 1000, rate: 1/day}]}
strategies: [{name: s, leases: [{offer: a100-40g-custom, plan: monthly}], KEYS}]
"""


def test_keys_of_one_policy_are_refused_by_the_others() -> None:
    for keys, rule in (
        ("aging: 4h", "aging goes with the queue policy priority, not with fifo"),
        ("policy: sjf, half_life: 7d", "half_life goes with the queue policy fair, not with sjf"),
        ("policy: fair, preempt: true", "preempt goes with the queue policy priority, not with fair"),
        ("policy: priority, preempt_after: 1h", "preempt_after goes with preempt: true"),
    ):
        with pytest.raises(InputError) as error:
            load_text(QUESTION.replace("KEYS", keys))
        (problem,) = error.value.problems
        assert problem.rule == rule
        assert problem.line == 6
    with pytest.raises(InputError):
        load_text(QUESTION.replace("KEYS", "policy: priority, aging: 0h"))


def test_keys_of_a_policy_reach_the_engine() -> None:
    def parameters(keys: str) -> PolicyParameters:
        question = load_text(QUESTION.replace("KEYS", keys))
        scenario = question.scenario
        return fleet_plan(scenario, scenario.strategies[0], question.catalog).parameters

    assert parameters("policy: fifo") == PolicyParameters(None, 7 * DAY, 100, None)
    assert parameters("policy: priority, aging: 4h") == PolicyParameters(aging_us=4 * HOUR)
    assert parameters("policy: fair, half_life: 2d") == PolicyParameters(half_life_us=2 * DAY)
    assert parameters("policy: priority, preempt: true").preempt_after_us == 2 * HOUR
    given = parameters("policy: priority, preempt: true, preempt_after: 30min")
    assert given.preempt_after_us == HOUR // 2


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_says_what_it_does_and_names_real_keys(policy: str) -> None:
    from sim.model.scenario import Strategy

    assert POLICIES[policy].summary
    assert set(POLICIES[policy].parameters) <= Strategy.model_fields.keys()


def test_parameters_left_to_their_defaults_are_shown_as_assumptions() -> None:
    for keys, words in (
        ("policy: fair", "past use of cards counts half after 7d"),
        ("policy: conservative", "the first 100 waiting jobs have reservations"),
        ("policy: sjf", "where there is none shortest expected run time, as if it were known before"),
        ("policy: easy", "reservations rest on time limits"),
        ("policy: priority, preempt: true", "a job runs 2h before it may be preempted"),
    ):
        said = scenario_assumptions(load_text(QUESTION.replace("KEYS", keys)).scenario, (), ())
        assert any(words in sentence for sentence in said), (keys, said)
    said = scenario_assumptions(
        load_text(QUESTION.replace("KEYS", "policy: fair, half_life: 1d")).scenario, (), ()
    )
    assert not any("counts half" in sentence for sentence in said)
