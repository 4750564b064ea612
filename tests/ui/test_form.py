"""Forms made from the model: every key of a scenario has one, and what is typed arrives in the question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sim.load import load_text
from sim.load_schema import json_schema
from sim.ui.form_examples import example, example_value
from sim.ui.form_kinds import Field, Kind, field_of, fields_of, kind_of
from sim.ui.form_units import parted_unit, written
from sim.ui.language import catalogue
from sim.ui.question_edits import decoded, edited, value_at, yaml_text
from sim.ui.question_store import start_tree
from sim.units import parse_duration, parse_growth, parse_rate, parse_tolerance
from tests.conftest import TWO_JOBS

ROOT = Path(__file__).parents[2]
PAGE = str(ROOT / "sim" / "ui" / "scripts" / "question.py")
MODELS = sorted({"Scenario", *json_schema()["$defs"]})

AS_YAML = {
    "ChoiceInput.values", "LognormalInput.median", "LognormalInput.low", "LognormalInput.high",
    "NormalInput.mean", "NormalInput.deviation", "NormalInput.low", "NormalInput.high", "Sharing.curve",
    "TriangularInput.low", "TriangularInput.mode", "TriangularInput.high", "UniformInput.low",
    "UniformInput.high",
}  # fmt: skip
"""Keys that take numbers with or without a unit, or pairs: a form takes them as a file writes them."""


def test_every_key_has_a_kind_of_its_own() -> None:
    found = {
        f"{model}.{key}"
        for model in MODELS
        for key, field in fields_of(model).items()
        if field.kind.form == "yaml"
    }
    assert found <= AS_YAML


@pytest.mark.parametrize(
    ("place", "form"),
    [
        ("Lease.count", "whole"), ("Lease.offer", "choice"), ("Lease.start", "date"),
        ("Lease.options", "texts"),
        ("Lease.available", "texts"), ("Lease.converts", "models"), ("Lease.repeat_purchase", "truth"),
        ("Burst.rent_when_wait_over", "duration"), ("JobClass.rate", "rate"), ("Workload.growth", "growth"),
        ("JobClass.late_cost", "number"), ("Until.half_width", "map"), ("Selection.cost_zone", "tolerance"),
        ("ArrivalProfile.hourly", "numbers"), ("Scenario.horizon", "either"), ("JobClass.samples", "either"),
        ("Scenario.reliability", "model"), ("Scenario.name", "text"), ("Tax.rate", "number"),
    ],
)  # fmt: skip
def test_kinds_follow_the_schema(place: str, form: str) -> None:
    model, _, key = place.partition(".")
    assert field_of(model, key).kind.form == form


def test_kinds_of_parts_of_a_schema() -> None:
    assert kind_of({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}]}) == Kind("number")
    assert kind_of({"enum": ["a", "b"], "type": "string"}) == Kind("choice", options=("a", "b"))
    assert kind_of({"type": ["integer", "array"]}) == Kind("yaml")
    assert not Kind("whole").holds(2.5)
    assert not Kind("number").holds(True)
    assert field_of("Lease", "offer").needed
    assert not field_of("Lease", "price").needed


@pytest.mark.parametrize(
    ("form", "text", "number", "unit"),
    [
        ("duration", "90min", 90, "min"), ("duration", "0.5 hours", 0.5, "h"), ("duration", "14D", 14, "d"),
        ("rate", "6/day", 6, "day"), ("rate", "0.25 / hr", 0.25, "h"), ("growth", "-2%/week", -2, "week"),
        ("growth", "3.5 % / month", 3.5, "month"), ("tolerance", "5%", 5, "%"), ("tolerance", 0.5, 0.5, ""),
        ("tolerance", "12", 12, ""),
    ],
)  # fmt: skip
def test_numbers_with_units(form: str, text: object, number: float, unit: str) -> None:
    assert parted_unit(form, text) == (number, unit)
    again = written(form, number, unit)
    assert parted_unit(form, again) == (number, unit)
    parse: Any = {
        "duration": parse_duration, "rate": parse_rate, "growth": parse_growth,
        "tolerance": lambda one: parse_tolerance(f"{one}"),
    }[form]  # fmt: skip
    assert parse(again) == parse(text), "it means the same to the loader"


@pytest.mark.parametrize(
    ("form", "text"), [("duration", "1h 30min"), ("duration", "5us"), ("duration", "soon"), ("rate", "6/min")]
)
def test_other_times_are_left_as_text(form: str, text: str) -> None:
    assert parted_unit(form, text) is None


def test_small_numbers_are_written_without_an_exponent() -> None:
    assert written("rate", 0.00001, "day") == "0.00001/day"
    assert parse_rate("0.00001/day") > 0


@pytest.mark.parametrize("model", ["Strategy", "Lease", "JobClass", "TimedClass", "Burst"])
def test_a_new_entry_can_be_computed_at_once(model: str, tmp_path: Path) -> None:
    """What a form adds is sound without a further word."""
    text = TWO_JOBS.replace("{file: two.csv}", "{file: two.csv}\n  classes: []\n  timed: []")
    (tmp_path / "two.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\n")
    (tmp_path / "two.yaml").write_text(text)
    tree: dict[str, Any] = start_tree(tmp_path / "two.yaml")
    new = example(model, tree)
    if model == "Burst":
        tree["strategies"][0]["burst"] = new
    elif model == "Lease":
        tree["strategies"][0]["leases"].append(new)
    elif model == "Strategy":
        tree["strategies"].append(new)
    else:
        tree["workload"]["classes" if model == "JobClass" else "timed"].append(new)
    assert load_text(yaml_text(tree), folder=tmp_path).scenario.name == "Two jobs, one card"


def _every_form() -> None:
    """Script: the form of every model, with every key stated."""
    from sim.load_schema import json_schema
    from sim.ui.form import draw_model
    from sim.ui.form_base import Form
    from sim.ui.form_kinds import fields_of
    from tests.ui.test_form import whole

    models = sorted({"Scenario", *json_schema()["$defs"]} - {"Distribution"})
    form = Form({name: whole(name) for name in models}, {})
    for name in models:
        draw_model(form, (name,), name, tuple(fields_of(name)))


def whole(model: str, depth: int = 0) -> dict[str, Any]:
    """A mapping of a model with every key stated, as deep as it goes without end."""
    return {
        key: _stated(field, depth)
        for key, field in fields_of(model).items()
        if depth < 2 or field.kind.form not in ("model", "models", "map")
    }


def _stated(field: Field, depth: int) -> Any:
    kind = field.kind
    if kind.form == "model":
        return whole(kind.model, depth + 1)
    if kind.form == "models":
        return [whole(kind.model, depth + 1)]
    if kind.form == "map":
        return {"USD": example_value(kind.branches[0], {})}
    if kind.form == "either" and any(one.model == "Distribution" for one in kind.branches):
        return {"lognormal": {"median": 3, "sigma": 1}, "min": 1}
    return example_value(kind, {}, field.key)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_form_is_drawn_in_both_languages(lang: str) -> None:
    page = AppTest.from_function(_every_form, default_timeout=60)
    page.query_params["lang"] = lang
    page.run()
    assert not page.exception
    labels = [one.label for one in (*page.number_input, *page.text_input, *page.selectbox, *page.date_input)]
    assert len(labels) > 250
    assert all(labels)
    if lang == "zh":
        latin = {label for label in labels if label.isascii()}
        assert latin <= {"LoRA", "MPS", "USD"}, "labels that nobody translated"


def test_labels_are_of_keys_that_exist() -> None:
    keys = {key for model in MODELS for key in fields_of(model)}
    for name in catalogue("en"):
        if name.startswith("fields."):
            model, _, key = name.removeprefix("fields.").rpartition(".")
            assert key in keys if not model else model in MODELS and key in fields_of(model), name


@pytest.fixture
def page(two_jobs: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page in a folder with one small question."""
    folder = two_jobs.parent / "scenarios"
    folder.mkdir()
    for file in (two_jobs, two_jobs.with_name("two.csv")):
        file.rename(folder / file.name)
    monkeypatch.chdir(two_jobs.parent)
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["question"] = "two"
    return page


