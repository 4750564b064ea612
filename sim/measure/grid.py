"""A grid of cases: a YAML file with lists that are combined, and cases that stand alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from sim.catalog.reading import Document, read_yaml, validated
from sim.errors import InputError, Problem
from sim.measure.case import Attention, Case, Method, Targets, check_case
from sim.model.base import Strict
from sim.model.hardware import LanguageModel

__all__ = ["Grid", "read_grid"]

_Counts = tuple[Annotated[int, Field(ge=1)], ...]


class Grid(Strict):
    """Every combination of the lists, then the cases that are spelled out."""

    models: tuple[str, ...] = ()
    """Base models, by their ids in the catalogue; none: only `cases` are measured."""
    methods: tuple[Method, ...] = ("lora",)
    rank: _Counts = (16,)
    """LoRA ranks; full fine-tuning has none and is measured once."""
    targets: tuple[Targets, ...] = ("all-linear",)
    """Layers with adapters."""
    seq_len: tuple[Annotated[int, Field(ge=2)], ...] = (2048,)
    """Tokens of a sample."""
    micro_batch: _Counts = (1,)
    """Samples of one step."""
    checkpointing: tuple[bool, ...] = (True,)
    attention: tuple[Attention, ...] = ("flash",)
    cases: tuple[Case, ...] = ()
    """Cases beside the combinations."""


_LISTS = {
    "model": "models",
    "method": "methods",
    "rank": "rank",
    "targets": "targets",
    "checkpointing": "checkpointing",
    "attention": "attention",
    "seq_len": "seq_len",
    "micro_batch": "micro_batch",
}
"""Field of a case -> list of the grid."""


def read_grid(path: Path, models: Mapping[str, LanguageModel]) -> tuple[Case, ...]:
    """The cases of a grid file, each once; within a kind the small ones first.

    Small ones first, so that the first case that a card cannot hold spares the larger ones.
    Raises InputError with every problem found, each with file, line and key.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(Problem(f"the grid cannot be read: {reason}", file=str(path))) from None
    document = read_yaml(text, str(path))
    grid = validated(Grid, document.data, document)
    combined = list(_combinations(grid))
    problems = [
        *_empty_lists(grid, document),
        *_problems_of_lists(grid, combined, models, document),
        *_problems_of_cases(grid, models, document),
    ]
    if problems:
        raise InputError(dict.fromkeys(problems))
    cases = {case.identity: case for case in reversed([*combined, *grid.cases])}
    if not cases:
        rule = "the grid has no cases: it needs models, cases or both"
        raise InputError(Problem(rule, file=str(path)))
    return _small_first(reversed(cases.values()))


def _empty_lists(grid: Grid, document: Document) -> Iterator[Problem]:
    for name in _LISTS.values():
        if name != "models" and not getattr(grid, name):
            yield _placed(Problem("an empty list leaves nothing to combine"), document, (name,))


def _combinations(grid: Grid) -> Iterator[Case]:
    for values in itertools.product(*(getattr(grid, name) for name in _LISTS.values())):
        yield Case.model_validate(dict(zip(_LISTS, values, strict=True)))


def _problems_of_lists(
    grid: Grid, combined: Iterable[Case], models: Mapping[str, LanguageModel], document: Document
) -> Iterator[Problem]:
    for case in combined:
        for field, problem in check_case(case, models):
            name = _LISTS[field]
            position = getattr(grid, name).index(getattr(case, field))
            yield _placed(problem, document, (name, position))


def _problems_of_cases(
    grid: Grid, models: Mapping[str, LanguageModel], document: Document
) -> Iterator[Problem]:
    for position, case in enumerate(grid.cases):
        for field, problem in check_case(case, models):
            yield _placed(problem, document, ("cases", position, field))


def _placed(problem: Problem, document: Document, path: tuple[str | int, ...]) -> Problem:
    return replace(
        problem, file=document.name, line=document.line(path), key=".".join(str(part) for part in path)
    )


def _small_first(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Kinds in the order in which they first appear, their cases by tokens, then by length."""
    kinds: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        kind = (case.model, case.method, case.targets, case.checkpointing, case.attention)
        kinds.setdefault(kind, []).append(case)
    return tuple(
        case
        for kind in kinds.values()
        for case in sorted(kind, key=lambda c: (c.micro_batch * c.seq_len, c.seq_len, c.rank))
    )
