"""What a computation answers: a number or a yes or no, and every step of the way to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from sim.claims.bench import Bench
from sim.errors import InputError, Problem
from sim.model.base import Strict

__all__ = ["Computation", "Step", "Working", "read_inputs", "shown"]

InputsT = TypeVar("InputsT", bound=Strict)


@dataclass(frozen=True, slots=True)
class Step:
    """One line that a person with a calculator can follow."""

    text: str
    """What is done with which numbers: `4 cards x 2,800.00 CNY x 12 months x 0.80`."""
    value: str
    """What comes out, with its unit: `107,520.00 CNY`."""


@dataclass(frozen=True, slots=True)
class Working:
    """The right value and how it was found."""

    low: float | None
    """The right value, or the low end of the range in which it lies; None for a yes or no."""
    high: float | None
    """The high end; equal to `low` for one number."""
    unit: str
    steps: tuple[Step, ...]
    assumptions: tuple[str, ...] = ()
    """What the number rests on and the statement does not say."""
    sources: tuple[str, ...] = ()
    """Catalogue entries, tables, published rows."""
    holds: bool | None = None
    """For statements that are true or false; goes before the numbers."""
    error: float = 0.0
    """Published relative error of the model behind the number: 0.1 is 10 per cent. It is added to the
    tolerance and shown as an assumption. 0 for arithmetic with prices."""


Computation: TypeAlias = Callable[[Mapping[str, Any], Bench], Working]
"""From what the statement itself gives (never the answer) to the right value."""


def read_inputs(kind: type[InputsT], inputs: Mapping[str, Any]) -> InputsT:
    """The inputs of a statement as a checked model.

    Raises InputError with keys that begin with `inputs.`, and the known keys for an unknown one.
    """
    try:
        return kind.model_validate(dict(inputs))
    except ValidationError as error:
        raise InputError(_problem(kind, dict(item)) for item in error.errors()) from None


def _problem(kind: type[Strict], item: dict[str, Any]) -> Problem:
    key = ".".join(map(str, ("inputs", *item["loc"])))
    rule, value = str(item["msg"]).removeprefix("Value error, "), item.get("input")
    if item["type"] == "extra_forbidden":
        return Problem("unknown key", key=key, value=item["loc"][-1], known=tuple(kind.model_fields))
    if item["type"] == "missing":
        return Problem("this computation needs the key", key=key, known=tuple(kind.model_fields))
    return Problem(rule, key=key, value=value)


def shown(value: float, unit: str = "", digits: int | None = None) -> str:
    """A number as people write it, with its unit: `107,520 CNY`, `3.89 CNY/h`.

    `digits` are decimal places; without them as many as four significant digits need, and none for a
    whole number.
    """
    if digits is None:
        if value == round(value) and abs(value) < 1e15:
            digits = 0
        else:
            size = abs(value)
            digits = next((d for bound, d in ((100, 1), (10, 2), (1, 3)) if size >= bound), 4)
    text = f"{value:,.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {unit}".strip()
