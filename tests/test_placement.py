"""Placement rules against a pencil: which pool and which machine a job gets."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from sim.decisions.placement import PLACEMENTS, cheapest_first
from sim.decisions.views import WayView
from sim.engine import run
from sim.errors import InputError
from sim.load import load_text
from sim.model.fleet import LeaseSpan, PoolSpec
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import RateTable
from sim.model.records import RunLog
from sim.replication import fleet_plan
from sim.streams import Streams
from sim.units import HOUR
from tests.build import OFFER, gangs, option, plan, pool, starts
from tests.test_engine import burst
from tests.test_policies import QUESTION

STREAMS = Streams(7)
BIG = "big-card"


def cards(log: RunLog) -> list[tuple[int, ...]]:
    """The cards of every job's first stay, in order of submission."""
    return [next(a.cards for a in log.attempts if a.job == job.job) for job in log.jobs]


def offers(log: RunLog) -> list[str | None]:
    return [job.offer for job in log.jobs]


@pytest.mark.parametrize(
    ("placement", "third"), [("best-fit", (1,)), ("pack", (1,)), ("spread", (2,)), ("whole", (1,))]
)
def test_one_card_jobs(placement: str, third: tuple[int, ...]) -> None:
    # Two machines of two cards. A gang first, gone at 1 h; then one-card jobs at 2 h and 3 h.
    world = gangs((0, 1, 2), (2, 9, 1), (3, 9, 1))
    log = run(plan(pool(2, per_machine=2), placement=placement), *world, STREAMS)
    assert cards(log) == [(0, 1), (0,), third]


@pytest.mark.parametrize(
    ("placement", "gang"), [("best-fit", (2, 3, 1)), ("pack", (1, 2, 3)), ("spread", (2, 3, 1))]
)
def test_a_spanning_gang_touches_few_machines_or_fills_the_gaps(
    placement: str, gang: tuple[int, ...]
) -> None:
    # Machine 0 has one card free, machine 1 two, machine 2 none: three cards are wanted.
    world = gangs((0, 9, 1), (1, 1, 3))
    log = run(plan(pool(2, per_machine=2), placement=placement), *world, STREAMS)
    assert cards(log)[1] == gang


def two_pools(*rows: tuple[float, float, int]) -> tuple[JobSet, RateTable]:
    jobs, table = gangs(*rows, spans=False)
    beside = {(shape, BIG): ways for (shape, _), ways in table.options.items()}
    return jobs, RateTable(options={**table.options, **beside})


BOTH = (pool(1, per_machine=2), pool(1, per_machine=2, offer=BIG, memory_gib=80))


@pytest.mark.parametrize(("placement", "last"), [("best-fit", OFFER), ("whole", BIG)])
def test_unused_machines_are_kept_for_gangs(placement: str, last: str) -> None:
    # Small cards first: jobs 0 and 1 fill the small machine, job 2 goes to the big one. At 3 h the small
    # machine is unused again and the big one in use: with `whole`, job 3 goes there.
    world = two_pools((0, 2, 1), (0, 2, 1), (1, 9, 1), (3, 9, 1), (4, 1, 2))
    log = run(plan(*BOTH, placement=placement), *world, STREAMS)
    assert offers(log)[:4] == [OFFER, OFFER, BIG, last]
    assert starts(log)[4] == (10 if placement == "best-fit" else 4)


def test_a_whole_machine_with_a_reserved_card_does_not_hide_one_in_use() -> None:
    # Two machines of two cards, one card of the first reserved. Job 0 has the first machine until 2 h, job 1
    # a card of the second. At 3 h each has one card free, the first nobody on it: job 2 leaves it whole.
    leases = [LeaseSpan(0, 1, 0, None, reserve=1), LeaseSpan(1, 1, 0, None)]
    world = gangs((0, 2, 1), (1, 9, 1), (3, 9, 1), (20, 1, 2), spans=False)
    log = run(plan(pool(2, per_machine=2, leases=leases), placement="whole"), *world, STREAMS)
    assert cards(log) == [(0,), (2,), (3,), (2, 3)]


def test_without_gangs_nothing_is_kept_whole() -> None:
    world = two_pools((0, 2, 1), (0, 2, 1), (1, 9, 1), (3, 9, 1))
    log = run(plan(*BOTH, placement="whole"), *world, STREAMS)
    assert offers(log)[3] == OFFER


def test_an_unused_machine_is_taken_rather_than_wait() -> None:
    world = two_pools((0, 9, 1), (0, 9, 1), (1, 9, 1), (1, 1, 2))
    log = run(plan(*BOTH, placement="whole"), *world, STREAMS)
    assert (offers(log)[2], starts(log)[2]) == (BIG, 1)


@pytest.mark.parametrize("placement", sorted(PLACEMENTS))
def test_paid_capacity_comes_before_hourly_capacity(placement: str) -> None:
    # Job 1 gets an hourly card at 2 h, for 1 h; at 3 h both the leased card and the hourly one are free.
    jobs, table = gangs((0, 3, 1), (1, 1, 1), (3, 1, 1))
    options = {**table.options, (0, "hourly"): (option(1),)}
    priced = dataclasses.replace(pool(1), hourly_price=1000.0)
    log = run(plan(priced, placement=placement, burst=burst()), jobs, RateTable(options=options), STREAMS)
    assert offers(log) == [OFFER, "hourly", OFFER]


# --- the cheapest --------------------------------------------------------------------------------

SLOW, FAST = 4.0, 10.0
"""Currency an hour; the slow card takes 3 h where the fast one takes 1."""


