"""Finished replications on disk: nothing is lost, nothing foreign or damaged is believed, prices re-bill."""

import dataclasses
import errno
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from sim.errors import RunError
from sim.experiments.compare import compare
from sim.experiments.runs import Flow, Places, Runs
from sim.experiments.store import tables
from sim.experiments.vault import Vault, engine_key
from sim.load import load_text
from sim.replication import prepare, replicate

TEXT = """
name: Small
start: 2026-01-01
horizon: 20d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {lognormal: {median: 20000, sigma: 0.8}}, rate: 12/day, deadline: 12h}
target: {wait_p95: 8h}
strategies:
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
  - name: one and burst
    leases: [{offer: a100-40g-custom, count: 1, plan: annual}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 1h}
experiment: {replications: 4, seed: 7}
"""


def question(*changes: str):
    return load_text(TEXT, changes)


@pytest.fixture
def counted():
    """A flow that counts the runs that are really made."""
    made: list[tuple[int, int]] = []

    def run(prepared, strategy, number, seed):
        made.append((strategy, number))
        return replicate(prepared, strategy, number, seed)

    return made, Flow(prepare, run)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The study, and the folder with its finished replications."""
    folder = tmp_path_factory.mktemp("finished")
    return compare(question(), vault=Vault(folder)), folder


@pytest.fixture
def first(finished, tmp_path):
    """The study; what it left is in this test's folder."""
    shutil.copytree(finished[1], tmp_path, dirs_exist_ok=True)
    return finished[0]


def same(one, other):
    left, right = tables(one), tables(other)
    assert left.keys() == right.keys()
    for name, frame in left.items():
        assert frame.equals(right[name]), name
    assert one.to_json() == other.to_json()


def test_a_finished_study_simulates_nothing_and_gives_the_same(tmp_path, counted):
    made, flow = counted
    first = compare(question(), flow=flow, vault=Vault(tmp_path))
    assert len(made) == 8
    again = compare(question(), flow=flow, vault=Vault(tmp_path))
    assert len(made) == 8
    same(first, again)
    same(first, compare(question()))


def test_only_what_is_missing_is_made(tmp_path, counted):
    made, flow = counted
    compare(question("experiment.replications=2"), flow=flow, vault=Vault(tmp_path))
    made.clear()
    compare(question("experiment.replications=5"), flow=flow, vault=Vault(tmp_path))
    assert made == [(0, 2), (1, 2), (0, 3), (1, 3), (0, 4), (1, 4)]


@pytest.mark.parametrize(
    "change",
    [
        "strategies.0.leases.0.price=3000",
        "strategies.0.leases.0.plan=annual",
        "strategies.1.leases.0.options=[cpu16]",
        "strategies.0.name=another name",
        "name=Another question",
    ],
)
@pytest.mark.usefixtures("first")
def test_prices_and_contracts_bill_the_same_runs_anew(tmp_path, counted, change):
    made, flow = counted
    rebilled = compare(question(change), flow=flow, vault=Vault(tmp_path))
    assert made == []
    same(rebilled, compare(question(change)))


@pytest.mark.parametrize(
    ("change", "again"),
    [
        ("experiment.seed=8", 8),
        ("strategies.0.leases.0.count=3", 4),
        ("strategies.0.policy=sjf", 4),
        ("strategies.1.burst.max=1", 4),
        ("workload.classes.0.rate=13/day", 8),
        ("horizon=21d", 8),
        ("reliability.profile=none", 8),
        ("checkpoint.every=10min", 8),
        ("performance=vendor", 8),
        ("experiment.warm_up=2d", 8),
    ],
)
@pytest.mark.usefixtures("first")
def test_whatever_a_run_reads_is_simulated_again(tmp_path, counted, change, again):
    made, flow = counted
    changed = compare(question(change), flow=flow, vault=Vault(tmp_path))
    assert len(made) == again
    same(changed, compare(question(change)))


def files(folder: Path) -> list[Path]:
    return sorted((folder / ".replications").rglob("*.json"))


