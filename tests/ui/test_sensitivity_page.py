"""The page `sensitivity`: its forms make the commands that they say, its views show what documents say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sim.ui.jobs import jobs
from sim.ui.recommend_form import recommend_words
from sim.ui.recommend_view import options_frame, pareto_frame
from sim.ui.sensitivity_charts import sobol_frame, tornado_frame
from sim.ui.sensitivity_form import sensitivity_words
from sim.ui.sensitivity_view import flips_frame
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
        found.slider(key="recommend_cards").set_value((1, 4))
        found.slider(key="recommend_confidence").set_value(90).run()
        found.button(key="recommend_start").click().run()
        words = finish("recommend")
        assert list(words[:8]) == [
            "recommend",
            FILE,
            "--cards",
            "1..4",
            "--burst",
            "as-is",
            "--confidence",
            "0.90",
        ]
        found = page("sensitivity", sensitivity_part="tornado").run()
        assert "No study of this question is stored yet" in texts(found)
        found.number_input(key="sensitivity_runs").set_value(2)
        found.selectbox(key="sensitivity_draws").set_value(20)
        found.selectbox(key="sensitivity_sobol").set_value(16)
        low, high = (f"sensitivity_{end}_demand_{FILE}" for end in ("low", "high"))
        found.number_input(key=low).set_value(0.5)
        found.number_input(key=high).set_value(2.0).run()
        found.button(key="sensitivity_start").click().run()
        words = finish("sensitivity", 300)
        asked = "--replications 2 --sobol 16 --draws 20 --range demand=0.5..2 --format json"
        assert " ".join(words[2:12]) == asked
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
    assert f"Rent {chosen['strategy']}" in said
    cost = told["comparison"]["strategies"][0]["metrics"]["committed_cost_cny"]["mean"]
    assert f"{cost:,.0f} CNY committed" in said
    assert f"Options considered: {len(told['options'])}" in said
    table = found.dataframe[0].value
    assert len(table) == len(told["options"])
    assert table["Option"][0] == chosen["strategy"]
    assert table["Result"][0] == "chosen"
    reasons = {option["strategy"]: option["reason"] for option in told["options"]}
    assert dict(zip(table["Option"], table["Why"], strict=True)) == reasons
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
    for name in ("Shares of the doubt", "Luck, and doubt about the inputs", "Where the decision flips"):
        assert name in said
    names = {one["input"]: one["input"] for one in told["inputs"]}
    frame = tornado_frame(told, "metric", names)
    for row in frame.to_dict("records"):
        one = next(one for one in told["inputs"] if one["input"] == row["input"])
        end = "low" if row["end"] == "input at its low end" else "high"
        assert row["value"] == one[f"at_{end}"]["mean"]
        assert row["at"] == one[end]
    assert len(flips_frame(told)) == len(told["flips"])
    for one in told["sobol"]["results"]:
        if one["inputs"]:
            assert len(sobol_frame(one, names)) == 2 * len(one["inputs"])
    if told["base_difference"] is not None:
        found.segmented_control(key="sensitivity_view").set_value("metric").run()
        assert not found.exception


def test_both_parts_in_chinese(here: Path) -> None:
    for part, said in (("fleet", "考虑过的选项"), ("tornado", "每次变动一个因素")):
        found = page("sensitivity", "zh", sensitivity_part=part).run()
        assert not found.exception
        assert said in texts(found)


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
