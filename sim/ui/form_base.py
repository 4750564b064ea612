"""What every part of a form has at hand: the question, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from sim.errors import Problem
from sim.ui.language import word
from sim.ui.question_edits import KeyPath
from sim.ui.safe import literal
from sim.ui.state import Hand

__all__ = ["Form", "draw_problems"]


@dataclass(frozen=True)
class Form:
    """The question in hand and what is wrong with it, by dotted key."""

    tree: Mapping[str, Any]
    problems: Mapping[str, Sequence[Problem]]

    @classmethod
    def of(cls, found: Hand) -> Form:
        """The form of a question."""
        problems: dict[str, list[Problem]] = {}
        for problem in found.problems:
            problems.setdefault(problem.key or "", []).append(problem)
        return cls(found.tree, problems)


def draw_problems(form: Form, path: KeyPath) -> None:
    """What is wrong at a place, below it."""
    for problem in form.problems.get(".".join(map(str, path)), ()):
        known = word("form.known", names=", ".join(problem.known[:12])) if problem.known else ""
        st.error(literal(" ".join(filter(None, (_sentence(problem.rule), known)))), icon=":material/error:")


def _sentence(rule: str) -> str:
    return f"{rule[:1].upper()}{rule[1:]}."
