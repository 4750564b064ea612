"""Cards that stop and contracts that end: the bill and the engine agree on when cards can be used."""

from decimal import Decimal

import pytest

from sim.billing import bill
from sim.billing.usable import planned_records, usable_times
from sim.load import load_text
from sim.replication import prepare, replicate
from sim.units import DAY, HOUR, MINUTE
from tests.billing_cases import OFFERS, lease, money, offer, planned, scenario

D = Decimal
FEBRUARY = [{"from": "2026-02-01", "until": "2026-02-11"}]


def stopped(stops=FEBRUARY, count=1, horizon="59d", **stop):
    terms = {"stop": stop} if stop else {}
    asked = [lease(count, "hourly", "h100-mig", price=4, stopped=stops, terms=terms)]
    return scenario(asked, horizon=horizon)


def test_stopped_cards_cost_no_hours():
    # 31 days, then 18 of the 28 days of February: 744 and 432 h at 4.
    result = planned(stopped())
    assert [(c.quantity, c.billed_cost) for c in result.charges] == [(744, D(2976)), (432, D(1728))]
    assert any("compute is not billed (assumed)" in text for text in result.assumptions)


def test_disks_of_stopped_cards_go_on():
    # 3 units x 10 of 28 days x 84 a month = 90.00
    result = planned(stopped(count=3, disk_per_month=84))
    disk = next(c for c in result.charges if c.category == "storage")
    assert (disk.billed_cost, disk.accrued_cost, disk.cards, disk.plan) == (
        D("90.00"),
        D("90.00"),
        0,
        "hourly",
    )
    assert disk.rule == "disks of stopped cards: 3 units x (10/28) months x 84.00 a month = 90.00"
    assert f"{disk.period_start:%m-%d}..{disk.period_end:%m-%d}" == "02-01..02-11"
    assert result.accrued == 3 * D(4704) + 90


def test_a_stop_over_a_month_end_is_two_lines_and_the_horizon_cuts_it():
    stops = [{"from": "2026-01-22", "until": "2026-03-01"}]
    result = planned(stopped(stops, horizon="38d", disk_per_month=310))
    disks = [c for c in result.charges if c.category == "storage"]
    # 10/31 of 310 in January, and 7/28 of 310 in February up to the horizon.
    assert [c.billed_cost for c in disks] == [D("100.00"), D("77.50")]
    assert [f"{c.cash_date:%Y-%m}" for c in disks] == ["2026-01", "2026-02"]
    assert result.cash == result.committed == result.accrued


def test_compute_that_goes_on_is_billed_on():
    result = planned(stopped(compute="goes-on", disk_per_month=84))
    assert money(result) == [("usage", D(2976)), ("usage", D(2688))]


def test_capacity_that_is_given_up_comes_back_later():
    # Back half an hour after the stop; that half hour is not billed.
    asked = stopped(restart="ordered", restart_s=1800)
    life = usable_times(asked, asked.strategies[0], OFFERS)[0]
    assert life.stopped == ((31 * DAY, 41 * DAY + 30 * MINUTE),)
    assert planned(asked).charges[1].quantity == 432  # 431.5 h are 432 begun
    minutes = {
        "h100-mig": offer("h100-mig", 4, unit="hour", plans={"hourly": {"multiplier": 1, "increment_s": 60}})
    }
    assert planned(asked, minutes).charges[1].quantity == D("431.5")


def test_begun_increments_are_owed_at_each_stop():
    # 00:30 to 02:15 and, from 02:20, to 03:00: two hours begun and one.
    stops = [{"from": "2026-01-01T02:15", "until": "2026-01-01T02:20"}]
    asked = scenario(
        [
            lease(
                1,
                "hourly",
                "h100-mig",
                price=4,
                stopped=stops,
                start="2026-01-01T00:30",
                end="2026-01-01T03:00",
            )
        ],
        horizon="1d",
    )
    result = planned(asked)
    assert [(f"{c.period_start:%H:%M}", c.quantity) for c in result.charges] == [("00:30", 2), ("02:20", 1)]


def test_stops_that_meet_before_the_cards_are_back_are_one():
    stops = [
        {"from": "2026-01-01T02:00", "until": "2026-01-01T03:00"},
        {"from": "2026-01-01T03:10", "until": "2026-01-01T04:00"},
    ]
    asked = stopped(stops, horizon="1d", restart="ordered")
    life = usable_times(asked, asked.strategies[0], OFFERS)[0]
    assert life.stopped == ((2 * HOUR, 4 * HOUR + 30 * MINUTE),)


