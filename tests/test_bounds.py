"""Bounds on the number of cards, against closed forms."""

import math

import numpy as np
import pytest

from sim.experiments.bounds import (
    erlang_wait,
    erlang_wait_quantile,
    least_cards_by_wait,
    least_cards_by_work,
)


def test_work_needs_whole_cards():
    assert least_cards_by_work(0, 100) == 1
    assert least_cards_by_work(100, 100) == 1
    assert least_cards_by_work(101, 100) == 2
    assert least_cards_by_work(450, 100, share=0.9) == 5
    assert least_cards_by_work(451, 100, share=0.9) == 6


@pytest.mark.parametrize("arguments", [(1, 0), (1, 100, 0), (1, 100, 1.1), (-1, 100)])
def test_work_that_cannot_be(arguments):
    with pytest.raises(ValueError, match="usable share above 0"):
        least_cards_by_work(*arguments)


def test_erlang_c_of_the_literature():
    assert erlang_wait(7.2, 8, 1) == pytest.approx((0.701533, 0.876916), abs=5e-7)
    assert erlang_wait(6, 8, 1) == pytest.approx((0.356981, 0.178491), abs=5e-7)
    # M/M/1: P(wait) = load, mean wait = load / (1 - load).
    assert erlang_wait(0.75, 1, 1) == pytest.approx((0.75, 3))
    # M/D/1 by the correction, exact for one server: half of M/M/1.
    assert erlang_wait(0.5, 1, 1, spread=0.5)[1] == pytest.approx(0.5)
    assert erlang_wait(8, 8, 1) == (1.0, math.inf)


def test_quantile_of_one_server():
    # M/M/1: P(wait > t) = load exp(-(1 - load) t), so the quantile is ln(load / 0.05) / (1 - load).
    assert erlang_wait_quantile(0.75, 1, 1) == pytest.approx(math.log(15) / 0.25)
    assert erlang_wait_quantile(0.04, 1, 1) == 0.0
    assert erlang_wait_quantile(2, 1, 1) == math.inf


def test_quantile_agrees_with_a_simulated_queue():
    generator = np.random.default_rng(4)
    arrivals = np.cumsum(generator.exponential(1 / 3.2, size=200_000))
    services = generator.exponential(size=arrivals.size)
    free, waits = np.zeros(4), []
    for arrival, service in zip(arrivals, services, strict=True):
        first = int(free.argmin())
        begin = max(arrival, free[first])
        waits.append(begin - arrival)
        free[first] = begin + service
    assert np.quantile(waits, 0.95) == pytest.approx(erlang_wait_quantile(3.2, 4, 1), rel=0.1)


def test_fewest_cards_by_wait():
    for offered, limit in [(0.5, 1.0), (6.0, 0.5), (6.0, 4.0), (40.0, 0.01)]:
        cards = least_cards_by_wait(offered, 1.0, limit)
        assert erlang_wait_quantile(offered, cards, 1.0) <= limit
        assert cards == math.floor(offered) + 1 or erlang_wait_quantile(offered, cards - 1, 1.0) > limit
    assert least_cards_by_wait(10.0, 1.0, 1.0, most=8) is None