@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "text", "foreign"])
def test_a_damaged_or_foreign_file_is_set_aside_said_and_computed_anew(tmp_path, counted, first, harm):
    made, flow = counted
    victim, other = files(tmp_path)[0], files(tmp_path)[-1]
    data = victim.read_bytes()
    harmed = {
        "cut": data[: len(data) // 2],
        "flip": data[:-20] + bytes([data[-20] ^ 1]) + data[-19:],
        "empty": b"",
        "text": b"not a replication\n",
        "foreign": other.read_bytes(),
    }[harm]
    victim.write_bytes(harmed)
    vault = Vault(tmp_path)
    again = compare(question(), flow=flow, vault=vault)
    assert len(made) == 1
    same(first, again)
    word = "belongs to another run" if harm == "foreign" else "is damaged"
    assert len(vault.messages) == 1
    assert word in vault.messages[0]
    assert victim.with_suffix(".damaged").read_bytes() == harmed
    assert victim.read_bytes() == data


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path, counted, monkeypatch):
    made, flow = counted
    writes = []
    fsync = os.fsync

    def full(descriptor):
        writes.append(descriptor)
        if len(writes) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match="No space left on device; free some space"):
        compare(question(), flow=flow, vault=Vault(tmp_path))
    monkeypatch.undo()
    assert len(files(tmp_path)) == 3
    assert not list((tmp_path / ".replications").rglob(".*-*"))
    made.clear()
    same(compare(question(), flow=flow, vault=Vault(tmp_path)), compare(question()))
    assert len(made) == 5


def test_the_key_knows_no_price_but_where_placement_reads_it():
    plain = [engine_key(prepare(question(c)), 0, 7) for c in ("name=a", "strategies.0.leases.0.price=1")]
    assert plain[0] == plain[1]
    cheapest = "strategies.0.placement=cheapest"
    read = [
        engine_key(prepare(question(cheapest, c)), 0, 7) for c in ("name=a", "strategies.0.leases.0.price=1")
    ]
    assert read[0] != read[1]


def test_runs_say_how_many_were_simulated(tmp_path):
    places = Places(vault=Vault(tmp_path))
    first = Runs.of(question(), places)
    first.ask([(0, 0), (1, 0), (0, 1)])
    assert first.simulated == 3
    second = Runs.of(question(), places)
    second.ask([(0, 0), (0, 1), (0, 2)])
    assert second.simulated == 1


def forked(asked, folder):
    """The number of a new process that makes the study and keeps its replications in the folder."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            compare(asked, vault=Vault(folder))
            code = 0
        finally:
            os._exit(code)
    return child


forks = pytest.mark.filterwarnings("ignore")  # later Pythons warn of forks, though no thread matters here


@forks
def test_killed_at_twenty_random_moments_it_goes_on_to_the_same_bytes(tmp_path):
    """SIGKILL at random moments of one study; each start goes on where the last one was stopped."""
    asked = question("experiment.replications=250", "horizon=5d")
    whole = compare(asked)
    random = np.random.default_rng(52)
    known, killed = 0, 0
    while killed < 20:
        child = forked(asked, tmp_path)
        time.sleep(0.05 + 0.1 * random.random())
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        assert len(files(tmp_path)) >= known
        known = len(files(tmp_path))
        if not os.WIFSIGNALED(status):
            break  # the study was finished before twenty kills on a fast machine
    assert killed >= 5
    vault = Vault(tmp_path)
    same(compare(asked, vault=vault), whole)
    assert vault.messages == []
    assert len(files(tmp_path)) == 500


@forks
def test_two_at_once_on_one_folder_do_no_harm(tmp_path):
    asked = question("experiment.replications=25", "horizon=10d")
    both = [forked(asked, tmp_path) for _ in range(2)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in both] == [0, 0]
    vault = Vault(tmp_path)
    same(compare(asked, vault=vault), compare(asked))
    assert vault.messages == []


def test_a_sample_comes_back_whole(tmp_path):
    asked = question()
    made = Runs.of(asked, Places(vault=Vault(tmp_path))).ask([(1, 0), (1, 1)])
    read = Runs.of(asked, Places(vault=Vault(tmp_path))).ask([(1, 0), (1, 1)])
    for one, other in zip(made, read, strict=True):
        for field in dataclasses.fields(one):
            assert getattr(one, field.name) == getattr(other, field.name), field.name
