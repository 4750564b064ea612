"""Owning beside renting: each side says its cards, in amber where they are not the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.ui.question_edits import encoded

ROOT = Path(__file__).parents[2]
PAGE = str(ROOT / "sim" / "ui" / "scripts" / "finance.py")
RTX = [[["strategies", 0, "leases", 0, "offer"], "rtx3090-24g-cloud"]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shipped questions."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _page(rent: str, edits: list[object] | None = None, lang: str = "en") -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["lang"] = lang
    if edits:
        page.query_params["edits"] = encoded(edits)
    page.session_state["finance_part"] = "owning"
    page.session_state["finance_rent_offer"] = rent
    page.run()
    assert not page.exception
    return page


def _of(boxes: object) -> str:
    return "\n".join(str(one.value) for one in boxes).replace("\\", "")  # type: ignore[attr-defined]


def test_the_same_cards_stand_in_green_with_their_number(folder: Path) -> None:
    """800,000 CNY of the illustration over its eight cards is 100,000 a card."""
    page = _page("a100-40g-custom")
    told = _of(page.success)
    assert (
        "Owned: 8 × NVIDIA A100 40 GB SXM4, 100,000 CNY a card. Rented: 8 × NVIDIA A100 40 GB SXM4." in told
    )
    assert "do not have the same cards" not in told
    assert not page.warning


def test_other_cards_stand_in_amber(folder: Path) -> None:
    page = _page("rtx3090-24g-cloud", RTX)
    assert not page.success
    told = _of(page.warning)
    assert "Rented: 8 × NVIDIA RTX 3090 24 GB" in told
    assert "The two sides do not have the same cards" in told
    page.selectbox(key="finance_own_card").set_value("RTX3090").run()
    told = _of(page.warning)
    assert "do not have the same cards" not in told
    assert (
        "The price of the machines, 800,000 CNY, is still the illustration of 8 × NVIDIA A100 40 GB" in told
    )
    page.number_input(key="finance_own_capital_illustration").set_value(120_000.0).run()
    assert not page.warning
    assert "Owned: 8 × NVIDIA RTX 3090 24 GB" in _of(page.success)


def test_more_rented_cards_than_owned_stand_in_amber(folder: Path) -> None:
    """Four owned cards against one machine of eight."""
    page = _page("a100-40g-8x")
    assert not page.warning
    page.number_input(key="finance_own_cards_illustration").set_value(4.0).run()
    told = _of(page.warning)
    assert "Owned: 4 × NVIDIA A100 40 GB SXM4, 200,000 CNY a card. Rented: 8 ×" in told
    assert "The two sides do not have the same cards" in told
    assert "is still the illustration of 8 ×" in told


def test_in_chinese(folder: Path) -> None:
    told = _of(_page("rtx3090-24g-cloud", RTX, "zh").warning)
    assert "租用：8 × NVIDIA RTX 3090 24 GB" in told
    assert "两边的卡不相同" in told
