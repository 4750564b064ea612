"""Workers that die or run out of memory, a damaged store, a clock set back: nothing finished is lost."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.faults_kit import SMALL, bytes_below, fleetsim_child, fleetsim_here, kept, run_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX systems")

DIES = """
import functools, os, resource, signal
import sim.experiments.compare as module
from sim.experiments.flow import Flow
from sim.replication import prepare, replicate

def full():
    resource.setrlimit(resource.RLIMIT_AS, (2**31, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return bytearray(2**40)

def dies(prepared, strategy, number, seed):
    if (strategy, number) == (1, 3):
        {how}
    return replicate(prepared, strategy, number, seed)

module.compare = functools.partial(module.compare, flow=Flow(prepare, dies))
"""
"""A worker that comes to replication 3 of the second strategy dies, or asks for more than there is."""

BACK = """
import itertools, time
from datetime import UTC, datetime
import sim.experiments.compare as module

seconds = itertools.count(0, -3600)

class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(1e9 + next(seconds), tz)

module.datetime = Clock
time.time = lambda: 1e9 + next(seconds)
"""
"""It is 2001, and an hour earlier whenever one looks."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("study") / "small.yaml"
    file.write_text(SMALL, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def whole(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder where nothing goes wrong."""
    out = tmp_path_factory.mktemp("whole")
    done = fleetsim_here("compare", study, "--out", out, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "a worker process could not do its work"),
        ("full()", "memory"),
    ],
    ids=["killed", "out of memory"],
)
def test_a_worker_that_dies(study: Path, whole: Path, tmp_path: Path, how: str, said: str) -> None:
    done = fleetsim_child(
        "compare", study, "--out", tmp_path, "--jobs", 2, "--format", "json", before=DIES.format(how=how)
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert said in " ".join(done.stderr.split())
    assert "--jobs 1" in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == [".replications"]
    before = kept(tmp_path)
    assert 2 <= len(before) < 12
    again = fleetsim_here("compare", study, "--out", tmp_path, "--jobs", 1)
    assert again.returncode == 0, again.stderr
    assert bytes_below(run_folder(tmp_path)) == bytes_below(run_folder(whole))
    assert set(before) < set(kept(tmp_path))


@pytest.mark.long
def test_a_clock_set_back(study: Path, whole: Path, tmp_path: Path) -> None:
    """Only the manifest tells the time; a run of `earlier` goes on from one of `later`."""
    shutil.copytree(whole, tmp_path / "out")
    done = fleetsim_child("compare", study, "--out", tmp_path / "out", "--jobs", 1, before=BACK)
    assert done.returncode == 0, done.stderr
    folder = run_folder(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["started"].startswith("2001-09-09")
    assert manifest["finished"] < manifest["started"]
    assert manifest["seconds"] >= 0
    assert bytes_below(folder) == bytes_below(run_folder(whole))
    listed = fleetsim_child("runs", "list", "--out", tmp_path / "out", "--format", "json")
    (run,) = json.loads(listed.stdout)["runs"]
    assert (run["id"], run["state"]) == (folder.name, "whole")


def harm(out: Path, kind: str) -> Path:
    """Harm an output folder; the place that is to be told."""
    replication = sorted((out / ".replications").rglob("000002.json"))[0]
    folder = run_folder(out)
    if kind == "half a replication":
        replication.write_bytes(replication.read_bytes()[:100])
        return replication
    if kind == "a folder in its place":
        replication.unlink()
        replication.mkdir()
        return replication
    if kind == "half a table":
        table = folder / "jobs.csv"
        table.write_bytes(table.read_bytes()[:100])
        return table
    (folder / "manifest.json").write_bytes(b"{")
    return folder / "manifest.json"


@pytest.mark.parametrize(
    "kind",
    [
        "half a replication",
        *(pytest.param(kind, marks=pytest.mark.long) for kind in ("half a table", "no manifest")),
    ],
)
def test_a_damaged_store(study: Path, whole: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    folder = run_folder(out)
    place = harm(out, kind)
    if "replication" not in kind:
        refused = fleetsim_here("report", folder)
        assert (refused.returncode, "Traceback" in refused.stderr) == (2, False), refused.stderr
        assert place.name in refused.stderr
    done = fleetsim_here("compare", study, "--out", out, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert ("is damaged; it was set aside" in " ".join(done.stderr.split())) == ("replication" in kind)
    assert bytes_below(run_folder(out)) == bytes_below(run_folder(whole))
    assert kept(out) == kept(whole)


@pytest.mark.long
def test_a_folder_where_a_replication_should_be(study: Path, whole: Path, tmp_path: Path) -> None:
    """Nobody's work is deleted to make room: the place is named, and what to do."""
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    place = harm(out, "a folder in its place")
    done = fleetsim_here("compare", study, "--out", out, "--jobs", 1)
    assert "Traceback" not in done.stderr
    text = " ".join(done.stderr.split())
    assert (done.returncode, "choose another --out DIR" in text) == (1, True), done.stderr
    place.rmdir()
    assert fleetsim_here("compare", study, "--out", out, "--jobs", 1).returncode == 0
    assert bytes_below(run_folder(out)) == bytes_below(run_folder(whole))
