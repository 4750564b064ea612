"""Uncertain inputs of a scenario: what may be one, what is drawn, and the scenario with drawn values.

A key is a path as after `--set`, or a name of `NAMED_INPUTS`. Every key is tried at the ends and the middle
of its distribution when a scenario is loaded, so that a value that cannot be is told with its line, and not
in the midst of a study.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any, get_args

import numpy as np
from pydantic import ValidationError

from sim.catalog import Catalog
from sim.errors import InputError, Problem
from sim.load_checks import deep_problems
from sim.load_errors import annotation_at, located, model_problems
from sim.load_tree import Node, Path
from sim.model.scenario import Scenario
from sim.model.uncertain import (
    NAMED_INPUTS,
    ChoiceInput,
    LognormalInput,
    NormalInput,
    TriangularInput,
    Uncertain,
    UniformInput,
    measure,
)

__all__ = ["path_of", "plain", "quantile", "refused", "uncertain_problems", "with_values", "written"]

ROOTS = ("workload", "reliability", "checkpoint", "strategies", "terms", "exchange")
"""Keys below which any number may be uncertain: what the question is about, and not how it is asked."""

TAIL = 1e-6
"""Probability beyond the ends at which a distribution without ends is tried."""

_LEAST: Mapping[str, tuple[float, float]] = {
    "price_range": (0.0, 1.0),
    "price": (0.01, math.inf),
    "discount": (0.0, math.inf),
    "demand": (0.01, 100.0),
    "growth": (-99.0, math.inf),
    "run_time": (0.01, math.inf),
    "failures": (0.01, math.inf),
}
"""Values of named inputs outside of these mean nothing."""

Value = float | str


def quantile(known: Uncertain, share: float) -> float:
    """The value below which this share of the distribution lies, in its unit; 0 < share < 1."""
    shape = known.shape
    if isinstance(shape, UniformInput):
        low, high = measure(shape.low)[0], measure(shape.high)[0]
        return low + (high - low) * share
    if isinstance(shape, TriangularInput):
        return _triangular(shape, share)
    if isinstance(shape, ChoiceInput):
        return _chosen(shape, share)
    return _bell(shape, share)


def written(known: Uncertain, number: float, key: str) -> Value:
    """A drawn number as a scenario writes it: with its unit; whole where the key takes whole numbers."""
    if known.unit:
        return f"{Decimal(f'{number:.9g}'):f}{known.unit}"
    if key not in NAMED_INPUTS and _whole(annotation_at(path_of(key))):
        return round(number)
    return float(f"{number:.12g}")


def path_of(key: str) -> Path:
    """The steps of a dotted key, numbers as places in lists."""
    steps = key.replace("[", ".").replace("]", "").split(".")
    return tuple(int(step) if step.isdecimal() else step for step in steps)


def plain(scenario: Scenario) -> Any:
    """The scenario as plain values that load to an equal one; exact prices as numbers."""
    data = scenario.model_dump(mode="python", exclude_none=True)
    return _numbers(scenario.model_dump(mode="json", exclude_none=True), data)


def with_values(scenario: Scenario, values: Mapping[str, Value]) -> Scenario:
    """The scenario with these values at these keys, read as if they stood in its file.

    Raises ValidationError where it is refused, ValueError where a key leads nowhere.
    """
    data = plain(scenario)
    for key, value in values.items():
        _put(data, path_of(key), value)
    return Scenario.model_validate(data)


def uncertain_problems(
    scenario: Scenario, tree: Node, catalog: Catalog, folder: FilePath | None
) -> Iterator[Problem]:
    """What is wrong with the uncertain inputs of an accepted scenario."""
    inputs = scenario.uncertain or {}
    for key, known in inputs.items():
        at: Path = ("uncertain", key)
        if key in NAMED_INPUTS:
            yield from _named(tree, at, key, known)
        elif path_of(key)[0] not in ROOTS:
            rule = f"an uncertain input is one of the known names, or a key below {', '.join(ROOTS)}"
            yield located(tree, at, rule, key, tuple(NAMED_INPUTS))
        elif known.validation is not None:
            yield located(tree, (*at, "validation"), "validation goes with run_time alone", True)
        elif (other := _around(key, inputs)) is not None:
            yield located(tree, at, f"this key lies within {other}, which is uncertain too", key)
        else:
            yield from _tried(scenario, tree, catalog, folder, key, known)


def _named(tree: Node, at: Path, key: str, known: Uncertain) -> Iterator[Problem]:
    means, unit = NAMED_INPUTS[key]
    if known.unit != unit:
        rule = f"{key} is written {f'with the unit {unit}' if unit else 'without a unit'} ({means})"
        yield located(tree, at, rule, known.unit or None)
        return
    if known.validation is not None and key != "run_time":
        yield located(tree, (*at, "validation"), "validation goes with run_time alone", True)
    least, most = _LEAST[key]
    for number in _ends(known):
        if not least <= number <= most:
            limits = f"at least {least:g}" + (f" and at most {most:g}" if math.isfinite(most) else "")
            rule = f"a value may be drawn that cannot be: {key} is {limits}; cut it off with low and high"
            yield located(tree, at, rule, f"{number:.6g}")
            return


def _around(key: str, inputs: Mapping[str, Uncertain]) -> str | None:
    """An uncertain key that holds this one, or is the same written otherwise."""
    path = path_of(key)
    for other in inputs:
        if other != key and other not in NAMED_INPUTS and path[: len(path_of(other))] == path_of(other):
            return other
    return "growth" if path == ("workload", "growth") and "growth" in inputs else None


def _tried(
    scenario: Scenario, tree: Node, catalog: Catalog, folder: FilePath | None, key: str, known: Uncertain
) -> Iterator[Problem]:
    at: Path = ("uncertain", key)
    certain = scenario.model_copy(update={"uncertain": None})
    for number in _ends(known):
        value = written(known, number, key)
        try:
            drawn = with_values(certain, {key: value})
            found = list(deep_problems(drawn, tree, catalog, folder))
        except ValidationError as error:
            found = model_problems(error, tree)
        except ValueError as error:
            yield located(tree, at, str(error), key)
            return
        if found:
            first = found[0]
            where = "" if first.key is None or path_of(first.key) == path_of(key) else f" ({first.key})"
            rule, shown = f"a value may be drawn that is refused: {first.rule}{where}", value
            if first.rule == "unknown key":
                rule, shown = f"the scenario has no such key{where}", str(path_of(key)[-1])
            yield located(tree, at, rule, shown, first.known)
            return


def refused(key: str, value: Value, error: ValidationError) -> InputError:
    """What to raise where drawn values that were fine one by one are refused together."""
    said = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
    return InputError(Problem(f"a drawn value is refused: {said}", key=f"uncertain.{key}", value=value))


def _ends(known: Uncertain) -> list[float]:
    """The ends and the middle; for a choice, all values."""
    if isinstance(known.shape, ChoiceInput):
        return [measure(value)[0] for value in known.shape.values]
    return [quantile(known, share) for share in (TAIL, 0.5, 1 - TAIL)]


def _triangular(shape: TriangularInput, share: float) -> float:
    low, mode, high = (measure(one)[0] for one in (shape.low, shape.mode, shape.high))
    turn = (mode - low) / (high - low)
    if share < turn:
        return low + math.sqrt(share * (high - low) * (mode - low))
    return high - math.sqrt((1 - share) * (high - low) * (high - mode))


def _chosen(shape: ChoiceInput, share: float) -> float:
    weights = np.array(shape.weights or [1.0] * len(shape.values))
    below = np.cumsum(weights) / weights.sum()
    place = int(np.searchsorted(below, share, side="right"))
    return measure(shape.values[min(place, len(shape.values) - 1)])[0]


def _bell(shape: NormalInput | LognormalInput, share: float) -> float:
    """Normal and log-normal by their inverse; what is cut off is left out, and the rest shared out anew."""
    from scipy.special import ndtr, ndtri  # here: it takes long to import, and few scenarios have doubt

    normal = isinstance(shape, NormalInput)
    if isinstance(shape, NormalInput):
        middle, spread = measure(shape.mean)[0], measure(shape.deviation)[0]
    else:
        middle, spread = math.log(measure(shape.median)[0]), shape.sigma

    def below(end: float | str) -> float:
        number = measure(end)[0]
        if not normal:
            number = math.log(number) if number > 0 else -math.inf
        return float(ndtr((number - middle) / spread))

    low = 0.0 if shape.low is None else below(shape.low)
    high = 1.0 if shape.high is None else below(shape.high)
    found = middle + spread * float(ndtri(low + (high - low) * share))
    return found if normal else math.exp(found)


def _whole(annotation: Any) -> bool:
    """Whether a key takes whole numbers and no others."""
    parts = _parts(annotation)
    return int in parts and float not in parts and Decimal not in parts


def _parts(annotation: Any) -> set[Any]:
    if isinstance(annotation, type):
        return {annotation}
    return set().union(*(_parts(part) for part in get_args(annotation))) if get_args(annotation) else set()


def _put(data: Any, path: Path, value: Value) -> None:
    """Put a value into plain data; mappings that are missing on the way are made."""
    for place, step in enumerate(path):
        last = place == len(path) - 1
        if isinstance(data, list):
            if not isinstance(step, int) or step >= len(data):
                msg = f"the list has {len(data)} entries, counted from 0"
                raise ValueError(msg)
            if last:
                data[step] = value
            data = data[step]
        elif isinstance(data, dict):
            if last:
                data[str(step)] = value
            else:
                data = data.setdefault(str(step), {})
        else:
            msg = "this key leads into a single value"
            raise ValueError(msg)  # noqa: TRY004 - a wrong key of the user's, not of the program


def _numbers(written: Any, value: Any) -> Any:
    """JSON mode writes exact prices as text; here they are numbers again."""
    if isinstance(written, dict):
        return {key: _numbers(below, value[key]) for key, below in written.items()}
    if isinstance(written, list):
        return [_numbers(below, item) for below, item in zip(written, value, strict=True)]
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return written
