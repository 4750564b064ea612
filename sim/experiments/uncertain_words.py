"""Uncertain inputs in words: distributions with their units, and what is assumed of them."""

from __future__ import annotations

from sim.model.said import said
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
    told = [_sentence(key, known) for key, known in inputs.items()]
    how = said(
        "Uncertain inputs are drawn once a replication, the same for all strategies, and independent of one "
        "another (assumed); means and intervals are over luck and inputs together."
    )
    return [*told, how]


def _sentence(key: str, known: Uncertain) -> str:
    means = NAMED_INPUTS.get(key, ("", ""))[0]
    if means:
        return said(
            "Uncertain {input}: {spread}, {means} ({source}).",
            input=key,
            spread=described(known),
            means=means,
            source=known.source or source_of(known),
        )
    return said(
        "Uncertain {input}: {spread} ({source}).",
        input=key,
        spread=described(known),
        source=known.source or source_of(known),
    )


def described(known: Uncertain) -> str:
    """A distribution in words, with its units."""
    shape = known.shape
    if isinstance(shape, UniformInput):
        return said("uniform from {lower} to {upper}", lower=short(shape.low), upper=short(shape.high))
    if isinstance(shape, TriangularInput):
        return said(
            "triangular from {lower} over {middle} to {upper}",
            lower=short(shape.low),
            middle=short(shape.mode),
            upper=short(shape.high),
        )
    if isinstance(shape, ChoiceInput):
        weights = shape.weights or (1.0,) * len(shape.values)
        total = sum(weights)
        values = ", ".join(
            f"{short(value)} ({100 * weight / total:.3g} %)"
            for value, weight in zip(shape.values, weights, strict=True)
        )
        return said("one of {names}", names=values)
    if isinstance(shape, NormalInput):
        text = said(
            "normal with mean {middle} and standard deviation {deviation}",
            middle=short(shape.mean),
            deviation=short(shape.deviation),
        )
    else:
        text = said(
            "log-normal with median {middle} and sigma {sigma}",
            middle=short(shape.median),
            sigma=f"{shape.sigma:g}",
        )
    return _cut_off(text, shape.low, shape.high)


def _cut_off(head: str, low: float | str | None, high: float | str | None) -> str:
    if low is not None and high is not None:
        return said(
            "{head}, cut off below {lower} and above {upper}", head=head, lower=short(low), upper=short(high)
        )
    if low is not None:
        return said("{head}, cut off below {lower}", head=head, lower=short(low))
    return head if high is None else said("{head}, cut off above {upper}", head=head, upper=short(high))


def source_of(known: Uncertain) -> str:
    """Where a distribution comes from that names no source."""
    if known.validation is not None:
        return "errors of measured rows whose source was left out of the fit, docs/validation.md"
    return "assumed"


def short(value: float | str) -> str:
    """A value as people write it."""
    return value if isinstance(value, str) else f"{value:.6g}"
