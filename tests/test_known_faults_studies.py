"""Faults of other tools with many runs: equal random numbers, lost and half-written replications.

Numbers are those of the project's list of known faults; rows that stand in other files are found through
docs/known-faults.md.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from joblib.externals.loky import get_reusable_executor

from sim.experiments import parallel
from sim.experiments.compare import compare
from sim.experiments.files import csv_text
from sim.experiments.runs import Flow
from sim.experiments.store import tables
from sim.experiments.vault import Vault
from sim.load import Question, load_text
from sim.replication import prepare, replicate

ROOT = Path(__file__).parents[1]

ONE_SERVER = """
name: One server
start: 2026-01-01
timezone: UTC
horizon: 20d
workload:
  classes:
    - {name: bot, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {exponential: {mean: 20000}}, rate: 5/day}
reliability: {profile: none}
strategies:
  - {name: one card, leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]}
experiment: {replications: 8, seed: 42}
"""
"""Exponential gaps and sizes, one card: M/M/1 but for a fixed start-up."""

KILLED = """
import os, sys, time
from pathlib import Path
from sim.experiments import parallel
from sim.experiments.compare import compare
from sim.experiments.runs import Flow
from sim.experiments.vault import Vault
from sim.replication import prepare, replicate
from tests.test_known_faults_studies import asked

def half_written(descriptor):
    os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
    time.sleep(600)

def stops(prepared, strategy, number, seed):
    # 1, 2 and 5 are finished, 3 is being written, the others have begun.
    if number == 2:
        os.fsync = half_written
    elif number not in (0, 1, 4):
        time.sleep(600)
    return replicate(prepared, strategy, number, seed)

parallel.SERIAL_BELOW_S = 0.0
compare(asked(), workers=4, flow=Flow(prepare, stops), vault=Vault(Path(sys.argv[1])))
"""


def asked(*changes: str) -> Question:
    return load_text(ONE_SERVER, changes)


# 50: all replications, or all forked workers, use the same random numbers


def fingerprint(number: int) -> tuple[int, str]:
    """A replication as a digest of all that happened in it; called in processes of every kind."""
    result = replicate(prepare(asked()), 0, number, 42)
    return number, hashlib.sha256(repr((result.jobs, result.log, result.metrics)).encode()).hexdigest()


@cache
def alone() -> dict[int, str]:
    """Sixteen replications, one after the other, in this process."""
    return dict(map(fingerprint, range(16)))


def test_50_eight_replications_are_eight_and_the_first_of_sixteen() -> None:
    found = alone()
    assert len(set(found.values())) == 16
    waits = [
        compare(asked(f"experiment.replications={count}")).strategies[0].values["wait_mean_h"]
        for count in (8, 16)
    ]
    assert len(set(waits[0])) == 8
    assert waits[1][:8] == waits[0]
    assert statistics.variance(value for value in waits[0] if value is not None) > 0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(("method", "workers"), [("fork", 4), ("spawn", 2)])
def test_50_a_replication_is_the_same_however_its_process_began_and_whenever_it_ends(
    method: str, workers: int
) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    expected = {number: alone()[number] for number in range(8)}
    with multiprocessing.get_context(method).Pool(workers) as pool:
        found = list(pool.imap_unordered(fingerprint, reversed(range(8))))
    assert len(found) == 8
    assert dict(found) == expected


@pytest.fixture
def _processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(parallel, "SERIAL_BELOW_S", 0.0)  # workers are started, however short the work
    yield
    get_reusable_executor().shutdown(wait=True)


@pytest.mark.usefixtures("_processes")
def test_50_any_number_of_workers_gives_the_same_bytes() -> None:
    found = {workers: json.dumps(compare(asked(), workers=workers).to_json()) for workers in (1, 2, 5)}
    assert set(found.values()) == {found[1]}


# 52: an interrupted study loses finished replications or trusts half-written ones


def bytes_of(found: Any) -> dict[str, str]:
    """Every table of the output as its file, and the document."""
    texts = {name: csv_text(frame) for name, frame in tables(found).items()}
    return {**texts, "document": json.dumps(found.to_json())}


def counted() -> tuple[list[int], Flow]:
    """A flow that keeps the numbers, from 1, of the replications that are really simulated."""
    made: list[int] = []

    def run(prepared: Any, strategy: int, number: int, seed: int | None) -> Any:
        made.append(number + 1)
        return replicate(prepared, strategy, number, seed)

    return made, Flow(prepare, run)


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "the study never came to where it should be killed"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a study on four workers left: all were killed when 1, 2, 5 were there and 3 was half written."""
    folder = tmp_path_factory.mktemp("killed")
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], cwd=ROOT, start_new_session=True)
    try:
        kept = folder / ".replications"
        wait_for(
            lambda: process.poll() is not None
            or ({path.stem for path in kept.rglob("[0-9]*.json")} >= {"000000", "000001", "000004"}
                and list(kept.rglob(".000002.json-*")))
        )  # fmt: skip
        time.sleep(0.2)
        assert process.poll() is None
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return folder


needs_groups = pytest.mark.skipif(
    not hasattr(os, "killpg"), reason="this system cannot kill a group of processes"
)


@needs_groups
def test_52_a_killed_study_runs_what_is_missing_and_nothing_else(killed: Path, tmp_path: Path) -> None:
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    kept = tmp_path / ".replications"
    assert sorted(path.stem for path in kept.rglob("[0-9]*.json")) == ["000000", "000001", "000004"]
    whole = compare(asked())
    made, flow = counted()
    vault = Vault(tmp_path)
    assert bytes_of(compare(asked(), flow=flow, vault=vault)) == bytes_of(whole)
    assert (made, vault.messages) == ([3, 4, 6, 7, 8], [])

    made.clear()  # a finished study runs nothing
    assert bytes_of(compare(asked(), flow=flow, vault=Vault(tmp_path))) == bytes_of(whole)
    assert made == []

    # Another price bills the same runs: no run reads a price, and nothing of the old bill stays.
    dearer = asked("strategies.0.leases.0.price=3000")
    rebilled = compare(dearer, flow=flow, vault=Vault(tmp_path))
    assert made == []
    assert bytes_of(rebilled) == bytes_of(compare(dearer))
    assert set(whole.strategies[0].values["committed_cost_cny"]) == {2800.0}  # one month of one card
    assert set(rebilled.strategies[0].values["committed_cost_cny"]) == {3000.0}

    # Another seed is another study, and the first one is still whole.
    seeded = compare(asked("experiment.seed=43"), flow=flow, vault=Vault(tmp_path))
    assert made == [1, 2, 3, 4, 5, 6, 7, 8]
    assert bytes_of(seeded) == bytes_of(compare(asked("experiment.seed=43")))
    made.clear()
    assert bytes_of(compare(asked(), flow=flow, vault=Vault(tmp_path))) == bytes_of(whole)
    assert made == []


@needs_groups
def test_52_half_a_file_under_the_name_of_a_whole_one_is_not_believed(killed: Path, tmp_path: Path) -> None:
    # As a disk that lost its last blocks would leave it.
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    (half,) = (tmp_path / ".replications").rglob(".000002.json-*")
    half.rename(half.with_name("000002.json"))
    made, flow = counted()
    vault = Vault(tmp_path)
    assert bytes_of(compare(asked(), flow=flow, vault=vault)) == bytes_of(compare(asked()))
    assert made == [3, 4, 6, 7, 8]
    (said,) = vault.messages
    assert "000002.json is damaged" in said
