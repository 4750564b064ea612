"""The page `runs`: the list, two runs beside each other, files to take along, deletion."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from streamlit.testing.v1 import AppTest

from sim.experiments.stored import open_run
from sim.ui.run_downloads import files_zip, report_html, workbook_xlsx
from sim.ui.runs_diff import key_words
from tests.conftest import Outcome

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "sim" / "ui" / "scripts" / "runs.py")


@pytest.fixture
def two_runs(
    two_jobs: Path, monkeypatch: pytest.MonkeyPatch, fleetsim: Callable[..., Outcome]
) -> tuple[str, str]:
    """Two comparisons below outputs/: as the question says, and with another count and seed."""
    monkeypatch.chdir(two_jobs.parent)
    names = []
    for words in ((), ("--set", "strategies.0.leases.0.count=3", "--seed", "5")):
        told = fleetsim("compare", two_jobs, *words, "--format", "json", "--jobs", "1")
        assert told.code == 0, told.err
        names.append("/".join(Path(json.loads(told.out)["folder"]).parts[-2:]))
    return names[0], names[1]


def _page(lang: str = "en", **query: str) -> AppTest:
    page = AppTest.from_file(SCRIPT, default_timeout=60)
    for name, value in {"lang": lang, **query}.items():
        page.query_params[name] = value
    return page.run()


def test_a_link_of_a_deleted_run_says_so(two_runs: tuple[str, str]) -> None:
    gone = _page(run=f"{two_runs[0].split('/')[0]}/0123456789ab")
    assert not gone.exception
    assert gone.warning[0].value.startswith("The link names a result that is not on this machine")
    assert not _page(run=two_runs[0]).warning


def test_two_runs_differ_as_on_the_command_line(
    two_runs: tuple[str, str], fleetsim: Callable[..., Outcome]
) -> None:
    page = _page()
    assert not page.exception
    assert set(page.dataframe[0].value["Run"]) == {name.split("/")[1] for name in two_runs}
    page.selectbox(key="runs-first").select(two_runs[0])
    page.selectbox(key="runs-second").select(two_runs[1]).run()
    page.toggle(key="runs-all-results").set_value(True).run()
    assert not page.exception
    told = json.loads(fleetsim("runs", "diff", *(f"outputs/{n}" for n in two_runs), "--format", "json").out)
    inputs, results = page.dataframe[1].value, page.dataframe[2].value
    assert len(inputs) == len(told["inputs"])
    assert len(results) == len(told["results"])
    by_input = {row["Input"]: (row["Before"], row["After"]) for _, row in inputs.iterrows()}
    units = next(pair for name, pair in by_input.items() if name.startswith("Strategies › one card, annual"))
    assert units == ("1", "3")
    cost = results[(results["Metric"] == "Committed cost") & (results["Strategy"] == "one card, annual")]
    # Three cards for a year at a fifth off: 3 x 12 x 2,800 x 0.8.
    assert cost[["Before", "After", "Change"]].iloc[0].tolist() == [
        "26,880 CNY", "80,640 CNY", "+53,760 CNY",
    ]  # fmt: skip


def test_nothing_is_deleted_before_it_is_confirmed(two_runs: tuple[str, str]) -> None:
    page = _page("zh")
    assert not page.exception
    page.selectbox(key="runs-pick").select(two_runs[1]).run()
    run = two_runs[1].split("/")[1]
    button = page.button(key=f"runs-delete-{run}")
    assert button.disabled
    page.checkbox(key=f"runs-sure-{run}").check().run()
    page.button(key=f"runs-delete-{run}").click().run()
    assert not page.exception
    assert not Path("outputs", two_runs[1]).exists()
    assert Path("outputs", two_runs[0]).is_dir()
    assert run in page.success[0].value.replace("\\", "")


def test_files_to_take_along_open(two_runs: tuple[str, str]) -> None:
    folder = Path("outputs", two_runs[0])
    stored = open_run(folder)
    with zipfile.ZipFile(io.BytesIO(files_zip(folder))) as archive:
        found = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(found.pop("manifest.json"))
    assert {name: hashlib.sha256(data).hexdigest() for name, data in found.items()} == manifest["files"]
    book = openpyxl.load_workbook(io.BytesIO(workbook_xlsx(stored)), read_only=True)
    assert len(book.sheetnames) > 3
    assert b"two cards, monthly" in report_html(stored)


def test_a_damaged_run_is_named_and_not_opened(two_runs: tuple[str, str]) -> None:
    Path("outputs", two_runs[0], "ledger.csv").unlink()
    page = _page()
    assert not page.exception
    states = dict(zip(page.dataframe[0].value["Run"], page.dataframe[0].value["State"], strict=True))
    assert states[two_runs[0].split("/")[1]].startswith("damaged: it lacks ledger.csv")
    page.selectbox(key="runs-pick").select(two_runs[0]).run()
    assert not page.exception
    assert "runs-open" not in [button.key for button in page.button]


def test_an_empty_folder_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = _page()
    assert not page.exception
    assert "no stored run" in page.info[0].value


def test_inputs_have_names_that_people_use() -> None:
    assert key_words("strategies.0 (4 cards. (a) annual).leases.0.count").startswith(
        "Strategies › 4 cards. (a) annual › "
    )
    assert key_words("--price") == "Price level"
    assert key_words("packages.numpy") == "Package numpy"
    assert "experiment" not in key_words("seed, as run")
