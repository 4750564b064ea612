"""The look that tells whether a reservation could move forward, by pencil."""

from __future__ import annotations

from sim.engine.timeline import NEVER, Parts, Timeline


def machine_of_two(*holds: tuple[int, int, int]) -> Timeline:
    """One machine of two cards for ever; each hold: from, until, cards."""
    line = Timeline([((0, NEVER),)], [2])
    for job, (start, end, cards) in enumerate(holds):
        line.hold(job, start, end, ((0, cards),))
    return line


def sooner(line: Timeline, count: int, length: int, before: int, own: Parts, until: int = NEVER) -> bool:
    """The two looks, which are one where there is one machine."""
    one = line.sooner_on_one(count, length, 0, before, {0: until}, own)
    assert line.sooner_over_several(count, length, 0, before, {0: until}, own) == one
    return one


def test_a_hole_is_long_enough_or_reaches_the_present_start() -> None:
    # Both cards are held in [0, 4) and [9, 12): free in [4, 9) and from 12 on.
    line = machine_of_two((0, 4, 2), (9, 12, 2))
    mine = ((0, 2),)
    assert sooner(line, 2, 5, 20, ())
    assert sooner(line, 2, 6, 9, mine)  # in [4, 9), and on into its own place
    assert not sooner(line, 2, 6, 9, ())  # which somebody else has
    assert not sooner(line, 2, 6, 12, mine)  # five units are too few, and then they are held
    assert sooner(line, 2, 6, 13, mine)  # from 12 on, up to its own start and on
    assert not sooner(line, 2, 1, 4, ())
    assert not sooner(line, 3, 1, 20, ())


def test_a_start_after_all_that_has_become_free_is_nothing_new() -> None:
    line = machine_of_two((0, 4, 2), (9, 12, 2))
    assert not sooner(line, 2, 5, 20, (), until=4)
    assert sooner(line, 2, 5, 20, (), until=5)


def test_one_that_ends_as_another_begins_leaves_no_gap_in_what_is_free() -> None:
    # One card is held in [0, 5) and in [5, 10), the other is free up to 10: one hole of ten.
    line = machine_of_two((0, 5, 1), (5, 10, 1), (10, 20, 2))
    assert sooner(line, 1, 8, 15, ())
    assert sooner(line, 1, 10, 15, ())
    assert not sooner(line, 1, 11, 15, ())
    assert not sooner(line, 2, 1, 15, ())


def test_a_hold_that_is_released_leaves_nothing_behind() -> None:
    line = machine_of_two((0, 5, 1), (5, 10, 1))
    line.hold(7, 3, 8, ((0, 1),))
    assert not sooner(line, 1, 4, 8, ())  # both are held in [3, 8)
    assert line.release(7) == (8, ((0, 1),))
    assert sooner(line, 1, 10, 8, ())
    assert line.on_one_machine(2, 3, 0, NEVER, emptiest=False) == (10, ((0, 2),))


def test_own_cards_of_several_machines_count_from_the_present_start() -> None:
    # Two machines of one card, one held up to 6. A job of two cards has both from 8 on, for 4: it could
    # have them from 6 on. Its look begins before the release of its own hold.
    line = Timeline([((0, NEVER),), ((0, NEVER),)], [1, 1])
    line.hold(0, 0, 6, ((0, 1),))
    line.hold(1, 8, 12, ((0, 1), (1, 1)))
    assert line.sooner_over_several(2, 4, 0, 8, {0: 8}, ((0, 1), (1, 1)))
    assert not line.sooner_over_several(2, 4, 0, 6, {0: 6}, ((0, 1), (1, 1)))
    assert not line.sooner_over_several(2, 4, 0, 8, {0: 8}, ())


def test_where_a_window_closes_nothing_is_ruled_out_over_several_machines() -> None:
    line = Timeline([((0, 6),)], [1])
    line.hold(0, 0, 6, ((0, 1),))
    assert line.sooner_over_several(1, 3, 0, 5, {0: 5}, ())
    assert not line.sooner_on_one(1, 3, 0, 5, {0: 5}, ())  # here each window is looked at
