"""What people read about windows, reserves and running contracts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from sim.experiments.frames import leases_frame, ledger_frame
from sim.load import json_schema, load
from sim.load_tree import read_tree
from sim.replication import prepare, replicate
from sim.report.explain import find_job, story
from sim.report.history import History
from sim.report.series import paid_money
from tests.conftest import Outcome

KEYS = "reserve: 1, available: 08:00-20:00, started: 2025-12-11"
TEXT = """\
name: keys
start: 2026-01-01
timezone: UTC
horizon: 40d
workload: {trace: {file: jobs.csv, restart: 0s}}
reliability: {profile: none}
strategies:
  - name: one
    leases:
      - {offer: a100-40g-custom, plan: monthly, count: 2, KEYS}
""".replace("KEYS", KEYS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,54000\n")
    found = tmp_path / "keys.yaml"
    found.write_text(TEXT)
    return found


def test_the_story_of_a_job_tells_windows_and_reserve(file: Path) -> None:
    prepared = prepare(load(file))
    result = replicate(prepared, 0, 0)
    told = [event.text for event in story(History(prepared, result), find_job(result, "a")).events]
    assert told[1] == (
        "waits: 0 of 2 cards of a100-40g-custom busy, 1 outside of the windows of their lease, 1 in reserve; "
        "no other job in the queue"
    )
    assert told[2] == "while it waited, the cards worked on nothing; 0.0 % of their time was free"
    assert told[4].startswith("interrupted: the window ended in which its cards may train")


def test_the_tables_have_the_states_and_what_is_sunk(file: Path) -> None:
    asked = load(file)
    result = replicate(prepare(asked), 0, 0)
    frame = leases_frame(result, asked.scenario)
    # forty days of 24 hours, twelve of them away
    assert frame["away_card_h"].tolist() == [480.0, 0.0]
    assert frame["reserved_card_h"].tolist() == [0.0, 960.0]
    assert ledger_frame(result)["sunk"].tolist() == [True, False]
    # 11 December to 11 January is paid; 5,600 CNY on 11 January
    assert paid_money(result, asked.scenario).y.tolist() == [0.0, 5600.0, 5600.0]


def test_the_command_line_shows_away_and_reserved_where_there_are_any(
    file: Path, fleetsim: Callable[..., Outcome]
) -> None:
    shown = fleetsim("run", file, "--strategy", "one")
    assert shown.code == 0
    assert "Away" in shown.out
    assert "Reserved" in shown.out
    document = json.loads(fleetsim("run", file, "--strategy", "one", "--format", "json").out)
    assert [lease["away_card_h"] for lease in document["leases"]] == [480.0, 0.0]
    assert [charge["sunk"] for charge in document["ledger"]["charges"]] == [True, False]
    file.write_text(TEXT.replace(KEYS, "started: 2025-12-11"))
    assert "Away" not in fleetsim("run", file, "--strategy", "one").out


@pytest.mark.parametrize(
    ("keys", "fits"),
    [
        ("available: 08:00-20:00", True),
        ("available: [08:00-12:00, mon-fri 14:00-20:00]", True),
        ("available: 8", False),
        ("reserve: 2", True),
        ("reserve: -1", False),
        ("reliability: used", True),
        ("reliability: new", False),
        ("profile: 3g.40gb", True),
        ("started: 2025-06-01", True),
    ],
)
def test_an_editor_knows_the_keys(keys: str, fits: bool) -> None:
    text = TEXT.replace(KEYS, keys)
    tree = read_tree(text, "keys.yaml").plain()
    assert jsonschema.Draft202012Validator(json_schema()).is_valid(tree) is fits
