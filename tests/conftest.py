"""Two fixtures that many tests share: a question small enough for a pencil, and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sim.cli import main

TWO_JOBS = """\
name: Two jobs, one card
start: 2026-01-01
timezone: UTC
horizon: 30d
workload:
  trace: {file: two.csv}
reliability: {profile: none}
strategies:
  - name: one card, annual
    leases:
      - {offer: a100-40g-custom, count: 1, plan: annual}
  - name: two cards, monthly
    leases:
      - {offer: a100-40g-custom, count: 2, plan: monthly}
experiment: {replications: 2, seed: 1}
"""
"""One card: the second job waits an hour. 2,800 CNY a month; a year costs 12 x 2,800 x 0.80 = 26,880."""


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def two_jobs(tmp_path: Path) -> Path:
    """The scenario above, with its trace beside it."""
    (tmp_path / "two.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\nb,0,1,3600\n")
    file = tmp_path / "two.yaml"
    file.write_text(TWO_JOBS)
    return file


@pytest.fixture
def fleetsim(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """The command line in this process."""

    def run(*arguments: object) -> Outcome:
        with pytest.raises(SystemExit) as ending:
            main([str(argument) for argument in arguments])
        text = capsys.readouterr()
        return Outcome(int(ending.value.code or 0), text.out, text.err)

    return run
