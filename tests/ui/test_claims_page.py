"""The page `claims` without a browser: the command's verdicts, filters, workings, a file of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from sim.claims.read import read_claims
from sim.cli import main
from sim.ui import claims_own
from sim.ui.claims_frames import VERDICTS
from sim.ui.jobs import jobs

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "sim" / "ui" / "scripts" / "claims.py")
FEW = """claims:
  - {id: year, kind: price, statement: "Four for a year: 107,520 CNY <b>*net*</b>", computation: bill,
     value: {low: 107520, unit: CNY/year},
     inputs: {offer: a100-40g-custom, count: 4, plan: annual, months: 12, per: year}}
  - {id: saved, kind: cost, statement: "=A year saves a quarter.", value: {low: 25, unit: "%"},
     computation: saving, inputs: {offer: a100-40g-custom, plan: annual, months: 12, per: "%"}}
  - {id: help, kind: term, statement: Engineers help around the clock., cannot: a service without a figure}
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    monkeypatch.chdir(tmp_path)
    yield AppTest.from_file(SCRIPT, default_timeout=60)
    for job in jobs().running():
        job.run.cancel()


def _own(page: AppTest, text: str) -> None:
    page.session_state["claims_source"] = "own"
    page.run()
    page.file_uploader(key="claims_upload").set_value(("../../mine.yaml", text.encode(), "text/yaml"))
    page.run()


def _wait(page: AppTest) -> None:
    for job in jobs().running():
        assert job.run.wait(120)
    page.run()
    assert not page.exception


def test_a_file_of_ones_own_gets_the_verdicts_of_the_command(
    page: AppTest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _own(page, FEW)
    _wait(page)
    (tmp_path / "few.yaml").write_text(FEW)
    with pytest.raises(SystemExit):
        main(["claims", str(tmp_path / "few.yaml"), "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    # By hand: 4 x 2,800 x 12 x 0.8 = 107,520; the discount is a fifth, not a quarter.
    assert [claim["verdict"] for claim in document["claims"]] == ["holds", "wrong", "cannot be checked"]
    shown = [metric.value for metric in page.metric]
    assert [int(value) for value in shown] == [document["counts"][name] for name in VERDICTS]
    table = page.dataframe[0].value
    assert list(table["Id"]) == ["year", "saved", "help"]
    assert table["Computed"][0] == "107,520 CNY/year"
    # The wrong one is explained unasked, and nothing of the file is read as formatting.
    assert "saved" in page.subheader[1].value
    assert "20 %" in page.error[0].value.replace("\\", "")
    page.pills(key="claims_verdicts").set_value(["holds"])
    page.run()
    assert list(page.dataframe[0].value["Id"]) == ["year"]
    assert r"\<b\>\*net\*" in page.markdown[0].value
    stored = list((tmp_path / "outputs" / ".claims").iterdir())
    assert [path.suffix for path in stored] == [".yaml"]
    assert stored[0].stem.isalnum()


def test_a_mistake_in_a_file_is_said_where_it_stands(page: AppTest) -> None:
    _own(page, FEW.replace("computation: saving", "computation: savings"))
    assert not page.exception
    said = page.error[0].value.replace("\\", "")
    assert "savings" in said
    assert "mine.yaml" in said
    assert "outputs" not in said
    assert not jobs().running()


def test_filters_that_leave_nothing_say_so(page: AppTest) -> None:
    page.run()
    page.text_input(key="claims_text").set_value("no such words")
    page.run()
    assert not page.exception
    assert any("No statement" in info.value for info in page.info)


@pytest.mark.parametrize(
    ("lang", "title", "verdict", "wrong"),
    [("en", "What sellers say", "Verdict", "✗ wrong"), ("zh", "卖家说法", "结论", "✗ 错误")],
)
def test_the_articles_verdicts_are_there_at_once(
    page: AppTest, lang: str, title: str, verdict: str, wrong: str
) -> None:
    """They come with the program; `tests/test_claims_cards_verdicts.py` computes them anew."""
    page.query_params["lang"] = lang
    page.run()
    assert not page.exception
    assert not jobs().running()
    assert page.title[0].value.startswith(title)
    table = page.dataframe[0].value
    counts = [int(metric.value) for metric in page.metric]
    assert sum(counts) == len(table) > 150
    assert list(table[verdict]).count(wrong) == counts[list(VERDICTS).index("wrong")] > 0


def test_the_example_on_the_page_is_right(tmp_path: Path) -> None:
    file = tmp_path / "example.yaml"
    file.write_text(claims_own.EXAMPLE)
    assert [claim.id for claim in read_claims([file]).claims] == ["saving", "memory"]
