"""A price of one's own says what it is of, begins with the list price, and is asked about when far off."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.ui.question_edits import decoded, edited, encoded, value_at
from sim.ui.question_store import FIRST, shipped, start_tree

ROOT = Path(__file__).parents[2]
PAGE = str(ROOT / "sim" / "ui" / "scripts" / "question.py")
LEASE = ("strategies", 0, "leases", 0)
PRICE = "f:strategies.0.leases.0.price"
RTX = [[[*LEASE, "offer"], "rtx3090-24g-cloud"]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped questions."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _page(edits: list[object], **address: str) -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["edits"] = encoded(edits)
    for name, value in address.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def _warned(page: AppTest) -> list[str]:
    return [str(one.value).replace("\\", "") for one in page.warning]


def _captions(page: AppTest) -> str:
    return "\n".join(str(one.value) for one in page.caption).replace("\\", "")


def _in_hand(page: AppTest) -> dict[str, object]:
    edits = page.query_params["edits"]
    return edited(start_tree(shipped()[FIRST]), decoded(edits if isinstance(edits, str) else edits[0]))


def test_a_fixed_price_begins_with_the_list_price_and_its_unit(folder: Path) -> None:
    """RTX 3090 of the shipped list: 1,750 CNY a month, annual x 0.8 (assumed there)."""
    page = _page(RTX)
    page.selectbox(key=f"{PRICE}:kind").set_value("#number").run()
    assert not page.exception
    assert page.number_input(key=PRICE).label == "Price of one unit and month, CNY"
    assert page.number_input(key=PRICE).value == 1750
    assert value_at(_in_hand(page), (*LEASE, "price")) == 1750
    assert "List price: 1,750 CNY a unit and month. Under the plan 'annual' 0.8 of the price is paid." in (
        _captions(page)
    )
    assert not _warned(page)


def test_an_hourly_price_in_the_box_of_a_month_is_asked_about(folder: Path) -> None:
    """3.2 x 730 h = 2,336 a month, which is near 1,750."""
    page = _page([*RTX, [[*LEASE, "price"], 3.2]])
    assert len(_warned(page)) == 1
    said = _warned(page)[0]
    assert "3.20 CNY a unit and month is far from the list price, 1,750 CNY a unit and month." in said
    assert "If it is meant by the hour, write 2,336 CNY (730 h a month)." in said
    assert "Under the plan 'annual' 0.8 of the price is paid" in said


@pytest.mark.parametrize(("price", "asked"), [(349, True), (350, False), (8750, False), (8751, True)])
def test_far_is_beyond_five_times_either_way(folder: Path, price: float, asked: bool) -> None:
    assert bool(_warned(_page([*RTX, [[*LEASE, "price"], price]]))) is asked


def test_prices_of_bursts_and_of_later_times(folder: Path) -> None:
    """h100-mig: 16.67 to 25 CNY an hour, middle 20.835."""
    burst = {"offer": "h100-mig", "max": 2, "rent_when_wait_over": "2h", "price": 2000}
    later = [{"from": "2026-06-01", "price": 3}]
    page = _page([*RTX, [["strategies", 0, "burst"], burst], [[*LEASE, "prices"], later]])
    assert page.number_input(key="f:strategies.0.burst.price").label == "Price of one unit and hour, CNY"
    dated = page.number_input(key="f:strategies.0.leases.0.prices.0.price")
    assert dated.label == "Price of one unit and month, CNY"
    said = "\n".join(_warned(page))
    assert "2,000 CNY a unit and hour is far from the list price, 16.67–25.00 CNY a unit and hour." in said
    assert "3 CNY a unit and month is far from the list price" in said
    page.button(key="f:strategies.0.leases.0.prices:add").click().run()
    assert value_at(_in_hand(page), (*LEASE, "prices", 1, "price")) == 1750


def test_a_discount_of_the_question_goes_before_the_offers(folder: Path) -> None:
    page = _page([*RTX, [["terms", "discounts"], {"annual": 0.7}], [[*LEASE, "price"], 1750]])
    assert "0.7 of the price is paid" in _captions(page)


def test_an_offer_nobody_knows_has_no_unit(folder: Path) -> None:
    page = _page([[[*LEASE, "offer"], "nobody"], [[*LEASE, "price"], 3.2]])
    assert page.number_input(key=PRICE).label == "Price: value"
    assert not _warned(page)


def test_in_chinese(folder: Path) -> None:
    page = _page([*RTX, [[*LEASE, "price"], 3.2]], lang="zh")
    assert page.number_input(key=PRICE).label == "每单位每月单价（元）"
    assert "每单位每月 3.20 元与标价（每单位每月 1,750 元）相差很大。" in _warned(page)[0]