def priced(deadline_h: float | None, *rows: tuple[float, float], **changes: Any) -> RunLog:
    """Jobs (submit hour, hours on the fast card) on one slow card, 4 an hour, and one fast one, 10."""
    jobs = tuple(
        Job(i, f"j{i}", 0, round(a * HOUR), b * HOUR,
            deadline_us=None if deadline_h is None else round(deadline_h * HOUR))
        for i, (a, b) in enumerate(rows)
    )  # fmt: skip
    pools: tuple[PoolSpec, ...] = (
        dataclasses.replace(pool(1, memory_gib=24), hourly_price=SLOW),
        dataclasses.replace(pool(1, offer=BIG, memory_gib=80), hourly_price=FAST),
    )
    table = RateTable(options={(0, OFFER): (option(us_per_work=3.0),), (0, BIG): (option(),)})
    job_set = JobSet((JobShape("s", None, (1,)),), jobs)
    return run(plan(*pools, **{"placement": "cheapest", **changes}), job_set, table, STREAMS)


def test_without_a_deadline_the_cheapest_work() -> None:
    # 3 h x 4 = 12 on the slow card, 1 h x 10 = 10 on the fast one
    assert offers(priced(None, (0, 1))) == [BIG]
    assert offers(priced(None, (0, 1), placement="best-fit")) == [OFFER]


def test_with_a_deadline_the_cheapest_card_that_meets_it() -> None:
    assert offers(priced(3, (0, 1))) == [OFFER]
    assert offers(priced(2.99, (0, 1))) == [BIG]
    # nothing meets it: the fastest, so that it is least late
    assert offers(priced(0.5, (0, 1))) == [BIG]


def test_what_is_left_to_the_deadline_counts_from_the_submission() -> None:
    # Both cards busy to 1 h (slow) and 3 h (fast). Job 2 has 3.5 h from 0.5 h on: at 1 h it has 3 h left,
    # just enough for the slow card.
    log = priced(3.5, (0, 1 / 3), (0, 3), (0.5, 1))
    assert offers(log) == [OFFER, BIG, OFFER]
    assert log.jobs[2].end_us == 4 * HOUR


def test_a_job_never_waits_for_a_cheaper_card() -> None:
    log = priced(None, (0, 1), (0, 1))
    assert offers(log) == [BIG, OFFER]
    assert starts(log) == [0, 0]


def test_the_price_is_of_the_cards_used() -> None:
    ways = (WayView(8.0, 100, False), WayView(6.0, 100, True), WayView(4.0, 300, False))
    assert cheapest_first(ways, None) == (0, 2, 1)
    assert cheapest_first(ways, 1000) == (2, 0, 1)
    assert cheapest_first(ways, 200) == (0, 2, 1)
    assert cheapest_first(ways, 50) == (0, 2, 1)


# --- lists of card counts -------------------------------------------------------------------------


def elastic(counts: tuple[int, ...], speed: dict[int, float], free: int) -> int:
    """Cards that a job with a list of counts gets when so many of four cards are free."""
    busy = Job(0, "busy", 1, 0, 50.0 * HOUR)
    mine = Job(1, "mine", 0, HOUR, 4.0 * HOUR)
    shapes = (JobShape("elastic", None, counts), JobShape("busy", None, (4 - free,)))
    ways = tuple(option(n, us_per_work=1 / speed[n]) for n in sorted(counts))
    table = RateTable(options={(0, OFFER): ways, (1, OFFER): (option(4 - free),)})
    log = run(plan(pool(1, per_machine=4)), JobSet(shapes, (busy, mine)), table, STREAMS)
    return log.jobs[1].gpus


def test_a_list_of_counts_is_tried_in_the_order_written() -> None:
    speed = {1: 1.0, 2: 1.9, 3: 2.5}
    assert elastic((3, 2, 1), speed, 3) == 3
    assert elastic((3, 2, 1), speed, 2) == 2
    assert elastic((3, 2, 1), speed, 1) == 1
    assert elastic((1, 2, 3), speed, 3) == 1
    assert elastic((2, 3, 1), speed, 3) == 2


def test_counts_that_are_no_faster_than_a_smaller_one_are_left_out() -> None:
    assert elastic((3, 2, 1), {1: 1.0, 2: 1.9, 3: 1.9}, 3) == 2
    assert elastic((3, 2, 1), {1: 1.0, 2: 0.9, 3: 0.8}, 3) == 1


def test_unknown_placement_rules_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError) as error:
        load_text(QUESTION.replace("KEYS", "placement: tetris"))
    assert error.value.problems[0].known == tuple(PLACEMENTS)
    assert all(rule.summary for rule in PLACEMENTS.values())


def test_the_price_of_an_hour_comes_from_the_contract() -> None:
    # 12 months are 8,760 hours, whatever their number of days
    question = load_text(
        QUESTION.replace("KEYS", "placement: cheapest").replace("a100-40g-custom", "a100-40g-8x")
    )
    scenario, catalog = question.scenario, question.catalog
    offer = catalog.offers["a100-40g-8x"]
    mid = (offer.price.low + offer.price.high) / 2
    months = {"month": 12, "year": 1}[offer.price.unit]
    (spec,) = fleet_plan(scenario, scenario.strategies[0], catalog).pools
    assert spec.hourly_price == pytest.approx(float(mid) * months / 8760)
    (low,) = fleet_plan(scenario, scenario.strategies[0], catalog, "low").pools
    assert low.hourly_price == pytest.approx(float(offer.price.low) * months / 8760)
    plain = load_text(QUESTION.replace("KEYS", "placement: best-fit")).scenario
    assert fleet_plan(plain, plain.strategies[0], catalog).pools[0].hourly_price == 0
