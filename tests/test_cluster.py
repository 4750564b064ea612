"""The same results from one process, from two, and from a cluster that loses a worker in mid run."""

import os
import signal
import warnings

import pytest

from sim.errors import InputError
from sim.experiments import parallel
from sim.experiments.compare import compare
from sim.experiments.vault import Vault
from tests.test_vault import files, question, same

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as started:
            yield started


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_a_worker_gives_the_same(cluster, tmp_path):
    asked = question("experiment.replications=60")
    killed = []

    def kill_once(done, total, note=""):
        if done >= total // 4 and not killed:
            workers = [w for w in cluster.workers.values() if w.process and w.process.is_alive()]
            killed.append(workers[0].process.pid)
            os.kill(killed[0], signal.SIGKILL)

    vault = Vault(tmp_path)
    there = compare(asked, cluster=cluster.scheduler_address, progress=kill_once, vault=vault)
    assert killed
    same(there, compare(asked))
    assert len(files(tmp_path)) == 120  # kept here, though made there


@pytest.mark.filterwarnings("ignore")
def test_two_processes_give_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "SERIAL_BELOW_S", 0.0)
    asked = question("experiment.replications=12")
    same(compare(asked, workers=2, vault=Vault(tmp_path)), compare(asked))
    assert len(files(tmp_path)) == 24


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(parallel, "CONNECT_S", 0.5)
    with pytest.raises(InputError, match=r"no scheduler answers at this address within 0\.5 s"):
        compare(question(), cluster="tcp://127.0.0.1:9")


def test_an_address_that_is_none_is_said():
    with pytest.raises(InputError, match="no scheduler answers"):
        compare(question(), cluster="nonsense://")
