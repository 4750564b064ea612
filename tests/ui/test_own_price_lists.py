"""A price list of one's own: uploaded beside the question, checked, and its offers stand in the forms."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.load import load
from sim.ui.question_edits import encoded
from sim.ui.question_store import file_of

ROOT = Path(__file__).parents[2]
PAGE = str(ROOT / "sim" / "ui" / "scripts" / "question.py")
LIST = (ROOT / "scenarios" / "prices" / "two-sellers.yaml").read_bytes()
OFFER = "f:strategies.0.leases.0.offer"
LEASE = ["strategies", 0, "leases", 0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped questions."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _page(edits: list[object] | None = None, **address: str) -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=60)
    if edits:
        page.query_params["edits"] = encoded(edits)
    for name, value in address.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def _use(page: AppTest, name: str, data: bytes) -> AppTest:
    page.file_uploader(key="prices-file").set_value((name, data, "application/yaml"))
    page.run()
    page.button(key="prices-use").click().run()
    assert not page.exception
    return page


def _errors(page: AppTest) -> str:
    return "\n".join(str(one.value) for one in page.error).replace("\\", "")


def _asked(page: AppTest) -> str:
    found = page.query_params["question"]
    return found if isinstance(found, str) else found[0]


def test_its_offers_stand_in_the_box_and_edits_stay(folder: Path) -> None:
    page = _use(_page([[["horizon"], "200d"]]), "mine.yaml", LIST)
    assert not _errors(page)
    assert page.selectbox(key=OFFER).options[:2] == [
        "A100 40G node of seller North (example) (north-a100)",
        "A100 80G by the hour of seller South (example) (south-a100)",
    ]
    page.selectbox(key=OFFER).set_value("north-a100").run()
    assert not page.exception
    assert not _errors(page)
    edits = page.query_params["edits"]
    assert edits, "the horizon, and now the offer, stay edits of the question"
    captions = "\n".join(str(one.value) for one in page.caption).replace("\\", "")
    assert "This question reads mine.yaml: A100 40G node of seller North (example) (north-a100)" in captions
    page.selectbox(key="f:strategies.0.leases.0.price:kind").set_value("#number").run()
    assert page.number_input(key="f:strategies.0.leases.0.price").value == 2600
    file = file_of(_asked(page))
    assert file is not None
    kept = load(file)
    assert kept.scenario.catalog == "mine.yaml"
    assert kept.catalog.offers["north-a100"].price.low == 2600


def test_an_unknown_offer_says_the_way_and_the_list_mends_it(folder: Path) -> None:
    page = _page([[[*LEASE, "offer"], "north-a100"]])
    assert "Unknown offer." in _errors(page)
    told = [str(one.value).replace("\\", "") for one in page.info]
    assert "No price list has it. With 'A price list of my own' below," in "\n".join(told)
    assert page.get("download_button")[0].proto.label == "Download an example"
    page = _use(page, "mine.yaml", LIST)
    assert not _errors(page)
    assert page.selectbox(key=OFFER).value == "north-a100"


def test_a_list_with_a_mistake_is_refused_with_its_line(folder: Path) -> None:
    page = _page()
    page = _use(page, "mine.yaml", LIST.replace(b"low: 2600", b"low: 0"))
    assert "mine.yaml:18" in _errors(page)
    assert "question" not in page.query_params
    page = _use(_page(), "mine.yaml", LIST.replace(b"A100-80G\n", b"RTX9999\n"))
    assert "RTX9999" in _errors(page)
    page = _use(_page(), "mine.yaml", b"x: " + b"9" * 300_000)
    assert "at most 256 kB" in _errors(page)


@pytest.mark.parametrize("name", ["scenario.yaml", "../../up.yaml", "replay.csv.yaml"])
def test_names_of_lists_harm_nothing(folder: Path, name: str) -> None:
    page = _use(_page(question="replay"), name, LIST)
    assert not _errors(page)
    file = file_of(_asked(page))
    assert file is not None
    question = load(file)
    assert "north-a100" in question.catalog.offers
    assert len(question.trace) == len(load("scenarios/replay.yaml").trace)


def test_in_chinese(folder: Path) -> None:
    page = _page([[[*LEASE, "offer"], "4090"]], lang="zh")
    told = "\n".join(str(one.value).replace("\\", "") for one in page.info)
    assert "报价单里没有这一项。用下方的“使用自己的报价单”" in told
