"""The examples of docs/sweep-and-sensitivity.md run, and its table is that of the program."""

import re
from pathlib import Path

import pytest

from sim.cli.sweep import values_of
from sim.experiments.knobs_table import KNOBS, knobs_of
from sim.load import load_text

PAGE = (Path(__file__).parents[1] / "docs" / "sweep-and-sensitivity.md").read_text(encoding="utf-8")


def block(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```\w*\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sweep", ["8 cells of", "Recommended in each cell", "sweep.csv"]),
        ("sensitivity", ["Where the decision flips", "demand: given with --range", "tornado.csv"]),
    ],
)
def test_the_commands_of_the_page_run(fleetsim, tmp_path, monkeypatch, command, words):
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(block("scenario: sweep"), encoding="utf-8")
    program, *arguments = block(f"command: {command}").split()
    assert program == "fleetsim"
    done = fleetsim(*arguments, "--jobs", "1")
    assert done.code == 0, done.err
    for word in words:
        assert word in done.out
    (folder,) = Path("outputs/small-team").glob(f"{command}-*")
    assert (folder / "charts").is_dir()


def test_the_table_of_inputs_is_that_of_the_program():
    named = re.findall(r"^\| `(\w+)` \| .+ \| .+ \| .+ \|$", PAGE, re.MULTILINE)
    assert named == list(KNOBS)
    knobs = {knob.name: knob for knob in knobs_of(load_text(block("scenario: sweep")))}
    for name in ("price", "demand", "run_time", "failures"):
        assert f"| {knobs[name].low:g} to {knobs[name].high:g} |" in PAGE


def test_the_values_of_the_page():
    rows = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|$", PAGE, re.MULTILINE))
    assert ", ".join(values_of("1..4", "x")) == rows["1..4"].strip()
    assert [float(value) for value in values_of("0..1:0.25", "x")] == [
        float(value) for value in rows["0..1:0.25"].split(",")
    ]
    assert ", ".join(values_of("2..6:2/day", "x")) == rows["2..6:2/day"].strip()
