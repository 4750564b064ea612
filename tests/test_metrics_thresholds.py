"""The signs of an unstable queue at their limits: a value at a limit is no sign yet, one beyond it is.

Limits (`sim/metrics/stability.py`): load 1, backlog 2 % of the run, growth 1.5, 20 jobs, waits of 5 % and a
stretch of 25 % of the time over which jobs arrive, a batch within 10 % of the run.
"""

import pytest

from sim.metrics import overload_reasons

RUN_H = 1000.0
CALM = {
    "offered_load": 0.5,
    "backlog_h": 0.0,
    "queue_early": 1.0,
    "queue_late": 1.0,
    "queue_stretch_h": 0.0,
    "arrivals_h": 400.0,
    "wait_p95_h": 0.0,
    "jobs_measured": 100.0,
}
LONG = {"wait_p95_h": 20.1, "queue_stretch_h": 100.1}
"""Just over 5 % and 25 % of the 400 h over which jobs arrive."""
AGAINST_ALL = {"wait_p95_h": 50.1, "queue_stretch_h": 250.1}
"""Just over the same shares of the whole run."""


def reasons(**changes):
    return overload_reasons({**CALM, **changes}, RUN_H)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"offered_load": 1.1, "backlog_h": 20.0}, None),
        ({"offered_load": 1.1, "backlog_h": 20.1}, "1.10 times the leased card-time"),
        ({"offered_load": 1.0, "backlog_h": 20.1}, None),
        ({"queue_late": 1.51, "backlog_h": 20.0}, None),
        ({"queue_late": 1.50, "backlog_h": 20.1}, None),
        ({"queue_late": 1.51, "backlog_h": 20.1}, "the queue still grows: 1.5 jobs wait"),
        ({"queue_late": 0.01, "queue_early": 0.0, "backlog_h": 20.1}, "the queue still grows: 0.0 jobs wait"),
        (LONG, "while jobs arrive over 400.0 h"),
        ({**LONG, "wait_p95_h": 20.0}, None),
        ({**LONG, "queue_stretch_h": 100.0}, None),
        ({**LONG, "jobs_measured": 20.0}, "without a break"),
        ({**LONG, "jobs_measured": 19.0}, None),
        ({**LONG, "arrivals_h": 100.1}, "while jobs arrive over 100.1 h"),
        ({**LONG, "arrivals_h": 100.0}, None),  # a batch: held against the whole run
        ({**AGAINST_ALL, "arrivals_h": 100.0}, "while jobs arrive over 1,000.0 h"),
        ({**AGAINST_ALL, "arrivals_h": 100.0, "wait_p95_h": 50.0}, None),
        ({**AGAINST_ALL, "arrivals_h": 100.0, "queue_stretch_h": 250.0}, None),
    ],
)
def test_a_limit_is_no_sign_and_what_lies_beyond_it_is(changes, words):
    found = reasons(**changes)
    assert len(found) == (words is not None)
    assert words is None or words in found[0]


@pytest.mark.parametrize("name", sorted(CALM))
def test_a_metric_that_is_not_defined_is_no_sign(name):
    """None counts as 0, whatever the others say: of all three signs, those that need it go."""
    every = {**LONG, "offered_load": 1.1, "queue_late": 2.0, "backlog_h": 20.1}
    load, growth, stretch = reasons(**every)
    without = {
        "offered_load": (growth, stretch),
        "backlog_h": (stretch,),
        "queue_late": (load, stretch),
        "queue_stretch_h": (load, growth),
        "wait_p95_h": (load, growth),
        "jobs_measured": (load, growth),
        "arrivals_h": (load, growth),  # all at one time: held against the whole run
    }
    found = reasons(**{**every, name: None})
    if name == "queue_early":
        assert found[1].endswith("2.0 jobs wait on average in the last quarter of the run, 0.0 in the second")
    else:
        assert found == without[name]


@pytest.mark.parametrize(
    ("horizon_h", "leased", "away", "reserved", "load", "words"),
    [
        # 4 cards leased for the run, a quarter of it away, 1 card kept back: 2 cards, 250 h x 2 of them.
        (250, 1000, 250, 250, 2.0, "jobs ask for 672 card-hours a week and 336 are leased (2.0 cards"),
        (168, 336, 0, 0, 1.5, "jobs ask for 504 card-hours a week and 336 are leased (2.0 cards"),
        (167, 334, 0, 0, 1.5, "jobs ask for 501 card-hours over 167 h and 334 are leased (2.0 cards"),
    ],
)
def test_the_load_is_said_in_card_hours_of_what_jobs_may_use(horizon_h, leased, away, reserved, load, words):
    values = {
        **CALM, "offered_load": load, "backlog_h": horizon_h,
        "leased_gpu_h": leased, "away_gpu_h": away, "reserved_gpu_h": reserved,
    }  # fmt: skip
    (found,) = overload_reasons(values, horizon_h)
    assert found.startswith(words)
    cards = {2.0: 4, 1.5: 3}[load]
    assert f"where {cards} cards, never idle, would carry it: that is {load:.2f} times" in found


def test_the_cards_that_would_carry_a_load_are_whole_ones():
    """1.4 of 2 cards are 2.8: three; a load of exactly three cards is carried by three."""
    for load, cards in ((1.4, 3), (1.5, 3), (1.51, 4)):
        values = {**CALM, "offered_load": load, "backlog_h": 500.0, "leased_gpu_h": 2 * RUN_H}
        assert f"where {cards} cards, never idle" in overload_reasons(values, RUN_H)[0]


def test_without_leased_hours_the_load_stands_alone():
    (found,) = reasons(offered_load=1.1, backlog_h=20.1)
    assert found.startswith("the work asked for is 1.10 times the leased card-time, and the jobs waiting")
    assert found.endswith("would take the cards another 20.1 h")
