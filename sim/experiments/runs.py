"""Replications by number: those that are kept are read, the others are made, on as many processes as asked.

The results never depend on where a replication came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

from sim.experiments.flow import Flow
from sim.experiments.parallel import Progress, run_tasks
from sim.experiments.sample import Sample, summarise
from sim.experiments.uncertain import TWINS, Drawer, Turn, draw_of
from sim.experiments.vault import Vault, engine_key
from sim.load import Question
from sim.replication import Prepared

__all__ = ["Flow", "Onlooker", "Places", "Runs"]

Task = tuple[int, int]
"""Strategy and number of the replication."""


@runtime_checkable
class Onlooker(Progress, Protocol):
    """A progress that also looks at what each finished run gave."""

    def seen(self, sample: Sample) -> None:
        """One more replication is finished, made here or elsewhere or read."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where runs are made and kept."""

    workers: int = 1
    cluster: str | None = None
    """Address of a Dask scheduler; None: processes of this machine."""
    vault: Vault | None = None
    """Where finished replications are kept; None: nowhere."""
    progress: Progress | None = None


@dataclass(slots=True)
class Runs:
    """The replications of one question, with its inputs drawn where they are uncertain."""

    question: Question
    drawer: Drawer
    places: Places
    made: dict[Task, Sample] = field(default_factory=dict)
    """All that was asked for so far."""
    simulated: int = 0
    """Of these, how many were simulated here; the others were read."""
    _keys: dict[Task, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, question: Question, places: Places, flow: Flow | None = None, turn: Turn | None = None
    ) -> Runs:
        """Prepare the question for its runs; `turn` is done to it once its inputs are drawn.

        InputError for uncertain inputs that it does not have.
        """
        return cls(question, Drawer.of(question, flow or Flow(), turn), places)

    @property
    def prepared(self) -> Any:
        """The question with every input at its base, prepared."""
        return self.drawer.prepared

    def ask(self, tasks: Sequence[Task], total: int | None = None, note: str = "") -> list[Sample]:
        """The samples of these tasks, in their order. `total` is the number expected in all, for progress."""
        self._read(tasks)
        missing = [task for task in tasks if task not in self.made]
        before = len(self.made)
        told = self._progress(before, max(total or 0, before + len(missing)), note)
        strategies = len({strategy for strategy, _ in missing})
        keys = {task: self._key(*task) for task in missing}
        places, vault = self.places, self.places.vault
        # Workers of this machine keep what they finish at once; those of a cluster may see another disk.
        theirs = None if places.cluster is not None else vault
        run = partial(_one, self.drawer, theirs, keys if theirs is not None else {})
        keep = None if vault is None else self._keep
        look = self._look if isinstance(places.progress, Onlooker) else None
        found = run_tasks(run, missing, places.workers, told, strategies, None, places.cluster, keep, look)
        self.made.update(zip(missing, found, strict=True))
        self.simulated += len(missing)
        return [self.made[task] for task in tasks]

    def _read(self, tasks: Sequence[Task]) -> None:
        vault = self.places.vault
        if vault is None:
            return
        for strategy, number in tasks:
            if (strategy, number) in self.made:
                continue
            _, prepared = self.drawer.ready(number)
            if not isinstance(prepared, Prepared):
                return
            sample = vault.read(prepared, self._key(strategy, number), strategy, number)
            if sample is not None:
                self.made[strategy, number] = sample
                self._look(sample)

    def _look(self, sample: Sample) -> None:
        """Show a replication to who looks on; twins are no part of any interval."""
        progress = self.places.progress
        if isinstance(progress, Onlooker) and sample.replication < TWINS:
            progress.seen(sample)

    def _progress(self, before: int, most: int, note: str) -> Progress | None:
        """Progress over all that was asked for, from that over what is made now."""
        progress = self.places.progress
        if progress is None:
            return None

        text = note

        def told(done: int, total: int, note: str = "") -> None:
            progress(before + done, max(most, before + total), note or text)

        if before:
            told(0, 0)
        return told

    def _keep(self, sample: Sample) -> None:
        names = [strategy.name for strategy in self.question.scenario.strategies]
        key = self._key(names.index(sample.strategy), sample.replication)
        if self.places.vault is not None and key:
            self.places.vault.write(key, sample)

    def _key(self, strategy: int, number: int) -> str:
        """The key of a run; the same for all numbers where no input is uncertain."""
        if self.places.vault is None:
            return ""
        draw = 0 if self.question.scenario.uncertain is None else draw_of(number)
        if (strategy, draw) not in self._keys:
            question, prepared = self.drawer.ready(draw)
            key = ""
            if isinstance(prepared, Prepared):
                key = engine_key(prepared, strategy, question.scenario.experiment.seed)
            self._keys[strategy, draw] = key
        return self._keys[strategy, draw]


def _one(drawer: Drawer, vault: Vault | None, keys: Mapping[Task, str], task: Task) -> Sample:
    strategy, number = task
    question, prepared = drawer.ready(number)
    scenario = question.scenario
    result = drawer.flow.replicate(prepared, strategy, number, scenario.experiment.seed)
    sample = summarise(result, scenario)
    if vault is not None and keys[task]:
        vault.write(keys[task], sample)
    return sample