def _tree(page: AppTest) -> dict[str, Any]:
    """The question that the address of the page holds."""
    start = start_tree(Path("scenarios/two.yaml"))
    held = page.query_params.get("edits")
    text = held[0] if isinstance(held, list) else held
    return edited(start, decoded(text)) if text else start


def _at(page: AppTest, path: str) -> Any:
    steps = tuple(int(step) if step.isdigit() else step for step in path.split("."))
    return value_at(_tree(page), steps)


LEASE = "strategies.0.leases.0"


def test_strategies_what_is_typed_arrives(page: AppTest) -> None:
    page.run()
    page.number_input(key=f"f:{LEASE}.count").set_value(3).run()
    page.selectbox(key=f"f:{LEASE}.plan").set_value("quarterly").run()
    page.selectbox(key=f"f:{LEASE}.offer").set_value("a100-40g-8x").run()
    page.date_input(key=f"f:{LEASE}.end").set_value("2026-01-20").run()
    page.selectbox(key="f:strategies.0.policy").set_value("sjf").run()
    page.text_input(key="f:strategies.0.name").set_value("three").run()
    assert not page.exception
    strategy = _at(page, "strategies.0")
    assert strategy == {
        "name": "three",
        "policy": "sjf",
        "leases": [{"offer": "a100-40g-8x", "count": 3, "plan": "quarterly", "end": "2026-01-20"}],
    }
    page.selectbox(key=f"f:{LEASE}.price:kind").set_value("#number").run()
    page.number_input(key=f"f:{LEASE}.price").set_value(21000.5).run()
    assert _at(page, f"{LEASE}.price") == 21000.5
    page.selectbox(key=f"f:{LEASE}.price:kind").set_value("high").run()
    assert _at(page, f"{LEASE}.price") == "high"
    page.date_input(key=f"f:{LEASE}.end").set_value(None).run()
    assert "end" not in _at(page, LEASE)
    assert not page.error


