"""A sweep and a sensitivity study give the same from a Dask cluster as from this process."""

import warnings

import pytest

from sim.experiments.compare import compare
from sim.experiments.knobs_table import knobs_of
from sim.experiments.runs import Places
from sim.experiments.sensitivity import tornado
from sim.experiments.vault import Vault
from tests.test_sweep import COUNT, ask, swept
from tests.test_vault import question

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def address():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as started:
            yield started.scheduler_address


@pytest.mark.filterwarnings("ignore")
def test_a_sweep_from_a_cluster(address, tmp_path):
    here = swept((COUNT, ("1", "2")))
    there = swept((COUNT, ("1", "2")), places=Places(cluster=address, vault=Vault(tmp_path)))
    assert there.to_json() == here.to_json()
    assert there.filled == here.filled
    # Kept on this side, though made there.
    assert len(list(Vault(tmp_path).folder.glob("*/*/*.json"))) == 9


@pytest.mark.filterwarnings("ignore")
def test_uncertain_inputs_on_a_cluster(address, tmp_path):
    asked = question("uncertain={demand: {uniform: {low: 0.5, high: 1.5}}, run_time: {validation: true}}")
    there = compare(asked, cluster=address, vault=Vault(tmp_path))
    assert there.to_json() == compare(asked).to_json()
    assert compare(asked, vault=Vault(tmp_path)).to_json() == there.to_json()


@pytest.mark.filterwarnings("ignore")
def test_inputs_turned_on_a_cluster(address):
    knobs = [knob for knob in knobs_of(ask()) if knob.name in ("failures", "run_time")]
    here, there = (
        tornado(ask(), knobs, "wait_mean_h", 2, places) for places in (Places(), Places(cluster=address))
    )
    assert here == there
