"""What the twin's jobs have saved: checkpoints on the disk of a machine, its loss, and its snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.units import Micros
from tests.twin.cards import Files, Machine

if TYPE_CHECKING:
    from sim.model.job import Job
    from tests.twin.life import Stay

__all__ = ["Saved"]


class Saved:
    """The saved work of one job."""

    job: Job

    def __init__(self) -> None:
        self.total: Micros = 0
        self.saved: Micros = 0
        self.kept_card_time: Micros = 0
        self.files: tuple[Machine, int] | None = None
        """Machine and disk with the checkpoints; None: in nobody's danger."""
        self.stays = 0
        self.edition = 0
        """How often it has begun anew, with nothing of what it had."""
        self.bad: Micros | None = None
        """Work from which on its state is wrong."""

    @property
    def name(self) -> tuple[int, int]:
        """Under which its files stand on a disk."""
        return self.job.id, self.edition

    def write(self, stay: Stay, more: Micros) -> None:
        """What is saved stands on the disk of its first machine; `more`: by this stay, not counted yet."""
        if self.files is not None and not self.files_lost():
            card_time = self.kept_card_time + more * len(stay.cards)
            files = Files(self.stays, self.saved + more, self.total, card_time)
            stay.cards[0].machine.files[self.name] = files

    def files_lost(self) -> bool:
        return self.files is not None and self.files[1] in self.files[0].disks_lost

    def what_is_left(self) -> tuple[Micros, Micros]:
        """Saved work and its card-time of a waiting job: all, or what a snapshot brought back."""
        if not self.files_lost():
            return self.saved, self.kept_card_time
        files = self.files[0].files.get(self.name)
        if files is None:
            return 0, 0
        return min(self.saved, files.work * self.total // files.total), min(
            self.kept_card_time, files.card_time
        )

    def sound_again(self) -> None:
        """A checkpoint from before the corruption is sound."""
        if self.bad is not None and self.saved <= self.bad:
            self.bad = None

    def lose(self, stay: Stay) -> None:
        """The disk is gone on which this stay wrote: back to what a snapshot holds, if that is anything."""
        files = self.files[0].files.get(self.name)
        if files is not None and files.stay == self.stays:
            kept = files.work - self.saved
        else:
            saved, card_time = self.what_is_left()
            kept = 0
            stay.voided += self.kept_card_time - card_time
            self.saved, self.kept_card_time = saved, card_time
        stay.unsaved, stay.saved = stay.unsaved + stay.saved - kept, kept
