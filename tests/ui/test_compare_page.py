"""The page `compare`: what it shows of a stored run, against the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sim.cli import main
from sim.metrics import METRICS
from sim.ui.compare_charts import money_against_wait, money_metric
from sim.ui.compare_form import compare_words
from sim.ui.compare_tables import difference_rows, kept_replications
from sim.ui.jobs import jobs, sim_command
from sim.ui.language import catalogue
from tests.conftest import without_charts

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "sim" / "ui" / "scripts" / "compare.py")
OWN, OTHER = "4 custom cards, annual", "6 custom cards, annual"
SHORT = ("--set", "horizon=14d", "--set", "experiment.warm_up=1d", "--replications", "3", "--jobs", "1")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two weeks of the worked example, run by the command line with two baselines."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "scenarios").mkdir()
    file = folder / "scenarios" / "four-to-eight.yaml"
    file.write_text((ROOT / "scenarios" / "four-to-eight.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    for baseline in OWN, OTHER:
        words = ("compare", file, *SHORT, "--out", folder / "outputs", "--baseline", baseline)
        with without_charts(), pytest.raises(SystemExit) as ending:
            main([str(word) for word in words])
        assert not ending.value.code
    return folder


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That folder, as the one in which the page was started."""
    monkeypatch.chdir(home)
    return home


def _run(home: Path, baseline: str = OWN) -> tuple[str, dict[str, Any]]:
    for file in (home / "outputs").glob("*/*/comparison.json"):
        document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if document["baseline"] == baseline:
            return f"{file.parent.parent.name}/{file.parent.name}", document
    raise AssertionError(baseline)


def _page(**query: str) -> AppTest:
    page = AppTest.from_file(SCRIPT, default_timeout=60)
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


def test_more_runs_than_the_page_makes_are_told_in_a_sentence(here: Path) -> None:
    page = _page()
    page.number_input[0].set_value(1_000_000)
    page.button[0].click().run()
    assert not page.exception
    assert "at most 2,000 replications" in page.error[0].value.replace("\\", "")
    assert "job" not in page.query_params


def test_a_link_of_a_deleted_run_says_so(here: Path) -> None:
    page = _page(run="four-cards-or-eight/0123456789ab")
    assert not page.exception
    assert page.warning[0].value.startswith("The link names a result that is not on this machine")
    assert not any("not on this machine" in one.value for one in _page().warning)


def test_settings_that_cannot_be_run_are_told_and_not_run(here: Path) -> None:
    page = _page()
    page.number_input[1].set_value(2.5).run()
    assert [one.value for one in page.error] == ["Must be a whole number."]
    assert page.button(key="compare-run").disabled


def test_another_baseline_needs_no_new_run(here: Path) -> None:
    (name, own), (_, other) = _run(here), _run(here, OTHER)
    file = here / "outputs" / name / "replications.csv"
    found = difference_rows(own, kept_replications(str(file), 0), OTHER)
    wanted: dict[str, dict[str, Any]] = {}
    for one in other["differences"]:
        wanted.setdefault(one["strategy"], {})[one["metric"]] = one
    assert found.keys() == wanted.keys()
    for strategy, metrics in wanted.items():
        assert found[strategy].keys() == metrics.keys()
        for metric, one in metrics.items():
            mine = found[strategy][metric]
            assert mine["unit"] == one["unit"]
            for end in ("mean", "low", "high", "n"):
                assert mine[end] == pytest.approx(one[end], rel=1e-12, abs=1e-12, nan_ok=True), (metric, end)
    # The run's own baseline is read from its document.
    same = difference_rows(own, kept_replications(str(file), 0), own["baseline"])
    assert same["6 custom cards, annual"]["wait_p95_h"] == next(
        one for one in own["differences"]
        if (one["strategy"], one["metric"]) == ("6 custom cards, annual", "wait_p95_h")
    )  # fmt: skip


