"""The book holds together: every page is on a shelf, links lead somewhere, commands and options exist.

The picture of README.md is drawn anew from the replications that the program carries for this question.
"""

from __future__ import annotations

import csv
import itertools
import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sim.cli.commands import application
from sim.cli.sweep import values_of
from sim.experiments.compare import compare, conclude
from sim.experiments.comparison import Comparison, Wall
from sim.experiments.sample import Sample
from sim.load import load, load_text
from sim.report.plots import CHARTS
from sim.report.plots_style import png
from sim.ui.language import catalogue
from sim.ui.question_store import FIRST
from sim.ui.routes import PAGES
from sim.ui.shown import WORKED

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURE = DOCS / "pictures" / "four-to-eight.png"
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
HOW_TO = tuple(sorted(DOCS.glob("how-to-*.md")))
OF_THE_BOOK = (*READMES, *HOW_TO, *sorted(DOCS.glob("tutorial*.md")), *(
    DOCS / name for name in ("README.md", "commands.md", "page.md", "price-lists.md", "limits.md")
))  # fmt: skip
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def command_of(words: list[str]) -> tuple[object, list[str]]:
    """The command that a line calls, and the words behind its name."""
    found = typer.main.get_command(application())
    while words and getattr(found, "commands", None):
        found, words = found.commands[words[0]], words[1:]
    return found, words


def lines(page: str) -> list[str]:
    """Lines in blocks of shell that call the program."""
    return [
        line for block in SHELL.findall(page) for line in block.splitlines() if line.startswith("fleetsim ")
    ]


def test_every_page_of_the_docs_stands_once_on_a_shelf():
    shelves = read(DOCS / "README.md")
    linked = [target for target, _ in LINK.findall(shelves)]
    pages = {file.name for file in DOCS.glob("*.md")}
    assert {*linked, "README.md"} == pages
    heads = re.findall(r"^## (.+)$", shelves, re.MULTILINE)
    assert heads == ["Tutorial", "How to", "Reference", "Background"]
    on_shelves = shelves.partition("## Tutorial")[2]
    found = [target for target, _ in LINK.findall(on_shelves)]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("file", sorted(DOCS.glob("*.md")) + list(READMES), ids=lambda file: file.name)
def test_links_lead_to_a_page_and_a_heading_that_exist(file):
    for target, anchor in LINK.findall(read(file)):
        there = file if not target else (file.parent / target)
        assert there.is_file(), target
        assert there.resolve().is_relative_to(ROOT.resolve()), target
        if anchor:
            assert anchor in anchors(read(there)), f"{target}#{anchor}"


@pytest.mark.parametrize("file", OF_THE_BOOK, ids=lambda file: file.name)
def test_commands_of_the_book_have_the_options_that_exist(file):
    for line in lines(read(file)):
        command, words = command_of(shlex.split(line)[1:])
        # Parsed with all checks of options, and not run. Files need not be there: they have no such check.
        with command.make_context(line, words):
            pass


def test_a_wrong_option_is_seen():
    command, words = command_of(["compare", "x.yaml", "--replicatons", "3"])
    with pytest.raises(Exception, match="replicatons"):
        command.make_context("compare", words)


@pytest.mark.parametrize("file", HOW_TO, ids=lambda file: file.name)
def test_strategies_that_the_how_to_pages_name_exist(file):
    named = 0
    for line in lines(read(file)):
        words = shlex.split(line)
        scenario = next(
            (word for word in words if word.startswith("scenarios/") and word.endswith(".yaml")), ""
        )
        for option, value in itertools.pairwise(words):
            if option in ("--strategy", "--baseline", "--from", "--to") and scenario:
                assert value in [one.name for one in load(ROOT / scenario).scenario.strategies], line
                named += 1
            if option in ("--set", "--vary") and scenario:
                key, _, values = value.partition("=")
                for one in values_of(values, key) if option == "--vary" else [values]:
                    load(ROOT / scenario, [f"{key}={one}"])
    assert named


def test_the_smallest_question_is_answered():
    page = read(DOCS / "how-to-planner.md")
    text = re.search(r"<!-- scenario: smallest -->\n```yaml\n(.*?)```", page, re.DOTALL)
    found = compare(load_text(text[1], ["experiment.replications=2", "horizon=30d"]))
    assert [result.name for result in found.strategies] == ["annual", "monthly"]
    # By pencil: two cards for a year at 0.8 of 2,800 a month, or for one month.
    committed = [result.mean("committed_cost_cny") for result in found.strategies]
    assert committed == pytest.approx([2 * 12 * 2800 * 0.8, 2 * 2800])


