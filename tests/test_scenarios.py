"""The shipped scenarios and their schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from sim.catalog import load_catalog
from sim.decisions.policies import POLICIES
from sim.load import dump, json_schema, load, load_text, schema_text
from sim.load_tree import read_tree
from sim.streams import Streams
from sim.units import DAY
from sim.workload import generate
from tests.load_helpers import SMALL

FOLDER = Path(__file__).parent.parent / "scenarios"
FILES = sorted(FOLDER.glob("*.yaml"))
NAMES = {file.stem for file in FILES}


@pytest.fixture(scope="module")
def validator():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def plain(text: str):
    return read_tree(text, "t.yaml").plain()


def test_the_questions_of_the_articles_are_there():
    wanted = {"four-to-eight", "annual-or-monthly", "three-teams", "probe-then-scale", "replay"}
    assert wanted <= NAMES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_scenario_loads_names_its_schema_and_is_valid_by_it(file, validator):
    text = file.read_text(encoding="utf-8")
    assert text.splitlines()[0] == "# yaml-language-server: $schema=scenario.schema.json"
    question = load(file)
    validator.validate(plain(text))
    written = dump(question.scenario)
    validator.validate(plain(written))
    assert load_text(written, folder=FOLDER).scenario == question.scenario
    assert generate(question.scenario, question.trace, Streams(42)).jobs


def test_four_to_eight_is_a_year_of_at_least_fifteen_jobs_a_day():
    question = load(FOLDER / "four-to-eight.yaml")
    assert question.scenario.horizon_us == 365 * DAY
    counts = [len(generate(question.scenario, (), Streams(42, k)).jobs) for k in range(3)]
    assert min(counts) >= 15 * 365
    assert [s.leases[0].offer for s in question.scenario.strategies[:4]] == [
        "a100-40g-custom",
        "a100-40g-custom",
        "a100-40g-8x",
        "a100-40g-custom",
    ]
    assert question.scenario.strategies[3].burst is not None


def test_the_committed_schema_is_the_one_that_the_code_makes():
    assert (FOLDER / "scenario.schema.json").read_text(encoding="utf-8") == schema_text()


def test_the_schema_knows_the_names_of_the_tables_and_defaults_as_people_write_them():
    schema, catalog = json_schema(), load_catalog()
    lease = schema["$defs"]["Lease"]["properties"]
    # Names of the catalogue are offered, and others allowed: a price list of one's own may have them.
    assert lease["offer"]["anyOf"] == [{"enum": list(catalog.offers)}, {"type": "string"}]
    models = schema["$defs"]["JobClass"]["properties"]["model"]["anyOf"]
    assert models == [{"enum": list(catalog.models)}, {"type": "string"}]
    assert schema["$defs"]["Strategy"]["properties"]["policy"]["enum"] == list(POLICIES)
    assert "none" in schema["$defs"]["Reliability"]["properties"]["profile"]["enum"]
    assert schema["$defs"]["Checkpoint"]["properties"]["every"]["default"] == "20min"
    assert schema["$defs"]["Delay"]["properties"]["median"]["default"] == "3min"
    assert schema["properties"]["experiment"]["default"]["warm_up"] == "0s"
    assert "GPU" not in json.dumps(schema["title"])


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (SMALL, True),
        ("extends: four-to-eight.yaml\n", True),
        ("extends: replay.yaml\nworkload: {trace: {restart: 5min}}\n", True),
        ("name: x\n", False),
        (SMALL.replace("count: 2", "cuont: 2"), False),
        (SMALL.replace("a100-40g-custom", "mine"), True),  # the loader asks its catalogue
        (SMALL.replace("monthly", "weekly"), False),
        (SMALL.replace("plan: monthly", "plan: monthly\n        price: 2799.95"), True),
        (SMALL.replace("offer: h100-mig", "offer: 8"), False),
    ],
)
def test_an_editor_is_told_right_from_wrong(text, fits, validator):
    assert validator.is_valid(plain(text)) is fits
