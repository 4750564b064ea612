"""Who costs what, against figures worked out by hand and the faults of other tools."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest

from sim.billing import bill
from sim.billing.allocation import allocate
from sim.billing.alternative import hourly_alternative
from tests.billing_cases import OFFERS, offer
from tests.money_cases import charge, hour, job_set, ledger, log, machine, scenario, stay

D = Decimal


def all_of(result) -> Decimal:
    jobs = sum((job.total for job in result.jobs), D(0))
    return jobs + sum(result.unused.values(), D(0)) + result.no_cards


def quarters(count):
    """So many jobs of an hour, each with a quarter of the only card."""
    return [replace_share(stay(number, [0], 0, 1), hour(0.25)) for number in range(count)]


def replace_share(one, card_us):
    return one._replace(card_us=card_us)


@pytest.mark.parametrize(
    ("stays", "each", "idle"),
    [
        (quarters(4), "1.00", "0.00"),
        (quarters(3), "1.00", "1.00"),
        ([stay(0, [0], 0, 1)], "4.00", "0.00"),
    ],
    ids=["four quarters", "three quarters", "a whole card"],
)
def test_a_quarter_of_a_card_costs_a_quarter(stays, each, idle) -> None:
    """Known fault 11: a card at 4.00 an hour, never charged more than once."""
    asked = scenario(horizon="1h")
    book = ledger(asked, charge(asked, "4.00", 0, 1, cards=1))
    result = allocate(book, log(1, stays, [machine()]), job_set(len(stays)), asked)
    assert [job.total for job in result.jobs] == [D(each)] * len(stays)
    assert result.unused["idle"] == D(idle)
    assert all_of(result) == D("4.00")


def test_a_hundred_over_three_equal_jobs() -> None:
    """Known fault 09 (b): 33.34 + 33.33 + 33.33."""
    asked = scenario(horizon="3h")
    book = ledger(asked, charge(asked, "100.00", 0, 3, cards=1))
    stays = [stay(number, [0], number, number + 1) for number in range(3)]
    result = allocate(book, log(3, stays, [machine()]), job_set(3), asked)
    assert [str(job.total) for job in result.jobs] == ["33.34", "33.33", "33.33"]


def test_launches_without_capacity_cost_nothing() -> None:
    """Known fault 14: 100 nodes at 7.824; the first request finds none, the second waits 34 s."""
    nodes = {"node": offer("node", "7.824", unit="hour", plans={"hourly": 1})}
    burst = {"offer": "node", "max": 100, "rent_when_wait_over": "0s"}
    asked = scenario(horizon="6h", strategy={"burst": burst})
    nothing = bill((), asked, asked.strategies[0], nodes)
    assert allocate(nothing, log(6), job_set(0), asked).accrued == 0
    start = 4051 / 3600 + 34 / 3600
    machines = [
        machine(start, start + 1, number=n, lease=-1, offer="node", ordered_us=hour(4051 / 3600))
        for n in range(100)
    ]
    stays = [stay(0, range(100), start, start + 1, burst=True, offer="node")]
    book = bill(machines, asked, asked.strategies[0], nodes)
    result = allocate(book, log(6, stays, machines), job_set(1), asked)
    (job,) = result.jobs
    assert job.total == job.marginal == result.accrued == D("782.40")
    assert result.unused["idle"] == 0


def a_run():
    """A standing card for 10 h at 100.00: job 0 has 5 h of it, 4 useful and 1 lost. A burst card for 3 h at
    60.00: job 0 has 1 h, of which half an hour is loading again, job 1 half an hour; then it stands idle."""
    asked = scenario(horizon="10h", strategy={"leases": [{"offer": "a100-40g-custom", "plan": "monthly"}]})
    book = ledger(
        asked,
        charge(asked, "100.00", 0, 10, cards=1),
        charge(
            asked, "60.00", 4, 7, number=1, lease="burst", category="usage", plan="hourly", machine=0, cards=1
        ),
    )
    stays = [
        stay(0, [0], 0, 5, lost=1, ended="node"),
        stay(0, [0], 5, 6, startup=0.5, burst=True, offer="h100-mig"),
        stay(1, [0], 6, 6.5, burst=True, offer="h100-mig"),
    ]
    machines = [machine(), machine(4, 7, lease=-1, offer="h100-mig")]
    return book, log(10, stays, machines), job_set(2, teams=["a", "b"]), asked


def test_average_and_marginal_cost_are_told_apart() -> None:
    result = allocate(*a_run(), hourly={"a100-40g-custom": Fraction(30)})
    first, second = result.jobs
    # Direct: 5 h at 10.00 and 1 h at 20.00; half an hour at 20.00.
    assert (first.direct, second.direct) == (D("70.00"), D("10.00"))
    assert {state: str(cost) for state, cost in first.cost.items()} == {
        "useful": "50.00",
        "reload": "10.00",
        "lost": "10.00",
    }
    # The rental of 60.00 would not have been: two thirds for the first, by the time they held it.
    assert (first.marginal, second.marginal) == (D("40.00"), D("20.00"))
    # Five hours on the standing card at 30.00 an hour elsewhere.
    assert (first.opportunity, second.opportunity) == (D("150.00"), D("0.00"))
    # Idle: 5 h at 10.00 and 1.5 h at 20.00.
    assert result.unused["idle"] == D("80.00")
    assert all_of(result) == D("160.00")
    assert result.burst_unused == 0


def test_idle_cost_by_busy_and_by_useful_hours() -> None:
    """80.00 over 6 and 0.5 busy hours: 73.85 and 6.15; over 4.5 and 0.5 useful ones: 72.00 and 8.00."""
    busy, useful = (allocate(*a_run(), sharing=rule) for rule in ("busy", "useful"))
    assert [job.shared_idle for job in busy.jobs] == [D("73.85"), D("6.15")]
    assert [job.shared_idle for job in useful.jobs] == [D("72.00"), D("8.00")]
    for result in (busy, useful):
        assert result.unused["idle"] == 0
        assert all_of(result) == D("160.00")
    # What the rule shares never changes what a job adds.
    assert [job.marginal for job in busy.jobs] == [D("40.00"), D("20.00")]


def test_idle_cost_stays_where_no_job_could_carry_it() -> None:
    asked = scenario(horizon="10h")
    book = ledger(asked, charge(asked, "100.00", 0, 10, cards=1))
    result = allocate(book, log(10, [], [machine()]), job_set(0), asked, sharing="busy")
    assert result.unused["idle"] == D("100.00")


def test_a_rental_on_which_no_job_ran_is_marginal_to_nobody() -> None:
    book, run, jobs, asked = a_run()
    idle = replace(run, attempts=run.attempts[:1])
    result = allocate(book, idle, jobs, asked)
    assert result.burst_unused == D("60.00")
    assert [job.marginal for job in result.jobs] == [D("0.00"), D("0.00")]


def test_down_away_and_reserved_time_never_falls_on_jobs() -> None:
    """Four cards of 40.00 for 10 h: one kept back, one hour of windows closed; job 0 has 4 card-hours."""
    asked = scenario(horizon="10h")
    book = ledger(asked, charge(asked, "400.00", 0, 10, cards=4))
    one = machine(gpus=4, reserved_card_us=10, away_card_us=hour(3), absences=((hour(9), hour(10)),))
    result = allocate(book, log(10, [stay(0, [0], 0, 4)], [one]), job_set(1), asked, sharing="busy")
    (job,) = result.jobs
    assert result.unused["reserved"] == D("100.00")
    assert result.unused["away"] == D("30.00")
    assert job.total == D("270.00")


def test_a_refund_and_tax_lower_and_raise_the_hours_of_their_purchase() -> None:
    """310.00 bought, 160.00 back and 9.00 tax over the same 15 hours: 10.60 an hour."""
    asked = scenario(horizon="15h")
    book = ledger(
        asked,
        charge(asked, "310.00", 0, 15, cards=1),
        charge(asked, "-160.00", 0, 15, number=1, category="refund", of=0, price=160),
        charge(asked, "9.00", 0, 15, number=2, category="tax", of=0),
    )
    result = allocate(book, log(15, [stay(0, [0], 0, 5)], [machine(0, 15)]), job_set(1), asked)
    assert result.jobs[0].total == D("53.00")
    assert result.unused["idle"] == D("106.00")


def test_cost_without_cards_is_a_line_of_its_own() -> None:
    """Cards by the hour until 4 h, then stopped and gone; their disks cost 3.00."""
    asked = scenario(horizon="10h")
    book = ledger(
        asked,
        charge(asked, "40.00", 0, 4, cards=1, machine=0, category="usage", plan="hourly"),
        charge(asked, "3.00", 4, 10, number=1, category="storage", plan="hourly"),
    )
    result = allocate(book, log(10, [stay(0, [0], 0, 4)], [machine(0, 4)]), job_set(1), asked)
    assert (result.jobs[0].total, result.no_cards) == (D("40.00"), D("3.00"))


def test_paid_cards_that_the_run_does_not_show_are_not_charged_to_those_it_does() -> None:
    """Two cards at 1.00 an hour are paid for ten hours; the run has one of them, for six."""
    asked = scenario(horizon="10h")
    book = ledger(asked, charge(asked, "20.00", 0, 10, cards=2))
    result = allocate(book, log(10, [stay(0, [0], 0, 4)], [machine(0, 6)]), job_set(1), asked)
    assert (result.jobs[0].total, result.unused["idle"], result.no_cards) == (D(4), D(2), D(14))


def test_groups_sum_their_jobs() -> None:
    result = allocate(*a_run())
    teams = {group.name: group.sum(lambda job: job.total) for group in result.by(lambda job: job.team)}
    assert teams == {"a": D("70.00"), "b": D("10.00")}
    assert result.everything.state("lost") == result.state("lost") == D("10.00")


def test_the_hourly_alternative() -> None:
    """2,800 a month over 730 h is 3.8356, the burst price for all where there is burst.

    A contract that falls back to hours at its end has a price by the hour: 2,800 / 720 is 3.8889.
    """
    standing = {"leases": [{"offer": "a100-40g-custom", "plan": "annual"}]}
    asked = scenario(strategy=standing)
    own = hourly_alternative(asked, asked.strategies[0], OFFERS)
    assert own.prices == {"a100-40g-custom": Fraction(2800, 730)}
    assert "a100-40g-custom 3.835616" in own.sentence
    falls = scenario(strategy={"leases": [{**standing["leases"][0], "terms": {"expiry": "hourly"}}]})
    own = hourly_alternative(falls, falls.strategies[0], OFFERS)
    assert own.prices == {"a100-40g-custom": Fraction(2800, 720)}
    burst = {"offer": "h100-mig", "max": 1, "rent_when_wait_over": "1h", "price": "high"}
    asked = scenario(strategy={**standing, "burst": burst})
    assert hourly_alternative(asked, asked.strategies[0], OFFERS).prices == {"a100-40g-custom": Fraction(25)}