def test_strategies_burst_and_entries_come_and_go(page: AppTest) -> None:
    page.run()
    page.toggle(key="f:strategies.0.burst:on").set_value(True).run()
    assert _at(page, "strategies.0.burst") == {"offer": "h100-mig", "max": 4, "rent_when_wait_over": "2h"}
    page.number_input(key="f:strategies.0.burst.rent_when_wait_over").set_value(90).run()
    page.selectbox(key="f:strategies.0.burst.rent_when_wait_over:unit").set_value("min").run()
    assert _at(page, "strategies.0.burst.rent_when_wait_over") == "90min"
    page.toggle(key="f:strategies.0.burst:on").set_value(False).run()
    page.button(key="f:strategies.0.leases:add").click().run()
    page.button(key=f"f:{LEASE}:copy").click().run()
    assert len(_at(page, "strategies.0.leases")) == 3
    page.button(key=f"f:{LEASE}:remove").click().run()
    assert len(_at(page, "strategies.0.leases")) == 2
    page.button(key="f:strategies.0:copy").click().run()
    assert [one["name"] for one in _at(page, "strategies")][2:] == ["one card, annual 2"]
    assert page.text_input(key="f:strategies.2.name").value == "one card, annual 2", "the copy is shown"
    page.button(key="f:strategies.2:remove").click().run()
    page.button(key="f:strategies:add").click().run()
    assert len(_at(page, "strategies")) == 3
    page.button(key="question-undo").click().run()
    assert _tree(page) == start_tree(Path("scenarios/two.yaml"))
    assert not page.exception


def test_jobs_random_quantities_and_rates(page: AppTest) -> None:
    page.session_state["question-part"] = "workload"
    page.run()
    page.button(key="f:workload.classes:add").click().run()
    at = "workload.classes.0"
    page.number_input(key=f"f:{at}.rate").set_value(2.5).run()
    page.selectbox(key=f"f:{at}.rate:unit").set_value("week").run()
    assert _at(page, f"{at}.rate") == "2.5/week"
    page.selectbox(key=f"f:{at}.samples:kind").set_value("lognormal").run()
    assert _at(page, f"{at}.samples") == {"lognormal": {"median": 10000, "sigma": 0.8}}
    page.number_input(key=f"f:{at}.samples.lognormal.median").set_value(5000.0).run()
    page.number_input(key=f"f:{at}.samples.max").set_value(9000.0).run()
    assert _at(page, f"{at}.samples") == {"lognormal": {"median": 5000, "sigma": 0.8}, "max": 9000}
    page.selectbox(key=f"f:{at}.samples:kind").set_value("#number").run()
    assert _at(page, f"{at}.samples") == 5000
    page.selectbox(key=f"f:{at}.gpus:kind").set_value("#numbers").run()
    page.text_input(key=f"f:{at}.gpus").set_value("1, 2; 4").run()
    assert _at(page, f"{at}.gpus") == [1, 2, 4]
    page.selectbox(key=f"f:{at}.profile:kind").set_value("#model").run()
    assert _at(page, f"{at}.profile") == {"hourly": [1] * 24}
    page.number_input(key="f:workload.growth").set_value(3.0).run()
    assert _at(page, "workload.growth") == "3%/month"
    page.number_input(key="f:workload.growth").set_value(None).run()
    assert "growth" not in _at(page, "workload")
    page.toggle(key="f:workload.trace:on").set_value(False).run()
    assert "trace" not in _at(page, "workload")
    assert not page.exception
    assert not page.error


def test_terms_discounts_and_what_is_not_stated(page: AppTest) -> None:
    page.session_state["question-part"] = "terms"
    page.run()
    page.selectbox(key="f:terms.discounts:new").set_value("annual").run()
    page.number_input(key="f:terms.discounts.annual").set_value(0.75).run()
    page.selectbox(key="f:terms.refund.rule").set_value("pro-rata").run()
    page.toggle(key="f:terms.tax:on").set_value(True).run()
    page.selectbox(key="f:terms.tax.included").set_value(False).run()
    assert _at(page, "terms") == {
        "discounts": {"annual": 0.75},
        "refund": {"rule": "pro-rata"},
        "tax": {"rate": 0.06, "included": False},
    }
    page.button(key="f:terms.discounts.annual:remove").click().run()
    assert _at(page, "terms.discounts") == {}
    page.selectbox(key="f:exchange:new").set_value("USD").run()
    assert _at(page, "exchange") == {"USD": {"rate": 7.1, "date": "2026-01-01"}}
    assert not page.exception


