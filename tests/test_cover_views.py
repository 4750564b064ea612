"""Corners of the views of a ledger that a round of changed operators found untested (`docs/mutants.md`)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from sim.billing.accrual import AFTER, accruals
from sim.billing.allocation import allocate
from sim.billing.cardtime import NOBODY, cells
from sim.billing.downtime import down_times
from sim.billing.finance.run_indicators import _agreed, _listed
from sim.billing.focus import focus_rows
from sim.billing.penalties import penalties
from sim.units import HOUR
from tests.billing_cases import OFFERS, offer
from tests.money_cases import (
    at,
    charge,
    failure,
    hour,
    job_record,
    job_set,
    ledger,
    log,
    machine,
    scenario,
    stay,
)

D = Decimal


def rows_of(asked, book, run, jobs, grain="month", tax="accrued"):
    return [*focus_rows(book, run, jobs, asked, "s", OFFERS, grain, tax)]


def test_a_charge_of_time_after_the_horizon_accrues_after_it() -> None:
    """Paid early: 28.00 for February, in a run of January."""
    asked = scenario("2026-01-01", "31d", "UTC")
    line = charge(asked, "28.00", 744, 1416, accrued="0.00")
    (one,) = accruals(ledger(asked, line), asked)
    assert (one.period, one.amount) == (AFTER, D("28.00"))


def test_a_charge_of_no_length_accrues_where_it_stands() -> None:
    """A fee on the tenth of March, in a run of four months."""
    asked = scenario("2026-01-01", "120d", "UTC")
    line = charge(asked, "5.00", 68 * 24, 68 * 24, category="fee")
    (one,) = accruals(ledger(asked, line), asked)
    assert (one.period, one.amount) == ("2026-03", D("5.00"))


def test_the_cost_of_idle_and_away_time_is_told_by_state() -> None:
    """Ten hours at 1.00: a job for four, three outside of the lease's windows, three idle."""
    asked = scenario(horizon="10h")
    book = ledger(asked, charge(asked, "10.00", 0, 10, cards=1))
    absent = machine(absences=((hour(7), hour(10)),), away_card_us=hour(3))
    result = allocate(book, log(10, [stay(0, [0], 0, 4)], [absent]), job_set(1), asked)
    costs = {state: result.state(state) for state in ("useful", "idle", "away", "down", "lost")}
    assert costs == {"useful": D(4), "idle": D(3), "away": D(3), "down": D(0), "lost": D(0)}


def test_a_machine_that_was_never_there_hides_no_other() -> None:
    """Handed back at once, or rented after the end of the run: no cell, and the next machine has its own."""
    machines = [machine(2, 2, number=0), machine(12, None, number=1), machine(0, None, number=2)]
    found = cells(log(10, [], machines), lambda lease, number: [0, hour(10)])
    assert [(cell.record, cell.machine, cell.leased, cell.parts) for cell in found] == [
        (2, 2, 10 * HOUR, {(NOBODY, "idle"): 10 * HOUR})
    ]


def test_a_reserved_card_is_not_down() -> None:
    """A machine of four cards with one kept back is away for two of ten hours: three cards are down."""
    kept = machine(0, None, gpus=4, reserved_card_us=10)
    spans = down_times(log(10, [], [kept], [failure(3, 5)]))
    assert spans == {0: [(hour(3), hour(5))] * 3}
    (cell,) = cells(log(10, [], [kept], [failure(3, 5)]), lambda lease, number: [0, hour(10)])
    assert {state: us / HOUR for (_, state), us in cell.parts.items()} == {
        "down": 6, "reserved": 10, "idle": 24,
    }  # fmt: skip


def test_an_outage_of_the_reserved_card_alone_is_no_down_time() -> None:
    kept = machine(0, None, gpus=4, reserved_card_us=10)
    of_card = {card: down_times(log(10, [], [kept], [failure(3, 5, card=card)])) for card in range(4)}
    assert of_card[3] == {}
    assert of_card[2] == {0: [(hour(3), hour(5))]}


def test_a_commitment_without_a_card_in_the_run_is_unused_for_that_reason() -> None:
    """24.00 for a day on which no machine of the lease stands: one row, of no card and no job."""
    asked = scenario("2026-06-01", "24h", "UTC")
    book = ledger(asked, charge(asked, "24.00", 0, 24, cards=1))
    bought, unused = rows_of(asked, book, log(24), job_set(0))
    assert bought["ChargeCategory"] == "Purchase"
    assert (unused["x_UnusedReason"], unused["CommitmentDiscountStatus"]) == ("no card", "Unused")
    assert (unused["EffectiveCost"], unused["CommitmentDiscountQuantity"]) == (D(24), D(24))


