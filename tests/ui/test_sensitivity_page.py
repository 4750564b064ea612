"""The page `sensitivity`: its forms make the commands that they say, its views show what documents say."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from sim.ui.jobs import jobs
from sim.ui.recommend_form import recommend_words
from sim.ui.recommend_pareto import pareto_frame
from sim.ui.recommend_view import options_frame
from sim.ui.sensitivity_charts import sobol_frame, tornado_frame
from sim.ui.sensitivity_form import sensitivity_words
from sim.ui.sensitivity_view import diamonds_note, flips_frame
from tests.ui.study_cases import amount, finish, make_home, page, texts

FILE = "scenarios/small.yaml"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which both studies were asked for by the page's buttons."""
    folder = make_home(tmp_path_factory.mktemp("sensitivity"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = page("sensitivity").run()
        assert not found.exception
        assert "No search of this question is stored yet" in texts(found)
        found.slider(key="recommend_cards").set_value((1, 3))
        found.slider(key="recommend_confidence").set_value(80).run()
        found.button(key="recommend_start").click().run()
        words = finish("recommend")
        assert list(words[:8]) == [
            "recommend",
            FILE,
            "--cards",
            "1..3",
            "--burst",
            "as-is",
            "--confidence",
            "0.80",
        ]
        found = page("sensitivity", sensitivity_part="tornado").run()
        assert "No study of this question is stored yet" in texts(found)
        found.number_input(key="sensitivity_runs").set_value(2)
        found.selectbox(key="sensitivity_draws").set_value(20)
        low, high = (f"sensitivity_{end}_demand_{FILE}" for end in ("low", "high"))
        found.number_input(key=low).set_value(0.5)
        found.number_input(key=high).set_value(2.0).run()
        found.button(key="sensitivity_start").click().run()
        words = finish("sensitivity", 300)
        asked = "--replications 2 --draws 20 --range demand=0.5..2 --format json"
        assert " ".join(words[2:10]) == asked
    return folder


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


def _document(home: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(next(home.glob(f"outputs/small-team/*/{name}.json")).read_text())
    return found


def test_the_recommendation_is_that_of_the_document(here: Path) -> None:
    told = _document(here, "recommendation")
    found = page("sensitivity").run()
    assert not found.exception
    said = texts(found)
    chosen = told["recommendation"]
    assert chosen is not None
    name = f"{chosen['units']} × A100 40G custom node, {chosen['plan']}"
    assert f"Rent {name}" in said
    cost = told["comparison"]["strategies"][0]["metrics"]["committed_cost_cny"]["mean"]
    assert f"{cost:,.0f} CNY committed" in said
    assert f"Options considered: {len(told['options'])}" in said
    table = found.dataframe[0].value
    assert len(table) == len(told["options"])
    assert table["Option"][0] == name
    assert table["Result"][0] == "chosen"
    # A person reads names of fleets and figures, not ids.
    reasons = {
        f"{option['units']} × A100 40G custom node, {option['plan']}": option["reason"]
        for option in told["options"]
    }
    for own, why in zip(table["Option"], table["Why"], strict=True):
        assert not re.search("wait_p95|a100-40g", why)
        found_figures, asked_figures = (
            re.findall(r"\d[\d,.]* (?:CNY|h)\b", text) for text in (why, reasons[own])
        )
        assert found_figures == asked_figures
    values = {one.label: one.value for one in found.metric}
    assert values["Runs made"] == f"{told['runs']['simulated']:,}"
    if told["headroom"] is not None:
        assert values["Demand may grow to"] == f"{told['headroom']['meets']:.3g} times"
    if told["marginal"] is not None:
        assert amount(values["One unit more costs"]) == told["marginal"]["committed_cost_cny"]["mean"]
    found.multiselect(key="recommend_only").set_value(["chosen"]).run()
    assert len(found.dataframe[0].value) == 1


def test_points_of_the_front_are_those_of_the_document(here: Path) -> None:
    told = _document(here, "recommendation")
    frame = pareto_frame(told)
    means = {
        one["name"]: (one["metrics"]["committed_cost_cny"]["mean"], one["metrics"]["wait_p95_h"]["mean"])
        for one in told["comparison"]["strategies"]
    }
    assert set(frame["name"]) <= set(means)
    for row in frame.to_dict("records"):
        assert (row["cost"], row["wait"]) == means[row["name"]]
    assert list(options_frame(told)["Result"]).count("chosen") == 1


def test_the_study_is_that_of_the_document(here: Path) -> None:
    told = _document(here, "sensitivity")
    found = page("sensitivity", sensitivity_part="tornado").run()
    assert not found.exception
    said = texts(found)
    assert told["strategy"] in said
    for name in ("Luck, and doubt about the inputs", "Where the decision flips"):
        assert name in said
    names = {one["input"]: one["input"] for one in told["inputs"]}
    frame = tornado_frame(told, "metric", names)
    for row in frame.to_dict("records"):
        one = next(one for one in told["inputs"] if one["input"] == row["input"])
        end = "low" if row["end"] == "input at its low end" else "high"
        assert row["value"] == one[f"at_{end}"]["mean"]
        assert row["at"] == one[end]
    assert len(flips_frame(told)) == len(told["flips"])
    assert told["sobol"] is None
    if told["base_difference"] is not None:
        found.segmented_control(key="sensitivity_view").set_value("metric").run()
        assert not found.exception


SHARES: dict[str, Any] = {
    "points": 64, "samples": 16, "assumptions": [],
    "results": [
        {"of": "two cards, annual", "mean": 53_760.0, "standard_deviation": 1_000.0,
         "inputs": [
             {"input": "price", "first": 0.6, "total": 0.7, "first_half_width": 0.1, "total_half_width": 0.2},
             {"input": "discount", "first": 0.2, "total": 0.8, "first_half_width": 0.05,
              "total_half_width": 0.1},
         ]},
        {"of": "three cards, monthly", "mean": 1.0, "standard_deviation": 0.0, "inputs": []},
    ],
}  # fmt: skip
"""Two inputs with first-order and total shares; and a figure that no input moves."""


def test_shares_of_the_doubt_are_drawn_from_the_document(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = sobol_frame(SHARES["results"][0], {"price": "price level", "discount": "discounts"})
    # the larger total first, each with its first-order share before it
    assert list(frame["input"]) == ["discounts", "discounts", "price level", "price level"]
    assert list(frame["value"]) == [0.2, 0.8, 0.6, 0.7]
    assert list(frame["low"]) == pytest.approx([0.15, 0.7, 0.5, 0.5])
    assert list(frame["high"]) == pytest.approx([0.25, 0.9, 0.7, 0.9])
    shutil.copytree(home, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    place = next(Path().glob("outputs/small-team/*/sensitivity.json"))
    place.write_text(json.dumps(json.loads(place.read_text()) | {"sobol": SHARES}), encoding="utf-8")
    found = page("sensitivity", sensitivity_part="tornado").run()
    assert not found.exception
    said = texts(found)
    assert "Shares of the doubt" in said
    assert "two cards, annual" in said
    assert "No input moves" in said


@pytest.mark.long
def test_shares_of_the_doubt_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_home(tmp_path))
    found = page("sensitivity", sensitivity_part="tornado").run()
    found.number_input(key="sensitivity_runs").set_value(1)
    found.selectbox(key="sensitivity_sobol").set_value(16).run()
    found.button(key="sensitivity_start").click().run()
    assert " ".join(finish("sensitivity", 300)[2:6]) == "--replications 1 --sobol 16"
    shares = _document(tmp_path, "sensitivity")["sobol"]
    found = page("sensitivity", sensitivity_part="tornado").run()
    assert not found.exception
    assert "Shares of the doubt" in texts(found)
    for one in shares["results"]:
        if one["inputs"]:
            assert len(sobol_frame(one, {row["input"]: "" for row in one["inputs"]})) == 2 * len(
                one["inputs"]
            )


def test_both_parts_in_chinese(here: Path) -> None:
    for part, said in (("fleet", "考虑过的选项"), ("tornado", "每次变动一个因素")):
        found = page("sensitivity", "zh", sensitivity_part=part).run()
        assert not found.exception
        assert said in texts(found)
    found = page("sensitivity", "zh", sensitivity_part="fleet").run()
    table = found.dataframe[0].value
    assert table["原因"][0] == "达到目标的机群中最便宜"
    chosen = _document(here, "recommendation")["recommendation"]
    plan = {"monthly": "月付", "annual": "年付"}[chosen["plan"]]
    assert table["选项"][0] == f"{chosen['units']} × A100 40G 定制节点，{plan}"


def test_the_worked_example_has_its_answer_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = len(jobs().known)
    for part in ("fleet", "tornado"):
        found = page("sensitivity", sensitivity_part=part)
        found.query_params["question"] = "four-to-eight"
        found.run()
        assert not found.exception
        assert "This result came with the program" in texts(found)
        assert "6" in found.success[0].value
    assert len(jobs().known) == before


def test_commands_of_the_forms() -> None:
    words = recommend_words("q.yaml", (1, 8), ["a", "b"], ["annual"], ["fifo"], "none", 95)
    assert " ".join(words) == (
        "recommend q.yaml --cards 1..8 --burst none --confidence 0.95 --offer a --offer b --plan annual "
        "--policy fifo --format json"
    )
    words = sensitivity_words("q.yaml", "wait_p95_h", 5, 0, 0, {"price": (0.9, 1.1)})
    assert " ".join(words) == (
        "sensitivity q.yaml --replications 5 --metric wait_p95_h --range price=0.9..1.1 --format json"
    )


def test_a_mark_that_the_cost_does_not_explain_is_explained() -> None:
    """Costs of `a` less those of `b`: below 0 `a` is cheaper, so only the target can have turned it down."""

    def study(decision: str | None, difference: float, metric: str = "committed_cost_cny") -> dict[str, Any]:
        def end(mean: float) -> dict[str, float]:
            return {"mean": mean, "low": mean, "high": mean, "n": 3}

        bar = {
            "input": "demand", "low": 0.7, "high": 1.3,
            "at_low": end(100.0), "at_high": end(100.0 + difference),
            "difference_at_low": end(-50.0), "difference_at_high": end(difference),
            "recommendation_at_low": "a", "recommendation_at_high": decision,
        }  # fmt: skip
        return {
            "recommendation": "a", "strategy": "a", "rival": "b", "metric": metric, "unit": "CNY",
            "base": end(100.0), "base_difference": end(-20.0), "inputs": [bar],
        }  # fmt: skip

    def note(document: dict[str, Any], view: str = "difference") -> str:
        return diamonds_note(document, tornado_frame(document, view, {"demand": "demand"}), view)

    missed = "still costs less than 'b' there, but misses the target, so"
    assert missed in note(study("b", -10.0))
    assert missed in note(study(None, -10.0))
    assert "or a third strategy costs less still" in note(study("c", -10.0))
    assert note(study("b", 10.0)) == "", "beyond 0 the cost explains it"
    assert note(study("a", -10.0)) == "", "no mark"
    # A longer wait, or the cost alone, says nothing of the other strategies.
    assert "misses the target, or another strategy" in note(study("b", -10.0, "wait_p95_h"))
    assert "misses the target, or another strategy" in note(study("b", -10.0), "metric")
