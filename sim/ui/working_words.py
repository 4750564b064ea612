"""The working of a claim in the page's language: its steps, what they take for granted, and their sources.

A step is a calculation with its name before it, so phrases are put in place one by one and the figures stay
where they are. Phrases stand in `words/*/working.yaml`, those of sources in `sourced.yaml`; how they are
written is said in `sim.ui.phrases`.
"""

from __future__ import annotations

from sim.ui.language import language
from sim.ui.phrases import phrase, phrased
from sim.ui.told import read, told, with_units

__all__ = ["assumed", "sourced", "worked"]


def worked(text: str) -> str:
    """A step, or what comes out of it, in the page's language; what no phrase gives stays."""
    return text if language() == "en" else with_units(phrased(text, "working", language()))


def assumed(text: str) -> str:
    """What a verdict takes for granted, in the page's language; what the file's author says stays."""
    if language() == "en" or read(text) is not None:
        return told(text)
    return phrase(text, "working", language()) or text


def sourced(text: str) -> str:
    """Where a figure comes from, in the page's language; names of papers, files and cards stay."""
    return text if language() == "en" else phrased(text, "sourced", language())
