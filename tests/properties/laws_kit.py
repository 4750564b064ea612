"""How the laws are tried: a few dozen examples in every run, a thousand and more in the long one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning

__all__ = ["few_or_many", "tried"]


def few_or_many(few: int, many: int) -> pytest.MarkDecorator:
    """Parametrize `examples`: `few` by default, `many` with `-m long`."""
    return pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.long)])


def tried(check: Callable[..., None], examples: int, *given_: st.SearchStrategy[Any]) -> None:
    """Try a check on so many examples; which fails is kept and tried first the next time."""
    quiet = settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
        print_blob=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", HypothesisWarning
        )  # worlds are long to write; the failure is what counts
        quiet(given(*given_)(check))()
