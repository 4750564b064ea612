"""Warnings of a comparison on the page: beside the answer, one box a kind; a time too short for contracts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sim.catalog import load_catalog
from sim.cli import main
from sim.experiments.outlasting import outlasting
from sim.metrics import METRICS
from sim.ui.cautions import too_short
from sim.ui.language import catalogue
from sim.ui.names import fleet_names
from sim.ui.told import CONDITIONS, in_words
from sim.units import DAY
from tests.ui.study_cases import make_home, page, texts

ROOT = Path(__file__).parents[2]

FOUR_WEEKS = """\
name: Four weeks
start: 2026-01-01
timezone: UTC
horizon: 28d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300, team: service,
       samples: {lognormal: {median: 40000, sigma: 0.8}}, rate: 2/day}
target: {wait_p95: 4h, on_time: 0.95}
strategies:
  - name: two by the year
    leases: [{offer: a100-40g-custom, count: 2, plan: annual}]
  - name: two by the month
    leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]
experiment: {replications: 2, seed: 7}
"""
"""Two cards do for these jobs. Twelve months are owed of the annual contract, one of the monthly one."""


def _run(*words: str) -> None:
    with pytest.raises(SystemExit) as ending:
        main([*words, "--jobs", "1"])
    assert not ending.value.code


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with four weeks, compared and searched by the command line."""
    folder = make_home(tmp_path_factory.mktemp("cautions"))
    file = folder / "scenarios" / "small.yaml"
    file.write_text(FOUR_WEEKS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _run("compare", "scenarios/small.yaml")
        _run("recommend", "scenarios/small.yaml", "--cards", "1..3", "--confidence", "0.8")
    return folder


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def _document(home: Path, name: str) -> dict[str, Any]:
    found = sorted(home.glob(f"outputs/four-weeks/*/{name}.json"))
    document: dict[str, Any] = json.loads(found[0].read_text(encoding="utf-8"))
    return document


def test_a_decision_that_the_short_time_makes_is_in_amber_with_the_reason_below(here: Path) -> None:
    found = page("compare").run()
    assert not found.exception
    said = [one.value.replace("\\", "") for one in found.warning]
    assert not found.success
    assert said[0].startswith("**Rent 'two by the month'**")
    assert said[1].startswith("**Too short a time to compare contracts fairly.** 28.0 days are simulated")
    # The year: 2 x 26,880, of which 28 days of 365 are 4,124; the month: 2 x 2,800, 28 days of 31 are 5,058.
    assert "**two by the year**: 49,636 CNY owed after it, 4,124 CNY for the time itself" in said[1]
    assert "**two by the month**: 542 CNY owed after it, 5,058 CNY for the time itself" in said[1]
    assert "page 'Workload'" in said[1]


def test_warnings_of_one_kind_are_one_box_with_all_its_strategies(here: Path) -> None:
    found = page("compare").run()
    boxes = [one.value.replace("\\", "") for one in found.warning if "is not judged" in one.value]
    # No job of these has a deadline, whatever the strategy.
    assert boxes == [
        "**two by the year; two by the month**: Done on time is not judged, for no job counts towards it"
    ]


def test_the_question_page_does_not_show_it_in_green_either(here: Path) -> None:
    found = page("question").run()
    assert not found.exception
    assert not found.success
    assert [one for one in found.warning if "Too short a time" in one.value]


def test_the_cheapest_fleet_says_that_annual_contracts_were_not_compared(here: Path) -> None:
    document = _document(here, "recommendation")
    assert document["recommendation"]["plan"] == "monthly"
    annual = [option for option in document["options"] if option["plan"] == "annual"]
    assert not any(option["replications"] for option in annual), "they lost by money alone"
    found = page("sensitivity").run()
    assert not found.exception
    assert not found.success
    said = [one.value.replace("\\", "") for one in found.warning]
    assert said[0].startswith("**Rent ")
    assert "(28.0 days) is shorter than some plans that were searched bind: annual" in said[1]
    assert [one for one in said if "Done on time is not judged" in one]
    assert [one for one in found.expander if one.label.startswith("Assumptions (")]
    assert "wait_p95" not in texts(found)


def test_the_command_line_says_so_beside_its_answer(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    _run("recommend", "scenarios/small.yaml", "--cards", "1..3", "--confidence", "0.8")
    said = " ".join(capsys.readouterr().out.split())
    assert "The horizon, 28d, is shorter than these plans bind: annual." in said
    assert said.index("these plans bind") < said.index("Options considered")


@pytest.mark.parametrize(
    ("days", "plans"),
    [(28, ("annual", "quarterly")), (83, ("annual",)), (82, ("annual", "quarterly")), (365, ()), (332, ())],
)
def test_a_plan_outlasts_a_time_that_it_goes_on_for_more_than_a_tenth_after(
    days: int, plans: tuple[str, ...]
) -> None:
    # A quarter has 91.25 days: 1.1 x 82 = 90.2, 1.1 x 83 = 91.3; a year 365: 1.1 x 332 = 365.2.
    assert outlasting(["hourly", "monthly", "annual", "quarterly"], days * DAY) == plans


def test_only_a_strategy_that_may_be_rented_makes_the_decision_doubtful() -> None:
    def told(status: str) -> dict[str, Any]:
        return {
            "strategies": [{"name": "a", "target": {"status": status}}],
            "warnings": [{"kind": "short horizon", "strategy": "a", "text": "t"}],
        }

    assert too_short(told("met"))
    assert too_short(told("unsure"))
    assert not too_short(told("missed"))
    assert not too_short({**told("met"), "warnings": []})


def test_searched_fleets_are_called_by_names_that_tell_them_apart() -> None:
    def option(policy: str, burst: str = "") -> dict[str, Any]:
        return {
            "strategy": f"8 x a100-40g-8x, annual, {policy}{burst}", "offer": "a100-40g-8x", "units": 1,
            "cards": 8, "plan": "annual", "policy": policy, "burst": bool(burst),
        }  # fmt: skip

    catalog = load_catalog()
    alike = fleet_names([option("fifo"), option("fifo", ", burst h100-mig")], catalog)
    assert list(alike.values()) == [
        "1 × 8 x A100 40G machine, annual",
        "1 × 8 x A100 40G machine, annual, with bursts of H100 by the hour (one whole card as 7g.80gb)",
    ]
    short = fleet_names([option("fifo"), option("fifo", ", burst h100-mig")], catalog, short=True)
    assert list(short.values()) == [
        "1 × 8 x A100 40G machine, annual",
        "1 × 8 x A100 40G machine, annual, with cards by the hour",
    ]
    # Two kinds of cards by the hour: what would be called alike keeps the name of the search.
    bursts = [option("fifo", f", burst {number} h100-mig") for number in (1, 2)]
    assert list(fleet_names(bursts, catalog, short=True).values()) == [one["strategy"] for one in bursts]
    several = fleet_names([option("fifo"), option("fair")], catalog)
    assert list(several.values()) == [
        "1 × 8 x A100 40G machine, annual, first come, first served",
        "1 × 8 x A100 40G machine, annual, fair share",
    ]


def test_lines_of_a_target_are_called_by_the_names_of_their_metrics() -> None:
    known = {text for key, text in catalogue("en").items() if key.startswith("saidof.metric.")}
    assert known == CONDITIONS.keys()
    assert set(CONDITIONS.values()) <= METRICS.keys()
    assert in_words("wait_p95 7.3 h, limit 4.0 h") == "Wait, 95th percentile 7.3 h, limit 4.0 h"
    assert in_words("smaller than a, b, which misses the target", {"a, b": "one card"}) == (
        "smaller than one card, which misses the target"
    )
    assert in_words("wait_p95 of nobody's template") == "wait_p95 of nobody's template"
