"""Sweeps: cells are the comparisons that `compare` makes, runs that cells share are made once."""

import csv
import hashlib
import json

import pytest

from sim.cli.sweep import values_of
from sim.errors import InputError
from sim.experiments.compare import compare
from sim.experiments.runs import Flow, Places
from sim.experiments.sweep import sweep
from sim.experiments.sweep_axes import Axis, cells, numeric
from sim.experiments.sweep_store import sweep_frame
from sim.experiments.vault import Vault
from sim.load import load_text
from sim.report.plots_sweep import render
from tests.made_by_hand import Prepared, run

TEXT = """
name: Small sweep
start: 2026-01-01
horizon: 10d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {lognormal: {median: 20000, sigma: 0.8}}, rate: 12/day}
target: {wait_p95: 4h}
strategies:
  - {name: two, leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]}
  - name: one and burst
    leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 1h}
experiment: {replications: 3, seed: 7}
"""

COUNT, RATE = "strategies.0.leases.0.count", "workload.classes.0.rate"


def ask(settings=()):
    return load_text(TEXT, settings)


def spanned(*axes, paired=False):
    return cells([Axis(*axis) for axis in axes], paired, ask)


def swept(*axes, paired=False, places=None, **options):
    found = [Axis(*axis) for axis in axes]
    places = places or Places()
    return sweep(ask(), found, cells(found, paired, ask), places, paired=paired, **options)


class TestValues:
    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("1..3", ("1", "2", "3")),
            ("0..1:0.5", ("0.0", "0.5", "1.0")),
            ("0%/month, 5%/month", ("0%/month", "5%/month")),
            ("2..6:2/day", ("2/day", "4/day", "6/day")),
            ("fifo,easy", ("fifo", "easy")),
            ("[1, 2],[4]", ("[1, 2]", "[4]")),
            ('{a: 1, b: 2},"x,y"', ("{a: 1, b: 2}", '"x,y"')),
            ("2026-01-01,2026-07-01", ("2026-01-01", "2026-07-01")),
        ],
    )
    def test_lists_and_ranges(self, text, values):
        assert values_of(text, "--vary") == values

    @pytest.mark.parametrize("text", ["1,,2", "5..1", "1..3:0", "1..99999999", "a,"])
    def test_what_is_none(self, text):
        with pytest.raises(InputError, match="--vary"):
            values_of(text, "--vary")

    def test_numbers_of_one_unit(self):
        assert numeric(("0%/month", "5%/month")) == ([0, 5], "%/month")
        assert numeric(("1", "2.5")) == ([1, 2.5], "")
        assert numeric(("1h", "2d")) is None
        assert numeric(("fifo", "easy")) is None


class TestCells:
    def test_a_grid_has_every_combination_the_last_key_fastest(self):
        found = spanned((COUNT, ("1", "2")), (RATE, ("6/day", "9/day", "12/day")))
        assert [cell.values for cell in found] == [
            ("1", "6/day"), ("1", "9/day"), ("1", "12/day"), ("2", "6/day"), ("2", "9/day"), ("2", "12/day"),
        ]  # fmt: skip
        scenario = found[4].question.scenario
        assert (scenario.strategies[0].leases[0].count, scenario.workload.classes[0].rate) == (2, "9/day")

    def test_a_list_pairs_the_values(self):
        found = spanned((COUNT, ("1", "2")), (RATE, ("6/day", "9/day")), paired=True)
        assert [cell.values for cell in found] == [("1", "6/day"), ("2", "9/day")]

    @pytest.mark.parametrize(
        ("axes", "paired", "message"),
        [
            ([], False, "varies at least one key"),
            ([(COUNT, ("1", "1"))], False, "this value is given twice"),
            ([(COUNT, ("1",)), (COUNT, ("2",))], False, "this key is varied twice"),
            ([(COUNT, ("1", "2")), (RATE, ("6/day",))], True, "has as many values as the others"),
            ([(COUNT, tuple(map(str, range(40)))), (RATE, tuple(map(str, range(40))))], False, "1,000 cells"),
            ([("strategies.0.leases.0.cuont", ("1",))], False,
             "strategies.0.leases.0.cuont=1: unknown key .found 'cuont'.; did you mean 'count'"),
            ([(COUNT, ("2", "0"))], False, r"strategies.0.leases.0.count=0: must be at least 1 .found 0."),
            ([("strategies.5.name", ("x",))], False, "an entry of a list is given by its number"),
            ([("horizon", ("5d", "-1d"))], False, "--vary: horizon=-1d"),
            ([("target", ("{wait_p95: 4x}",))], False, r"--vary: target=\{wait_p95: 4x\}: .*target.wait_p95"),
        ],
    )  # fmt: skip
    def test_one_message_at_the_option(self, axes, paired, message):
        with pytest.raises(InputError, match=f"--vary.*{message}|{message}") as refused:
            spanned(*axes, paired=paired)
        assert len(refused.value.problems) == 1
        assert "--vary" in str(refused.value)


