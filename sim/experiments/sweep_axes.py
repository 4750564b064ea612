"""What a sweep varies: keys of a scenario with their values, and the cells that they span."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.errors import InputError, Problem
from sim.load import Question

__all__ = ["MOST_CELLS", "Axis", "Cell", "cells", "numeric"]

MOST_CELLS = 1000
"""Most cells of one sweep: every cell is a comparison of all strategies."""

OPTION = "--vary"

_MEASURE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(\D.*)?")


@dataclass(frozen=True, slots=True)
class Axis:
    """One varied key."""

    key: str
    """Dotted path, as in `--set`."""
    values: tuple[str, ...]
    """In the order given, as they would be written after `--set KEY=`."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of values, and the scenario with them."""

    values: tuple[str, ...]
    """One a varied key."""
    question: Question


def cells(
    axes: Sequence[Axis], paired: bool, ask: Callable[[Sequence[str]], Question], most: int = MOST_CELLS
) -> list[Cell]:
    """Every combination of the values, the last key varying fastest; `paired`: first with first and so on.

    `ask` gives the question with these settings (`KEY=VALUE`). Raises InputError for axes that cannot
    be, too many cells, and for the first cell whose scenario is refused, at the `--vary` that is to blame.
    """
    _check(axes, paired, most)
    combinations = (
        zip(*(axis.values for axis in axes), strict=True)
        if paired
        else itertools.product(*(axis.values for axis in axes))
    )
    return [_cell(axes, tuple(values), ask) for values in combinations]


def numeric(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Values as numbers of one unit (`0%/month`, `5%/month`: 0 and 5, `%/month`); None where they are not."""
    found = [_MEASURE.fullmatch(value) for value in values]
    units = {(match[2] or "").strip() for match in found if match is not None}
    if len(units) != 1 or any(match is None for match in found):
        return None
    numbers = [float(match[1]) for match in found if match is not None]
    return numbers, units.pop()


def _check(axes: Sequence[Axis], paired: bool, most: int) -> None:
    if not axes:
        rule = "a sweep varies at least one key, such as strategies.0.leases.0.count=1..8"
        raise InputError(Problem(rule, key=OPTION))
    keys = [axis.key for axis in axes]
    for axis in axes:
        if keys.count(axis.key) > 1:
            raise InputError(Problem("this key is varied twice", OPTION, key=axis.key))
        twice = [value for value in axis.values if axis.values.count(value) > 1]
        if twice:
            raise InputError(Problem("this value is given twice", OPTION, key=axis.key, value=twice[0]))
    lengths = [len(axis.values) for axis in axes]
    if paired and len(set(lengths)) > 1:
        counts = ", ".join(f"{axis.key} {len(axis.values)}" for axis in axes)
        rule = f"with --list every key has as many values as the others ({counts})"
        raise InputError(Problem(rule, key=OPTION))
    number = 1
    for length in lengths[:1] if paired else lengths:
        number *= length
    if number > most:
        rule = f"a sweep has at most {most:,} cells; vary fewer values, or pair them with --list"
        raise InputError(Problem(rule, key=OPTION, value=number))


def _cell(axes: Sequence[Axis], values: tuple[str, ...], ask: Callable[[Sequence[str]], Question]) -> Cell:
    settings = [f"{axis.key}={value}" for axis, value in zip(axes, values, strict=True)]
    try:
        return Cell(values, ask(settings))
    except InputError as error:
        problem = error.problems[0]
        written = dict(zip((_dotted(axis.key) for axis in axes), values, strict=True))
        raise InputError(_blamed(problem, written)) from None


def _dotted(key: str) -> str:
    return key.replace("[", ".").replace("]", "")


def _blamed(problem: Problem, written: dict[str, str]) -> Problem:
    """The problem at the `--vary` that brought it: the key that the loader names, or lies below or above."""
    key = _dotted(problem.key or "")
    near = [one for one in written if key == one or key.startswith(f"{one}.") or one.startswith(f"{key}.")]
    if key and near:
        setting = f"{near[0]}={written[near[0]]}"
        rule = problem.rule if key == near[0] else f"{problem.rule} ({problem.key})"
        return Problem(rule, OPTION, None, setting, problem.value, problem.known)
    cell = ", ".join(f"{one}={value}" for one, value in written.items())
    where = ": ".join(str(part) for part in (problem.file, problem.key) if part)
    rule = f"{problem.rule} ({where})" if where else problem.rule
    return Problem(rule, OPTION, None, cell, problem.value, problem.known)