def test_a_stored_run_opens_by_its_address_and_says_that_the_question_is_another(
    here: Path,
) -> None:
    name, document = _run(here)
    page = _page(run=name, lang="zh", question="four-to-eight")
    assert not page.exception
    told = "\n".join(one.value for one in page.warning).replace("\\", "")
    assert document["scenario"] == "Four cards or eight?"
    assert "四卡还是八卡" in told
    assert "当前问题已经不同" in told  # a year is asked, two weeks were run
    assert [one.value for one in page.subheader][:3] == ["结论", "费用与等待", "关键指标"]
    table = page.dataframe[0].value
    assert list(table["方案"]) == [one["name"] for one in document["strategies"]]
    cost = [one["metrics"]["committed_cost_cny"]["mean"] for one in document["strategies"]]
    assert [text.split(" ")[0] for text in table["承诺总费用"]] == [f"{value:,.0f}" for value in cost]
    everything = next(one.value for one in page.dataframe if "含义" in one.value)
    assert len(everything) == len(document["metrics"])
    # The same question with another seed, price level or number of runs is not another question.
    Path("scenarios/short.yaml").write_text((here / "outputs" / name / "scenario.yaml").read_text())
    page = _page(run=name, question="short")
    assert not page.exception
    assert not [one for one in page.warning if "question in hand" in one.value]


def test_names_that_lead_elsewhere_are_not_opened(here: Path) -> None:
    own, _ = _run(here)
    shutil.copytree(here / "outputs" / own, here / "elsewhere" / "0123456789ab")
    for name in (
        "../elsewhere/0123456789ab",
        str(here / "elsewhere/0123456789ab"),
        "..",
        "a/../../elsewhere",
    ):
        page = _page(run=name)
        assert not page.exception
        assert not [one for one in page.caption if one.value.startswith("3 replications")]
    assert [one for one in _page(run=own).caption if one.value.startswith("3 replications")]


def test_the_settings_become_words_of_the_command() -> None:
    common: dict[str, Any] = {"replications": 8, "seed": 3, "price": None, "baseline": "a, b"}
    words = compare_words(Path("q.yaml"), **common)
    assert [str(one) for one in words] == [
        *("compare", "q.yaml", "--format", "json", "--out", "outputs", "--seed", "3"),
        *("--replications", "8", "--baseline", "a, b"),
    ]
    until = [str(one) for one in compare_words(Path("q.yaml"), **common, rule="until", width=2.5, most=90)]
    assert until[-6:] == ["--until", "committed_cost_cny=2.5%", "--until", "wait_p95_h=2.5%", "--most", "90"]
    assert compare_words(Path("q.yaml"), **common, rule="select", most=90)[-3:] == [
        "--select",
        "--most",
        "90",
    ]


def test_money_with_penalties_ranks_where_there_are_any() -> None:
    def strategy(penalty: float) -> dict[str, Any]:
        return {"metrics": {"penalty_cny": {"mean": penalty}}}

    assert money_metric({"strategies": [strategy(0.0), strategy(0.0)]}) == "committed_cost_cny"
    assert money_metric({"strategies": [strategy(0.0), strategy(2.5)]}) == "cost_with_penalties_cny"


def test_the_chart_holds_every_strategy_with_its_interval(here: Path) -> None:
    _, document = _run(here)
    chart, table = money_against_wait(document)
    assert len(table) == len(document["strategies"])
    first = document["strategies"][0]["metrics"]["wait_p95_h"]
    assert table.iloc[0, 4:].tolist() == [first["mean"], first["low"], first["high"]]
    drawn = json.dumps(chart.to_dict())
    assert "target: at most 4.0 h" in drawn


def test_the_axis_of_money_does_not_begin_below_nothing(here: Path) -> None:
    _, document = _run(here)
    for low, high, least in ((0.0, 900_000.0, 0.0), (200_000.0, 300_000.0, 194_000.0)):
        for one, cost in zip(document["strategies"], (low, high), strict=False):
            one["metrics"]["committed_cost_cny"] = {"mean": cost, "low": cost, "high": cost, "unit": "CNY"}
        pair = {**document, "strategies": document["strategies"][:2]}
        drawn = money_against_wait(pair)[0].to_dict()
        scales = [
            layer["encoding"]["x"]["scale"]
            for layer in drawn["layer"]
            if "scale" in layer.get("encoding", {}).get("x", {})
        ]
        # Six of a hundred parts of what lies between, on both sides.
        assert scales
        assert all(one["domain"] == pytest.approx([least, high + 0.06 * (high - low)]) for one in scales)
        assert not any(one["nice"] for one in scales)


def test_every_metric_has_a_name_and_a_meaning() -> None:
    for code in ("en", "zh"):
        texts = catalogue(code)
        for metric in METRICS:
            assert texts[f"metrics.{metric}"]
            assert texts[f"metrics.{metric}_means"]
        names = [texts[f"metrics.{metric}"] for metric in METRICS]
        assert len(set(names)) == len(names)