class TestSweep:
    def test_every_cell_is_the_comparison_of_its_scenario(self):
        found = swept((COUNT, ("1", "3")), (RATE, ("6/day", "12/day")))
        for cell in found.cells:
            alone = compare(ask([f"{COUNT}={cell.values[0]}", f"{RATE}={cell.values[1]}"]))
            assert cell.recommended == alone.recommendation.strategy
            assert cell.confidence == alone.recommendation.confidence
            for one, other in zip(cell.strategies, alone.strategies, strict=True):
                assert dict(one.metrics) == dict(other.metrics)
                assert one.status == other.status

    def test_runs_that_cells_share_are_made_once(self):
        # Only strategy 0 has the varied lease: three cells need 3 x 3 runs of it and 3 of the other.
        found = swept((COUNT, ("1", "2", "3")))
        assert (found.filled.asked, found.filled.simulated, found.filled.kept) == (18, 12, 0)

    def test_a_rerun_computes_what_is_missing_and_prices_nothing(self, tmp_path):
        places = Places(vault=Vault(tmp_path))
        first = swept((COUNT, ("1", "2")), places=places)
        assert first.filled.simulated == 9
        again = swept((COUNT, ("1", "2")), places=places)
        assert (again.filled.simulated, again.filled.kept) == (0, 9)
        assert again.to_json() == first.to_json()
        wider = swept((COUNT, ("1", "2", "3")), places=places)
        assert wider.filled.simulated == 3
        dearer = swept(("strategies.0.leases.0.price", ("2800", "5600")), places=places)
        assert dearer.filled.simulated == 0
        costs = [cell.interval(0, "committed_cost_cny").mean for cell in dearer.cells]
        assert costs == [5600, 11200]  # two cards for a month that begins once

    def test_a_price_word_is_billed_from_the_kept_runs(self, tmp_path):
        places = Places(vault=Vault(tmp_path))
        low, high = (
            compare(ask(), vault=places.vault, baseline=None),
            compare(ask(["strategies.0.leases.0.price=1400"]), vault=places.vault),
        )
        assert high.result("two").mean("committed_cost_cny") * 2 == low.result("two").mean(
            "committed_cost_cny"
        )

    def test_the_same_bytes_from_one_and_two_workers_and_without_a_vault(self, tmp_path, monkeypatch):
        monkeypatch.setattr("sim.experiments.parallel.SERIAL_BELOW_S", 0.0)
        one = swept((COUNT, ("1", "2")), replications=4)
        two = swept((COUNT, ("1", "2")), replications=4, places=Places(workers=2, vault=Vault(tmp_path)))
        assert one.to_json() == two.to_json()
        assert one.sweep_id == two.sweep_id
        assert one.filled == two.filled
        assert render(one) == render(two)

    def test_by_hand_means_and_limits(self):
        """A flow whose cost is 100 a card and job a day, plus or minus 10: Student, t(1, 0.975) = 12.706."""

        def replicate(prepared, strategy, replication, seed):
            scenario = prepared.question.scenario
            cards = sum(lease.count for lease in scenario.strategies[strategy].leases)
            rate = float(scenario.workload.classes[0].rate.partition("/")[0])
            cost = 100 * cards * rate + (10 if replication else -10)
            metrics = {"committed_cost_cny": cost, "wait_p95_h": 1.0, "jobs_refused": 0.0}
            return run(scenario, strategy, replication, metrics, shift_us=replication)

        found = swept((RATE, ("1/day", "2/day")), replications=2, flow=Flow(Prepared, replicate))
        frame = sweep_frame(found)
        rows = frame[(frame["metric"] == "committed_cost_cny") & (frame["strategy"] == "two")]
        assert rows["mean"].tolist() == [200, 400]
        assert rows["low"].tolist() == pytest.approx([200 - 127.062, 400 - 127.062], abs=0.01)
        assert rows[RATE].tolist() == ["1/day", "2/day"]
        assert rows["n"].tolist() == [2, 2]
        assert set(rows["unit"]) == {"CNY"}
        assert [cell.recommended for cell in found.cells] == ["one and burst"] * 2

    def test_charts_of_one_two_and_three_keys(self):
        small = {"replications": 1}
        lines = swept((COUNT, ("1", "2")), **small)
        assert list(render(lines)) == ["committed_cost_cny", "wait_p95_h"]
        maps = swept((COUNT, ("1", "2")), (RATE, ("6/day", "12/day")), **small)
        assert list(render(maps)) == ["committed_cost_cny", "wait_p95_h", "recommended"]
        words = swept(("strategies.0.policy", ("fifo", "easy")), (RATE, ("6/day", "12/day")),
                      paired=True, **small)  # fmt: skip
        assert list(render(words)) == ["committed_cost_cny", "wait_p95_h"]
        cube = swept((COUNT, ("1", "2")), (RATE, ("6/day",)), ("strategies.0.policy", ("fifo",)), **small)
        assert render(cube) == {}


