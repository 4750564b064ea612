"""The reference pages are what the program prints, and leave no key without a meaning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim.cli import main
from sim.metrics import METRICS
from sim.report.reference import keys_page, metrics_page

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    ("form", "file", "page"),
    [("keys", "scenario-keys.md", keys_page), ("metrics", "metrics.md", metrics_page)],
)
def test_the_page_is_current(form, file, page, capsys):
    with pytest.raises(SystemExit):
        main(["schema", "--as", form])
    printed = capsys.readouterr().out
    assert printed == page() == (DOCS / file).read_text(encoding="utf-8")


def test_every_key_says_what_it_means():
    rows = [line.split(" | ") for line in keys_page().splitlines() if line.startswith("| `")]
    assert len(rows) > 250
    assert [row[0] for row in rows if not row[3].strip(" |")] == []


def test_every_link_of_the_keys_leads_to_a_part():
    page = keys_page()
    parts = {line[3:].strip("`").lower() for line in page.splitlines() if line.startswith("## ")}
    linked = {piece.split(")")[0] for piece in page.split("](#")[1:]}
    assert linked <= parts


def test_every_metric_is_there_with_its_unit():
    page = metrics_page()
    for name, metric in METRICS.items():
        assert f"| `{name}` | {metric.unit} |" in page
        assert metric.description


def test_the_schema_is_still_json(capsys):
    with pytest.raises(SystemExit):
        main(["schema"])
    assert json.loads(capsys.readouterr().out)["title"] == "fleetsim scenario"