def taxed(paid_before="0.00", accrued="60.00", billed="60.00"):
    """A prepaid period of two months, and tax on it of which a part may lie outside of the run."""
    asked = scenario("2026-01-01", "59d", "UTC")
    net = charge(asked, "1000.00", -24, 1416, cards=1)
    tax = charge(
        asked, billed, -24, 1416, number=1, category="tax", of=0, unit="net price", accrued=accrued,
        before_cost=D(paid_before), lease="lease 0",
    )  # fmt: skip
    return asked, ledger(asked, net, tax), log(1416, [], [machine()])


@pytest.mark.parametrize(
    ("before", "accrued", "outside"),
    [("0.00", "60.00", "0"), ("1.00", "59.00", "1"), ("1.00", "50.00", "10")],
)
def test_tax_on_a_commitment_outside_of_the_run_stands_with_it(before, accrued, outside) -> None:
    """60.00 of tax: what belongs to time before the run and after it are both outside of it."""
    asked, book, run = taxed(before, accrued)
    tax = next(row for row in rows_of(asked, book, run, job_set(0)) if row["ChargeCategory"] == "Tax")
    assert (tax["BilledCost"], tax["EffectiveCost"]) == (D(60), D(0))
    assert tax["x_CostOutside"] == D(outside)


def test_tax_names_the_commitment_and_no_resource() -> None:
    """Tax is of the commitment (FOCUS: no resource was provisioned by it)."""
    asked, book, run = taxed()
    rows = [row for row in rows_of(asked, book, run, job_set(0)) if row["ChargeCategory"] == "Tax"]
    assert {row["CommitmentDiscountId"] for row in rows} == {"lease-0/monthly"}
    assert {row["ResourceId"] for row in rows} == {None}
    assert len(rows) == 3  # billed once, and a cost in each of two months


@pytest.mark.parametrize(
    ("category", "words"),
    [
        ("storage", ("Storage", "GPU disk", "Block Storage", "Disk time", "a100-40g-custom/disk")),
        ("fee", ("Compute", "GPU rental", "Virtual Machines", "GPU time", "a100-40g-custom/hourly")),
    ],
)
def test_disks_and_cards_are_services_of_their_own(category, words) -> None:
    asked = scenario("2026-01-01", "31d", "UTC")
    line = charge(asked, "3.00", 0, 240, category=category, plan="hourly", quantity="0.5", price=6)
    (row,) = rows_of(asked, ledger(asked, line), log(744), job_set(0))
    names = ("ServiceCategory", "ServiceName", "ServiceSubcategory", "SkuMeter", "SkuPriceId")
    assert tuple(row[name] for name in names) == words


@pytest.mark.parametrize(("paid", "wanted"), [("2026-06-16", None), ("2026-07-01", "Correction")])
def test_a_fee_of_hours_is_a_correction_in_another_month_and_hours_are_none(paid, wanted) -> None:
    asked = scenario("2026-06-01", "60d", "UTC")
    common = {"lease": "burst", "plan": "hourly", "offer": "h100-mig"}
    hours = charge(asked, "20.00", 0, 1, category="usage", machine=0, cards=1, **common)
    fee = charge(asked, "5.00", 0, 1, number=1, category="fee", of=0, paid=at(asked, paid), **common)
    disk = charge(asked, "3.00", 0, 240, number=2, category="storage", plan="hourly", unit="unit-months")
    run = log(1440, [], [machine(0, 1, lease=-1, offer="h100-mig")])
    rows = rows_of(asked, ledger(asked, hours, fee, disk), run, job_set(0))
    assert [(row["BilledCost"], row["ChargeClass"]) for row in rows] == [
        (D(20), None), (D(5), wanted), (D(3), None),
    ]  # fmt: skip


def test_the_opportunity_of_a_team_is_known_where_that_of_each_job_is() -> None:
    """Two jobs of two hours on a standing card that would cost 30 an hour elsewhere: 120 together."""
    asked = scenario(horizon="4h")
    book = ledger(asked, charge(asked, "4.00", 0, 4, cards=1))
    run = log(4, [stay(0, [0], 0, 2), stay(1, [0], 2, 4)], [machine()])
    known = allocate(book, run, job_set(2), asked, hourly={"a100-40g-custom": Fraction(30)})
    assert [job.opportunity for job in known.jobs] == [D("60.00"), D("60.00")]
    assert known.everything.opportunity == D("120.00")
    assert allocate(book, run, job_set(2), asked, hourly={}).everything.opportunity is None


def test_a_rental_or_period_of_no_length_has_no_contracted_cost() -> None:
    """Nothing passes in it, so nothing is to be spread."""
    asked = scenario(horizon="10h")
    empty = charge(asked, "5.00", 2, 2, cards=1)
    assert (_agreed(empty, hour(1)), _listed(empty, hour(1))) == (0, 0)
    whole = charge(asked, "5.00", 2, 4, cards=1)
    assert (_agreed(whole, hour(1)), _listed(whole, hour(1))) == (Fraction(5, 2), Fraction(5, 2))


