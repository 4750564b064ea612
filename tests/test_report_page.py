"""The page of a stored run: whole, well-formed, escaped, without a request, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sim.experiments import store
from sim.experiments.compare import compare
from sim.experiments.rebill import rebill
from sim.experiments.rebill import save as save_rebilled
from sim.experiments.stored import open_run
from sim.load import load_text
from sim.report.page import page
from sim.report.page_html import VOID, Html, element, text
from sim.report.save import save

HOSTILE = [
    '<script>alert(1)</script> & "co"',
    "'quoted' </td></table><img src=x onerror=alert(2)>",
    "名前 &lt;b&gt;\u202etxt.exe",
]

SCENARIO = """\
name: 'Which <b>fleet</b> & why? "now"'
start: 2026-01-30
horizon: 40d
workload:
  classes:
    - name: "bot<i>"
      model: qwen-7b
      method: lora
      mean_tokens: 220
      samples: 20000
      rate: 30/day
      deadline: 6h
reliability: {profile: datacentre}
strategies:
  - name: %s
    leases: [{offer: a100-40g-custom, count: 1, plan: monthly}]
    burst: {offer: h100-mig, max: 2, rent_when_wait_over: 30min}
  - name: %s
    leases: [{offer: a100-40g-custom, count: 3, plan: annual}]
  - name: %s
    leases: [{offer: a100-40g-8x, count: 1, plan: quarterly}]
