"""A small scenario for the tests of the loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.errors import InputError, Problem
from sim.load import load, load_text

SMALL = """\
name: small
start: 2026-01-01
horizon: 30d
workload:
  classes:
    - name: bot
      model: qwen-7b
      method: lora
      samples: 1000
      rate: 2/day
strategies:
  - name: two
    policy: fifo
    leases:
      - offer: a100-40g-custom
        count: 2
        plan: monthly
  - name: hours
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 1h}
"""


def faults(text: str | bytes, *overrides: str) -> tuple[Problem, ...]:
    """The problems of a text that does not load."""
    with pytest.raises(InputError) as raised:
        load_text(text, overrides)
    return raised.value.problems


def fault(text: str | bytes, *overrides: str) -> Problem:
    """Its only problem."""
    found = faults(text, *overrides)
    assert len(found) == 1, [str(problem) for problem in found]
    return found[0]


def file_faults(path: Path, *overrides: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as raised:
        load(path, overrides)
    return raised.value.problems
