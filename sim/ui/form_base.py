"""What every part of a form has at hand: the question, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from sim.errors import Problem
from sim.ui.language import word
from sim.ui.question_edits import UNSET, KeyPath, Tree, value_at
from sim.ui.safe import literal
from sim.ui.state import Hand
from sim.ui.told_rules import rule_sentence

__all__ = ["Form", "draw_problems"]

_TWICE = "needs a name of its own"
"""What the rules say of a name that stands twice; the loader names one of its places."""


@dataclass(frozen=True)
class Form:
    """The question in hand and what is wrong with it, by dotted key."""

    tree: Tree
    problems: Mapping[str, Sequence[Problem]]
    home: Path = Path()
    """The folder in which the files lie that the question names."""

    @classmethod
    def of(cls, found: Hand) -> Form:
        """The form of a question."""
        problems: dict[str, list[Problem]] = {}
        for problem in found.problems:
            for key in (problem.key or "", *_namesakes(found.tree, problem)):
                problems.setdefault(key, []).append(problem)
        return cls(found.tree, problems, found.file.parent)

    def problems_at(self, path: KeyPath) -> Sequence[Problem]:
        """What is wrong at a place itself."""
        return self.problems.get(".".join(map(str, path)), ())

    def wrong_below(self, path: KeyPath) -> bool:
        """Whether something at a place, or in what it holds, is wrong."""
        at = ".".join(map(str, path))
        return any(key == at or key.startswith(f"{at}.") for key in self.problems)


def _namesakes(tree: Tree, problem: Problem) -> tuple[str, ...]:
    """Keys of the other entries of the list that have the name that stands twice: any of them may change."""
    *around, place, last = (problem.key or "").split(".") if "." in (problem.key or "") else ("", "")
    path = tuple(int(step) if step.isdigit() else step for step in around)
    items = value_at(tree, path) if last == "name" and place.isdigit() else UNSET
    if not isinstance(items, list) or _TWICE not in problem.rule:
        return ()
    return tuple(
        ".".join((*around, str(number), last))
        for number, one in enumerate(items)
        if number != int(place) and isinstance(one, dict) and one.get(last) == problem.value
    )


def draw_problems(form: Form, path: KeyPath) -> None:
    """What is wrong at a place, below it."""
    for problem in form.problems_at(path):
        known = word("form.known", names=", ".join(problem.known[:12])) if problem.known else ""
        st.error(
            literal(" ".join(filter(None, (rule_sentence(problem.rule), known)))), icon=":material/error:"
        )
