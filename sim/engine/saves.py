"""What is left of a job's work: after a lost disk and its snapshots, and after silent corruption.

Work is in microseconds at the speed of the job's last stay, as everywhere in `execution`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.engine.fleet import HANDED_BACK, Machine
from sim.engine.stay import Run, Stay
from sim.units import Micros

__all__ = [
    "corrupt", "disk_lost", "forget", "forget_clean", "kept_share", "lost_since",
    "reached", "restored",
]  # fmt: skip


def disk_lost(run: Run) -> bool:
    """Whether the disk that held the job's checkpoints was lost since they were written."""
    if run.saved_where is None:
        return False
    machine = run.saved_where.machine
    return machine.disk_epoch != run.saved_epoch and machine.restored[run.saved_epoch] != HANDED_BACK


def kept_share(run: Run) -> float:
    """Share of the work that a checkpoint holds which is still there."""
    saved = restored(run)[1] if disk_lost(run) else run.saved_us
    return saved / run.total_us if run.total_us else 0.0


def lost_since(run: Run) -> Micros:
    """Card-time of what the job had saved in its stays and has lost with a disk since the last of them."""
    return run.kept_card_us - restored(run)[2] if disk_lost(run) else 0


def restored(run: Run) -> tuple[Stay | None, Micros, Micros]:
    """What a snapshot brought back of a lost disk: (stay in which it was taken, work, card-time).

    Snapshots of one machine know the files of a job that ran there when they were taken; of its
    checkpoints, those that were complete by then. Nothing comes back without snapshots.
    """
    if run.saved_where is None:
        return None, 0, 0
    held = _in_snapshot(run.history or (), run.saved_where.machine, run.saved_epoch, run.total_us)
    return held if held[0] is run.stay else (held[0], *_at_most_now(run, *held[1:]))


def _in_snapshot(
    stays: Sequence[Stay], machine: Machine, epoch: int, total_us: Micros
) -> tuple[Stay | None, Micros, Micros]:
    """The same for the snapshot that replaced one of the machine's disks, of `total_us` of work in all.

    Only these stays have been: the job's, in order, all or the first ones.
    """
    at_us = machine.restored[epoch]
    following: Stay | None = None
    for i in range(len(stays) - 1, -1, -1):
        stay = stays[i]
        if stay.start_us <= at_us:
            if stay.cards[0].machine is not machine:
                break
            gain = _gained(stay, at_us)
            if gain is None and following is not None:
                work, card = _between(stays[: i + 1], following, epoch)
                return stay, work * total_us // following.total_us, card
            gain = stay.gain_us if gain is None else gain
            work = (stay.before_us + gain) * total_us // stay.total_us
            return stay, work, stay.before_card_us + stay.card_time(gain)
        following = stay
    return None, 0, 0


def _between(stays: Sequence[Stay], following: Stay, epoch: int) -> tuple[Micros, Micros]:
    """What a snapshot holds from between two stays, the last of these and the one that followed.

    That is what the later one found, for the disk may have been lost before. But where a planned end
    took the files along, a loss after it took those on the machine alone, and the later one found
    more; and a unit that went back in between came again with an empty disk. Work at the speed of
    the later one, card-time.
    """
    last = stays[-1]
    machine = last.cards[0].machine
    work, card = following.before_us, following.before_card_us
    for lost in range(last.left_epoch, epoch):
        back_us = machine.restored[lost]
        if back_us < 0:
            return 0, 0
        if back_us < (last.ended_us or 0):
            _, older, older_card = _in_snapshot(stays, machine, lost, following.total_us)
            work, card = min(work, older), min(card, older_card)
    return work, card


def _at_most_now(run: Run, work: Micros, card: Micros) -> tuple[Micros, Micros]:
    """A job never goes forward by a loss: files of long ago that it had lost elsewhere are not used."""
    return min(work, run.saved_us), min(card, run.kept_card_us)


def _gained(stay: Stay, at_us: Micros) -> Micros | None:
    """Work of a stay that its checkpoints held at an instant; None: it was over, or had failed, by then."""
    elapsed = at_us - stay.start_us
    if stay.ended_us is None:
        return stay.split(elapsed if stay.failed is None else min(elapsed, stay.failed_us))[3]
    last = stay.ended_us - stay.start_us if stay.failed is None else stay.failed_us
    return None if elapsed >= last else stay.split(elapsed)[3]


def corrupt(run: Run, now: Micros) -> None:
    """From here on the job's state is wrong, and so is every checkpoint written after."""
    stay = run.stay
    if stay is not None and stay.failed is None and run.bad_us is None:
        run.bad_us = run.saved_us + stay.split(now - stay.start_us)[2]


def forget_clean(run: Run) -> None:
    """A job that went back to a checkpoint from before the corruption is sound again."""
    if run.bad_us is not None and run.saved_us <= run.bad_us:
        run.bad_us = None


def forget(run: Run) -> Micros:
    """Nothing of the work counts any more; returns the card-time of what earlier stays had saved."""
    voided = run.kept_card_us
    run.kept_card_us = run.saved_us = 0
    run.bad_us, run.saved_where = None, None
    run.history = None
    return voided


def reached(stay: Stay, work_us: Micros) -> Micros:
    """Elapsed time of a stay at which so much of its work is done."""
    written = min(max(0, -(-work_us // stay.every_us) - 1), stay.pieces - 1)
    return stay.startup_us + work_us + written * stay.cost_us
