"""What the twin's jobs have saved: checkpoints on the disk of a machine, its loss, and its snapshots."""

from __future__ import annotations

import dataclasses
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

    def write(self, stay: Stay, more: Micros, took: Micros = 0, *, over: bool = False) -> None:
        """What is saved stands on the disk of its first machine; `more`: by this stay, not counted yet.

        `took`: the time that it took beside others.
        """
        if self.files is not None and not self.files_lost():
            took = took if stay.share is not None else more
            work, before = self.saved + more, self.kept_card_time
            files = Files(self.stays, work, self.saved, self.total, before, (stay, took), over)
            stay.cards[0].machine.files[self.name] = files

    def carry_over(self, machine: Machine) -> None:
        """A stay begins: what a snapshot holds of the one before is from now on told at its speed."""
        old = None if machine.image is None else machine.image.files.get(self.name)
        if old is not None and old.over:
            work = old.work * self.total // old.total
            new = dataclasses.replace(old, work=work, found=work, total=self.total, over=False)
            machine.image.files[self.name] = new

    def files_lost(self) -> bool:
        return self.files is not None and self.files[1] in self.files[0].disks_lost

    def what_is_left(self) -> tuple[Micros, Micros]:
        """Saved work and its card-time of a waiting job: all, or what a snapshot brought back."""
        if not self.files_lost():
            return self.saved, self.kept_card_time
        machine, disk = self.files
        files = machine.come_of(disk).get(self.name)
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
            if stay.share is not None:
                stay.share.saved_us = files.added[1]
        else:
            saved, card_time = self.what_is_left()
            kept = 0
            stay.voided += self.kept_card_time - card_time
            self.saved, self.kept_card_time = saved, card_time
        stay.unsaved, stay.saved = stay.unsaved + stay.saved - kept, kept
