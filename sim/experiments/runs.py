"""Replications by number: those that are kept are read, the others are made, on as many processes as asked.

The results never depend on where a replication came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sim.experiments.parallel import Progress, run_tasks
from sim.experiments.sample import Sample, summarise
from sim.experiments.vault import Vault, engine_key
from sim.load import Question
from sim.replication import Prepared, RunResult, prepare, replicate

__all__ = ["Flow", "Places", "Runs"]

Task = tuple[int, int]
"""Strategy and number of the replication."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How one run is made: the seam at which tests put runs made by hand."""

    prepare: Callable[[Question], Any] = prepare
    replicate: Callable[[Any, int, int, int | None], RunResult] = replicate


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
    """The replications of one question."""

    question: Question
    prepared: Any
    flow: Flow
    places: Places
    made: dict[Task, Sample] = field(default_factory=dict)
    """All that was asked for so far."""
    simulated: int = 0
    """Of these, how many were simulated here; the others were read."""
    _keys: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Question, places: Places, flow: Flow | None = None) -> Runs:
        """Prepare the question for its runs."""
        flow = flow or Flow()
        return cls(question, flow.prepare(question), flow, places)

    def ask(self, tasks: Sequence[Task], total: int | None = None, note: str = "") -> list[Sample]:
        """The samples of these tasks, in their order. `total` is the number expected in all, for progress."""
        self._read(tasks)
        missing = [task for task in tasks if task not in self.made]
        before = len(self.made)
        told = self._progress(before, max(total or 0, before + len(missing)), note)
        strategies = len({strategy for strategy, _ in missing})
        keys = {strategy: self._key(strategy) for strategy, _ in missing}
        places, vault = self.places, self.places.vault
        # Workers of this machine keep what they finish at once; those of a cluster may see another disk.
        theirs = None if places.cluster is not None else vault
        run = partial(_one, self.flow.replicate, self.prepared, self.question, theirs, keys)
        keep = None if vault is None else self._keep
        found = run_tasks(run, missing, places.workers, told, strategies, None, places.cluster, keep)
        self.made.update(zip(missing, found, strict=True))
        self.simulated += len(missing)
        return [self.made[task] for task in tasks]

    def _read(self, tasks: Sequence[Task]) -> None:
        vault = self.places.vault
        if vault is None or not isinstance(self.prepared, Prepared):
            return
        for strategy, number in tasks:
            if (strategy, number) not in self.made:
                sample = vault.read(self.prepared, self._key(strategy), strategy, number)
                if sample is not None:
                    self.made[strategy, number] = sample

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
        if self.places.vault is not None and (key := self._key(names.index(sample.strategy))):
            self.places.vault.write(key, sample)

    def _key(self, strategy: int) -> str:
        if self.places.vault is None or not isinstance(self.prepared, Prepared):
            return ""
        if strategy not in self._keys:
            seed = self.question.scenario.experiment.seed
            self._keys[strategy] = engine_key(self.prepared, strategy, seed)
        return self._keys[strategy]


def _one(
    replicate: Callable[[Any, int, int, int | None], RunResult],
    prepared: Any,
    question: Question,
    vault: Vault | None,
    keys: dict[int, str],
    task: Task,
) -> Sample:
    strategy, number = task
    scenario = question.scenario
    sample = summarise(replicate(prepared, strategy, number, scenario.experiment.seed), scenario)
    if vault is not None and keys[strategy]:
        vault.write(keys[strategy], sample)
    return sample
