"""docs/experiments.md: its scenario runs and says what the page says; its tables are those of the program."""

import re
from pathlib import Path

from sim.experiments.compare import compare
from sim.load import load_text
from sim.model.uncertain import NAMED_INPUTS, Uncertain

PAGE = (Path(__file__).parents[1] / "docs" / "experiments.md").read_text(encoding="utf-8")


def test_the_table_of_inputs_is_that_of_the_program():
    _, _, after = PAGE.partition("<!-- table: inputs -->")
    rows = re.findall(
        r"^\| `(\w+)` \| (.+?) \| ?(\S*?) ?\|$", after.split("| distribution |")[0], re.MULTILINE
    )
    assert {name: (means, unit) for name, means, unit in rows} == NAMED_INPUTS


def test_the_distributions_of_the_page_are_read():
    import ruamel.yaml

    yaml = ruamel.yaml.YAML(typ="safe")
    rows = re.findall(r"^\| ([a-z-]+) \| `(\{.+?\}\}|\{validation: true\})`", PAGE, re.MULTILINE)
    kinds = [Uncertain.model_validate(yaml.load(text)).kind for _, text in rows]
    assert kinds == ["uniform", "triangular", "normal", "lognormal", "choice", "validation"]


def test_the_scenario_of_the_page_runs_as_it_says():
    text = re.search(r"<!-- scenario: uncertain -->\n```yaml\n(.*?)```", PAGE, re.DOTALL)[1]
    found = compare(load_text(text, ["experiment.replications=3", "horizon=20d"]))
    assert [one.key for one in found.doubt.inputs] == [
        "demand",
        "run_time",
        "workload.classes.0.samples.lognormal.median",
    ]
    assert found.doubt.pairs == 3
    assert any("last three years" in line for line in found.assumptions)
    assert load_text(text).scenario.experiment.replications == 30