def test_every_how_to_question_has_a_command_and_a_text():
    assert len(HOW_TO) == 3
    for file in HOW_TO:
        questions = re.split(r"^## ", read(file), flags=re.MULTILINE)[1:]
        assert len(questions) >= 8
        for question in questions:
            assert lines(question), question
            assert SHELL.sub("", question).split("\n", 1)[1].strip(), question


CHEAP = ("quote", "breakeven", "tco", "budget", "fit", "catalog", "schema", "validate")
"""Commands that simulate nothing: the how-to pages' lines of them are run."""


def cheap() -> list[str]:
    return sorted({line for file in HOW_TO for line in lines(read(file)) if line.split()[1] in CHEAP})


@pytest.mark.parametrize("line", cheap())
def test_cheap_commands_of_the_how_to_pages_run(fleetsim, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    done = fleetsim(*shlex.split(line)[1:])
    assert (done.code, done.err) == (0, "")
    assert done.out.strip()


def test_the_table_of_commands_is_that_of_the_program():
    rows = "\n".join(re.findall(r"^\| `fleetsim.*$", read(DOCS / "commands.md"), re.MULTILINE))
    named = {tuple(words.split()) for words in re.findall(r"`fleetsim ([a-z]+(?: [a-z]+)?)", rows)}
    root = typer.main.get_command(application())
    for name, command in root.commands.items():
        if getattr(command, "commands", None):
            assert {(name, inner) for inner in command.commands} <= named, name
        else:
            assert any(words[0] == name for words in named), name
    assert {words[0] for words in named} == set(root.commands)


def test_help_names_every_command():
    out = CliRunner().invoke(application(), ["--help"]).output
    for name in typer.main.get_command(application()).commands:
        assert re.search(rf"^  {name}\b", out, re.MULTILINE), name


def test_the_page_of_the_page_has_its_menu():
    table = read(DOCS / "page.md").partition("<!-- table: pages -->")[2]
    named = re.findall(r"^\| (.+?) \| .+ \|$", table.partition("\n\nThe address")[0], re.MULTILINE)
    assert named[1:] == [catalogue("en")[f"menu.{page.key}"] for page in PAGES]


def worked() -> Comparison:
    """The comparison of the first question, concluded from its stored replications."""
    question = load(ROOT / "scenarios" / f"{FIRST}.yaml")
    with (WORKED / "replications.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    samples = [
        [
            Sample(
                strategy=row["strategy"],
                replication=int(row["replication"]),
                metrics={
                    name: float(text) if text else None
                    for name, text in row.items()
                    if name not in ("strategy", "replication")
                },
                waits_h=(),
                refusals={},
                draws=("", ""),
                start_up_us=None,
                billable=None,
                detail=None,
            )
            for row in rows
            if row["strategy"] == strategy.name
        ]
        for strategy in question.scenario.strategies
    ]
    base = question.scenario.strategies[0].name
    return conclude(question, samples, base, (), Wall("", "", 0.0, 1), warm_up=())


def test_the_picture_is_drawn_from_the_same_figures():
    assert png(CHARTS["money-against-wait"](worked())) == PICTURE.read_bytes()


def test_the_readmes_are_one_screen_with_one_picture_and_two_commands():
    for file in READMES:
        page = read(file)
        assert re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page) == ["docs/pictures/four-to-eight.png"]
        assert re.findall(r"^<!-- command: (\w+) -->$", page, re.MULTILINE) == ["first", "test"]
        assert len(page.splitlines()) < 100
    blocks = [
        re.findall(r"^```(?:sh|text)\n.*?^```", read(file), re.DOTALL | re.MULTILINE) for file in READMES
    ]
    assert blocks[0] == blocks[1]


def test_what_the_readme_shows_are_the_stored_figures():
    page = read(READMES[0]).partition("<!-- output: first -->")[2]
    for result in worked().strategies:
        row = next(line for line in page.splitlines() if line.startswith(f"{result.name}  "))
        assert f"{result.mean('committed_cost_cny'):,.0f} CNY" in row
        assert f"{result.mean('wait_p95_h'):.1f} h" in row
