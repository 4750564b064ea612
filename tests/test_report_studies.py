"""Pages of sweeps and sensitivity studies: whole, well-formed, escaped, from their folders alone."""

import dataclasses
import json
import re
import shutil

import pytest

from sim.cli import main
from sim.errors import InputError
from sim.experiments.run_study import open_study
from sim.report.page_studies import study_page
from tests.test_report_page import HOSTILE, Reader

SCENARIO = """\
name: 'Which <b>fleet</b> & why?'
start: 2026-01-30
timezone: UTC
horizon: 20d
workload:
  classes:
    - {name: "bot<i>", model: qwen-7b, method: lora, mean_tokens: 220, samples: 20000, rate: 30/day}
target: {wait_p95: 2h}
strategies:
  - name: %s
    leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 30min}
  - name: %s
    leases: [{offer: a100-40g-custom, count: 3, plan: quarterly}]
experiment: {replications: 2, seed: 5}
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """A sweep and a sensitivity study, made by the commands."""
    folder = tmp_path_factory.mktemp("studies")
    file = folder / "which.yaml"
    file.write_text(SCENARIO % tuple(json.dumps(name) for name in HOSTILE[:2]), encoding="utf-8")
    out = ["--out", str(folder / "out"), "--jobs", "1"]
    for command in (
        ["sweep", str(file), "--vary", "workload.classes.0.rate=10/day,30/day", *out],
        ["sensitivity", str(file), "--replications", "2", "--range", "demand=0.5..1.5", "--draws", "3", *out],
    ):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert not ended.value.code
    return folder / "out"


def folder_of(outputs, kind):
    (found,) = outputs.glob(f"*/{kind}-*")
    return found


@pytest.fixture(params=["sweep", "sensitivity"])
def study(request, outputs):
    return open_study(folder_of(outputs, request.param), request.param)


def test_the_page_is_well_formed_and_asks_for_nothing(study):
    html = study_page(study)
    read = Reader(html)
    headings = [int(tag[1]) for tag in read.tags if re.fullmatch("h[1-6]", tag)]
    assert headings.count(1) == 1
    ids = read.values("id")
    assert {f"#{key}" for key in ids} == set(read.values("href"))
    assert all(source.startswith("data:image/png") for source in read.values("src"))
    assert len(read.values("src")) == len(study.charts) > 0
    assert not {"script", "link", "iframe"} & {*read.tags}
    assert "onerror" not in " ".join(name for _, name, _ in read.attributes)
    for name in HOSTILE[:2]:
        assert name not in html
        assert " ".join(name.split()) in read.said
    assert html == study_page(study)


def test_a_sweep_has_its_cells(outputs):
    study = open_study(folder_of(outputs, "sweep"), "sweep")
    said = Reader(study_page(study)).said
    assert "2 cells of workload.classes.0.rate; 2 replications of each strategy" in said
    for cell in study.document["cells"]:
        assert cell["reason"].split(",")[0].strip() in said
        assert f"{cell['recommendation'] or cell['nearest']}".split(" ")[0] in said
    assert "30/day" in said
    assert "Recommended in each cell" in said


def test_a_sensitivity_study_has_its_inputs_and_flips(outputs):
    study = open_study(folder_of(outputs, "sensitivity"), "sensitivity")
    said = Reader(study_page(study)).said
    for one in study.document["inputs"]:
        assert one["input"] in said
        assert one["why"] in said
    for flip in study.document["flips"]:
        assert f"{flip['input']}: at {flip['value']:.4g} {flip['unit']}" in said
    assert "Names are those of --range" in said
    assert "given with --range" in said
    assert "Luck and doubt about inputs" in said


def test_the_names_of_inputs_are_those_that_range_takes(outputs, fleetsim, tmp_path):
    file = outputs.parent / "which.yaml"
    done = fleetsim("sensitivity", file, "--replications", "1", "--out", tmp_path / "own", "--jobs", "1")
    assert done.code == 0, done.err
    table = done.out[done.out.index("Input") : done.out.index("Where the decision flips")]
    shown = re.findall(r"^(\w+) +\S", table, re.MULTILINE)[1:]
    assert {"run_time", "demand", "price"} <= set(shown)
    ends = " ".join(f"--range {name}=-5..5000" for name in shown).split()
    refused = fleetsim("sensitivity", file, *ends, "--out", tmp_path)
    assert "not among those of the scenario" not in refused.err
    assert "running time" not in table


def test_the_command_writes_it(study, outputs, fleetsim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = study.folder.name
    done = fleetsim("report", name, "--out", outputs)
    assert done.code == 0, done.err
    assert "opens without a network" in done.out
    (page,) = tmp_path.glob("*.html")
    assert page.name == f"which-b-fleet-b-why-{name}.html"
    assert page.read_text(encoding="utf-8") == study_page(study)
    shown = json.loads(fleetsim("report", study.folder, "-o", "again.html", "--format", "json").out)
    assert (shown["run"], shown["flags"]) == (name, [])
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()
    refused = fleetsim("report", study.folder, "-o", study.folder / "x.html")
    assert refused.code == 2
    assert "folder of a run" in refused.err


def test_an_altered_study_is_refused(study, tmp_path):
    copy = tmp_path / study.folder.name
    shutil.copytree(study.folder, copy)
    file = copy / f"{study.kind}.json"
    file.write_text(file.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(InputError, match="digest differs"):
        open_study(copy, study.kind)
    shutil.copytree(study.folder, copy, dirs_exist_ok=True)
    (copy / study.charts[0]).write_bytes(b"")
    with pytest.raises(InputError, match="digest differs"):
        study_page(open_study(copy, study.kind))
    with pytest.raises(InputError, match="no such file"):
        study.read("../which.yaml")


def test_a_document_of_another_kind_is_told(study, tmp_path):
    other = dataclasses.replace(study, document={**study.document, "confidence": None})
    with pytest.raises(InputError, match="not that of a run"):
        study_page(other)
