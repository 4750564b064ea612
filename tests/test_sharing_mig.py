"""Cards partitioned for jobs while the fleet runs: slices, their speed, and the time to partition."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sim.decisions.sharing import partition, shared_speed, slice_speed, slices_holding
from sim.model.fleet import ForcedFailure, LeaseSpan
from sim.model.job import Job, JobSet
from sim.model.sharing import SLICE_GAIN
from sim.units import HOUR, SECOND
from tests.build import OFFER, job_set, plan
from tests.sharing_cases import A100_80G, MPS, PRESET, after, kinds, mig, needing, played, shared

NAMES = {profile.name: profile for profile in A100_80G}
GAIN = Fraction(str(SLICE_GAIN))
NINE, THIRTY = 9.0, 30.0
"""GiB that take the smallest slice, and one of 3g.40gb."""
ONE, THREES = Fraction(15, 100), Fraction(45, 100)
"""Speed of 1g (1/7 x 1.05) and of 3g (3/7 x 1.05)."""
CUT = 30 * SECOND


def mixed(*rows: tuple[int, float, float], gib: tuple[float | None, ...]) -> JobSet:
    """Jobs (shape, submit hour, run hours)."""
    shapes, _ = kinds(*gib)
    made = (
        Job(i, f"job-{i}", s, round(at * HOUR), float(round(h * HOUR))) for i, (s, at, h) in enumerate(rows)
    )
    return JobSet(shapes, tuple(made))


# --- the preset -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("demands", "speed"),
    [
        (["0.9"], "1"),
        (["0.2", "0.3"], "0.99"),
        (["0.3", "0.35"], "0.965"),  # half way from 0.99 at 0.5 to 0.94 at 0.8
        (["0.4", "0.4"], "0.94"),
        (["0.45", "0.45"], "0.91"),  # half way from 0.94 at 0.8 to 0.88 at 1.0
        (["0.5", "0.5"], "0.88"),
        (["0.51", "0.51"], "0.88"),  # 0.92 / 1.02 = 0.902 would make more demand faster
        (["0.9", "0.9"], "23/45"),  # 0.92 / 1.8
        (["0.95", "0.95"], "46/95"),  # 0.92 / 1.9: the 0.48 of the preset
        (["0.1", "0.1", "0.1"], "0.9702"),  # 0.99 x 0.98
        (["0.9", "0.9", "0.9"], "1127/3375"),  # 0.92 / 2.7 x 0.98
    ],
)
def test_the_speed_of_jobs_together_is_that_of_the_preset(demands: list[str], speed: str) -> None:
    assert shared_speed(PRESET, [Fraction(demand) for demand in demands]) == Fraction(speed)


def test_mps_leaves_97_per_cent_of_the_card() -> None:
    assert shared_speed(MPS, [Fraction("0.9")] * 2) == Fraction(97, 180)


def test_more_demand_never_makes_a_job_faster() -> None:
    pairs = [shared_speed(PRESET, [Fraction(n, 200), Fraction(n, 200)]) for n in range(201)]
    assert pairs == sorted(pairs, reverse=True)


def test_slices_run_at_their_share_of_the_compute_slices() -> None:
    speeds = {name: slice_speed(profile, GAIN) for name, profile in NAMES.items()}
    assert speeds["1g.10gb"] == ONE
    assert speeds["3g.40gb"] == THREES
    assert speeds["4g.40gb"] == Fraction(6, 10)
    assert speeds["7g.80gb"] == 1, "never faster than the card"


@pytest.mark.parametrize(
    ("wanted", "parts"),
    [
        ("1g.10gb", ["1g.10gb"] * 7),
        ("1g.20gb", ["1g.20gb"] * 4),
        ("2g.20gb", ["2g.20gb"] * 3 + ["1g.20gb"]),
        ("3g.40gb", ["3g.40gb"] * 2),
        ("4g.40gb", ["4g.40gb", "3g.40gb"]),
        ("7g.80gb", ["7g.80gb"]),
    ],
)
def test_a_card_is_cut_into_what_the_vendor_allows(wanted: str, parts: list[str]) -> None:
    assert [part.name for part in partition(A100_80G, NAMES[wanted], 7)] == parts


def test_a_card_is_cut_into_no_more_slices_than_asked_for() -> None:
    assert [part.name for part in partition(A100_80G, NAMES["1g.10gb"], 2)] == ["1g.10gb"] * 2


def test_the_smallest_slice_that_holds_a_job_comes_first() -> None:
    names = [profile.name for profile in slices_holding(A100_80G, 9.6)]
    assert names == ["1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"]
    assert not slices_holding(A100_80G, 39.3), "then it needs the card"


# --- jobs on slices -------------------------------------------------------------------------


def test_seven_jobs_run_beside_each_other_and_the_eighth_waits() -> None:
    # 1 h of work at 0.15 takes 6 h 40 min, after the half minute in which the card is partitioned.
    log = played(plan(shared(1, mig())), job_set([(0, 1)] * 8), needing(NINE))
    end = CUT + after(1 / ONE)
    assert [job.end_us for job in log.jobs[:7]] == [end] * 7
    assert log.jobs[7].start_us == end
    assert log.jobs[7].end_us == end + after(1 / ONE), "it finds the card as it needs it"
    assert [stay.startup_us for stay in log.attempts] == [CUT] * 7 + [0]


def test_who_comes_while_the_card_is_partitioned_waits_for_the_rest() -> None:
    log = played(plan(shared(1, mig())), job_set([(0, 1), (10 / 3600, 1)]), needing(NINE))
    assert [stay.startup_us for stay in log.attempts] == [CUT, CUT - 10 * SECOND]


def test_another_partition_needs_an_idle_card_and_its_time() -> None:
    # The large job finds one small job on the card and waits, though six slices are free.
    shapes = (NINE, THIRTY)
    jobs = mixed((0, 0, 1), (1, 1, 1), (1, 2, 1), (0, 3, 1), gib=shapes)
    log = played(plan(shared(1, mig()), policy="sjf"), jobs, kinds(*shapes)[1])
    small_end = CUT + after(1 / ONE)
    assert log.jobs[0].end_us == small_end
    # The other small job came at 3 h and took a free slice; the card is idle when it has gone.
    idle = 3 * HOUR + after(1 / ONE)
    assert (log.jobs[3].start_us, log.jobs[3].end_us) == (3 * HOUR, idle)
    assert [log.jobs[n].start_us for n in (1, 2)] == [idle, idle]
    assert [log.jobs[n].end_us for n in (1, 2)] == [idle + CUT + after(1 / THREES)] * 2


def test_a_small_job_takes_a_larger_slice_rather_than_wait() -> None:
    shapes = (NINE, THIRTY)
    log = played(plan(shared(1, mig())), mixed((1, 0, 9), (0, 1, 1), gib=shapes), kinds(*shapes)[1])
    assert (log.jobs[1].start_us, log.jobs[1].end_us) == (HOUR, HOUR + after(1 / THREES))


def test_a_small_job_would_rather_have_a_card_cut_to_its_measure() -> None:
    shapes = (NINE, THIRTY)
    log = played(plan(shared(2, mig())), mixed((1, 0, 9), (0, 1, 1), gib=shapes), kinds(*shapes)[1])
    assert log.attempts[1].cards == (1,)
    assert log.jobs[1].end_us == HOUR + CUT + after(1 / ONE)


def test_a_job_too_large_for_slices_has_the_whole_card_at_its_speed() -> None:
    shapes = (NINE, 60.0)
    log = played(
        plan(shared(1, mig())), mixed((1, 0, 2), (0, 0, 1), (1, 0, 2), gib=shapes), kinds(*shapes)[1]
    )
    first, second, third = log.attempts
    assert (first.startup_us, first.end_us, first.card_us) == (0, 2 * HOUR, None), "nothing to partition yet"
    assert (second.startup_us, second.end_us) == (CUT, 2 * HOUR + CUT + after(1 / ONE))
    assert (third.startup_us, third.end_us - third.start_us) == (CUT, 2 * HOUR + CUT), "made whole again"


def test_a_job_whose_memory_is_not_known_has_the_whole_card() -> None:
    log = played(plan(shared(1, mig())), job_set([(0, 1), (0, 1)]), needing(None))
    assert [job.end_us for job in log.jobs] == [HOUR, 2 * HOUR]


def test_a_slice_is_a_part_of_the_card_and_the_card_is_busy_once() -> None:
    log = played(plan(shared(1, mig())), job_set([(0, 1)] * 3), needing(NINE))
    busy = CUT + after(1 / ONE)
    assert [stay.card_us for stay in log.attempts] == [busy // 7] * 3
    assert log.leases[0].busy_card_us == busy


def test_a_failure_hits_all_slices_and_the_card_is_partitioned_anew() -> None:
    forced = (ForcedFailure(2 * HOUR, "gpu_reset", OFFER, 0, 0, HOUR),)
    log = played(plan(shared(1, mig()), forced=forced), job_set([(0, 1)] * 2), needing(NINE))
    assert log.failures[0].jobs == (0, 1)
    assert [stay.ended for stay in log.attempts] == ["gpu_reset"] * 2 + ["done"] * 2
    assert [job.end_us for job in log.jobs] == [3 * HOUR + CUT + after(1 / ONE)] * 2


def test_work_saved_on_a_slice_counts_on_another() -> None:
    spans = [LeaseSpan(0, 1, 0, 5 * HOUR), LeaseSpan(1, 1, 5 * HOUR, None)]
    shapes = (NINE, THIRTY)
    jobs = mixed((0, 0, 1), (1, 4, 9), gib=shapes)
    log = played(plan(shared(2, mig(), leases=spans)), jobs, kinds(*shapes)[1])
    done = Fraction(5 * HOUR - CUT, HOUR) * ONE
    first = [stay for stay in log.attempts if stay.job == 0]
    assert [stay.ended for stay in first] == ["lease_end", "done"]
    assert log.jobs[0].end_us == pytest.approx(5 * HOUR + CUT + after((1 - done) / ONE), rel=0, abs=2)