experiment: {replications: 3, seed: 5}
"""


class Reader(HTMLParser):
    """A strict reader: elements that balance, ids, links, and what is asked from elsewhere."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"twice in {tag}: {names}"
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pytest.fail(f"<{tag}/> in HTML")

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & {*self.open}:
            self.words.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, found, value in self.attributes if found == name]

    @property
    def said(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    names = [json.dumps(name) for name in HOSTILE]  # JSON is YAML
    comparison = compare(load_text(SCENARIO % tuple(names)))
    return comparison, open_run(save(comparison, tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def read(stored):
    return Reader(page(stored[1]).html)


def test_it_is_well_formed_with_proper_headings(read):
    assert read.attributes[0] == ("html", "lang", "en")
    headings = [int(tag[1]) for tag in read.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(headings))
    ids = read.values("id")
    assert len(ids) == len(set(ids)) > 8
    assert {f"#{key}" for key in ids} == set(read.values("href"))
    assert set(read.values("aria-labelledby")) == set(ids)


def test_nothing_is_asked_from_elsewhere_and_nothing_runs(stored, read):
    html = page(stored[1]).html
    assert not {"script", "link", "iframe", "object", "embed", "form", "base", "svg"} & set(read.tags)
    assert all(value.startswith("data:image/png;base64,") for value in read.values("src"))
    assert all(value.startswith("#") for value in read.values("href"))
    assert not [name for _, name, _ in read.attributes if name.startswith("on") or name == "style"]
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert not re.search(r"url\(|@import|expression", style)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(value for value in read.values("content") if "default-src" in value)
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_hostile_names_are_text(stored, read):
    html = page(stored[1]).html
    assert "<script" not in html
    assert "onerror=alert(2)&gt;" in html
    for name in HOSTILE[:2]:
        assert " ".join(name.split()) in read.said
    assert "\u202e" not in html  # it would turn the text around
    assert 'Which <b>fleet</b> & why? "now"' in read.said
    assert "bot<i>" in read.said


def test_everything_of_the_comparison_is_there(stored, read):
    comparison, run = stored
    for result in comparison.strategies:
        assert result.name.replace("\u202e", " ") in read.said
    spoken = [*comparison.assumptions, *comparison.notes, *(one.text for one in comparison.warnings)]
    for name in run.strategies:
        spoken += run.ledger(name).assumptions
    assert len(spoken) > 20
    for sentence in spoken:
        assert " ".join(sentence.split()) in read.said
    decision = comparison.recommendation
    assert decision.reason[1:].replace("\u202e", " ") in read.said
    assert decision.confidence is not None
    assert re.search(r"Confidence (above 99\.9|\d+) %", read.said)
    for offer in ("a100-40g-custom", "h100-mig", "a100-40g-8x"):
        entry = run.question.catalog.offers[offer]
        assert f"{entry.source} {entry.date.isoformat()}" in read.said
    assert "seed: 5" in read.said  # the scenario, folded
    assert run.manifest["packages"]["numpy"] in read.said


def test_money_by_month_is_that_of_the_ledger(stored, read):
    # 3 cards for a year: 3 x 12 x 2,800 x 0.80 = 80,640, paid on the first day, 30 January.
    # 40 days of 365 accrue: 80,640 x 40 / 365 = 8,837.26; two of them in January: 441.86.
    assert "2026-01 80,640.00 441.86 80,198.14" in read.said
    assert "all 80,640.00 80,640.00" in read.said
    assert f"after the horizon 0.00 {80_640 - 8_837.26:,.2f} 0.00" in read.said


def test_charts_are_inside_and_described(stored, read):
    pictures = [base64.b64decode(value.partition(",")[2]) for value in read.values("src")]
    folder = stored[1].folder
    assert sorted(pictures) == sorted(path.read_bytes() for path in (folder / "charts").iterdir())
    assert len(pictures) == 4
    described = read.values("alt")
    assert len(described) == 4
    for words in described:
        assert words.startswith("Chart. ")
        assert re.search(r"\d (CNY|h|%|min)", words)


def test_the_same_folder_gives_the_same_bytes_wherever_it_lies(stored, tmp_path):
    run = stored[1]
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(run.folder, copy)
    place = copy / "manifest.json"
    manifest = json.loads(place.read_text())
    # Times of the clock and workers differ from run to run.
    place.write_text(json.dumps({**manifest, "started": "2031-01-01T00:00:00+00:00", "workers": 9}))
    assert page(open_run(copy)).html == page(run).html


def test_a_run_billed_again_says_so(stored, tmp_path):
    found = rebill(stored[1], ["strategies.1.leases.0.plan=monthly"])
    read = Reader(page(open_run(save_rebilled(found, tmp_path, {}))).html)
    assert "strategies.1.leases.0.plan=monthly" in read.said
    assert f"bills run {stored[1].manifest['run_id']} again" in read.said
    assert read.tags.count("img") == 4


def test_a_recommendation_shows_its_options(fleetsim, two_jobs, tmp_path):
    out = tmp_path / "outputs"
    done = fleetsim("recommend", two_jobs, "--cards", "1..3", "--out", out, "--format", "json")
    found = json.loads(done.out)
    assert fleetsim("report", "latest", "--out", out, "-o", tmp_path / "page.html").code == 0
    read = Reader((tmp_path / "page.html").read_text())
    assert "options" in read.values("id")
    assert f"{len(found['options'])} options of the search" in read.said
    for option in found["options"]:
        assert f"{option['strategy']} " in read.said
        assert option["reason"] in read.said
    assert f"{found['runs']['simulated']} runs were simulated" in read.said


def test_a_step_shows_its_months(fleetsim, two_jobs, tmp_path):
    out = tmp_path / "outputs"
    text = (
        two_jobs.read_text().replace("horizon: 30d", "horizon: 90d").replace("plan: annual", "plan: monthly")
    )
    two_jobs.write_text(text.replace("one card, annual", "one card"))
    done = fleetsim(
        "stepup",
        two_jobs,
        "--from",
        "one card",
        "--to",
        "two cards, monthly",
        "--out",
        out,
        "--format",
        "json",
    )
    assert done.code == 0, done.err
    steps = json.loads(done.out)["steps"]
    assert fleetsim("report", "latest", "--out", out, "-o", tmp_path / "page.html").code == 0
    read = Reader((tmp_path / "page.html").read_text())
    assert "steps" in read.values("id")
    assert "From one card to two cards, monthly" in read.said
    for step in steps:
        month = "never" if step["month"] is None else str(step["month"])
        day = step["at"] or "-"
        assert f"{month} {day} {step['committed_cost_cny']:,.0f} CNY" in read.said


def test_one_replication_of_one_strategy(tmp_path):
    strategy = SCENARIO.index("  - name: %s\n    leases: [{offer: a100-40g-custom, count: 3")
    rest = SCENARIO.index("experiment:")
    words = (SCENARIO[:strategy] + SCENARIO[rest:]) % "alone"
    read = Reader(page(open_run(store.save(compare(load_text(words), replications=1), tmp_path))).html)
    assert "one replication of each strategy" in read.said
    assert "How sure that is cannot be said" in read.said
    assert "differences" not in read.values("id")


def test_elements_escape_what_is_not_html():
    assert element("p", "<b>", Html("<i>x</i>"), 'a"b') == "<p>&lt;b&gt;<i>x</i>a&quot;b</p>"
    assert element("p", class_='"><script>') == '<p class="&quot;&gt;&lt;script&gt;"></p>'
    assert element("td", aria_label=None, hidden=True, lang=False) == "<td hidden></td>"
    assert text("a\x00b\x1b[1m") == "a\ufffdb\ufffd[1m"


# -- The command -------------------------------------------------------------------------------------


@pytest.fixture
def outputs(stored, tmp_path, monkeypatch):
    """The run below outputs/ in the current folder."""
    run = stored[1]
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run.folder.parent, tmp_path / "outputs" / run.folder.parent.name)
    return tmp_path / "outputs" / run.folder.parent.name / run.folder.name


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_is_named_by_folder_id_or_latest(fleetsim, outputs, stored):
    wanted, before = page(stored[1]).html, files(outputs)
    for number, name in enumerate((outputs, outputs.name[:4], "latest")):
        done = fleetsim("report", name, "-o", f"{number}.html")
        assert done.code == 0, done.err
        assert Path(f"{number}.html").read_bytes().decode() == wanted
    assert files(outputs) == before
    done = fleetsim("report", outputs.name, "--format", "json")
    document = json.loads(done.out)
    default = f"which-b-fleet-b-why-now-{outputs.name}.html"
    assert document["file"] == default
    assert document["bytes"] == len(wanted.encode())
    assert Path(default).read_bytes().decode() == wanted
    assert len(document["flags"]) == 15


def test_no_page_inside_a_run(fleetsim, outputs):
    before = files(outputs)
    for place in (outputs / "page.html", outputs / "charts" / "page.html", outputs / "new" / "page.html"):
        refused = fleetsim("report", outputs, "-o", place)
        assert refused.code == 2
        assert "not written into the folder of a run" in refused.err
    Path("link").symlink_to(outputs)
    assert fleetsim("report", outputs, "-o", "link/page.html").code == 2
    refused = fleetsim("report", outputs, "-o", "page.pdf")
    assert refused.code == 2
    assert ".html" in refused.err
    assert files(outputs) == before


def test_a_damaged_run_writes_nothing(fleetsim, outputs):
    with (outputs / "ledger.csv").open("a") as file:
        file.write("x\n")
    refused = fleetsim("report", outputs.name, "-o", "page.html")
    assert refused.code == 2
    assert "ledger.csv: the file is not as the run left it" in refused.err
    assert not Path("page.html").exists()
    assert fleetsim("report", "ffff").code == 2