def test_failures_target_simulation_and_general(page: AppTest) -> None:
    page.session_state["question-part"] = "reliability"
    page.run()
    page.selectbox(key="f:reliability.profile").set_value("datacentre").run()
    page.selectbox(key="f:checkpoint.every:kind").set_value("daly").run()
    page.toggle(key="f:reliability.maintenance:on").set_value(True).run()
    page.button(key="f:reliability.events:add").click().run()
    assert _at(page, "reliability.events") == [{"at": "1d", "offer": "a100-40g-custom"}]
    assert _at(page, "checkpoint.every") == "daly"
    page.session_state["question-part"] = "target"
    page.run()
    page.toggle(key="f:target:on").set_value(True).run()
    page.number_input(key="f:target.on_time").set_value(0.9).run()
    assert _at(page, "target") == {"wait_p95": "4h", "on_time": 0.9}
    page.session_state["question-part"] = "experiment"
    page.run()
    page.number_input(key="f:experiment.replications").set_value(12).run()
    page.toggle(key="f:experiment:more").set_value(True).run()
    page.toggle(key="f:experiment.until:on").set_value(True).run()
    page.number_input(key="f:experiment.until.half_width.wait_mean_h").set_value(7.5).run()
    assert _at(page, "experiment.until") == {"half_width": {"wait_mean_h": "7.5%"}}
    page.session_state["question-part"] = "general"
    page.run()
    page.selectbox(key="f:horizon:kind").set_value("#date").run()
    page.date_input(key="f:horizon").set_value("2026-03-01").run()
    page.selectbox(key="f:performance").set_value("vendor").run()
    assert (_at(page, "horizon"), _at(page, "performance")) == ("2026-03-01", "vendor")
    assert not page.exception
    assert not page.error


def test_a_mistake_is_told_at_its_field_and_above(page: AppTest) -> None:
    page.run()
    page.number_input(key=f"f:{LEASE}.count").set_value(0).run()
    assert not page.exception
    errors = [one.value.replace("\\", "") for one in page.error]
    assert errors == [
        "The question cannot be computed yet: 1 to put right. Each is marked at its field too.",
        "Must be at least 1.",
    ]
    told = "\n".join(one.value for one in page.markdown).replace("\\", "")
    assert "Strategies › one card, annual › Leases › 1 › Units: must be at least 1." in told
    assert "⚠" in page.button_group(key="question-part").options[0] if hasattr(page, "button_group") else True
    page.number_input(key=f"f:{LEASE}.count").set_value(1).run()
    assert not page.error
    assert "edits" not in page.query_params


def test_a_word_where_a_number_belongs_is_shown_as_it_is(page: AppTest) -> None:
    page.session_state["question-part"] = "text"
    page.run()
    text = page.text_area(key="question-text").value
    assert "count: 1" in text
    page.text_area(key="question-text").set_value(text.replace("count: 1", "count: many")).run()
    page.button(key="question-text:take").click().run()
    page.session_state["question-part"] = "strategies"
    page.run()
    field = page.text_input(key=f"f:{LEASE}.count:yaml")
    assert field.value == "many"
    assert any("Must be a whole number" in one.value for one in page.error)
    field.set_value("2").run()
    assert _at(page, f"{LEASE}.count") == 2
    assert not page.error


@pytest.mark.parametrize(
    ("text", "told"),
    [("name: [", "YAML"), ("a: 1\na: 2\n", "twice"), ("- a\n", "mapping"), ("x" * 300_000, "at most 256 kB")],
)
def test_a_text_that_is_no_scenario_changes_nothing(page: AppTest, text: str, told: str) -> None:
    page.session_state["question-part"] = "text"
    page.run()
    page.text_area(key="question-text").set_value(text).run()
    page.button(key="question-text:take").click().run()
    assert not page.exception
    assert told in page.error[0].value.replace("\\", "")
    assert "edits" not in page.query_params


def test_a_file_elsewhere_is_not_opened(page: AppTest, two_jobs: Path) -> None:
    secret = two_jobs.parent / "secret.csv"
    secret.write_text("id,submit_s,gpus,runtime_s\nsecret,0,1,3600\n")
    page.session_state["question-part"] = "workload"
    page.run()
    page.text_input(key="f:workload.trace.file").set_value("../secret.csv").run()
    assert not page.exception
    assert any("only files that were uploaded" in one.value for one in page.error)
    assert "secret,0" not in json.dumps([one.value for one in (*page.error, *page.markdown)])
    assert not Path("outputs").exists()
