"""The page `workload`: the import report, the charts, the model, and the way into the question."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.load import load
from sim.ui.question_edits import yaml_text
from sim.ui.question_store import file_of, start_tree
from sim.ui.workload_files import TRACES, Stored, keep, stored
from sim.ui.workload_use import modelled, replayed
from sim.units import DAY
from sim.workload.imports.source import ENCODINGS
from tests.conftest import TWO_JOBS, Outcome

ROOT = Path(__file__).parents[2]
PAGE = str(ROOT / "sim" / "ui" / "scripts" / "workload.py")

SACCT = """\
JobID|User|State|Submit|Start|End|ElapsedRaw|AllocTRES
1|ann|COMPLETED|2026-03-02T09:00:00|2026-03-02T09:00:10|2026-03-02T10:00:10|3600|gres/gpu=1
2|bob|COMPLETED|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T12:00:00|7200|gres/gpu=2
3|ann|COMPLETED|2026-03-03T09:30:00|2026-03-03T09:30:00|2026-03-03T10:00:00|1800|gres/gpu=1
4|ann|COMPLETED|2026-03-04T11:00:00|never|2026-03-04T10:00:00|1800|gres/gpu=1
"""
"""Three jobs and a row whose start is no time: 1 + 2 x 2 + 0.5 card-hours."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small question."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "two.yaml").write_text(TWO_JOBS)
    shutil.copy(ROOT / "scenarios" / "traces" / "sample.csv", tmp_path / "sample.csv")
    (tmp_path / "scenarios" / "two.csv").write_text("id,submit_s,gpus,runtime_s\na,0,1,3600\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _page(**address: str) -> AppTest:
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["question"] = "two"
    for name, value in address.items():
        page.query_params[name] = value
    return page.run()


def _said(page: AppTest) -> str:
    parts = [
        *page.title,
        *page.subheader,
        *page.caption,
        *page.markdown,
        *page.error,
        *page.info,
        *page.warning,
    ]
    return "\n".join(str(part.value) for part in parts).replace("\\", "")


def _made(folder: Path, name: str, data: bytes, fleetsim: Callable[..., Outcome], *steps: str) -> Stored:
    """A record whose commands have run before, in this process, as the page would run them."""
    record = keep(name, data, ())
    words = {
        "import": ("import", record.file, "-o", record.jobs),
        "show": ("show", record.jobs),
        "fit": ("fit", record.jobs, "-o", record.model),
    }
    for step in steps:
        found = fleetsim("workload", *words[step], "--format", "json")
        assert found.code == 0, found.err
        (record.folder / f"{step}.json").write_text(found.out)
    return record


def _until(page: AppTest, done: str) -> AppTest:
    """Draw the page again until it says so; its commands run in processes of their own."""
    for _ in range(240):
        assert not page.exception, page.exception
        if done in _said(page) or page.error:
            return page
        time.sleep(0.25)
        page.run()
    pytest.fail(f"never said {done!r}: {_said(page)}")


def _upload(page: AppTest, name: str, data: bytes) -> AppTest:
    page.file_uploader(key="trace-file").set_value((name, data, "text/plain"))
    page.run()
    return page.button(key="trace-import").click().run()


def test_from_an_upload_to_its_report(folder: Path) -> None:
    """Through processes of their own, as a user would see it."""
    page = _until(_upload(_page(), "jobs.psv", SACCT.encode()), "How wide jobs are")
    figures = {one.label: one.value for one in page.metric}
    assert figures == {"Rows": "4", "Jobs": "3", "Fit for a replay": "3", "Set aside": "1"}
    record = stored(next(TRACES.iterdir()).name)
    assert record is not None
    assert sorted(path.name for path in record.folder.glob("*.json")) == [
        "about.json",
        "import.json",
        "show.json",
    ]
    assert "job" not in page.query_params, "what has ended is not followed any more"


def test_the_report_and_the_replay(folder: Path, fleetsim: Callable[..., Outcome]) -> None:
    record = _made(folder, "jobs.psv", SACCT.encode(), fleetsim, "import", "show")
    page = _page(trace=record.digest)
    assert not page.exception
    aside = next(frame.value for frame in page.dataframe if "Line" in frame.value.columns)
    assert aside["Line"].tolist() == ["5"]
    contents = next(frame.value for frame in page.dataframe if "Value" in frame.value.columns)
    assert dict(zip(contents["What"], contents["Value"], strict=True))["Card-hours used"] == "5.5"
    assert [one.value for one in page.markdown if one.value.startswith("**When")], "it has dates"
    page.button(key="workload-use-replay").click().run()
    file = file_of(str(page.query_params["question"]))
    assert file is not None
    tree = start_tree(file)
    assert tree["workload"] == {"trace": {"file": "jobs.parquet"}}
    assert tree["start"] == "2026-03-02T09:00:00"
    assert tree["strategies"] == start_tree(Path("scenarios/two.yaml"))["strategies"]
    assert [row.gpus for row in load(file).trace] == [1, 2, 1]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_model_and_its_way_into_the_question(
    folder: Path, fleetsim: Callable[..., Outcome], lang: str
) -> None:
    data = (folder / "sample.csv").read_bytes()
    record = _made(folder, "sample.csv", data, fleetsim, "import", "show", "fit")
    figures = {
        "figures": [
            {
                "topic": "jobs",
                "at": "in all",
                "unit": "jobs",
                "record": 368,
                "model": 368.4,
                "low": 328,
                "high": 411,
            },
            {
                "topic": "jobs",
                "at": "hour 0",
                "unit": "jobs",
                "record": 17,
                "model": 16.9,
                "low": 9,
                "high": 27,
            },
            {"topic": "load", "at": "mean", "unit": "cards", "record": None, "model": 2, "low": 1, "high": 3},
        ]
    }
    (record.folder / "check.json").write_text(json.dumps(figures))
    page = _page(trace=record.digest, lang=lang)
    assert not page.exception
    if lang == "zh":
        assert "作业总数：记录 368，模型 368。" in _said(page)
        assert "记录没有日期" in _said(page)
        return
    assert "no dates" in _said(page)
    classes = next(frame.value for frame in page.dataframe if "Class" in frame.value.columns)
    found = dict(zip(classes["Class"], classes["Jobs"], strict=True))
    assert found == {"service": "240", "research": "104", "law": "24"}
    assert "368 in the record" in _said(page)
    assert page.number_input(key="workload-model-days-365").value == 365
    assert "365 days are simulated, and it is called 'Model of sample.csv'" in _said(page)
    page.button(key="workload-use-model").click().run()
    assert not page.exception
    # A question of its own: its name stands in the list of questions too.
    assert "edits" not in page.query_params
    file = file_of(str(page.query_params["question"]))
    assert file is not None
    assert sorted(one.name for one in file.parent.iterdir()) == ["scenario.txt", "scenario.yaml"]
    question = load(file)
    assert [one.name for one in question.scenario.workload.timed] == ["service", "research", "law"]
    assert question.scenario.workload.trace is None
    assert (question.scenario.name, question.scenario.horizon_us) == ("Model of sample.csv", 365 * DAY)


def test_a_file_that_is_no_record_is_refused(folder: Path) -> None:
    page = _upload(_page(), "notes.txt", b"dear diary\nnothing happened\n")
    for _ in range(200):
        if page.error:
            break
        time.sleep(0.25)
        page.run()
    assert not page.exception
    told = page.error[0].value.replace("\\", "")
    assert "notes.txt:1" in told
    assert "no format is recognised" in told
    assert "outputs" not in told
    assert page.button(key="workload-say-how").label == "Say how it is to be read"
    assert not list(TRACES.glob("*/jobs.parquet"))


def test_what_is_wrong_before_anything_is_read(folder: Path) -> None:
    page = _page()
    page.toggle(key="trace-how").set_value(True).run()
    page.text_input(key="trace-map").set_value("../../secret.yaml").run()
    page = _upload(page, "jobs.csv", b"a,b\n1,2\n")
    assert "field=column" in page.error[0].value
    assert not TRACES.exists()
    page.text_input(key="trace-map").set_value("").run()
    page = _upload(page, "jobs.csv", b"1,2\n" * 1_300_000)
    assert "5.2 MB; the page takes at most 5 MB" in page.error[0].value.replace("\\", "")
    assert not TRACES.exists()


def test_how_a_file_is_to_be_read_is_told_as_options(folder: Path) -> None:
    page = _page()
    page.toggle(key="trace-how").set_value(True).run()
    page.selectbox(key="trace-format").set_value("csv").run()
    page.text_input(key="trace-map").set_value("submit_s=When,runtime_s=Hours:h,gpus=Cards").run()
    page.text_input(key="trace-card").set_value("a100=A100-40G; v100=V100-32G").run()
    page.checkbox(key="trace-comma").set_value(True).run()
    assert page.selectbox(key="trace-encoding").options == list(ENCODINGS)
    page.selectbox(key="trace-encoding").set_value("big5").run()
    _upload(page, "own.csv", b"When;Hours;Cards\n0;1,5;2\n")
    about = json.loads(next(TRACES.glob("*/about.json")).read_text())
    assert about["options"] == [
        "--as=csv",
        "--map=submit_s=When,runtime_s=Hours:h,gpus=Cards",
        "--card=a100=A100-40G",
        "--card=v100=V100-32G",
        "--decimal=,",
        "--encoding=big5",
    ]


@pytest.mark.parametrize("digest", ["../../etc", "0123456789abcdef", "", "0123456789abcdeg"])
def test_an_address_opens_records_only(folder: Path, digest: str) -> None:
    assert stored(digest) is None
    page = _page(trace=digest)
    assert not page.exception
    assert bool(page.warning) == bool(digest)


def test_a_record_is_known_by_what_it_holds(folder: Path) -> None:
    one = keep("a/../b c.csv", b"x", ())
    assert one.folder.parent == TRACES
    assert one.file.name == "upload-a_.._b_c.csv"
    assert keep("a/../b c.csv", b"x", ()) == one
    assert keep("a/../b c.csv", b"x", ("--as=csv",)).digest != one.digest
    assert stored(one.digest) == one
    assert sorted(path.name for path in one.folder.iterdir()) == ["about.json", one.file.name]


def test_a_replay_takes_the_days_of_the_record() -> None:
    tree = {
        "name": "q", "start": "2026-01-01", "horizon": "365d", "workload": {"classes": []},
        "reliability": {"profile": "none", "events": [{"at": "1d"}]},
        "strategies": [{"name": "a", "leases": [{"offer": "x", "plan": "monthly", "start": "2026-07-01"}]}],
        "experiment": {"seed": 1, "warm_up": "14d"},
    }  # fmt: skip
    found = replayed(tree, {"span": {"days": 27.9}, "origin": "2026-03-02T08:00:00+08:00"}, "jobs.csv")
    assert (found["start"], found["horizon"]) == ("2026-03-02T08:00:00", "29d")
    # Its name may have said when its cards come.
    name = "a (from the first day)"
    assert found["strategies"] == [{"name": name, "leases": [{"offer": "x", "plan": "monthly"}]}]
    again = replayed(found, {"span": {"days": 27.9}, "origin": None}, "jobs.csv")
    assert again["strategies"] == found["strategies"]
    assert (found["reliability"], found["experiment"]) == ({"profile": "none"}, {"seed": 1})
    assert replayed(tree, {"span": {"days": None}, "origin": None}, "x")["horizon"] == "1d"


def test_a_strategy_without_its_dates_says_so_in_its_name() -> None:
    def lease(**dates: object) -> dict[str, object]:
        return {"offer": "x", "plan": "annual", **dates}

    tree = {
        "name": "q",
        "strategies": [
            {"name": "four, more from July", "leases": [lease(), lease(start="2026-07-01")]},
            {"name": "four until May", "leases": [lease(end="2026-05-01")]},
            {"name": "four", "leases": [lease()]},
            {"name": "n" * 200, "leases": [lease(start="2026-07-01")]},
        ],
    }
    found = replayed(tree, {"span": {"days": 3}, "origin": None}, "x")["strategies"]
    assert [one["name"] for one in found[:3]] == [
        "four, more from July (from the first day)",
        "four until May (without its dates)",
        "four",
    ]
    assert len(found[3]["name"]) == 200, "a longer name would be refused"
    assert all(one == lease() for strategy in found for one in strategy["leases"])


def test_the_buttons_say_how_long_will_be_simulated(folder: Path, fleetsim: Callable[..., Outcome]) -> None:
    tree = start_tree(folder / "scenarios" / "two.yaml")
    first = dict(tree["strategies"][0])
    first["leases"] = [{**first["leases"][0], "start": tree["start"]}]
    dated = {**tree, "horizon": "1200d", "strategies": [first]}
    (folder / "scenarios" / "two.yaml").write_text(yaml_text(dated))
    record = _made(folder, "jobs.psv", SACCT.encode(), fleetsim, "import", "show", "fit")
    (record.folder / "check.json").write_text('{"figures": []}')
    page = _page(trace=record.digest)
    # From the 2nd of March at 9:00 to the 3rd at 9:30: two days begun, and one more.
    assert "and 3 days are simulated: a replay ends with its record" in _said(page)
    assert f"{first['name']} (from the first day)" in _said(page)
    # A question that goes on for longer than a year stays as long.
    assert page.number_input(key="workload-model-days-1200").value == 1200


def test_the_model_takes_the_place_of_the_jobs_alone() -> None:
    tree = {
        "name": "q",
        "horizon": "29d",
        "workload": {"trace": {"file": "j"}},
        "strategies": [{"name": "a"}],
    }
    assert modelled(tree, {"classes": []}, "jobs.csv", 365) == {
        "name": "Model of jobs.csv", "horizon": "365d", "workload": {"classes": []},
        "strategies": [{"name": "a"}],
    }  # fmt: skip
