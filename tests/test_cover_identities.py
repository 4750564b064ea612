"""A ledger that is not in order is told so: each identity, broken by hand, has its sentence."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from sim.billing.identities import broken_identities
from sim.billing.invoices import invoices
from tests.money_cases import charge, ledger, log, machine, scenario, stay

D = Decimal
ASKED = scenario("2026-01-01", "31d", "UTC")
RUN = log(744, [stay(0, [0], 0, 100)], [machine()])


def in_order():
    """744.00 for January, one card at 1.00 an hour, and a fee of 5.00 on it."""
    bought = charge(ASKED, "744.00", 0, 744, cards=1)
    fee = charge(ASKED, "5.00", 0, 744, number=1, category="fee", of=0)
    return ledger(ASKED, bought, fee)


def changed(place, **fields):
    """The same with another figure in one line, and the invoices as they were."""
    book = in_order()
    lines = [replace(line, **fields) if line.id == place else line for line in book.charges]
    return replace(book, charges=tuple(lines))


def told(book, run=RUN):
    return broken_identities(book, run, ASKED)


def test_nothing_is_said_of_a_ledger_in_order() -> None:
    assert told(in_order()) == ()


def test_two_lines_of_one_number() -> None:
    book = in_order()
    (bought, _), (whole,) = book.charges, book.invoices
    twice = replace(
        book, charges=(bought, bought), invoices=(replace(whole, charges=(0,), total=D("744.00")),)
    )
    assert told(twice)[0] == "two lines have the same number"


@pytest.mark.parametrize(("listed", "count"), [((0,), 0), ((0, 1, 1), 2)])
def test_a_line_stands_on_one_invoice(listed, count) -> None:
    book = in_order()
    (whole,) = book.invoices
    of = {(0,): D("744.00"), (0, 1, 1): D("754.00")}[listed]
    found = told(replace(book, invoices=(replace(whole, charges=listed, total=of),)))
    assert found[0] == f"line 1 stands on {count} invoices, not 1"
    assert found[1] == f"lines 749.00, invoices {of} and cash 749.00 differ"
    assert len(found) == 2


def test_a_line_that_was_paid_before_stands_on_none() -> None:
    found = told(changed(1, sunk=True))
    assert found[0] == "line 1 stands on 1 invoices, not 0"


def test_an_invoice_is_the_sum_of_its_lines() -> None:
    book = in_order()
    (whole,) = book.invoices
    found = told(replace(book, invoices=(replace(whole, total=D("750.00")),)))
    assert found == (
        "the invoice of idc10000 for 2026-01 is not the sum of its lines",
        "lines 749.00, invoices 750.00 and cash 749.00 differ",
    )


def test_an_invoice_names_a_line_that_is_not_there() -> None:
    """744.00 and 5.00 are there, and the invoice has a line 7 of which nobody knows the amount."""
    book = in_order()
    (whole,) = book.invoices
    found = told(replace(book, invoices=(replace(whole, charges=(0, 1, 7), total=D("750.00")),)))
    assert found == (
        "the invoice of idc10000 for 2026-01 names line 7, which is not there",
        "the invoice of idc10000 for 2026-01 is not the sum of its lines",
        "lines 749.00, invoices 750.00 and cash 749.00 differ",
    )


def test_an_invoice_of_none_but_missing_lines() -> None:
    book = in_order()
    (whole,) = book.invoices
    more = replace(whole, charges=(8, 9), total=D("0.00"))
    assert told(replace(book, invoices=(whole, more))) == (
        "the invoice of idc10000 for 2026-01 names line 8, which is not there",
        "the invoice of idc10000 for 2026-01 names line 9, which is not there",
        "the invoice of idc10000 for 2026-01 has lines of []",
    )


def test_an_invoice_is_of_one_provider_and_month() -> None:
    book = in_order()
    (whole,) = book.invoices
    (found,) = told(replace(book, invoices=(replace(whole, month="2026-02"),)))
    assert found == "the invoice of idc10000 for 2026-02 has lines of [('idc10000', '2026-01')]"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"accrued_cost": D("4.994")}, "cost within the horizon is 748.99, the ledger says 748.994"),
        ({"accrued_cost": D("4.99"), "recoverable": True}, "-4.99 is paid for no time"),
    ],
    ids=["part of a cent", "a cost though it comes back"],
)
def test_cost_within_the_horizon_and_paid_time_come_out_even(fields, sentence) -> None:
    assert told(changed(1, **fields)) == (sentence,)


def test_cash_that_the_ledger_puts_on_the_other_side_of_the_horizon() -> None:
    book = replace(in_order(), horizon_end=ASKED.local_time(0))
    assert told(book) == ("cash within the horizon is 749.00, the ledger says 0",)


def test_cost_below_the_unit_of_the_views_is_missing_in_each_of_them() -> None:
    """A billionth too much accrues: more places than a line may have (eight), so three sums differ by it."""
    assert told(changed(1, accrued_cost=D("5.000000001"))) == (
        "cost within the horizon is 749.00, the ledger says 749.000000001",
        "line 1: used and unused time cost 5.00000000, not 5.000000001",
        "lease 0/monthly: 749.00 paid, 748.999999999 of cost",
    )


def test_card_time_that_the_run_does_not_show() -> None:
    """The lease pays for 744 h of a card; the run has its machine for 700: 44 h are missing."""
    short = log(744, [], [machine(0, 700)])
    (found,) = told(in_order(), short)
    assert (
        found
        == f"line 0: {700 * 3_600_000_000} us of card-time used and unused, {744 * 3_600_000_000} us paid for"
    )


def test_invoices_are_made_of_what_is_paid() -> None:
    """By provider and month; what was paid before the scenario is on none."""
    book = changed(1, sunk=True)
    assert [one.total for one in invoices(book.charges)] == [D("744.00")]
