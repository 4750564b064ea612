"""Fine-tuning jobs as statements name them, asked of the program's own physics."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sim.claims.bench import Bench
from sim.claims.card_inputs import (
    MEMORY_ERROR,
    METHOD_NAMES,
    RATIO_ERROR,
    SIZES,
    SPEED_ERROR,
    CardJob,
    Several,
    card_of,
    job_at,
    model_of,
    models_of,
)
from sim.claims.working import read_inputs
from sim.errors import InputError, Problem
from sim.model.hardware import Gpu, LanguageModel
from sim.model.work import JobClass
from sim.physics.cases import Case, Cases, cases_of
from sim.physics.constants import Constants, load_constants
from sim.physics.lengths import Lengths, lengths_of, padded_mean
from sim.physics.measured import Measured, case_of
from sim.physics.memory import MemoryParts, card_memory
from sim.physics.prediction import Ask, best
from sim.physics.recipe import LINEARS, TARGETS
from sim.physics.split import Layout, Split
from sim.physics.splits import splits_of
from sim.physics.support import memory_support, speed_support
from sim.physics.task import task_of
from sim.physics.throughput import Steps, step_time

__all__ = [
    "MEMORY_ERROR",
    "RATIO_ERROR",
    "SIZES",
    "SPEED_ERROR",
    "CardJob",
    "Run",
    "Several",
    "card_of",
    "constants",
    "job_at",
    "model_of",
    "models_of",
    "pairs_of",
    "run_of",
    "runs_of",
]


@dataclass(frozen=True, slots=True)
class Run:
    """One job in one way, and what the physics says of it."""

    case: Case
    cases: Cases
    """The same as a table of one row."""
    parts: MemoryParts
    """Peak of the fullest card, GiB."""
    steps: Steps
    lengths: Lengths
    samples: float
    """Samples times epochs."""
    memory_tag: str
    speed_tag: str

    @property
    def gpu(self) -> Gpu:
        """The card."""
        assert self.case.gpu is not None  # noqa: S101 - set by `run_of`
        return self.case.gpu

    @property
    def model(self) -> LanguageModel:
        """The base model."""
        return self.case.task.model

    @property
    def total_gib(self) -> float:
        """Peak of the fullest card, GiB."""
        return self.parts.total_gib

    @property
    def reserve_gib(self) -> float:
        """Kept free in planning, where no published run is near."""
        share = constants().memory.extrapolated_reserve if self.memory_tag == "extrapolated" else 0.0
        return share * self.gpu.usable_gib

    @property
    def fits(self) -> bool:
        """Whether the card holds it, as `fleetsim fit` decides."""
        return self.total_gib + self.reserve_gib <= self.gpu.usable_gib

    @property
    def tokens_per_s(self) -> float:
        """Computed places a second over all cards, padding included."""
        return float(self.steps.tokens_per_s[0])

    @property
    def places(self) -> float:
        """Computed places of one sample."""
        return float(self.case.length or self.case.task.seq_len) / self.lengths.per_slot

    @property
    def samples_per_s(self) -> float:
        """Samples a second over all cards."""
        return self.tokens_per_s / self.places

    @property
    def hours(self) -> float:
        """Training time of the data set, without start-up."""
        return self.samples / self.samples_per_s / 3600

    @property
    def label(self) -> str:
        """Job and cards in words."""
        task = self.case.task

        rank = "" if task.method == "full" else f" rank {task.rank}"
        cards = f"{self.case.split.cards} x {self.gpu.id}" if self.case.split.cards > 1 else self.gpu.id
        split = f", {self.case.split.name}" if self.case.split.cards > 1 else ""
        shape = f"{task.micro_batch} x {task.seq_len:,} tokens"
        return f"{self.model.name}, {METHOD_NAMES[task.method]}{rank}, {shape}, {cards}{split}"


def constants() -> Constants:
    """The shipped constants of the physics."""
    return load_constants()


def runs_of(job: CardJob, bench: Bench) -> tuple[Run, ...]:
    """Every combination of models, ranks, micro-batches and lengths that the job names, in that order."""
    models = models_of(job, bench)
    shapes = itertools.product(models, job.rank, job.micro_batch, job.seq_len)
    return tuple(run_of(job, model, rank, batch, length, bench) for model, rank, batch, length in shapes)


def pairs_of(first: Sequence[Run], second: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Jobs of the same base model against each other; side by side where both name the same variants.

    InputError where no model is common to both.
    """
    pairs = [(one, other) for one in first for other in second if one.model.id == other.model.id]
    if not pairs:
        raise InputError(Problem("the two jobs have no base model in common", key="inputs.against"))
    if len(first) == len(second) and len(pairs) > len(first):
        return list(zip(first, second, strict=True))
    return pairs


