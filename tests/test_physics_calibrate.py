"""`fleetsim calibrate`: constants from a user's own runs; many rows move them, few hardly do."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import sim
from sim.catalog import load_catalog
from sim.physics import fit_job
from sim.physics.calibration import calibrate, errors_of, group_weights
from sim.physics.constants import load_constants
from sim.physics.predict import predict_rows
from sim.physics.table import read_table
from tests.conftest import Outcome
from tests.physics_cases import job

Run = Callable[..., Outcome]

SHIPPED = load_constants()
MODELS = ("llama-2-7b", "qwen-14b", "mistral-7b", "llama-2-13b")


def asked(gpu: str = "L40S", stack: str = "hf", models: Sequence[str] = MODELS) -> list[dict[str, Any]]:
    """Runs without an answer: four models at three lengths and two methods."""
    return [
        {
            "source": "own",
            "model": model,
            "method": method,
            "rank": "16",
            "micro_batch": "1",
            "seq_len": str(length),
            "gpu": gpu,
            "n_gpus": "1",
            "stack": stack,
            "peak_mem_gib": "",
            "tokens_per_s_total": "",
        }
        for model in models
        for method in ("lora", "qlora4")
        for length in (1024, 2048, 4096)
    ]


def measured(
    rows: Sequence[dict[str, Any]], speed: float | None = None, memory: float | None = None
) -> list[dict[str, Any]]:
    """The same with what the program says, times a known factor, as if it had been measured."""
    found = []
    for row, answer in zip(rows, predict_rows(rows, SHIPPED), strict=True):
        assert answer.peak_mem_gib is not None
        assert answer.tokens_per_s is not None
        own = dict(row)
        if speed is not None:
            own["tokens_per_s_total"] = str(speed * answer.tokens_per_s)
        if memory is not None:
            own["peak_mem_gib"] = str(memory * answer.peak_mem_gib)
        found.append(own)
    return found


def factor(rows: Sequence[dict[str, Any]], after: Any) -> float:
    """By how much a calibration moved the speed of the rows, in the median."""
    before, now = predict_rows(rows, SHIPPED), predict_rows(rows, after)
    ratios = sorted((b.tokens_per_s or 0) / (a.tokens_per_s or 1) for a, b in zip(before, now, strict=True))
    return ratios[len(ratios) // 2]


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_many_rows_recover_a_card_that_is_a_fifth_slower() -> None:
    rows = measured(asked(), speed=0.8)
    assert len(rows) == 24
    found = calibrate(rows, SHIPPED)
    before, after = found.speed
    assert before.rows == after.rows == 24
    # Predicted over measured was 1 / 0.8.
    assert before.median == pytest.approx(0.25, abs=1e-6)
    assert after.median < 0.05
    assert factor(rows, found.constants) == pytest.approx(0.8, rel=0.05)
    assert found.changed.keys() == {"speed"}
    assert "L40S" in found.changed["speed"]["cards"]
    assert found.memory[0].rows == 0


def test_few_rows_move_it_only_part_of_the_way() -> None:
    rows = measured(asked(), speed=0.8)
    moved = [factor(rows, calibrate(rows[:n], SHIPPED).constants) for n in (1, 2, 8, 24)]
    assert moved == sorted(moved, reverse=True)
    # Two rows: on the way, but not there.
    assert 0.82 < moved[1] < 0.98
    assert moved[0] > moved[1]
    assert moved[3] < 0.84


def test_other_cards_stay_about_where_they_were() -> None:
    rows = measured(asked(), speed=0.8)
    after = calibrate(rows, SHIPPED).constants
    others = asked("H100-80G")
    assert factor(others, after) == pytest.approx(1, abs=0.06)
    assert after.memory == SHIPPED.memory
    assert after.speed.cards["H100-80G"] == SHIPPED.speed.cards["H100-80G"]


def test_rows_as_predicted_change_next_to_nothing() -> None:
    rows = measured(asked(), speed=1.0, memory=1.0)
    found = calibrate(rows, SHIPPED)
    assert factor(rows, found.constants) == pytest.approx(1, abs=1e-3)
    assert found.speed[1].median <= found.speed[0].median + 1e-9
    assert found.memory[1].median <= found.memory[0].median + 1e-9


def test_memory_of_a_framework_of_ones_own() -> None:
    rows = measured(asked(stack="mine"), memory=1.2)
    found = calibrate(rows, SHIPPED)
    before, after = found.memory
    assert (before.rows, found.speed[0].rows) == (24, 0)
    assert before.median == pytest.approx(1 - 1 / 1.2, abs=1e-6)
    assert after.median < 0.06
    assert "mine" in found.changed["memory"]["stacks"]
    assert found.constants.speed == SHIPPED.speed
    # What is known of other frameworks stays.
    assert found.constants.memory.stack("qwen") == SHIPPED.memory.stack("qwen")


def test_half_of_the_rows_tells_of_the_other_half() -> None:
    rows = measured(asked(), speed=0.75)
    after = calibrate(rows[::2], SHIPPED).constants
    table = read_table(rows[1::2])
    predicted = [row.tokens_per_s or 0 for row in predict_rows(rows[1::2], after)]
    blind = [row.tokens_per_s or 0 for row in predict_rows(rows[1::2], SHIPPED)]
    now = errors_of(table.tokens_per_s * 0 + predicted, table.tokens_per_s).median
    assert now < errors_of(table.tokens_per_s * 0 + blind, table.tokens_per_s).median / 2


def test_a_calibration_never_makes_its_own_rows_worse() -> None:
    rows = measured(asked()[:6], speed=1.0)
    # One run that went wrong among five good ones.
    rows[0]["tokens_per_s_total"] = str(float(rows[0]["tokens_per_s_total"]) / 20)
    found = calibrate(rows, SHIPPED)
    assert found.speed[1].median <= found.speed[0].median + 1e-9
    assert factor(rows, found.constants) > 0.9


def test_rows_of_one_root_share_their_weight() -> None:
    table = read_table([*asked(models=("llama-2-7b",)), *asked(models=("mistral-7b",))[:3]])
    weights = group_weights(table)
    # 3 rows of each method of the first model; 3 of the second: 1 / root of 3 each.
    assert list(weights) == pytest.approx([3**-0.5] * 9)


def test_rows_that_are_not_used_have_a_reason() -> None:
    rows = measured(asked()[:3], speed=0.8, memory=1.1)
    rows[1]["model"] = "nobody-9b"
    found = calibrate(rows, SHIPPED)
    assert [position for position, _ in found.skipped] == [1]
    assert "catalogue" in found.skipped[0][1]
    assert found.speed[0].rows == 2


def test_the_command_says_what_it_gains_and_writes_what_scenarios_take(
    fleetsim: Run, tmp_path: Path, two_jobs: Path
) -> None:
    rows = measured(asked(), speed=0.8, memory=1.1)
    source, out = write(tmp_path / "runs.csv", rows), tmp_path / "calibration" / "own.yaml"
    done = fleetsim("calibrate", source, "-o", out)
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    assert "Memory 24" in text
    assert "Speed 24 25.0 %" in text
    assert "performance: own.yaml" in text
    loaded = load_constants(out)
    assert factor(rows, loaded) == pytest.approx(0.8, rel=0.05)
    direct = calibrate(rows, SHIPPED).constants
    assert loaded.speed.cards["L40S"] == pytest.approx(direct.speed.cards["L40S"], rel=1e-4)

    # `fit` takes it by its path ...
    offer = load_catalog().offers["rtx3090-24g-cloud"].model_copy(update={"gpu": "L40S"})
    usual, own = (fit_job(job(gpus=1), [offer], performance=name)[0].hours for name in ("measured", str(out)))
    assert usual is not None
    assert own is not None
    assert own / usual == pytest.approx(1 / 0.8, rel=0.06)
    # ... and a scenario by a path beside it.
    question = two_jobs.read_text("utf-8") + "performance: calibration/own.yaml\n"
    two_jobs.write_text(question, encoding="utf-8")
    assert Path(sim.load(two_jobs).performance_source) == out
    assert fleetsim("fit", "--model", "llama-2-7b", "--performance", out).code == 0


def test_a_calibration_starts_from_another(fleetsim: Run, tmp_path: Path) -> None:
    rows = measured(asked(), speed=0.8)
    source, first = write(tmp_path / "runs.csv", rows), tmp_path / "first.yaml"
    assert fleetsim("calibrate", source, "-o", first).code == 0
    second = tmp_path / "second.yaml"
    done = fleetsim("calibrate", source, "-o", second, "--performance", first)
    assert done.code == 0
    assert factor(rows, load_constants(second)) == pytest.approx(0.8, rel=0.05)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (asked()[:2], ("no row has both", "peak_mem_gib", "tokens_per_s_total")),
        ([{**asked()[0], "model": "nobody-9b", "peak_mem_gib": "10"}], ("no row has both", "catalogue")),
    ],
)
def test_tables_that_tell_nothing_are_refused(
    fleetsim: Run, tmp_path: Path, rows: list[dict[str, Any]], words: tuple[str, ...]
) -> None:
    done = fleetsim("calibrate", write(tmp_path / "runs.csv", rows), "-o", tmp_path / "own.yaml")
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err
    assert not (tmp_path / "own.yaml").exists()


def test_files_that_are_no_tables_are_refused(fleetsim: Run, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("model,gpu\nx,y\n", encoding="utf-8")
    for source in (tmp_path / "runs.csv", tmp_path / "none.csv", tmp_path):
        done = fleetsim("calibrate", source, "-o", tmp_path / "own.yaml")
        assert done.code == 2
        assert done.err.startswith("Error: ")
    assert not (tmp_path / "own.yaml").exists()


def test_a_calibration_that_gains_nothing_is_still_a_file_that_loads(fleetsim: Run, tmp_path: Path) -> None:
    out = tmp_path / "own.yaml"
    source = write(tmp_path / "runs.csv", measured(asked()[:2], speed=1.0))
    assert fleetsim("calibrate", source, "-o", out).code == 0
    assert factor(asked(), load_constants(out)) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("stack", ["torchtune 0.5", "my: own #1", 'quo"ted', "中文", "1e5", "true"])
def test_any_name_of_a_framework_can_be_calibrated(fleetsim: Run, tmp_path: Path, stack: str) -> None:
    rows = measured(asked(stack=stack), speed=0.8, memory=1.2)
    source, out = write(tmp_path / "runs.csv", rows), tmp_path / "own.yaml"
    done = fleetsim("calibrate", source, "-o", out)
    assert (done.code, done.err) == (0, "")
    assert load_constants(out).memory.stack(stack.lower()) != SHIPPED.memory.common


def test_a_slice_is_calibrated_around_its_card() -> None:
    rows = measured(asked("H100-80G/3g.40gb"), speed=1.0)
    found = calibrate(rows, SHIPPED)
    assert factor(rows, found.constants) == pytest.approx(1, abs=1e-3)
    slower = measured(asked("H100-80G/3g.40gb"), speed=0.8)
    assert factor(rows, calibrate(slower, SHIPPED).constants) == pytest.approx(0.8, rel=0.06)


CLASS = """\
name: One class
start: 2026-01-01
horizon: 30d
performance: own.yaml
workload:
  classes:
    - {name: small, model: llama-2-7b, method: lora, samples: 1000, rate: 1/day}
strategies:
  - name: one
    leases:
      - {offer: rtx3090-24g-cloud, count: 1, plan: monthly}
"""


def test_a_scenario_takes_its_calibration(fleetsim: Run, tmp_path: Path) -> None:
    rows = measured(asked("RTX3090"), speed=0.8)
    assert fleetsim("calibrate", write(tmp_path / "runs.csv", rows), "-o", tmp_path / "own.yaml").code == 0
    (tmp_path / "one.yaml").write_text(CLASS, encoding="utf-8")
    hours = []
    for options in ((), ("--performance", "measured")):
        done = fleetsim("fit", "--scenario", tmp_path / "one.yaml", "--format", "json", *options)
        assert done.code == 0
        entries = json.loads(done.out)["offers"]
        hours.append(next(entry["hours"] for entry in entries if entry["gpu"] == "RTX3090"))
    assert hours[0] / hours[1] == pytest.approx(1 / 0.8, rel=0.06)
    # The engine's own table of rates has it too.
    question = sim.load(tmp_path / "one.yaml")
    (option, *_) = sim.prepare(question).rates.options[0, "rtx3090-24g-cloud"]
    assert option.us_per_work * 1000 / 3.6e9 == pytest.approx(hours[0], rel=1e-6)
