"""Uncertain inputs in words: distributions with their units, and what is assumed of them."""

from __future__ import annotations

from sim.model.scenario import Scenario
from sim.model.uncertain import (
    NAMED_INPUTS,
    ChoiceInput,
    NormalInput,
    TriangularInput,
    Uncertain,
    UniformInput,
)

__all__ = ["described", "sentences", "short", "source_of"]


def sentences(scenario: Scenario) -> list[str]:
    """What is assumed of uncertain inputs, for the list of assumptions."""
    inputs = scenario.uncertain
    if inputs is None:
        return []
    told = [
        f"Uncertain {key}: {described(known)}{_meaning(key)} ({known.source or source_of(known)})."
        for key, known in inputs.items()
    ]
    how = (
        "Uncertain inputs are drawn once a replication, the same for all strategies, and independent of one "
        "another (assumed); means and intervals are over luck and inputs together."
    )
    return [*told, how]


def described(known: Uncertain) -> str:
    """A distribution in words, with its units."""
    shape = known.shape
    if isinstance(shape, UniformInput):
        return f"uniform from {short(shape.low)} to {short(shape.high)}"
    if isinstance(shape, TriangularInput):
        return f"triangular from {short(shape.low)} over {short(shape.mode)} to {short(shape.high)}"
    if isinstance(shape, ChoiceInput):
        weights = shape.weights or (1.0,) * len(shape.values)
        total = sum(weights)
        return "one of " + ", ".join(
            f"{short(value)} ({100 * weight / total:.3g} %)"
            for value, weight in zip(shape.values, weights, strict=True)
        )
    if isinstance(shape, NormalInput):
        text = f"normal with mean {short(shape.mean)} and standard deviation {short(shape.deviation)}"
    else:
        text = f"log-normal with median {short(shape.median)} and sigma {shape.sigma:g}"
    ends = [f"below {short(shape.low)}"] if shape.low is not None else []
    ends += [f"above {short(shape.high)}"] if shape.high is not None else []
    return f"{text}, cut off {' and '.join(ends)}" if ends else text


def source_of(known: Uncertain) -> str:
    """Where a distribution comes from that names no source."""
    if known.validation is not None:
        return "errors of measured rows whose source was left out of the fit, docs/validation.md"
    return "assumed"


def _meaning(key: str) -> str:
    means = NAMED_INPUTS.get(key, ("", ""))[0]
    return f", {means}" if means else ""


def short(value: float | str) -> str:
    """A value as people write it."""
    return value if isinstance(value, str) else f"{value:.6g}"