_SAME = (
    *("method", "mean_tokens", "length_sigma", "packed", "samples", "epochs", "accumulation"),
    *("checkpointing", "attention", "loss", "optimizer", "precision", "quantisation"),
)
"""Keys of a job that a class of a scenario has too."""


def run_of(
    job: CardJob, model: LanguageModel, rank: int, micro_batch: int, seq_len: int, bench: Bench
) -> Run:
    """One job of a kind. InputError for a rank too large or a division that cannot be."""
    key = (job.model_dump_json(), model.id, rank, micro_batch, seq_len, bench.catalog.gpus.get(job.gpu))
    return bench.once(key, lambda: _made(job, model, rank, micro_batch, seq_len, bench))


def _made(job: CardJob, model: LanguageModel, rank: int, micro_batch: int, seq_len: int, bench: Bench) -> Run:
    if job.method != "full" and rank > model.hidden:
        rule = f"a rank is at most the hidden size of {model.id}, {model.hidden}"
        raise InputError(Problem(rule, key="inputs.rank", value=str(rank)))
    shape = {"rank": rank, "micro_batch": micro_batch, "seq_len": seq_len}
    given = {"name": "claim", "model": model.id, "rate": "1/day", **shape}
    job_class = read_inputs(JobClass, {**given, **{name: getattr(job, name) for name in _SAME}})
    task = task_of(job_class, bench.catalog)
    deepspeed = False if job.fsdp else task.recipe.deepspeed
    recipe = replace(task.recipe, targets=_targets(job.targets), fp8=job.fp8, deepspeed=deepspeed)
    task = replace(task, recipe=recipe)
    if job.gpus % job.machines:
        rule = "the cards are spread evenly over the machines"
        raise InputError(Problem(rule, key="inputs.machines", value=str(job.machines)))
    layout = Layout(job.machines, job.gpus // job.machines, job.link, job.network)
    lengths = lengths_of(job_class)
    if job.waits_for_longest and job.mean_tokens is not None:
        limit, together = float(seq_len), micro_batch * job.gpus
        longest = padded_mean(job.mean_tokens, job_class.length_sigma, limit, together)
        lengths = Lengths(lengths.useful, longest)
    ask = Ask(task, lengths, card_of(job.gpu, bench), layout)
    case = case_of(ask, _split(job, ask))
    cases, known = cases_of([case]), constants()
    steps = step_time(cases, known.speed)
    if not steps.tokens_per_s[0] > 0:
        rule = "cards that work together on a job need a link, and machines a network"
        raise InputError(Problem(rule, key="inputs.network" if job.machines > 1 else "inputs.link"))
    return Run(
        case=case,
        cases=cases,
        parts=card_memory(cases, known.memory).parts(0),
        steps=steps,
        lengths=lengths,
        samples=job.samples * job.epochs,
        memory_tag=str(memory_support(cases)[0]),
        speed_tag=str(speed_support(cases)[0]),
    )


def _targets(names: tuple[str, ...]) -> tuple[str, ...]:
    """Adapted layers of a block, of a named set or of a list of layers."""
    if len(names) == 1 and names[0] in TARGETS:
        return TARGETS[names[0]]
    for name in names:
        if name not in LINEARS:
            rule, known = "targets are a named set or linear layers of a block", (*TARGETS, *LINEARS)
            raise InputError(Problem(rule, key="inputs.targets", value=name, known=known))
    return tuple(name for name in LINEARS if name in names)


def _split(job: CardJob, ask: Ask) -> Split:
    """The division that the statement names, or the fastest that fits."""
    if job.gpus == 1:
        return Split()
    if job.split == "auto" and job.tensor == 1:
        answer = Measured(constants())([ask])[0]
        if answer.predictions:
            return best(answer.predictions).split
        rule = "these cards cannot divide the job"
        raise InputError(Problem(rule, key="inputs.gpus", value=str(job.gpus)))
    split = _named(job)
    for other in splits_of(ask.task, ask.layout)[1]:
        if other.split == split:
            raise InputError(Problem(other.reason, key="inputs.split", value=split.name))
    if split.cards != job.gpus or ask.task.model.heads % split.tensor:
        rule = "matrices are cut into equal parts of whole heads, and the cards into equal groups"
        raise InputError(Problem(rule, key="inputs.split", value=split.name))
    return split


def _named(job: CardJob) -> Split:
    if job.tensor > 1:
        return Split(data=job.gpus // job.tensor, tensor=job.tensor)
    if job.split == "tensor":
        return Split(tensor=job.gpus)
    if job.split == "pipeline":
        return Split(pipeline=job.gpus)
    return Split(data=job.gpus, zero=int(job.split[-1]) if job.split.startswith("zero") else 0)
