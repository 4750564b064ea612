"""The look that tells whether a reservation could move forward, by pencil."""

from __future__ import annotations

from sim.engine.timeline import NEVER, Timeline


def machine_of_two(*holds: tuple[int, int, int]) -> Timeline:
    """One machine of two cards for ever; each hold: from, until, cards."""
    line = Timeline([((0, NEVER),)], [2])
    for job, (start, end, cards) in enumerate(holds):
        line.hold(job, start, end, ((0, cards),))
    return line


def test_a_hole_is_long_enough_or_reaches_the_present_start() -> None:
    # Both cards are held in [0, 4) and [9, 12): free in [4, 9) and from 12 on.
    line = machine_of_two((0, 4, 2), (9, 12, 2))
    for machines in ([0], None):
        assert line.has_hole(2, 5, 0, 20, machines)
        assert line.has_hole(2, 6, 0, 9, machines)  # in [4, 9), and on into its own place
        assert not line.has_hole(2, 6, 0, 12, machines)  # five units are too few, and then they are held
        assert line.has_hole(2, 6, 0, 13, machines)  # from 12 on, up to its own start and on
        assert not line.has_hole(2, 1, 0, 4, machines)
        assert not line.has_hole(3, 1, 0, 20, machines)


def test_one_that_ends_as_another_begins_leaves_no_gap_in_what_is_free() -> None:
    # One card is held in [0, 5) and in [5, 10), the other is free up to 10: one hole of ten.
    line = machine_of_two((0, 5, 1), (5, 10, 1), (10, 20, 2))
    assert line.has_hole(1, 8, 0, 15, [0])
    assert line.has_hole(1, 10, 0, 15, None)
    assert not line.has_hole(1, 11, 0, 15, [0])
    assert not line.has_hole(2, 1, 0, 15, [0])


def test_where_a_window_closes_nothing_is_ruled_out() -> None:
    line = Timeline([((0, 6),)], [1])
    line.hold(0, 0, 6, ((0, 1),))
    assert line.has_hole(1, 3, 0, 5, [0])
