"""Files that belong together: extends, --set, traces, dump."""

from __future__ import annotations

import pickle

import pytest

from sim.errors import InputError
from sim.load import dump, load, load_text
from tests.load_helpers import SMALL, fault, file_faults

TRACE = "submit_s,gpus,runtime_s,gpu\n0,1,60,A100-40G\n5,2,60,\n"
REPLAY = SMALL.replace("  classes:", "  trace: {file: t.csv, runtime_gpu: A100-40G}\n  classes:")


def write(folder, **files):
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


# --- extends


def test_mappings_are_merged_and_lists_replaced(tmp_path):
    over = "extends: base.yaml\nworkload: {growth: 3%/month}\n"
    over += "strategies:\n  - {name: one, leases: [{offer: t4-16g-cloud, plan: annual}]}\n"
    write(tmp_path, base=SMALL, over=over)
    question = load(tmp_path / "over.yaml")
    scenario = question.scenario
    assert (scenario.name, scenario.extends) == ("small", None)
    assert (scenario.workload.growth, scenario.workload.classes[0].name) == ("3%/month", "bot")
    assert [strategy.name for strategy in scenario.strategies] == ["one"]
    assert question.path == tmp_path / "over.yaml"


def test_a_null_takes_a_value_of_the_base_away(tmp_path):
    write(tmp_path, base=SMALL + "target: {wait_p95: 4h}\n", over="extends: base.yaml\ntarget: null\n")
    assert load(tmp_path / "over.yaml").scenario.target is None


def test_a_chain_over_three_files_names_the_right_file_and_line(tmp_path):
    write(
        tmp_path,
        base=SMALL.replace("count: 2", "count: 0"),
        mid="extends: base.yaml\n\nhorizon: never\n",
        top="extends: mid.yaml\ntarget:\n  wait: 4h\n",
    )
    found = file_faults(tmp_path / "top.yaml")
    assert [(str(p.file).rpartition("/")[2], p.line, p.key) for p in found] == [
        ("top.yaml", 3, "target.wait"),
        ("mid.yaml", 3, "horizon"),
        ("base.yaml", 16, "strategies.0.leases.0.count"),
    ]


def test_a_circle_is_named(tmp_path):
    write(tmp_path, a="extends: b.yaml\n", b="x: 1\nextends: c.yaml\n", c="extends: b.yaml\n")
    (problem,) = file_faults(tmp_path / "a.yaml")
    assert (problem.file, problem.line) == (str(tmp_path / "c.yaml"), 1)
    assert problem.rule == "extends goes in a circle: b.yaml -> c.yaml -> b.yaml"
    write(tmp_path, self="extends: self.yaml\n")
    assert "self.yaml -> self.yaml" in file_faults(tmp_path / "self.yaml")[0].rule


def test_a_base_that_is_missing_or_broken_is_told_at_its_place(tmp_path):
    write(
        tmp_path,
        over="name: x\nextends: bas.yaml\n",
        base="a: [\n",
        broken="extends: base.yaml\n",
        odd="extends: 3\n",
    )
    (missing,) = file_faults(tmp_path / "over.yaml")
    assert (missing.line, missing.key, missing.value) == (2, "extends", "bas.yaml")
    assert "base.yaml" in missing.known
    assert file_faults(tmp_path / "broken.yaml")[0].file == str(tmp_path / "base.yaml")
    assert "name of a scenario file" in file_faults(tmp_path / "odd.yaml")[0].rule


def test_a_missing_file_a_folder_and_an_upload(tmp_path):
    assert "no such file" in file_faults(tmp_path / "none.yaml")[0].rule
    assert "cannot be read" in file_faults(tmp_path)[0].rule
    assert "in a file" in fault("extends: base.yaml\n" + SMALL).rule
    write(tmp_path, base=SMALL)
    assert load_text("extends: base.yaml\nname: up\n", folder=tmp_path).scenario.name == "up"


# --- settings of the command line


def test_settings_reach_into_lists_and_make_what_is_missing():
    settings = [
        "strategies.0.leases.0.count=8",
        "strategies[0].leases[0].price=high",
        "workload.classes.0.gpus=[1, 2]",
        "target.wait_p95=4h",
        "name=four = eight",
    ]
    scenario = load_text(SMALL, settings).scenario
    lease = scenario.strategies[0].leases[0]
    assert (lease.count, lease.price, scenario.name) == (8, "high", "four = eight")
    assert scenario.workload.classes[0].counts == (1, 2)
    assert scenario.target is not None
    assert load_text(SMALL, ["horizon=2026-03-01"]).scenario.horizon_us == 59 * 86_400_000_000