def test_usable_times_are_windows_without_the_stops():
    asked = stopped([{"from": "2026-01-01T10:00", "until": "2026-01-02T09:00"}], horizon="2d")
    life = usable_times(asked, asked.strategies[0], OFFERS)[0]
    assert life.times(None, 3 * DAY) == ((0, 10 * HOUR), (33 * HOUR, 72 * HOUR))
    daytime = ((8 * HOUR, 20 * HOUR), (32 * HOUR, 44 * HOUR))
    assert life.times(daytime, 3 * DAY) == ((8 * HOUR, 10 * HOUR), (33 * HOUR, 44 * HOUR))


@pytest.mark.parametrize(
    ("plan", "more", "end"),
    [
        ("monthly", {"terms": {"expiry": "end"}}, 31),
        ("quarterly", {"terms": {"expiry": "end"}}, 90),
        ("annual", {"terms": {"expiry": "end"}}, 365),
        ("monthly", {"terms": {"expiry": "end"}, "end": "2026-01-20"}, 19),
        ("monthly", {"terms": {"expiry": "end", "month": "30-days"}}, 30),
        (
            "monthly",
            {"terms": {"expiry": "end"}, "converts": [{"at": "2026-01-20", "plan": "quarterly"}]},
            31 + 89,
        ),
        ("monthly", {"terms": {"expiry": "hourly"}, "end": "2026-03-01"}, 59),
        ("monthly", {}, None),
        ("monthly", {"terms": {"expiry": "end"}, "started": "2025-12-16"}, 15),
    ],
)
def test_when_cards_go_is_read_from_the_contract(plan, more, end):
    asked = scenario([lease(plan=plan, **more)])
    life = usable_times(asked, asked.strategies[0], OFFERS)[0]
    assert life.end_us == (None if end is None else end * DAY)
    # The bill's last line accrues to that very moment.
    lines = planned(asked).charges
    if end is not None:
        assert max(c.accrual[1] for c in lines) == asked.local_time(end * DAY)


YAML = """
name: agree
start: 2026-01-01
horizon: 20d
workload:
  classes:
    - {name: c, model: qwen-7b, method: lora, mean_tokens: 200, samples: 300000, epochs: 1, rate: 12/day}
reliability: {profile: none}
strategies:
  - name: s
    leases:
      - offer: h100-mig
        count: 2
        plan: hourly
        stopped: [{from: 2026-01-05, until: 2026-01-08T12:00}]
        terms: {stop: {restart: ordered, restart_s: 3600, disk_per_month: 31}}
      - {offer: a100-40g-custom, plan: monthly, started: 2025-12-15, terms: {expiry: end}}
experiment: {replications: 1}
"""


def test_the_engine_uses_no_card_that_the_bill_says_is_away():
    question = load_text(YAML)
    run = replicate(prepare(question), 0, 0)
    stays = [(a.offer, a.start_us, a.end_us) for a in run.log.attempts]
    assert stays
    for name, start, end in stays:
        if name == "h100-mig":
            assert end <= 4 * DAY or start >= 7 * DAY + 13 * HOUR
        else:
            assert end <= 14 * DAY
    assert any(name == "h100-mig" and start >= 7 * DAY + 13 * HOUR for name, start, _ in stays)
    assert {a.ended for a in run.log.attempts} >= {"window_end", "lease_end"}
    # Of 480 h, 96 before the stop and 299 from an hour after it on, for each of two cards.
    hours = [c.quantity for c in run.ledger.charges if c.category == "usage"]
    assert hours == [96, 299, 96, 299]
    disk = next(c for c in run.ledger.charges if c.category == "storage")
    # 2 units x (3.5 days + 1 h) / 31 x 31 = 7.083
    assert disk.billed_cost == D("7.08")
    custom = [lease for lease in run.log.leases if lease.lease == 1]
    assert [lease.end_us for lease in custom] == [14 * DAY]


def test_a_bill_from_the_plan_is_the_bill_of_the_run():
    question = load_text(YAML)
    prepared = prepare(question)
    run = replicate(prepared, 0, 0)
    scenario_, strategy = question.scenario, question.scenario.strategies[0]
    records = list(planned_records(scenario_, strategy, prepared.offers))
    plan = bill(records, scenario_, strategy, prepared.offers)
    assert plan.charges == run.ledger.charges
    assert plan.invoices == run.ledger.invoices
    assert plan.assumptions == run.ledger.assumptions
