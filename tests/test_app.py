"""The page and the command line: the same messages, the same numbers, the same safe settings."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.cli.app import SAFE_OPTIONS
from sim.ui.jobs import jobs
from sim.ui.safe import literal
from tests.conftest import TWO_JOBS, Outcome

ROOT = Path(__file__).parents[1]
COMPARE = str(ROOT / "sim" / "ui" / "scripts" / "compare.py")


@pytest.fixture
def page(two_jobs: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page `compare` in a folder with one small question."""
    folder = two_jobs.parent / "scenarios"
    folder.mkdir()
    for file in (two_jobs, two_jobs.with_name("two.csv")):
        file.rename(folder / file.name)
    monkeypatch.chdir(two_jobs.parent)
    found = AppTest.from_file(COMPARE, default_timeout=60)
    found.query_params["question"] = "two"
    return found


def _said(parts: object) -> str:
    return "\n".join(str(part.value) for part in parts).replace("\\", "")  # type: ignore[attr-defined]


def test_a_mistake_reads_as_on_the_command_line(page: AppTest, fleetsim: Callable[..., Outcome]) -> None:
    Path("scenarios/two.yaml").write_text(TWO_JOBS.replace("a100-40g-custom", "a100-41g"))
    page.run()
    assert not page.exception
    shown = _said([*page.error, *page.markdown])
    told = fleetsim("validate", "scenarios/two.yaml")
    assert told.code == 2
    line = next(line for line in told.err.splitlines() if "a100-41g" in line)
    assert "a100-41g" in shown
    assert "a100-40g-custom" in shown  # the known names
    assert line.partition("a100-41g")[0].rpartition(":")[2].strip(" '\"") in shown


def test_the_numbers_are_those_of_the_command(page: AppTest, fleetsim: Callable[..., Outcome]) -> None:
    page.run()
    assert not page.exception
    assert "Two jobs, one card" in _said(page.caption)
    assert [one.value for one in page.number_input][:2] == [2, 1]
    page.number_input[1].set_value(7)
    run = next(button for button in page.button if button.label == "Run")
    run.click().run()
    job = jobs().get(page.query_params["job"])
    assert job is not None
    assert job.run.wait(60)
    page.run()
    assert not page.exception
    assert not page.error
    # The address names the run, and no longer the command.
    assert "job" not in page.query_params
    shown = json.loads(Path("outputs", page.query_params["run"], "comparison.json").read_text())
    told = fleetsim("compare", "scenarios/two.yaml", "--seed", "7", "--out", "other", "--format", "json")
    document = json.loads(told.out)
    assert shown == {name: value for name, value in document.items() if name != "folder"}
    assert "two cards, monthly" in _said(page.warning)
    # 2,800 CNY a card and month; a year at a fifth off is owed whole. The second job waits an hour.
    rows = page.dataframe[0].value
    assert list(rows["Committed cost"]) == ["26,880 CNY", "5,600 CNY"]
    # Half of the two jobs wait an hour: the mean is half of it.
    assert list(rows["Wait, mean"]) == ["0.5 h", "0.0 h"] or list(rows["Wait, mean"]) == ["0.5 h", "0 h"]
    differences = page.dataframe[1].value
    assert list(differences["Committed cost"]) == ["-21,280 CNY"]


def test_texts_of_users_stay_as_they_are() -> None:
    assert literal("a*b [c](d) :smile: $x$") == r"a\*b \[c\]\(d\) \:smile\: \$x\$"


def test_the_command_and_the_config_file_give_the_same_safe_settings() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    from_file = []
    for section in ("server", "runner", "global", "browser", "client"):
        for key, value in config[section].items():
            for one in value if isinstance(value, list) else [value]:
                text = str(one).lower() if isinstance(one, bool) else str(one)
                from_file.append(f"--{section}.{key}={text}")
    assert sorted(from_file) == sorted(one for one in SAFE_OPTIONS if not one.startswith("--theme"))
    assert "--server.address=127.0.0.1" in SAFE_OPTIONS
    inside = ROOT / "sim" / ".streamlit" / "config.toml"  # that of an installed page, wherever it is started
    assert inside.read_text(encoding="utf-8") == (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
