"""What many tests share: a question small enough for a pencil, the command line, and runs without charts."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
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


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what collecting makes: millions of objects that stay to the end.

    Looking through them again and again took a third of the time of collecting. What tests make is
    searched as ever, so what one forgets to close is still told.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


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


@contextmanager
def without_charts() -> Iterator[None]:
    """Comparisons and advice are stored without pictures, for tests that look at other things.

    Drawing takes longer than a small study; `test_report.py` and `test_recommend.py` look at the pictures.
    """
    with pytest.MonkeyPatch.context() as patch:
        for place in ("save", "advice"):
            patch.setattr(f"sim.report.{place}.render", lambda _: {})
        yield


@pytest.fixture
def no_charts() -> Iterator[None]:
    """The same for a whole test."""
    with without_charts():
        yield


@pytest.fixture
def fleetsim(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """The command line in this process."""

    def run(*arguments: object) -> Outcome:
        with pytest.raises(SystemExit) as ending:
            main([str(argument) for argument in arguments])
        text = capsys.readouterr()
        return Outcome(int(ending.value.code or 0), text.out, text.err)

    return run


@pytest.fixture
def invoiced(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the text of an invoice, and says where."""

    def write(text: str) -> Path:
        path = tmp_path / "invoice.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write
