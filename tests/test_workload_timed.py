"""Timed classes: batches, busy times and likeness against closed forms; ends in the engine."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from sim.model.scenario import Scenario
from sim.model.timed import TimedClass
from sim.replication import prepare, replicate
from sim.streams import Streams
from sim.units import DAY, HOUR
from sim.workload import generate
from sim.workload.arrivals import clock_of
from sim.workload.fit_arrivals import batches_of, dispersion
from sim.workload.fit_likeness import likeness, normal_scores
from sim.workload.timed import Drawn, draw_timed


def timed(**keys: object) -> TimedClass:
    given = {
        "name": "a",
        "rate": "48/day",
        "kinds": [{"share": 1, "runtime_s": {"exponential": {"mean": 600}}}],
    }
    return TimedClass.model_validate({**given, **keys})


def scenario(*classes: TimedClass, days: float = 28, **keys: object) -> Scenario:
    workload = {"timed": [one.model_dump(mode="json", exclude_defaults=True) for one in classes]}
    fleet = [{"name": "s", "leases": [{"offer": "a100-40g-8x", "plan": "monthly", "count": 4}]}]
    given = {"name": "t", "start": "2026-01-05", "horizon": f"{days}d", "strategies": fleet}
    return Scenario.model_validate(
        {**given, "workload": workload, "reliability": {"profile": "none"}, **keys}
    )


def drawn(one: TimedClass, days: float = 28, seed: int = 1) -> Drawn:
    world = scenario(one, days=days)
    return draw_timed(one, clock_of(world), world.horizon_us, Streams(seed))


def seconds(found: Drawn) -> np.ndarray:
    return found.submit_us / 1e6


def test_jobs_come_at_their_rate() -> None:
    sizes = {"choice": {"values": [1, 2, 9], "weights": [6, 3, 1]}}  # mean 2.1
    count = len(drawn(timed(batch_size=sizes), days=2000).submit_us)
    spread = math.sqrt(2000 * 48 / 2.1 * (0.6 + 0.3 * 4 + 0.1 * 81))
    assert abs(count - 2000 * 48) < 4 * spread


def test_batches_at_one_instant_have_the_dispersion_of_their_sizes() -> None:
    """Compound Poisson: variance to mean of counts is E[S^2] / E[S]."""
    sizes = {"choice": {"values": [1, 2, 9], "weights": [6, 3, 1]}}
    times = seconds(drawn(timed(batch_size=sizes), days=2000))
    assert dispersion(times, 2000 * 86_400, 3600) == pytest.approx(9.9 / 2.1, rel=0.05)


@pytest.mark.parametrize(("level", "width"), [("hour", 3600), ("day", 86_400)])
def test_busy_times_have_the_dispersion_of_their_gamma(level: str, width: int) -> None:
    """Mixed Poisson: variance to mean of counts in a block is 1 + mean x square of the variation."""
    times = seconds(drawn(timed(busy={level: 0.8}), days=2000))
    mean = 48 * width / 86_400
    assert dispersion(times, 2000 * 86_400, width) == pytest.approx(1 + mean * 0.64, rel=0.1)


def test_busy_weeks_keep_the_rate() -> None:
    count = len(drawn(timed(busy={"week": 0.5}), days=7000).submit_us)
    assert count == pytest.approx(7000 * 48, rel=4 * 0.5 / math.sqrt(1000))


def test_gaps_part_the_jobs_of_a_batch() -> None:
    times = seconds(drawn(timed(batch_size=5, gap_s=7, rate="5/day"), days=200))
    batch = batches_of(times, 60)
    assert (np.bincount(batch)[:-1] == 5).mean() > 0.95  # two batches may meet
    alone = np.bincount(batch) == 5
    first = times[np.flatnonzero(np.diff(batch, prepend=-1))]
    assert np.unique(np.round(times - first[batch], 6)[alone[batch]]).tolist() == [0, 7, 14, 21, 28]


LIKE = {"runtime": 0.7, "next": 0.5, "size": -0.6}
MIXED = {"choice": {"values": [1, 2, 5, 30], "weights": [8, 4, 2, 1]}}


def test_likeness_leaves_the_distribution_of_run_times_as_it_is() -> None:
    found = drawn(timed(batch_size=MIXED, alike=LIKE, rate="480/day"), days=700)
    at = np.array([0.1, 0.5, 0.9, 0.99])
    assert np.quantile(found.runtime_us / 1e6, at) == pytest.approx(-600 * np.log1p(-at), rel=0.05)


def test_likeness_within_batches_and_with_their_size_is_what_was_asked() -> None:
    plain = drawn(timed(batch_size=MIXED, alike={"runtime": 0.7}, gap_s=0.001), days=4000)
    scores = normal_scores(plain.runtime_us)
    assert likeness(scores, batches_of(seconds(plain), 0.5)) == pytest.approx(0.7, abs=0.03)
    found = drawn(timed(batch_size=MIXED, alike=LIKE, gap_s=0.001), days=4000)
    batch = batches_of(seconds(found), 0.5)
    scores = normal_scores(found.runtime_us)
    counts = np.bincount(batch)
    mean = np.bincount(batch, scores) / counts
    # jobs of batches of 30 are the upper 30 / 5 / ... part of all jobs: the mean normal score of that part
    # 8 x 1 + 4 x 2 + 2 x 5 + 1 x 30 = 56 jobs in 15 batches; batches of 30 hold the last 30 of 56
    lower = ndtri(26 / 56)
    score = math.exp(-(lower**2) / 2) / math.sqrt(2 * math.pi) / (30 / 56)
    assert mean[counts == 30].mean() == pytest.approx(math.sqrt(0.7) * -0.6 * score, abs=0.05)


def test_kinds_of_a_batch_are_alike() -> None:
    kinds = [{"share": 3, "gpus": 1, "runtime_s": 60}, {"share": 1, "gpus": 4, "runtime_s": 60}]
    found = drawn(timed(batch_size=2, alike={"kind": 0.8}, kinds=kinds, rate="480/day"), days=200)
    pairs = found.kind[: len(found.kind) // 2 * 2].reshape(-1, 2)
    chance = 0.75**2 + 0.25**2
    assert (pairs[:, 0] == pairs[:, 1]).mean() == pytest.approx(0.64 + 0.36 * chance, abs=0.01)
    assert (found.kind == 0).mean() == pytest.approx(0.75, abs=0.01)


def test_a_longer_horizon_changes_no_job_before() -> None:
    one = timed(
        busy={"week": 0.4, "day": 0.5, "hour": 0.6},
        batch_size=MIXED,
        gap_s={"exponential": {"mean": 20}},
        alike={**LIKE, "day": 0.3, "gap": 0.4, "gap_size": -0.3},
    )
    short, long = (generate(scenario(one, days=days), (), Streams(3)).jobs for days in (20, 60))
    assert len(short) > 500
    assert list(long)[: len(short)] == list(short)


def test_another_class_changes_no_job_of_the_first() -> None:
    both = generate(scenario(timed(), timed(name="b")), (), Streams(3)).jobs
    alone = generate(scenario(timed()), (), Streams(3)).jobs
    mine = [(job.name, job.submit_us, job.work) for job in both if job.name.startswith("a-")]
    assert mine == [(job.name, job.submit_us, job.work) for job in alone]


def test_since_is_the_hour_of_the_first_arrivals() -> None:
    one = timed(since="2026-01-12T10:30")
    found = drawn(one)
    assert found.submit_us[0] >= 7 * DAY + 10 * HOUR
    assert found.submit_us[0] < 7 * DAY + 16 * HOUR  # two jobs an hour
    assert len(found.submit_us) == pytest.approx(48 * (21 - 10 / 24), rel=0.15)


def test_kinds_end_as_they_say_after_the_time_drawn_for_them() -> None:
    kinds = [
        {"share": 1, "runtime_s": 60, "state": state} for state in ("done", "cancelled", "failed")
    ]  # fmt: skip
    world = scenario(timed(kinds=kinds, rate="20/day"))
    from sim.load import dump, load_text

    result = replicate(prepare(load_text(dump(world))), 0, 0)
    states = {job.state for job in result.log.jobs}
    assert {"done", "cancelled", "failed"} <= states
    assert {job.run_us for job in result.log.jobs if job.state != "running"} == {60_000_000}
    assert result.log.jobs[0].wait_us == 0


def test_jobs_start_again_after_the_restart_of_their_class() -> None:
    world = scenario(timed(restart="7min"))
    from sim.load import dump, load_text

    prepared = prepare(load_text(dump(world)))
    assert {option.restart_us for options in prepared.rates.options.values() for option in options} == {
        7 * 60_000_000
    }


def test_a_class_ends_its_jobs_once() -> None:
    kinds = [{"share": 1, "runtime_s": 60, "state": "failed"}]
    with pytest.raises(ValueError, match="would end jobs twice"):
        timed(kinds=kinds, ends="philly")