@pytest.mark.parametrize(
    ("setting", "key", "rule"),
    [
        ("strategies.0.leases.0.count=-1", "strategies.0.leases.0.count", "at least 1"),
        ("strategies.0.leases.0.cuont=3", "strategies.0.leases.0.cuont", "unknown key"),
        ("targt.wait_p95=4h", "targt", "unknown key"),
        ("strategies.2.policy=sjf", "strategies.2.policy", "counted from 0"),
        ("strategies.two.policy=sjf", "strategies.two.policy", "counted from 0"),
        ("strategies.0.policy=lifo", "strategies.0.policy", "unknown queue policy"),
        ("horizon", None, "KEY=VALUE"),
        ("=3", None, "KEY=VALUE"),
        ("name=[a", "name", "not valid YAML"),
        ("name=*x", "name", "aliases"),
        ("extends=other.yaml", "extends", "in a file only"),
    ],
)
def test_a_wrong_setting_is_told_as_such(setting, key, rule):
    problem = fault(SMALL, setting)
    assert (problem.file, problem.line, problem.key) == ("--set", None, key)
    assert rule in problem.rule


# --- traces


def test_a_trace_stands_beside_the_file_that_names_it(tmp_path):
    folder = write(tmp_path, deep__base=REPLAY, over="extends: deep/base.yaml\n")
    (folder / "deep" / "t.csv").write_text(TRACE)
    question = load(folder / "over.yaml")
    assert [row.gpus for row in question.trace] == [1, 2]
    assert load(folder / "deep" / "base.yaml").trace == question.trace
    (folder / "copy.yaml").write_text(dump(question.scenario))
    assert load(folder / "copy.yaml").scenario == question.scenario


def test_a_missing_trace_is_told_at_its_key_with_the_files_that_are_there(tmp_path):
    write(tmp_path, one=REPLAY)
    (tmp_path / "tt.csv").write_text(TRACE)
    (problem,) = file_faults(tmp_path / "one.yaml")
    assert (problem.line, problem.key, problem.value, problem.known) == (
        5,
        "workload.trace.file",
        "t.csv",
        ("tt.csv",),
    )
    assert "in a file" in fault(REPLAY).rule


def test_faults_of_the_trace_and_of_the_scenario_come_together(tmp_path):
    write(tmp_path, one=REPLAY.replace("count: 2", "count: 0").replace("A100-40G", "A100"))
    (tmp_path / "t.csv").write_text(TRACE + "7,0,60,\n")
    found = file_faults(tmp_path / "one.yaml")
    assert [(problem.line, problem.key) for problem in found] == [
        (5, "workload.trace.runtime_gpu"),
        (17, "strategies.0.leases.0.count"),
        (4, "row 3, gpus"),
    ]
    assert found[2].file == str(tmp_path / "t.csv")


def test_an_unknown_card_is_told_with_its_row(tmp_path):
    write(tmp_path, one=REPLAY)
    (tmp_path / "t.csv").write_text(TRACE.replace("A100-40G", "A100"))
    (problem,) = file_faults(tmp_path / "one.yaml")
    assert (problem.line, problem.key, problem.value) == (2, "row 1, gpu", "A100")
    assert "A100-40G" in problem.known


def test_an_empty_trace_is_refused(tmp_path):
    write(tmp_path, one=REPLAY)
    (tmp_path / "t.csv").write_text("submit_s,gpus,runtime_s\n")
    assert "empty" in file_faults(tmp_path / "one.yaml")[0].rule


# --- calibration


def test_a_calibration_file_is_looked_for_beside_the_scenario(tmp_path):
    write(tmp_path, one=SMALL + "performance: ours.yaml\n", ours="x: 1\n", two=SMALL)
    assert load(tmp_path / "one.yaml").performance_source == str(tmp_path / "ours.yaml")
    assert load(tmp_path / "two.yaml").performance_source == "measured"
    assert load_text(SMALL, ["performance=vendor"]).performance_source == "vendor"
    assert "measured or vendor" in fault(SMALL, "performance=ours.yaml").rule


# --- writing


def test_a_dump_loads_to_the_same_scenario_and_names_the_schema():
    text = SMALL.replace(
        "plan: monthly", "plan: monthly\n        price: 2799.95\n        end: 2026-05-01T12:00"
    )
    text = text.replace("samples: 1000", "samples: {choice: {values: [1, 2.5]}, max: 2}").replace(
        "name: small", "name: '四卡: #1?'\nreliability: {events: [{at: 36h, offer: h100-mig, down: 90min}]}"
    )
    scenario = load_text(text).scenario
    written = dump(scenario)
    assert written.startswith("# yaml-language-server: $schema=scenario.schema.json\n")
    assert load_text(written).scenario == scenario
    assert "null" not in written
    assert "price: 2799.95" in written
    assert dump(load_text(written).scenario) == written


def test_a_question_travels_to_a_worker():
    question = load_text(SMALL)
    assert pickle.loads(pickle.dumps(question)) == question


def test_all_texts_of_one_error_are_lines_for_people():
    with pytest.raises(InputError) as raised:
        load_text(SMALL, ["horizon=0d", "name="])
    lines = str(raised.value).splitlines()
    assert lines[0] == "2 problems:" or len(lines) == 1
    assert "Traceback" not in str(raised.value)
