"""The page `steps`: money billed exactly, waits from computed points alone, as on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.load import load
from sim.ui import steps_grid
from sim.ui.question_store import start_tree
from sim.ui.steps_answers import grid_of, trimmed
from sim.ui.steps_grid import Choice, bases, grid_file, ledger_of_choice, plans_alike, spec_of
from tests.ui.study_cases import ROOT, amount, asked, finish, make_home, page, texts

BASE = "two cards, annual"
FEW = 4
"""Replications of a point of the grid here."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page computes the grid once, by its button."""
    folder = make_home(tmp_path_factory.mktemp("steps"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(steps_grid, "REPLICATIONS", FEW)
        found = page("steps").run()
        assert not found.exception
        assert "How long jobs wait then is not computed yet" in texts(found)
        assert len(found.metric) == 3
        found.button(key="steps_compute").click().run()
        assert f"--replications {FEW}" in " ".join(finish("steps-grid"))
    return folder


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def test_the_spec_spans_months_sizes_and_growths() -> None:
    question = load(ROOT / "scenarios" / "four-to-eight.yaml")
    spec = spec_of(question, bases(question)[0])
    assert spec.count == 4
    assert 8 in spec.sizes
    assert spec.months == tuple(range(12))
    assert "3%/month" in spec.growths
    dated_or_burst = {"4 custom cards, annual, MIG burst", "4 custom cards, 4 more from July"}
    assert {one.name for one in question.scenario.strategies} - set(bases(question)) == dated_or_burst


def test_money_of_a_step_by_pencil() -> None:
    question = load(ROOT / "scenarios" / "four-to-eight.yaml")
    spec = spec_of(question, bases(question)[0])
    # four for a year and four for another from June: 4 x 26,880 each; of the second, 214 of 365 days accrue
    ledger = ledger_of_choice(question, spec, Choice(8, 5, "3%/month", "annual", "annual"))
    assert float(ledger.committed) == 215_040
    assert float(ledger.cash) == 215_040
    assert float(ledger.accrued) == pytest.approx(107_520 * (1 + 214 / 365), abs=0.01)
    # four more by the month from June to December: 7 x 4 x 2,800
    ledger = ledger_of_choice(question, spec, Choice(8, 5, "3%/month", "annual", "monthly"))
    assert float(ledger.committed) == 107_520 + 7 * 4 * 2_800
    assert plans_alike(question, spec) == ["monthly", "quarterly", "annual"]


def test_only_computed_points_can_be_chosen(here: Path) -> None:
    file = here / "scenarios" / "small.yaml"
    question = load(file)
    spec = spec_of(question, BASE)
    found = page("steps").run()
    sizes, months, growths = (
        found.select_slider(key=f"steps_{key}_{BASE}").options for key in ("size", "month", "growth")
    )
    assert sizes == [str(size) for size in (spec.count, *spec.sizes)]
    assert months == ["2026-01", "2026-02"]
    assert len(growths) == len(spec.growths)
    assert "Nothing is interpolated" in texts(found)


def test_the_answer_is_that_of_the_sweep_and_moves(here: Path) -> None:
    file = here / "scenarios" / "small.yaml"
    question = load(file)
    spec = spec_of(question, BASE)
    place = next(here.glob("outputs/small-team/sweep-*/sweep.json"))
    document = json.loads(place.read_text(encoding="utf-8"))
    grid = grid_of(document, spec)
    assert grid is not None
    assert grid_of(trimmed(document), spec) == grid_of(
        {**document, "cells": trimmed(document)["cells"]}, spec
    )
    found = page("steps").run()
    for size, month in ((4, 1), (3, 0), (2, 0)):
        found.select_slider(key=f"steps_size_{BASE}").set_value(size)
        found.select_slider(key=f"steps_month_{BASE}").set_value(month).run()
        assert not found.exception
        point = grid.at(spec, "0%/month", size, month)
        assert point is not None
        assert found.metric[3].value == f"{point.mean('wait_p95_h'):,.1f} h"
        assert found.metric[4].value == f"{100 * (point.mean('target_met_share') or 0):.0f} %"
        ledger = ledger_of_choice(question, spec, Choice(size, month, "0%/month", "annual", "annual"))
        assert amount(found.metric[1].value) == pytest.approx(float(ledger.committed), abs=0.5)
    found.select_slider(key=f"steps_size_{BASE}").set_value(4)
    found.select_slider(key=f"steps_growth_{BASE}").set_value("6%/month")
    found.segmented_control(key=f"steps_added_{BASE}").set_value("monthly")
    found.segmented_control(key=f"steps_first_{BASE}").set_value("quarterly")
    found.segmented_control(key="steps_basis").set_value("cost").run()
    assert not found.exception
    assert "monthly for the added ones" in texts(found) or "monthly for those beyond" in texts(found)


def test_a_point_is_what_a_comparison_finds(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That point alone by `compare`, on as many replications."""
    file = here / "scenarios" / "small.yaml"
    question = load(file)
    spec = spec_of(question, BASE)
    grid = grid_file(start_tree(file), file.parent, spec, question)
    tree = start_tree(grid)
    tree["strategies"] = [row for row in tree["strategies"] if row["name"] == "4 units from month 1"]
    alone = file.with_name("alone.yaml")
    alone.write_text(json.dumps(tree | {"name": "Alone"}, default=str), encoding="utf-8")
    growth, runs = "workload.growth=3%/month", str(FEW)
    told = asked(capsys, "compare", str(alone), "--set", growth, "--replications", runs, "--jobs", "1")
    (one,) = told["strategies"]
    found = page("steps").run()
    found.select_slider(key=f"steps_size_{BASE}").set_value(4)
    found.select_slider(key=f"steps_month_{BASE}").set_value(1)
    found.select_slider(key=f"steps_growth_{BASE}").set_value("3%/month").run()
    assert found.metric[3].value == f"{one['metrics']['wait_p95_h']['mean']:,.1f} h"
    assert found.metric[4].value == f"{100 * one['metrics']['target_met_share']['mean']:.0f} %"


def test_the_best_month_and_an_exact_run(here: Path) -> None:
    found = page("steps").run()
    found.button(key="steps_find").click().run()
    words = finish("stepup")
    found.button(key="steps_run_exact").click().run()
    finish("steps-exact")
    fresh = page("steps").run()  # another tab: both are found again
    assert not fresh.exception
    place = next(here.glob("outputs/small-team/*/stepup.json"))
    told = json.loads(place.read_text(encoding="utf-8"))
    assert (told["from"], told["to"]) == (words[3], words[5])
    said = texts(fresh)
    chosen = told["chosen"]
    assert chosen is None or f"{chosen['cost_cny']:,.0f} CNY for the time of the question" in said
    assert "3 runs each, seed 7; in brackets the 95 % interval." in said
    assert fresh.button(key="steps_open_run") is not None


def test_in_chinese_and_without_a_fleet_that_grows(here: Path) -> None:
    found = page("steps", "zh").run()
    assert not found.exception
    assert "没有插值" in texts(found)
    text = Path("scenarios/small.yaml").read_text(encoding="utf-8")
    Path("scenarios/hours.yaml").write_text(
        text.replace("a100-40g-custom, count: 2, plan: annual", "h100-mig, count: 2, plan: hourly").replace(
            "a100-40g-custom, count: 3, plan: monthly", "h100-mig, count: 3, plan: hourly"
        ),
        encoding="utf-8",
    )
    found = page("steps")
    found.query_params["question"] = "hours"
    found.run()
    assert not found.exception
    assert "No strategy of the question can grow here" in texts(found)
