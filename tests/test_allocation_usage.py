"""Card-time by lease and period, against figures worked out by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sim.billing.cardtime import NOBODY, cells
from sim.billing.grains import calendar_edges
from sim.billing.usage import usage
from sim.model.records import RunLog
from sim.units import HOUR
from tests.money_cases import failure, hour, log, machine, scenario, stay


def a_day() -> RunLog:
    """Two cards. Job 0 runs 2-12 h on the first until its machine fails, and again 13-15 h on the second;
    at 15 h two card-hours of its first work turn out to be lost. The machine is out of order 12-13 h."""
    stays = (
        stay(0, [0], 2, 12, startup=1, checkpoint=1, lost=2, ended="node"),
        stay(0, [1], 13, 15, startup=0.5, voided=2),
    )
    return log(24, stays, [machine(gpus=2, busy_card_us=12, down_card_us=2)], [failure(12, 13, jobs=[0])])


def test_a_day_by_hand() -> None:
    (bucket,) = usage(a_day(), scenario(), "day")
    assert bucket.lease == "lease 0"
    assert bucket.period == "2026-01-01"
    assert {state: value / HOUR for state, value in bucket.states.items()} == {
        "startup": 1,
        "reload": 0.5,
        "checkpoint": 1,
        "useful": 6 - 2 + 1.5,
        "lost": 2 + 2,
        "down": 2,
        "idle": 48 - 12 - 2,
    }
    assert bucket.leased == 48 * HOUR
    assert bucket.busy == 12 * HOUR
    assert bucket.unused == 36 * HOUR


def test_hours_hold_what_happened_in_them() -> None:
    buckets = {bucket.period[-5:]: bucket for bucket in usage(a_day(), scenario(), "hour")}
    assert len(buckets) == 24
    assert buckets["02:00"].states == {"startup": HOUR, "idle": HOUR}
    # One hour of checkpoints lies evenly in the seven hours of work before the loss: 1/7 of each.
    seventh = HOUR // 7
    assert buckets["03:00"].states == {"checkpoint": seventh, "useful": HOUR - seventh, "idle": HOUR}
    # Of six hours of work four count: the last two, from 7 2/3 h on, were destroyed later.
    assert buckets["07:00"].states["useful"] == pytest.approx(HOUR * 6 / 7 * 2 / 3, abs=1)
    assert buckets["07:00"].states["lost"] == pytest.approx(HOUR * 6 / 7 / 3, abs=1)
    assert buckets["11:00"].states == {"lost": HOUR, "idle": HOUR}
    assert buckets["12:00"].states == {"down": 2 * HOUR}
    assert buckets["13:00"].states == {"reload": HOUR // 2, "useful": HOUR // 2, "idle": HOUR}


def test_windows_and_reserve() -> None:
    """Two cards, one kept back; the other serves elsewhere from 8 to 20 h."""
    one = machine(gpus=2, reserved_card_us=24, away_card_us=hour(12), absences=((hour(8), hour(20)),))
    (bucket,) = usage(log(24, [stay(0, [0], 1, 4)], [one]), scenario(), "day")
    assert bucket.states == {"useful": 3 * HOUR, "idle": 9 * HOUR, "away": 12 * HOUR, "reserved": 24 * HOUR}


def test_a_card_alone_out_of_order() -> None:
    """Card 1 of two is broken 5-9 h; job 0 holds card 0 and feels nothing."""
    run = log(24, [stay(0, [0], 0, 10)], [machine(gpus=2)], [failure(5, 9, card=1, kind="gpu_reset")])
    (bucket,) = usage(run, scenario(), "day")
    assert bucket.states == {"useful": 10 * HOUR, "down": 4 * HOUR, "idle": (48 - 14) * HOUR}


def test_a_broken_card_is_busy_until_its_job_leaves() -> None:
    """Broken at 5 h, noticed and left at 6 h, mended at 9 h: down from 6 to 9 h."""
    run = log(
        24,
        [stay(0, [0], 0, 6, lost=1, ended="gpu_reset")],
        [machine()],
        [failure(5, 9, card=0, kind="gpu_reset", jobs=[0])],
    )
    (bucket,) = usage(run, scenario(), "day")
    assert bucket.states == {"useful": 5 * HOUR, "lost": HOUR, "down": 3 * HOUR, "idle": 15 * HOUR}


def test_outages_that_overlap_count_once_and_a_new_machine_mends_a_broken_card() -> None:
    """The card is broken 2-9 h, its machine replaced 4-6 h: the new one has a sound card."""
    failures = [failure(2, 9, card=0, kind="gpu_reset"), failure(4, 6)]
    (bucket,) = usage(log(24, [], [machine()], failures), scenario(), "day")
    assert bucket.states == {"down": 4 * HOUR, "idle": 20 * HOUR}


def test_a_job_over_two_machines_is_on_each_with_its_cards() -> None:
    machines = [machine(gpus=2, number=0), machine(gpus=2, number=1)]
    found = cells(log(10, [stay(0, [0, 1, 2], 0, 4)], machines), lambda _lease, _machine: [0, hour(10)])
    assert [cell.parts[0, "useful"] for cell in found] == [8 * HOUR, 4 * HOUR]
    assert [cell.parts[NOBODY, "idle"] for cell in found] == [12 * HOUR, 16 * HOUR]


def test_the_same_burst_machine_twice_is_two_rentals() -> None:
    machines = [
        machine(0, 2, lease=-1, offer="h100-mig"),
        machine(5, 9, lease=-1, offer="h100-mig"),
    ]
    stays = [
        stay(0, [0], 0, 1, burst=True, offer="h100-mig"),
        stay(1, [0], 6, 9, burst=True, offer="h100-mig"),
    ]
    (bucket,) = usage(log(24, stays, machines), scenario(), "day")
    assert bucket.lease == "burst"
    assert bucket.states == {"useful": 4 * HOUR, "idle": 2 * HOUR}


@pytest.mark.parametrize(
    ("start", "hours"), [("2024-03-10", 23), ("2024-11-03", 25), ("2024-07-01", 24), ("2024-02-29", 24)]
)
def test_days_of_clock_changes(start: str, hours: int) -> None:
    """Known fault 05: New York has a day of 23 hours in March and one of 25 in November."""
    asked = scenario(start, "3d", "America/New_York")
    edges = calendar_edges(asked, "day")
    assert edges[1] - edges[0] == hours * HOUR
    by_day = usage(log(72, [], [machine()]), asked, "day")
    assert by_day[0].leased == hours * HOUR
    by_hour = usage(log(72, [], [machine()]), asked, "hour")
    assert len(by_hour) == 72
    assert sum(bucket.leased for bucket in by_hour) == 72 * HOUR


@pytest.mark.parametrize(("start", "hours"), [("2024-03-01", 743), ("2024-11-01", 721), ("2023-02-01", 672)])
def test_months_have_the_hours_of_their_calendar(start: str, hours: int) -> None:
    """Known fault 05: 743 h in March 2024, 721 h in November 2024."""
    asked = scenario(start, "40d", "America/New_York")
    edges = calendar_edges(asked, "month")
    assert edges[1] - edges[0] == hours * HOUR
    assert edges[-1] == asked.horizon_us


def test_a_start_within_a_month_and_an_hour() -> None:
    asked = scenario("2026-01-31 10:30:00", "2d", "UTC")
    assert [asked.local_time(edge).isoformat() for edge in calendar_edges(asked, "month")] == [
        "2026-01-31T10:30:00+00:00",
        "2026-02-01T00:00:00+00:00",
        "2026-02-02T10:30:00+00:00",
    ]
    hours = calendar_edges(asked, "hour")
    assert hours[1] == timedelta(minutes=30) // timedelta(microseconds=1)
    assert len(hours) == 50
