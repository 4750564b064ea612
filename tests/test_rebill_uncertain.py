"""Runs with uncertain inputs billed anew: the same bytes as a new comparison, and no new simulation."""

import pytest

from sim import replication
from sim.errors import InputError
from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.rebill import rebill, save
from sim.experiments.stored import open_run
from sim.experiments.vault import Vault
from sim.load import load
from tests.test_rebill import MIXED, contents

UNSURE = (
    MIXED.replace("horizon: 60d", "horizon: 30d")
    + """\
uncertain:
  price: {uniform: {low: 0.8, high: 1.2}}
  demand: {uniform: {low: 0.5, high: 1.1}}
  failures: {choice: {values: [1, 3]}}
  workload.classes.0.samples: {uniform: {low: 15000, high: 25000}}
  strategies.0.burst.price: {uniform: {low: 15, high: 25}}
  strategies.1.leases.0.count: {choice: {values: [1, 2, 3]}}
"""
).replace("    placement: cheapest\n", "")

CHANGES = {
    "a price": ["strategies.1.leases.1.price=3000"],
    "another plan": ["strategies.1.leases.0.plan=annual", "strategies.2.leases.0.plan=quarterly"],
    "contract terms": ["terms.tax.rate=0.06", "strategies.1.leases.1.terms.refund.rule=pro-rata"],
    "a distribution of prices": ["uncertain.price.uniform.high=1.6"],
    "one more uncertain price": ["uncertain.discount={choice: {values: [0.5, 1]}}",
                                 "strategies.2.leases.1.plan=annual"],
    "another confidence": ["experiment.confidence=0.8"],
}  # fmt: skip


@pytest.fixture(scope="module")
def unsure(tmp_path_factory):
    """The scenario's file, the folder of its run, and where its runs are kept."""
    home = tmp_path_factory.mktemp("unsure")
    file = home / "unsure.yaml"
    file.write_text(UNSURE)
    vault = Vault(home / "kept")
    return file, store.save(compare(load(file), vault=vault), home / "outputs"), vault


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_every_file_is_that_of_a_new_comparison(unsure, tmp_path, changes, monkeypatch):
    file, folder, vault = unsure
    # One is simulated anew; the others come from the runs that were kept, by another road than rebill's.
    kept = None if changes == CHANGES["a distribution of prices"] else vault
    fresh = store.save(compare(load(file, changes), vault=kept), tmp_path / "fresh")

    def refuse(*_: object) -> None:
        msg = "rebill may not simulate"
        raise AssertionError(msg)

    monkeypatch.setattr(replication.engine, "run", refuse)
    saved = save(rebill(open_run(folder), changes), tmp_path / "again", {})
    assert saved.name == fresh.name != folder.name
    files = contents(saved)
    assert files == contents(fresh)
    assert {"doubt.csv", "inputs.csv", "twins.csv", "twin_rentals.parquet"} <= set(files)
    # What was written can be billed once more, back to where it came from.
    if changes == CHANGES["a price"]:
        back = ["strategies.1.leases.1.price=null"]
        assert contents(save(rebill(open_run(saved), back), tmp_path / "back", {})) == contents(folder)


def test_each_replication_pays_the_price_of_its_own_draw(unsure):
    """By pencil: what is leased costs its list price times the draw, to the cent of each charge."""
    file, folder, vault = unsure
    before = compare(load(file), vault=vault)
    after = rebill(open_run(folder), ["strategies.2.leases.1.price=9000"]).comparison
    known = "committed_cost_cny"
    old, new = (one.result("by price").values[known] for one in (before, after))
    cloud = before.question.catalog.offers["a100-40g-cloud"].price
    listed = float(cloud.low + cloud.high) / 2
    # Thirty days from 30 January: months begin on 30 January and on 28 February.
    for number, (one, other) in enumerate(zip(old, new, strict=True)):
        times = before.doubt.draws[number]["price"]
        assert other - one == pytest.approx(2 * (9000 - listed) * times, abs=0.03)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (["uncertain.demand.uniform.low=0.6"], "uncertain.demand.uniform.low"),
        (["uncertain.failures.choice.values=[1, 2]"], "uncertain.failures.choice.values"),
        (["uncertain.run_time={validation: true}"], "uncertain.run_time"),
        (["uncertain=null"], "uncertain"),
        (["uncertain.price.uniform.low=0.9", "uncertain.growth={choice: {values: [1%/month, 2%/month]}}"],
         "uncertain.growth"),
        (["workload.classes.0.rate=20/day"], "workload.classes.0.rate"),
        (["strategies.2.leases.0.count=2"], "strategies.2.leases.0.count"),
    ],
)  # fmt: skip
def test_what_the_simulation_read_is_refused_with_its_key(unsure, changes, key):
    with pytest.raises(InputError) as told:
        rebill(open_run(unsure[1]), changes)
    (problem,) = told.value.problems
    assert problem.key == key
    assert "use fleetsim compare" in problem.rule
