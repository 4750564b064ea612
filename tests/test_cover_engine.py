"""Corners of the engine that no other test reached (`docs/contributing.md` has the command that measures)."""

from __future__ import annotations

import gc

import pytest

from sim.engine import run
from sim.engine.fleet import Pool
from sim.model.fleet import CheckpointSpec, FleetPlan
from sim.streams import Streams
from sim.units import HOUR
from tests.build import job_set, pool, rates


def two_cards() -> Pool:
    """One machine of two cards, there from the start."""
    made = Pool(pool(1, per_machine=2), 1, burst=False)
    made.bring(made.machines[0], 0)
    return made


def test_a_card_that_was_replaced_is_not_mended_a_second_time() -> None:
    """Card 0 fails at 1 h (token 1), its machine at 2 h (token 2); at 3 h another machine stands there.

    The reset of the card, due at 4 h, finds a card in working order: nothing comes free twice.
    """
    made = two_cards()
    (machine,) = made.machines
    made.break_card(machine.cards[0], HOUR, 1)
    assert made.free == 1
    made.break_machine(machine, 2 * HOUR, 2)
    assert made.free == 0
    made.mend_machine(machine, 3 * HOUR, 2)
    assert made.free == 2
    made.mend_card(machine.cards[0], 4 * HOUR, 1)
    assert (made.free, machine.free, machine.cards[0].broken) == (2, 2, 0)
    # Card 0 was away from 1 to 3 h, card 1 from 2 to 3 h.
    assert machine.down_card_us == 3 * HOUR


def test_a_repair_of_an_earlier_failure_leaves_the_later_one_standing() -> None:
    """Down at 1 h (token 1), and again at 2 h before it was mended (token 2): up with the second repair."""
    made = two_cards()
    (machine,) = made.machines
    made.break_machine(machine, HOUR, 1)
    made.break_machine(machine, 2 * HOUR, 2)
    made.mend_machine(machine, 3 * HOUR, 1)
    assert (made.free, machine.up) == (0, False)
    made.mend_machine(machine, 5 * HOUR, 2)
    assert (made.free, machine.up) == (2, True)
    assert machine.down_card_us == 2 * 4 * HOUR


def test_cards_of_several_machines_are_taken_all_or_none() -> None:
    """Two machines of two cards, one card of the second taken: three are free."""
    made = Pool(pool(2, per_machine=2), 2, burst=False)
    for machine in made.machines:
        made.bring(machine, 0)
    (first,) = made.take_from([(1, 1)]) or ()
    first.held_by = "a job"  # whoever takes a card signs for it
    assert made.take_from([(0, 2), (1, 2)]) is None
    assert made.free == 3
    taken = made.take_from([(0, 2), (1, 1)])
    assert taken is not None
    assert [card.ordinal for card in taken] == [0, 1, 3]
    assert made.free == 0


@pytest.mark.parametrize("enabled", [True, False])
def test_a_run_leaves_the_collector_of_cycles_as_it_was(enabled: bool) -> None:
    """Whoever has turned it off keeps it off; two jobs of an hour on one card end after two hours."""
    plan = FleetPlan((pool(1),), None, "fifo", 10 * HOUR, CheckpointSpec(None))
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        log = run(plan, job_set([(0, 1), (0, 1)]), rates(), Streams(0))
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()
    assert [job.end_us for job in log.jobs] == [HOUR, 2 * HOUR]