class TestCommand:
    def sweep(self, fleetsim, tmp_path, *options):
        file = tmp_path / "small.yaml"
        file.write_text(TEXT)
        return fleetsim("sweep", file, "--out", tmp_path / "out", "--jobs", "1", *options)

    def test_text_json_and_files(self, fleetsim, tmp_path):
        options = ("--vary", f"{COUNT}=1..3", "--replications", "2")
        text = self.sweep(fleetsim, tmp_path, *options)
        assert text.code == 0
        assert "8 of 12 runs simulated" in text.out
        again = self.sweep(fleetsim, tmp_path, *options, "--format", "json")
        document = json.loads(again.out)
        assert [cell["settings"] for cell in document["cells"]] == [{COUNT: n} for n in "123"]
        (folder,) = (tmp_path / "out").glob("small-sweep/*")
        assert folder.name == f"sweep-{document['sweep']}"
        with (folder / "sweep.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        costs = {
            (row[COUNT], row["strategy"]): float(row["mean"])
            for row in rows
            if row["metric"] == "committed_cost_cny"
        }
        assert [costs[n, "two"] for n in "123"] == [2800, 5600, 8400]
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["kind"] == "sweep"
        assert manifest["simulated"] == 0
        for name, digest in manifest["files"].items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        assert {"sweep.parquet", "cells.csv", "charts/wait_p95_h.png"} <= manifest["files"].keys()

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ((), "--vary: a sweep varies at least one key"),
            (("--vary", "count"), "--vary: a varied key is written KEY=VALUES"),
            (("--vary", f"{COUNT}=3..1"), f"--vary: {COUNT}: a range goes from the smaller"),
            (("--vary", f"{COUNT}=1,x"), f"--vary: {COUNT}=x: must be a whole number"),
            (("--vary", "strategies.0.leases.0.plan=weekly"), "--vary: strategies.0.leases.0.plan=weekly:"),
            (("--vary", "strategies.0.leases.0.offer=a100"), "--vary: strategies.0.leases.0.offer=a100:"),
            (("--vary", f"{COUNT}=1..2000"), "a sweep has at most 1,000 cells"),
            (("--vary", f"{COUNT}=1..2", "--set", "target.wait_p95=x"), "--set: target.wait_p95:"),
        ],
    )
    def test_what_cannot_be_swept(self, fleetsim, tmp_path, options, message):
        refused = self.sweep(fleetsim, tmp_path, *options)
        assert refused.code == 2
        assert message in " ".join(refused.err.split())
        assert not (tmp_path / "out").exists()
