"""Two runs beside each other on the page `runs`: with something in common, and with nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.experiments.wording import sureness
from sim.ui.metric_words import confidence
from tests.conftest import Outcome

SCRIPT = str(Path(__file__).parents[2] / "sim" / "ui" / "scripts" / "runs.py")

Ask = Callable[..., str]


@pytest.fixture
def ask(two_jobs: Path, monkeypatch: pytest.MonkeyPatch, fleetsim: Callable[..., Outcome]) -> Ask:
    """Compare the small question with these settings; the name of the run."""
    monkeypatch.chdir(two_jobs.parent)

    def compare(*changes: str) -> str:
        words = [word for change in changes for word in ("--set", change)]
        told = fleetsim("compare", two_jobs, *words, "--format", "json", "--jobs", "1")
        assert told.code == 0, told.err
        return "/".join(Path(json.loads(told.out)["folder"]).parts[-2:])

    return compare


def _beside(first: str, second: str, lang: str = "en") -> AppTest:
    page = AppTest.from_file(SCRIPT, default_timeout=60)
    page.query_params["lang"] = lang
    page.run()
    page.selectbox(key="runs-first").select(first)
    page.selectbox(key="runs-second").select(second).run()
    assert not page.exception
    return page


def _captions(page: AppTest) -> list[str]:
    return [one.value.replace("\\", "") for one in page.caption]


def test_runs_without_a_strategy_in_common_are_said_to_have_none(ask: Ask) -> None:
    first, second = ask(), ask("strategies.0.name=a, b", "strategies.1.name=c")
    page = _beside(first, second)
    assert page.warning[-1].value.startswith("The two runs have no strategy in common")
    titles = [one.value for one in page.subheader]
    assert "Results" in titles
    assert not any("Results that changed" in title for title in titles)
    told = _captions(page)
    assert "Only before: 'one card, annual', 'two cards, monthly'" in told
    assert "Only after: 'a, b', 'c'" in told
    assert not any("the same to the last digit" in text for text in told)
    assert _beside(first, second, "zh").warning[-1].value.startswith("两个运行没有共同的方案")


def test_runs_with_the_same_results_show_no_table_and_promise_none(ask: Ask) -> None:
    """A note in a question's name changes what it is called, and nothing that comes out."""
    page = _beside(ask(), ask("name=Two jobs again"))
    assert any("All " in text and "the same to the last digit" in text for text in _captions(page))
    assert not any("Means with their intervals" in text for text in _captions(page))
    assert not page.warning


def test_one_strategy_in_common_is_set_side_by_side(ask: Ask) -> None:
    page = _beside(ask(), ask("strategies.1.name=another", "strategies.0.leases.0.count=3"))
    assert not page.warning
    assert set(page.dataframe[2].value["Strategy"]) == {"one card, annual"}
    assert "Only after: 'another'" in _captions(page)


def test_confidence_is_said_as_on_the_command_line(ask: Ask) -> None:
    page = _beside(ask(), ask("strategies.1.name=c"))
    assert "Confidence > 99.9 %" in _captions(page)
    assert [confidence(value) for value in (None, 0.5, 0.967, 0.9949, 0.9986, 1.0)] == [
        "not known", "50 %", "97 %", "99.4 %", "99.8 %", "> 99.9 %",
    ]  # fmt: skip
    assert confidence(0.97) == sureness(0.97)