@pytest.mark.parametrize(
    ("kind", "hours"),
    [("node", 3 + 2), ("gpu_fatal", 3 + 2), ("switch", 5 + 2), ("maintenance", 5 + 2)],
)
def test_a_broken_card_is_mended_with_the_machine_only_where_that_is_replaced(kind, hours) -> None:
    """Card 0 of two is away from 1 to 6 h, both from 2 to 4 h. Where another machine comes at 4 h, card 0 is
    back then (3 h away, card 1 for 2 h); where the same one comes back, at 6 h."""
    failures = [failure(1, 6, card=0, kind="gpu_reset"), failure(2, 4, kind=kind)]
    spans = down_times(log(10, [], [machine(0, None, gpus=2)], failures))
    assert sum(end - start for start, end in spans[0]) == hour(hours)


def test_rows_name_the_site_of_the_offer_and_nothing_where_it_has_none() -> None:
    asked = scenario("2026-06-01", "24h", "UTC")
    book = ledger(asked, charge(asked, "24.00", 0, 24, cards=1))
    for site, region in ((None, None), ("shanghai-2", "shanghai-2")):
        offers = {"a100-40g-custom": offer(**({} if site is None else {"site": site}))}
        rows = [*focus_rows(book, log(24, [], [machine()]), job_set(0), asked, "s", offers)]
        assert {(row["RegionId"], row["RegionName"]) for row in rows} == {(region, region)}


def test_a_line_of_no_machine_is_of_its_lease() -> None:
    """Disks of two stopped machines are one line of the lease; a rental is of its machine."""
    asked = scenario("2026-01-01", "31d", "UTC")
    disks = charge(asked, "3.00", 0, 240, category="storage", plan="hourly")
    hours = charge(asked, "9.00", 0, 1, number=1, category="usage", plan="hourly", machine=4, cards=1)
    rows = rows_of(asked, ledger(asked, disks, hours), log(744), job_set(0))
    assert [row["ResourceId"] for row in rows] == [
        "a100-40g-custom/leased/lease-0", "a100-40g-custom/leased/4",
    ]  # fmt: skip


def test_a_penalty_says_whether_the_job_was_done_at_last() -> None:
    """Due at 2 h, 10.00 an hour late: done at 5 h, and never done in a run of 8 h."""
    asked = scenario(horizon="8h", target={"late_cost_per_hour": 10})
    jobs = job_set(2, deadlines=[2, 2])
    records = [job_record(0, "done", 5), job_record(1, "running")]
    found = penalties(log(8, jobs=records), jobs, asked)
    assert {job: (one.cost, one.late_us, one.reason) for job, one in found.items()} == {
        0: (D("30.00"), hour(3), "late"),
        1: (D("60.00"), hour(6), "late, not done"),
    }


@pytest.mark.parametrize(("rule", "effective"), [("accrued", "4.00"), ("billed", "6.00")])
def test_tax_of_hours_is_a_cost_as_they_pass_or_when_it_is_billed(rule, effective) -> None:
    """6.00 of tax on three hours of which two lie in the run: 4.00 of it accrues, 2.00 is outside."""
    asked = scenario("2026-01-01", "2h", "UTC")
    common = {"lease": "burst", "plan": "hourly", "machine": 0}
    net = charge(asked, "100.00", 0, 3, category="usage", accrued="66.67", cards=1, **common)
    tax = charge(asked, "6.00", 0, 3, number=1, category="tax", of=0, accrued="4.00", **common)
    rows = rows_of(asked, ledger(asked, net, tax), log(2, [], [machine(0, lease=-1)]), job_set(0), tax=rule)
    (found,) = (row for row in rows if row["ChargeCategory"] == "Tax")
    assert (found["BilledCost"], found["EffectiveCost"]) == (D("6.00"), D(effective))
    assert found["x_CostOutside"] == (D("2.00") if rule == "accrued" else 0)


def test_a_microsecond_too_much_of_a_shared_card_is_taken_from_the_largest_part() -> None:
    """Seven and three tenths of an hour on one card, the first rounded up: together an hour, nothing idle."""
    parts = {0: 2_520_000_001, 1: 1_080_000_000}
    stays = [stay(job, [0], 0, 1)._replace(card_us=card_us) for job, card_us in parts.items()]
    (cell,) = cells(log(1, stays, [machine()]), lambda lease, number: [0, hour(1)])
    assert cell.parts == {(0, "useful"): 2_520_000_000, (1, "useful"): 1_080_000_000}