DOUBTFUL = """\
name: Small team
start: 2026-01-01
timezone: UTC
horizon: 20d
workload:
  classes:
    - {name: lora, model: qwen-7b, method: lora, seq_len: 1024, mean_tokens: 300,
       samples: {lognormal: {median: 40000, sigma: 0.8}}, rate: 16/day}
target: {wait_p95: 4h}
strategies:
  - name: four
    leases: [{offer: a100-40g-custom, count: 4, plan: monthly}]
  - name: two
    leases: [{offer: a100-40g-custom, count: 2, plan: monthly}]
"""


def _stored(text: str, home: Path) -> dict[str, Any]:
    """The question as it is run by the command line below outputs/, and its document."""
    file = home / "scenarios" / "small.yaml"
    file.write_text(text, encoding="utf-8")
    with without_charts(), pytest.raises(SystemExit) as ending:
        main(["compare", str(file), "--out", str(home / "outputs"), "--jobs", "1"])
    assert not ending.value.code
    newest = max((home / "outputs").glob("small-team/*/comparison.json"), key=lambda one: one.stat().st_mtime)
    return {"run": f"small-team/{newest.parent.name}", **json.loads(newest.read_text(encoding="utf-8"))}


def test_doubt_about_inputs_is_told_apart_from_luck(here: Path) -> None:
    uncertain = (
        "uncertain:\n  demand: {triangular: {low: 0.7, mode: 1, high: 1.3}, source: last three years}\n"
    )
    document = _stored(f"{DOUBTFUL}{uncertain}experiment: {{replications: 4, seed: 7}}\n", here)
    page = _page(run=document["run"], question="small", lang="zh")
    assert not page.exception
    assert not [one for one in page.warning if "当前问题已经不同" in one.value]
    inputs = next(one.value for one in page.dataframe if "抽取分布" in one.value)
    assert inputs["输入"].tolist() == ["作业数的倍数"]
    assert inputs["来源"].tolist() == ["last three years"]
    splits = next(one.value for one in page.dataframe if "离散中来自输入的份额" in one.value)
    assert len(splits) == len(document["uncertain"]["splits"])


def test_a_steady_state_says_how_it_was_read(here: Path) -> None:
    document = _stored(f"{DOUBTFUL}experiment: {{seed: 7, steady_state: {{batches: 10}}}}\n", here)
    page = _page(run=document["run"], question="small")
    assert not page.exception
    told = [one.value.replace("\\", "") for one in page.info if one.value.startswith("Steady state")]
    assert len(told) == 1
    assert "10 batches" in told[0]
    assert f"{document['steady_state']['jobs_a_batch']:,} jobs" in told[0]
    # The question says itself how long to simulate, so the page does not ask.
    assert not page.button_group


def test_all_strategies_at_once(here: Path) -> None:
    run, document = _run(here)
    page = _page(run=run)
    table = next(
        one.value for one in page.dataframe if any("less the best other" in name for name in one.value)
    )
    assert len(table) == len(document["strategies"])
    words = {"best": "the best", "not best": "not the best", "open": "open"}
    for one in document["at_once"]["strategies"]:
        row = table[table["Strategy"] == one["strategy"]].iloc[0]
        name = {"committed_cost_cny": "Committed cost", "wait_p95_h": "Wait, 95th percentile"}[one["metric"]]
        assert row[f"{name}: so it is"] == words[one["standing"]]
        assert row[f"{name}, less the best other"].startswith("+") == (one["mean"] > 0)


def test_a_command_that_this_server_does_not_know_is_said_and_dropped(here: Path) -> None:
    page = _page(job="never-heard-of", question="four-to-eight")
    assert not page.exception
    assert [one for one in page.info if "does not know the run" in one.value]
    assert "job" not in page.query_params


def test_a_command_that_fails_says_why(here: Path) -> None:
    job = jobs().submit("compare", "a", sim_command("compare", "scenarios/absent.yaml", "--format", "json"))
    assert job.run.wait(90)
    page = _page(job=job.id, question="four-to-eight")
    assert not page.exception
    assert "absent.yaml" in page.error[0].value.replace("\\", "")
    assert page.query_params["job"] == job.id  # it stays until another one is asked for
