"""`fleetsim claims`: the table, the filters, the working, JSON, CSV, the chart and the page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sim.claims.verdict import VERDICTS
from sim.report.plots_claims import VERDICT_COLOURS, claims_chart
from tests.claims_cases import bench, everything
from tests.conftest import Outcome

PAGE = Path(__file__).parents[1] / "docs" / "claims.md"
Command = Callable[..., Outcome]


def document(done: Outcome) -> dict[str, Any]:
    assert (done.code, done.err) == (0, ""), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_json_has_the_form_of_the_issue(fleetsim: Command) -> None:
    found = document(fleetsim("claims", "--kind", "breakeven", "--format", "json"))
    one = next(claim for claim in found["claims"] if claim["id"] == "S2-058")
    assert {
        "id",
        "article",
        "kind",
        "statement",
        "value",
        "computation",
        "computed",
        "verdict",
        "reason",
    } <= set(one)
    assert one["value"] == {"low": 8, "high": 8, "unit": "months", "states": "exactly"}
    assert one["computed"] == {"low": 9.6, "high": 10.2, "unit": "months", "holds": None, "model_error": 0}
    assert (one["verdict"], one["contradicts"]) == ("wrong", ["S0-075"])
    assert one["steps"][0] == {
        "text": "a100-40g-custom, annual: 1 unit x 12 months x 2,800.00 list x 0.8 annual",
        "value": "26,880.00 CNY",
    }
    assert sum(found["counts"].values()) == len(found["claims"]) == 8
    assert set(found["counts"]) == set(VERDICTS)


def test_filters(fleetsim: Command) -> None:
    found = document(
        fleetsim(
            "claims",
            "--kind",
            "price",
            "--kind",
            "cost",
            "--article",
            "s2",
            "--verdict",
            "wrong",
            "--format",
            "json",
        )
    )
    assert {claim["id"] for claim in found["claims"]} == {"S2-019", "S2-021", "S2-024"}
    done = fleetsim("claims", "--kind", "discount", "--verdict", "wrong")
    assert (done.code, done.out.strip()) == (0, "No claim is left.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kind", "money"), "known: price, cost"),
        (("--verdict", "false"), "known: holds, holds only if, wrong"),
        (("--article", "s7"), "known: s0, s1, s2"),
        (("--explain", "S0-999"), "no claim has this id"),
        (("--chart", "verdicts.txt"), ".png"),
        (("--lang", "de"), "en"),
        (("none.yaml",), "does not exist"),
        (("none.yaml", "--docs"), "does not exist"),
        (("--tables", "--format", "csv"), "no one CSV file"),
    ],
)
def test_refused(
    arguments: tuple[str, ...], said: str, fleetsim: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fleetsim("claims", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_working_step_by_step(fleetsim: Command) -> None:
    done = fleetsim("claims", "--explain", "S0-026")
    text = " ".join(done.out.split())
    assert "4 units x 1 month x 2,800.00 list, 12 times 134,400.00 CNY" in text
    assert "4 units x 12 months x 2,800.00 list x 0.8 annual 107,520.00 CNY" in text
    assert "134,400.00 CNY - 107,520.00 CNY 26,880.00 CNY" in text
    assert "the stated value is 19,880 CNY/year (74% of the right value) too low" in text
    assert "S0-044" in text
    assert "catalogue a100-40g-custom (official, read 2026-11-30)" in text


def test_chinese(fleetsim: Command) -> None:
    done = fleetsim("claims", "--explain", "S0-050", "--lang", "zh")
    assert "结论: 有条件成立：所谓切片就是整卡" in done.out
    assert "此时 12,002.4 至 18,000 CNY/month" in done.out
    found = document(fleetsim("claims", "--explain", "S0-050", "--lang", "zh", "--format", "json"))
    assert found["language"] == "zh"
    assert found["claims"][0]["verdict"] == "holds only if"


def test_headline_tables(fleetsim: Command) -> None:
    found = document(fleetsim("claims", "--tables", "--format", "json"))["tables"]
    assert all(len(row) == len(table["columns"]) for table in found for row in table["rows"])
    ladder = {row[0]: row[2] for row in found[0]["rows"]}
    assert ladder["h100-80g-8x"] == "80,000 to 120,000"
    done = fleetsim("claims", "--tables")
    assert "What a fleet holds at one time" in done.out
    assert "120,000" in done.out


def test_csv(fleetsim: Command) -> None:
    done = fleetsim("claims", "--kind", "term", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    by_id = {row["id"]: row for row in rows}
    assert (by_id["S0-080"]["stated_low"], by_id["S0-080"]["computed_low"]) == ("19.0", "19.0")
    assert by_id["S2-065"]["verdict"] == "contradicts"
    assert by_id["S2-065"]["computed_low"] == ""


def test_csv_cells_are_no_formulas(fleetsim: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text('claims:\n  - {id: a, kind: term, statement: "=1+1", cannot: "@x"}\n', encoding="utf-8")
    (row,) = csv.DictReader(io.StringIO(fleetsim("claims", mine, "--format", "csv").out))
    assert (row["statement"], row["reason"]) == ("'=1+1", "'@x")


def test_the_chart(fleetsim: Command, tmp_path: Path) -> None:
    picture = tmp_path / "verdicts.png"
    done = fleetsim("claims", "--kind", "price", "--chart", picture)
    assert done.code == 0
    assert f"{picture} shows it." in done.out.replace("\n", "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_chart_counts_right() -> None:
    from sim.claims.read import load_claims

    judged = [one for one in everything().values() if one.claim.kind in {"breakeven", "price"}]
    figure = claims_chart(judged, load_claims().articles)
    by_article, by_kind = figure.axes
    assert [label.get_text() for label in by_kind.get_yticklabels()] == ["price", "breakeven"]
    assert by_article.get_yticklabels()[0].get_text().startswith("LoRA and several tasks")
    for axes, groups in ((by_article, ("s0", "s1", "s2")), (by_kind, ("price", "breakeven"))):
        for verdict, bars in zip(VERDICTS, axes.containers, strict=True):
            widths = [bar.get_width() for bar in bars]
            expected = [
                sum(one.verdict == verdict and group in (one.claim.article, one.claim.kind) for one in judged)
                for group in groups
            ]
            assert widths == expected
    assert set(VERDICT_COLOURS) == set(VERDICTS)


def test_the_page_is_current() -> None:
    from sim.cli.claims_docs import page

    assert PAGE.read_text("utf-8") == page(bench()), "fleetsim claims --docs > docs/claims.md"
